"""A Markdown text as sentences in order, each with what stands above it: heading, list parent, table header."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal

from assistant.ground.layouts import html_table, is_rule, levelled

Kind = Literal["prose", "heading", "item", "row", "header", "code", "quote"]

_FENCE: Final = re.compile(r"^\s*(```|~~~)")
#: A fence that says it holds code.
_TAGGED: Final = re.compile(
    r"(?i)^\s*(?:```|~~~)\s*(?!(?:text|txt|csv|tsv|table|markdown|md|plain|plaintext)\b)[A-Za-z]"
)
_HEADING: Final = re.compile(r"^\s{0,3}(#{1,6})\s+")
_ITEM: Final = re.compile(
    r"^(\s*)(?:[-+–](?!\d)|[*•·▪►✅❌⚠✓✗]|\d{1,3}(?:[.)](?=\s)|）|、(?!\s*\d))|[（(]\d{1,2}[)）]|[①-⑳])️?\s*(?=\S)"
)
_RULE: Final = re.compile(r"^\s*(?:[-*_=─━]\s*){3,}$")
_SEPARATOR: Final = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_END: Final = re.compile(r"[。！？；]+[”’」』）)*_`\"]*|[!?;]+(?=[\s*_)]|$)[*_)]*|\.(?=[*_)\"”]*(?:\s|$))[*_)\"”]*")
#: Behind a semicolon, what the same metric was at another step: "; at step 10 it was still 0.695".
_SAME_BEFORE: Final = re.compile(
    r"(?i)\s*(?:back )?(?:at|on|in) (?:step|iteration) \d{1,7},? (?:it|this|that) (?:was|is|had been|stood|had stood)\b"
)
#: Characters of a sentence; longer ones are cut, best between two cells of a log line.
LONGEST: Final = 800
_SEAM: Final = re.compile(r"\s-\s|[,，、]\s*|\s+")
_ABBREVIATION: Final = re.compile(
    r"(?i)(?:\b(?:e\.g|i\.e|vs|rel|abs|chg|diff|pct|incl|approx|avg|no|fig|eq|cf|resp|etc|al|max|min|std|dr)|^\W*\d{1,3}|\b(?-i:[A-Z]))$"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence, heading, table row or code block.

    Attributes:
        start, end: its characters in the text.
        kind: what it is.
        above: the texts that it stands under, outermost first: headings, then parents in a list.
        header: of a table row, the header's cells.
        cells: of a table row or header, each cell's ``(start, end)``.
        fresh: it begins a new block, so that a pronoun no longer means what the block before spoke of.
    """

    start: int
    end: int
    kind: Kind
    above: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    fresh: bool = False


@dataclass
class _Under:
    """What the text so far puts above the next line."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    items: list[tuple[int, str]] = field(default_factory=list)
    lead: str = ""

    def above(self, *, item: bool) -> tuple[str, ...]:
        texts = [text for _, text in self.headings]
        if item:
            texts += [self.lead] if self.lead else []
            texts += [text for _, text in self.items]
        return tuple(texts)


def units(text: str) -> list[Unit]:
    """All units of a text in order; blank lines and rules belong to none."""
    found: list[Unit] = []
    under = _Under()
    text = levelled(text)
    lines = _lines(text)
    at = 0
    header: tuple[str, ...] = ()
    while at < len(lines):
        start, end = lines[at]
        line = text[start:end]
        if _FENCE.match(line):
            fence = at
            at += 1
            while at < len(lines) and not _FENCE.match(text[slice(*lines[at])]):
                at += 1
            last = lines[min(at, len(lines) - 1)][1]
            tables = [] if _TAGGED.match(line) else _fenced_tables(text, lines, fence + 1, at, under.above(item=True))
            found += tables or [Unit(lines[fence][0], last, "code", under.above(item=True))]
            at += 1
            continue
        if not line.strip():
            header = ()
            if at + 1 < len(lines) and not _ITEM.match(text[slice(*lines[at + 1])]):
                under.items = []
            at += 1
            continue
        if (tagged := _tagged_table(text, lines, at, under.above(item=True))) is not None:
            table, at = tagged
            found += table
            continue
        if is_rule(line):
            at += 1
            continue
        plain = None if header else _plain_table(text, lines, at)
        if plain is not None:
            splitter, count = plain
            head = _columns(text, *lines[at], splitter)
            found.append(Unit(start, end, "header", under.above(item=True), cells=head, fresh=True))
            titles = tuple(text[a:b] for a, b in head)
            for row in range(at + 1, at + count):
                if not re.search(r"\w", text[slice(*lines[row])]):
                    continue
                found.append(
                    Unit(*lines[row], "row", under.above(item=True), titles, _columns(text, *lines[row], splitter))
                )
            at += count
            continue
        if (
            line.strip().startswith("|")
            or (header and "|" in line)
            or (at + 1 < len(lines) and "|" in line and _SEPARATOR.match(text[slice(*lines[at + 1])]))
        ):
            cells = _cells(text, start, end)
            if _SEPARATOR.match(line):
                at += 1
                continue
            begins = at + 1 < len(lines) and _SEPARATOR.match(text[slice(*lines[at + 1])]) and not header
            if begins or not header:
                header = tuple(text[a:b] for a, b in cells)
                found.append(Unit(start, end, "header", under.above(item=True), cells=cells, fresh=True))
            else:
                found.append(Unit(start, end, "row", under.above(item=True), header, cells))
            at += 1
            continue
        header = ()
        if _RULE.match(line):
            under.items, under.lead = [], ""
            at += 1
            continue
        if match := _HEADING.match(line):
            level = len(match[1])
            under.headings = [entry for entry in under.headings if entry[0] < level]
            found += _split(text, start + match.end(), end, "heading", under.above(item=False), fresh=True)
            under.headings.append((level, line[match.end() :].strip()))
            under.items, under.lead = [], ""
            at += 1
            continue
        item = _ITEM.match(line)
        last = at
        if item:
            indent = len(item[1].expandtabs(4))
            under.items = [entry for entry in under.items if entry[0] < indent]
            while last + 1 < len(lines) and _continues(text, lines, last):
                last += 1
            body_end = lines[last][1]
            found += _split(text, start + item.end(), body_end, "item", under.above(item=True), fresh=False)
            under.items.append((indent, text[start + item.end() : body_end].strip()))
        else:
            while last + 1 < len(lines) and _continues(text, lines, last):
                last += 1
            body_end = lines[last][1]
            quote = line.lstrip().startswith(">")
            nested = line[:2].isspace() and bool(under.items)
            if not nested:
                under.items = []
            fresh = at == 0 or not text[slice(*lines[at - 1])].strip()
            found += _split(text, start, body_end, "quote" if quote else "prose", under.above(item=nested), fresh=fresh)
            body = text[start:body_end].strip()
            under.lead = body if body.rstrip("*_ ").endswith((":", "：")) else ""
            if re.fullmatch(r"\*\*[^*]+\*\*[：:]?", body) and len(body) < 80:  # a bold line is a heading in effect
                under.headings = [entry for entry in under.headings if entry[0] < 7] + [(7, body)]
        at = last + 1
    return found


def _tagged_table(
    text: str, lines: list[tuple[int, int]], at: int, above: tuple[str, ...]
) -> tuple[list[Unit], int] | None:  # fmt: skip
    """The rows of the HTML table that a line begins, and the line behind it."""
    start, end = lines[at]
    held = html_table(text, start + len(text[start:end]) - len(text[start:end].lstrip()))
    if held is None:
        return None
    rows, over = held
    titles = tuple(text[a:b] for a, b in rows[0][2])
    found = [Unit(*rows[0][:2], "header", above, cells=rows[0][2], fresh=True)]
    found += [Unit(first, last, "row", above, titles, cells) for first, last, cells in rows[1:]]
    behind = next((n for n in range(at, len(lines)) if lines[n][1] >= over), len(lines) - 1)
    if rest := text[over : lines[behind][1]].strip():
        found += _split(text, over, lines[behind][1], "prose", above, fresh=bool(rest))
    return found, behind + 1


def _lines(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for line in text.split("\n"):
        spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _continues(text: str, lines: list[tuple[int, int]], at: int) -> bool:
    """Whether the next line goes on with this one: a paragraph wrapped at some width."""
    here, there = text[slice(*lines[at])], text[slice(*lines[at + 1])]
    if not there.strip() or _FENCE.match(there) or _HEADING.match(there) or _ITEM.match(there) or _RULE.match(there):
        return False
    if _ROW_LIKE.match(there) and _ROW_LIKE.match(here):
        return False  # one line a step
    if there.strip().startswith(("|", ">")) or re.search(r"[。！？!?；;：:]\s*$", here):
        return False
    return len(here) >= 55 or (len(here) >= 36 and there.lstrip()[:1].islower())


#: ``Step 3: entropy=0.15``, ``[16] grad_norm 0.09``: lines that each begin with their step.
_ROW_LIKE: Final = re.compile(
    r"(?i)^\W*(?:(?:global_?)?(?:step|iter(?:ation)?|epoch)\s*[=#:_-]?\s*\d+|\[\s*\d+\s*\]|第\s*\d+\s*步|s\d+\s*[:：])"
)
_TABS: Final = re.compile(r"\t+| {2,}(?=\S)")


_STEP_LINE: Final = re.compile(r"(?i)^\W*(?:step|第)\s*\d+(?:\s*步)?\W*$")
#: ``throughput: 677.4 tokens/s``: a table of two columns without a header.
_PAIRED: Final = re.compile(r"^\s*[A-Za-z\u3400-\u9fff`][^:：=|]{0,50}[:：=|]\s*[-+~≈±−]?\d")


def _fenced_tables(
    text: str, lines: list[tuple[int, int]], first: int, end: int, above: tuple[str, ...]
) -> list[Unit]:  # fmt: skip
    """The tables of a fenced block that is no code, and the lines between them as code; nothing without a table."""
    found: list[Unit] = []
    rest: list[int] = []
    tables = 0

    def flush() -> None:
        if rest:
            found.append(Unit(lines[rest[0]][0], lines[rest[-1]][1], "code", above))
            rest.clear()

    paired = sum(bool(_PAIRED.match(text[slice(*lines[n])])) for n in range(first, end))
    step = ""
    at = first
    while at < end:
        line = text[slice(*lines[at])]
        barred = line.strip().startswith("|")
        plain = None if barred else _plain_table(text, lines[:end], at)
        if _STEP_LINE.match(line):
            step = line.strip()
        if plain is None and not barred and paired >= 2 and _PAIRED.match(line):
            flush()
            tables += 1
            start = lines[at][0] + len(line) - len(line.lstrip())
            found.append(Unit(start, lines[at][1], "item", (*above, step) if step else above))
            at += 1
            continue
        if plain is None and not barred:
            if line.strip() and not is_rule(line):
                rest.append(at)
            at += 1
            continue
        flush()
        tables += 1
        splitter, count = plain or (
            None,
            next((n for n in range(1, end - at) if not _in_table(text[slice(*lines[at + n])])), end - at),
        )
        titles: tuple[str, ...] = ()
        for row in range(at, at + count):
            part = text[slice(*lines[row])]
            if not re.search(r"\w", part) or _SEPARATOR.match(part) or is_rule(part):
                continue
            cells = _cells(text, *lines[row]) if splitter is None else _columns(text, *lines[row], splitter)
            kind: Kind = "row" if titles else "header"
            found.append(Unit(*lines[row], kind, above, titles, cells, fresh=not titles))
            titles = titles or tuple(text[a:b] for a, b in cells)
        at += count
    flush()
    return found if tables else []


def _in_table(line: str) -> bool:
    """Whether a line goes on with a table of bars."""
    return "|" in line or is_rule(line)


_BARS: Final = re.compile(r"\s*\|\s*")
_COMMAS: Final = re.compile(r",(?=\S)")


def _plain_table(text: str, lines: list[tuple[int, int]], at: int) -> tuple[re.Pattern[str], int] | None:
    """A table of columns apart by blanks, tabs or commas that begins at a line: how it is split, and its lines."""
    head = text[slice(*lines[at])]
    if _ITEM.match(head) or _HEADING.match(head) or head.strip().startswith(("|", ">")) or re.search(r"[。；;]", head):
        return None
    for splitter in (_BARS, _TABS, _COMMAS):
        titles = [text[a:b] for a, b in _columns(text, *lines[at], splitter)]
        if len(titles) < 2 or any(title[:1] in {":", "=", "："} for title in titles):
            continue
        stepped = bool(re.search(r"(?i)step|步", titles[0]))  # "metric \\ step", and the steps
        if any(re.fullmatch(r"[-+]?[\d.,]+(?:e[-+]?\d+)?%?", title) for title in titles) and not stepped:
            continue
        if splitter is _BARS and at + 1 < len(lines) and _SEPARATOR.match(text[slice(*lines[at + 1])]):
            return None
        if splitter is _COMMAS and re.search(r"\d,\d{3}|[:：=]", head):
            continue
        if splitter is _COMMAS and ((" " in head.strip() and "，" in head) or any(len(t.split()) > 4 for t in titles)):
            continue
        count = 1
        numeric = 0
        while at + count < len(lines):
            line = text[slice(*lines[at + count])]
            if not line.strip():
                break
            if not re.search(r"\w", line):  # a rule under the header
                count += 1
                continue
            cells = [text[a:b] for a, b in _columns(text, *lines[at + count], splitter)]
            if abs(len(cells) - len(titles)) > (1 if splitter is _TABS else 0) or len(cells) < 2:
                break
            if not any(re.match(r"[*`_~≈约\s]*[-+−↑↓]?\s?\d", cell) for cell in cells):
                break
            numeric += 1
            count += 1
        if numeric >= 1:
            return splitter, count
    return None


def _columns(text: str, start: int, end: int, splitter: re.Pattern[str]) -> tuple[tuple[int, int], ...]:
    """The cells of a line of a table without bars."""
    while start < end and text[start].isspace() and splitter is not _TABS:
        start += 1
    cells, here = [], start
    line_end = end
    leading = len(text[start:end]) - len(text[start:end].lstrip())
    if leading and splitter is _TABS:  # an empty first header above the names of the rows
        cells.append((start, start)) if leading >= 2 else None
        here = start + leading
    for match in splitter.finditer(text, here, end):
        cells.append((here, match.start()))
        here = match.end()
    cells.append((here, line_end))
    result = []
    for a, b in cells:
        result.append((a, a + len(text[a:b].rstrip())))
    return tuple(result)


def _cells(text: str, start: int, end: int) -> tuple[tuple[int, int], ...]:
    line = text[start:end]
    edges = [match.start() for match in re.finditer(r"(?<!\\)\|", line)]
    if not edges:
        return ((start, end),)
    if line[: edges[0]].strip():
        edges.insert(0, -1)
    if line[edges[-1] + 1 :].strip():
        edges.append(len(line))
    cells = []
    for a, b in pairwise(edges):
        left, right = a + 1, b
        while left < right and line[left].isspace():
            left += 1
        while right > left and line[right - 1].isspace():
            right -= 1
        cells.append((start + left, start + right))
    return tuple(cells)


def _split(text: str, start: int, end: int, kind: Kind, above: tuple[str, ...], *, fresh: bool) -> list[Unit]:
    """The sentences of a block."""
    result = []
    here = start
    for match in _END.finditer(text, start, end):
        if match.group().startswith(".") and _ABBREVIATION.search(text[max(here, match.start() - 8) : match.start()]):
            continue
        if match.group().startswith((";", "；")) and _open_bracket(text[here : match.start()]):
            continue
        if match.group().startswith(";") and _SAME_BEFORE.match(text, match.end(), end):
            continue
        if text.count("`", start, match.start()) % 2:  # inside a code span
            continue
        if text[here : match.end()].strip():
            result.append((here, match.end()))
        here = match.end()
    if text[here:end].strip():
        result.append((here, end))
    found = []
    for number, (a, b) in enumerate(piece for whole in result for piece in _pieces(text, *whole)):
        body = text[a:b]
        first, last = a + len(body) - len(body.lstrip()), a + len(body.rstrip())
        found.append(Unit(first, last, kind, above, fresh=fresh and number == 0))
    return found


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A sentence in pieces of bounded length: what is longer is no prose (a pasted log line) and holds many claims."""
    pieces = []
    while end - start > LONGEST:
        seams = [match.end() for match in _SEAM.finditer(text, start + LONGEST // 2, start + LONGEST)]
        cut = seams[-1] if seams else start + LONGEST
        if text[start:cut].strip():
            pieces.append((start, cut))
        start = cut
    if text[start:end].strip():
        pieces.append((start, end))
    return pieces


def _open_bracket(text: str) -> bool:
    return text.count("(") + text.count("（") > text.count(")") + text.count("）")
