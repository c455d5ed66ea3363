"""Ways to tell a change between two steps: verbs, nouns, references, several turns; true and false."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _run() -> Run:
    """Thirty steps: entropy falls to a third, the norm swings with a top at step 7, lengths grow and come back."""
    rows = [
        {
            "step": step,
            "actor/entropy": round(0.913 - 0.0207 * step, 4),
            "actor/grad_norm": round(2.31 - 0.17 * abs(step - 7) + 0.011 * step, 4) if step < 14 else round(0.95 + 0.013 * (step % 5), 4),
            "response_length/mean": 412.0 + 23 * min(step, 31 - step) + step,
            "prompt_length/mean": 131.4 + 0.1 * (step % 3),
        }
        for step in range(1, 31)
    ]  # fmt: skip
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


AUDITOR = Auditor([_run()], RESOLVER)


def _statuses(text: str) -> list[str]:
    return [sentence.status for sentence in AUDITOR.audit(text).sentences if sentence.status != "no_claim"]


PAIRS = [
    # above, below its value at another step
    ("Entropy at step 20 is 0.207 below its value at step 10.", "Entropy at step 20 is 0.207 above its value at step 10."),
    ("Mean response length at step 9 is 72 above its level at step 6.", "Mean response length at step 9 is 72 below its level at step 6."),
    # collapsed, with the values told
    ("Entropy collapsed from 0.872 to 0.333 between step 2 and step 28.", "Entropy exploded from 0.872 to 0.333 between step 2 and step 28."),
    ("Entropy collapsed from 0.872 at step 2 to 0.333 at step 28.", "Entropy collapsed from 0.333 at step 2 to 0.872 at step 28."),
    # more than halved is no comparison
    ("Entropy more than halved from 0.872 at step 2 to 0.333 at step 28.", "Entropy more than doubled from 0.872 at step 2 to 0.333 at step 28."),
    # a range of steps, then two whole numbers
    ("Mean response length climbed over steps 3–12, 484 → 700.", "Mean response length climbed over steps 3–12, 484 → 720."),
    # nouns of change
    ("Between step 10 and step 20 there was a dip of 0.207 in entropy.", "Between step 10 and step 20 there was a dip of 0.307 in entropy."),
    ("An uptick of 45% in mean response length from step 3 to step 12.", "An uptick of 55% in mean response length from step 3 to step 12."),
    ("The fall of entropy between step 10 and step 20 amounts to 29%.", "The fall of entropy between step 10 and step 20 amounts to 39%."),
    ("The drop in entropy from step 10 to step 20 is 0.207.", "The drop in entropy from step 10 to step 20 is 0.107."),
    # by so much, to so much
    ("Across steps 3 to 12 mean response length climbed by 45%, to 700.", "Across steps 3 to 12 mean response length climbed by 45%, to 710."),
    ("Across steps 10 to 20 entropy fell by 29%, to 0.499.", "Across steps 10 to 20 entropy rose by 29%, to 0.499."),
    # the values behind a colon
    ("The grad norm crept up: 1.66 at step 3, 2.02 at step 5.", "The grad norm crept down: 1.66 at step 3, 2.02 at step 5."),
    # first to one step, then to another
    ("Mean response length first rises to 772 at step 15, then falls to 597 at step 24.", "Mean response length first falls to 772 at step 15, then falls to 597 at step 24."),
    # hardly moved, between the two steps
    ("Mean response length barely moved: 772 at step 15, 773 at step 16.", "Mean response length barely moved: 484 at step 3, 700 at step 12."),
    # trended, with its values
    ("Grad norm trended up from 1.66 at step 3 to 2.39 at step 7.", "Grad norm trended down from 1.66 at step 3 to 2.39 at step 7."),
    # a signed number beside the name
    ("Step 10 to step 20: entropy -0.207", "Step 10 to step 20: entropy -0.107"),
    # a trough is told at one step, a change between two is none
    ("Note how entropy plunged by 0.207 after step 10, reaching 0.499 at step 20.", "Note how entropy spiked by 0.207 after step 10, reaching 0.499 at step 20."),
    # "ends up lower" does not go up
    ("Entropy ends up 0.600 lower than it started.", "Entropy ends up 0.600 higher than it started."),
    ("The change in entropy from step 10 to step 20 is -0.207.", "The change in entropy from step 10 to step 20 is +0.207."),
    # two steps in brackets
    ("Within one step (7 → 8) grad norm plummeted from 2.39 to 2.23.", "Within one step (8 → 9) grad norm plummeted from 2.39 to 2.23."),
    # a value in brackets behind the end
    ("Mean response length at the end (465) is above where it began (436).", "Mean response length at the end (436) is above where it began (465)."),
    ("step 20 的熵只有 step 10 的 71%。", "step 10 的熵只有 step 20 的 71%。"),
    ("Final entropy: 0.292, down from 0.892 initially.", "Final entropy: 0.892, down from 0.292 initially."),
]  # fmt: skip


@pytest.mark.parametrize("true", [true for true, _ in PAIRS])
def test_change_told_so_true_is_supported(true: str) -> None:
    assert set(_statuses(true)) == {"supported"}


@pytest.mark.parametrize("false", [false for _, false in PAIRS])
def test_change_told_so_false_is_refused(false: str) -> None:
    assert set(_statuses(false)) & {"contradicted", "unsupported"}
