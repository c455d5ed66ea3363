"""Chinese sentences that are read from end to end, each beside one that differs in one thing and is false."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text


def _row(step: int) -> dict[str, float]:
    """Validation alone at step 0 and at every tenth step; entropy falls, length rises; step 30's line has no times."""
    row: dict[str, float] = {"step": step}
    if step % 10 == 0:
        row["val-core/math/acc/mean@1"] = round(0.31 + 0.011 * step, 4)
    if step:
        row |= {
            "critic/score/mean": round(0.20 + 0.013 * step, 4),
            "actor/entropy": round(0.95 - 0.02 * step, 4),
            "actor/grad_norm": round(0.30 + (0.2 if step == 20 else 0.01 * (step % 7)), 4),
            "response_length/mean": 400.0 + 20 * step,
            "prompt_length/mean": 150.0,
        }
    if step and step != 30:
        row |= {
            "timing_s/gen": 60.0 + step,
            "timing_s/update_actor": 20.0,
            "timing_s/old_log_prob": 8.0,
            "timing_s/step": 100.0 + 2 * step,
        }
    return row


RUN = parse_text("\n".join(json.dumps(_row(step)) for step in range(0, 41, 2)), name="run").runs[0]
AUDITOR = Auditor([RUN], Resolver(library()))
BASE = replace(RUN, name="base")


def _flagged(text: str) -> bool:
    return any(s.status in {"contradicted", "unsupported"} for s in AUDITOR.audit(text).sentences)


TOLD = [
    # two steps, one metric
    ("从 step 10 到 step 20，熵下降了 0.2，即 0.75 到 0.55。", "从 step 10 到 step 20，熵下降了 0.2，即 0.75 到 0.65。"),
    ("以 step 10 为基准，step 20 的熵跌幅为 26.7%。", "以 step 10 为基准，step 20 的熵涨幅为 26.7%。"),
    ("跟 step 10 比，step 20 的熵明显偏低（0.55 vs 0.75）。", "跟 step 10 比，step 20 的熵明显偏高（0.55 vs 0.75）。"),
    ("最后一步的熵（0.15）比第一步（0.91）低 0.76。", "最后一步的熵（0.15）比第一步（0.91）高 0.76。"),
    ("熵的起点是 0.91，终点是 0.15，净减 0.76。", "熵的起点是 0.91，终点是 0.15，净减 0.67。"),
    ("step 10 与 step 20 相比，熵前者高、后者低。", "step 10 与 step 20 相比，熵前者低、后者高。"),
    ("两步里熵更高的是 step 10（step 10 0.75，step 20 0.55）。", "两步里熵更高的是 step 20（step 10 0.75，step 20 0.55）。"),
    ("先看 step 10：熵 0.75；再看 step 20：0.55，下来了。", "先看 step 10：熵 0.75；再看 step 20：0.55，上去了。"),
    ("熵，step 10：0.75；step 20：0.55；变化量 -0.2", "熵，step 10：0.75；step 20：0.55；变化量 0.2"),
    ("单步耗时慢了 20 秒（step 10 120 秒，step 20 140 秒）。", "生成耗时慢了 20 秒（step 10 120 秒，step 20 140 秒）。"),
    ("step 10 跑一步要 120 秒，step 20 要 140 秒，多花了 20 秒。", "step 10 跑一步要 120 秒，step 20 要 140 秒，省下了 20 秒。"),
    ("熵先降到 step 20 的 0.55（step 10 是 0.75），后又降到 step 40 的 0.15。",
     "熵先升到 step 20 的 0.55（step 10 是 0.75），后又降到 step 40 的 0.15。"),
    ("首次验证得分 0.31，末次 0.75，进步了 0.44。", "首次验证得分 0.31，末次 0.75，退步了 0.44。"),
    ("熵一共跌去 84%，最后剩 0.15。", "熵一共跌去 48%，最后剩 0.15。"),
    ("熵在 step 10 为 0.75，随后降至 0.55（step 20）。", "熵在 step 10 为 0.75，随后升至 0.55（step 20）。"),
    ("step 20 的熵是 0.55，比 step 10 的 0.75 低了 0.2。", "step 20 的熵是 0.55，比 step 10 的 0.75 低了 0.3。"),
    ("熵缩到 step 10 的 73%，step 20 只有 0.55。", "熵缩到 step 10 的 55%，step 20 只有 0.55。"),
    ("step 20 比 step 10 慢了 14%，生成耗时分别是 80 秒和 70 秒。", "step 20 比 step 10 慢了 14%，生成耗时分别是 70 秒和 80 秒。"),
    ("熵以 step 10 为高：step 10 0.75，step 20 0.55。", "熵以 step 20 为高：step 10 0.75，step 20 0.55。"),
    ("step 20 这次验证（0.53）好于 step 10 那次（0.42）。", "step 20 这次验证（0.53）差于 step 10 那次（0.42）。"),
    ("论熵，step 10 胜过 step 20（0.75 比 0.55）。", "论熵，step 10 不如 step 20（0.75 比 0.55）。"),
    ("得分在 step 20 冲到 0.46，比 step 10（0.33）高出 0.13。", "得分在 step 20 冲到 0.46，比 step 10（0.33）高出 0.18。"),
    ("grad norm最高是 step 20 的 0.5，最后一次回落到 0.35，差 0.15。", "grad norm最高是 step 20 的 0.5，最后一次升到 0.35，差 0.15。"),
    ("熵净变化：-0.2（step 10 到 step 20）。", "熵净变化：0.2（step 10 到 step 20）。"),
    # two metrics at a step
    ("step 20，actor 更新耗时与 old_log_prob 耗时相差 12 秒，前者长。", "step 20，actor 更新耗时与 old_log_prob 耗时相差 12 秒，前者短。"),
    ("熵（0.75 → 0.55）和回复长度（600 → 800）在 step 10 到 step 20 之间一个降一个升。",
     "熵（0.75 → 0.55）和回复长度（600 → 800）在 step 10 到 step 20 之间一个升一个降。"),
    ("step 20：更新 20 秒 + old_log_prob 8 秒 = 28 秒。", "step 20：更新 8 秒 + old_log_prob 20 秒 = 28 秒。"),
    ("在 step 20，`response_length/mean` 除以 `prompt_length/mean` 约为 5.33。",
     "在 step 20，`response_length/mean` 除以 `prompt_length/mean` 约为 5.83。"),
    ("熵全程平均 0.53，step 10 是 0.75，高于平均。", "熵全程平均 0.53，step 10 是 0.75，低于平均。"),
    ("step 20，生成比更新多用了 60 秒。", "step 20，生成比更新少用了 60 秒。"),
    ("生成和更新的耗时比约为 4.0:1（step 20）。", "生成和更新的耗时比约为 4.5:1（step 20）。"),
    ("step 20 里生成加更新共 100 秒，占整步的 71%。", "step 20 里生成加更新共 80 秒，占整步的 71%。"),
    ("生成耗时占整步的比例从 step 10 的 58.3% 降到 step 20 的 57.1%。",
     "生成耗时占整步的比例从 step 10 的 58.3% 升到 step 20 的 57.1%。"),
    ("step 20 用了 140 秒，比平均每步快 1 秒。", "step 20 用了 140 秒，比平均每步慢 1 秒。"),
    ("step 20 最耗时的是生成，actor 更新次之：生成 80 秒，actor 更新 20 秒。",
     "step 20 最耗时的是 actor 更新，生成次之：生成 80 秒，actor 更新 20 秒。"),
    ("同在 step 20，题目短于回答（150 对 800 token）。", "同在 step 20，题目长于回答（150 对 800 token）。"),
    ("熵和平均回复长度在 step 10 到 step 20 分别下降了 27% 和上升了 33%。",
     "熵和平均回复长度在 step 10 到 step 20 分别下降了 33% 和上升了 27%。"),
    # what is not there
    ("step 30 的 `timing_s/gen` 没打出来。", "step 28 的 `timing_s/gen` 没打出来。"),
    ("step 30 有 `actor/entropy`（0.35），但缺 `timing_s/gen`。", "step 30 有 `actor/entropy`（0.35），但不缺 `timing_s/gen`。"),
    ("step 30 的生成耗时是缺失的。", "step 30 的生成耗时没有缺失。"),
    ("step 0 的熵没有记录，不能当作 0。", "step 2 的熵没有记录，不能当作 0。"),
    ("| 步 | 熵 | 较 step 10 |\n|---|---|---|\n| 20 | 0.55 | -26.7% |", "| 步 | 熵 | 较 step 10 |\n|---|---|---|\n| 20 | 0.55 | -36.7% |"),
    ("| 指标 | 最高 | 出现在 |\n|---|---|---|\n| grad norm | 0.5 | step 20 |", "| 指标 | 最高 | 出现在 |\n|---|---|---|\n| grad norm | 0.5 | step 30 |"),
    ("| 步 | 熵 |\n|---|---|\n| 20 | 0.55 |", "| 步 | 重要性采样比的方差 |\n|---|---|\n| 20 | 0.55 |"),
    ("验证得分不是每步都有，step 32 就没有。", "验证得分不是每步都有，step 30 就没有。"),
    ("初始验证（step 0）时不记录熵。", "第二步（step 2）时不记录熵。"),
    ("生成耗时在 step 28 还有记录，到 step 30 就断了。", "生成耗时在 step 28 还有记录，到 step 32 就断了。"),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), TOLD, ids=[true for true, _ in TOLD])
def test_audit_sentence_read_from_end_to_end_is_told_from_its_twin(true: str, false: str) -> None:
    """What is so is borne out, and the same with one thing changed is not."""
    statuses = [s.status for s in AUDITOR.audit(true).sentences]
    assert set(statuses) <= {"supported", "no_claim"}, AUDITOR.audit(true).to_json()
    assert "supported" in statuses
    assert _flagged(false)


def test_audit_value_of_another_of_two_runs_is_told_from_its_twin() -> None:
    """Of two runs told with their values, which is higher, by how much and how many times the other."""
    second = parse_text(
        "\n".join(json.dumps(_row(step) | {"actor/entropy": 0.6}) for step in range(2, 41, 2)), name="kl0"
    ).runs[0]
    auditor = Auditor([BASE, second], Resolver(library()))
    for true, false in (
        (
            "step 10 时，base 的熵是 0.75，kl0 是 0.6，base 更高。",
            "step 10 时，base 的熵是 0.75，kl0 是 0.6，base 更低。",
        ),
        ("收尾时 kl0 的熵是 base 的 4.0 倍。", "收尾时 kl0 的熵是 base 的 2.5 倍。"),
        ("base 与 kl0 末步熵之差为 -0.45（0.15 减 0.6）。", "base 与 kl0 末步熵之差为 +0.45（0.15 减 0.6）。"),
    ):
        assert {s.status for s in auditor.audit(true).sentences} == {"supported"}, true
        assert any(s.status in {"contradicted", "unsupported"} for s in auditor.audit(false).sentences), false


@pytest.mark.parametrize("text", ["熵全程明显上升。", "熵一路走低。", "如果熵降到 0.1，就停。"])
def test_audit_sentence_with_other_words_is_left_to_the_other_readers(text: str) -> None:
    """A trend, or a sentence with a word that is not known, is none of these."""
    assert _flagged(text) == text.startswith("熵全程")
