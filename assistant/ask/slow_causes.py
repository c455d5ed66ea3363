"""What a slow-down points at, narrowed by the stages that became slower and by what else the log holds."""

from __future__ import annotations

import math
import re
from typing import Final

from assistant.analysis.diagnosis import role
from assistant.analysis.slowdown import Slowdown, StageChange, log_mean
from assistant.analysis.timing import layout_of
from assistant.ask.context import Context, key
from assistant.ask.parts import number
from assistant.model import Fact
from assistant.write.document import mark
from assistant.write.numbers import percent, signed

Window = tuple[int, int]
#: Part of the whole change from which a stage is among those that became slower, and of one side's change from which
#: the other side took part.
PART, BOTH = 0.1, 0.25
#: Change of the tokens below which they are as many, and of the MFU from which it is told.
ALIKE, MFU_MOVED = 0.005, 0.05
_ROLLOUT: Final = re.compile(r"(?i)\brollouts?\b|\bgen(?:eration)?\b|\binference\b|生成|推理|采样")
_TRAINING: Final = re.compile(r"(?i)\btrain(?:ing)?\b|\bupdates?\b|\bbackward\b|\bactor\b|更新|反向|训练(?!步|日志)")
_EITHER: Final = re.compile(r"(?i)\bor\b|还是|\bvs\b")


def which_side(context: Context, found: Slowdown) -> str:
    """Whether it is generation or training that became slower, where the question asks which; else empty."""
    said = context.query.said
    if not (_EITHER.search(said) and _ROLLOUT.search(said) and _TRAINING.search(said)):
        return ""
    stages = {side: [s for s in found.stages if side_of(context, s) == side] for side in ("generation", "training")}
    if not found.slower or not all(stages.values()):
        return ""
    sums = {
        side: context.ledger.derived(
            f"change of {side}", math.fsum(number(one.change) for one in held), unit="s",
            inputs=[one.change for one in held], formula="Σ changes of its stages",
        )
        for side, held in stages.items()
    }  # fmt: skip
    gen, train = (number(sums[side]) for side in ("generation", "training"))
    most = max(gen, train)
    if most <= 0:
        return ""
    name = "both" if min(gen, train) >= BOTH * most else "generation" if gen > train else "training"
    shown = {side: _seconds(context, fact) for side, fact in sums.items()}
    return context.say(f"slower.side_{name}", **shown)


def slower_tokens(context: Context, found: Slowdown, windows: tuple[Window, Window]) -> list[str]:
    """What slower tokens point at, in the stages where they became slower; and what the log speaks for or against."""
    stages = [s for s in found.stages if s.cause == "slower_tokens" and _weighs(s, found)]
    sides = {side_of(context, stage) for stage in stages}
    # A generation that waits longer, or whose tokens are unknown, is not cleared of its engine and tools.
    sides |= {"generation" for s in found.stages if side_of(context, s) == "generation" and _maybe(s, found)}
    carrier = found.carrier
    if carrier is None or not sides <= {"generation", "training"}:
        return [context.say("slower.means_slower_tokens")]
    name = sides.pop() if len(sides) == 1 else "both"
    shown = [s for s in found.stages if s in stages or (side_of(context, s) == "generation" and _maybe(s, found))]
    lines = [context.say(f"slower.points_{name}", stages=context.join(key(stage.stage) for stage in shown))]
    if (more := _more_tokens(context, carrier)) is not None:
        many = "slower.tokens_alike" if abs(number(more)) < ALIKE else "slower.tokens_moved"
        lines.append(context.say(many, stage=key(carrier.stage), share=_share(more)))
    if name != "generation":
        lines.append(_mfu(context, windows))
    if name != "training":
        lines.append(_idle(context))
    return [line for line in lines if line]


def side_of(context: Context, stage: StageChange) -> str:
    """``generation``, ``training`` (passes over all tokens), or empty where neither."""
    layout = layout_of(context.run)
    kinds = {} if layout is None else layout.stage_tokens
    if stage.stage in kinds.get("response", ()):
        return "generation"
    return "training" if stage.stage in kinds.get("all", ()) else ""


def _weighs(stage: StageChange, found: Slowdown) -> bool:
    return number(stage.change) >= PART * abs(number(found.change))


def _maybe(stage: StageChange, found: Slowdown) -> bool:
    """Whether a stage's engine or its tail may have part in a slow-down."""
    if stage.engine is None:
        return _weighs(stage, found)
    waits = math.fsum(max(number(part), 0.0) for part in (stage.engine, stage.tail) if part is not None)
    return waits >= PART * abs(number(found.change))


def _more_tokens(context: Context, stage: StageChange) -> Fact | None:
    """By what share a stage's tokens changed, from the seconds that they explain."""
    if stage.tokens is None:
        return None
    weight = log_mean(number(stage.before), number(stage.after))
    if weight <= 0:
        return None
    return context.ledger.derived(
        f"tokens of {stage.stage}, change", math.expm1(number(stage.tokens) / weight), unit="fraction",
        inputs=[stage.tokens, stage.before, stage.after], formula="tokens after / tokens before − 1",
    )  # fmt: skip


def _mfu(context: Context, windows: tuple[Window, Window]) -> str:
    """The mean share of the peak that the actor's update reached on each side, where it moved."""
    found = role(context.run, "model_flops_share")
    metric = None if found is None or not found.spelling.plain else found.metrics[0]
    if metric is None:
        return ""
    means = [_mean(context, metric, window) for window in windows]
    before, after = means
    if before is None or after is None or number(before) <= 0:
        return ""
    if abs(number(after) / number(before) - 1) < MFU_MOVED:
        return ""
    shown = {name: context.doc.show(fact, None, "fraction") for name, fact in (("before", before), ("after", after))}
    return context.say("slower.mfu", metric=metric, **shown)


def _idle(context: Context) -> str:
    """Which of the usual causes the log itself excludes: nothing preempted, no time in tools."""
    zero = []
    for name in ("preempted_mean", "tool_time_mean"):
        found = role(context.run, name)
        if found is None or not found.spelling.plain or not len(found):
            continue
        facts = [fact for step in found.steps if (fact := found.fact(context.ledger, int(step))) is not None]
        if facts and not any(number(fact) for fact in facts):
            zero.append(key(found.metrics[0]))
    return context.say("slower.excluded", metrics=context.join(zero)) if zero else ""


def _mean(context: Context, metric: str, window: Window) -> Fact | None:
    first, last = window
    held = [fact for step in context.train_steps if first <= step <= last
            and (fact := context.value(metric, step)) is not None and math.isfinite(number(fact))]  # fmt: skip
    if not held:
        return None
    return context.ledger.derived(
        f"mean({metric})/{first}-{last}", math.fsum(map(number, held)) / len(held), inputs=held, unit="fraction",
        formula=f"mean of {metric} over steps {first} to {last}",
    )  # fmt: skip


def _share(fact: Fact) -> str:
    value = number(fact) * 100
    return mark(fact.id, f"{'+' if value > 0 else ''}{percent(value)}%")


def _seconds(context: Context, fact: Fact) -> str:
    return mark(fact.id, signed(number(fact), "seconds", language=context.language))
