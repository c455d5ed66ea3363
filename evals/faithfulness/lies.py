"""Replies of a scripted model that lies about a run, with the statements that must not reach the user."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from evals.faithfulness.fields import Scene, Written, write
from evals.faithfulness.tables import truth
from evals.questions import logs

PATH: Final = Path(__file__).with_name("lies.yaml")
FIELDS: Final = frozenset({"id", "run", "question", "zh", "en", "judgement"})
LIE: Final = re.compile(r"⟦([^⟧]*)⟧")


@dataclass(frozen=True, slots=True)
class Lie:
    """A reply in one language.

    Attributes:
        id: kind of lie and language.
        run: of ``evals/questions/runs.yaml``.
        language: zh or en.
        question: what the user asked.
        reply: what the model says.
        false: the statements of the reply that must not reach the user.
        true: the reply's other statements; all are true of the run.
        judgement: whether the lie is a conclusion and no number or direction.
    """

    id: str
    run: str
    language: str
    question: str
    reply: str
    false: tuple[str, ...]
    true: tuple[str, ...]
    judgement: bool


@cache
def lies() -> tuple[Lie, ...]:
    """All replies, zh and en.

    Raises:
        ValueError: naming the lie and what is wrong with it: a field, a lie that is true, a truth that is false.
    """
    read: list[dict[str, Any]] = yaml.safe_load(PATH.read_text(encoding="utf-8"))
    for entry in read:
        for problem in problems(entry):
            raise ValueError(f"lies.yaml: {entry.get('id', '?')}: {problem}")
    return tuple(_lie(entry, language) for entry in read for language in ("zh", "en"))


def problems(entry: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with an entry's fields, one line each."""
    if set(entry) - FIELDS or {"id", "run", "question", "zh", "en"} - set(entry):
        yield f"the fields are {', '.join(sorted(FIELDS))}; all but judgement are needed"
        return
    if entry["run"] not in logs.runs():
        yield f"run: {entry['run']!r} is not in evals/questions/runs.yaml"
    for language in ("zh", "en"):
        if language not in entry["question"]:
            yield f"question: no {language}"
        if not LIE.search(entry[language]):
            yield f"{language}: nothing stands between ⟦ and ⟧"


def _lie(entry: Mapping[str, Any], language: str) -> Lie:
    name = f"{entry['id']}-{language}"
    scene = Scene({"": truth(entry["run"])}, {})
    rng = random.Random(name)
    false, true, reply = [], [], []
    for place, text in enumerate(LIE.split(entry[language])):
        if not text.strip():
            reply.append(text)
            continue
        written = write(text, scene, language, rng)
        if written is None:
            raise ValueError(f"lies.yaml: {name}: a value to be shown is not in the run: {text}")
        reply.append(written.text)
        if place % 2:
            false.append(written.text)
            if not entry.get("judgement") and not _is_false(written):
                raise ValueError(f"lies.yaml: {name}: {written.text!r} is not false of the run")
        else:
            true.append(written.text.strip())
            if not written.true():
                raise ValueError(f"lies.yaml: {name}: {written.text!r} is not true of the run")
    asked = str(entry["question"][language])
    return Lie(
        *(name, entry["run"], language, asked, "".join(reply), tuple(false), tuple(true)),
        bool(entry.get("judgement", False)),
    )


def _is_false(written: Written) -> bool:
    exact = Written(written.pieces, written.texts, written.scene, written.language, slack=0.0)
    return exact.false()
