"""Chinese typed in letters: "step 30 de entropy shi duoshao" is a Chinese question, and is read as one.

Words that no English question holds tell it (``sure`` of ``pinyin.yaml``); the short ones (``beside``) are read only
where one of those stands. A text with Chinese characters is left as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from assistant import resources
from assistant.model import KnowledgeError

_HAN: Final = re.compile(r"[\u3400-\u9fff]")
_MOST: Final = 200
"""No longer text is looked at."""


@lru_cache(maxsize=1)
def _words() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, str]]:
    """The sure words, all words, and what each of them means.

    Raises:
        KnowledgeError: a part of ``pinyin.yaml`` is missing or unknown.
    """
    path = Path(__file__).with_suffix(".yaml")
    raw = resources.yaml_table(path)
    if set(raw) != {"sure", "beside"}:
        raise KnowledgeError(
            zh=f"{path.name}：应有 sure 与 beside 两部分。", en=f"{path.name}: the parts are sure and beside."
        )
    meant = {str(word): str(said) for part in ("sure", "beside") for word, said in raw[part].items()}

    def any_of(words: list[str]) -> re.Pattern[str]:
        listed = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        return re.compile(rf"(?<![\w/@.-])(?:{listed})(?![\w/@-])", re.IGNORECASE)

    return any_of(list(raw["sure"])), any_of(list(meant)), meant


def in_letters(text: str) -> bool:
    """Whether a text is Chinese typed in letters."""
    return len(text) <= _MOST and not _HAN.search(text) and _words()[0].search(text) is not None


def in_characters(text: str) -> str:
    """A text with its Chinese words in letters as characters; any other text as it was."""
    if not in_letters(text):
        return text
    _, every, meant = _words()
    return every.sub(lambda match: meant[match[0].lower()], text)
