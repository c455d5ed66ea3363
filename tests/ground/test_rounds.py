"""What is true is not refused: rounds that are steps, data sets for their results, phases, sums and shares of what is told."""

# ruff: noqa: E501 (sentences stay on one line)
from __future__ import annotations

import csv
import io
import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text

BAD = {"contradicted", "unsupported"}


def _table() -> str:
    """Twenty iterations: accuracy 1 in five of them and 0 in three, two times that leap at 11, a rate that begins at 12."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        ["step", "mean_reward", "grounded_acc", "iter_time_s", "sp_ratio", "skipped_groups", "eval_combined"]
    )
    for step in range(1, 21):
        accuracy = 1.0 if step % 4 == 0 else 0.0 if step in {3, 7, 11} else 0.5
        writer.writerow(
            [step, round(0.8 + step / 200, 4), accuracy, 120.0 + step if step < 11 else 400.0 + step,
             0.0 if step < 12 else round(0.05 * (step - 11), 3), 9 if step == 6 else 2, 0.9 + step / 1000 if step % 5 == 0 else ""]
        )  # fmt: skip
    return out.getvalue()


def _verl() -> str:
    """Twenty steps: a data set's accuracy falls while the score rises; host memory grows; the times of each step."""
    lines = []
    for step in range(1, 21):
        values = {
            "critic/score/mean": 0.2 + step / 40,
            "actor/entropy": round(0.6 - step / 50, 4),
            "actor/grad_norm": 0.3 if step != 9 else 1.5,
            "perf/cpu_memory_used_gb": 100.0 + 2 * step,
            "timing_s/gen": 50.0,
            "timing_s/ref": 20.0,
            "timing_s/update_actor": 25.0,
            "timing_s/step": 100.0,
        }
        if step % 5 == 0:
            values["val-core/math500/acc/mean@1"] = 0.7 - step / 50
        lines.append(f"step:{step} - " + " - ".join(f"{key}:{value}" for key, value in values.items()))
    return "\n".join(lines)


RESOLVER = Resolver(library())
ROUNDS = Auditor([parse_text(_table(), name="metrics.csv").runs[0]], RESOLVER)
STEPS = Auditor([parse_text(_verl(), name="verl.log").runs[0]], RESOLVER)
TURNS = Auditor(
    [parse_text("\n".join(json.dumps({"step": s, "reward": 0.1 * s, "num_turns/mean": 4.0}) for s in range(1, 9)), name="a.jsonl").runs[0]],
    RESOLVER,
)  # fmt: skip


def _judged(auditor: Auditor, text: str) -> set[str]:
    return {sentence.status for sentence in auditor.audit(text).sentences} - {"no_claim"}


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("第 1 轮 mean_reward 为 0.805，第 20 轮为 0.900。", "第 1 轮 mean_reward 为 0.805，第 16 轮为 0.900。"),
        ("最慢的是第 20 轮，用了 420 秒；最快的是第 1 轮，用了 121 秒。", "最慢的是第 19 轮，用了 420 秒；最快的是第 1 轮，用了 121 秒。"),
        ("最后 5 轮 mean_reward 的均值为 0.89。", "最后 5 轮 mean_reward 的均值为 0.85。"),
        ("从第 11 轮开始，每轮耗时都在 400 秒以上。", "从第 9 轮开始，每轮耗时都在 400 秒以上。"),
        ("sp_ratio 从第 12 轮的 0.05 一路涨到第 20 轮的 0.45。", "sp_ratio 从第 12 轮的 0.05 一路涨到第 20 轮的 0.55。"),
        ("第 20 轮：\n- mean_reward 0.9\n- iter_time_s 420", "第 20 轮：\n- mean_reward 0.9\n- iter_time_s 419"),
        ("grounded_acc 为 1 的有 5 步，为 0 的有 3 步。", "grounded_acc 为 1 的有 3 步，为 0 的有 5 步。"),
        ("grounded_acc is exactly 1 in 5 steps and exactly 0 in 3.", "grounded_acc is exactly 1 in 6 steps and exactly 0 in 3."),
    ],
)  # fmt: skip
def test_audit_round_of_a_log_without_turns_is_its_step(true: str, false: str) -> None:
    assert _judged(ROUNDS, true) == {"supported"}, ROUNDS.audit(true).to_json()
    assert _judged(ROUNDS, false) & BAD, ROUNDS.audit(false).to_json()


def test_audit_round_of_a_log_with_turns_is_no_step() -> None:
    assert _judged(TURNS, "平均每条轨迹 4 轮对话。") == {"supported"}
    assert "supported" not in _judged(TURNS, "每条轨迹平均 8 轮。")


def test_audit_round_is_quoted_as_it_was_written() -> None:
    claims = [c.text for s in ROUNDS.audit("一共 20 轮，mean_reward 最后是 0.9。").sentences for c in s.claims]
    assert any("轮" in text for text in claims)
    assert not any("步" in text for text in claims)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("MATH500 drops from 60% at step 5 to 30% at step 20.", "MATH500 drops from 60% at step 5 to 40% at step 20."),
        ("训练得分升到 0.7，可 MATH-500 在第 20 步只剩 30%。", "训练得分升到 0.7，可 MATH-500 在第 20 步只剩 70%。"),
        ("step 20：生成 50 秒，参考模型 20 秒，两项合计 70 秒。", "step 20：生成 50 秒，参考模型 20 秒，两项合计 80 秒。"),
        ("step 20 共 100 秒，其中生成 50 秒，约占 50%。", "step 20 共 100 秒，其中生成 50 秒，约占 30%。"),
        ("The largest gradient norm (1.5, step 9) is five times the smallest (0.3, step 1).", "The largest gradient norm (1.5, step 10) is five times the smallest (0.3, step 1)."),
        ("Host memory grew by 38 GB over the run (102 GB in step 1, 140 GB in step 20).", "Host memory fell by 38 GB over the run (102 GB in step 1, 140 GB in step 20)."),
        ("Entropy dropped to 0.2 by step 20, having been 0.5 at step 5.", "Entropy climbed to 0.2 by step 20, having been 0.5 at step 5."),
        ("熵到第 20 步降到 0.2，而第 5 步时是 0.5。", "熵到第 20 步涨到 0.2，而第 5 步时是 0.5。"),
        ("Host memory stays stable between 102 and 140 GB.", "Host memory stays stable between 112 and 140 GB."),
    ],
)  # fmt: skip
def test_audit_data_set_phase_sum_and_time_order_are_read(true: str, false: str) -> None:
    assert _judged(STEPS, true) == {"supported"}, STEPS.audit(true).to_json()
    assert _judged(STEPS, false) & BAD, STEPS.audit(false).to_json()


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("mean_reward 总体上升；iter_time_s 总体上升，中间有回升。", "mean_reward 总体上升，中间有回落。"),
        ("skipped_groups is flat at 2, with jumps along the way.", "mean_reward rises overall, with dips along the way."),
    ],
)  # fmt: skip
def test_audit_what_happened_on_the_way_must_have_happened(true: str, false: str) -> None:
    assert not any(
        c.status in BAD for s in ROUNDS.audit(true).sentences for c in s.claims if c.text in {"回升", "jumps"}
    )
    assert _judged(ROUNDS, false) & BAD, ROUNDS.audit(false).to_json()
