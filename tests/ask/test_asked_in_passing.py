"""Questions whose words say more than their metric: of which one, of how many, since when, on or off."""

from __future__ import annotations

import math
from functools import lru_cache

import pytest

from assistant.ask.query import State
from assistant.model import Answer, Run
from tests.analysis.support import run_of
from tests.ask.support import answerer

VAL, GRAD, CLIP = "val-core/math500/acc/mean@4", "actor/grad_norm", "response_length/clip_ratio"


@lru_cache(maxsize=1)
def made() -> Run:
    table = {}
    for step in range(1, 41):
        row = {
            "actor/entropy": round(0.9 + 0.001 * step + (1.5 if step >= 30 else 0.0), 4),
            "critic/score/mean": 0.7,
            GRAD: math.nan if step in {26, 27} else 0.2 + 0.001 * step + (0.5 if step == 17 else 0.0),
            "actor/pg_loss": math.nan if step >= 33 else 0.01,
            "actor/kl_loss": 0.002 * step,
            "actor/lr": 0.0,
            CLIP: 0.2 if step > 30 else 0.02,
            "response_length/max": 1024.0 if step > 30 else 700.0 + step,
            "response_length/mean": 300.0 + step,
            "timing_s/gen": 50.0 + step,
            "timing_s/step": 80.0 + step,
            "timing_s/agent_loop/generate_sequences/max": 48.0 + step,
            "timing_s/agent_loop/generate_sequences/mean": 20.0 + step,
            "timing_s/agent_loop/slowest/response_length": 900.0 + step,
        }
        if step % 10 == 0:
            row[VAL] = {10: 0.5, 20: 0.65, 30: 0.62, 40: 0.3}[step]
        table[step] = row
    return run_of(table)


def ask(question: str) -> Answer:
    return answerer().ask(question, [made()])[0]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("response_length/mean three steps before the run ends?", "`response_length/mean` is 337 tokens at step 37"),
        ("On how many steps were over one in ten answers cut off?", f"`{CLIP}` is above 0.1 at 10 of 40 steps"),
        ("how far below its best is the validation accuracy when the log stops?", "35.0 pp below its highest, 65.0%"),
        ("which iteration gave the first NaN gradient norm", f"`{GRAD}` is first no finite number at step 26"),
        ("what was the last eval above 0.6", f"`{VAL}` is last above 60.0% at step 30"),
        ("what was the last validation that still scored above 0.6", f"`{VAL}` is last above 60.0% at step 30"),
        ("was the last eval above 0.6?", f"No: `{VAL}` is 30.0% at step 40"),
        ("was the entropy above 2 at the end?", "Yes: `actor/entropy` is 2.44 at step 40"),
        ("is entropy above 2 at step 20?", "No: `actor/entropy` is 0.92 at step 20"),
        (
            "actor/kl_loss at 30 is how many times the actor/kl_loss at 10",
            "0.06 at step 30, 3 times the 0.02 at step 10",
        ),
        ("is kl loss disabled?", "No: the log holds `actor/kl_loss`"),
        ("what was max_response_length set to?", "The response length limit is 1,024 tokens"),
        ("so max_response_length?", "The response length limit is 1,024 tokens"),
        (
            "how long does the slowest trajectory take at the end",
            "The slowest trajectory of step 40: 88 s of generation",
        ),
        ("how many tokens did the response length gain from step 10 to step 40?", ": +30 tokens"),
    ],
)
def test_first_sentence_answers_just_what_is_asked(question: str, first: str) -> None:
    assert first in ask(question).answer.split("\n")[0]


def test_lr_that_prints_as_zero_is_said_to_be_perhaps_rounded() -> None:
    text = ask("actor/lr prints 0.000 everywhere. Is my optimizer switched off?").answer
    assert text.startswith("**No: the log holds `actor/lr`")
    assert "too small for the decimals printed" in text


def test_compare_of_three_steps_tells_each() -> None:
    text = ask("compare actor/kl_loss at 10, 20 and 30").answer
    assert all(f"| {step} | {value} |" in text for step, value in ((10, "0.02"), (20, "0.04"), (30, "0.06")))


def test_that_same_step_is_the_one_told() -> None:
    text = ask("max grad norm, and how long did that same step take?").answer
    assert "at step 17" in text
    assert "`timing_s/step` is 97 s at step 17" in text


def _talk(*turns: str) -> Answer:
    state: State | None = None
    for turn in turns:
        answer, state = answerer().ask(turn, [made()], state=state)
    return answer


@pytest.mark.parametrize(
    ("turns", "first"),
    [
        (
            ("what does response_length/clip_ratio mean", "its highest value here, and when"),
            "is 20.0%, shared by 10 steps",
        ),
        (("highest validation accuracy?", "and the entropy on that row"), "`actor/entropy` is 0.92 at step 20"),
        (("validation accuracy at step 20", "entropy there too"), "`actor/entropy` is 0.92 at step 20"),
    ],
)
def test_follow_up_of_the_metric_or_the_step_before(turns: tuple[str, ...], first: str) -> None:
    answer = _talk(*turns)
    assert first in answer.answer.split("\n")[0]
    assert answer.intent == "lookup"
