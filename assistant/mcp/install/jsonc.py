"""JSON as people keep it in settings: with comments and trailing commas; read exactly, edited without losing any of it.

An edit touches the characters of one member only. Everything else, comments and layout included, stays as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_ATOM = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
#: Objects in objects beyond this depth are no settings.
_DEEPEST = 100


class BadJson(ValueError):
    """The text is no JSON; ``line`` is where it goes wrong."""

    def __init__(self, text: str, place: int, what: str) -> None:
        self.line = text.count("\n", 0, place) + 1
        super().__init__(f"line {self.line}: {what}")


@dataclass(frozen=True)
class Member:
    """A member of an object: its key, where the key begins, and its value."""

    key: str
    start: int
    value: Node


@dataclass(frozen=True)
class Node:
    """A value and the characters it takes: ``text[start:end]``."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] | None = None

    def member(self, key: str) -> Member | None:
        """The member of a key, the last where it stands twice (as readers of JSON take it)."""
        return next((one for one in reversed(self.members or ()) if one.key == key), None)


def parse(text: str) -> Node:
    """Reads a text; an empty one (but for comments) is an empty object.

    Raises:
        BadJson: it is no JSON even with comments and trailing commas.
    """
    start = _skip(text, 0)
    if start == len(text):
        return Node(start, start, {}, ())
    node = _value(text, start, 0)
    rest = _skip(text, node.end)
    if rest != len(text):
        raise BadJson(text, rest, "something follows the end")
    return node


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a member set: replaced where it is, else put behind the other members.

    Raises:
        BadJson: the text is no JSON, or something on the path is no object.
    """
    node, depth = parse(text), 0
    if node.start == node.end:  # nothing, or nothing but comments
        head = text.rstrip(" \t\r\n")
        whole = json.dumps(_nested(path, value), indent=2, ensure_ascii=False).replace("\n", _line_end(text))
        return head + (_line_end(text) if head.strip("\ufeff") else "") + whole + _line_end(text)
    while True:
        if node.members is None:
            raise BadJson(text, node.start, f"{'.'.join(path[:depth]) or 'the whole'} is no object")
        found = node.member(path[depth])
        if found is None:
            return _inserted(text, node, path[depth], _nested(path[depth + 1 :], value), depth)
        if depth == len(path) - 1:
            indent = _unit(text) * (depth + 1)
            return text[: found.value.start] + _dumped(value, indent, text) + text[found.value.end :]
        node, depth = found.value, depth + 1


def without_member(text: str, path: Sequence[str]) -> str:
    """The text without a member; as it was where there is none.

    Raises:
        BadJson: the text is no JSON.
    """
    node = parse(text)
    for key in path[:-1]:
        found = node.member(key)
        if found is None:
            return text
        node = found.value
    gone = node.member(path[-1])
    if gone is None or node.members is None:
        return text
    place = node.members.index(gone)
    end = gone.value.end
    comma = _skip(text, end)
    followed = text[comma : comma + 1] == ","
    if followed:
        end = comma + 1
    start = gone.start
    while text[start - 1] in " \t":
        start -= 1
    if text[start - 1] == "\n":
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    if not followed and place > 0:  # the last one: the comma before it has to go too
        before = node.members[place - 1].value.end
        at = text.index(",", _skip(text, before))
        return text[:at] + text[at + 1 : start] + text[end:]
    return text[:start] + text[end:]


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _inserted(text: str, node: Node, key: str, value: Any, depth: int) -> str:
    """A member put before the closing brace, behind whatever comment stands there."""
    inner, outer, line = _unit(text) * (depth + 1), _unit(text) * depth, _line_end(text)
    close = node.end - 1
    body = f"{json.dumps(key, ensure_ascii=False)}: {_dumped(value, inner, text)}"
    if not node.members:
        between = text[node.start + 1 : close].rstrip()
        return text[: node.start + 1] + between + line + inner + body + line + outer + text[close:]
    last = node.members[-1].value.end
    between = text[last:close]
    comma = "" if text[_skip(text, last) : _skip(text, last) + 1] == "," else ","
    return text[:last] + comma + between.rstrip() + line + inner + body + line + outer + text[close:]


def _dumped(value: Any, indent: str, text: str) -> str:
    unit = _unit(text)
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return (_line_end(text) + indent).join(lines)


def _unit(text: str) -> str:
    """One step of indentation, as the text has it."""
    found = re.search(r"^([ \t]+)[\"}/]", text, re.MULTILINE)
    return "  " if found is None else "\t" if "\t" in found[1] else found[1][:8]


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _skip(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    assert match is not None
    return match.end()


def _value(text: str, place: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise BadJson(text, place, "nested too deeply")
    mark = text[place : place + 1]
    if mark == "{":
        return _object(text, place, depth)
    if mark == "[":
        return _array(text, place, depth)
    match = (_STRING if mark == '"' else _ATOM).match(text, place)
    if match is None:
        raise BadJson(text, place, f"unexpected {text[place : place + 10]!r}" if mark else "the text ends too early")
    try:
        return Node(place, match.end(), json.loads(match[0]))
    except ValueError:
        raise BadJson(text, place, f"unexpected {match[0][:20]!r}") from None


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    place = _skip(text, start + 1)
    while text[place : place + 1] != "}":
        match = _STRING.match(text, place)
        if match is None:
            raise BadJson(text, place, "a key in quotes or } is missing")
        colon = _skip(text, match.end())
        if text[colon : colon + 1] != ":":
            raise BadJson(text, colon, "a colon is missing")
        value = _value(text, _skip(text, colon + 1), depth + 1)
        members.append(Member(json.loads(match[0]), place, value))
        place = _next(text, value.end, "}")
    return Node(start, place + 1, {one.key: one.value.value for one in members}, tuple(members))


def _array(text: str, start: int, depth: int) -> Node:
    items = []
    place = _skip(text, start + 1)
    while text[place : place + 1] != "]":
        item = _value(text, place, depth + 1)
        items.append(item.value)
        place = _next(text, item.end, "]")
    return Node(start, place + 1, items)


def _next(text: str, end: int, close: str) -> int:
    """Where the next item begins, or the closing mark stands."""
    place = _skip(text, end)
    if text[place : place + 1] == ",":
        return _skip(text, place + 1)
    if text[place : place + 1] != close:
        raise BadJson(text, place, f"a comma or {close} is missing")
    return place
