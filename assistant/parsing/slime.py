"""slime's log: ``step 7: {…}`` of the trainer and ``rollout 3: {…}``, ``perf 3: {…}``, ``eval 3: {…}``.

Rollout ids and train steps are different counters (a rollout is trained on in one or more steps), so the
trainer's lines and the rollouts' lines make two runs.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Note, Run
from assistant.parsing.records import Record, dict_record, make_runs
from assistant.parsing.repair import Document
from assistant.parsing.stepdicts import find_headed
from assistant.parsing.table import Reading

_HEADING: Final = re.compile(
    r"(?P<role>(?:[a-z][a-z0-9_]{0,30}-)?+)(?P<kind>step|rollout|perf|eval|passrate|multi_turn) (?P<n>[0-9]{1,12}): \{"
)
_WORDS: Final = ("step ", "rollout ", "perf ", "eval ", "passrate ", "multi_turn ")
_PATHS: Final = ("train/", "rollout/", "perf/", "eval/", "passrate/", "multi_turn/")


class Slime:
    """Reads the lines that slime prints once a train step and several times a rollout."""

    name: Final = "slime"
    strength: Final = 90

    def read(self, document: Document) -> Reading:
        """A run of train steps, a run of rollouts, or both."""
        steps: list[Record] = []
        rollouts: list[Record] = []
        taken: set[int] = set()
        bad: list[int] = []
        for headed in find_headed(document, _HEADING, _WORDS):
            kind, number = headed.heading["role"] + headed.heading["kind"], int(headed.heading["n"])
            record = dict_record(kind, number, headed.tag, headed.printed, document)
            if record is None or not any(key.startswith(_PATHS) for key in record.row.values):
                if record is None and any(path in headed.printed.text for path in _PATHS):
                    bad.append(document.numbers[headed.index])
                continue
            (steps if headed.heading["kind"] == "step" else rollouts).append(record)
            taken.update(document.numbers[entry] for entry in headed.printed.entries)
        runs: list[Run] = []
        both = bool(steps and rollouts)
        for records, axis, name in ((steps, "step", "train steps"), (rollouts, "rollout", "rollouts")):
            runs += make_runs(
                records,
                first=len(runs),
                name=f"{document.name} ({name})" if both else document.name,
                format="slime",
                framework="slime",
                step_axis=axis,
                notes=[_BOTH] if both else [],
            )
        return Reading(tuple(runs), frozenset(taken), tuple(bad))


_BOTH: Final = Note(
    "two_axes",
    "slime 的 rollout 编号与训练步数是两个不同的计数器，"
    "所以有两个 run：训练步（step 行）和 rollout（rollout、perf、eval 行）。",
    "slime counts rollouts and train steps separately, so there are two runs: "
    "train steps (step lines) and rollouts (rollout, perf and eval lines).",
)
