"""Chinese typos: characters that sound like the ones that were meant.

Chinese is typed by sound, so that a typo is a pair of characters that hardly a card holds and that sounds like one
which cards do hold; pinyin is only looked up then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Final

from assistant.knowledge.cards import Library
from assistant.knowledge.namewords import table as name_table
from assistant.knowledge.questions import search_table
from assistant.knowledge.terms import is_chinese, pieces

_RARER: Final = 4
"""How much rarer than the one that was meant a character that stands alone must be among the cards."""

_BY_CHANCE: Final = 0.0015
"""Share of the cards that may hold a pair where two words meet."""

_MUCH_RARER: Final = 25
"""How much rarer than the one that was meant such a pair must be."""

_PAIR: Final = 2

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
            meant = {at: best for at in range(len(piece) - 1) if (best := self._sounding_pair(piece, at))}
            for at in sorted(meant, key=lambda at: (_has_filler(meant[at]), -self._share(meant[at]), at)):
                if at in meant:
                    found[piece[at : at + 2]] = meant[at]
                    meant = {other: best for other, best in meant.items() if abs(other - at) > 1}
        return found

    def _sounding_pair(self, piece: str, at: int) -> str | None:
        """The pair that cards hold most, of those that sound like a rare one; first those that fit their neighbours.

        A pair with a word such as 里 in it may be two words: it is only mended where a neighbour vouches for it.
        """
        pair = piece[at : at + 2]
        held = self._share(pair)
        around = (piece[at - 1 : at], piece[at + 2 : at + 3])
        if self._is_word(pair) or self._is_held_between(pair, *around) or self._is_seam(piece, at):
            return None
        alike = [other + pair[1] for other in self._sounding(pair[0])]
        alike += [pair[0] + other for other in self._sounding(pair[1])]
        vouched = {other: self._is_held_between(other, *around) for other in alike}
        alike = [other for other in alike if vouched[other] or not (_has_filler(pair) or _has_filler(other))]
        best = max(alike, key=lambda other: (vouched[other], self._share(other)), default=pair)
        return best if self._share(best) > _MUCH_RARER * held else None

    def _is_held_between(self, pair: str, before: str, after: str) -> bool:
        """Whether some wording of the cards has the pair beside one of its neighbours."""
        return bool(before and before + pair in self._triples) or bool(after and pair + after in self._triples)

    def _is_seam(self, piece: str, at: int) -> bool:
        """Whether two known words meet between the characters of a pair: 闲占 in 空闲占比."""
        before, after = piece[max(0, at - 1) : at + 1], piece[at + 1 : at + 3]
        words = all(len(word) == _PAIR and self._is_word(word) for word in (before, after))
        return words and (_is_told(before) or _is_told(after))  # cards hold ends of words, too

    def _is_word(self, pair: str) -> bool:
        """Whether two characters are a word as far as is known: a table tells it, or cards hold it."""
        return _is_told(pair) or self._share(pair) > _BY_CHANCE

    @cached_property
    def _triples(self) -> frozenset[str]:
        """Three characters in a row of the cards' titles and wordings."""
        texts = (t for card in self._library for t in (card.title("zh"), *card.words("zh"), *card.asks("zh")))
        found = (piece for text in texts for piece in pieces(text) if is_chinese(piece))
        return frozenset(piece[at : at + 3] for piece in found for at in range(len(piece) - 2))

    def _sounding_word(self, char: str) -> str | None:
        """The word of one character that is meant by a much rarer one which stands alone: 熵 by 商."""
        words = [other for other in self._sounding(char) if other in search_table()["synonyms"]]
        best = max(words, key=self._share, default=None)
        return best if best is not None and _RARER * self._share(char) < self._share(best) else None

    def _sounding(self, char: str) -> list[str]:
        """Characters of the cards that sound like one."""
        alike = dict.fromkeys(other for sound in _sounds(char) for other in self._by_sound.get(sound, ()))
        return [other for other in alike if other != char]

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
            for sound in _sounds(char):
                table.setdefault(sound, []).append(char)
        return table


def _is_told(pair: str) -> bool:
    """Whether two characters are a word of one of the tables of wordings."""
    table = search_table()
    return pair in name_table().meant or pair in table["synonyms"] or table["everyday"].fullmatch(pair) is not None


def _has_filler(pair: str) -> bool:
    """Whether one of two characters is a word that questions are written around with, such as 的."""
    return pair[0] in search_table()["fillers"] or pair[1] in search_table()["fillers"]


def _sounds(char: str) -> tuple[str, ...]:
    """Toneless pinyin of a character: as it is read alone, then as it is read in words, with confused sounds as one."""
    from pypinyin import lazy_pinyin

    return tuple(dict.fromkeys((_blurred(lazy_pinyin(char)[0]), *_readings().get(char, ()))))


@lru_cache(maxsize=1)
def _readings() -> dict[str, list[str]]:
    """Characters of the tables' words → how these read them: 长 is chang in 长度 and zhang alone."""
    from pypinyin import lazy_pinyin

    table: dict[str, list[str]] = {}
    for word in {*name_table().meant, *search_table()["synonyms"]}:
        if all(map(is_chinese, word)):
            for char, sound in zip(word, lazy_pinyin(word), strict=True):
                table.setdefault(char, []).append(_blurred(sound))
    return table


def _blurred(sound: str) -> str:
    """A sound, with those that are often confused as one."""
    for full, short in _BLURRED:
        sound = sound.replace(full, short)
    return sound
