"""Sides of a comparison as typed."""

import pytest

from assistant.model import InputError
from assistant.service.selection import Wish, best_validation, choose, read_wish
from tests.analysis.support import run_of, series_run


@pytest.fixture
def log(tmp_path, monkeypatch):
    (tmp_path / "a.log").write_text("x", encoding="utf-8")
    (tmp_path / "odd@3").write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a.log", ("a.log", None, None)),
        ("a.log@3", ("a.log", None, "3")),
        ("a.log@1:10", ("a.log", None, "1:10")),
        ("a.log#2@last10", ("a.log", "2", "last10")),
        ("a.log#pilot", ("a.log", "pilot", None)),
        ("-@best", ("-", None, "best")),
        ("odd@3", ("odd@3", None, None)),
        ("odd@3@4", ("odd@3", None, "4")),
        ("someone@example.log", ("someone@example.log", None, None)),
    ],
)
@pytest.mark.usefixtures("log")
def test_read_wish_takes_a_side_apart(text, parts):
    wish = read_wish(text)
    assert (wish.source, wish.run, wish.steps) == parts


@pytest.mark.usefixtures("log")
def test_read_wish_with_steps_alone_is_of_the_source_before():
    assert read_wish("@last5", "a.log") == Wish("a.log", None, "last5", "@last5")
    assert read_wish("#2", "a.log").run == "2"


@pytest.mark.parametrize("text", ["a.log@", "a.log@x", "a.log@1:", "@nothing"])
@pytest.mark.usefixtures("log")
def test_read_wish_that_names_no_step_is_an_error(text):
    with pytest.raises(InputError, match="@1:10"):
        read_wish(text, "a.log")


def chosen(steps, run=None, runs=None):
    runs = runs or [run or series_run("loss", [float(i) for i in range(20)])]
    return choose(Wish("a.log", None, steps, ""), runs, lambda run: None)


@pytest.mark.parametrize(
    ("steps", "ends"),
    [("7", (7, 7)), ("3:6", (3, 6)), ("15-99", (15, 20)), ("first", (1, 1)), ("first10", (1, 10)), ("last4", (17, 20))],
)
def test_choose_finds_the_steps(steps, ends):
    side = chosen(steps).side
    assert (side.first, side.last) == ends


@pytest.mark.parametrize(
    ("steps", "said"), [("99", "no step 99. Its steps: 1–20"), ("30:40", "no step 30:40"), ("first0", "no step first0")]
)
def test_choose_a_step_that_is_not_there_says_which_are(steps, said):
    with pytest.raises(InputError, match=said):
        chosen(steps)


def test_choose_among_scattered_steps_lists_them():
    with pytest.raises(InputError, match="0, 10, 25"):
        chosen("3", run_of({0: {"loss": 1.0}, 10: {"loss": 2.0}, 25: {"loss": 3.0}}))


def test_choose_one_of_several_runs_by_number_or_name():
    runs = [series_run("loss", [1.0, 2.0]).renamed(name=name) for name in ("pilot", "final")]
    for named in ("2", "final", "fin"):
        assert choose(Wish("a.log", named, None, ""), runs, lambda run: None).run is runs[1]
    with pytest.raises(InputError, match=r"holds 2 runs.*#1 pilot; #2 final"):
        chosen("1", runs=runs)
    with pytest.raises(InputError, match="no run “3”"):
        choose(Wish("a.log", "3", None, ""), runs, lambda run: None)


def test_choose_without_any_run_says_that_it_is_no_log():
    with pytest.raises(InputError, match="holds no metric"):
        choose(Wish("a.log", None, None, ""), [], lambda run: None)


def test_choose_best_takes_the_best_validation_and_keeps_their_number():
    key = "val-core/math/acc/mean@4"
    run = run_of({0: {key: 0.2}, 10: {key: 0.5}, 20: {key: 0.4}, 30: {"loss": 1.0}})
    best = best_validation(lambda run, metric: "higher_better", ())
    side = choose(Wish("a.log", None, "best", ""), [run], best).side
    assert (side.first, side.best_of) == (10, 3)
    with pytest.raises(InputError, match="no validation"):
        choose(Wish("a.log", None, "best", ""), [series_run("loss", [1.0, 2.0])], best)


def test_best_validation_prefers_a_metric_that_was_validated_more_than_once() -> None:
    once, often = "val-core/a/acc/mean@1", "val-core/b/reward/mean@1"
    table = {i * 10: {often: 0.1 * (i if i < 4 else 8 - i)} for i in range(7)}
    table[0][once] = 0.9
    found = best_validation(lambda run, metric: "higher_better", [])(run_of(table))
    assert found == (40, 7)
