"""Trainer logs that are taken up again, evaluated between log events, or print a setting among their metrics."""

from __future__ import annotations

from assistant.parsing import parse_text

TOTAL = 20


def bar(step: int) -> str:
    return f"{100 * step // TOTAL:3d}%|##        | {step}/{TOTAL} [00:01<00:02,  4.00it/s]"


def printed(step: int, **more: object) -> str:
    event = {"loss": f"{step}.25", "grad_norm": f"0.{step}123456", "learning_rate": "0.001", **more}
    return f"{bar(step)}\r{' ' * 40}\r{event | {'epoch': f'{step / 10:.4g}'}!s}\n\r{bar(step)}\r"


def test_parse_restart_steps_go_back_and_repeated_steps_stay() -> None:
    first, again = (range(1, 9), range(5, 13))
    text = f"  0%|          | 0/{TOTAL} [00:00<?]\r" + "".join(map(printed, first))
    text += f"\nKilled\n 20%|##        | 4/{TOTAL} [00:00<?, ?it/s]\r" + "".join(map(printed, again))
    (run,) = parse_text(text).runs
    assert run.steps == (*first, *again)
    assert run.step_axis == "step"
    assert "restart" in {note.code for note in run.warnings}


def test_parse_setting_beside_what_the_trainer_logs_is_a_metric() -> None:
    (run,) = parse_text("".join(printed(step, entropy_coef="0.5") for step in range(1, 6))).runs
    assert run.series("entropy_coef") == ([1, 2, 3, 4, 5], [0.5] * 5)


def test_parse_setting_without_a_gradient_norm_is_a_configuration() -> None:
    text = "{'loss': 0.5, 'learning_rate': 0.001, 'batch_size': 8, 'epoch': 3, 'warmup_steps': 10}\n" * 3
    assert all("batch_size" not in run.metrics for run in parse_text(text).runs)


def test_parse_evaluation_between_bars_takes_the_step_of_its_epoch() -> None:
    evaluation = "{'eval_loss': '0.5', 'eval_runtime': '0.1', 'epoch': '0.5'}\n\r" + bar(5) + "\r"
    steps = (2, 4, 6, 8)
    parts = [printed(step) + (evaluation if step == 4 else "") for step in steps]
    (run,) = parse_text("".join(parts)).runs
    assert run.series("eval_loss") == ([5], [0.5])
    assert run.series("loss")[0] == list(steps)
