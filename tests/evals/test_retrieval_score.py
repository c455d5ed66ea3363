"""What the recall of the search counts: answers, and what is offered where there is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from assistant.knowledge import Finder, library
from evals.retrieval import __main__ as command
from evals.retrieval.__main__ import half, questions, recall, right_cards, score, with_offers

READ = ("open", "second", "third", "fifth", "sixth")


def entry(kind: str, *cards: str) -> dict[str, Any]:
    return {"id": "x", "kind": kind, "q": "q", "framework": None, "lang": "en", "expect": [{"cards": list(cards)}]}


def finder(*offered: str) -> Finder:
    near = [SimpleNamespace(id=card) for card in offered]
    return cast(Finder, SimpleNamespace(nearest=lambda question, framework: near))


def test_recall_counts_an_offer_for_the_first_three_only_where_nothing_is_found() -> None:
    entries = [entry("alias", "verl/actor/entropy")] * 2
    replies = iter([["trl/kl"], []])
    results = score(lambda text, framework: next(replies), entries, library())
    shown = with_offers(results, finder("trl/kl", "verl/actor/entropy"), library())
    assert [recall(results, least) for least in (1, 3)] == ["0.000", "0.000"]
    assert [rank for _, rank, _ in shown] == [0, 2]


@pytest.mark.parametrize(("found", "rank"), [([], 1), (["trl/kl"], 0)])
def test_recall_of_what_does_not_exist_wants_no_answer_whatever_is_offered(found: list[str], rank: int) -> None:
    results = score(lambda text, framework: found, [entry("unknown")], library())
    assert [place for _, place, _ in with_offers(results, finder("verl/actor/entropy"), library())] == [rank]


@pytest.mark.parametrize("kind", READ)
def test_questions_have_cards_that_are_right_unless_they_are_about_nothing(kind: str) -> None:
    entries = questions(kind)
    assert len({one["id"] for one in entries}) == len(entries)
    for one in entries:
        assert bool(right_cards(one, library())) == (one["kind"] != "unknown"), one["id"]


def test_questions_halves_are_the_whole() -> None:
    halves = [one["id"] for part in "ab" for one in questions("fifth", part)]
    assert sorted(halves) == sorted(one["id"] for one in questions("fifth"))
    assert {half(one["id"]) for one in questions("fifth", "b")} == {"b"}


def test_right_cards_pattern_of_no_card_is_an_error() -> None:
    with pytest.raises(ValueError, match="do not exist"):
        right_cards(entry("alias", "nobody/*"), library())


@pytest.mark.parametrize("arguments", [["--held", "--misses"], ["--fourth", "--misses"], ["--held", "--fifth", "a"]])
def test_command_refuses_to_show_what_is_only_scored_and_two_sets(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(arguments)
