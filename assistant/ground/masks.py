"""Digits of a sentence that are no quantities: names, steps, dates, versions, citations, model sizes, list numbers."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from assistant.analysis.keeping import kept_with_run
from assistant.ground.lexicon import Named
from assistant.ground.places import Place
from assistant.model import Run

_NOT_NUMBERS: Final = re.compile(
    r"""(?ix)
    \d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)? | (?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?!\d)      # dates and times
  | \b20\d{2}\s*年(?:\s*\d{1,2}\s*月)?(?:\s*\d{1,2}\s*日)? | \d{1,2}\s*月\s*\d{1,2}\s*日
  | \bv\d+(?:\.\d+)*\b | \b\d+\.\d+\.\d+\b                                                            # versions
  | \barxiv[:\s]*\d{4}\.\d{4,5}(?:v\d)? | \b\d{4}\.\d{5}\b | https?://\S+ | \bdoi:\S+
  | \[[A-Z]?\d+\] | (?<!within\s)(?<!range\s)(?<!between\s)(?<!interval\s)(?<![在于为内∈间]\s)(?<![在于为内∈间])\[[A-Z]?\d+(?:\s*[,–-]\s*[A-Z]?\d+)+\] | \([A-Z]\d+\)                                              # citations
  | \b(?:fig(?:ure)?|table|section|sec|eq(?:uation)?|appendix|chapter|note|rule|case|method|option|part|phase\s+no)\.?\s*\d+(?:\.\d+)*\b
  | [图表式节章]\s*\d+(?:\.\d+)*
  | \b\d+(?:\.\d+)?\s?[bB](?=\s*(?:-|\s)?(?:model|param|模型|参数|policy|LLM|instruct|base))            # model sizes
  | \b(?:Qwen|Llama|GPT|Gemma|Mistral|DeepSeek|Phi|GLM|Yi)[\w.\-]*(?:[ -]\d[\w.\-]*)* | \b[A-Z][A-Za-z]*-?\d+[A-Za-z]*\b(?!\s*[%])
  | \b\d+\s?[x×]\s?[A-Z]+\d+\b                                                                          # 8xA100
  | (?<![\w.])95\s?%\s*(?:CI\b|confidence|interval|prediction|置信|的?(?:置信|预测)区间|区间) | 置信度\s*95\s?% | (?:[±×]\s?)1\.96\b | \b1\.96(?=\s*(?:[×x*·σ]|times\b|standard|sigma|(?:倍|个)\s*(?:标准|σ)))
  | \b(?:top|pass|best|worst|maj|mean|std|cons|avg)[@-]\s?\d+(?:/\w+)?\b | \bn\s*=\s*\d+\b(?=\s*[)）]?\s*$)
  | \bk[123]\b | \bL[12]\b | \b(?:bf|fp|int)\d+\b | \bstep_?\d+\.\w+ | \b(?:port|pid|seed|rank|node|worker|GPU|card)\s?\#?\d+\b(?!\.\d)(?!\s*(?:%|GB|GiB|workers|tokens))
  | [（(]\s*(?:n|\d+)\s*[−–-]\s*1\s*[)）]\s*/\s*√\s*[（(]?\s*(?:n|\d+)[)）]?            # the bound of an advantage
  | (?:^|(?<=[:;,.]\s)|(?<=[：；，。]))[（(]\d{1,2}[)）](?=\s?[A-Za-z`\u3400-\u9fff])                        # "(1) …; (2) …"
  | \b24/7\b | \bone-?step\b | \boff-by-one\b | \b\d+-(?:step|bit|way|shot|turn|fold(?=\s+(?:cross|valid)))\b
    """
)
_CODE: Final = re.compile(r"`([^`\n]+)`")
_PLAIN: Final = re.compile(r"[\s\d.,+\-−–%×x→eE/:=~<>≈()]*(?:\s?(?:s|ms|min|h|GB|GiB|tokens?/s|tokens?|K|k|M))?")


def masked_spans(text: str, run: Run, names: Sequence[Named], found: Sequence[Place]) -> list[tuple[int, int]]:
    """Spans in which digits are no quantities."""
    spans = [(n.start, n.end) for n in names] + [(p.start, p.end) for p in found]
    spans += [m.span() for m in _NOT_NUMBERS.finditer(text)]
    spans += [m.span() for m in data_sets(run).finditer(text)]
    if numbered := re.match(r"[^\w`|]{0,8}\d{1,2}(?:\.\d{1,2})?[.)、](?=\s|\*|[\u3400-\u9fff])", text):
        spans.append(numbered.span())
    for match in _CODE.finditer(text):
        inner = match[1]
        if _PLAIN.fullmatch(inner):
            continue
        inside = [n for n in names if match.start() <= n.start and n.end <= match.end()]
        stated = re.fullmatch(r"\s*[\w./@ -]+?\s*(?:=|:|≈|为|是|：)\s*[-+−]?[\d.,]+(?:e[-+]?\d+)?\s*[%\w/]*\s*", inner)
        if not inside or (not stated and re.search(r"[()*√Σ^|]|\s[-+/]\s", inner)):
            spans.append(match.span())
    return spans


@kept_with_run
def data_sets(run: Run) -> re.Pattern[str]:
    """Names of data sets in keys, as people spell them: ``aime_2025``, ``AIME 2025``."""
    pieces = {
        piece
        for key in run.columns
        for piece in key.split("/")
        if re.search(r"[A-Za-z]", piece) and re.search(r"\d", piece)
    }
    spelt = []
    for piece in sorted(pieces, key=len, reverse=True):
        if "@" in piece or len(piece) < 3:
            continue
        parts = re.findall(r"[A-Za-z]+|\d+", piece)
        spelt.append(r"[\s_\-]*".join(map(re.escape, parts)))
    return re.compile("|".join(rf"(?<![A-Za-z0-9]){s}(?![A-Za-z0-9])" for s in spelt) or r"(?!)", re.IGNORECASE)
