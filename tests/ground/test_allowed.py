"""Readings that a sentence's words leave open: another metric, place or operation is tried, what a word excludes is not."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text


def _run() -> Run:
    """Forty steps: times double at step 21, the critic's gradient is ten times the actor's, entropy falls, KL spikes."""
    rows = []
    for step in range(1, 41):
        rows.append(
            {
                "step": step,
                "critic/score/mean": round(0.1 + 0.02 * step, 4),
                "actor/entropy": round(0.9 - 0.015 * step, 4),
                "actor/grad_norm": round(0.5 + 0.01 * (step % 3), 3),
                "critic/grad_norm": round(5.0 + 0.1 * (step % 3), 3),
                "actor/kl_loss": 2.64 if step == 11 else round(0.1 + 0.001 * step, 4),
                "response_length/mean": 800.0 if step <= 20 else 400.0,
                "perf/total_num_tokens": 100_000 + 1000 * step,
                "timing_s/step": 120.0 if step <= 20 else 250.0,
                "timing_s/gen": 60.0 if step <= 20 else 180.0,
                "timing_s/update_actor": 40.0,
                "rewards/match_format": round(2.0 + 0.01 * step, 3),
            }
        )
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


AUDITOR = Auditor([_run()], Resolver(library()))
BAD = {"contradicted", "unsupported"}


def statuses(text: str) -> set[str]:
    return {sentence.status for sentence in AUDITOR.audit(text).sentences}


PAIRS = [
    # another metric of the sentence, or one that its unit and words imply
    ("Step 25 is slower than every step before it: 250 s, with 180 s for generation and 40 s for the actor update.",
     "Step 25 is slower than every step before it: 250 s, with 40 s for generation and 180 s for the actor update."),
    ("At step 1 the critic's gradient norm (5.1) dwarfs the actor's (0.51).",
     "At step 1 the actor's gradient norm (5.1) dwarfs the critic's (0.51)."),
    ("step 1 的 critic 梯度范数是 actor 的 10 倍。", "step 1 的 critic 梯度范数是 actor 的 7 倍。"),
    ("At step 40 the model gets 2.4 for the format.", "At step 40 the model gets 2.7 for the format."),
    # a stretch that a word beside a step makes
    ("After step 30 the mean score never falls below 0.7, while before step 6 it never got past 0.21.",
     "After step 30 the mean score never falls below 0.8, while before step 6 it never got past 0.21."),
    ("20 步之后平均每步 250 秒，之前只要 120 秒。", "20 步之后平均每步 250 秒，之前只要 150 秒。"),
    # another operation
    ("The gap between the longest and the shortest step is 130 seconds.", "The gap between the longest and the shortest step is 150 seconds."),
    ("Entropy drops from 0.885 in the first record to 0.3 in the last one.", "Entropy drops from 0.685 in the first record to 0.3 in the last one."),
    ("Score is above 0.5 on 20 of the 40 steps.", "Score is above 0.5 on 26 of the 40 steps."),
    ("step 40 生成用了 180 秒，占单步的 72%。", "step 40 生成用了 180 秒，占单步的 61%。"),
    # numbers by the other numbers of the sentence
    ("The slowest iteration (250 s) took 2.1 times as long as the fastest (120 s).", "The slowest iteration (250 s) took 3.4 times as long as the fastest (120 s)."),
    # where a step is counted from the one named before
    ("At step 20 answers still had 800 tokens; two steps later it was 400.", "At step 20 answers still had 800 tokens; two steps later it was 600."),
    # words of a peak at one step
    ("KL loss spikes to 2.64 at step 11.", "KL loss spikes to 2.64 at step 12."),
    ("得分一次比一次高。", "得分一次比一次低。"),
    # what the order of words excludes
    ("Between step 1 and step 40 the score went from 0.12 to 0.9.", "Between step 1 and step 40 the score went from 0.9 to 0.12."),
    ("Step 1 needs 120 s, step 40 needs 250.", "Step 1 needs 250 s, step 40 needs 120."),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), PAIRS)
def test_allowed_reading_that_holds_is_supported_and_its_twin_is_not(true: str, false: str) -> None:
    assert not statuses(true) & BAD
    assert statuses(false) & BAD


@pytest.mark.parametrize(
    "text",
    [
        "Entropy came in at 250 s on step 40.",  # a unit of another dimension
        "The explained variance is 0.885 at step 1.",  # a metric that the log does not hold
        "The score of steps 1 to 90 ends at 0.9.",  # steps that it does not hold
    ],
)
def test_allowed_reading_that_a_word_excludes_is_not_taken(text: str) -> None:
    assert statuses(text) & BAD


def test_quantity_of_an_enormous_exponent_is_read_without_failing() -> None:
    assert statuses("Score is 1e99999 at step 1.") & BAD
