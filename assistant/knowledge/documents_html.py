"""HTML to lines of Markdown, with the line of the file that each came from.

Only structure is kept: headings, lists, tables, code and paragraphs. Scripts, styles, frames, images and comments are
dropped, and no address is opened.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from assistant.knowledge.documents_text import Line, without

_DROPPED: Final = tuple(
    (f"<{name}", f"</{name}")
    for name in ("script", "style", "template", "iframe", "object", "svg", "math", "noscript", "select", "textarea")
)
_HEADINGS: Final = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "details", "div", "dl", "figcaption", "figure",
    "footer", "form", "head", "header", "hr", "html", "main", "nav", "p", "section", "summary", "tbody", "tfoot",
    "thead", "title",
})  # fmt: skip
_BOLD: Final = frozenset({"b", "strong"})
_CODE: Final = frozenset({"code", "kbd", "samp", "tt", "var"})
_OPENING: Final = re.compile(r"/?[A-Za-z]")
_LONGEST_TAG: Final = 4_000
_DEEPEST: Final = 8


def html_lines(text: str) -> list[Line]:
    """Lines of Markdown for a cleaned HTML text."""
    parser = _Lines()
    parser.feed(_bounded(without(text, (("<!--", "-->"), *_DROPPED), to_end=True)))
    parser.close()
    parser.end()
    return parser.lines


def looks_like_html(text: str) -> bool:
    """Whether a text without a telling name is an HTML page."""
    head = text[:2000].lstrip().lower()
    return head.startswith(("<!doctype html", "<html"))


def _bounded(text: str) -> str:
    """The text with every ``<`` that opens no short, closed tag escaped: the parser then takes linear time."""
    pieces: list[str] = []
    at = 0
    start = text.find("<")
    while start >= 0:
        following = text.find("<", start + 1)
        limit = min(len(text) if following < 0 else following, start + _LONGEST_TAG)
        closed = text.find(">", start, limit) >= 0
        pieces.append(text[at:start])
        if closed and _OPENING.match(text, start + 1):
            pieces.append("<")
        elif closed and text.startswith("!", start + 1):  # a doctype
            pieces.append("\n" * text.count("\n", start, text.find(">", start)))
            start = text.find(">", start)
        else:
            pieces.append("&lt;")
        at = start + 1
        start = following if following > start else text.find("<", at)
    pieces.append(text[at:])
    return "".join(pieces)


class _Lines(HTMLParser):
    """Collects lines; ``end`` closes the last."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[Line] = []
        self._text: list[str] = []
        self._line = 1
        self._prefix = ""
        self._depth = 0
        self._pre = 0
        self._cells: list[str] | None = None
        self._rows = 0
        self._term = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HEADINGS:
            self._start(_HEADINGS[tag] + " ")
        elif tag in {"ul", "ol"}:
            self._flush()
            self._depth += 1
        elif tag == "li":
            self._start("  " * (min(max(self._depth, 1), _DEEPEST) - 1) + "- ")
        elif tag == "pre":
            self._start("")
            self._pre += 1
            self.lines.append((self._line, "```"))
        elif tag == "table":
            self._start("")
            self.lines.append((self._line, ""))
            self._rows = 0
        elif tag == "tr":
            self._start("")
            self._cells = []
        elif tag in {"td", "th"}:
            self._text = []
        elif tag in {"dt", "dd"}:
            self._start("")
        elif tag == "br" and self._cells is None and not self._pre:
            self._flush("  " if self._prefix.strip() == "-" else "")
        elif tag == "br":
            self._text.append(" ")
        elif tag in _BLOCKS and self._cells is None and not self._pre:
            inside = self._prefix and not "".join(self._text).strip()  # <li><p>…
            if not inside:
                self._start("")
        elif tag in _BOLD and not self._pre:
            self._text.append("**")
        elif tag in _CODE and not self._pre:
            self._text.append("`")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HEADINGS or tag == "li":
            self._flush()
        elif tag in {"ul", "ol"}:
            self._flush()
            self._depth = max(0, self._depth - 1)
        elif tag == "pre" and self._pre:
            self._flush()
            self._pre -= 1
            self.lines.append((self._line, "```"))
        elif tag in {"td", "th"} and self._cells is not None:
            cell = " ".join("".join(self._text).split()).replace("|", "\\|")
            self._cells.append(cell)
            self._text = []
        elif tag == "tr" and self._cells is not None:
            self._row(self._cells)
            self._cells, self._text = None, []
        elif tag == "dt":
            self._term = " ".join("".join(self._text).split())
            self._text = []
        elif tag == "dd":
            self._text.insert(0, f"- {self._term}: " if self._term else "- ")
            self._term = ""
            self._flush()
        elif tag in _BLOCKS and self._cells is None and not self._pre:
            self._flush()
            if tag in {"p", "div"} and self._depth == 0:
                self.lines.append((self._line, ""))
        elif tag in _BOLD and not self._pre:
            self._text.append("**")
        elif tag in _CODE and not self._pre:
            self._text.append("`")

    def handle_data(self, data: str) -> None:
        if not self._text and not data.strip():
            return
        if not "".join(self._text[:1]).strip() and data.strip():
            self._line = self.getpos()[0] + data[: len(data) - len(data.lstrip())].count("\n")
        self._text.append(data)

    def _row(self, cells: list[str]) -> None:
        self.lines.append((self._line, "| " + " | ".join(cells) + " |"))
        if self._rows == 0:
            self.lines.append((self._line, "|" + "---|" * max(1, len(cells))))
        self._rows += 1

    def _start(self, prefix: str) -> None:
        self._flush()
        self._prefix = prefix
        self._line = self.getpos()[0]
        if prefix.startswith("#"):
            self.lines.append((self._line, ""))

    def _flush(self, then: str = "") -> None:
        text = "".join(self._text)
        self._text = []
        if self._pre:
            first = self._line
            self.lines.extend((first + at, line) for at, line in enumerate(text.split("\n")))
        elif text.strip():
            self.lines.append((self._line, self._prefix + " ".join(text.split())))
            self._prefix = then
        if not then:
            self._prefix = ""

    def end(self) -> None:
        """Writes what is left."""
        self._flush()
        if self._pre:
            self.lines.append((self._line, "```"))
