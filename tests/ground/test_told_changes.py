"""Changes with their sign, steps set against each other, formulas in brackets, where values begin and end; true and false."""

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
    """Step 0 validates alone; steps 1 to 20 of 64 prompts with 8 answers on 4 GPUs; the norm is NaN from step 17 on."""
    rows: list[dict[str, float]] = [{"step": 0, "val-core/math/acc/mean@4": 0.31}]
    for step in range(1, 21):
        tokens, seconds = 512 * (131.0 + 412.0 + 13 * step), 120.0 + 3 * step
        rows.append(
            {
                "step": step,
                "actor/entropy": round(0.913 - 0.031 * step, 4),
                "actor/grad_norm": math.nan if step >= 17 else round(0.62 + 0.02 * step, 4),
                "critic/rewards/mean": round(0.11 + 0.023 * step, 4),
                **{f"critic/{what}/max": 7 / math.sqrt(8) for what in ("advantages", "returns")},
                **{f"critic/{what}/min": -1.9 for what in ("advantages", "returns")},
                **{f"critic/{what}/mean": 0.013 for what in ("advantages", "returns")},
                "response_length/mean": 412.0 + 13 * step,
                "prompt_length/mean": 131.0,
                "perf/total_num_tokens": tokens,
                "perf/throughput": tokens / seconds / 4,
                "perf/time_per_step": seconds,
                "timing_s/step": seconds,
                "timing_s/gen": 66.0 + step,
                "timing_s/update_actor": 21.0 + step,
                "timing_s/old_log_prob": 9.0 + 0.5 * step,
                **({} if step % 5 else {"val-core/math/acc/mean@4": round(0.31 + 0.01 * step, 4)}),
            }
        )  # fmt: skip
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


AUDITOR = Auditor([_run()], RESOLVER)


def _statuses(text: str) -> list[str]:
    return [sentence.status for sentence in AUDITOR.audit(text).sentences if sentence.status != "no_claim"]


PAIRS = [
    # a change with its sign, in brackets or as a difference
    ("Step 2 → 9: `actor/entropy` 0.851 → 0.634 (-0.217).", "Step 2 → 9: `actor/entropy` 0.851 → 0.634 (0.217)."),
    ("Δ`actor/entropy` (step 2 → 9) = -0.217", "Δ`actor/entropy` (step 2 → 9) = 0.217"),
    ("Δ `actor/entropy`, 2 → 9: -25.5%", "Δ `actor/entropy`, 2 → 9: +25.5%"),
    ("Δ `timing_s/gen`, 4 → 10: +8.57%", "Δ `timing_s/gen`, 4 → 10: -8.57%"),
    ("Entropy at step 9 minus entropy at step 2 is -0.217.", "Entropy at step 9 minus entropy at step 2 is 0.217."),
    ("Subtracting step 2 from step 9 gives +0.161 for mean reward.", "Subtracting step 9 from step 2 gives +0.161 for mean reward."),
    ("The change in mean reward from step 2 to step 9 is +0.161: 0.156 before, 0.317 after.", "The change in mean reward from step 2 to step 9 is +0.161: 0.317 before, 0.156 after."),
    # gained and lost
    ("Going from step 2 to step 9 cost us 0.217 of entropy.", "Going from step 2 to step 9 cost us 0.161 of mean reward."),
    ("Going from step 2 to step 9 added 0.161 of mean reward.", "Going from step 2 to step 9 added 0.217 of entropy."),
    # the ends of the run, and steps against each other
    ("Entropy ended the run lower than it began: 0.293 at the end against 0.882 at the start.", "Entropy ended the run lower than it began: 0.882 at the end against 0.293 at the start."),
    ("The entropy of step 9 (0.634) falls short of that of step 2 (0.851).", "The entropy of step 9 (0.634) exceeds that of step 2 (0.851)."),
    ("0.851 at step 2, 0.634 at step 9: entropy is falling.", "0.851 at step 2, 0.634 at step 9: entropy is rising."),
    ("Entropy came down to 0.634 at step 9; at step 2 it was still 0.851.", "Entropy picked up to 0.634 at step 9; at step 2 it was still 0.851."),
    ("By the end response length has gained 58% of its initial value.", "By the end response length has gained 37% of its initial value."),
    ("Response length is practically unchanged: 659 at step 19 against 672 at step 20.", "Response length is practically unchanged: 425 at step 1 against 672 at step 20."),
    ("step 2 和 step 9 对比：策略熵 0.851 对 0.634，平均回复长度 438 对 529。", "step 2 和 step 9 对比：策略熵 0.851 对 0.634，平均回复长度 529 对 438。"),
    # a step's time without its name
    ("Steps are getting slower: 126.0 s at step 2, 147.0 s at step 9.", "Steps are getting faster: 126.0 s at step 2, 147.0 s at step 9."),
    ("At step 4 the actor update needs 14.0 s more than recomputing the log probs.", "At step 4 the actor update needs 41.0 s more than recomputing the log probs."),
    ("Summing step time over all steps gives 0.84 hours, or 151.5 s a step on average.", "Summing step time over all steps gives 0.48 hours, or 151.5 s a step on average."),
    # one statistic against another, with both values
    ("The largest entropy of the run is 3.0 times the smallest (0.882 vs 0.293).", "The largest entropy of the run is 3.0 times the smallest (0.293 vs 0.882)."),
    ("全程策略熵的最大值是最小值的 3.0 倍（0.882 / 0.293）。", "全程策略熵的最大值是最小值的 3.0 倍（0.882 / 0.393）。"),
    # what follows from the log
    ("Cluster-wide throughput at step 4 is about 2,308 tokens/s (577 per GPU × 4).", "Cluster-wide throughput at step 4 is about 2,308 tokens/s (577 per GPU × 8)."),
    ("step 4 整个集群的吞吐约 2,308 token/s（单卡 577 × 4）。", "step 4 整个集群的吞吐约 2,308 token/s（单卡 577 × 8）。"),
    ("512 / 8 = 64 prompts per step.", "512 / 64 = 8 prompts per step."),
    ("512 responses per step over 4 GPUs makes 128 per GPU.", "512 responses per step over 8 GPUs makes 64 per GPU."),
    ("512 ÷ 8 = 64，即每步 64 个不同的 prompt。", "512 ÷ 8 = 64，即每步 32 个不同的 prompt。"),
    ("With 512 sequences a step, step 4 has 595 tokens per sequence (prompt and response).", "With 512 sequences a step, step 4 has 464 tokens per sequence (prompt and response)."),
    ("Step 4 costs 0.147 GPU-hours.", "Step 4 costs 0.174 GPU-hours."),
    ("step 4 花掉 0.147 卡时。", "step 4 花掉 0.417 卡时。"),
    ("At 132.0 s per step (step 4), that is 27.3 steps an hour.", "At 132.0 s per step (step 4), that is 37.2 steps an hour."),
    # where values begin and end
    ("`actor/entropy` 从 step 1 才开始记录，step 0 没有。", "`actor/entropy` 从 step 2 才开始记录，step 1 没有。"),
    ("`actor/entropy` only starts at step 1.", "`actor/entropy` only starts at step 3."),
    ("From step 17 on, `actor/grad_norm` is NaN.", "From step 18 on, `actor/grad_norm` is NaN."),
    ("从 step 17 起 `actor/grad_norm` 全是 NaN。", "从 step 19 起 `actor/grad_norm` 全是 NaN。"),
    ("Grad norm goes from 0.940 at step 16 to NaN at step 17.", "Grad norm goes from 0.940 at step 16 to NaN at step 19."),
    ("梯度范数最后一个有限值是 step 16 的 0.94，之后都是 NaN。", "策略熵在 step 16 是 0.417，之后都是 NaN。"),
    ("I could not find `actor/entropy` at step 0.", "I could not find `actor/entropy` at step 3."),
    ("I could find `actor/entropy` at step 3.", "I could find `actor/entropy` at step 0."),
    ("step 0 的策略熵无从得知。", "step 3 的策略熵无从得知。"),
    ("step 5 有做验证。", "step 6 有做验证。"),
    ("第一次验证 31.0%，最后一次验证 51.0%。", "第一次验证 51.0%，最后一次验证 31.0%。"),
    ("`val-core/math/acc/mean@4` is there for 5 of the 21 steps.", "`val-core/math/acc/mean@4` is there for 21 of the 5 steps."),
    ("16 of 21 steps have no `val-core/math/acc/mean@4`.", "14 of 21 steps have no `val-core/math/acc/mean@4`."),
    ("`val-core/math/acc/mean@4` 缺了 16 步（共 21 步）。", "`val-core/math/acc/mean@4` 缺了 16 步（共 20 步）。"),
    ("`timing_s/gen`/`timing_s/update_actor` = 2.80 (step 4)", "`timing_s/gen`/`timing_s/update_actor` = 5.36 (step 4)"),
    ("Only 0.161 separates mean reward at step 2 (0.156) from that at step 9 (0.317).", "Only 0.116 separates mean reward at step 2 (0.156) from that at step 9 (0.317)."),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), PAIRS)
def test_what_is_told_of_changes_and_ends_is_looked_up(true: str, false: str) -> None:
    statuses = _statuses(true)
    assert statuses
    assert set(statuses) == {"supported"}
    assert set(_statuses(false)) & {"contradicted", "unsupported"}


TABLES = [
    # a row that tells the step of each column; steps in a row's own name; seconds told as minutes above; a caption with more behind it
    ("| | before | after |\n|---|---|---|\n| step | 2 | 9 |\n| actor/entropy | 0.851 | 0.634 |", "| | before | after |\n|---|---|---|\n| step | 2 | 9 |\n| actor/entropy | 0.634 | 0.851 |"),
    ("| metric | from | to | Δ |\n|---|---|---|---|\n| actor/entropy (step 2 → 9) | 0.851 | 0.634 | -0.217 |", "| metric | from | to | Δ |\n|---|---|---|---|\n| actor/entropy (step 2 → 9) | 0.634 | 0.851 | -0.217 |"),
    ("| metric | from | to | Δ |\n|---|---|---|---|\n| actor/entropy (step 2 → 9) | 0.851 | 0.634 | -0.217 |", "| metric | from | to | Δ |\n|---|---|---|---|\n| actor/entropy (step 2 → 9) | 0.851 | 0.634 | -0.589 |"),
    ("Time per step (minutes):\n\n| step | total | generation |\n|---|---|---|\n| 2 | 2.1 | 1.1 |\n| 20 | 3.0 | 1.4 |", "Time per step (minutes):\n\n| step | total | generation |\n|---|---|---|\n| 2 | 2.1 | 1.1 |\n| 20 | 3.0 | 1.9 |"),
    ("每步耗时（分钟）：\n\n| step | 总耗时 | 生成 |\n|---|---|---|\n| 2 | 2.1 | 1.1 |\n| 20 | 3.0 | 1.4 |", "每步耗时（分钟）：\n\n| step | 总耗时 | 生成 |\n|---|---|---|\n| 2 | 2.1 | 1.1 |\n| 20 | 3.0 | 1.9 |"),
    ("| Stage | Time | Share |\n|---|---|---|\n| generation | 68.0 s | 54.0% |\n| actor update | 23.0 s | 18.3% |\n\nAll at step 2; a step takes 126.0 s.", "| Stage | Time | Share |\n|---|---|---|\n| generation | 68.0 s | 46.3% |\n| actor update | 23.0 s | 18.3% |\n\nAll at step 2; a step takes 126.0 s."),
    ("| 阶段 | 耗时 | 占比 |\n|---|---|---|\n| 生成 | 68.0 秒 | 54.0% |\n\n以上为 step 2，总耗时 126.0 秒。", "| 阶段 | 耗时 | 占比 |\n|---|---|---|\n| 生成 | 68.0 秒 | 46.3% |\n\n以上为 step 2，总耗时 126.0 秒。"),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), TABLES)
def test_steps_and_units_of_a_table_are_found_where_they_are_told(true: str, false: str) -> None:
    assert set(_statuses(true)) == {"supported"}
    assert set(_statuses(false)) & {"contradicted", "unsupported"}
