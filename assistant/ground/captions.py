"""Lines behind a table or a list that say which step its figures are of: ``(step 33)``, ``以上为第 33 步的数据``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.sentences import Unit

_STEP: Final = r"(?:(?<![A-Za-z0-9_])(?:global )?(?:steps?|iterations?|iter\.?)\s*#?\d|\bs\d+\b|第\s*\d+\s*步|\d+\s*步)"
_PLACED: Final = re.compile(rf"(?i){_STEP}(?![\d.]*\s?[%％]|\d*\.\d)")
_ALL_AT: Final = (
    r"(?:all|each|every(?:thing| value))(?: of (?:these|them|this|it))?(?: (?:is|are|was|were))?"
    r"(?: (?:taken|measured|recorded|read))? (?:at|from|for|of|on) (?:global )?step\s*\d+"
)
#: In brackets, or said of what stands above.
_CAPTION: Final = re.compile(
    rf"(?i)^[*_\s]*[（(\[][^()（）]{{0,40}}{_STEP}[^()（）]{{0,40}}[)）\]][*_\s.。]*$"
    rf"|^[*_\s]*{_ALL_AT}(?:[*_\s.]*$|[;；,，])"
    rf"|^[*_\s]*(?:以上|上表|上述)[^,;，；\d]{{0,12}}{_STEP}[^,;，；]{{0,12}}[,，;；]"
    rf"|^[*_\s]*(?:above|(?:all|these|the)\b[^,;，；]{{0,24}}\b(?:values|numbers|figures|rows|data|times|entries|measurements)|values|numbers|figures|data|taken|measured|以上|上表|上述|表中|数据|数值|均)[^,;，；]{{0,40}}{_STEP}[^,;，；]{{0,24}}$"
)
_LONGEST: Final = 90


def captioned(text: str, units: Sequence[Unit]) -> list[Unit]:
    """The units, those of a table or a list that names no step under the caption behind it."""
    result = list(units)
    first = 0
    while first < len(result):
        kind = _block(result[first])
        last = first
        while kind and last + 1 < len(result) and _block(result[last + 1]) == kind and not result[last + 1].fresh:
            last += 1
        if kind and last + 1 < len(result):
            behind = text[result[last + 1].start : result[last + 1].end]
            block = result[first : last + 1]
            if (
                result[last + 1].kind == "prose"
                and len(behind) <= _LONGEST
                and _CAPTION.match(behind)
                and not any(_PLACED.search(text[unit.start : unit.end]) for unit in block)
                and not any(_PLACED.search(above) for unit in block for above in unit.above)
                and not _of_rows(text, block)
            ):
                result[first : last + 1] = [replace(unit, above=(behind, *unit.above)) for unit in block]
        first = last + 1
    return result


def _block(unit: Unit) -> str:
    return "table" if unit.kind in {"row", "header"} else "list" if unit.kind == "item" else ""


def _of_rows(text: str, block: Sequence[Unit]) -> bool:
    """Whether a table's own first column tells the steps."""
    head = block[0]
    return bool(head.cells) and bool(re.search(r"(?i)step|步|iter|轮", text[slice(*head.cells[0])]))
