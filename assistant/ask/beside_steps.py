"""What lies beside a run's timed steps (validations, checkpoints), as it is told: so far, and until the run ends."""

from __future__ import annotations

import math

from assistant.analysis.outside import as_facts, once_keys, outside_keys, within_keys
from assistant.ask.context import Context
from assistant.ask.parts import note, number
from assistant.model import Fact


def to_come(context: Context, total: int) -> str:
    """What is still to come beside the steps, as a list in running text; empty where nothing is."""
    found = as_facts(context.ledger, context.run, total)
    return context.join(
        context.say("eta.beside_one", metric=one.key, n=count, each=mean, v=spent)
        if one.count > 1
        else context.say("eta.beside_single", metric=one.key, v=note(context, count, "") + context.doc.show(spent))
        for one, count, mean, spent in found
    )


def of_the_steps(context: Context, fact: Fact) -> Fact:
    """The part of the time left that the steps themselves take."""
    held = [context.ledger.get(one) for one in fact.inputs or ()]
    return next((one for one in held if one is not None and one.name == "seconds_of_steps_left"), fact)


def assumed(context: Context) -> str:
    """What is taken of validations and checkpoints, within the sentence on what the time left rests on."""
    run = context.run
    if once := once_keys(run):
        return context.say("eta.beside_once", metrics=context.join(f"`{name}`" for name in once))
    kind = "counted" if outside_keys(run) else "within" if within_keys(run) else "left_out"
    return context.say(f"eta.beside_{kind}")


def on_top(context: Context, total: int, steps: Fact) -> str:
    """The sentence that adds what comes beside the steps to the time of the steps; empty where nothing comes."""
    found = as_facts(context.ledger, context.run, total)
    if not found:
        once = once_keys(context.run)
        return context.say("eta.once", metrics=context.join(f"`{name}`" for name in once)) if once else ""
    spent = [one[-1] for one in found]
    whole = context.ledger.derived(
        "seconds_left_in_all", number(steps) + math.fsum(map(number, spent)), unit="s", inputs=[steps, *spent],
        formula="steps + what lies beside them",
    )  # fmt: skip
    return context.say("eta.on_top", beside=to_come(context, total), v=whole)
