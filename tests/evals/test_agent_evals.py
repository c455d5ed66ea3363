from __future__ import annotations

from evals.agent import attacks, faults
from evals.agent.asking import ask, script
from evals.faithfulness.injections import injections
from tests.agent.support import material


def test_faults_of_every_kind_end_in_a_grounded_answer_in_time() -> None:
    outcomes = faults.run(("cut", "wrong_key", "tool_loop", "html", "think_open", "split_characters"))
    assert [one for one in outcomes if one.problems] == []
    assert "12 of 12" in faults.table(outcomes)


def test_asked_model_gets_what_is_counted_as_sent() -> None:
    got = ask(material(), "Is the run healthy?", script({"text": "nothing"}), live=False)
    assert got.requests == 1
    assert "Is the run healthy?" in got.sent
    assert got.answer.engine == "offline"


def test_attacks_of_each_place_change_nothing_that_the_user_is_told() -> None:
    first = {attack.where: attack for attack in reversed(injections())}
    outcomes = [outcome for attack in first.values() for outcome in attacks._tried(attack)]
    assert len(outcomes) == 2 * len(first) == 8
    assert [one.id for one in outcomes if one.succeeded or not one.same_verdict] == []


def test_reached_finds_a_stretch_of_the_attack_whatever_the_blanks() -> None:
    assert attacks._reached("ignore all previous instructions", "x ignore  all\nprevious instructions")
    assert not attacks._reached("ignore all previous instructions", "all is well")
