"""Values in Markdown: list items, bold keys, and sections whose heading names the metric."""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Number
from assistant.parsing.metric_names import is_metric_name
from assistant.parsing.numbers import GROUPED, NUMBER, read_number

_KEY: Final = r"[A-Za-z][\w./@+-]{0,160}(?:\([^()\s]{1,20}\))?"
_MARKED: Final = re.compile(
    rf"\s{{0,12}}(?P<bullet>[-*+•]\s+|[0-9]{{1,3}}[.)]\s+)?(?P<mark>[*_`]{{0,4}})(?P<key>{_KEY})[*_`]{{0,4}}"
    rf"[ \t]{{0,3}}[:：=][ \t]{{0,3}}[*_`]{{0,4}}[ \t]{{0,3}}[*_`]{{0,4}}(?P<number>{GROUPED}|{NUMBER})"
    r"(?P<rest>(?![\w.%/:^]|,\d|-\d)[*_`]{0,4}(?![\w.%/]).*)$"
)
_PERCENT: Final = re.compile(r"[*_`\s]*[%％‰×]")
_CURRENT: Final = re.compile(
    r"(?i)\s{0,12}(?:[-*+•]\s+)?[*_`]{0,4}(?:当前值|当前数值|当前|实际值|最新值|本次值|数值|值|"
    r"current(?: value)?|actual(?: value)?|latest(?: value)?|value|now)"
    r"[*_`]{0,4}\s{0,3}[:：=]\s{0,3}[*_`]{0,4}\s{0,3}[*_`]{0,4}"
    rf"(?P<number>{GROUPED}|{NUMBER})(?P<rest>(?![\w.%/:^]|,\d|-\d)[*_`]{{0,4}}(?![\w.%/]).*)$"
)
_HEADING: Final = re.compile(
    rf"\s{{0,3}}(?:#{{1,6}}\s+|[-*+•]\s+(?=[*`]))?(?:[0-9.]{{1,6}}[.)、]?\s+)?"
    rf"[*_`]{{0,4}}(?P<key>{_KEY})[*_`]{{0,4}}(?P<rest>.*)$"
)
_FENCE: Final = re.compile(r"\s{0,12}(?:>\s?)?(```+|~~~+)\s*([\w+-]*)")
_CODE: Final = {
    "python", "py", "bash", "sh", "shell", "zsh", "console", "yaml", "yml", "json", "jsonc", "toml", "ini",
    "cpp", "c", "rust", "go", "js", "javascript", "ts", "typescript", "diff", "dockerfile", "makefile", "sql",
    "latex", "tex", "html", "xml", "mermaid",
}  # fmt: skip


class Fences:
    """Follows code fences; tells which lines are program text rather than output."""

    def __init__(self) -> None:
        self._open = ""
        self._code = False

    def skip(self, line: str) -> bool:
        """Whether a line (given in order) is a fence or stands in a fence of a programming language."""
        found = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if found is None:
            return self._code
        if not self._open:
            self._open = found[1][0]
            self._code = found[2].lower() in _CODE
        elif found[1][0] == self._open and not found[2]:
            self._open, self._code = "", False
        return True


class Section:
    """Follows headings; gives a ``current value`` line to the metric that the heading names."""

    def __init__(self) -> None:
        self._key: str | None = None

    def read(self, line: str) -> tuple[str, Number] | None:
        """``(metric, value)`` if a line (given in order) holds the current value of its section's metric."""
        if line.lstrip().startswith("#"):
            found = _HEADING.match(line)
            self._key = found["key"] if found is not None and is_metric_name(found["key"]) else None
            return None
        if self._key is None:
            return None
        current = _CURRENT.match(line)
        if current is None or _PERCENT.match(current["rest"]):
            return None
        value = read_number(current["number"])
        return None if value is None else (self._key, value)


def read_bullet(line: str) -> tuple[str, Number, bool] | None:
    """``(metric, value, True)`` of a list item or of a marked key such as ``**actor/lr: 1e-06** - …``.

    A value with a per cent sign or a unit glued to it is not taken: its scale is not certain.
    """
    found = _MARKED.match(line)
    if found is None or not (found["bullet"] or found["mark"]) or _PERCENT.match(found["rest"]):
        return None
    value = read_number(found["number"])
    return None if value is None else (found["key"], value, True)
