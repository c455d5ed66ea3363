"""Statistics set against each other, sizes of groups, phases compared, and what is not there; true and false."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json
import math

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _run() -> Run:
    """Twenty steps of 64 prompts with 8 answers each; the norm is NaN at step 12, the update time is lost at step 15."""
    rows = []
    for step in range(1, 21):
        prompt, answer = 131.0, 412.0 + 13 * step
        rows.append(
            {
                "step": step,
                "actor/entropy": round(0.913 - 0.031 * step, 4),
                "actor/grad_norm": math.nan if step == 12 else 4.73 if step == 7 else round(0.612 + 0.017 * (step % 4), 4),
                "critic/rewards/mean": round(0.11 + 0.023 * step - (0.3 if step == 20 else 0), 4),
                **{f"critic/{what}/max": 7 / math.sqrt(8) for what in ("advantages", "returns")},
                **{f"critic/{what}/min": -1.9 for what in ("advantages", "returns")},
                **{f"critic/{what}/mean": 0.013 for what in ("advantages", "returns")},
                "response_length/mean": answer,
                "prompt_length/mean": prompt,
                "perf/total_num_tokens": 512 * (prompt + answer),
                "timing_s/step": 120.0 + 3 * step,
                "timing_s/gen": 66.0 + step,
                **({} if step == 15 else {"timing_s/update_actor": 21.0 + step}),
            }
        )  # fmt: skip
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


AUDITOR = Auditor([_run()], RESOLVER)


def _statuses(text: str) -> list[str]:
    return [sentence.status for sentence in AUDITOR.audit(text).sentences if sentence.status != "no_claim"]


PAIRS = [
    # one statistic against another
    ("The largest grad norm is 5.5 times the average.", "The largest grad norm is 7.7 times the average."),
    ("The slowest step takes 1.5 times as long as the fastest.", "The slowest step takes 1.5 times as long as the average."),
    ("grad norm 的最大值是平均值的 5.5 倍。", "grad norm 的最大值是平均值的 3.1 倍。"),
    ("最慢的一步是最快一步的 1.5 倍。", "最慢的一步是最快一步的 2.5 倍。"),
    # the size of a group
    ("Every prompt gets 8 samples.", "Every prompt gets 16 samples."),
    ("Judging by the largest advantage, each group holds 8 answers.", "Judging by the largest advantage, each group holds 16 answers."),
    ("With 8 rollouts per prompt and 512 responses a step, there are 64 prompts per step.", "With 8 rollouts per prompt and 1,024 responses a step, there are 64 prompts per step."),
    # two phases, their times in brackets in the order of the names
    ("At step 5 the model spends more time on rollouts than on updating (71 s and 26 s).", "At step 5 the model spends more time on rollouts than on updating (26 s and 71 s)."),
    # a spike is the largest value
    ("The biggest grad norm spike is 4.73, at step 7.", "The biggest grad norm spike is 4.73, at step 9."),
    # no step has more
    ("没有哪一步的平均奖励比 step 19 更高（0.547）。", "没有哪一步的平均奖励比 step 20 更高（0.27）。"),
    # what is not there
    ("The log does not give `timing_s/update_actor` for step 15.", "The log does not give `timing_s/update_actor` for step 14."),
    ("I can't tell you the actor update time at step 15: the log doesn't contain it.", "I can't tell you the actor update time at step 16: the log doesn't contain it."),
    ("日志里没有 step 15 的 actor 更新耗时。", "日志里没有 step 13 的 actor 更新耗时。"),
    ("`timing_s/update_actor` 在 step 15 空缺。", "`timing_s/update_actor` 在 step 12 空缺。"),
    ("`actor/grad_norm` has no finite value at step 12, only NaN.", "`actor/grad_norm` has no finite value at step 13, only NaN."),
    ("The log contains no value-function loss.", "The log contains a value-function loss."),
    ("For step 15 the log omits `timing_s/update_actor`.", "For step 14 the log omits `timing_s/update_actor`."),
    ("step 15 的 actor 更新耗时未知。", "step 14 的 actor 更新耗时未知。"),
    # a step, no count of prompts
    ("At step 5 prompts average 131 tokens and responses 477.", "At step 6 prompts average 131 tokens and responses 477."),
    # what took it is what was spoken of
    ("Generation is slowest at step 20, where it takes 86.0 s.", "Generation is slowest at step 20, where it takes 96.0 s."),
    ("生成最慢的是 step 20，用了 86.0 秒。", "生成最慢的是 step 19，用了 86.0 秒。"),
    ("组内采样数为 8。", "组内采样数为 16。"),
    ("At its peak grad norm is 7.5 times its initial value.", "At its peak grad norm is 5.5 times its initial value."),
]  # fmt: skip


@pytest.mark.parametrize("true", [true for true, _ in PAIRS])
def test_sentence_of_this_form_true_is_supported(true: str) -> None:
    assert set(_statuses(true)) == {"supported"}


@pytest.mark.parametrize("false", [false for _, false in PAIRS])
def test_sentence_of_this_form_false_is_refused(false: str) -> None:
    assert set(_statuses(false)) & {"contradicted", "unsupported"}
