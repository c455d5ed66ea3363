"""What a sentence says is not in the log, in further words; true where it is not there, false where it is."""

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text

ROWS = [
    {
        "step": step,
        "actor/entropy": round(0.9 - 0.02 * step, 3) if step else None,
        "actor/grad_norm": "NaN" if step >= 9 else 0.3 + 0.01 * step,
        **({"timing_s/gen": 20.5 + step} if step % 4 else {}),
        "timing_s/step": 40.0 + step,
    }
    for step in range(12)
]
ROWS = [{key: value for key, value in row.items() if value is not None} for row in ROWS]
AUDITOR = Auditor(
    [parse_text("\n".join(map(json.dumps, ROWS)).replace('"NaN"', "NaN"), name="run").runs[0]],
    Resolver(library()),
)


@pytest.mark.parametrize(
    ("text", "gone", "there"),
    [
        ("step {s} 的 `timing_s/gen` 我给不出来，日志里没有。", 8, 7),
        ("`timing_s/gen` 在 step {s} 读不出来。", 8, 7),
        ("step {s} 的 `timing_s/gen` 被截掉了。", 8, 7),
        ("step {s} 的 `timing_s/gen` 不得而知。", 8, 7),
        ("step {s} 的 `timing_s/gen` 是多少，日志没有写。", 8, 7),
        ("The log does not say how large `timing_s/gen` was at step {s}.", 8, 7),
        ("`timing_s/gen`: not available at step {s} (truncated line).", 8, 7),
        ("The cell of `timing_s/gen` at step {s} is empty.", 8, 7),
        ("Don't read `timing_s/gen` at step {s}: it does not exist there.", 8, 7),
        ("`timing_s/gen`：step {s} 缺失（该行被截断）。", 8, 7),
        ("step {s} 的 `timing_s/gen` 没能解析出来，那一行断了。", 8, 7),
        ("`actor/grad_norm` 在 step {s} 没有有限值。", 10, 3),
        ("No metrics such as `actor/entropy` exist for step {s}.", 0, 3),
    ],
)
def test_value_told_not_to_be_there_is_looked_up(text: str, gone: int, there: int) -> None:
    for step, status in ((gone, "supported"), (there, "contradicted")):
        assert [sentence.status for sentence in AUDITOR.audit(text.format(s=step)).sentences] == [status]


@pytest.mark.parametrize(
    "text", ["`actor/grad_norm` 到 step {s} 变成了 NaN。", "actor/grad_norm turned into NaN by step {s}."]
)
def test_value_that_became_nan_is_no_change_of_so_much(text: str) -> None:
    for step, status in ((10, "supported"), (4, "contradicted")):
        assert [sentence.status for sentence in AUDITOR.audit(text.format(s=step)).sentences] == [status]
