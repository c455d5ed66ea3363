"""Answers to "how much": values at steps, counts, largest and smallest."""

from __future__ import annotations

import math
import re

from assistant.analysis import derive
from assistant.analysis.forecast import total_steps
from assistant.analysis.held_out import held_out
from assistant.ask.answer_cells import cut_between, lacks_a_side, none_finite
from assistant.ask.answer_twice import printed_again
from assistant.ask.blanking import blanked
from assistant.ask.conditions import condition_in
from assistant.ask.context import Context, is_validation, key
from assistant.ask.cut_away import lost_in_a_cut, spelling
from assistant.ask.epochs import AN_EPOCH
from assistant.ask.held_since import since_then
from assistant.ask.in_order_words import in_order, order_sentence
from assistant.ask.naming import absent, named_keys, steps_text, unknown, variant, wanted_steps, which
from assistant.ask.outcomes import of_the_best
from assistant.ask.part import shown
from assistant.ask.parts import missing_lines
from assistant.ask.portions import ratio_asked
from assistant.ask.possible import unmeasured, unmeasured_remark
from assistant.ask.ranges import listed
from assistant.ask.subject import words_of
from assistant.ask.two_validations import two_validations
from assistant.ask.wording import normalised
from assistant.knowledge import Card
from assistant.model import Fact, Verdict
from assistant.model.answer import Op
from assistant.write.document import unmark

_PART = re.compile(r"[a-z]{3,}")
_STATISTIC_PARTS = frozenset({"mean", "max", "min", "std", "sum", "val", "timing", "perf", "training", "best", "worst"})
_CLIP = "response_length/clip_ratio"
#: Names that say less than is needed, or something else, so that the definition stands with a plain value: estimators,
#: rates per GPU, counts under a prefix of times, historical prefixes.
_MISLEADS = re.compile(
    r"num_preempted|@|(?:^|[/_])kl(?:_loss)?$|throughput|tps|pg_loss|clip_?frac|reward_std|critic/(?:advantages|returns)|loss$"
)
#: So many steps without a value are listed one by one.
MOST_LOST = 16
#: So many metrics are told, one a line.
MOST_LISTED = 14


def lookup(context: Context) -> Verdict:
    """Values of the metrics named, at the steps named, under the operation named."""
    pairs = _paired(context)
    if pairs:
        return _pairs(context, pairs)
    if context.query.op == "count" and not context.query.mentions:
        return _count_steps(context)
    keys = named_keys(context)
    if not keys:
        lost = next((m.text for m in context.query.mentions), None)
        if lost is None:
            return _cut_here(context) or which(context)
        known = next((m.card for m in context.query.mentions if m.card is not None), None)
        if known is None:
            return unknown(context, lost)
        cut = lost_in_a_cut(context, spelling(context, lost, known))
        if cut is not None:
            return cut
        near = context.resolver.nearest(lost, 3, context.run.metrics, only_keys=True)
        parts = set(_PART.findall(lost.lower())) - _STATISTIC_PARTS
        near = [name for name in near if parts & set(_PART.findall(name.lower()))]
        text = context.say(
            "lookup.other_metric" if near else "lookup.other_metric_alone",
            metric=lost if "{" in known.keys[0] else known.keys[0],
            **({"near": context.join(map(key, near))} if near else {}),
        )
        context.doc.paragraph(f"**{text}**")
        context.doc.paragraph(when_logged(context, known))
        return Verdict("no_data", unmark(text))
    spelt = {m.key for m in context.query.mentions}  # "avg / max / min": each of the family by its own key
    listed = len({m.start for m in context.query.mentions}) == 1 < len(keys) and set(keys) == spelt
    of_extreme = context.query.op in {"max", "min", "argmax", "argmin"}
    if not listed and (of_extreme or (context.query.op is None and len(keys) > 1)):
        keys = variant(context, keys, context.query.op)
    context.metrics.extend(keys)
    texts: list[str] = []
    found = False
    slot = len(context.doc.blocks)
    context.doc.blocks.append("")
    asked = context.query
    for metric in keys[:MOST_LISTED]:
        context.query = of_the_best(context, asked, metric) if of_extreme else asked
        text, ok = _one(context, metric)
        texts.append(text)
        found = found or ok
    context.query = asked
    if len(texts) == 1:
        context.doc.blocks[slot] = f"**{texts[0]}**"
    else:
        context.doc.blocks[slot] = "\n".join(f"- {text}" for text in texts)
    context.doc.bullets(_lost_beside(context))
    if context.query.steps.kind == "last":
        end = context.run.distinct_steps[-1]
        context.doc.bullets([absent(context, k, [end]) for k in keys[:3] if context.run.missing_at(k, end) is not None])
    context.doc.paragraph(printed_again(context, keys) if found else "")
    for metric in keys[:3]:
        if not found or len(keys) > 1 or _MISLEADS.search(metric):
            context.doc.paragraph(context.gloss(metric))
    return Verdict("answered" if found else "no_data", unmark(texts[0]))


def _lost_beside(context: Context) -> list[str]:
    """Of metrics named beside those that the log holds, the ones that every line lost."""
    doc, texts = context.doc, []
    for mention in context.query.mentions:
        if mention.key is not None or mention.card is None:
            continue
        before, metrics = len(doc.blocks), list(context.metrics)
        if lost_in_a_cut(context, spelling(context, mention.text, mention.card)) is not None:
            texts.append(doc.blocks[before].strip("*"))
            del doc.blocks[before:]
            context.metrics[:] = metrics
    return texts


def _cut_here(context: Context) -> Verdict | None:
    """No metric of the log is meant, and the row asked about was cut: what is asked for may stand after the cut."""
    slot = context.query.steps
    steps = (
        slot.values
        if slot.kind in {"single", "pair"}
        else context.run.distinct_steps[-1:]
        if slot.kind == "last"
        else ()
    )
    lines = missing_lines(context, steps)
    if not lines:
        return None
    text = context.say("lookup.cut_here")
    context.doc.paragraph(f"**{text}**")
    context.doc.bullets(lines)
    return Verdict("no_data", unmark(text))


def when_logged(context: Context, card: Card) -> str:
    """What a metric that the log lacks needs to be logged, in its card's words."""
    when = card.present_when(context.language).rstrip("。.")
    if not when or when.lower() in {"—", "always", "总是", "始终", "一直"}:
        return ""  # "always", where it is not there, would say nothing
    quoted = context.doc.quote(card.id, card.title(context.language), card.source, when)
    return f"{context.say('define.present', text=quoted)} {context.cite(card)}"


_OF_EVALUATIONS = re.compile(r"(?i)^(?:val|valid|validation|eval|evaluation|test)(?=[-_/. ]|$)")


def _evaluated(context: Context) -> set[int]:
    """Steps with a value that was measured on held-out data, whatever the trainer calls it."""
    rows = {row for m, column in context.run.columns.items() if _OF_EVALUATIONS.search(m) for row in column.rows}
    return {context.run.steps[row] for row in rows} | set(context.validation_steps)


def _trained(context: Context) -> set[int]:
    """Training steps with a value of something else than an evaluation."""
    rows = {row for m, column in context.run.columns.items() if not _OF_EVALUATIONS.search(m) for row in column.rows}
    return {context.run.steps[row] for row in rows} & set(context.train_steps)


def _count_steps(context: Context) -> Verdict:
    """How many steps the log holds, and of which kind."""
    steps = context.run.distinct_steps
    text = context.say(
        "lookup.steps", n=context.ledger.count("steps", len(steps)), first=steps[0], last=steps[-1],
        train=context.ledger.count("training_steps", len(_trained(context))),
        val=context.ledger.count("validations", len(_evaluated(context))),
    )  # fmt: skip
    total = total_steps(context.run)
    if total is not None:
        known = context.ledger.constant("total_steps", total, "the log")
        text += (" " if context.language == "en" else "") + context.say("eta.total_known", total=known, last=steps[-1])
    context.doc.paragraph(f"**{text}**")
    return Verdict("answered", unmark(text))


def _paired(context: Context) -> list[tuple[str, int]]:
    """Metrics each with a step of its own ("entropy at step 1 and the score at step 3"); else nothing."""
    query = context.query
    if len(query.mentions) < 2 or len(query.mentions) != len(query.step_marks):
        return []
    order = sorted([(m.start, 0) for m in query.mentions] + [(at, 1) for at, _ in query.step_marks])
    kinds = [kind for _, kind in order]
    if kinds not in ([0, 1] * len(query.mentions), [1, 0] * len(query.mentions)):
        return []
    keys = [m.key for m in query.mentions]
    return [(k, step) for k, (_, step) in zip(keys, query.step_marks, strict=True) if k is not None]


def _pairs(context: Context, pairs: list[tuple[str, int]]) -> Verdict:
    texts, found = [], False
    for metric, step in pairs:
        fact = context.value(metric, step)
        found = found or fact is not None
        texts.append(context.say("lookup.one", metric=metric, v=fact) if fact else absent(context, metric, [step]))
    context.metrics.extend(metric for metric, _ in pairs)
    context.doc.bullets(texts)
    return Verdict("answered" if found else "no_data", unmark(texts[0]))


def _not_finite(context: Context, metric: str, held: list[Fact]) -> str:
    """How many values of a metric are no finite number, and from which step on; or that all are finite."""
    bad = [f for f in held if isinstance(f.value, (int, float)) and not math.isfinite(f.value)]
    count = context.ledger.count("values", len(held), metric=metric)
    many = context.ledger.count("values not finite", len(bad), metric=metric)
    if not bad:
        return context.say("lookup.all_finite", metric=metric, n=count, v=many)
    steps = [fact.step or 0 for fact in bad]
    return context.say("lookup.not_finite", metric=metric, n=count, k=many, v=bad[0], steps=_from_to(context, steps))


def _from_to(context: Context, steps: list[int]) -> str:
    """Steps one by one, or as first and last where there are many."""
    if len(steps) <= 8:
        return context.doc.show(steps)
    return context.say("lookup.span", first=steps[0], last=steps[-1])


def _one(context: Context, metric: str) -> tuple[str, bool]:
    say, steps = context.say, wanted_steps(context, metric)
    if context.query.not_finite and context.query.threshold is None:
        every = [f for s in steps if (f := context.value(metric, s)) is not None]
        if every:
            return _not_finite(context, metric, every), True
    held = [f for s in steps if (f := context.value(metric, s)) is not None]
    if (context.query.op is not None or context.query.threshold is not None) and len(held) > 1:
        gap = "" if context.language == "zh" else " "
        ops = [
            op for op in (context.query.op, *context.query.more_ops) if op != "mean" or not _of_means(context, metric)
        ]
        texts = [_operation(context, metric, held, op) for op in ops]
        left = unmeasured_remark(context, metric, held)
        return gap.join([*dict.fromkeys(texts), *left, *_lost_values(context, metric, held)]), True
    if len(held) == 1 and len(steps) == 1:
        text = _denied(context, held[0]) + say("lookup.one", metric=metric, v=held[0])
        if isinstance(held[0].value, float) and not math.isfinite(held[0].value):
            text += _last_finite(context, metric, held[0])
        clipped = derive(context.ledger, "clipped_trajectories", steps[0]) if metric == _CLIP else None
        batch = derive(context.ledger, "trajectories_per_step", steps[0]) if clipped else None
        if clipped is not None and batch is not None:
            text += ("" if context.language == "zh" else " ") + say("lookup.clipped", count=clipped, batch=batch)
        return text, True
    if not held:
        return absent(context, metric, steps), False
    nth = _EVERY.search(context.query.wording) if context.query.steps.kind in {"none", "all", "range"} else None
    if nth is not None:
        held = [f for f in held if (f.step or 0) % max(1, int(nth[1] or nth[2])) == 0] or held
    number = context.ledger.count("values", len(held), metric=metric)
    spread = _spread(context, metric, held)
    if spread and context.query.steps.kind == "none" and nth is None and not _LISTED.search(context.query.wording):
        context.chart(context.title(metric), [metric])
        return spread.rstrip(":：") + ("。" if context.language == "zh" else "."), True
    listed = held if len(held) <= 24 else held[-24:]
    rows = [[context.doc.step(f.step or 0), context.doc.show(f), f"L{f.line}"] for f in listed]
    context.doc.table([say("head.step"), key(metric), "line" if context.language == "en" else "行"], rows)
    context.chart(context.title(metric), [metric])
    gaps = [absent(context, metric, [s]) for s in steps if context.value(metric, s) is None]
    if gaps and context.query.steps.kind == "pair" and lacks_a_side(context):
        one = [say("lookup.one", metric=metric, v=fact) for fact in held]
        return ("" if context.language == "zh" else " ").join([*gaps, *one]), False
    if not gaps and context.query.steps.kind in {"range", "last_n"}:
        gaps = cut_between(context, metric, held)
    two = two_validations(context, metric, held) if context.query.steps.kind == "range" else ""
    lead = spread or two or _two(context, metric, held) or none_finite(context, metric, held)
    lead = lead or say("lookup.many", metric=metric, n=number)
    if gaps and lead.endswith((":", "：")):
        lead = lead[:-1] + ("。" if context.language == "zh" else ".")
    return ("" if context.language == "zh" else " ").join([lead, *gaps]), True


#: Words that ask for the values one by one; without them, and without steps, the latest and the range answer.
_LISTED = re.compile(
    r"(?i)列|清单|表|所有|全部|每(?:一)?(?:步|个|次)|各步|逐|依次|分别|历史|数值们|都(?:是|有)(?:多少|哪些)"
    r"|\b(?:list|table|each|every|all|values (?:of|at|for|by)|history|series|print|dump|show)\b"
)
#: "entropy every 10 steps".
_EVERY = re.compile(r"(?i)\bevery (\d{1,5})(?:th)? (?:steps?|iterations?)\b|每隔?\s*(\d{1,5})\s*个?\s*(?:步|steps?)")
_STATED = re.compile(
    r"(?i)(?:\bwas|\bis|\bat|=|是|为|有|到了?|达到了?|只有)\s*"
    r"(?:about |around |大概|约)?(-?\d+(?:\.\d+)?(?:e-?\d+)?)\s*(%|％)?\s*"
    r"(?:[,，]?\s*(?:right|correct|yes|isn't it|wasn't it|对吗|对吧|对不对|是吧|是吗|吧|吗|没错|\?|$))"
)


_STATED_SHARE = re.compile(r"(?i)(?<![\d.])(\d+(?:\.\d+)?)\s*(%|％)(?=.{0,16}(?:\?|？|吗|吧|right|correct)\s*[?？]?$)")


#: Asks for yes or no.
_WHETHER = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|then) )?(?:is|was|are|were|did|does|do|has|have)\b"
    r"|是否|是不是|有没有|吗\s*[?？]*$|[了么没]\s*[?？]*$"
)


def _met(context: Context, fact: Fact) -> str | None:
    """Yes or no where a question asks whether the value of one step meets a limit; ``None`` for another question."""
    query = context.query
    text = words_of(context)
    if query.threshold is None or query.steps.kind not in {"single", "last", "first"} or not _WHETHER.search(text):
        return None
    limit = condition_in(blanked(text, [m.span() for m in _STEP_NAMED.finditer(text)]))
    if limit is None or not isinstance(fact.value, (int, float)) or not math.isfinite(fact.value):
        return None
    values = [abs(v) for v in context.run.series(str(fact.metric))[1] if math.isfinite(v)]
    met = limit.scaled(max(values, default=0.0)).holds(float(fact.value))
    return context.say("lookup.met" if met else "lookup.not_met") + ("" if context.language == "zh" else " ")


_STEP_NAMED = re.compile(r"(?i)(?:step|第)\s*\d+\s*步?")


def _denied(context: Context, fact: Fact) -> str:
    """Said first where a question states a value that is not the log's, to the digits stated."""
    if (said := _met(context, fact)) is not None:
        return said
    match = _STATED.search(context.query.wording) or _STATED_SHARE.search(context.query.wording)
    if match is None or not isinstance(fact.value, (int, float)) or not math.isfinite(fact.value):
        return ""
    if AN_EPOCH.search(context.query.wording[: match.end()]):  # "when the epoch was 1.5": a place, and no value
        return ""
    stated = float(match[1]) / (100 if match[2] else 1)
    digits = len(match[1].partition(".")[2]) + (2 if match[2] else 0)
    if stated == fact.step or math.isclose(stated, float(fact.value), abs_tol=0.501 * 10**-digits):
        return ""
    given = context.ledger.constant("stated value", stated, "the question", "fraction" if match[2] else None)
    gap = "" if context.language == "zh" else " "
    return context.say("lookup.not_stated", given=given) + gap


def _two(context: Context, metric: str, held: list[Fact]) -> str:
    """Two steps asked about: both values and the difference; empty where there are not two, or one is not finite."""
    if len(held) != 2 or context.query.steps.kind != "pair":
        return ""
    change = context.ledger.change(metric, held[0].step or 0, held[1].step or 0)
    finite = change is not None and change.delta is not None and math.isfinite(change.delta)
    if change is None or not finite:
        return ""
    wanted = ratio_asked(normalised(context.query.wording or context.query.text))
    if wanted and change.ratio is not None and change.from_value and float(change.from_value) > 0 < change.ratio:
        times = context.ledger.derived(
            f"{metric} at step {change.to_step} over step {change.from_step}", change.ratio, inputs=[change],
            formula="later value / earlier value",
        )  # fmt: skip
        return context.say("lookup.two_times", metric=metric, c=change, times=times)
    return context.say("lookup.two", metric=metric, c=change)


def _last_finite(context: Context, metric: str, fact: Fact) -> str:
    """The latest finite value before one that is none."""
    steps, values = context.run.series(metric)
    finite = [s for s, v in zip(steps, values, strict=True) if math.isfinite(v) and s < (fact.step or 0)]
    last = context.value(metric, finite[-1]) if finite else None
    gap = "" if context.language == "zh" else " "
    return "" if last is None else gap + context.say("lookup.last_finite", v=last)


_SUFFERED = re.compile(r"(?i)\bsuffer|\bhurt\b|受(?:到)?(?:了)?影响|掉点")


def _spread(context: Context, metric: str, held: list[Fact]) -> str:
    """The latest, first, lowest and highest of several values; empty where any is no finite number."""
    numbers = [(float(f.value), f) for f in held if isinstance(f.value, (int, float)) and math.isfinite(f.value)]
    if len(numbers) < len(held) or len(held) < 3:
        return ""
    if _SUFFERED.search(context.query.wording) and is_validation(metric):
        high = max(numbers, key=lambda pair: pair[0])[1]
        phrase = "lookup.suffered" if numbers[-1][0] < numbers[0][0] else "lookup.not_suffered"
        return context.say(phrase, metric=metric, first=held[0], last=held[-1], high=high)
    low, high = min(numbers, key=lambda pair: pair[0])[1], max(numbers, key=lambda pair: pair[0])[1]
    count = context.ledger.count("values", len(held), metric=metric)
    if low.value == high.value:
        return context.say("lookup.constant", metric=metric, n=count, v=held[-1])
    way = "_up" if held[-1] is high and held[0] is low else "_down" if held[-1] is low and held[0] is high else ""
    if way:
        return context.say(f"lookup.spread{way}", metric=metric, n=count, last=held[-1], first=held[0])
    told = context.say("lookup.spread", metric=metric, n=count, last=held[-1], first=held[0], low=low, high=high)
    trend = context.ledger.trend(metric) if held_out(metric) and context.query.steps.kind == "none" else None
    if trend is not None and in_order(context, metric, trend) is not None:  # how it goes, and not only where it stands
        told = (order_sentence(context, metric, trend) or "") + ("" if context.language == "zh" else " ") + told
    return told


def _of_means(context: Context, metric: str) -> bool:
    """Whether the "average" of a question belongs to a key that is itself a mean ("the longest average response")."""
    if not metric.endswith("/mean") or context.query.op not in {"max", "min", "argmax", "argmin"}:
        return False
    return _MEAN_LISTED.search(context.query.said) is None


#: The mean as an item of a list of statistics: "score 均值、最大值、最小值", "max, min and mean".
_MEAN_LISTED = re.compile(
    r"(?i)(?:均值|平均值?|\bmean|\baverage)\s*(?:[、,，/和与及]|\band\b)\s*(?:最|max|min|median|std|中位|标准差|high|low)"
    r"|(?:[、,，/和与及]|\band\b)\s*(?:the )?(?:均值|平均值?|mean|average)\s*(?:$|[?？。,，、各是都])"
)


def _lost_values(context: Context, metric: str, held: list[Fact]) -> list[str]:
    """That values were cut off, where an extreme or a mean is told: with them it may be another."""
    op = context.query.op
    if op not in {"max", "min", "argmax", "argmin", "mean"}:
        return []
    slot, at = context.query.steps, {fact.step for fact in held}
    steps = context.validation_steps if is_validation(metric) else context.train_steps
    if slot.kind in {"range", "last_n"}:
        low = slot.values[0] if slot.kind == "range" else min(fact.step or 0 for fact in held)
        if slot.kind == "last_n":
            low = min([low, *steps[-slot.values[0] :][:1]])
        high = slot.values[1] if slot.kind == "range" else max(steps, default=0)
        steps = [step for step in steps if low <= step <= high]
    lost = [step for step in steps if step not in at and context.run.missing_at(metric, step) is not None]
    if not lost:
        return []
    count = context.ledger.count("steps cut", len(lost), metric=metric)
    for step in lost:
        context.ledger.missing(metric, step)
    shown = context.doc.show(lost) if len(lost) <= MOST_LOST else steps_text(context, lost)
    if op == "mean":
        return [context.say("lookup.mean_gaps", k=count, steps=shown)]
    word = context.say("lookup.which_max" if op in {"max", "argmax"} else "lookup.which_min")
    return [context.say("lookup.extreme_gaps", k=count, steps=shown, which=word)]


#: Up to so many steps that are named one by one have their values told beside the mean.
MOST_MEANT = 6


def _operation(context: Context, metric: str, held: list[Fact], op: Op | None) -> str:
    say = context.say
    numbers = [(float(f.value), f) for f in held if isinstance(f.value, (int, float)) and not math.isnan(f.value)]
    empty = unmeasured(context, metric)
    numbers = [pair for pair in numbers if pair[0] != empty] if op is not None else numbers
    if not numbers:
        return say("lookup.many", metric=metric, n=context.ledger.count("values", len(held), metric=metric))
    count = context.ledger.count("values", len(numbers), metric=metric)
    ends = {"first": numbers[0][1].step or 0, "last": numbers[-1][1].step or 0}
    if op in {"max", "argmax", "min", "argmin"}:
        which = "max" if op in {"max", "argmax"} else "min"
        extreme = (max if which == "max" else min)(value for value, _ in numbers)
        ties = [fact for value, fact in numbers if value == extreme]
        if len(ties) == 1:
            return say(f"lookup.{which}", metric=metric, v=ties[0], n=count, **ends)
        shared = context.ledger.count(f"steps at the {which}imum", len(ties), metric=metric)
        at = listed(context, metric, [fact.step or 0 for fact in ties])
        word = say(f"lookup.which_{which}")
        return say("lookup.tie", which=word, metric=metric, v=ties[0], m=shared, n=count, steps=at)
    if op == "mean":
        mean = context.ledger.derived(
            f"mean({metric})", math.fsum(v for v, _ in numbers) / len(numbers), formula=f"mean of {metric}",
            inputs=[f for _, f in numbers],
        )  # fmt: skip
        told = shown(context, mean, metric)
        if context.query.steps.kind == "pair" and 1 < len(numbers) <= MOST_MEANT:  # "mean length at step 4 and at 48"
            items = context.join(say("calc.item", v=fact) for _, fact in numbers)
            return say("lookup.mean_listed", metric=metric, items=items, n=count, v=told)
        return say("lookup.mean", metric=metric, n=count, v=told, **ends)
    if context.query.threshold is None:
        return say("lookup.many", metric=metric, n=count)
    side, limit = context.query.threshold
    over = [f for v, f in numbers if (v > limit if side == "above" else v < limit)]
    given = context.ledger.constant("threshold", limit, "the question")
    context.doc.limits.add(limit)
    words = {
        "side": say(f"lookup.{side}"),
        "limit": context.doc.show(given, None, "seconds" if context.kind_of(metric) == "seconds" else None),
    }
    if op == "count":
        total = context.ledger.count(f"steps {side} {limit:g}", len(over), metric=metric)
        told = say("lookup.count" if total.value else "lookup.count_none", metric=metric, v=total, n=count, **words)
        if not over:
            return told
        gap = "" if context.language == "zh" else " "
        return told + gap + say("calc.steps", steps=listed(context, metric, [f.step or 0 for f in over]))
    if op is None and over:
        steps = [f.step or 0 for f in over]
        total = context.ledger.count(f"steps {side} {limit:g}", len(over), metric=metric)
        told = listed(context, metric, steps)
        return say("lookup.list", metric=metric, v=total, n=count, steps=told, **words)
    if over:
        met = [v > limit if side == "above" else v < limit for v, _ in numbers]
        gap = "" if context.language == "zh" else " "
        later = since_then(context, metric, _steps(numbers), met)
        return (say("lookup.first", metric=metric, v=over[0], **words) + gap + later).rstrip()
    nearest = (max if side == "above" else min)(numbers, key=lambda pair: pair[0])[1]
    gap = "" if context.language == "zh" else " "
    said = say(f"lookup.{'highest' if side == 'above' else 'lowest'}", v=nearest)
    return say("lookup.never", metric=metric, n=count, **words) + gap + said


def _steps(numbers: list[tuple[float, Fact]]) -> list[int]:
    return [fact.step or 0 for _, fact in numbers]


# -- trend --------------------------------------------------------------------------------------
