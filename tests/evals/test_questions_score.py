"""The scorer of the questions, on small answers made here."""

from __future__ import annotations

from typing import Any

import pytest

from evals.questions import __main__ as command
from evals.questions.expected import expected, questions
from evals.questions.score import failed, figures, has_text, judge, related, table

ENTRY: dict[str, Any] = {
    "id": "en-900",
    "run": "example",
    "q": "max grad norm in the last 10 steps?",
    "lang": "en",
    "intent": ["lookup", "explain"],
    "verdict": "answered",
    "slots": {"metrics": ["actor/grad_norm"], "steps": {"kind": "last_n", "values": [10]}, "op": ["max", "argmax"]},
    "facts": [{"metric": "actor/grad_norm", "step": 13, "value": 0.55397}, {"says": 0.55397}, {"text": ["13"]}],
    "forbidden": [r"(?i)\bexploded\b"],
}


def answer(**fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "language": "en",
        "intent": "lookup",
        "slots": {"metrics": ["actor/grad_norm"], "steps": {"kind": "last_n", "values": [10]}, "op": "max"},
        "verdict": {"code": "answered", "summary": "The largest `actor/grad_norm` is 0.554, at step 13."},
        "answer": "The largest `actor/grad_norm` is 0.554, at step 13.",
        "facts": [{"kind": "value", "run": "r0", "metric": "actor/grad_norm", "step": 13, "value": 0.55397}],
        "grounding": {"numbers": 2, "supported": 2, "unsupported": []},
    }
    return made | fields


def entry(**fields: Any) -> dict[str, Any]:
    return ENTRY | fields


def test_judge_answer_as_expected_is_whole() -> None:
    result = judge(expected(ENTRY), answer(), 0.25)
    assert result.whole
    assert (result.intent, result.slots, result.verdict, result.claims, result.seconds) == (True, True, True, (), 0.25)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"intent": "trend"}, "intent trend"),
        ({"verdict": {"code": "no_data", "summary": "0.554 at 13"}}, "verdict no_data"),
        ({"language": "zh"}, "language zh"),
        ({"facts": []}, "lacks"),
        ({"answer": "", "verdict": {"code": "answered", "summary": "It is 0.551, at step 13."}}, "'says'"),
        ({"answer": "", "verdict": {"code": "answered", "summary": "It is 0.554, at step 12."}}, "'text'"),
    ],
)
def test_judge_one_field_off_is_not_whole(changed: dict[str, Any], complaint: str) -> None:
    result = judge(expected(ENTRY), answer(**changed))
    assert not result.whole
    assert any(complaint in line for line in result.wrong)


def test_judge_language_is_any_of_those_that_are_fair() -> None:
    either = expected(entry(lang=["en", "zh"]))
    assert all(judge(either, answer(language=language)).language for language in ("en", "zh"))
    assert not judge(expected(ENTRY), answer(language="zh")).language


def test_judge_forbidden_claim_counts_once_and_spoils_the_answer() -> None:
    result = judge(expected(ENTRY), answer(answer="The gradients EXPLODED: 0.554 at step 13."))
    assert result.claims == ("EXPLODED",)
    assert not result.whole
    assert figures([result], lambda r: r.question.kind)["all"].claims == 1


def test_judge_field_that_is_not_given_is_not_counted() -> None:
    bare = expected({"id": "en-901", "run": None, "q": "hello?", "lang": "en", "intent": "out_of_scope"})
    result = judge(bare, answer(intent="out_of_scope"))
    assert (result.slots, result.verdict, result.whole) == (None, None, True)
    counted = figures([result], lambda r: r.question.kind)["out_of_scope"]
    assert (counted.n, counted.slots_n, counted.verdict_n) == (1, 0, 0)


@pytest.mark.parametrize(
    ("metrics", "good"),
    [
        (["actor/grad_norm"], True),
        (["actor/grad_norm", "actor/entropy"], False),
        (["critic/grad_norm"], False),
        ([], False),
    ],
)
def test_judge_metrics_with_few_expected_allow_no_unrelated(metrics: list[str], good: bool) -> None:
    slots = answer()["slots"] | {"metrics": metrics}
    assert judge(expected(ENTRY), answer(slots=slots)).slots is good


def test_judge_metrics_of_a_category_or_of_many_allow_others() -> None:
    asked = ["timing_s/gen", "timing_s/step"]
    given = {"metrics": [*asked, "timing_s/adv"], "steps": {"kind": "none", "values": []}, "op": None}
    for fields, good in (({}, False), ({"kind": "category"}, True)):
        assert judge(expected(entry(slots={"metrics": asked}, **fields)), answer(slots=given)).slots is good
    many = ["timing_s/gen", "timing_s/step", "timing_s/ref", "timing_s/adv"]
    given = given | {"metrics": [*many, "actor/lr"]}
    assert judge(expected(entry(slots={"metrics": many})), answer(slots=given)).slots


def test_judge_metrics_alternatives_accept_any_of_a_list() -> None:
    asked = expected(entry(slots={"metrics": [["critic/score/mean", "critic/rewards/mean"]]}))
    for key, good in (("critic/rewards/mean", True), ("critic/rewards/max", False)):
        slots = {"metrics": [key], "steps": {"kind": "none", "values": []}, "op": None}
        assert judge(asked, answer(slots=slots)).slots is good


@pytest.mark.parametrize(
    ("wanted", "kind", "values", "good"),
    [
        ({"kind": "single", "values": [3]}, "single", [3], True),
        ({"kind": "single", "values": [3]}, "single", [4], False),
        ({"kind": "single"}, "single", [4], True),
        ({"kind": "pair", "values": [0, 3]}, "pair", [3, 0], True),
        ({"kind": "range", "values": [3, 9]}, "range", [9, 3], False),
        ({"kind": "all"}, "none", [], True),
        ({"kind": "last"}, "last_n", [1], True),
        ({"kind": "last"}, "last_n", [5], False),
        ([{"kind": "last"}, {"kind": "single", "values": [14]}], "single", [14], True),
    ],
)
def test_judge_steps_compares_kind_and_values(wanted: Any, kind: str, values: list[int], good: bool) -> None:
    slots: dict[str, object] = {"metrics": [], "steps": {"kind": kind, "values": values}, "op": None}
    assert judge(expected(entry(slots={"steps": wanted})), answer(slots=slots)).slots is good


def test_judge_op_null_expects_none_and_left_out_does_not_matter() -> None:
    slots = {"metrics": [], "steps": {"kind": "none", "values": []}, "op": "max"}
    assert judge(expected(entry(slots={"op": None})), answer(slots=slots)).slots is False
    assert judge(expected(entry(slots={})), answer(slots=slots)).slots is None


def test_judge_fact_matches_a_change_at_either_end_and_a_derived_name() -> None:
    change = {"kind": "change", "metric": "actor/entropy", "from_step": 1, "to_step": 3, "from": 0.156, "to": 0.151}
    derived = {"kind": "derived", "name": "n_gpus", "value": 8}
    for fact, good in (
        ({"metric": "actor/entropy", "step": 1, "value": 0.156}, True),
        ({"metric": ["actor/loss", "actor/entropy"], "step": 3, "value": 0.151}, True),
        ({"metric": "actor/entropy", "step": 3, "value": 0.156}, False),
        ({"metric": "actor/entropy", "step": 3, "value": 0.1511}, False),
        ({"name": "n_gpus", "value": 8}, True),
        ({"name": "n_gpus", "value": 16}, False),
    ):
        assert judge(expected(entry(slots={}, facts=[fact])), answer(facts=[change, derived])).whole is good


def test_judge_fact_of_one_of_several_runs_needs_that_run() -> None:
    known = {"kind": "value", "run": "r0", "metric": "actor/entropy", "step": 1, "value": 0.156}
    for run, good in (("r0", True), ("r1", False)):
        fact = {"metric": "actor/entropy", "step": 1, "value": 0.156, "run": run}
        assert judge(expected(entry(slots={}, facts=[fact])), answer(facts=[known])).whole is good


@pytest.mark.parametrize(
    ("wanted", "text", "good"),
    [
        ("8", "8 GPUs", True),
        ("8", "18 GPUs, 8.5 GB", False),
        ("8192", "8,192 trajectories", True),
        ("0.31", "it is 0.3127", True),
        ("0.31", "it is 0.35", False),
        ("72.4", "acc 72.4%", True),
        ("30", "`val-core/aime/acc/mean@30` is low", False),
        ("Truncat", "the line was truncated", True),
    ],
)
def test_has_text_words_and_numbers(wanted: str, text: str, good: bool) -> None:
    assert has_text(wanted, text) is good


def test_related_siblings_of_a_telling_parent_only() -> None:
    assert related("response_length/mean", "response_length_non_aborted/max")
    assert related("critic/score/mean", "critic/score/max")
    assert related("val-core/aime_2025/acc/best@30/mean", "val-aux/aime_2025/acc/mean@30")
    assert not related("val-core/aime_2025/acc/mean@30", "val-aux/aime_2025/reward/mean@30")
    assert not related("critic/score/mean", "critic/returns/mean")
    assert not related("actor/entropy", "actor/grad_norm")
    assert not related("loss", "reward")


def test_failed_counts_everything_asked_for_as_wrong() -> None:
    result = failed(expected(ENTRY), RuntimeError("no"))
    assert (result.intent, result.slots, result.verdict, result.whole) == (False, False, False, False)


def test_figures_quantiles_are_nearest_rank_and_table_ends_with_all() -> None:
    results = [judge(expected(ENTRY), answer(), seconds / 100) for seconds in range(1, 101)]
    counted = figures(results, lambda result: result.question.group)
    assert counted["all"].quantile(0.5) == pytest.approx(0.5)
    assert counted["all"].quantile(0.99) == pytest.approx(0.99)
    assert table(counted, "language").splitlines()[-1].startswith("| all | 100 | 100.0% |")


def test_misses_never_tells_a_held_question() -> None:
    wrong = answer(intent="trend")
    results = [judge(expected(ENTRY, held=held), wrong) for held in (True, False)]
    assert command.misses(results[:1]) == ""
    assert "max grad norm" in command.misses(results[1:])


def test_main_asked_for_the_misses_of_a_half_kept_back_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--held", "--misses"])
    assert "never shown" in capsys.readouterr().err


def test_questions_halves_share_no_id_and_enough_are_expected_in_full() -> None:
    halves = {half: questions(half) for half in ("open", "held")}
    ids = [question.id for half in halves.values() for question in half]
    assert len(ids) == len(set(ids))
    for half in halves.values():
        assert sum(bool(question.facts and question.forbidden) for question in half) >= 0.45 * len(half)
    with pytest.raises(ValueError, match="open or held"):
        questions("other")
