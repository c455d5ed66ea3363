"""How like a question is to the names of each entry, word by word, in any order.

Names and question are bags of the words they mean (:mod:`assistant.knowledge.namewords`). Their likeness is Dice's
coefficient (Dice 1945, "Measures of the amount of ecologic association between species") with each word weighed by how
few entries have it in a name; an entry's best name counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from assistant.knowledge.namewords import name_words


class NameTable:
    """The names of all entries, as arrays.

    Args:
        words: word → its number.
        bounds: where each word's names begin and end among ``names``; words + 1.
        names: the numbers of the names that hold it.
        rarity: of each word; the last one is that of a word that no name holds.
        lengths: the rarities of each name's words together.
        begins: where each entry's names begin; every entry has one name at least, perhaps an empty one.
    """

    def __init__(
        self, words: Mapping[str, int], *, bounds: Any, names: Any, rarity: Any, lengths: Any, begins: Any
    ) -> None:
        self._words = words
        self._bounds = bounds
        self._names = names
        self._rarity = rarity
        self._lengths = lengths
        self._begins = begins

    def ask(self, text: str) -> Any:
        """The likeness of a question to the best name of each entry, 0 to 1."""
        import numpy as np

        shared = np.zeros(len(self._lengths), dtype=np.float32)
        whole = 0.0
        for word in name_words(text):
            at = self._words.get(word)
            rarity = float(self._rarity[-1 if at is None else at])
            whole += rarity
            if at is not None:
                shared[self._names[self._bounds[at] : self._bounds[at + 1]]] += rarity
        if not whole:
            return np.zeros(len(self._begins), dtype=np.float32)
        return np.maximum.reduceat(2 * shared / (whole + self._lengths), self._begins)

    def holds(self, words: Iterable[str]) -> bool:
        """Whether one name holds all of some words."""
        import numpy as np

        places = [self._words.get(word) for word in words]
        if not places or None in places:
            return False
        held = [self._names[self._bounds[at] : self._bounds[at + 1]] for at in places if at is not None]
        return bool(len(reduce(np.intersect1d, held)))

    def save(self, path: Path) -> None:
        """Writes it into one file."""
        import numpy as np

        with path.open("wb") as file:
            np.savez(
                file, words=np.array("\n".join(self._words)), bounds=self._bounds, names=self._names,
                rarity=self._rarity, lengths=self._lengths, begins=self._begins,
            )  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> NameTable:
        """Reads what :meth:`save` wrote; raises if it is something else."""
        import numpy as np

        with np.load(path, allow_pickle=False) as held:
            words = {word: at for at, word in enumerate(str(held["words"]).split("\n"))}
            return cls(words, **{name: held[name] for name in ("bounds", "names", "rarity", "lengths", "begins")})


def build_names(names: Sequence[Sequence[str]]) -> NameTable:
    """The table of some entries.

    Args:
        names: what each entry goes by.
    """
    import numpy as np

    bags: list[frozenset[str]] = []
    begins = []
    entries: Counter[str] = Counter()
    for own in names:
        begins.append(len(bags))
        mine = dict.fromkeys(frozenset(name_words(name)) for name in own)
        bags += mine or [frozenset()]
        entries.update({word for bag in mine for word in bag})
    rarity = {word: math.log(1 + len(names) / count) for word, count in sorted(entries.items())}
    holding: dict[str, list[int]] = {word: [] for word in rarity}
    for at, bag in enumerate(bags):
        for word in bag:
            holding[word].append(at)
    return NameTable(
        {word: at for at, word in enumerate(rarity)},
        bounds=np.cumsum([0, *(len(held) for held in holding.values())]).astype(np.int32),
        names=np.array([at for held in holding.values() for at in held], dtype=np.int32),
        rarity=np.array([*rarity.values(), math.log(1 + len(names))], dtype=np.float32),
        lengths=np.array([sum(rarity[word] for word in bag) for bag in bags], dtype=np.float32),
        begins=np.array(begins, dtype=np.int32),
    )
