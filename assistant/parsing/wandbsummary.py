"""The block that Weights & Biases prints when a run ends: ``wandb: Run summary:`` and ``wandb:  train/loss 0.5``.

The history above it is drawn as sparklines and holds no numbers.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Run
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.metric_names import is_metric_name
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import is_step, whole_number
from assistant.parsing.table import Reading, Row, build_run

_FRONT: Final = r"\s{0,8}(?:wandb:)?\s{0,80}"
_HEAD: Final = re.compile(rf"{_FRONT}Run summary:\s*$")
_LINE: Final = re.compile(
    rf"{_FRONT}(?P<key>[A-Za-z_(][^\s│|]{{0,160}}(?: [^\s│|]{{1,40}}){{0,4}}?)[ \t]{{1,40}}(?P<text>\S{{1,80}})\s*$"
)
_NUMBER: Final = re.compile(NUMBER)
_LONGEST: Final = 400
_MOST_RUNS: Final = 20


class WandbSummary:
    """Reads the last values of a run as its summary shows them."""

    name: Final = "wandb-summary"
    strength: Final = 8

    def read(self, document: Document) -> Reading:
        """One run of one row a summary."""
        runs: list[Run] = []
        taken: set[int] = set()
        row: Row | None = None
        axis = "index"
        for raw, number in [*zip(document.lines, document.numbers, strict=False), ("", 0)]:
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            if len(line) <= _LONGEST and "Run summary:" in line and _HEAD.match(line) and len(runs) < _MOST_RUNS:
                row, axis = Row(0, 0), "index"
                continue
            if row is None:
                continue
            found = _LINE.match(line) if len(line) <= _LONGEST else None
            bare = not line.replace("wandb:", "").strip()
            if (bare and not row.values) or (found is not None and _NUMBER.fullmatch(found["text"]) is None):
                continue
            value = None if found is None else read_number(found["text"])
            if found is None or value is None:
                if any(map(is_metric_name, row.values)):
                    runs.append(
                        build_run(
                            [row],
                            id=f"r{len(runs)}",
                            name=document.name,
                            format=self.name,
                            framework=detect_framework(row.values),
                            step_axis=axis,
                        )
                    )
                    taken.update({row.line, *row.lines.values()})
                row = None
                continue
            key = found["key"].strip()
            whole = whole_number(value)
            if is_step(key) and whole is not None and (axis == "index" or key == "_step"):
                row.step, axis = whole, key
            if key.startswith("_") or (is_step(key) and "/" not in key):
                continue
            row.line = row.line or number
            row.values[key] = value
            if number != row.line:
                row.lines[key] = number
        return Reading(tuple(runs), frozenset(taken))
