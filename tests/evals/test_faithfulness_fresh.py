"""The fresh half: enough sentences of every kind, each falsehood beside a true sentence, the other halves untouched."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from evals.faithfulness.__main__ import main
from evals.faithfulness.cases import Case, cases
from evals.faithfulness.tables import truth
from evals.faithfulness.templates import KINDS, templates


@pytest.fixture(scope="module")
def drawn() -> tuple[Case, ...]:
    return cases("fresh")


def test_templates_fresh_both_languages_have_enough() -> None:
    for language in ("zh", "en"):
        own = [one for one in templates("fresh") if one.language == language]
        assert sum(one.kind != "no_claim" for one in own) >= 60
        assert sum(one.kind == "no_claim" for one in own) >= 30
        assert {one.kind for one in own} == KINDS
    assert {one.half for one in templates("fresh")} == {"fresh"}


def test_templates_fresh_ids_are_of_no_other_half() -> None:
    assert not {one.id for one in templates()} & {one.id for one in templates("fresh")}
    assert all(one.half in {"open", "held"} for one in templates())


def test_cases_fresh_are_all_well_formed(drawn: tuple[Case, ...]) -> None:
    texts = {case.id: case.text for case in drawn}
    assert len(texts) == len(drawn)
    assert {case.half for case in drawn} == {"fresh"}
    assert not [case.id for case in drawn if re.search(r"[{}]|<<|:=|nan(?!\w)|None", case.text)]
    for case in drawn:
        if case.truth == "false":
            assert case.text != texts[case.id.partition("~")[0]]


def test_cases_fresh_every_true_sentence_has_a_false_version(drawn: tuple[Case, ...]) -> None:
    with_false = {case.id.partition("~")[0] for case in drawn if case.truth == "false"}
    assert {case.id for case in drawn if case.truth == "true"} == with_false
    counts = Counter((case.language, case.truth) for case in drawn)
    assert min(counts[language, "true"] for language in ("zh", "en")) >= 240
    assert min(counts[language, "false"] for language in ("zh", "en")) >= 500


def test_truth_still_and_restless_tell_a_level_a_trend_and_noise() -> None:
    collapsed, calm = truth("verl_entropy"), truth("verl_healthy")
    assert collapsed.still("actor/entropy") == -1
    assert collapsed.restless("actor/entropy") == -1
    assert calm.still("num_turns/mean") == 1
    assert calm.still("actor/grad_norm") is None
    assert truth("roll_critic").restless("actor/grad_norm") == 1
    assert truth("example").still("actor/entropy") is None


def test_main_held_half_is_never_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--half", "held", "--misses"])
    assert stopped.value.code == 2
    assert "never shown" in capsys.readouterr().err
