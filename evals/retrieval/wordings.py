"""How well wordings by other hands find their cards: `python -m evals.retrieval.wordings [--skip N] [--few N]`.

The index is built without the wordings of ``knowledge/asks/field-*.yaml`` and then asked with them. A wording that more
than one card has, or that holds a key, is left out. Where no framework is asked for, a card that says to be the same
quantity elsewhere is right, too. This is what the weights are set on; the questions of the evaluation are not.
"""

from __future__ import annotations

import argparse
import copy
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from assistant import resources
from assistant.knowledge import Card, Library, Resolver, library
from assistant.knowledge.finder import Finder
from assistant.knowledge.index import open_index
from assistant.knowledge.questions import asked_framework
from assistant.knowledge.terms import fold
from assistant.knowledge.typos import KEY, NAME

GENERAL = ("concept", "failure")
SEED = 7


@dataclass(frozen=True, slots=True)
class Wording:
    """A question, the card it was written for, and every card that answers it if no framework is asked for."""

    text: str
    language: str
    card: str
    framework: str | None
    right: frozenset[str]


def field_wordings(folder: Path | None = None, pattern: str = "field-*.yaml") -> dict[str, dict[str, list[str]]]:
    """Card → language → the wordings of the files that a pattern names."""
    table: dict[str, dict[str, list[str]]] = {}
    for path in sorted(((folder or resources.data_folder("knowledge")) / "asks").glob(pattern)):
        for card, asks in (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).items():
            for language, wordings in asks.items():
                table.setdefault(card, {}).setdefault(language, []).extend(wordings)
    return table


def without(cards: Library, left_out: Mapping[str, Mapping[str, Sequence[str]]]) -> Library:
    """The same cards without some wordings."""
    kept = {}
    for card in cards:
        meta = copy.copy(card.meta)
        gone = left_out.get(card.id, {})
        meta["asks"] = {
            language: [ask for ask in asks if ask not in set(gone.get(language, ()))]
            for language, asks in meta.get("asks", {}).items()
        }
        kept[card.id] = Card(**{**{name: getattr(card, name) for name in card.__slots__}, "meta": meta})
    return Library(kept)


def twins(cards: Library) -> dict[str, set[str]]:
    """Card → the cards of other frameworks that say to be the same quantity, either way round."""
    resolver = Resolver(cards)
    table: dict[str, set[str]] = defaultdict(set)
    for card in cards:
        for entry in card.meta.get("also", ()):
            for key in entry["keys"]:
                found = resolver.key(key, entry["framework"])
                if found is not None and not found.foreign:
                    table[card.id].add(found.card.id)
                    table[found.card.id].add(card.id)
    return table


def development(cards: Library, left_out: Mapping[str, Mapping[str, Sequence[str]]]) -> list[Wording]:
    """The questions, in an order that says nothing."""
    owners: dict[str, set[str]] = defaultdict(set)
    for card in cards:
        for language in ("zh", "en"):
            for ask in card.asks(language):
                owners[fold(ask)].add(card.id)
    alike = twins(cards)
    keys = {key.lower() for card in cards for key in card.keys}
    made = []
    for card_id, asks in left_out.items():
        own = cards.cards[card_id].framework
        for language, wordings in asks.items():
            for ask in wordings:
                named = {match.group().rstrip("./-:").lower() for match in NAME.finditer(ask)}
                if len(owners[fold(ask)]) > 1 or any(KEY.search(name) and name in keys for name in named):
                    continue
                asked = asked_framework(fold(ask))
                right = {card_id} | (alike[card_id] if asked is None else set())
                made.append(Wording(ask, language, card_id, None if own in GENERAL else own, frozenset(right)))
    random.Random(SEED).shuffle(made)
    return made


def ranks(finder: Finder, given: Sequence[Wording], filtered: bool) -> list[tuple[Wording, int, list[str]]]:
    """For each question the rank of the first right card, 0 if there is none in three, and what was found."""
    result = []
    for wording in given:
        found = [f.card.id for f in finder.find(wording.text, wording.framework if filtered else None, 3)]
        right = {wording.card} if filtered else wording.right
        result.append((wording, next((at for at, card in enumerate(found, 1) if card in right), 0), found))
    return result


def _share(results: Sequence[tuple[Any, int, Any]], least: int) -> str:
    return f"{sum(1 <= rank <= least for _, rank, _ in results) / len(results):>8.3f}" if results else f"{'–':>8}"


def main(argv: list[str] | None = None) -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", type=int, default=0, help="ask only so many questions")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first, on which the weights were fitted")
    options = parser.parse_args(argv)
    left_out = field_wordings()
    cards = library()
    given = development(cards, left_out)[options.skip :][: options.few or None]
    with tempfile.TemporaryDirectory() as folder:
        finder = Finder(without(cards, left_out), lambda made: open_index(made, Path(folder)))
        print(f"{len(given)} wordings, index built without them")
        for filtered in (False, True):
            results = ranks(finder, given, filtered)
            print(f"\n{'framework given' if filtered else 'no framework given':<22}{'':>6}"
                  f"{'zh@1':>8}{'zh@3':>8}{'en@1':>8}{'en@3':>8}{'none':>8}")  # fmt: skip
            for own in ("all", *sorted({cards.cards[w.card].framework for w in given})):
                mine = [r for r in results if own in ("all", cards.cards[r[0].card].framework)]
                row = "".join(
                    _share([r for r in mine if r[0].language == language], least)
                    for language in ("zh", "en")
                    for least in (1, 3)
                )
                print(f"{own:<22}{len(mine):>6}{row}{sum(not r[2] for r in mine) / len(mine):>8.3f}")
            confused = Counter((w.card, found[0] if found else "nothing") for w, rank, found in results if rank != 1)
            for (right, other), count in confused.most_common(15):
                print(f"  {count:>4}  {right} → {other}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
