"""True sentences as chat models write them, each beside one that differs in one thing and is false."""

# ruff: noqa: E501 (tables stay on one line)

from __future__ import annotations

import json
import math

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text


def _row(step: int) -> dict[str, float]:
    """Validation alone at step 0 and beside training at every fifth step; every second step is logged."""
    row: dict[str, float] = {"step": step}
    if step % 10 == 0:
        row["val-core/math/acc/mean@1"] = round(0.31 + 0.011 * step - 0.0003 * step * step, 4)
    if step:
        row |= {
            "critic/score/mean": 0.0 if step >= 24 else round(0.42 + 0.013 * step, 4),
            "actor/entropy": round(0.9131 - 0.0171 * step, 4),
            "actor/grad_norm": round(0.512 + 0.11 * math.sin(step), 4),
            "response_length/mean": 412.5 + 13.25 * step,
            "perf/cpu_memory_used_gb": 173.9 + 1.7 * (step % 6),
            "timing_s/gen": 66.0 + step,
            "timing_s/update_actor": 41.0 + 0.5 * step,
            "timing_s/step": 120.0 + 2 * step,
        }
    if 2 <= step <= 22:
        row["response_length/max"] = 901.0 + 3 * step
    return row


AUDITOR = Auditor(
    [parse_text("\n".join(json.dumps(_row(step)) for step in range(0, 32, 2)), name="run").runs[0]],
    Resolver(library()),
)


def _flagged(text: str) -> bool:
    statuses = [sentence.status for sentence in AUDITOR.audit(text).sentences]
    return any(status in {"contradicted", "unsupported"} for status in statuses)


def _told(true: str, false: str) -> None:
    statuses = [sentence.status for sentence in AUDITOR.audit(true).sentences]
    assert set(statuses) <= {"supported", "no_claim"}, statuses
    assert "supported" in statuses
    assert _flagged(false)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (
            "Entropy, 0.879 at step 2, had fallen to 0.400 by step 30.",
            "Entropy, 0.879 at step 2, had fallen to 0.500 by step 30.",
        ),
        (
            "The mean response length, 439 tokens at step 2, had already grown to 810 tokens by step 30.",
            "The mean response length, 439 tokens at step 2, had already grown to 910 tokens by step 30.",
        ),
    ],
)
def test_past_perfect_is_told_as_so(true: str, false: str) -> None:
    _told(true, false)


def test_inverted_had_supposes() -> None:
    assert [s.status for s in AUDITOR.audit("Had the entropy fallen to 0.01, we would stop.").sentences] == ["no_claim"]


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("critic/score/mean 从 step 24 到 step 30 恒为 0。", "critic/score/mean 从 step 20 到 step 30 恒为 0。"),
        ("critic/score/mean 从 step 24 起都是 0。", "critic/score/mean 从 step 22 起都是 0。"),
        ("From step 24 to step 30, the score stays at 0.", "From step 18 to step 30, the score stays at 0."),
    ],
)
def test_constant_stretch_is_held_at_each_step(true: str, false: str) -> None:
    _told(true, false)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("There is no validation between steps 10 and 20.", "There is no validation between steps 10 and 30."),
        ("step 10 和 step 20 之间没有做验证。", "step 10 和 step 30 之间没有做验证。"),
        ("critic/score/mean is missing before step 2.", "critic/score/mean is missing before step 6."),
        ("There was no validation before step 0.", "There was no validation before step 2."),
        ("No training metrics were logged at step 0.", "No training metrics were logged at step 2."),
        ("step 0 没有训练指标。", "step 2 没有训练指标。"),
        ("Validation appears only at steps 0, 10, 20 and 30.", "Validation appears only at steps 0, 10 and 20."),
        ("只有 step 0、10、20、30 做了验证。", "只有 step 0、10 做了验证。"),
        ("There is no record for step 7.", "There is no record for step 8."),
        ("Only every second step was logged, so there is no value for step 7.", "Only every second step was logged, so there is no value for step 8."),
        ("Step 13 is not in the log.", "Step 14 is not in the log."),
        ("step 13 没有记录。", "step 14 没有记录。"),
        ("No critic/vf_loss was logged.", "No critic/score/mean was logged."),
        ("response_length/max is logged up to step 22.", "response_length/max is logged up to step 14."),
        ("response_length/max is present from step 2 to step 22.", "response_length/max is present from step 2 to step 26."),
    ],
)  # fmt: skip
def test_what_is_not_there_is_held_against_each_step_meant(true: str, false: str) -> None:
    _told(true, false)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        (
            "| Memory (GB) | Step 2 | Step 4 | Step 6 |\n|---|---|---|---|\n| CPU | 177.3 | 180.7 | 173.9 |\n| gen | 68 | 70 | 72 |",
            "| Memory (GB) | Step 2 | Step 4 | Step 6 |\n|---|---|---|---|\n| CPU | 177.3 | 187.0 | 173.9 |\n| gen | 68 | 70 | 72 |",
        ),
    ],
)
def test_row_under_steps_that_no_metric_holds_is_not_borne_out(true: str, false: str) -> None:
    assert not _flagged(true)
    assert _flagged(false)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("critic/score/mean dropped to zero at step 24.", "critic/score/mean dropped to zero at step 20."),
        ("critic/score/mean is exactly zero at step 26.", "critic/score/mean is exactly zero at step 22."),
        ("critic/score/mean has been zero since step 24.", "critic/score/mean has been zero since step 18."),
        ("critic/score/mean 从 step 24 起归零。", "critic/score/mean 从 step 18 起归零。"),
    ],
)
def test_zero_in_words_is_a_value(true: str, false: str) -> None:
    _told(true, false)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("The gap between generation and the actor update at step 4 is 70.0 − 43.0 = 27.0 s.", "The gap between generation and the actor update at step 4 is 70.0 − 43.0 = 37.0 s."),
        ("(0.400 − 0.879) / 0.879 ≈ −54%, so entropy fell by that much from step 2 to step 30.", "(0.400 − 0.879) / 0.879 ≈ −45%, so entropy fell by that much from step 2 to step 30."),
        ("0.879 / 0.400 ≈ 2.20, so entropy more than halved from step 2 to step 30.", "0.879 / 0.400 ≈ 2.70, so entropy more than halved from step 2 to step 30."),
        ("step 4 的生成耗时 70.0 秒加 actor 更新 43.0 秒，70.0 + 43.0 = 113.0 秒。", "step 4 的生成耗时 70.0 秒加 actor 更新 43.0 秒，70.0 + 43.0 = 131.0 秒。"),
        ("At step 10, generation is 76.0 s of 140 s: 76.0 / 140 = 54%.", "At step 10, generation is 76.0 s of 140 s: 76.0 / 140 = 45%."),
    ],
)  # fmt: skip
def test_arithmetic_spelt_out_is_done_again(true: str, false: str) -> None:
    _told(true, false)


@pytest.mark.parametrize(
    "text",
    [
        "0.978 / 0.400 ≈ 2.45, so entropy more than halved from step 2 to step 30.",  # the first is no entropy
        "(0.400 − 0.879) / 0.879 ≈ −54%, so entropy fell by that much from step 2 to step 20.",  # of another step
        "The gap between entropy and the actor update at step 4 is 70.0 − 43.0 = 27.0.",
    ],
)
def test_arithmetic_on_what_the_log_does_not_hold_is_flagged(text: str) -> None:
    assert _flagged(text)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("timing_s/step is highest at step 30, followed by step 28 and step 26.", "timing_s/step is highest at step 30, followed by step 26 and step 28."),
        ("Step 30 is the slowest at 180 s, followed by step 28.", "Step 30 is the slowest at 180 s, followed by step 24."),
        ("Step 30 is the slowest at 180 s, followed by step 28.", "Step 30 is the slowest at 190 s, followed by step 28."),
        ("Between its peak at step 2 and step 30, entropy lost 0.479.", "Between its trough at step 2 and step 30, entropy lost 0.479."),
        ("The score dropped by 0.706 from its peak at step 22 to step 24.", "The score dropped by 0.680 from its peak at step 20 to step 24."),
        ("| Metric | Step 2 | Step 22 | Step 30 | Comment |\n|---|---|---|---|---|\n| critic/score/mean | 0.446 | **0.706** | 0 | peaks at step 22 |", "| Metric | Step 2 | Step 22 | Step 30 | Comment |\n|---|---|---|---|---|\n| critic/score/mean | 0.446 | **0.706** | 0 | peaks at step 30 |"),
        ("| 指标 | Step 2 | Step 22 | 说明 |\n|---|---|---|---|\n| critic/score/mean | 0.446 | 0.706 | step 22 最高 |", "| 指标 | Step 2 | Step 22 | 说明 |\n|---|---|---|---|\n| critic/score/mean | 0.446 | 0.706 | step 2 最高 |"),
    ],
)  # fmt: skip
def test_step_of_an_extreme_told_in_passing_is_checked(true: str, false: str) -> None:
    _told(true, false)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("| Step | gen | update | gap |\n|---|---|---|---|\n| 4 | 70.0 | 43.0 | 27.0 |\n| 30 | 96.0 | 56.0 | 40.0 |", "| Step | gen | update | gap |\n|---|---|---|---|\n| 4 | 70.0 | 43.0 | 27.0 |\n| 30 | 96.0 | 56.0 | 45.0 |"),
        ("| Metric | Before (step 2) | After (step 30) | Relative change |\n|---|---|---|---|\n| Entropy | 0.879 | 0.400 | 54% lower |", "| Metric | Before (step 2) | After (step 30) | Relative change |\n|---|---|---|---|\n| Entropy | 0.879 | 0.400 | 54% higher |"),
        ("| Step | Response length | vs. step 2 |\n|---|---|---|\n| 2 | 439 | – |\n| 30 | 810 | +85% |", "| Step | Response length | vs. step 2 |\n|---|---|---|\n| 2 | 439 | – |\n| 30 | 810 | +58% |"),
        ("| step | 回复长度 | 相对 step 2 |\n|---|---|---|\n| 2 | 439 | – |\n| 30 | 810 | +85% |", "| step | 回复长度 | 相对 step 2 |\n|---|---|---|\n| 2 | 439 | – |\n| 30 | 810 | +58% |"),
        ("Change from step 2 to step 30:\n\n| Metric | From | To | % |\n|---|---|---|---|\n| Entropy | 0.879 | 0.400 | -54.5% |", "Change from step 2 to step 30:\n\n| Metric | From | To | % |\n|---|---|---|---|\n| Entropy | 0.400 | 0.879 | -54.5% |"),
        ("| 指标 | 变化（step 2 → 30） | 趋势 |\n|---|---|---|\n| 熵 | 0.879 → 0.400 | ↓ 下降 |", "| 指标 | 变化（step 2 → 30） | 趋势 |\n|---|---|---|\n| 熵 | 0.400 → 0.879 | ↓ 下降 |"),
        ("| metric | first | last | verdict |\n|---|---|---|---|\n| critic/score/mean | 0.446 | 0 | ❌ worse |", "| metric | first | last | verdict |\n|---|---|---|---|\n| critic/score/mean | 0.446 | 0 | ❌ better |"),
    ],
)  # fmt: skip
def test_columns_of_changes_gaps_and_verdicts_are_read(true: str, false: str) -> None:
    _told(true, false)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Entropy shrank by a factor of about 2.2 between step 2 and step 30 (0.879 → 0.40).", "Entropy shrank by a factor of about 8 between step 2 and step 30 (0.879 → 0.40)."),
        ("回复长度由 439 涨至 810，涨幅约 80%。", "回复长度由 439 涨至 810，涨幅约 60%。"),
        ("The entropy's fall from 0.879 at step 2 to 0.400 at step 30 was matched by critic/score/mean, which went from 0.446 to 0.", "The entropy's fall from 0.879 at step 2 to 0.400 at step 30 was matched by critic/score/mean, which went from 0.446 to 0.628."),
    ],
)  # fmt: skip
def test_amount_of_a_change_is_no_value_of_another_step(true: str, false: str) -> None:
    _told(true, false)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Entropy at step 30 (0.400) is below its starting value (0.879).", "Entropy at step 30 (0.400) is above its starting value (0.879)."),
        ("Entropy at step 20 (0.571) is below its starting value (0.879).", "Entropy at step 20 (0.571) is below its starting value (0.845)."),
        ("At 0, critic/score/mean is now 0.706 below its best (0.706 at step 22).", "At 0, critic/score/mean is now 0.607 below its best (0.706 at step 22)."),
        ("Entropy retains 46% of its initial value at step 30.", "Entropy retains 64% of its initial value at step 30."),
        ("step 30 的熵只有初始值的 46%。", "step 30 的熵只有初始值的 64%。"),
        ("After starting at 0.879 at step 2, entropy fell to 0.400.", "After starting at 0.879 at step 2, entropy rose to 0.400."),
        ("After peaking at 0.706 at step 22, critic/score/mean fell to 0.", "After peaking at 0.706 at step 22, critic/score/mean fell to 0.5."),
        ("Entropy was 0.879 at step 2; by step 30 it had collapsed to 0.40.", "Entropy was 0.879 at step 2; by step 30 it had collapsed to 0.30."),
        ("Generation accounts for about half of step 10.", "Generation accounts for about a quarter of step 10."),
        ("Only about a third of step 10 goes to timing_s/update_actor.", "Only about a tenth of step 10 goes to timing_s/update_actor."),
    ],
)  # fmt: skip
def test_standing_against_the_first_or_best_value_is_checked(true: str, false: str) -> None:
    _told(true, false)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("The score climbed from 0.446 at step 2 to 0.706 at step 22 before falling to 0 at step 24.", "The score climbed from 0.446 at step 2 to 0.706 at step 22 before climbing to 0 at step 24."),
        ("perf/cpu_memory_used_gb dipped from 180.7 at step 4 to 173.9 at step 6 before recovering to 177.3 at step 8.", "perf/cpu_memory_used_gb rose from 180.7 at step 4 to 173.9 at step 6 before recovering to 177.3 at step 8."),
        ("critic/score/mean at step 10 (0.550) remains above step 2 (0.446), albeit below step 20 (0.680).", "critic/score/mean at step 10 (0.550) remains above step 2 (0.446), albeit above step 20 (0.680)."),
    ],
)  # fmt: skip
def test_each_word_of_direction_is_held_against_its_own_steps(true: str, false: str) -> None:
    _told(true, false)


SIZED = Auditor(
    [
        parse_text(
            "\n".join(
                json.dumps(
                    {
                        "step": step,
                        "prompt_length/mean": 100.0 + step,
                        "response_length/mean": 300.0,
                        "perf/total_num_tokens": (400.0 + step) * 512,
                        "critic/advantages/max": 7 / math.sqrt(8),
                        "critic/advantages/min": -1.2,
                        "critic/advantages/mean": 0.0,
                        "critic/returns/max": 7 / math.sqrt(8),
                        "critic/returns/min": -1.2,
                        "critic/returns/mean": 0.0,
                        "perf/time_per_step": 100.0,
                        "perf/throughput": (400.0 + step) * 512 / 400,
                    }
                )
                for step in range(1, 9)
            ),
            name="run",
        ).runs[0]
    ],
    Resolver(library()),
)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Batch: 64 × 8 = 512.", "Batch: 8 × 64 = 512."),
        ("512 / 8 = 64, so each step covers 64 prompts.", "512 / 8 = 32, so each step covers 32 prompts."),
        ("512 / 8 = 64，也就是每步 64 个 prompt。", "512 / 8 = 64，也就是每步 32 个 prompt。"),
    ],
)
def test_sizes_spelt_out_keep_their_order(true: str, false: str) -> None:
    for text, flagged in ((true, False), (false, True)):
        statuses = {sentence.status for sentence in SIZED.audit(text).sentences}
        assert bool(statuses & {"contradicted", "unsupported"}) == flagged
