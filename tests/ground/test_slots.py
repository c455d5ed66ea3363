"""Values told beside steps or metrics belong to these in order; a difference is that of what is compared."""

# ruff: noqa: E501 (sentences stay on one line)
from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text

BAD = {"contradicted", "unsupported"}


def _row(step: int) -> dict[str, float]:
    """Reward rises by 0.02 a step, entropy falls by as much; the rollout takes a second more each step."""
    return {
        "step": step,
        "critic/rewards/mean": round(0.10 + 0.02 * step, 4),
        "actor/entropy": round(0.90 - 0.02 * step, 4),
        "response_length/mean": 400.0 + 10 * step,
        "timing_s/step": 100.0 + step,
        "timing_s/gen": 49.0 + step,
        "timing_s/ref": 20.0,
    }


RESOLVER = Resolver(library())
AUDITOR = Auditor([parse_text("\n".join(json.dumps(_row(s)) for s in range(1, 31)), name="a.jsonl").runs[0]], RESOLVER)

PAIRS = [
    ("`actor/entropy` fell between steps 3 and 20 (0.84 before, 0.5 after).", "`actor/entropy` fell between steps 3 and 20 (0.5 before, 0.84 after)."),
    ("Entropy goes 0.84, 0.7, 0.5 over steps 3, 10 and 20.", "Entropy goes 0.84, 0.5, 0.7 over steps 3, 10 and 20."),
    ("Entropy goes 0.84, 0.7, 0.5 over steps 3, 10 and 20.", "Entropy goes 0.84, 0.72, 0.5 over steps 3, 10 and 20."),
    ("Mean reward at step 20 (0.500) is 0.34 above step 3 (0.160).", "Mean reward at step 20 (0.500) is 0.34012345 above step 3 (0.160)."),
    ("Step 3: policy entropy 0.84. Step 20: 0.5. So it went down.", "Step 3: policy entropy 0.84. Step 20: 0.5. So it went up."),
    ("From step 3 to 20, mean reward rises from 0.16 to 0.5, and response length grows from 430 to 600 tokens.", "From step 3 to 20, mean reward rises from 0.16 to 600, and response length grows from 430 to 0.5 tokens."),
    ("Entropy falls and mean reward rises between step 3 and step 20.", "Entropy falls and mean reward falls between step 3 and step 20."),
    ("`timing_s/gen` exceeds `timing_s/ref` on step 11 by 40 s.", "`timing_s/gen` exceeds `timing_s/ref` on step 11 by 10 s."),
    ("第 11 步的 `timing_s/gen` 超过 `timing_s/ref`，差 40 秒。", "第 11 步的 `timing_s/gen` 超过 `timing_s/ref`，差 40 分钟。"),
    ("Step 20 spends 10 s more on `timing_s/gen` than step 10.", "Step 20 spends 69 s more on `timing_s/gen` than step 10."),
    ("Step 20 has 0.595 times the policy entropy of step 3.", "Step 20 has 0.595 times the parameter-update norm of step 3."),
    ("策略熵在第 3 步和第 25 步之间跌掉一半多。", "平均奖励在第 3 步和第 25 步之间跌掉一半多。"),
    ("Step 3's mean reward was 0.16. Step 20's was 0.5, 0.34 higher.", "Step 3's mean reward was 0.16. Step 20's was 0.5, 0.34 lower."),
    ("If you keep one checkpoint, keep step 30: its mean reward of 0.7 is the best.", "If you keep one checkpoint, keep step 30: its mean reward of 0.77 is the best."),
    ("If you keep one checkpoint, keep step 30: its mean reward of 0.7 is the best.", "If you keep one checkpoint, keep step 20: its mean reward of 0.5 is the best."),
    ("只留一个检查点的话，留 step 30，它的平均奖励 0.7 最好。", "只留一个检查点的话，留 step 30，它的平均奖励 0.77 最好。"),
    ("The ratio of `timing_s/gen` to `timing_s/ref` at step 11: 3.0.", "The ratio of `timing_s/gen` to `timing_s/ref` at step 11: 2.0."),
    ("第 11 步的 `timing_s/gen` 与 `timing_s/ref` 之比是 3.0。", "第 11 步的 `timing_s/gen` 与 `timing_s/ref` 之比是 40。"),
    ("On step 11, `timing_s/gen` is above `timing_s/ref`: 60.0 s and 20.0 s.", "On step 11, `timing_s/gen` is above `timing_s/ref`: 20.0 s and 60.0 s."),
    ("Going from step 3 to step 20 cut the policy entropy by 40%.", "Going from step 3 to step 20 raised the policy entropy by 40%."),
    ("Policy entropy shed 0.34 between step 3 and step 20.", "Policy entropy added 0.34 between step 3 and step 20."),
    ("Mean reward at step 20 is 3.1 times as large as at step 3 (0.5 vs 0.16).", "Mean reward at step 20 is 3.1 times as large as at step 3 (0.16 vs 0.5)."),
    ("跟第 3 步比，第 20 步的策略熵少了 40.5%。", "跟第 10 步比，第 20 步的策略熵少了 43.2%。"),
    ("By step 20, response length is 1.4 times its step 3 level.", "By step 10, response length is 1.4 times its step 3 level."),
    ("到第 20 步，回复长度已是第 3 步的 1.4 倍。", "到第 10 步，回复长度已是第 3 步的 1.4 倍。"),
    ("At step 11 `timing_s/gen` is 3 times as long as `timing_s/ref`: 60 s vs 20 s.", "At step 11 `timing_s/gen` is 3 times as long as `timing_s/ref`: 20 s vs 60 s."),
    ("按 `timing_s/gen` 看，最快的是第 1 步，50 秒。", "按 `timing_s/ref` 看，最快的是第 1 步，50 秒。"),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), PAIRS)
def test_slots_in_another_order_are_refused(true: str, false: str) -> None:
    """The true one is borne out, the one with a value in another's place is not."""
    good, bad = ({sentence.status for sentence in AUDITOR.audit(text).sentences} for text in (true, false))
    assert (good <= {"supported"}, bool(bad & BAD)) == (True, True)


def test_part_of_the_reward_is_that_of_its_own_key() -> None:
    """A format reward is none of a log that holds another part of the reward."""
    rows = [{"step": s, "reward": 0.1 * s, "rewards/accuracy_reward/mean": 0.05 * s} for s in range(1, 9)]
    auditor = Auditor([parse_text("\n".join(map(json.dumps, rows)), name="b.jsonl").runs[0]], RESOLVER)
    told = [auditor.sentence(f"{name} reward was 0.2 at step 4.").status for name in ("Accuracy", "Format")]
    assert told == ["supported", "contradicted"]


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        ("Setup: 4 GPUs, 8 prompts × 8 samples.", True),
        ("Setup: 8 GPUs, 8 prompts × 8 samples.", False),
        ("Setup: 4 GPUs, 16 prompts × 8 samples.", False),
        ("Setup: lr 1e-6, seed 7.", True),
    ],
)
def test_sizes_in_a_list_of_settings_are_those_the_log_implies(text: str, fine: bool) -> None:
    """A list of settings says nothing of the log, except what follows from it."""
    rows = [
        {
            "step": s, "perf/total_num_tokens": 64 * 500.0, "prompt_length/mean": 100.0, "response_length/mean": 400.0,
            "perf/time_per_step": 100.0, "perf/throughput": 80.0, "critic/advantages/max": 7 / 8**0.5,
            "critic/advantages/min": -1.2, "critic/advantages/mean": 0.0, "critic/returns/max": 7 / 8**0.5,
            "critic/returns/min": -1.2, "critic/returns/mean": 0.0,
        }
        for s in range(1, 9)
    ]  # fmt: skip
    auditor = Auditor([parse_text("\n".join(map(json.dumps, rows)), name="c.jsonl").runs[0]], RESOLVER)
    assert (auditor.sentence(text).status not in BAD) is fine
