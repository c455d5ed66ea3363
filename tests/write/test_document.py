"""Text in which every number knows its fact."""

from __future__ import annotations

import pytest

from assistant.model import Fact
from assistant.write import Document
from assistant.write.document import mark, marked_ids, render, unmark
from assistant.write.phrases import Phrases

VALUE = Fact("E4", "value", metric="actor/entropy", step=2, value=0.15572, line=80)
CHANGE = Fact("E5", "change", metric="score", from_step=1, to_step=2, from_value=0.2, to_value=0.15, delta=-0.05,
              ratio=0.75, noise=0.01)  # fmt: skip
TREND = Fact("E6", "trend", metric="x", first_step=1, last_step=9, slope_per_step=-0.5, p_value=1e-5, n=9)


def document(phrase: str, language: str = "en") -> Document:
    table = Phrases({"p": {"zh": phrase, "en": phrase}})
    return Document(language, lambda metric: "fraction" if metric == "score" else "number", table)


@pytest.mark.parametrize(
    ("phrase", "fact", "text"),
    [
        ("{f}", VALUE, "0.156"),
        ("{f} at step {f.step}, line {f.line}", VALUE, "0.156 at step 2, line 80"),
        ("{f.from} to {f.to}: {f.delta} ({f.rel}) ± {f.noise}", CHANGE, "20.0% to 15.0%: -5.00 pp (-25%) ± 1.00 pp"),
        ("{f.ratio}", CHANGE, "0.75×"),
        ("{f.slope} over {f.n}, p {f.p}", TREND, "-0.5 over 9, p < 0.001"),
        ("{f:digits4}", VALUE, "0.1557"),
        ("steps {f.first_step} to {f.last_step}", TREND, "steps 1 to 9"),
    ],
)
def test_say_fact_shows_the_part_asked_for(phrase: str, fact: Fact, text: str) -> None:
    assert unmark(document(phrase).say("p", f=fact)) == text


def test_say_number_is_tied_to_its_fact() -> None:
    rendered = render(document("about {f} here").say("p", f=VALUE), {"E4": "E1"})
    (mention,) = rendered.mentions
    assert rendered.text[mention.start : mention.end] == "0.156"
    assert mention.fact == "E1"


def test_say_step_is_tied_to_the_step() -> None:
    assert marked_ids(document("step {a}").say("p", a=7)) == ["step:7"]


@pytest.mark.parametrize(("n", "text"), [(1, "1 step"), (2, "2 steps"), (0, "0 steps")])
def test_say_plural_follows_the_number(n: int, text: str) -> None:
    fact = Fact("E1", "derived", name="n", value=n)
    assert unmark(document("{n:integer} {n|step|steps}").say("p", n=fact)) == text


def test_say_field_missing_raises_naming_phrase_and_field() -> None:
    with pytest.raises(KeyError, match="phrase p needs other"):
        document("{other}").say("p", f=VALUE)


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [(0.2, 0.1, "-50%"), (0.2, 0.2, "±0%"), (0.1, 5.0, "50×"), (0.0, 0.1, "—"), (-0.1, 0.1, "—"), (0.1, -0.1, "—")],
)
def test_say_relative_change_only_where_it_means_something(first: float, second: float, text: str) -> None:
    fact = Fact("E1", "change", metric="x", from_value=first, to_value=second, delta=second - first,
                ratio=second / first if first else None)  # fmt: skip
    assert unmark(document("{f.rel}").say("p", f=fact)) == text


def test_table_cell_with_a_bar_or_a_line_break_stays_one_cell() -> None:
    doc = document("")
    doc.table(["a", "b"], [["x|y", "1\n2"]])
    assert doc.markup() == "| a | b |\n| --- | --- |\n| x\\|y | 1 2 |"


def test_blocks_empty_ones_are_left_out() -> None:
    doc = document("")
    doc.paragraph("", "")
    doc.bullets(["", ""])
    doc.table(["a"], [])
    doc.bullets(["one", "", "two"])
    assert doc.markup() == "- one\n- two"


def test_markup_in_chinese_has_no_blank_between_unit_and_character() -> None:
    doc = document("", "zh")
    doc.paragraph("用时 " + mark("E1", "2.13 秒") + " 左右")
    assert unmark(doc.markup()) == "用时 2.13 秒左右"


def test_cite_same_card_twice_is_one_reference() -> None:
    doc = document("")
    references = [doc.cite("a", "A", "s"), doc.cite("b", "B", "s"), doc.cite("a", "A", "s")]
    assert references == ["[K1]", "[K2]", "[K1]"]
    assert marked_ids(doc.quote("b", "B", "s", "as it says")) == ["K2"]
