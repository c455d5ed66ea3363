"""Values told against an average, an end or another step, parts of a step, what falls to each; each true and false."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text
from tests.ground.test_told_changes import AUDITOR

RESOLVER = Resolver(library())


def _statuses(text: str, auditor: Auditor = AUDITOR) -> list[str]:
    return [sentence.status for sentence in auditor.audit(text).sentences if sentence.status != "no_claim"]


PAIRS = [
    # what something rose to stands before what it rose from
    ("By step 9, mean reward had risen to 0.317 from 0.156 at step 2.", "By step 9, mean reward had risen to 0.156 from 0.317 at step 2."),
    ("By step 9, entropy had fallen to 0.634 from 0.851 at step 2.", "By step 9, entropy had risen to 0.634 from 0.851 at step 2."),
    # where a change ended, and where a course began
    ("The mean reward gained 0.161 from step 2 to step 9, ending at 0.317.", "The mean reward gained 0.161 from step 2 to step 9, ending at 0.237."),
    ("Mean reward ends higher than it began: 0.133 at the start, 0.570 at the end.", "Mean reward ends lower than it began: 0.133 at the start, 0.570 at the end."),
    ("First logged entropy: 0.882; last: 0.293.", "First logged entropy: 0.293; last: 0.882."),
    ("Over the run entropy loses 67%.", "Over the run entropy loses 47%."),
    # against the mean of the run
    ("At 0.851, entropy at step 2 is above the run's average of 0.588.", "At 0.851, entropy at step 2 is below the run's average of 0.588."),
    ("Entropy at step 9 (0.634) is above the run's mean of 0.588.", "Entropy at step 9 (0.634) is above the run's mean of 0.538."),
    # so much of another step's, of a step's time
    ("Step 9's entropy is only 75% of step 2's.", "Step 9's entropy is only 65% of step 2's."),
    ("At step 9, 75 s of the 147 s go to generation.", "At step 9, 147 s of the 75 s go to generation."),
    ("Time budget of step 9: generation 51%, actor update 20%.", "Time budget of step 9: generation 51%, actor update 40%."),
    ("Of steps 2, 9 and 12, step 12 has the highest mean reward (0.386).", "Of steps 2, 9 and 12, step 15 has the highest mean reward (0.455)."),
    # numbers before the names that they are of; what falls to each
    ("64 prompts per step, 8 rollouts per prompt, 512 responses in total.", "64 prompts per step, 16 rollouts per prompt, 512 responses in total."),
    ("512 trajectories are generated every step, 8 for each of 64 questions.", "512 trajectories are generated every step, 16 for each of 64 questions."),
    ("With 4 GPUs at 575 tokens/s each, step 9 processes about 2,299 tokens per second.", "With 4 GPUs at 575 tokens/s each, step 9 processes about 575 tokens per second."),
    ("Each GPU handles 84,480 tokens in step 9.", "Each GPU handles 337,920 tokens in step 9."),
    ("The responses of step 9 add up to about 0.27M tokens.", "The responses of step 9 add up to about 0.34M tokens."),
    # values that are no numbers, or not there
    ("Grad norm is not a number at step 18.", "Grad norm is not a number at step 9."),
    ("`actor/entropy` is only available from step 1 on.", "`actor/entropy` is only available from step 3 on."),
    ("The value of entropy for step 0 was cut off with the rest of the line.", "The value of entropy for step 3 was cut off with the rest of the line."),
    # a name that is part of another's
    ("The mean entropy over steps 1 to 20 is 0.588.", "The mean entropy coefficient over steps 1 to 20 is 0.588."),
    # the mean of all steps is none of the step named
    ("Step 2 reports entropy (0.851) and a total time per step of 126.0 s.", "Step 2 reports entropy (0.851) and a total time per step of 151.5 s."),
    # one of two, what lies between two steps, an average of a step's own samples
    ("Between the two, step 2 has the larger entropy (0.851; step 9: 0.634).", "Between the two, step 2 has the smaller entropy (0.851; step 9: 0.634)."),
    ("A 25% drop in entropy separates step 2 from step 9.", "A 35% drop in entropy separates step 2 from step 9."),
    ("`timing_s/gen`: 75.0 s; `timing_s/update_actor`: 30.0 s (step 9), so generation dominates.", "`timing_s/gen`: 75.0 s; `timing_s/update_actor`: 30.0 s (step 9), so the actor update dominates."),
    ("The actor update is 2.5 times faster than generation at step 9.", "The actor update is 2.5 times slower than generation at step 9."),
    ("Max-to-min ratio of `timing_s/gen`: 1.28.", "Max-to-min ratio of `timing_s/gen`: 1.82."),
    ("From step 2 to step 20 entropy fell to 0.293, from 0.851.", "From step 2 to step 20 entropy rose to 0.293, from 0.851."),
    ("From step 9 to step 19 entropy was cut roughly in half.", "From step 2 to step 9 entropy was cut roughly in half."),
    ("Roughly 51% of the 147 s of step 9 is generation.", "Roughly 51% of the 174 s of step 9 is generation."),
    ("Highest entropy: 0.882 at step 1; lowest: 0.293 at step 20.", "Highest entropy: 0.882 at step 1; lowest: 0.293 at step 12."),
    # where something ended against where it began, a step that improves on another, so much of another step's
    ("Entropy finishes below where it started (0.293 vs 0.882).", "Entropy finishes above where it started (0.293 vs 0.882)."),
    ("The mean reward of step 9 (0.317) improves on step 2 (0.156).", "The mean reward of step 2 (0.156) improves on step 9 (0.317)."),
    ("Step 9 has only 75% of the entropy of step 2.", "Step 9 has only 57% of the entropy of step 2."),
    ("Entropy at step 9 (0.634) is below its maximum of 0.882.", "Entropy at step 9 (0.634) is below its maximum of 0.851."),
    ("Entropy at step 9: 0.634, that is 0.217 less than at step 2.", "Entropy at step 9: 0.634, that is 0.217 more than at step 2."),
    ("-0.217 in entropy between step 2 and step 9.", "+0.217 in entropy between step 2 and step 9."),
    ("Validation accuracy: 36.0% at step 5, 46.0% at step 15 (+10.0 points).", "Validation accuracy: 36.0% at step 5, 46.0% at step 15 (-10.0 points)."),
    ("Throughput slowed down from 578 to 575 tokens/s between step 2 and step 9.", "Throughput slowed down from 575 to 578 tokens/s between step 2 and step 9."),
    # a time by what is made in it, and what two phases make up
    ("At step 9 generating 512 responses took 75.0 s.", "At step 9 generating 512 responses took 147.0 s."),
    ("Total time spent on generation: 0.43 hours.", "Total time spent on generation: 0.84 hours."),
    ("Together generation and the actor update make up 71% of step 9.", "Together generation and the actor update make up 51% of step 9."),
    # what is not there, in further words
    ("`actor/entropy` goes unreported at step 0.", "`actor/entropy` goes unreported at step 3."),
    ("At step 0 `actor/entropy` has not been logged yet.", "At step 3 `actor/entropy` has not been logged yet."),
    ("At step 9 entropy is 0.634; for step 0 the log gives no value.", "At step 9 entropy is 0.634; for step 2 the log gives no value."),
    # two values under the names told before
    ("Step 2 has entropy 0.851 and grad norm 0.660; step 9 has 0.634 and 0.800.", "Step 2 has entropy 0.851 and grad norm 0.660; step 9 has 0.800 and 0.634."),
    # rows that are counted, a column of validations
    ("| # | phase | seconds at step 9 |\n|---|---|---|\n| 1 | generation | 75.0 |\n| 2 | actor update | 30.0 |", "| # | phase | seconds at step 9 |\n|---|---|---|\n| 1 | generation | 75.0 |\n| 2 | actor update | 33.0 |"),
    ("| eval step | accuracy |\n|---|---|\n| 5 | 0.36 |\n| 15 | 0.46 |", "| eval step | accuracy |\n|---|---|\n| 5 | 0.36 |\n| 15 | 0.64 |"),
    ("75.0 s of step 9's 147.0 s is generation (51%).", "147.0 s of step 9's 75.0 s is generation (51%)."),
    ("Step 9: entropy 0.634, grad norm 0.800.", "Step 9: entropy 0.634, effective rank 0.385, grad norm 0.800."),
    ("Entropy at step 9 is down 25% on step 2.", "Entropy at step 9 is up 25% on step 2."),
    ("By step 9 the mean reward is 0.317 (up from 0.156 at step 2) and entropy 0.634 (down from 0.851).", "By step 9 the mean reward is 0.317 (up from 0.156 at step 2) and entropy 0.634 (up from 0.581)."),
    # a group's size, and what tokens are shared out among
    ("A group consists of 8 rollouts.", "A group consists of 16 rollouts."),
    ("With 337,920 tokens over 512 sequences, step 9 averages 660 tokens per sequence.", "With 337,920 tokens over 256 sequences, step 9 averages 660 tokens per sequence."),
    # what exists
    ("`actor/entropy` does not exist at step 0, where only validation ran.", "`actor/entropy` exists at step 0, where only validation ran."),
    # a row for each step and metric
    ("| Step | Metric | Value |\n|---|---|---|\n| 2 | entropy | 0.851 |\n| 2 | grad norm | 0.660 |\n| 9 | entropy | 0.634 |", "| Step | Metric | Value |\n|---|---|---|\n| 2 | entropy | 0.851 |\n| 2 | grad norm | 0.606 |\n| 9 | entropy | 0.634 |"),
    # a row of changes since a step
    ("| | step 2 | step 9 | step 12 |\n|---|---|---|---|\n| entropy | 0.851 | 0.634 | 0.541 |\n| vs. step 2 | | -25.5% | -36.4% |", "| | step 2 | step 9 | step 12 |\n|---|---|---|---|\n| entropy | 0.851 | 0.634 | 0.541 |\n| vs. step 2 | | -25.5% | -14.7% |"),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), PAIRS)
def test_a_level_or_a_part_is_computed_from_the_cells_that_the_words_mean(true: str, false: str) -> None:
    assert set(_statuses(true)) == {"supported"}
    assert set(_statuses(false)) & {"contradicted", "unsupported"}


def _two() -> Auditor:
    logs = {
        "base": [{"step": s, "actor/entropy": 0.9 - 0.02 * s, "response_length/mean": 400.0 + 5 * s} for s in range(1, 13)],
        "long": [{"step": s, "actor/entropy": 0.8 - 0.04 * s, "response_length/mean": 900.0 + 25 * s} for s in range(1, 13)],
    }  # fmt: skip
    runs = [parse_text("\n".join(map(json.dumps, rows)), name=name).runs[0] for name, rows in logs.items()]
    return Auditor(runs, RESOLVER)


OF_TWO = [
    ("long finishes with 2.6 times the mean response length of base.", "base finishes with 2.6 times the mean response length of long."),
    ("| metric | base (last) | long (last) | base − long |\n|---|---|---|---|\n| entropy | 0.660 | 0.320 | +0.34 |", "| metric | base (last) | long (last) | base − long |\n|---|---|---|---|\n| entropy | 0.660 | 0.320 | -0.34 |"),
    ("base averages a lower mean response length than long (432 vs. 1062).", "base averages a higher mean response length than long (432 vs. 1062)."),
    ("base and long end at entropy 0.660 and 0.320.", "base and long end at entropy 0.320 and 0.660."),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), OF_TWO)
def test_a_number_of_two_runs_is_held_against_both(true: str, false: str) -> None:
    auditor = _two()
    assert set(_statuses(true, auditor)) == {"supported"}
    assert set(_statuses(false, auditor)) & {"contradicted", "unsupported"}
