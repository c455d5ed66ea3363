"""Which step a value of a change belongs to, by the order of its sentence; true, and told otherwise false."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.ground.places import places
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _verl() -> Run:
    rows = [
        {
            "step": step,
            "actor/entropy": round(0.913 - 0.0207 * step, 4),
            "critic/rewards/mean": round(0.212 + 0.0113 * step, 4),
            "response_length/mean": 412.0 + 23 * min(step, 31 - step) + step,
            "timing_s/update_actor": round(14.8 - 0.21 * step, 3),
            "timing_s/gen": round(40.1 + 0.4 * step, 3),
        }
        for step in range(1, 31)
    ]
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


def _trl() -> Run:
    told = {4: 0.31, 8: 0.276}
    rows = [
        {"loss": 0.01, "reward": 0.2 + 0.01 * n, **({"eval_reward": told[n]} if n in told else {}), "step": n}
        for n in range(1, 13)
    ]
    return parse_text("\n".join(map(str, rows)), name="run").runs[0]


VERL, TRL = Auditor([_verl()], RESOLVER), Auditor([_trl()], RESOLVER)


def _statuses(auditor: Auditor, text: str) -> list[str]:
    return [sentence.status for sentence in auditor.audit(text).sentences if sentence.status != "no_claim"]


PAIRS = [
    # the value that another is compared with, in brackets behind it with its own step
    ("By step 20, entropy had dropped to 0.499 (0.706 at step 10).", "By step 20, entropy had dropped to 0.706 (0.499 at step 10)."),
    ("By step 20, entropy had dropped to 0.499 (0.706 at step 10).", "By step 20, entropy had climbed to 0.499 (0.706 at step 10)."),
    # the second step opens its own part of the sentence
    ("On step 10 entropy was still 0.706, on step 20 only 0.499.", "On step 10 entropy was still 0.499, on step 20 only 0.706."),
    ("At step 3 mean reward was 0.246, by step 9 already 0.314.", "At step 3 mean reward was 0.314, by step 9 already 0.246."),
    # what is compared with is named first
    ("Compared to step 10, step 20 has a lower entropy (0.499 vs 0.706).", "Compared to step 10, step 20 has a higher entropy (0.499 vs 0.706)."),
    ("Compared to step 3, step 12 has longer responses (700 vs 484 tokens).", "Compared to step 3, step 12 has shorter responses (700 vs 484 tokens)."),
    ("Relative to step 10, step 20 has a lower entropy.", "Relative to step 10, step 20 has a higher entropy."),
    ("相比第 3 步，第 12 步的回复长度更长（700 对 484 token）。", "相比第 3 步，第 12 步的回复长度更短（700 对 484 token）。"),
    # by so much, to so much
    ("Since step 10, entropy has come down by 0.207, to 0.499 at step 20.", "Since step 10, entropy has gone up by 0.207, to 0.499 at step 20."),
    # what it moved is told first
    ("0.113 is what the mean reward gained between step 5 and step 15.", "0.113 is what the mean reward lost between step 5 and step 15."),
    ("0.113 is what the mean reward gained between step 5 and step 15.", "0.213 is what the mean reward gained between step 5 and step 15."),
    # steps without the word
    ("Entropy fell by 0.207 in the 10 steps from 10 to 20.", "Entropy fell by 0.207 in the 12 steps from 10 to 20."),
    ("Entropy fell by 0.207 in the 10 steps from 10 to 20.", "Entropy fell by 0.307 in the 10 steps from 10 to 20."),
    ("Δ entropy from 10 to 20 = -0.207", "Δ entropy from 10 to 20 = +0.207"),
    # a step that is not the number's own
    ("At step 20, entropy (0.499) is below its step-10 value of 0.706.", "At step 20, entropy (0.706) is above its step-10 value of 0.499."),
    # the course of some steps is no course of the run
    ("Entropy drops from 0.809 to 0.499 over the course of steps 5 to 20.", "Entropy drops from 0.809 to 0.519 over the course of steps 5 to 20."),
    # one for a metric named before
    ("The run went from an entropy of 0.706 at step 10 to one of 0.499 at step 20.", "The run went from an entropy of 0.499 at step 10 to one of 0.706 at step 20."),
    # the initial value at the end of the sentence
    ("By the last step, entropy had fallen to 0.292 from an initial 0.892.", "By the last step, entropy had fallen to 0.892 from an initial 0.292."),
    # what takes less time speeds up
    ("The actor update sped up from 13.8 s to 11.7 s between step 5 and step 15.", "The actor update slowed down from 13.8 s to 11.7 s between step 5 and step 15."),
    ("The actor update sped up between step 5 and step 15.", "Generation sped up between step 5 and step 15."),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), PAIRS)
def test_change_told_in_its_order_is_supported_and_turned_is_not(true: str, false: str) -> None:
    assert _statuses(VERL, true) == ["supported"]
    assert _statuses(VERL, false)[0] in {"contradicted", "unsupported"}


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Eval score fell from 0.310 at step 4 to 0.276 at step 8.", "Eval score fell from 0.276 at step 4 to 0.310 at step 8."),
        ("Step 8 is behind step 4 on eval score: 0.276 against 0.310.", "Step 8 is ahead of step 4 on eval score: 0.276 against 0.310."),
    ],
)  # fmt: skip
def test_score_of_an_evaluation_is_what_the_run_calls_its_reward(true: str, false: str) -> None:
    assert _statuses(TRL, true) == ["supported"]
    assert _statuses(TRL, false) == ["contradicted"]


def test_accuracy_of_an_evaluation_is_not_its_reward() -> None:
    assert _statuses(TRL, "Eval accuracy fell from 0.310 at step 4 to 0.276 at step 8.") == ["contradicted"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Compared with step 3, step 9 is longer.", [(3,), (9,)]),
        ("相比第 3 步，第 9 步更长。", [(3,), (9,)]),
        ("At step 3, step 9 and step 12 it is 1.", [(3, 9, 12)]),
        ("In steps 3, 9 it is 1.", [(3, 9)]),
    ],
)
def test_steps_set_against_each_other_are_two_places(text: str, named: list[tuple[int, ...]]) -> None:
    assert [place.steps for place in places(text, range(1, 31))] == named
