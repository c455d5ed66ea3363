"""The cases: enough of them, the same every time, each true sentence true and each falsehood false."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest

from evals.diagnosis.cases import make
from evals.faithfulness.cases import Case, cases
from evals.faithfulness.falsehoods import falsehoods, same_range
from evals.faithfulness.fields import Scene, parts, write
from evals.faithfulness.names import absent, roles
from evals.faithfulness.tables import Truth, truth
from evals.faithfulness.templates import FALSEHOODS, KINDS, problems, templates
from evals.questions import logs


@pytest.fixture(scope="module")
def drawn() -> tuple[Case, ...]:
    return cases()


def scene(run: str, **values: object) -> Scene:
    return Scene({"": truth(run)}, values)


# -- the table ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", ["verl_healthy", "trl_kl", "roll_const"])
def test_truth_simulated_run_equals_what_the_simulator_wrote(run: str) -> None:
    entry = logs.runs()[run]
    written = make(entry["label"], entry["seed"], entry["framework"], entry.get("strength")).table
    table, compared = truth(run), 0
    for step, values in written:
        for key, value in values.items():
            if key in table.frame and key != "step":
                assert table.v(key, step) == pytest.approx(float(value), rel=1e-9)
                compared += 1
    assert compared > 300


def test_truth_example_gives_the_hardware_and_the_batch() -> None:
    table = truth("example")
    assert (table.gpus(), table.batch(), table.group(), table.prompts()) == (8, 8192, 16, 512)


def test_truth_example_figures_are_those_of_the_log() -> None:
    table = truth("example")
    assert table.v("critic/rewards/mean", 2) == 0.15035401284694672
    assert table.argmax("critic/rewards/mean") == 2
    assert table.absent("critic/rewards/mean", 0) == 1
    assert table.v("critic/rewards/mean", 0) is None
    assert table.trend("critic/rewards/mean") is None
    assert table.steps() == 4


def test_truth_nan_is_told_from_absence() -> None:
    table = truth("verl_nan")
    first = table.first_nan("actor/grad_norm")
    assert first is not None
    assert table.is_nan("actor/grad_norm", first) == 1
    assert table.absent("actor/grad_norm", first) == 0
    assert table.nans("actor/grad_norm") == 37


def test_truth_trend_collapse_and_level_are_told() -> None:
    assert truth("verl_entropy").trend("actor/entropy") == -1
    assert truth("trl_kl").trend("kl") == 1
    assert truth("verl_healthy").trend("prompt_length/mean") == 0


# -- templates ---------------------------------------------------------------------------------------------------------


def test_templates_each_language_has_enough() -> None:
    for language in ("zh", "en"):
        own = [one for one in templates() if one.language == language]
        drawn = [one for one in own if one.draws > 1 or one.metrics]
        by_hand = [one for one in own if one.runs in {("example",), ("trl_kl",), ("roll_const",)} and not one.metrics]
        assert len(drawn) >= 70
        assert len(by_hand) >= 60
        assert {one.kind for one in own} == KINDS


def test_templates_halves_are_of_a_size_and_stable() -> None:
    held = sum(one.held for one in templates())
    assert 0.35 < held / len(templates()) < 0.65
    assert {one.id: one.held for one in templates()}["en-value-01"] is True


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"id": "x", "kind": "value"}, "no field text"),
        ({"id": "x", "kind": "guess", "text": "{steps()|int}"}, "kind 'guess'"),
        ({"id": "x", "kind": "value", "text": "nothing"}, "no_claim"),
        ({"id": "x", "kind": "no_claim", "text": "{steps()|int}"}, "no_claim"),
        ({"id": "x", "kind": "value", "text": "{steps()|int}", "m": "mood"}, "no role"),
        ({"id": "x", "kind": "value", "text": "{steps()|int}", "runs": "moon"}, "'moon'"),
        ({"id": "x", "kind": "value", "text": "{steps()|int}", "lies": {"fib": "{1:=2}"}}, "fib"),
        ({"id": "x", "kind": "value", "text": "{fib#steps()|int}"}, "fib"),
        ({"id": "x", "kind": "value", "text": "{steps()}"}, "format"),
        ({"id": "x", "kind": "value", "text": "{steps()|int}", "colour": 1}, "unknown field colour"),
    ],
)
def test_problems_wrong_template_is_named(entry: dict[str, object], complaint: str) -> None:
    assert any(complaint in problem for problem in problems(entry))


# -- fields ------------------------------------------------------------------------------------------------------------


def test_write_true_figure_is_true_and_wrong_figure_false() -> None:
    rng = random.Random(0)
    right = write("{v(entropy,1):=0.156} and {diff(entropy,1,3)?up/down}", scene("example"), "en", rng)
    wrong = write("{v(entropy,1):=0.165}", scene("example"), "en", rng)
    assert right is not None
    assert right.true()
    assert not right.false()
    assert right.text == "0.156 and down"
    assert wrong is not None
    assert wrong.false()
    assert not wrong.true()


def test_write_vague_number_is_not_called_false() -> None:
    rng = random.Random(0)
    vague = write("about {v(entropy,1):=0.17}", scene("example"), "en", rng)
    plain = write("it is {v(entropy,1):=0.17}", scene("example"), "en", rng)
    assert vague is not None
    assert not vague.true()
    assert not vague.false()
    assert plain is not None
    assert plain.false()


def test_write_value_for_a_missing_cell_is_false() -> None:
    written = write("{v(reward,0)<<v(reward,1)|sig3}", scene("example"), "en", random.Random(0))
    assert written is not None
    assert written.false()


def test_false_word_that_may_mean_another_key_is_left_open() -> None:
    role = roles()["reward"]
    values = {"m": role.key(truth("verl_ppo")), "s": 76}
    about = Scene({"": truth("verl_ppo")}, values, {"m": role})
    score = truth("verl_ppo").v("critic/score/mean", 76)
    written = write("{m:name} at step {s} is {v(m,s)<<" + repr(score) + "|sig4}", about, "en", random.Random(0))
    assert written is not None
    assert not written.true()
    assert not written.false()


def test_falsehoods_single_value_has_the_named_kinds() -> None:
    role = roles()["grad_norm"]
    about = Scene({"": truth("example")}, {"m": role.key(truth("example")), "s": 1}, {"m": role})
    written = write("{m:name} at step {s} is {v(m,s)|sig3}", about, "en", random.Random(1))
    assert written is not None
    found = {kind: text.text for kind, text in falsehoods(written, random.Random(1))}
    assert {"value", "decimal", "step", "metric", "hallucinated", "precision"} <= set(found)
    assert len(set(found.values())) == len(found)
    assert re.search(r"step [23] is 0\.152", found["step"])


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("{m:key} stays between {mn(m)|sig3} and {mx(m)|sig3}.", True),
        ("{m:key} 全程在 {mn(m)|sig3} 到 {mx(m)|sig3} 之间。", True),
        ("{m:key}: lowest {mn(m)|sig3}, highest {mx(m)|sig3}.", False),
        ("{m:key} 从 {mn(m)|sig3} 到 {mx(m)|sig3}。", False),
    ],
)
def test_same_range_exchanged_bounds_are_no_falsehood(text: str, same: bool) -> None:
    role = roles()["grad_norm"]
    about = Scene({"": truth("example")}, {"m": role.key(truth("example"))}, {"m": role})
    written = write(text, about, "en", random.Random(0))
    assert written is not None
    found = dict(falsehoods(written, random.Random(0)))
    assert same_range(written, found["swapped"]) is same
    assert not same_range(written, found["value"])


def test_parts_text_is_told_into_pieces() -> None:
    found = parts("a {m:code} {count#n(m)|int} {v(m,s):=0.1} {v(m,s)<<v(m,t)|sig2} {trend(m)?up/down}")
    assert [part.what for part in found if part.what != "prose"] == ["variable", *["number"] * 3, "word"]
    assert [part.tag for part in found if part.claim] == ["count", "", "", "direction"]
    assert found[7].claim == "v(m,s)"
    assert found[7].shown == "v(m,t)"


def test_absent_metrics_no_run_of_the_pool_holds_a_key_that_is_made_up() -> None:
    for one in absent():
        assert not any(one.key in truth(run).run.metrics for run in ("example", "verl_healthy", "trl_kl", "roll_const"))
    value_loss = next(one for one in absent() if one.words["en"] == "value loss")
    assert value_loss.is_absent(truth("example"))
    assert not value_loss.is_absent(truth("verl_ppo"))


# -- cases -------------------------------------------------------------------------------------------------------------


def test_cases_there_are_enough_of_every_kind(drawn: tuple[Case, ...]) -> None:
    true = [case for case in drawn if case.truth == "true"]
    assert len(true) >= 500
    for language in ("zh", "en"):
        assert sum(case.language == language for case in true) >= 240
    assert {case.falsehood for case in drawn if case.truth == "false"} == FALSEHOODS
    assert min(Counter(case.falsehood for case in drawn if case.falsehood).values()) >= 20


def test_cases_nearly_every_true_sentence_has_a_false_version(drawn: tuple[Case, ...]) -> None:
    with_false = {case.id.partition("~")[0] for case in drawn if case.truth == "false"}
    true = [case for case in drawn if case.truth == "true"]
    assert sum(case.id in with_false for case in true) == len(true)


def test_cases_false_version_differs_from_its_true_sentence(drawn: tuple[Case, ...]) -> None:
    texts = {case.id: case.text for case in drawn}
    assert len(texts) == len(drawn)
    for case in drawn:
        if case.truth == "false":
            assert case.text != texts[case.id.partition("~")[0]]


def test_cases_halves_share_no_template(drawn: tuple[Case, ...]) -> None:
    held = {case.id.rpartition("-")[0] for case in drawn if case.half == "held" and case.truth != "false"}
    opened = {case.id.rpartition("-")[0] for case in drawn if case.half == "open" and case.truth != "false"}
    assert held
    assert opened
    assert not held & opened


def test_cases_no_field_is_left_in_a_text(drawn: tuple[Case, ...]) -> None:
    assert not [case.id for case in drawn if re.search(r"[{}]|<<|:=|nan(?!\w)|None", case.text)]


def test_cases_same_draw_gives_the_same_text() -> None:
    template = next(one for one in templates() if one.id == "en-change-02")
    first = [written.text for written, _, _ in template.scenes()]
    assert first == [written.text for written, _, _ in template.scenes()]
    assert len(set(first)) == len(first) == template.draws


def test_truth_repeated_step_with_two_values_is_left_out() -> None:
    table = truth("verl_restart")
    twice = {step for step in table.run.steps if table.run.steps.count(step) > 1}
    changed = [
        step
        for step in twice
        if len({cell.value for cell in table.run.cells("actor/entropy") if cell.step == step}) > 1
    ]
    assert changed
    assert all(table.v("actor/entropy", step) is None for step in changed)
    assert isinstance(table, Truth)
