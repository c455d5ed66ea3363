"""A benchmark that a question names and the log's validations were not taken on: never another one in its place."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from assistant.ask import answer_at_k
from assistant.ask.context import Context, is_validation
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

#: Benchmarks by the names under which logs and people know them; a year is part of the name where one is given.
_SETS: Final = re.compile(
    r"(?i)(?<![a-z0-9_/@-])(?:math[- _]?500|gsm[- ]?8k|aime(?:[-_']?(?:20)?2\d(?![%％\d]|\.\d)| (?:20)2\d)?"
    r"|amc[- _]?(?:20)?(?:22|23|24)?|olympiad(?:[- ]?bench)?"
    r"|minerva(?:[- ]?math)?|gpqa(?:[- ]?diamond)?|mmlu(?:[- ]?pro)?|human[- ]?eval|mbpp"
    r"|live[- ]?code[- ]?bench|lcb|hellaswag|ifeval|bbh"
    r"|arc[- ][ce]|truthful[- ]?qa|swe[- ]?bench|hotpot[- ]?qa|trivia[- ]?qa"
    r"|c[- ]?eval|cmmlu|codeforces|hmmt(?:[- ]?(?:20)?2\d)?)"
    r"(?![a-z0-9_/@-])"
)
_ASKED: Final = {"lookup", "validation", "trend", "compare", "forecast", "health", "explain"}
_LONGEST: Final = 400
_YEAR: Final = re.compile(r"(?:20)?(2\d)$")


def attempt(context: Context) -> Verdict | None:
    """That the log holds no validation on the set named, and on which it does.

    ``None`` (nothing written) where it holds one of those named, names no sets at all, or nothing of the kind is asked.
    """
    if len(context.runs) != 1 or context.query.intent not in _ASKED:
        return None
    text = normalised(context.query.wording or context.query.text)
    if answer_at_k.lacking(context, text[:_LONGEST]) is not None:
        verdict = answer_at_k.told(context, text[:_LONGEST])
        _settled(context)
        return verdict
    named = list(dict.fromkeys(match.group() for match in _SETS.finditer(text[:_LONGEST])))
    held = _held(context) if named else []
    if not held or any(_same(one, other) for one in named for other in held):
        return None
    shown, sets = _shown(context, named), _shown(context, held)
    return _lacking(context, context.say("sets.lacking", named=shown, sets=sets))


def _shown(context: Context, names: list[str]) -> str:
    context.names.update(names)
    return context.join(f"`{name}`" for name in names)


def _lacking(context: Context, said: str) -> Verdict:
    context.doc.paragraph(f"**{said}**")
    _settled(context)
    return Verdict("no_data", unmark(said))


def _settled(context: Context) -> None:
    intent = context.query.intent if context.query.intent in {"lookup", "validation"} else "validation"
    context.query = replace(
        context.query, intent=intent, topics=(), mentions=(), alternatives=(), op=None, asked_op=None, threshold=None
    )
    context.settled, context.kind = True, "other_set"


def _held(context: Context) -> list[str]:
    """The known sets that the keys of the log's validations name, as they spell them."""
    found: list[str] = []
    for key in context.run.metrics:
        if is_validation(key) or key.startswith(("val", "eval", "test")):
            pieces = (re.sub(r"_", "-", piece) for piece in key.split("/"))
            found += [match.group().replace("-", "_") for piece in pieces if (match := _SETS.fullmatch(piece))]
    return list(dict.fromkeys(found))


def _same(one: str, other: str) -> bool:
    """Whether two spellings name one set: "AIME" is that of any year, "AIME24" is ``aime_2024``."""
    (a, year), (b, held) = _parted(one), _parted(other)
    return (a.startswith(b) or b.startswith(a)) and (not year or not held or year == held)


def _parted(name: str) -> tuple[str, str]:
    plain = re.sub(r"[^a-z0-9]", "", name.lower()).replace("livecodebench", "lcb")
    year = _YEAR.search(plain) if plain.startswith(("aime", "amc", "hmmt")) else None
    return (plain[: year.start()], year[1]) if year is not None else (plain, "")
