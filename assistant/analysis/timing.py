"""Where a step's time goes; keys that are parts of others are never added twice."""

from __future__ import annotations

import math

from assistant.analysis.ledger import Ledger
from assistant.model import Fact, Run

#: Stages whose times add up to ``timing_s/step`` (verl/trainer/ppo/ray_trainer.py#fit); the rest of
#: ``timing_s/*`` is nested in one of them or lies outside the step.
TOP_LEVEL = (
    "gen", "gen_max", "reward", "old_log_prob", "ref", "values", "adv", "update_critic", "update_actor",
    "update_weights", "dump_rollout_generations",
)  # fmt: skip
#: Inside the step only in some versions; counted when they fit into the step's time.
SOMETIMES = ("testing", "save_checkpoint")


def time_shares(ledger: Ledger, step: int, run: Run | None = None) -> tuple[list[Fact], Fact | None]:
    """Shares of ``timing_s/step`` by stage, largest first, and the remainder in seconds.

    The remainder is what no stage accounts for (balancing, concatenation, logging on the driver).

    Returns:
        Facts of kind ``share``, and a ``derived`` fact ``unaccounted_time`` (``None`` if the total or every stage
        is absent, or if the stages sum to more than the step, which means that they overlap).
    """
    run = run or ledger.run
    assert run is not None
    total = ledger.value("timing_s/step", step, run)
    if total is None or not isinstance(total.value, (int, float)) or total.value <= 0:
        return [], None
    whole = float(total.value)
    stages = []
    for name in TOP_LEVEL:
        if name == "gen_max" and run.value("timing_s/gen", step) is not None:
            continue
        fact = ledger.value(f"timing_s/{name}", step, run)
        if fact is not None and isinstance(fact.value, (int, float)) and math.isfinite(fact.value):
            stages.append(fact)
    spent = sum(float(f.value) for f in stages if isinstance(f.value, (int, float)))
    for name in SOMETIMES:
        fact = ledger.value(f"timing_s/{name}", step, run)
        if fact is not None and isinstance(fact.value, (int, float)) and spent + fact.value <= whole:
            stages.append(fact)
            spent += fact.value
    shares = [
        ledger.share(str(f.metric), "timing_s/step", step, float(f.value) / whole, inputs=[f, total], run=run)
        for f in stages
        if isinstance(f.value, (int, float))
    ]
    shares.sort(key=lambda fact: -float(fact.value or 0))
    if not stages or spent > whole * 1.0001:
        return shares, None
    formula = "timing_s/step − (" + " + ".join(str(f.metric) for f in stages) + ")"
    rest = ledger.derived(
        "unaccounted_time",
        whole - spent,
        unit="s",
        step=step,
        formula=formula,
        inputs=[total, *stages],
        run=run,
    )
    return shares, rest
