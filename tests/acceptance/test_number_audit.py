"""Every number in an answer can be traced, by an audit that shares nothing with the product's own."""

import copy
from collections.abc import Callable

import pytest

from .audit import unexplained
from .support import Answer, Completed

INVENTED = {
    "zh": "吞吐为 913.57 tokens/s，奖励升到 0.3391，生成占 61.7 %，用了 24 张卡。",
    "en": "Throughput is 913.57 tokens/s, reward rose to 0.3391, generation takes 61.7 %, on 24 GPUs.",
}


def test_audit_any_answer_leaves_nothing_unexplained(
    ask: Callable[..., Completed], answer_to: Callable[[str], Answer], asked: str
) -> None:
    got = answer_to(asked)
    left = unexplained(got)
    if left:  # a number of a cited definition is fine too; definitions are asked for only when needed
        cards = sorted({citation["card"] for citation in got["citations"]})
        left = unexplained(got, *(ask("metric", card, "--format", "json").stdout for card in cards))
    assert not left, [f"…{shown.before}[{shown.text}]{shown.after}…" for shown in left]


def test_audit_invented_numbers_in_a_real_answer_caught(answer_to: Callable[[str], Answer], asked: str) -> None:
    got = copy.deepcopy(answer_to(asked))
    got["answer"] = INVENTED[got["language"]]
    caught = {shown.text for shown in unexplained(got)}
    assert {"913.57", "0.3391"} <= caught


FACTS = [
    {"id": "E1", "kind": "value", "run": "r0", "metric": "m/a", "step": 1, "value": 0.04688720405, "line": 2},
    {
        "id": "E2",
        "kind": "change",
        "run": "r0",
        "metric": "actor/ppo_kl",
        "from_step": 2,
        "to_step": 3,
        "from": 1.373939426656534e-05,
        "to": 4.5840932960672376e-07,
        "delta": -1.328098493695862e-05,
        "ratio": 0.033364596,
        "noise": 1.1e-05,
        "significant": False,
    },
    {"id": "E3", "kind": "share", "run": "r0", "name": "timing_s/gen", "step": 1, "value": 0.4945, "of": "s"},
    {
        "id": "E4",
        "kind": "derived",
        "run": "r0",
        "name": "group_size",
        "value": 16,
        "formula": "n = ((M + √(M² + 4)) / 2)², M = 3.75",
        "inputs": ["E1"],
    },
    {"id": "E5", "kind": "value", "run": "r0", "metric": "t/s", "step": 1, "value": 4334.193, "line": 2},
]


def answer_saying(text: str) -> Answer:
    return {
        "answer": text,
        "question": "",
        "facts": FACTS,
        "citations": [{"id": "K1", "card": "c", "title": "t", "source": "core_algos.py, epsilon 1e-6"}],
        "runs": [{"id": "r0", "steps": [0, 3], "n_steps": 4, "n_metrics": 172, "warnings": []}],
    }


@pytest.mark.parametrize(
    "text",
    [
        "奖励均值为 0.0469（step 1）",
        "reward 0.047, i.e. 4.7 %",
        "`actor/ppo_kl` 1.37e-5 → 4.58×10⁻⁷，下降 96.7%",
        "ppo_kl fell 97 % (1.37e-05 to 4.584e-07, 30 times smaller)",
        "delta −1.33e-5, noise 1.1e-5",
        "生成占 49 %，全步 4,334 秒（72.2 分钟，1.2 小时）",
        "(n − 1)/√n = 3.75, n = 16 [E4]",
        "1. mean@30、best@30 与 k1\n2. ε = 1e-6",
        "172 metrics; AIME-2025",
    ],
)
def test_audit_number_with_a_source_passes(text: str) -> None:
    assert not unexplained(answer_saying(text))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("奖励均值为 0.0479", "0.0479"),
        ("reward 0.0470", "0.0470"),
        ("下降 95.1%", "95.1"),
        ("生成占 47%", "47"),
        ("ppo_kl 4.48×10⁻⁷", "4.48e-7"),
        ("用了 7 张卡", "7"),
        ("on 12 GPUs", "12"),
        ("全步 4,343 秒", "4,343"),
        ("reward -0.0469", "-0.0469"),
        ("20 times smaller", "20"),
    ],
)
def test_audit_number_without_a_source_caught(text: str, number: str) -> None:
    assert [shown.text for shown in unexplained(answer_saying(text))] == [number]
