"""Keys in a line of a document: ``- `actor/entropy`: …``, ``a/max / a/min: …``, ``**loss: 0.1** - …`` and the like.

A line is read from its left by hand, character by character or with anchored patterns, so that no line takes more than
linear time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_KEY: Final = 200
MAX_KEYS: Final = 16

_PLAIN: Final = re.compile(r"[A-Za-z_{<](?:[A-Za-z0-9_./@<>*%|\-]|\{[A-Za-z0-9_.,|\-]{0,80}\}|[{}])*")
_TOKEN: Final = re.compile(r"[A-Za-z_{<\[][A-Za-z0-9_./@{}<>*%|()\[\],:+\-]*")
_SPACED: Final = re.compile(r"[A-Za-z][A-Za-z0-9_@%\-]*(?: [A-Za-z0-9_@%\-]+){1,4}")
_VALUE: Final = re.compile(
    r"[~≈]?[+\-−]?(?:\d[\d,_]*(?:\.\d*)?|\.\d+)(?:[eE][+\-]?\d+)?\s?(?:%|[A-Za-z/]{1,8}(?![A-Za-z0-9]))?|nan|NaN|-?inf|X%|N/A"
)
_PLACEHOLDER: Final = re.compile(r"\s*[:：=]\s*(?:[+\-]?[\d.,eE+\-]+%?|X+%?|<[^<>]*>|\{[^{}]*\}|\.\.\.|…)\s*$")
_SEPARATOR: Final = re.compile(r"\s*(?:[:：]|——?|[–→]|=>|->|(?<=\s)--?(?=\s))\s*")
_BETWEEN: Final = re.compile(r"\s+/\s+|\s*[、，]\s*|\s*,\s+|\s+(?:和|与|及|and|or|\|)\s+")
_TITLE: Final = re.compile(r"\s*[(（]([^()（）\n]{1,120})[)）]")
_NUMBERING: Final = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3}){0,4}[.)、．]?|[(（]\d{1,3}[)）]|[一二三四五六七八九十]{1,3}、)\s+|\d{1,3}[.、．)]"
)
_BULLET: Final = re.compile(r"(\s*)(?:[-*+•·◦▪‣]|\d{1,6}[.)、])(?:\s+|(?=[\u3400-\u9fff`]))")
_MARKS: Final = "✅✔✓☑🟢👍⚠❌✗✘🔴🚨❗🟡💡📌⭐👉"
_FILE: Final = re.compile(
    r"\.(?:py|md|sh|txt|log|ya?ml|json[l]?|csv|html?|cfg|toml|ini|pt|pth|bin|ipynb|cpp|cu|js|ts|rs|go|png|jpg|safetensors|"
    r"parquet|com|org|io|net|cn|ai|dev)$",
    re.IGNORECASE,
)
_NEVER: Final = frozenset({
    "note", "notes", "warning", "tip", "tips", "todo", "example", "examples", "eg", "ie", "see", "usage", "input",
    "output", "default", "result", "results", "summary", "problem", "cause", "causes", "fix", "solution",
    "solutions", "http", "https", "and", "or", "where", "name", "type", "description", "meaning", "formula",
    "range", "value", "unit", "current", "source", "question", "answer", "yes", "no", "path", "file", "files",
    "step1", "remark", "remarks", "info", "hint", "caution", "important", "date", "author", "version", "true",
    "false", "none", "null", "and/or", "i/o", "n/a", "w/o", "tcp/ip", "his/her", "he/she", "e.g", "i.e", "etc",
    "self", "item", "items", "key", "keys", "metric", "metrics",
})  # fmt: skip
_STRONG: Final = re.compile(r"[A-Za-z0-9}>*]/[A-Za-z0-9_{<*]|[A-Za-z0-9}]_[A-Za-z0-9{]|@[a-z0-9{]")


@dataclass(frozen=True, slots=True)
class Key:
    """A key as found: ``strong`` if it looks like one by itself, wherever it stands."""

    text: str
    strong: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A line that begins with keys.

    Attributes:
        keys: the keys.
        strong: whether each of them looks like a key by itself.
        title: a name in brackets after them.
        text: what is said of them, ``""`` if nothing is.
        separated: whether a colon or a dash stands between.
        bad: what is wrong with a key that was refused (English word for the reason), ``""`` if none was.
    """

    keys: tuple[str, ...]
    strong: bool
    title: str
    text: str
    separated: bool
    bad: str = ""


def bullet(line: str) -> tuple[int, str, str] | None:
    """Indentation, text, and mark (``✅`` …) of a list item; ``None`` for another line."""
    match = _BULLET.match(line)
    if match is None:
        return None
    text, mark = line[match.end() :].strip(), ""
    while text and (text[0] in _MARKS or text[0] == "\ufe0f"):
        mark = mark or text[0]
        text = text[1:].strip()
    if text.startswith(("[ ] ", "[x] ", "[X] ")):
        text = text[4:].strip()
    return len(match[1].expandtabs(4)), text, mark


def without_number(heading: str) -> str:
    """A heading without ``3.`` or ``三、`` before it."""
    match = _NUMBERING.match(heading)
    return heading[match.end() :].strip() if match is not None else heading


def plain(text: str) -> str:
    """A text without marks of bold; quotes of code stay."""
    return text.replace("**", "").strip()


def normal(key: str) -> str:
    """A key with its fields in braces: ``<phase>`` and ``{self.phase}`` become ``{phase}``, ``*`` becomes ``{any}``."""
    if "<" in key:
        key = re.sub(r"<([A-Za-z_][\w.\-]{0,60})>", r"{\1}", key)
    if "{" in key:
        key = re.sub(r"\{(?:self|cls)\.", "{", key)
        key = re.sub(r"\$\{", "{", key)
    if "*" in key:
        key = key.replace("**", "*").replace("*", "{any}")
    return key


def expanded(key: str) -> list[str]:
    """``a/{max,min}`` as ``a/max`` and ``a/min``; any other key alone."""
    match = re.search(r"\{([A-Za-z0-9_.\-]{1,40}(?:[,|][A-Za-z0-9_.\-]{1,40}){1,15})\}", key)
    if match is None:
        return [key]
    return [key[: match.start()] + part + key[match.end() :] for part in re.split(r"[,|]", match[1])]


def read_item(text: str) -> Item | None:
    """The keys that a line's text begins with, and what is said of them; ``None`` if it begins with none."""
    text = text.replace("**", "")  # **key: 0.17** - text is read as key: 0.17 - text
    at, keys, title, bad = 0, list[Key](), "", ""
    while len(keys) < MAX_KEYS:
        found = _one(text, at)
        if found is None:
            break
        key, at, wrong = found
        bad = bad or wrong
        if key is not None:
            keys.append(key)
        between = _BETWEEN.match(text, at)
        if between is None or _one(text, between.end()) is None:
            break
        at = between.end()
    if not keys:
        return Item((), True, "", "", False, bad) if bad else None
    match = _TITLE.match(text, at)
    if match is not None:
        title, at = match[1].strip(), match.end()
    separator = _SEPARATOR.match(text, at)
    rest = _without_value(text[separator.end() :]) if separator is not None else text[at:]
    spelt = dict.fromkeys(name for key in _spelt_out(keys) for name in expanded(normal(key)))
    strong = all(key.strong for key in keys)
    return Item(tuple(spelt), strong, title, rest.strip(), separator is not None, bad)


def _one(text: str, at: int) -> tuple[Key | None, int, str] | None:
    """The key at a place, where it ends, and what is wrong with it; ``None`` if there is none."""
    if text.startswith("`", at):
        end = text.find("`", at + 1)
        if end < 0:
            return None
        inner, after, quoted = text[at + 1 : end].strip(), end + 1, True
    else:
        match = _PLAIN.match(text, at)
        if match is None:
            return None
        inner, quoted = match.group(), False
        while inner and inner[-1] in ".-*/|%" and not inner.endswith("/*"):
            inner = inner[:-1]
        after = at + len(inner)
    if "\ufffd" in inner or (not quoted and text.startswith("\ufffd", after)):
        return None, after, "control"
    if len(inner) > MAX_KEY:
        return None, after, "long"
    key = _judged(_PLACEHOLDER.sub("", inner) if quoted else inner, quoted)
    return None if key is None else (key, after, "")


#: An address of the web, whole or cut before its colon; a key may begin in the same letters.
_ADDRESS = re.compile(r"(?i)https?(?:$|:|//)")


def _judged(inner: str, quoted: bool) -> Key | None:
    """Whether a token is a key, and whether by itself."""
    if inner.lower() in _NEVER or _FILE.search(inner) or inner.startswith(("/", "./", "~", "-")):
        return None
    if _ADDRESS.match(inner):
        return None
    if quoted:
        if _TOKEN.fullmatch(inner) and inner.count("(") == inner.count(")") == 0 and "://" not in inner:
            return Key(inner, True)
        return Key(inner, True) if _SPACED.fullmatch(inner) else None
    if not any(char.isalpha() for char in inner):
        return None
    parts = inner.split("/")
    if _STRONG.search(inner) and (len(parts) != 2 or (len(parts[1]) > 1 and len(inner) > 3) or "*" in inner):
        return Key(inner, True)
    if inner[0].isupper() and not (inner.isupper() and len(inner) <= 6):
        return None
    return Key(inner, False) if "<" not in inner and "{" not in inner else None


def _spelt_out(keys: list[Key]) -> list[str]:
    """Keys spelt out: in ``a/b/max / min`` the second is ``a/b/min``."""
    first = keys[0].text
    stem = first.rsplit("/", 1)[0] + "/" if "/" in first else ""
    return [key.text if "/" in key.text or not stem or key.strong else stem + key.text for key in keys]


def _without_value(text: str) -> str:
    """A text without the current value before its dash: ``0.17 - 策略熵`` says ``策略熵``."""
    body = text.lstrip("*` ")
    match = _VALUE.match(body)
    if match is None:
        return text
    rest = body[match.end() :].lstrip("*` ")
    separator = _SEPARATOR.match(" " + rest)
    if separator is not None and separator.group().strip():
        return rest[separator.end() - 1 :]
    return text


def says_something(text: str) -> bool:
    """Whether a text has words beside keys and numbers."""
    if any("\u3400" <= char <= "\u9fff" for char in text):
        return True
    words = [word.strip("`*.,;:()[]") for word in text.split()[:40]]
    return any(len(word) > 1 and word.isalpha() for word in words)
