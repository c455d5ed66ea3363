"""A short kill test on both databases: the server dies under load, and nothing it acknowledged is lost."""

from __future__ import annotations

import pytest

from evals.kill.__main__ import HEAD, Outcome, run
from evals.kill.load import Book
from evals.kill.postgres import programs
from evals.kill.reckoning import Reckoning
from evals.kill.replicas import Phase


def outcome_of(times: int, database: str, seed: int) -> Outcome:
    if database == "postgres" and programs() is None:
        pytest.skip("needs PostgreSQL, which is not installed here")
    return run(times, database, seed=seed)


@pytest.mark.parametrize(("database", "times"), [("sqlite", 3), ("postgres", 2)])
def test_kill_loses_and_doubles_nothing(database: str, times: int) -> None:
    outcome = outcome_of(times, database, seed=7)
    assert outcome.reckoning.complaints() == []
    assert (outcome.kills >= times, outcome.orphans) == (True, 0)
    assert outcome.reckoning.acknowledged > 0
    assert outcome.row().count("|") == HEAD.split("\n", maxsplit=1)[0].count("|")


def reckoning(**found: tuple[str, ...]) -> Reckoning:
    nothing: dict[str, tuple[str, ...]] = dict.fromkeys(
        ("lost", "doubled", "changed", "unanswered", "disordered", "unsound", "surprises"), ()
    )
    return Reckoning(questions=1, acknowledged=1, runs=0, index=True, **{**nothing, **found})  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ["lost", "doubled", "changed", "unanswered", "disordered", "unsound", "surprises"])
def test_reckoning_anything_found_is_bad(what: str) -> None:
    assert not reckoning().bad
    found = reckoning(**{what: ("x",)})
    assert found.bad
    assert found.complaints() == [f"{what}: 1, such as x"]


def test_book_counts_each_status() -> None:
    book = Book()
    for status in (200, 200, 0):
        book.seen(status)
    assert book.statuses == {200: 2, 0: 1}


def test_phase_with_an_unclear_reply_is_bad() -> None:
    phase = Phase("PostgreSQL", recovered=1.0)
    phase.sessions[503] += 1
    phase.explains[200] += 1
    assert not phase.bad
    phase.searches[500] += 1
    assert phase.bad
