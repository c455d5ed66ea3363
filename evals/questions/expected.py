"""What an entry expects, in the form that :mod:`evals.questions.score` compares with an answer.

In ``metrics`` an item may be a list: any of its keys will do. ``steps`` may be a list of alternatives. ``kind`` is for
the tables (else ``follow-up``, or the first intent); with ``kind: category`` the metrics are what must be among the
answered ones, whatever stands besides.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evals.questions import entries

HALVES: Final = entries.SETS
KEPT_BACK: Final = frozenset({"held"})
"""Halves of which only scores are shown."""
HAN: Final = re.compile(r"[\u3400-\u9fff]")
WORD: Final = re.compile(r"(?<![\w/@.])[A-Za-z]{2,}(?![\w/@])")
CHINESE_TOO: Final = frozenset({"step", "gpu", "nan"})
"""Words that a Chinese question holds without being mixed."""


@dataclass(frozen=True)
class Question:
    """One entry.

    Attributes:
        id: unique over all files.
        runs: ids of the logs; none for a question about no log.
        turns: what is asked, in order; the last is judged.
        languages: of the answer that are accepted, ``zh`` and ``en``.
        group: language of the question: ``zh``, ``en`` or ``mixed``.
        kind: for the tables.
        intents: accepted.
        verdicts: accepted; empty where it does not matter.
        metrics: for each metric that is meant, its accepted keys; None where they do not matter.
        steps: accepted (kind, values), values None where they do not matter; empty where steps do not matter.
        ops: accepted; empty where they do not matter.
        facts: must stand in the answer.
        forbidden: must not stand in the text.
        held: kept back from tuning.
    """

    id: str
    runs: tuple[str, ...]
    turns: tuple[str, ...]
    languages: tuple[str, ...]
    group: str
    kind: str
    intents: tuple[str, ...]
    verdicts: tuple[str, ...] = ()
    metrics: tuple[tuple[str, ...], ...] | None = None
    steps: tuple[tuple[str, tuple[int, ...] | None], ...] = ()
    ops: tuple[str | None, ...] = ()
    facts: tuple[Mapping[str, Any], ...] = ()
    forbidden: tuple[re.Pattern[str], ...] = ()
    held: bool = False

    @property
    def has_slots(self) -> bool:
        """Whether anything is expected of the slots."""
        return self.metrics is not None or bool(self.steps) or bool(self.ops)


def questions(half: str) -> list[Question]:
    """The entries of one half (``entries.SETS``), over all files; the held one is kept back from tuning.

    Raises:
        ValueError: for a half, an entry or an id that is not right, naming the file.
    """
    if half not in HALVES:
        raise ValueError(f"half is {' or '.join(HALVES)}, not {half}")
    found: dict[str, Question] = {}
    for path in entries.files(half):
        for entry in entries.load(path):
            if entry["id"] in found:
                raise ValueError(f"{path.name}: {entry['id']}: the id is taken")
            found[entry["id"]] = expected(entry, path.name, held=half in KEPT_BACK)
    return list(found.values())


def part(id: str) -> str:
    """The part, ``a`` or ``b``, of the second fresh set that an entry is in."""
    return "ab"[zlib.crc32(id.encode()) % 2]


def expected(entry: entries.Entry, file: str = "", *, held: bool = False) -> Question:
    """One entry, as :func:`evals.questions.entries.load` gives it; the file's name tells the question's language."""
    turns = tuple(entry["turns"]) if "turns" in entry else (entry["q"],)
    slots = entry.get("slots", {})
    metrics = slots.get("metrics")
    intents = tuple(entries.several(entry["intent"]))
    return Question(
        id=entry["id"],
        runs=tuple(entries.logs(entry)),
        turns=turns,
        languages=tuple(entries.several(entry["lang"])),
        group=_group(file, turns),
        kind=entry.get("kind") or ("follow-up" if len(turns) > 1 else intents[0]),
        intents=intents,
        verdicts=tuple(entries.several(entry.get("verdict"))),
        metrics=None if metrics is None else tuple(tuple(entries.several(metric)) for metric in metrics),
        steps=tuple(
            (steps["kind"], tuple(steps["values"]) if "values" in steps else None)
            for steps in entries.several(slots.get("steps"))
        ),
        ops=(tuple(entries.several(slots["op"])) or (None,)) if "op" in slots else (),
        facts=tuple(entry.get("facts", ())),
        forbidden=tuple(re.compile(text, re.MULTILINE) for text in entry.get("forbidden", ())),
        held=held,
    )


def _group(file: str, turns: Sequence[str]) -> str:
    """The language of a question: by its file, or by its characters where the file holds several."""
    prefix = file.split("_", maxsplit=1)[0]
    if prefix in {"zh", "en", "mixed"}:
        return prefix
    text = " ".join(turns)
    if not HAN.search(text):
        return "en"
    return "mixed" if {word.lower() for word in WORD.findall(text)} - CHINESE_TOO else "zh"
