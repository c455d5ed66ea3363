"""An answer's Markdown as HTML for the page: safe by construction, and every traced number an element of its own.

Raw HTML in the Markdown is shown as text; images are never loaded; a link goes to ``http`` or ``https`` only and shows
where it goes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

_OPEN, _MIDDLE, _CLOSE = "\ue000", "\ue001", "\ue002"
_OURS: Final = re.compile(f"[{_OPEN}{_MIDDLE}{_CLOSE}]")
_MARK: Final = re.compile(f"{_OPEN}([EK]\\d+){_MIDDLE}([^{_OPEN}{_CLOSE}]*){_CLOSE}")
_LEFT: Final = re.compile(f"{_OPEN}[EK]\\d+{_MIDDLE}|{_CLOSE}")
_CITED: Final = re.compile(r"\[(K\d+)\]")
_FACT: Final = re.compile(r"[E]\d+")
_SPLIT: Final = re.compile(r"(<[^>]*>)")


def answer_html(
    text: str, mentions: Sequence[Mapping[str, Any]] = (), citations: Sequence[Mapping[str, Any]] = ()
) -> str:
    """The Markdown of an answer as HTML.

    Args:
        text: the answer's Markdown.
        mentions: ``{"start", "end", "fact"}``: which characters of it state which fact.
        citations: ``{"id", "card"}``: cards that ``[K1]`` refers to.

    Returns:
        HTML in which a stated number is ``<a class="n" data-fact="E12" href="#E12">`` and a reference to a card
        ``<a class="k" data-card="…">``.
    """
    text = _OURS.sub("\ufffd", text)
    last, pieces = 0, []
    for mention in sorted(mentions, key=lambda m: int(m["start"])):
        start, end, fact = int(mention["start"]), int(mention["end"]), str(mention["fact"])
        if start < last or end <= start or end > len(text) or not _FACT.fullmatch(fact) or "\n" in text[start:end]:
            continue
        pieces += [text[last:start], _OPEN, fact, _MIDDLE, text[start:end], _CLOSE]
        last = end
    html = _renderer().render("".join([*pieces, text[last:]]))
    html = _MARK.sub(lambda m: f'<a class="n" href="#{m[1]}" data-fact="{m[1]}">{m[2]}</a>', html)
    html = _LEFT.sub("", html)
    cards = {str(c["id"]): str(c["card"]) for c in citations}

    def cited(match: re.Match[str]) -> str:
        card = cards.get(match[1])
        if card is None:
            return match[0]
        return f'<a class="k" href="#{match[1]}" data-card="{escape(card)}">{match[1]}</a>'

    # Only text between tags: an attribute stays as it is.
    return "".join(part if part.startswith("<") else _CITED.sub(cited, part) for part in _SPLIT.split(html))


@lru_cache(maxsize=1)
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    made.validateLink = _is_web  # type: ignore[method-assign]
    made.add_render_rule("link_open", _link_open)
    made.add_render_rule("link_close", _link_close)
    return made


def _is_web(url: str) -> bool:
    return bool(re.match(r"https?://[^\s/]", url, re.IGNORECASE))


def _link_open(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    target = str(tokens[place].attrGet("href") or "")
    env.setdefault("targets", []).append(_LEFT.sub("", target))
    return f'<a class="out" href="{escape(target)}" target="_blank" rel="noopener noreferrer nofollow">'


def _link_close(self: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    """Ends a link and says where it goes, unless its text is just that."""
    target = env["targets"].pop()
    shown = "".join(token.content for token in tokens[:place][-1:])
    return "</a>" if shown == target else f'</a> <span class="target">({escape(target)})</span>'
