"""Which writer answers which question: by topic where one was recognised, else by intent."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module

from assistant.analysis.forecast import total_steps
from assistant.ask import answer_each_run, naming
from assistant.ask.context import Context, is_validation
from assistant.ask.departures import all_checks
from assistant.ask.findings import told
from assistant.ask.intents import is_stage
from assistant.ask.patterns import patterns
from assistant.ask.query import Query
from assistant.ask.stated import claim_in
from assistant.model import Verdict
from assistant.model.answer import Intent
from assistant.write.document import unmark

Writer = Callable[[Context], Verdict]
#: A writer that declines (``None``, nothing written) where the log does not hold what its topic needs.
Attempt = Callable[[Context], Verdict | None]
MOST_HEALTH_KEYS = 6

#: Topics in the order in which they are looked for: the intent that the answer then has, and its writer.
TOPICS: dict[str, tuple[Intent, str]] = {
    "gaps": ("lookup", "answer_log.gaps"),
    "restarts": ("lookup", "answer_log.restarts"),
    "claim": ("compare", "answer_stated.stated"),
    "share": ("bottleneck", "answer_share.share"),
    "same": ("lookup", "answer_pairs.same"),
    "interval": ("validation", "answer_log.interval"),
    "onpolicy": ("derive", "answer_setup.on_policy"),
    "cap": ("derive", "answer_setup.length_limit"),
    "framework": ("derive", "answer_setup.framework"),
    "val_train": ("compare", "answer_single.validation_against_training"),
    "unlogged": ("lookup", "answer_absent.unlogged"),
    "slowdown": ("bottleneck", "answer_speed.why_slower"),
    "remaining": ("forecast", "answer_ahead.time_left"),
    "total_time": ("lookup", "answer_log.total_time"),
    "onset": ("health", "answer_log.onset"),
    "nan": ("health", "answer_single.not_finite"),
    "memory": ("health", "answer_memory.memory"),
    "tools": ("lookup", "answer_speed.tools"),
    "tokens": ("derive", "answer_speed.tokens"),
    "got_worse": ("compare", "answer_best.got_worse"),
    "got_better": ("compare", "answer_best.got_better"),
    "best": ("lookup", "answer_best.best"),
    "worst": ("lookup", "answer_best.worst"),
    "learning": ("health", "answer_single.learning"),
    "sign": ("define", "answer_why.sign"),
    "good": ("define", "answer_why.good"),
    "premise": ("explain", "answer_why.premise"),
}
#: Topics that ask about the runs themselves where there are several.
OF_RUNS = {"got_worse", "got_better", "best", "worst"}


def _attempt(name: str) -> Attempt:
    """A topic's writer; modules of writers load when their first question comes, not with the program."""
    module, _, function = name.partition(".")
    found: Attempt = getattr(import_module(f"assistant.ask.{module}"), function)
    return found


def _late(name: str) -> Writer:
    """An intent's writer, loaded when it is called."""

    def write(context: Context) -> Verdict:
        verdict = _attempt(name)(context)
        assert verdict is not None
        return verdict

    return write


def answer(context: Context) -> Verdict:
    """Writes the answer into the context's document; the query's intent becomes that of the writer chosen."""
    query = context.query
    if not any(m.card is not None or m.key is not None for m in query.mentions):
        from assistant.ask import answer_meanings

        if (meanings := answer_meanings.attempt(context)) is not None:
            context.query = replace(query, intent="define")
            return meanings
    from assistant.ask import answer_average, answer_judged

    if (judged := answer_judged.attempt(context)) is not None:
        return judged
    if (averaged := answer_average.attempt(context)) is not None:
        context.query = replace(query, intent="lookup")
        return averaged
    for name, (intent, of_run) in TOPICS.items():
        if name not in query.topics or (name == "claim" and claim_in(query.said) is None):
            continue
        if name in OF_RUNS and len(context.runs) > 1:  # "which is better" asks for the run, not for the metric
            query = context.query = replace(query, intent="compare")
            break
        context.query = replace(query, intent=intent, op=None if name in {"best", "worst"} else query.op)
        writer = "answer_total_by_run.totals" if name == "total_time" and len(context.runs) > 1 else of_run
        write = _attempt(writer)
        several = len(context.runs) > 1 and name in answer_each_run.TOLD_OF_EACH
        verdict = (answer_each_run.each_run(context, write) if several else None) or write(context)
        if verdict is not None:
            _other_totals(context, query, name)
            return verdict
        context.query = query
    if len(context.runs) == 1 and bool(query.mentions) and query.intent in {"lookup", "trend", "validation"}:
        from assistant.ask import answer_compare

        if answer_compare.windows_of(context) is not None:
            context.query = replace(query, intent="compare")
    if len(context.runs) > 1 and (verdict := _of_runs(context)) is not None:
        return verdict
    if len(context.runs) > 1 and query.intent == "derive":
        from assistant.ask import answer_other

        if (verdict := answer_each_run.each_run(context, answer_other.derived)) is not None:
            return verdict
    keys = [m.key for m in query.mentions if m.key is not None]
    if query.intent == "bottleneck" and keys and all(_OF_A_TRAJECTORY.search(key) for key in keys):
        context.query = replace(query, intent="lookup")  # its own time is asked for, and no stage of a step
    elif query.intent == "bottleneck" and len(keys) == 1 and is_stage(keys[0]) and _ITS_TIME.search(query.said):
        context.query = replace(query, intent="lookup")  # "how long does generation take per step"
    elif query.intent == "bottleneck" and (_TAKES_LONG.search(query.said) or _PART_OF.search(query.said)):
        from assistant.ask.answer_share import of_one

        if (verdict := of_one(context)) is not None:
            return verdict
    if query.intent == "lookup" and query.depth == "every" and not query.mentions and query.op is None:
        context.query = replace(query, intent="explain")  # "list all metrics of step 10"
    return WRITERS[context.query.intent](context)


#: Times of single trajectories, which are no stages.
_OF_A_TRAJECTORY = re.compile(r"agent_loop/(?:generate_sequences|tool_calls|slowest|num_preempted)/|/time/generate/")
#: The time of the one stage that is named, and nothing of where time goes.
_ITS_TIME = re.compile(
    r"(?i)^(?!.*(?:\bmost\b|\bwhy\b|\bso long\b|\btoo\b|\bwhere\b|bottleneck|slow|瓶颈|最))\W*"
    r"how (?:long|much time|many seconds) (?:do|does|did)\b.{1,60}\b(?:take|last|need|run)\b"
)
#: What part of a step it is.
_PART_OF = re.compile(
    r"(?i)^(?!.*(?:\bmost\b|\bwhich\b|\bwhere\b|bottleneck|瓶颈|最|哪|各)).*"
    r"(?:占|比例|\b(?:share|fraction|percent\w*|proportion|part)\b.{0,6}\b(?:of|does|is)\b)"
)
#: Whether the one stage that is named takes long: its share of the step tells.
_TAKES_LONG = re.compile(
    r"(?i)^(?!.*(?:\bmost\b|\bwhy\b|\bwhich\b|\bwhere\b|bottleneck|瓶颈|最|哪|为什么|为啥|怎么|更|变|越))"
    r".*(?:\b(?:takes?|took|taking)\b.{0,8}\b(?:long|much time)\b"
    r"|(?:很|太|这么|挺)?(?:花时间|耗时|费时|久|慢|花的?时间[多长]|拖慢[^,，。?]{0,6})\s*(?:吗|么|不)?\W*$)"
)
#: Topics that are numbers of the whole run, of which one question may ask several.
_TOTALS = ("tokens", "total_time", "interval", "restarts")
_JOINED = re.compile(r"(?i)[,，、;；]|\band\b|以及|还有|和")


def _other_totals(context: Context, query: Query, told: str) -> None:
    """The other totals that a question asks for beside the one told: "how many tokens so far and the total time"."""
    if told not in _TOTALS or len(context.runs) != 1:
        return
    words = {name: pattern for name, pattern, _ in patterns().topics if name in _TOTALS and name in query.topics}
    pieces = _JOINED.split(query.wording or query.text)
    kept = context.query
    for name, pattern in words.items():
        if name == told or told not in words:
            continue
        if any(pattern.search(piece) and not words[told].search(piece) for piece in pieces):
            context.query = replace(query, topics=(name,))
            _attempt(TOPICS[name][1])(context)
    context.query = kept


#: Asks in which run a quantity is larger, and not which run is better.
_WHICH_RUN_HAS = re.compile(
    r"(?i)(?:哪(?:个|一个|份|次|边)|谁)(?:\s*(?:run|日志|log|实验))?[^,，。?]{0,24}(?:更|比较)?[高低长短大小](?:一?些|一?点)?\s*[?。]*$"
    r"|\bwhich (?:run|log|one|of (?:the|these) (?:two |runs|logs))\b.{0,24}"
    r"\b(?:higher|lower|longer|shorter|larger|smaller|bigger|more)\b"
)


def _of_runs(context: Context) -> Verdict | None:
    """What is asked of several runs at once; ``None`` where the question is for one run's writer, or a pair's."""
    from assistant.ask import answer_by_run, answer_compare, answer_moved_more, answer_runs

    query = context.query
    keys = naming.variant(context, naming.named_keys(context), query.op)
    keys = keys or [m.key for m in query.mentions if m.key is not None]
    if not query.mentions and query.steps.kind in {"none", "all"}:
        if query.intent in {"explain", "health"}:
            return answer_runs.every_run(context)
        if query.intent == "compare" and len(context.runs) > 2:
            return answer_runs.compare_many(context)
        return None
    if not keys or query.threshold is not None or (len(query.steps.values) > 1 and query.steps.kind != "range"):
        return None
    if (moved := answer_moved_more.moved_more(context, keys)) is not None:
        return moved
    if query.intent in {"lookup", "validation"}:
        verdict = answer_by_run.by_run(context, keys)
        return replace(verdict, code="answered")
    if query.intent == "health" and query.steps.kind in {"none", "all", "last"}:
        return answer_by_run.ill(context, keys)
    if query.intent == "trend":
        return answer_by_run.trends(context, keys)
    peaks = query.op in {"max", "min", "argmax", "argmin"} and query.steps.kind in {"none", "all"}
    if query.intent == "compare" and _WHICH_RUN_HAS.search(query.said) and query.steps.kind in {"none", "all"}:
        several = all(len(run.series(key)[0]) > 1 for run in context.runs for key in keys[:1] if key in run.columns)
        op = "mean" if several and not any(is_validation(key) for key in keys) else query.op
        context.query = replace(query, op=op)
        verdict = answer_by_run.by_run(context, keys)
        context.query = replace(context.query, op=query.op)
        two = len(context.runs) == 2
        return replace(verdict, code=answer_compare.code_of_runs(context, keys)) if two else verdict
    pointed = peaks or query.steps.kind in {"single", "last", "first", "range", "last_n"}
    if query.intent == "compare" and (pointed or len(context.runs) > 2):
        verdict = answer_by_run.by_run(context, keys)
        judged = query.steps.kind == "last" and len(context.runs) == 2
        return replace(verdict, code=answer_compare.code_of_runs(context, keys)) if judged else verdict
    return None


def _explain(context: Context) -> Verdict:
    """A part of the run where the question names one, else as :func:`explained`."""
    from assistant.ask import of_part

    return of_part.attempt(context) or explained(context)


def explained(context: Context) -> Verdict:
    """One step, several, or the run, as the question's steps say."""
    from assistant.ask import answer_compare, answer_explain, answer_trend, report

    slot, run = context.query.steps, context.run
    if context.query.guessed and slot.kind == "none" and context.query.text.strip() and not context.query.mentions:
        context.doc.paragraph(context.say("explain.guessed"))
        return report.explain_run(context, brief=True)
    keys = naming.central(naming.named_keys(context))
    few = 0 < len(keys) <= MOST_HEALTH_KEYS
    if context.query.intent == "health" and few:
        return answer_trend.health(context, keys)
    if slot.kind == "single" and few and (earlier := [s for s in run.series(keys[0])[0] if s < slot.values[0]]):
        verdict = answer_compare.metrics(context, keys, earlier[-1], slot.values[0])
        return replace(verdict, code="insufficient_data")
    if slot.kind == "single":
        return answer_explain.explain_step(context, slot.values[0])
    if slot.kind == "last" and few and context.query.mentions and _REASON.search(context.query.said):
        return _explain_metrics(context)  # "why did it rise again at the end": of its course, and not of all at once
    if slot.kind == "last":
        return answer_explain.explain_step(context, run.distinct_steps[-1])
    if slot.kind == "first":
        return answer_explain.explain_step(context, run.distinct_steps[0])
    if slot.kind == "pair":
        return answer_compare.compare(context)
    if keys and context.query.mentions and len(keys) <= 8 and context.query.intent == "explain":
        return _explain_metrics(context)
    return report.explain_run(context, brief=context.query.depth == "brief")


_MEANING = re.compile(r"(?i)\bmeans?\b(?! (?:reward|score|length|kl|of))|\bmeaning\b|什么意思|含义|是什么")


def _explain_metrics(context: Context) -> Verdict:
    """ "Explain the entropy": its trend where there is one, else its definition with its values."""
    from assistant.ask import answer_define

    keys = naming.central(naming.named_keys(context))
    verdict = answer_define.define(context)
    checks = [c for c in all_checks(context) if c.severity in {"critical", "warning"} and set(c.metrics) & set(keys)]
    if not checks and (course := _course_first(context, keys)) is not None:
        return course
    if not checks:
        return replace(verdict, code="insufficient_data" if verdict.code == "answered" else verdict.code)
    findings = told(context, checks)
    # What the rules say of it comes before what it is, unless that is what was asked.
    place = 1 if _MEANING.search(context.query.wording or context.query.text) else 0
    lines = [findings[0].line, *(one.whole(context.language) for one in findings[1:])]
    said = [
        f"**{findings[0].sentence}**",
        *([text] if (text := "\n".join(f"- {line}" for line in lines if line)) else []),
    ]
    context.doc.blocks[place:place] = said
    worst = "critical" if any(c.severity == "critical" for c in checks) else "warning"
    return Verdict(worst, unmark(findings[0].sentence), "medium")


#: Asks for what stands behind a value rather than for what the metric is.
_REASON = re.compile(
    r"(?i)\bwhy\b|\bhow come\b|\breasons?\b|\bcauses?\b|\bwrong\b|\bexpected\b|\bnormal\b|\bhappen"
    r"|为什么|为何|为啥|原因|怎么回事|正常"
)


def _course_first(context: Context, keys: Sequence[str]) -> Verdict | None:
    """Where the reason of a metric's values is asked for: the values first, then what the metric is and how it is read.

    ``None`` where it is the metric itself that is asked about, or the log has no value of it.
    """
    from assistant.ask.telling import trend_sentence

    said = context.query.wording or context.query.text
    if not _REASON.search(said) or _MEANING.search(said):
        return None
    lines = []
    for metric in keys[:MOST_HEALTH_KEYS]:
        steps, values = context.run.series(metric)
        fact = context.ledger.trend(metric, None) if len(steps) > 1 else None
        if len(steps) > 1 and len(set(values)) == 1 and (value := context.value(metric, steps[-1])) is not None:
            count = context.ledger.count("values", len(steps), metric=metric)
            lines.append(context.say("explain.same_throughout", metric=metric, n=count, v=value))
        elif fact is not None and fact.first_step is not None:
            lines.append(trend_sentence(context, metric, fact))
        elif steps and (value := context.value(metric, steps[-1])) is not None:
            lines.append(context.say("explain.one_value", metric=metric, v=value))
    if not lines:
        return None
    context.doc.blocks[0:0] = [f"**{lines[0]}**", *([f"- {line}" for line in lines[1:]])]
    return Verdict("insufficient_data", unmark(lines[0]), "medium")


def _validation(context: Context) -> Verdict:
    from assistant.ask import answer_lookup, answer_lost, answer_validation

    slot, query = context.query.steps, context.query
    keys = naming.named_keys(context)
    lost = None if keys else answer_lost.accuracy_lost(context)
    if lost is not None:
        return lost
    report = re.search(
        r"结果|results?\b|解读|分析|explain|interpret|误差|标准误(?!差)|可信|能信|可靠|error|trust|confiden|uncertain|题|problems",
        query.said,
    )
    if keys and (not report or not context.validation_steps):  # what is named is no validation's of verl's kind
        verdict = answer_lookup.lookup(context)
        if verdict.code == "answered" and slot.kind == "none" and len(context.run.series(keys[0])[0]) == 1:
            context.doc.blocks.clear()
            context.metrics.clear()
        else:
            return verdict
    if slot.kind in {"single", "pair"}:
        return answer_validation.validation(context, slot.values[0])
    return answer_validation.validation(context)


#: Metrics of time and speed, by their names.
_OF_TIME = re.compile(r"(?i)tim(?:e|ing)|latency|throughput|mfu|flops|per_?sec|/s\b|/sec|tps|speed|duration|fps|sps")


def _bottleneck(context: Context) -> Verdict:
    """Where the time goes; where no stage is timed, how fast it goes and what the trainer itself says to be left."""
    from assistant.ask import answer_other, answer_pace, answer_rates

    begin = len(context.doc.blocks)
    verdict = answer_other.bottleneck(context)
    if verdict.code != "no_data" or context.query.steps.kind not in {"none", "all", "last"}:
        return verdict
    told = context.doc.blocks[begin:]
    del context.doc.blocks[begin:]
    keys = naming.central(naming.named_keys(context))
    if keys and not any(is_stage(name) or _OF_TIME.search(name) for name in keys):  # "why does it halve every time"
        context.query = replace(context.query, intent="explain")
        return _explain_metrics(context)
    speed = answer_rates.any_speed(context)
    if speed is None:
        context.doc.blocks[begin:] = told
        return verdict
    left = answer_pace.printed_left(context)
    if left is not None and left.value:
        phrase = "eta.printed" if total_steps(context.run) is None else "eta.printed_left"
        context.doc.paragraph(context.say(phrase, v=left, last=max(context.run.distinct_steps)))
    return speed


WRITERS: dict[str, Writer] = {
    "explain": _explain,
    "health": _explain,
    "define": _late("answer_define.define"),
    "lookup": _late("answer_lookup.lookup"),
    "trend": _late("answer_trend.trend"),
    "forecast": _late("answer_ahead.forecast_metric"),
    "compare": _late("answer_compare.compare"),
    "derive": _late("answer_other.derived"),
    "bottleneck": _bottleneck,
    "validation": _validation,
    "advice": _late("answer_advice.advice"),
    "out_of_scope": _late("answer_other.out_of_scope"),
}
