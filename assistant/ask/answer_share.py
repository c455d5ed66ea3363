"""What part of a step some stage takes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.analysis.outside import outside_keys
from assistant.analysis.timing import layout_of, row_of_total, total_key
from assistant.ask.added_shares import lies_outside
from assistant.ask.answer_speedup import each_share
from assistant.ask.context import Context, key
from assistant.ask.intents import is_stage
from assistant.ask.logged import as_mention
from assistant.ask.naming import absent, named_keys
from assistant.ask.parts import number, timed
from assistant.ask.stages import finite, stages_in
from assistant.model import Fact, Verdict
from assistant.write.document import unmark

#: Steps shown one by one.
MOST_STEPS = 8


def share(context: Context) -> Verdict | None:
    """The share of each stage named at the step named (the last by default), and its mean over the steps.

    Returns:
        The verdict; ``None`` (nothing written) where the log has no total for a step.
    """
    say, doc, run = context.say, context.doc, context.run
    several = each_share(context)
    if several is not None:
        return several
    stages = [m for m in named_keys(context) if is_stage(m)]
    layout = layout_of(run)
    whole = None if layout is None else total_key(run, layout)
    if not stages or whole is None:
        return None
    slot = context.query.steps
    if len(stages) == 1 and slot.kind in {"none", "all"} and _OF_ALL.search(context.query.said):
        return _of_all(context, stages[0], whole)
    if len(stages) == 1 and slot.kind not in {"single", "pair"} and lies_outside(context.run, stages[0]):
        return _of_all(context, stages[0], whole)  # what is spent beside the steps is no part of one
    texts = []
    told = run.distinct_steps[-1]
    for stage in stages[:MOST_STEPS]:
        held = shares_of(context, stage, whole)
        if not held:
            continue
        wanted = [one for one in held if slot.kind in {"single", "pair"} and one.step in slot.values]
        lost = lacking(context, (stage, whole), held)
        if lost and not wanted:
            return _not_there(context, stage, whole, lost)
        texts += lost
        text = ""
        for one in wanted or [held[0] if slot.kind == "first" else held[-1]]:
            cell, total = (context.ledger.get(name) for name in (one.inputs or ("", ""))[:2])
            if cell is None or total is None:
                continue
            told = one.step or 0
            shown = {"cell": doc.show(cell, None, "seconds"), "total": doc.show(total, None, "seconds")}
            if lies_outside(run, stage):
                part = _of_both(context, stage, cell, total)
                text += say("share.beside", stage=key(stage), step=one.step, share=part, **shown)
            else:
                text += say("share.one", stage=key(stage), share=one, **shown)
            text += "" if context.language == "zh" else " "
        text = text.strip()
        if not text:
            continue
        if len(held) > 1 and not wanted:
            mean = context.ledger.derived(
                f"mean share of {stage}", math.fsum(number(f) for f in held) / len(held), inputs=held,
                formula=f"mean of {stage} / {whole}", unit="fraction",
            )  # fmt: skip
            gap = "" if context.language == "zh" else " "
            text += gap + say("share.mean", n=context.ledger.count("steps with a share", len(held)), mean=mean)
        texts.append(text)
        context.metrics.append(stage)
        context.cite(context.card(stage))
    if not texts:
        return None
    doc.paragraph(f"**{texts[0]}**")
    doc.bullets(texts[1:])
    _others(context, stages, told)
    return Verdict("answered", unmark(texts[0]))


def lacking(context: Context, keys: Sequence[str], held: Sequence[Fact]) -> list[str]:
    """For each step that is named and has no share: which of the two values the log does not hold there, and why."""
    slot = context.query.steps
    named = slot.values if slot.kind in {"single", "pair"} else ()
    without = [step for step in named if step in context.run.distinct_steps and all(one.step != step for one in held)]
    texts = list[str]()
    for step in without:
        gone = next((name for name in keys if context.value(name, step) is None), None)
        texts += [absent(context, gone, [step])] if gone is not None else []
    return texts


def _not_there(context: Context, stage: str, whole: str, lost: Sequence[str]) -> Verdict:
    """That there is no share at the step named."""
    context.doc.paragraph(f"**{lost[0]}**")
    context.doc.bullets(lost[1:])
    context.metrics.extend([stage, whole])
    context.query = replace(context.query, intent="lookup")
    return Verdict("no_data", unmark(lost[0]))


_PART_IN: Final = re.compile(
    r"(?i)\b(?:share|fraction|part|portion|proportion|percent\w*|how much) of\b|\b(?:goes|went|spent|going|spend)\b"
    r"|占|花在|用在|比例"
)


def of_named_stage(context: Context) -> Verdict | None:
    """The share of the one stage that a question about the whole time names in plain words; ``None`` for none."""
    query, stages = context.query, stages_in(context)
    if len(stages) != 1 or _PART_IN.search(query.said) is None:
        return None
    named = as_mention(context.run, context.resolver, stages[0], 0, 0, stages[0])
    context.query = replace(query, intent="bottleneck", mentions=(named,), topics=("share",))
    verdict = share(context)
    if verdict is None:
        context.query = query
    return verdict


#: "Of the whole run", and not of a step.
_OF_ALL = re.compile(
    r"(?i)总(?:的)?(?:时长|耗时|时间|用时)|全程|整个(?:训练|过程|run|实验)|全部时间"
    r"|\b(?:total|whole|entire|overall|all) (?:of )?(?:the )?(?:run|training|wall|time|wall[- ]?clock)"
    r"|\bof the (?:whole )?(?:run|training)\b"
)


def _of_all(context: Context, stage: str, whole: str) -> Verdict:
    """A stage's share of all the time that the log holds, its own added where it lies outside the steps."""
    spent, steps = (
        [fact for step in context.run.series(name)[0] if (fact := finite(context, name, step)) is not None]
        for name in (stage, whole)
    )
    beside = outside_keys(context.run)
    outside = lies_outside(context.run, stage)
    sums = [math.fsum(number(fact) for fact in facts) for facts in (spent, steps)]
    own = context.ledger.derived(f"total of {stage}", sums[0], inputs=spent, unit="s", formula=f"Σ {stage}")
    names = [*beside, *([stage] if outside and stage not in beside else [])]
    more = [fact for name in names for step in context.run.series(name)[0] if (fact := finite(context, name, step))]
    total = context.ledger.derived(
        "all the time" if names else f"total of {whole}", sums[1] + math.fsum(number(fact) for fact in more),
        inputs=[*steps, *more], unit="s", formula=" + ".join(f"Σ {name}" for name in (whole, *names)),
    )  # fmt: skip
    part = context.ledger.derived(
        f"share of all of {stage}", number(own) / number(total), inputs=[own, total], unit="fraction",
        formula=f"Σ {stage} / all the time",
    )  # fmt: skip
    times, count = (context.ledger.count(f"values of {n}", len(f)) for n, f in ((stage, spent), (whole, steps)))
    text = context.say(
        "share.of_all", metric=stage, whole=whole, share=part, k=times, n=count,
        spent=context.doc.show(own, None, "seconds"), total=context.doc.show(total, None, "seconds"),
        with_it=context.say("share.with_it", names=context.join(map(key, names))) if names else "",
    )  # fmt: skip
    context.doc.paragraph(f"**{text}**")
    context.metrics.append(stage)
    context.cite(context.card(stage))
    context.settled = True
    return Verdict("answered", unmark(text))


def _of_both(context: Context, stage: str, cell: Fact, total: Fact) -> Fact:
    """What part of a step and of what is spent beside it the latter takes."""
    return context.ledger.derived(
        f"share of {stage} and its step", number(cell) / (number(cell) + number(total)), inputs=[cell, total],
        step=cell.step, unit="fraction", formula=f"{stage} / (step + {stage})",
    )  # fmt: skip


def of_one(context: Context) -> Verdict | None:
    """The share of the one stage that a question means, by its key or in words; ``None``: it means none, or several."""
    stages = [m for m in named_keys(context) if is_stage(m)] or stages_in(context)
    if len(stages) != 1 or "/agent_loop/" in stages[0]:
        return None
    kept = context.query
    context.query = replace(kept, mentions=(as_mention(context.run, context.resolver, stages[0], 0, 0, ""),))
    verdict = share(context)
    context.query = replace(context.query if verdict is not None else kept, mentions=kept.mentions)
    return verdict


def at_longest(context: Context) -> Verdict | None:
    """The step at which a stage took longest, and its share of that step; ``None`` where no one stage is named."""
    stages = [m for m in named_keys(context) if is_stage(m)] or _spoken(context)
    layout = layout_of(context.run)
    whole = None if layout is None else total_key(context.run, layout)
    if len(stages) != 1:
        return None
    if whole is None:
        return _longest_alone(context, stages[0])
    held = [
        (cell, one) for one in shares_of(context, stages[0], whole)
        if (cell := context.value(stages[0], one.step or 0)) is not None
    ]  # fmt: skip
    if not held:
        return None
    cell, most = max(held, key=lambda pair: number(pair[0]))
    texts = {
        name: context.doc.show(fact, None, "seconds")
        for name, fact in (("cell", cell), ("total", context.ledger.get((most.inputs or ("", ""))[1]) or cell))
    }
    said = context.say("share.at_max", stage=stages[0], v=cell, share=most, **texts)
    context.doc.paragraph(f"**{said}**")
    context.metrics.append(stages[0])
    context.cite(context.card(stages[0]))
    _others(context, stages, cell.step or 0)
    context.chart(context.title(stages[0]), stages)
    context.query = replace(context.query, op="argmax", asked_op="argmax")
    return Verdict("answered", unmark(said))


_STAGES = (
    (r"(?i)\bgen(?:erat\w*)?\b|\brollouts?\b|生成|采样", ("gen", "generation", "rollout", "generate_sequences")),
    (r"(?i)\bref(?:erence)?\b|参考", ("ref", "ref_log_prob")),
    (r"(?i)update[_ ]?critic|critic (?:update|training)|更新 ?critic|critic ?更新", ("update_critic",)),
    (
        r"(?i)update[_ ]?actor|actor (?:update|training)|更新 ?actor|actor ?更新|policy update",
        ("update_actor", "train"),
    ),
    (r"(?i)log ?_?probs?\b", ("old_log_prob", "log_prob")),
)


def _spoken(context: Context) -> list[str]:
    """The stage that a question's words mean, where it names no key."""
    for words, names in _STAGES:
        if re.search(words, context.query.said):
            held = [
                m for m in context.run.metrics if is_stage(m) and m.count("/") == 1 and m.rsplit("/", 1)[-1] in names
            ]
            return held[:1]
    return []


def _longest_alone(context: Context, stage: str) -> Verdict | None:
    """The step at which a stage took longest, of a log without whole steps."""
    facts = [f for s in context.run.series(stage)[0] if (f := context.value(stage, s)) is not None]
    held = [f for f in facts if math.isfinite(number(f))]
    if not held:
        return None
    top = max(held, key=number)
    said = context.say("share.at_max_no_total", stage=stage, v=top, cell=context.doc.show(top, None, "seconds"))
    context.doc.paragraph(f"**{said}**")
    context.metrics.append(stage)
    context.query = replace(context.query, op="argmax", asked_op="argmax")
    return Verdict("answered", unmark(said))


def shares_of(context: Context, stage: str, whole: str) -> list[Fact]:
    """The share of a stage of each step that times both, as facts."""
    found, layout = [], layout_of(context.run)
    for step in context.run.series(stage)[0]:
        row = step if layout is None else row_of_total(context.run, layout, whole, step)
        cell, total = context.value(stage, step), None if row is None else context.value(whole, row)
        if cell is None or total is None or not (math.isfinite(number(cell)) and number(total) > 0):
            continue
        found.append(context.ledger.share(stage, whole, step, number(cell) / number(total), inputs=[cell, total]))
    return found


def _others(context: Context, stages: list[str], step: int) -> None:
    """The other stages of the same step, so that the share can be placed."""
    found = timed(context, step)
    if found is None:
        return
    rest = [one for one in found.shares if one.name not in stages and number(one) >= 0.01]
    if rest:
        listed = context.join(f"{key(str(one.name))} {context.doc.show(one)}" for one in rest[:4])
        context.doc.paragraph(context.say("share.others", step=found.step, listed=listed))
