"""Recall of the search: `python -m evals.retrieval [--held|--second|--third a|b|--fourth|--fifth a|b|--sixth]`.

`--misses` shows what was not found.

Questions in Chinese, English and mixed, by key, alias, paraphrase, symptom, concept and with typos, were written before
the search by a hand that had not read the cards; half of them are held out and only ever looked at as scores. The same
questions are asked of full text alone (BM25), of the vectors alone, and of everything together. A question about what
does not exist is right if nothing is found.

``together`` counts answers: a question that the search is not sure enough to answer is wrong. ``shown`` counts what a
user sees: the answers, or, where there are none, the three nearest cards that are offered instead (``Finder.nearest``).
What is offered never counts for the first place, nor does it help a question about what does not exist: that is right
if there is no answer, in both tables.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Collection
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from assistant.knowledge import Library, library
from assistant.knowledge.finder import Finder
from assistant.knowledge.index import open_index
from assistant.knowledge.templates import template_pattern
from assistant.knowledge.terms import fold, terms

HERE = Path(__file__).resolve().parent
LANGUAGES = ("zh", "en", "mixed")
OUR_NAMES = {"custom-grpo": "custom"}
COLUMNS = (*LANGUAGES, "all")
KINDS = ("key", "alias", "paraphrase", "symptom", "typo", "concept", "unknown")
TITLES = {
    "held": "held out", "second": "second hand", "third": "third hand", "fourth": "fourth hand", "fifth": "short ones",
    "sixth": "siblings of the open ones", "open": "open",
}  # fmt: skip
"""Sets of questions."""

HALVED = ("third", "fifth")
UNREAD = ("held", "fourth")
KNOWN = frozenset(KINDS) - {"unknown"}
Search = Callable[[str, str | None], list[str]]


@lru_cache(maxsize=1)
def concepts() -> dict[str, list[str]]:
    """Concept → the cards that explain it."""
    table: dict[str, list[str]] = yaml.safe_load((HERE / "concepts.yaml").read_text(encoding="utf-8"))
    return table


def questions(kind: str, part: str | None = None) -> list[dict[str, Any]]:
    """The questions of a set (``open``, ``held``, ``second``, …), or a half of them."""
    entries: list[dict[str, Any]] = yaml.safe_load((HERE / f"questions_{kind}.yaml").read_text(encoding="utf-8"))
    for entry in entries:
        entry["framework"] = OUR_NAMES.get(entry["framework"], entry["framework"])
    return [entry for entry in entries if part in (None, half(entry["id"]))]


def half(question: str) -> str:
    """Which half of a set an id is in."""
    return "ab"[zlib.crc32(question.encode()) % 2]


def right_cards(entry: dict[str, Any], cards: Library) -> set[str]:
    """Ids of the cards that answer a question; empty for what does not exist.

    A card of one instance of the expected template (``timing/train/{phase}``) is right, too.
    """
    right: set[str] = set()
    for expected in entry["expect"]:
        if "key" in expected:
            first, _, rest = expected["key"].partition("/")
            for key in [f"{one}/{rest}" if rest else one for one in first.split("|")]:  # val-core|val-aux/…
                instance = template_pattern(key)
                example = re.sub(r"\{([^{}|]*)[^{}]*\}", r"\1", key)
                right |= {
                    card.id
                    for card in cards
                    if card.framework == expected["framework"].replace("custom-grpo", "custom")
                    and (key in card.keys or any(fits(instance, known, example) for known in card.keys))
                }
        elif "failure" in expected:
            right |= {c.id for c in cards if c.framework == "failure" and expected["failure"] in c.keys}
        elif "concept" in expected:
            right.update(concepts().get(expected["concept"], ()))
        elif "cards" in expected:
            fitting = {c.id for c in cards for pattern in expected["cards"] if fnmatchcase(c.id, pattern)}
            if not fitting:
                raise ValueError(f"{entry['id']}: expect names cards that do not exist: {expected['cards']}")
            right |= fitting
        elif "card" in expected:
            if cards.get(expected["card"]) is None:
                raise ValueError(f"{entry['id']}: expect names a card that does not exist: {expected['card']}")
            right.add(expected["card"])
    return right


def fits(expected: re.Pattern[str], key: str, example: str) -> bool:
    """Whether a card's key is one of an expected template's, or its template would take one of them."""
    return bool(expected.fullmatch(key) or ("{" in key and template_pattern(key).fullmatch(example)))


def searches(finder: Finder) -> dict[str, Search]:
    """The ways to search that are compared."""
    index = finder.index

    def words(text: str, framework: str | None) -> list[str]:
        return list(index.by_words(dict.fromkeys(terms(text), 1.0), 3))

    def vectors(text: str, framework: str | None) -> list[str]:
        return list(index.by_vectors(fold(text), 3))

    def all_together(text: str, framework: str | None) -> list[str]:
        return [found.card.id for found in finder.find(text, framework, 3)]

    return {"BM25 alone": words, "vectors alone": vectors, "together": all_together}


def score(search: Search, entries: list[dict[str, Any]], cards: Library) -> list[tuple[dict[str, Any], int, list[str]]]:
    """For each question the rank of the first right card (0 if there is none in three), and what was found."""
    results = []
    for entry in entries:
        found = search(entry["q"], entry["framework"])
        if entry["kind"] == "unknown":
            results.append((entry, 0 if found else 1, found))
            continue
        right = right_cards(entry, cards)
        results.append((entry, next((at for at, card in enumerate(found, 1) if card in right), 0), found))
    return results


def with_offers(
    results: list[tuple[dict[str, Any], int, list[str]]], finder: Finder, cards: Library
) -> list[tuple[dict[str, Any], int, list[str]]]:
    """The same where nothing was found: the rank of the first right card among the three that are offered."""
    shown = []
    for entry, rank, found in results:
        if found or entry["kind"] == "unknown":
            shown.append((entry, rank, found))
            continue
        right = right_cards(entry, cards)
        near = [card.id for card in finder.nearest(entry["q"], entry["framework"])]
        shown.append((entry, next((at for at, card in enumerate(near, 1) if card in right), 0), near))
    return shown


def recall(results: list[tuple[dict[str, Any], int, list[str]]], least: int) -> str:
    """Share of the questions whose first right card has at most a rank."""
    if not results:
        return "–"
    return f"{sum(1 <= rank <= least for _, rank, _ in results) / len(results):.3f}"


def main(argv: list[str] | None = None) -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--held", action="store_true", help="the held-out half; scores only")
    which.add_argument("--second", action="store_true", help="the questions of the second hand, no Chinese ones")
    which.add_argument("--third", choices=("a", "b"), help="half of the questions of the third hand")
    which.add_argument("--fourth", action="store_true", help="the questions of the fourth hand; scores only")
    which.add_argument("--fifth", choices=("a", "b"), help="half of the short questions")
    which.add_argument("--sixth", action="store_true", help="siblings of the open questions")
    parser.add_argument("--misses", action="store_true", help="show what was not found (not of the held-out half)")
    options = parser.parse_args(argv)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line does
    kind = next((kind for kind in TITLES if getattr(options, kind, None)), "open")
    part = getattr(options, kind, None) if kind in HALVED else None
    if options.misses and kind in UNREAD:
        parser.error("the held-out half and the fourth hand's questions are only looked at as scores")
    cards = library()
    entries = questions(kind, part)
    with tempfile.TemporaryDirectory() as folder:
        begin, busy = time.perf_counter(), time.process_time()
        finder = Finder(cards, lambda made: open_index(made, Path(folder), tell=lambda zh, en: print(en)))
        finder.find("warm up")
        wall, busy = time.perf_counter() - begin, time.process_time() - busy
        print(f"{len(cards)} cards, one vector each, built in {wall:.1f} s ({busy:.1f} s of processor time)")
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        title = TITLES[kind] if part is None else f"{TITLES[kind]}, half {part}"
        print(f"index on disk {size / 1e6:.0f} MB; {len(entries)} questions, {title}\n")
        results = {name: score(search, entries, cards) for name, search in searches(finder).items()}
        results["shown"] = with_offers(results["together"], finder, cards)
        print_tables(results)
        times = []
        for entry in entries:
            start = time.perf_counter()
            finder.find(entry["q"], entry["framework"])
            times.append(time.perf_counter() - start)
        print(f"\nlook-up, warm: median {statistics.median(times) * 1e3:.1f} ms, slowest {max(times) * 1e3:.1f} ms")
    if options.misses:
        print_misses(results, cards)
    return 0


def print_tables(results: dict[str, list[tuple[dict[str, Any], int, list[str]]]]) -> None:
    """Recall by way of searching and language, then by kind of question.

    Recall is over the questions that have a right card. Those about what does not exist have a row of their own; the
    last rows count all together.
    """
    print(f"{'':<14}{'':>11}" + "".join(f"{language:>14}" for language in (*LANGUAGES, "all")))

    def row(head: str, what: str, name: str, least: int, kinds: Collection[str]) -> None:
        chosen = [result for result in results[name] if result[0]["kind"] in kinds]
        shares = [recall([r for r in chosen if language in (r[0]["lang"], "all")], least) for language in COLUMNS]
        print(f"{head:<14}{what:>11}" + "".join(f"{x:>14}" for x in shares))

    for name in results:
        for least in (1, 3) if name != "shown" else (3,):
            row(name if least == 1 or name == "shown" else "", f"recall@{least}", name, least, KNOWN)
    row("no such thing", "silent", "together", 1, {"unknown"})
    row("with those", "@1", "together", 1, KINDS)
    row("", "@3", "together", 3, KINDS)
    row("", "shown @3", "shown", 3, KINDS)
    print("\ntogether, by kind" + "".join(f"{kind:>12}" for kind in KINDS))
    for title, name, least in (
        ("recall@1", "together", 1), ("recall@3", "together", 3), ("shown @3", "shown", 3)
    ):  # fmt: skip
        shares = [recall([r for r in results[name] if r[0]["kind"] == kind], least) for kind in KINDS]
        print(f"{title:>17}" + "".join(f"{x:>12}" for x in shares))
    silent = [sum(not found for entry, _, found in results["together"] if entry["kind"] == kind) for kind in KINDS]
    print(f"{'nothing found':>17}" + "".join(f"{count:>12}" for count in silent))


def print_misses(results: dict[str, list[tuple[dict[str, Any], int, list[str]]]], cards: Library) -> None:
    """Each question whose first answer is wrong, what is right, and what was found, or offered where nothing was."""
    for (entry, rank, found), (_, place, near) in zip(results["together"], results["shown"], strict=True):
        if rank != 1:
            right = sorted(right_cards(entry, cards))[:3] or ["–"]
            said = ", ".join(found) or "nothing" + (f", offers {', '.join(near)} (rank {place})" if near else "")
            print(f"{entry['id']} {entry['lang']:<5} {entry['kind']:<10} rank {rank}: {entry['q']}")
            print(f"      right {', '.join(right)}\n      found {said}")


if __name__ == "__main__":
    sys.exit(main())
