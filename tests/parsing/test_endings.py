"""How a log ends: causes told by the lines after the last row, and by no others."""

from __future__ import annotations

import pytest

from assistant.parsing import parse_text
from assistant.parsing.endings import ending

ROWS = "\n".join(
    f"step:{n} - actor/entropy:{0.5 - 0.01 * n:.3f} - critic/score/mean:{0.1 * n:.2f}" for n in range(1, 6)
)


@pytest.mark.parametrize(
    ("tail", "cause", "value"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "gpu_memory", 1),
        ("(TaskRunner pid=812) torch.cuda.OutOfMemoryError: CUDA out of memory.", "gpu_memory", 1),
        ("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", "host_memory", 1),
        ("slurmstepd: error: *** JOB 88 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***", "time_limit", 1),
        ("slurmstepd: error: *** JOB 88 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO PREEMPTION ***", "preempted", 1),
        ("OSError: [Errno 28] No space left on device", "disk_full", 1),
        ("[rank3]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12)", "communication", 1),
        ("RuntimeError: CUDA error: device-side assert triggered", "gpu_fault", 1),
        ("W0608 api.py:704] Received 1 death signal, shutting down workers", "signal", 1),
        ("torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: 15", "signal", 15),
        ("  exitcode  : -9 (pid: 12)", "signal", 9),
        ("  traceback : Signal 11 (SIGSEGV) received by PID 12", "signal", 11),
        ("KeyboardInterrupt", "keyboard", 1),
        ("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.", "worker_died", 1),
        ("ValueError: 3 is not in list", "exception", 1),
        ("mylib.errors.ShapeError", "exception", 1),
    ],
)
def test_ending_of_a_line_after_the_last_row_tells_the_cause(tail: str, cause: str, value: int) -> None:
    (run,) = parse_text(f"{ROWS}\nsome other line\n{tail}\n").runs
    assert ending(run) == (cause, value, 7)


def test_ending_of_several_signs_takes_the_most_telling() -> None:
    text = f"{ROWS}\nValueError: no\nKeyboardInterrupt\nCUDA out of memory\nRuntimeError: worker\n"
    (run,) = parse_text(text).runs
    assert ending(run) == ("gpu_memory", 1, 8)


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        f"ValueError: before the rows\n{ROWS}\n",
        f"{ROWS}\nwandb: Synced 5 W&B file(s)\nsaved without an Error in sight\n",
        f"{ROWS}\nanswers were scored, error rate: 3\n",
        f"{ROWS}\nexitcode  : -77 (pid: 12)\n",
    ],
)
def test_ending_without_a_sign_behind_the_rows_is_none(text: str) -> None:
    (run,) = parse_text(text).runs
    assert ending(run) is None


def test_ending_of_a_run_that_another_one_follows_is_not_told() -> None:
    other = ROWS.replace("actor/entropy", "actor/kl_loss")
    runs = parse_text(f"{ROWS}\nKeyboardInterrupt\n{other}\n").runs
    assert all(ending(run) is None for run in runs)
