"""Text of unknown hands on its way to a model, and the model's text on its way to the user.

Into a prompt go only names of allowed characters, numbers, and quoted excerpts without anything that hides or poses as
markup; out of a reply go prose, lists, tables and code spans, never images, links, HTML or hidden characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LONGEST_NAME = 96
MOST_BLANKS = 3
LONGEST_QUESTION = 2000
LONGEST_EXCERPT = 700
#: What a metric's name is made of in every framework known; anything else becomes ``_``.
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_ ./@:()\[\]{}=,|+*%#&<>$-]")
#: Marks that a prompt itself is built with.
_FENCES = re.compile(r"```+|~~~+|<\|[^|>]*\|>|\[/?INST\]|<</?SYS>>|</?s>")
_TAGS = re.compile(
    r"</?(?:answer|facts?|question|excerpt|system|user|assistant|tool\w*|function\w*|think\w*|im_\w+)[^>]{0,80}>", re.I
)
#: Characters that are looked at one by one; the rest is seen by everybody.
_UNUSUAL = re.compile(r"[^\n\t -~\u3001-\u3011\u4e00-\u9fff\uff01-\uff5e]")
_IMAGE = re.compile(r"!\[([^\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])?")
_LINK = re.compile(r"\[([^\]\n]+)\]\([^)\n]*\)")
_REFERENCE = re.compile(r"^\s{0,3}\[[^\]\n]+\]:\s*\S.*$", re.M)
_ADDRESS = re.compile(
    r"<?\b(?:[a-z][a-z0-9+.-]{1,12}://|www\.|data:|javascript:|mailto:)[^\s>)\]，。；、）】]+>?", re.IGNORECASE
)
_HTML = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>|<!--.*?-->", re.DOTALL)


def visible(text: str) -> str:
    """The text without characters that cannot be seen: bidi overrides, zero-width, tags, controls but \\n and \\t."""
    return _UNUSUAL.sub(lambda m: _seen(m.group()), unicodedata.normalize("NFC", text))


@lru_cache(maxsize=4096)
def _seen(char: str) -> str:
    category = unicodedata.category(char)
    if category in {"Zl", "Zp"}:
        return "\n"
    selector = "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"
    return "" if selector or category in {"Cc", "Cf", "Co", "Cs", "Cn"} else char


def name(text: str) -> str:
    """A metric's, run's or card's name: allowed characters, at most :data:`LONGEST_NAME`."""
    clean = _NOT_IN_NAMES.sub("_", visible(text).strip())
    if clean.count(" ") > MOST_BLANKS:  # a sentence, not a name
        clean = clean.replace(" ", "_")
    clean = _FENCES.sub("_", clean).replace("<", "_").replace(">", "_")
    return clean if len(clean) <= LONGEST_NAME else clean[: LONGEST_NAME - 1] + "…"


def quoted(text: str, longest: int = LONGEST_EXCERPT) -> str:
    """An excerpt or a question as data: what could pose as part of the prompt's frame is taken out."""
    clean = _TAGS.sub(" ", _FENCES.sub(" ", visible(text)))
    clean = _ADDRESS.sub("", _IMAGE.sub(r"\1", clean))
    clean = re.sub(r"[ \t]+", " ", re.sub(r"\n{3,}", "\n\n", clean)).strip()
    return clean if len(clean) <= longest else clean[: longest - 1].rstrip() + "…"


def shown(text: str) -> str:
    """A model's text as it may be shown: no images, links, addresses, HTML or hidden characters."""
    clean = _REFERENCE.sub("", visible(text))
    clean = _LINK.sub(r"\1", _IMAGE.sub(r"\1", clean))
    return _ADDRESS.sub("", _HTML.sub("", clean))
