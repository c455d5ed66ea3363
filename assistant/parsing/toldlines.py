"""Lines of hand-written loops that tell their counter elsewhere than at the front, told again with it in front.

Known: ``Total rewards in episode 73 is 3.8``, ``Episode 73 finished after 49 steps with reward 3.8``,
``| Reward: 09 | Episode 937 | Qmax: 38.8`` and ``Total Epi: 112 Steps: 98207 Return: -21.0``.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.columns import is_result
from assistant.parsing.numbers import NUMBER

_COUNTER: Final = r"(?i:episode|epoch|ep|iteration|iter|step|update|generation|timestep|round)"
_INSIDE: Final = re.compile(
    rf"(?P<key>[A-Za-z][A-Za-z_-]{{0,20}}(?: [A-Za-z_-]{{1,20}}){{0,3}}) (?:in|for|of|at|after|on) "
    rf"(?P<word>{_COUNTER}) ?[:#]? ?(?P<step>[0-9]{{1,12}})(?:/[0-9]{{1,12}})?"
    rf" ?(?:is|was|are|were|:|=|,|->)? {{0,8}}(?P<value>{NUMBER})(?P<rest>(?![\w.%/]).{{0,300}})$"
)
_AFTER: Final = re.compile(
    rf"(?P<word>{_COUNTER}) ?[:#]? ?(?P<step>[0-9]{{1,12}})(?:/[0-9]{{1,12}})?:? "
    r"(?:is )?(?:finished|ended|ends|done|completed?|took|lasted|over)(?: after| in| at)?"
    r" (?P<count>[0-9]{1,12}) (?P<counted>(?:time)?steps|moves|frames|iterations)(?P<rest>.{0,300})$"
)
_MORE: Final = re.compile(
    r"[\s,;|.]{0,8}(?:(?:and|with|a|an|the|of) ){0,3}"
    rf"(?P<key>[A-Za-z_][\w-]{{0,30}}(?: (?!is |are )[A-Za-z_][\w-]{{0,30}}){{0,5}}?)"
    rf"(?: (?:is|are|was|were|of)|:| =)? {{0,8}}(?P<value>{NUMBER})(?![\w%/]|\.[0-9])"
)
_PIECE: Final = re.compile(rf"{_COUNTER}\s?[:=#]?\s{{0,4}}[0-9]{{1,12}}(?:\s?/\s?[0-9]{{1,12}})?")
_TITLED: Final = re.compile(
    rf"(?P<key>[A-Za-z_][\w/.-]{{0,60}}(?: [A-Za-z_][\w/.-]{{0,30}}){{0,3}}):\s{{0,12}}"
    rf"(?P<value>{NUMBER})(?P<unit>s|ms|%)?(?=\s|$)\s{{0,12}}"
)
_RATE: Final = (
    r"(?:seconds?|secs?|s|ms|min|its?|iters?|steps?|examples?|samples?|tokens?|batch(?:es)?|frames?|images?|imgs?)/"
    r"(?:seconds?|secs?|s|step|iter(?:ation)?|it|batch|epoch|sample|example)"
)
_FRONT: Final = re.compile(
    rf"(?:(?i:global)[ _])?(?P<word>{_COUNTER})s? ?[:=#]? {{0,3}}(?P<step>[0-9]{{1,12}})(?:/[0-9]{{1,12}})?"
    r"[\s,:|;-]{1,6}\[?"
)
_LOOSE: Final = re.compile(
    rf"[\s,;|]{{0,8}}(?:\(?(?P<value>{NUMBER}) ?(?P<rate>{_RATE})\)?"
    r"|(?P<key>[A-Za-z_][\w/.-]{0,40}(?: (?![0-9])[A-Za-z_][\w/.-]{0,30}){0,4})"
    rf" {{0,2}}[:= ] {{0,8}}(?P<number>{NUMBER})(?P<unit>s|ms|%)?)"
    r"(?=[\s,;|)\]]|$)"
)
_COUNTS: Final = ("step", "steps", "episode", "episodes", "epoch", "iteration", "iter", "update")
_FEWEST: Final = 3
_LONGEST: Final = 600


def told(line: str) -> str:
    """The line with its counter in front, as ``episode 73, Total rewards: 3.8``; empty for any other line."""
    if len(line) > _LONGEST:
        return ""
    if ":" in line and (titled := _titled(line)):
        return titled
    if ("|" in line or "," in line) and (moved := _moved(line)):
        return moved
    inside = _INSIDE.match(line)
    if inside is not None and is_result(inside["key"]):
        more = _more(inside["rest"])
        return (
            ""
            if more is None
            else ", ".join([f"{inside['word']} {inside['step']}", f"{inside['key']}: {inside['value']}", *more])
        )
    after = _AFTER.match(line)
    if after is not None:
        more = _more(after["rest"])
        if more:
            return ", ".join([f"{after['word']} {after['step']}", f"{after['counted']}: {after['count']}", *more])
    return _loose(line)


def _loose(line: str) -> str:
    """A line that begins with its counter, its cells held apart by blanks or in brackets, rates before their unit.

    ``Step 117 [2.900 sec/step, loss=0.29]``, ``global step 2: loss = 72.8 (17.0 sec/step)``, ``Step 100 per-step time
    0.81s loss=1.39``, ``epoch 173 best test acc: 0.91, train loss: 1.30; val acc: 0.5``.
    """
    front = _FRONT.match(line)
    if front is None:
        return ""
    cells: list[str] = []
    results = 0
    at = front.end()
    end = len(line.rstrip(" \t.])"))
    while at < end:
        found = _LOOSE.match(line, at)
        if found is None:
            return ""
        if found["rate"]:
            cells.append(f"{found['rate']}: {found['value']}")
        else:
            cells.append(f"{found['key']}: {found['number']}{found['unit'] or ''}")
            results += is_result(found["key"])
        at = found.end()
    if not results or (len(cells) < _FEWEST - 1 and not any("/" in cell for cell in cells)):
        return ""
    return ", ".join([f"{front['word']} {front['step']}", *cells])


def _more(rest: str) -> list[str] | None:
    """The further values of a sentence, ``None`` where other words follow."""
    cells: list[str] = []
    at = 0
    while rest[at:].strip(" .,;!|\t"):
        found = _MORE.match(rest, at)
        if found is None:
            return None
        cells.append(f"{found['key'].strip()}: {found['value']}")
        at = found.end()
    return cells


def _moved(line: str) -> str:
    """A line of cells between bars or commas, one of them its counter, which is not the first."""
    mark = "|" if "|" in line else ","
    pieces = [piece.strip() for piece in line.split(mark) if piece.strip()]
    counters = [piece for piece in pieces[1:] if _PIECE.fullmatch(piece)]
    if len(counters) != 1 or _PIECE.fullmatch(pieces[0]):
        return ""
    others = [piece for piece in pieces if piece is not counters[0]]
    return ", ".join([counters[0], *others])


def _titled(line: str) -> str:
    """A line of nothing but ``Title: value`` cells, three or more, one of them a count of steps or episodes."""
    cells: list[tuple[str, str, str]] = []
    at = 0
    while at < len(line):
        found = _TITLED.match(line, at)
        if found is None:
            return ""
        cells.append((found["key"], found["value"], found["unit"] or ""))
        at = found.end()
    names = {key.lower(): place for place, (key, value, _) in enumerate(cells) if value.isdigit()}
    place = next((names[word] for word in _COUNTS if word in names), None)
    if len(cells) < _FEWEST or place is None or not any(is_result(key) for key, _, _ in cells):
        return ""
    word, count, _ = cells.pop(place)
    return ", ".join([f"{word} {count}", *(f"{key}: {value}{unit}" for key, value, unit in cells)])
