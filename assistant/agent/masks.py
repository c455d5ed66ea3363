"""``--anonymize``: names that tell who runs what are masked before a call and restored after it.

Masked are hosts, addresses, paths, users, e-mail addresses, the runs' names, and metric names that no shipped card
knows. The same name always gets the same mask within an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("email", re.compile(r"\b[\w.+-]+@[\w-]+\.[\w.-]+\w")),
    ("url", re.compile(r"\b[a-z][a-z0-9+.-]{1,9}://[^\s`'\"<>，。；、）)]+", re.IGNORECASE)),
    ("path", re.compile(r"(?<![\w/.])(?:~|/|[A-Za-z]:\\)(?:[\w.@+-]+[/\\])+[\w.@+-]*|(?<![\w/.])/[\w.@+-]{3,}")),
    ("host", re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b")),
    ("host", re.compile(
        r"\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|net|org|io|ai|cn|edu|gov|local|internal|corp|lan|cloud|dev)\b"
        r"(?::\d+)?", re.IGNORECASE,
    )),
    ("host", re.compile(r"\b(?:node|gpu|host|worker|server|dgx|ip)-?[\w-]*\d[\w-]*\b", re.IGNORECASE)),
    ("user", re.compile(r"(?<=user[=: ])[\w.-]+|(?<=用户[：: ])[\w.-]+|(?<=@)[A-Za-z][\w-]{2,}(?=\b)", re.IGNORECASE)),
)  # fmt: skip


class Masks:
    """Masks of one answer.

    Args:
        names: further names to mask, with their kind: ``("metric", "acme/secret_loss")``.
        keep: whether a text that a pattern matches is to be left as it is (metric keys that cards know).
    """

    def __init__(self, names: Iterable[tuple[str, str]] = (), keep: Callable[[str], bool] | None = None) -> None:
        self._mask_of: dict[str, str] = {}
        self._name_of: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._keep = keep or (lambda _: False)
        for kind, name in names:
            if name.strip():
                self._mask(kind, name)
        self._known = self._pattern(self._mask_of)

    def hide(self, text: str) -> str:
        """The text with every such name masked."""
        if self._known is not None:
            text = self._known.sub(lambda m: self._mask_of[m.group()], text)
        for kind, pattern in _PATTERNS:
            text = pattern.sub(lambda m, kind=kind: self._hidden(kind, m.group()), text)  # type: ignore[misc]
        return text

    def restore(self, text: str) -> str:
        """The text with the names in the place of their masks."""
        if not self._name_of:
            return text
        pattern = self._pattern(self._name_of)
        return text if pattern is None else pattern.sub(lambda m: self._name_of[m.group()], text)

    def _hidden(self, kind: str, name: str) -> str:
        if name in self._name_of or self._keep(name):
            return name
        return self._mask(kind, name)

    def _mask(self, kind: str, name: str) -> str:
        if name not in self._mask_of:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            mask = f"{'custom/' if kind == 'metric' else kind + '_'}{_letters(number)}"
            self._mask_of[name] = mask
            self._name_of[mask] = name
        return self._mask_of[name]

    @staticmethod
    def _pattern(names: Iterable[str]) -> re.Pattern[str] | None:
        ordered = sorted(names, key=len, reverse=True)
        if not ordered:
            return None
        return re.compile(r"(?<![\w/@.-])(?:" + "|".join(map(re.escape, ordered)) + r")(?![\w/@-])")


def _letters(number: int) -> str:
    """1 → A, 26 → Z, 27 → AA: a mask without digits is no number to any reader."""
    text = ""
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(65 + rest) + text
    return text
