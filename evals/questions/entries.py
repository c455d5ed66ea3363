"""The questions (``*_open``, ``*_held`` and the other ``SETS``): fields, checked on loading; how a number is said.

An entry is about the log or logs ``run`` names (ids of ``runs.yaml``; null: no log is given) and asks ``q``, or a
conversation ``turns`` of which the last is judged. ``lang`` is the language of the expected answer. Where two readings
are fair a field holds a list of all that are (of ``lang``: where the question itself is in no language).

- ``intent``, ``verdict``: codes of the answer.
- ``slots``: ``metrics`` the run's keys (a list within the list: any of these), ``steps`` ``{kind, values}``, ``op``.
- ``threshold``: ``{above: x}`` or ``{below: x}``, the bound that a count or first crossing is about.
- ``facts``: what must be there. ``{metric, step, value}`` in the answer's facts (``metric`` may list keys that hold the
  same value; not-a-number is ``NaN``; ``run`` is one of several, as the answer counts them: r0, r1); ``{name, value}``
  a derived fact; ``{text}`` a string, or any of several, in the answer's text; ``{says}`` a number in the answer's
  text, rounded as a person would (:func:`says`).
- ``forbidden``: regular expressions that must not be found in the answer's text; ``$name`` is one of ``claims*.yaml``,
  and ``~expression`` does not count where a negation, in Chinese or English, stands before it in the same clause.
- ``kind``: what makes the question special (missing, premise, injection, two, vague …), to count by.
- ``note``: why the expectation is what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from evals.questions.logs import runs

Entry: TypeAlias = dict[str, Any]

FOLDER: Final = Path(__file__).parent
INTENTS: Final = frozenset(
    {"explain", "define", "compare", "trend", "health", "lookup", "bottleneck", "validation", "derive", "advice"}
    | {"forecast", "out_of_scope"}
)
VERDICTS: Final = frozenset(
    {"improved", "regressed", "mixed", "unchanged", "inconclusive", "not_comparable"}
    | {"rising", "falling", "flat", "fluctuating"}
    | {"healthy", "warning", "critical", "insufficient_data"}
    | {"answered", "no_data", "unknown_metric", "out_of_scope", "no_metrics"}
)
KINDS: Final = frozenset({"none", "single", "pair", "range", "last_n", "first", "last", "all"})
OPS: Final = frozenset({"max", "min", "mean", "argmax", "argmin", "first_crossing", "count"})
FIELDS: Final = frozenset(
    {"id", "run", "kind", "q", "turns", "lang", "intent", "verdict", "slots", "threshold", "facts", "forbidden", "note"}
)
FACTS: Final = (
    frozenset({"metric", "step", "value"}),
    frozenset({"metric", "step", "value", "run"}),
    frozenset({"name", "value"}),
    frozenset({"text"}),
    frozenset({"says"}),
)
SETS: Final = ("open", "held", "fresh", "second", "third", "fourth", "fifth")
"""Ends of the files' names: what a set of questions is called."""
NUMBER: Final = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<digits>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?:[eE](?P<exponent>[-−+]?\d+))?"
    r"(?:\s*[×x]\s*10(?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?\s*(?P<unit>%|个百分点|percentage points|points|万|亿"
    r"|分钟?|小时|毫秒|(?:minutes?|mins?|hours?|ms|[hkKMGB])(?![a-zA-Z]))?"
)
UNITS: Final = {
    **dict.fromkeys(["%", "个百分点", "percentage points", "points"], 0.01),
    **dict.fromkeys(["ms", "毫秒"], 1e-3),
    **dict.fromkeys(["分", "分钟", "min", "mins", "minute", "minutes"], 60.0),
    **dict.fromkeys(["小时", "h", "hour", "hours"], 3600.0),
    **{"k": 1e3, "K": 1e3, "万": 1e4, "M": 1e6, "亿": 1e8, "G": 1e9, "B": 1e9},
}
RAISED: Final = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
EXACT: Final = 1e-9
CLAUSE: Final = r"(?:[^.,;:!?\n。，；：！？]|[.,](?=\d))"
"""A character within a clause; a decimal point and a comma within a number end none."""
DENIALS: Final = (
    ("没|未(?!来)|非(?!常)|否|别|难|若|避|防|不(?![过仅断错止])|无(?![疑论])", 10),
    ("如果|假如", 10),
    (r"\bno\b|\bif\b", 40),
    (r"\bnot\b|\bnor\b|n't\b|n’t\b", 40),
    (r"\bnever\b|\bwould\b|\bcould\b", 40),
    (r"\bcannot\b", 40),
    (r"\bneither\b|\bwithout\b|\bwhether\b|\bnothing\b", 40),
)
"""Words of one length that deny, doubt or suppose what follows, and up to how many characters before it."""
NOT_DENIED: Final = "".join(
    f"(?<!(?i:{words}){CLAUSE}{{{distance}}})" for words, far in DENIALS for distance in range(far + 1)
)
FLAGS: Final = re.compile(r"(?:\(\?[ims]+\))?")


def files(half: str | None = None) -> list[Path]:
    """The files of questions, of one half (``open``, ``held``, or the later ones of ``SETS``) or all."""
    ends = tuple(f"_{name}" for name in SETS)
    found = [path for path in sorted(FOLDER.glob("*.yaml")) if path.stem.endswith(ends)]
    return [path for path in found if half is None or path.stem.endswith(f"_{half}")]


def entries(half: str | None = None) -> list[Entry]:
    """All entries, of one half or all, in the files' order.

    Raises:
        ValueError: naming the file, the entry and the field that is wrong.
    """
    return [entry for path in files(half) for entry in load(path)]


def load(path: Path) -> list[Entry]:
    """One file's entries, checked; names of claims in ``forbidden`` are replaced by their expressions.

    Raises:
        ValueError: naming the file, the entry and the field that is wrong.
    """
    read: list[Entry] = yaml.safe_load(path.read_text(encoding="utf-8"))
    for entry in read:
        for problem in problems(entry):
            raise ValueError(f"{path.name}: {entry.get('id', '?')}: {problem}")
    return [
        entry | {"forbidden": [expression(text) for text in entry["forbidden"]]} if "forbidden" in entry else entry
        for entry in read
    ]


@lru_cache(maxsize=1)
def claims() -> dict[str, str]:
    """The named claims of ``claims*.yaml``: name → regular expression.

    Raises:
        ValueError: for a name that two files hold.
    """
    found: dict[str, str] = {}
    for path in sorted(FOLDER.glob("claims*.yaml")):
        for name, expression in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            if name in found:
                raise ValueError(f"{path.name}: {name} is named twice")
            found[name] = expression
    return found


def expression(text: str) -> str:
    """The regular expression that an item of ``forbidden`` stands for.

    Raises:
        KeyError: for the name of a claim that there is not.
    """
    if text.startswith("$"):
        return expression(claims()[text[1:]])
    if not text.startswith("~"):
        return text
    flags = FLAGS.match(text, 1)
    assert flags is not None
    claim = text[flags.end() :]
    return f"{flags.group()}(?={claim}){NOT_DENIED}(?:{claim})"


def problems(entry: Entry) -> Iterator[str]:
    """What is wrong with an entry's fields, one line each."""
    if unknown := set(entry) - FIELDS:
        yield f"unknown field {', '.join(sorted(unknown))}"
    if missing := {"id", "run", "lang", "intent"} - set(entry):
        yield f"no field {', '.join(sorted(missing))}"
    if ("q" in entry) == ("turns" in entry):
        yield "one of q and turns is needed"
    if "turns" in entry and len(entry["turns"]) < 2:
        yield "turns: a conversation has two turns or more"
    for run in logs(entry):
        if run not in runs():
            yield f"run: {run!r} is not in runs.yaml"
    if not several(entry.get("lang")) or set(several(entry.get("lang"))) - {"zh", "en"}:
        yield f"lang: {entry.get('lang')!r} is neither zh nor en"
    for intent in several(entry.get("intent")):
        if intent not in INTENTS:
            yield f"intent: {intent!r} is none of {', '.join(sorted(INTENTS))}"
    for code in several(entry.get("verdict")):
        if code not in VERDICTS:
            yield f"verdict: {code!r} is none of {', '.join(sorted(VERDICTS))}"
    yield from _slots(entry.get("slots", {}))
    for fact in entry.get("facts", []):
        if frozenset(fact) not in FACTS:
            yield f"facts: {fact} has none of the known forms"
    for text in entry.get("forbidden", []):
        yield from _expression(text)


def _slots(slots: dict[str, Any]) -> Iterator[str]:
    if unknown := set(slots) - {"metrics", "steps", "op"}:
        yield f"slots: unknown {', '.join(sorted(unknown))}"
    for steps in several(slots.get("steps")):
        if steps["kind"] not in KINDS or set(steps) - {"kind", "values"}:
            yield f"slots.steps: {steps} is not understood"
    for op in several(slots.get("op")):
        if op not in OPS:
            yield f"slots.op: {op!r} is none of {', '.join(sorted(OPS))}"


def _expression(text: str) -> Iterator[str]:
    if text.startswith("$") and text[1:] not in claims():
        yield f"forbidden: no claim is named {text}"
        return
    try:
        re.compile(expression(text))
    except re.error as error:
        yield f"forbidden: {text!r}: {error}"


def several(value: Any) -> list[Any]:
    """A field that may hold one thing or a list of alternatives, as the list; None is none."""
    return [] if value is None else value if isinstance(value, list) else [value]


def logs(entry: Entry) -> list[str]:
    """Ids of the logs that the question is about."""
    return several(entry.get("run"))


def says(text: str, number: float) -> bool:
    """Whether a text states a number, exactly or rounded: 0.3127 as ``31.3%``, 23487497 as ``2349 万``.

    A rounded number has two significant digits or more and lies within half of its last digit's unit; an integer below
    1000 (a step, a count) is to be exact. Signs are not compared: "down by 0.02" states −0.02.
    """
    return any(_states(found, abs(number)) for found in NUMBER.finditer(text))


def _states(found: re.Match[str], number: float) -> bool:
    digits = found["digits"].replace(",", "")
    tens = int((found["exponent"] or "0").translate(RAISED)) + int((found["power"] or "0").translate(RAISED))
    last = 0.5 * 10.0 ** (tens - len(digits.partition(".")[2]))
    rounded = len(digits.replace(".", "").lstrip("0")) > 1 and not (number < 1000 and number == int(number))
    for scale in {1.0, UNITS.get(found["unit"] or "", 1.0)}:
        off = abs(float(digits) * 10.0**tens * scale - number)
        if off <= EXACT * number or (rounded and off <= last * scale * (1 + EXACT)):
            return True
    return False
