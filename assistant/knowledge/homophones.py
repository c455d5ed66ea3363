"""Chinese typos: characters that sound like the ones that were meant.

Chinese is typed by sound, so that a typo is a pair of characters that hardly a card holds and that sounds like one
which cards do hold; pinyin is only looked up then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final

from assistant.knowledge.cards import Library
from assistant.knowledge.questions import search_table
from assistant.knowledge.terms import is_chinese, pieces

_RARER: Final = 4
"""How much rarer than the one that was meant a character that stands alone must be among the cards."""

_BY_CHANCE: Final = 0.0015
"""Share of the cards that may hold a pair where two words meet."""

_MUCH_RARER: Final = 25
"""How much rarer than the one that was meant such a pair must be."""

_BLURRED: Final = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("ng", "n"))
"""Sounds that many speakers, and many keyboards, do not tell apart."""


class Homophones:
    """Mends Chinese by sound.

    Args:
        library: the cards, whose characters are right.
        share: how many of the cards hold a term, 0 to 1.
    """

    def __init__(self, library: Library, share: Callable[[str], float]) -> None:
        self._library = library
        self._share = share

    def mend(self, text: str) -> dict[str, str]:
        """Rare pairs of characters → the pair that cards hold most, of those with one character else.

        Of pairs that share a character the one with the best known meaning is mended: in 专家腹载不均 it is 腹载.
        """
        found: dict[str, str] = {}
        for piece in filter(is_chinese, pieces(text)):
            own = [char for char in piece if char not in search_table()["fillers"]]
            if len(own) == 1 and (word := self._sounding_word(own[0])) is not None:
                found[own[0]] = word
            meant = {at: best for at in range(len(piece) - 1) if (best := self._sounding_pair(piece[at : at + 2]))}
            for at in sorted(meant, key=lambda at: (-self._share(meant[at]), at)):
                if at in meant:
                    found[piece[at : at + 2]] = meant[at]
                    meant = {other: best for other, best in meant.items() if abs(other - at) > 1}
        return found

    def _sounding_pair(self, pair: str) -> str | None:
        """The pair that cards hold most, of those that sound like a rare one."""
        fillers = search_table()["fillers"]
        held = self._share(pair)
        if pair[0] in fillers or pair[1] in fillers or held > _BY_CHANCE:
            return None
        alike = [other + pair[1] for other in self._sounding(pair[0])]
        alike += [pair[0] + other for other in self._sounding(pair[1])]
        best = max(alike, key=self._share, default=pair)
        return best if self._share(best) > _MUCH_RARER * held else None

    def _sounding_word(self, char: str) -> str | None:
        """The word of one character that is meant by a much rarer one which stands alone: 熵 by 商."""
        words = [other for other in self._sounding(char) if other in search_table()["synonyms"]]
        best = max(words, key=self._share, default=None)
        return best if best is not None and _RARER * self._share(char) < self._share(best) else None

    def _sounding(self, char: str) -> list[str]:
        """Characters of the cards that sound like one."""
        return [other for other in self._by_sound.get(_sound(char), ()) if other != char]

    @cached_property
    def _by_sound(self) -> dict[str, list[str]]:
        """Sound → the characters of the cards that have it."""
        chars = {
            char
            for card in self._library
            for text in (card.title("zh"), *card.words("zh"), *card.asks("zh"), *(t for _, t in card.sections("zh")))
            for char in text
            if is_chinese(char)
        }
        table: dict[str, list[str]] = {}
        for char in sorted(chars):
            table.setdefault(_sound(char), []).append(char)
        return table


def _sound(char: str) -> str:
    """Toneless pinyin of a character, with sounds that are often confused as one."""
    from pypinyin import lazy_pinyin

    sound: str = lazy_pinyin(char)[0]
    for full, short in _BLURRED:
        sound = sound.replace(full, short)
    return sound
