"""The offline answerer: question + runs → checked answer. No model, no network."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from assistant.analysis import Ledger
from assistant.ask import (
    answer_absent,
    answer_apart,
    answer_causes,
    answer_collapsed,
    answer_complaint,
    answer_computed,
    answer_confirmed,
    answer_define,
    answer_held_out,
    answer_other,
    answer_overfit,
    answer_pace,
    answer_portions,
    answer_recalled,
    answer_reference,
    answer_reward_sum,
    answer_side_of,
    answer_sides,
    answer_stage_pair,
    answer_supposed,
    answers,
    aspects,
    clauses,
    complaints,
    framed,
    halves,
    happenings,
    in_turn,
    meant_steps,
    naming,
    noted,
    planned,
    run_questions,
    unread,
)
from assistant.ask.answer_named import values_of_named
from assistant.ask.context import EPOCHS, Context, is_validation
from assistant.ask.pointing import pointed
from assistant.ask.powers import in_full
from assistant.ask.understand import Query, State, after, continued_language, language_of, off_topic, parts, understand
from assistant.ask.wording import normalised
from assistant.ground import check
from assistant.ground.check import Checked, withhold
from assistant.knowledge import Library, Resolver
from assistant.model import Answer, Fact, GroundingError, Mention, Run, Usage, Verdict
from assistant.write.document import mark, marked_ids, render, unmark

MAX_SOURCES, MAX_PLACES, _FEW = 8, 3, 4
_TRAIN_ACCURACY = re.compile(r"训练(?:集)?(?:的|上)?(?:准确率|正确率|accuracy)|train(?:ing)? acc", re.IGNORECASE)
_WITHOUT_LOG = {"define", "out_of_scope"}  # intents that can be answered without any log


def strict_grounding() -> bool:
    """Whether an untraceable sentence is an error (development, tests) rather than withheld (production)."""
    return os.environ.get("ASSISTANT_STRICT_GROUNDING", "") not in {"", "0"}


class Answerer:
    """Answers questions about runs; holds only what is the same for every question."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver

    def ask(
        self, question: str, runs: Sequence[Run], *, language: str = "auto", default_language: str = "en",
        state: State | None = None,
    ) -> tuple[Answer, State]:  # fmt: skip
        """One question.

        Args:
            question: as typed; empty for "explain everything that matters".
            runs: parsed runs; may be empty.
            language: ``zh``, ``en`` or ``auto`` (the question's).
            default_language: where the question has none.
            state: what the conversation carried so far.

        Returns:
            The answer, checked, and the state for a follow-up.

        Raises:
            GroundingError: in development only, when a sentence of ours cannot be traced.
        """
        started = time.perf_counter()
        if language == "auto":
            fallback = state.language if state is not None and state.language else default_language
            language = continued_language(question, state, language_of(question, fallback))
        runs = halves.which(question, runs, self.resolver, language, state)
        said = meant_steps.as_meant(question, runs)
        whole = understand(said, self.resolver, runs, language=language, state=state)
        if len(runs) == 1 and (several := planned.answered(question, whole, runs, self.resolver, state)) is not None:
            answer = finish(*several, None, time.perf_counter() - started)
            return answer, planned.carried(several[0], answer, state)
        anchor = happenings.anchored(whole, runs[0]) if len(runs) == 1 else None
        asked, tail = said if anchor is None else anchor[0], ""
        if runs and whole.intent != "forecast":  # of what is to come there is no step yet
            asked, tail = answer_apart.tail(asked)
        if asked != said:
            whole = understand(asked, self.resolver, runs, language=language, state=state)

        def read(text: str, held: State | None) -> Query:
            return understand(text, self.resolver, runs, language=language, state=held)

        pieces = parts(asked)
        leaning = clauses.leaning(normalised(asked)) if len(pieces) == 1 else []
        judged = clauses.judged(normalised(asked), whole.mentions) if not leaning and runs else []
        leaning, pieces = leaning or judged, judged or pieces
        if runs and len(whole.runs) < 2:
            turns = in_turn.turns(normalised(asked), pieces, whole, read, state)
            every = self._in_turn(turns, replace(whole, text=question), runs, read, started) if turns else None
            if every is not None:
                return every
        pieces = clauses.framed(leaning, normalised(asked)) or pieces
        queries = [whole if part == asked else read(part, state) for part in pieces]
        marked = len(re.findall("[?？]", asked)) >= len(pieces)  # each asks for itself
        if len(queries) == 1 or not (marked or {q.intent for q in queries} & {whole.intent, "out_of_scope"}):
            queries = [whole]
        if runs and complaints.merely_complains(asked):  # "reward does not rise. Any idea?" is one matter
            queries = [whole]
        query = replace(queries[0], text=question)
        given = tuple(runs)
        if query.runs:  # the runs named, in the order named; one alone is the run that the question is about
            runs = tuple(runs[place] for place in query.runs if place < len(runs))
        runs = distinct(runs)
        context = Context(query, tuple(runs), self.resolver, Ledger(runs))
        if len(runs) > 1:
            context.warnings.append(context.say("note.other_runs", n=str(len(runs)), name=runs[0].name))
        narrowed = unread.requalified(context)
        verdict, problem = self._answer(context)
        verdict = _fit(context, verdict)
        if anchor is not None and problem is None:
            happenings.told(context, anchor[1])
        verdict = unread.told_first(context, verdict, *narrowed)
        if context.runs and problem is None:
            if context.kind != answer_complaint.KIND:
                unread.not_computed(context)
                aspects.further(context)
                answer_overfit.beside(context)
                verdict = answer_supposed.beside(context, verdict)
            verdict = answer_confirmed.beside(context, verdict)
        first = context.query
        starts: list[int] = []
        for place, more in enumerate(queries[1:], start=1) if context.runs else ():
            starts.append(len(context.doc.blocks))
            told = pointed(happenings.at_that_one(context, more.wording), clauses.pointed_step(context))
            told = told if leaning else clauses.against(told, first)
            same = told == more.wording  # else: "and how long were the answers then?"
            meant = more if same else understand(told, self.resolver, runs, language=language)
            queries[place] = meant
            context.query = clauses.meant(meant, first) if leaning else _of_the_same(meant, first)
            other, further = self._answer(context)
            if other.code == "out_of_scope" and verdict.code != "out_of_scope":  # after an answer, more was meant by it
                context.doc.blocks[starts[-1] :] = [clauses.unread(context, more.wording or more.text)]
            if other.code == "not_comparable" and first.intent == "compare" and not more.mentions:
                del context.doc.blocks[starts[-1] :]  # "which is longer? by how much": told by the first
            problem = problem or further
        context.query = first
        if judged and len(queries) > 1:
            clauses.in_front(context, starts)
        if tail and problem is None:
            said = answer_apart.later(context, tail, clauses.pointed_step(context))
            context.doc.paragraph(f"**{said}**" if said else clauses.unread(context, tail))
        if context.runs and problem is None and len(queries) == 1:
            clauses.further(
                context, lambda text: understand(text, self.resolver, runs, language=language), self._answer
            )
        unread.beside(context, problem)
        if not context.settled and verdict.code not in {"no_metrics", "out_of_scope", "unknown_metric", "no_data"}:
            values_of_named(context, queries)
        in_full(context)
        _other_readings(context)
        framed.one_sentence(context)
        verdict = framed.of_run(context, verdict, given)
        answer = finish(context, verdict, problem, time.perf_counter() - started)
        if context.settled:  # what a follow-up goes on from: the operation that was answered
            query = replace(query, op=first.op, asked_op=first.op, threshold=first.threshold or query.threshold)
        if first.steps.kind == "range" and (first.steps, first.op) != (query.steps, query.op):  # "after step 40"
            query = replace(query, steps=first.steps, op=first.op, asked_op=first.asked_op)
        carried = after(query, answer.facts, language, state, context.turning)
        return answer, carried

    def _in_turn(
        self, turns: Sequence[str], whole: Query, runs: Sequence[Run], read: in_turn.Understand, started: float
    ) -> tuple[Answer, State] | None:
        """The clauses of one text as turns of a conversation; ``None`` where one of them adds nothing to the others."""
        first, language = read(turns[0], None), whole.language
        given = tuple(runs)
        if first.runs:
            runs = tuple(runs[place] for place in first.runs if place < len(runs))
        context = Context(first, distinct(runs), self.resolver, Ledger(distinct(runs)))
        if len(runs) > 1:
            context.warnings.append(context.say("note.other_runs", n=str(len(runs)), name=runs[0].name))
        verdict, problem = self._answer(context)
        verdict = _fit(context, verdict)
        first = replace(context.query, threshold=context.query.threshold or first.threshold)
        if problem is not None or verdict.code in in_turn.UNANSWERED:
            return None
        held = after(first, clauses.told_facts(context), language)
        starts, asked = list[int](), [first]
        for turn in turns[1:]:
            told = pointed(happenings.at_that_one(context, turn), clauses.pointed_step(context))
            query = in_turn.turn(turn, told, read, held)
            starts.append(len(context.doc.blocks))
            if not clauses.added(context, query, self._answer):
                return None
            held = after(context.query, clauses.told_facts(context, starts[-1]), language)
            asked.append(context.query)
        context.query = replace(first, text=whole.text, steps=in_turn.steps_of(asked))
        clauses.in_front(context, starts)
        in_full(context)
        framed.one_sentence(context)
        verdict = framed.of_run(context, verdict, given)
        return finish(context, verdict, problem, time.perf_counter() - started), held

    def _answer(self, context: Context) -> tuple[Verdict, str | None]:
        query = context.query
        if query.intent == "out_of_scope" and context.runs:
            plain = None
            if not off_topic(query.said):
                plain = answer_absent.attempt(context) or run_questions.attempt(context)
            if plain is not None:
                return plain, None
            return answer_other.out_of_scope(context), None
        pointed = _PRONOUN.search(query.said) is not None and len(query.said.split()) <= _FEW  # "how is it"
        elsewhere = query.intent == "out_of_scope" and _ASKS.search(query.said) is not None and not pointed
        answerable = bool(query.mentions) or (query.intent == "out_of_scope" and (off_topic(query.said) or elsewhere))
        known = query.intent in _WITHOUT_LOG and answerable and not answer_define.of_a_log(query.said)
        if not context.runs and not known:
            text = context.say("empty.no_metrics")
            context.doc.paragraph(f"**{text}**")
            return Verdict("no_metrics", text), text
        ranged = not context.runs and run_questions.asks("reference_range", query)
        if ranged and (told := answer_reference.reference_range(context)) is not None:
            return told, None
        if not context.runs:
            declined = query.intent == "out_of_scope" or not query.mentions
            verdict = answer_other.out_of_scope(context) if declined else answer_define.define(context)
            return verdict, verdict.summary if verdict.code == "unknown_metric" else None
        computed = next((told for write in _BY_ITSELF if (told := write(context)) is not None), None)
        if computed is not None:
            return computed, None
        absent = self._absent_step(context)
        if absent is not None:
            return absent, absent.summary
        lost = unread.absent_metric(context)
        if lost is not None:
            return lost, None
        logged = any("acc" in m and not is_validation(m) for m in context.run.metrics)
        if _TRAIN_ACCURACY.search(query.said) and not logged:
            context.doc.paragraph(f"**{context.say('validation.no_training_accuracy')}**")
        unexplained = None if "premise" in query.topics else answer_complaint.unexplained(context)
        verdict = unexplained or answers.answer(context)
        if verdict.code == "unknown_metric":
            return verdict, verdict.summary
        return verdict, None

    @staticmethod
    def _absent_step(context: Context) -> Verdict | None:
        """A step that the question names and the log does not hold: said, with the steps there are."""
        query, steps = context.query, set(context.run.distinct_steps)
        ahead = query.intent in {"define", "forecast"} or "remaining" in query.topics
        if query.steps.kind not in {"single", "pair"} or ahead:
            return None
        missing = [s for s in query.steps.values if s not in steps]
        if not missing:
            return None
        held = naming.steps_text(context, sorted(steps))
        keys = naming.central(naming.named_keys(context))
        text = naming.no_step(context, missing[0], held, keys if len(missing) == 1 else [])
        context.doc.paragraph(f"**{text}**")
        context.metrics.extend(keys)
        for step in missing:
            for metric in [*context.metrics[:1], None][:1]:
                context.ledger.add(
                    ("no-step", step), kind="missing", run=context.run.id, metric=metric, step=step,
                    reason="the log holds no such step",
                )  # fmt: skip
        return Verdict("no_data", unmark(text))


#: A short question, whatever it is about, rather than words pasted where a log should be.
_ASKS = re.compile(
    r"(?i)^[^\n]{2,160}[?？]\s*$|^[^\n]{0,120}(?:吗|呢|么|多少|什么|啥|谁|哪|怎么|几|还是)[^\n]{0,40}$"
    r"|^\W*(?:who|what|where|when|why|how|which|can|could|do|does|is|are|please|tell|give)\b[^\n]{2,160}$|^\W*(?:帮我|请|给我)[^\n]{2,120}$"
)
_PRONOUN = re.compile(r"(?i)\b(?:it|that|this|they|these|those)\b|它|这个?|那个?")


def _of_the_same(query: Query, first: Query) -> Query:
    """A further question of one text that names no metric is about the metric of the first: "… per 10 steps?"."""
    if _PRONOUN.search(query.wording):  # "and is that getting worse?" describes no metric of its own
        query = replace(query, mentions=tuple(m for m in query.mentions if m.end > m.start))
    asks = query.intent in {"lookup", "trend", "compare"} and not query.topics and query.op != "count"
    named = any(m.key is not None or m.card is not None for m in query.mentions)
    if not asks or named or len(first.mentions) != 1:
        return query
    return replace(query, mentions=first.mentions, op=query.op or query.asked_op)


def distinct(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs, renumbered where two have the same id (logs that were parsed apart): facts are kept by the run's id."""
    if len({run.id for run in runs}) == len(runs):
        return tuple(runs)
    return tuple(replace(run, id=f"r{place}") for place, run in enumerate(runs))


#: Verdict codes by intent, as the contract has them; the two at the end are open to every intent.
CODES = {
    **dict.fromkeys(
        ("define", "lookup", "bottleneck", "validation", "derive"), ("answered", "no_data", "unknown_metric")
    ),
    **dict.fromkeys(("health", "explain", "advice"), ("healthy", "warning", "critical", "insufficient_data")),
    **dict.fromkeys(("trend", "forecast"), ("rising", "falling", "flat", "fluctuating", "inconclusive")),
    "compare": ("improved", "regressed", "mixed", "unchanged", "inconclusive", "not_comparable"),
}
#: Writers that know their questions by themselves, in the order in which they are tried.
_BY_ITSELF = (
    answer_recalled.attempt, answer_complaint.at_once, answer_absent.attempt, answer_held_out.attempt,
    answer_causes.attempt, answer_sides.attempt, answer_side_of.attempt, answer_stage_pair.attempt,
    answer_collapsed.attempt, answer_portions.attempt, answer_reward_sum.by_course, run_questions.attempt,
    answer_reward_sum.attempt, answer_computed.attempt, answer_pace.attempt, answer_complaint.attempt,
)  # fmt: skip
ANY_INTENT = ("out_of_scope", "no_metrics")
_NOTHING = {"trend": "inconclusive", "forecast": "inconclusive", "compare": "not_comparable"}


def _fit(context: Context, verdict: Verdict) -> Verdict:
    """A verdict in the terms of its intent: "no data" for a trend is "inconclusive"; a metric that nobody knows makes
    any question about it a look-up."""
    intent = context.query.intent
    if verdict.code in (*CODES.get(intent, ()), *ANY_INTENT):
        return verdict
    if verdict.code == "unknown_metric":
        context.query = replace(context.query, intent="lookup")
        return verdict
    return replace(verdict, code=_NOTHING.get(intent, "insufficient_data"))


def _other_readings(context: Context) -> None:
    """Where the words may mean something else, the other readings in a line: the answer's reading is one of several."""
    found = [
        text for text in context.query.alternatives if text not in context.suggestions and not _same(context, text)
    ]
    context.suggestions.extend(found)
    if found and context.runs:
        gap = "、" if context.language == "zh" else "; "
        quoted = gap.join(f"“{text}”" if context.language == "zh" else f"“{text}?”" for text in found)
        context.names.update(found)
        context.doc.paragraph(context.say("note.other_readings", listed=quoted))


def _same(context: Context, text: str) -> bool:
    """Whether another reading is about a metric that equals the answered one at every step of the log."""
    if not context.runs or len(context.metrics) != 1 or context.metrics[0] not in context.run.columns:
        return False
    other = next(
        (name for name in context.run.metrics if re.search(rf"(?<![\w/]){re.escape(name)}(?![\w/])", text)), None
    )
    own = context.metrics[0]
    return other is not None and other != own and context.run.series(other) == context.run.series(own)


def finish(context: Context, verdict: Verdict, problem: str | None, seconds: float) -> Answer:
    """Renders the document, renumbers the facts used, and checks the finished text against them."""
    doc = context.doc
    doc.blocks = list(dict.fromkeys(block for block in doc.blocks if block))
    _rows(context)
    markup = doc.markup().replace("（—）", "").replace(" (—)", "")
    said, once, again = markup.partition(context.say("trend.corrected"))
    markup = said + once + again.replace(once, "") if once else markup
    cited = [c for c in doc.citations.values() if f"[{c.id}]" in markup]
    if cited:
        listed = "; ".join(f"[{c.id}] {mark(c.id, c.title)}" for c in cited[:MAX_SOURCES])
        phrase = "sources.more" if len(cited) > MAX_SOURCES else "sources"
        markup += "\n\n" + context.say(phrase, listed=listed)
    wanted = [i for i in marked_ids(markup) if i.startswith("E")]
    wanted += [fact_id for finding in context.findings for fact_id in finding.evidence]
    if verdict.code in {"no_data", "not_comparable", "insufficient_data", "inconclusive"} or problem:
        wanted += [fact.id for fact in context.ledger.facts if fact.kind == "missing"]
    facts, names = context.used(wanted)
    rendered = render(markup, names)
    findings = tuple(replace(f, evidence=tuple(names[i] for i in f.evidence)) for f in context.findings)
    mentions = tuple(m for m in rendered.mentions if m.end > m.start)
    checked = _check(context, rendered.text, mentions, facts)
    text, warnings = rendered.text, [*context.warnings, *noted.cut_apart(context), *noted.overprinted(context)]
    if checked.failures:
        if strict_grounding():
            detail = "; ".join(f"{why}: {rendered.text[a:b].strip()[:120]}" for a, b, why in checked.failures[:5])
            raise GroundingError(zh=f"回答中有无法追溯的内容：{detail}", en=f"untraceable text in an answer: {detail}")
        text, mentions = _withheld(rendered.text, mentions, checked)
        warnings.append(context.say("note.withheld", n=str(len(checked.grounding.unsupported))))
    return Answer(
        question=context.query.text, language=context.language, engine="offline", intent=context.query.intent,
        slots=context.query.slots(context.metrics), verdict=verdict, answer=text, findings=findings, facts=facts,
        citations=tuple(doc.citations.values()), charts=tuple(context.charts),
        runs=tuple(run.summary_json(context.language) for run in context.given), mentions=mentions,
        grounding=checked.grounding, usage=Usage(seconds=round(seconds, 4)), warnings=tuple(warnings),
        suggestions=tuple(context.suggestions), problem=problem,
    )  # fmt: skip


def _rows(context: Context) -> None:
    """Where the log prints no steps, what a row is, and the epochs of those that the first sentence names."""
    if not context.doc.rows or not context.doc.blocks:
        return
    named = [int(name.partition(":")[2]) for name in marked_ids(context.doc.blocks[0]) if name.startswith("step:")]
    metric = next((name for name in EPOCHS if name in context.run.columns), "")
    places = [fact for step in dict.fromkeys(named) if (fact := context.value(metric, step)) is not None]
    if named:
        gap = "" if context.language == "zh" else " "
        said = gap.join(context.say("note.row_epoch", v=fact) for fact in places[:MAX_PLACES])
        context.doc.paragraph(context.say("note.rows", places=said))


def _check(context: Context, text: str, mentions: Sequence[Mention], facts: Sequence[Fact]) -> Checked:
    cards = {c.id: context.resolver.library.get(c.card) for c in context.doc.citations.values()}
    quotes = {cid: card_text(card, context.language) for cid, card in cards.items() if card is not None}
    quotes |= {c.id: context.quotable[c.card] for c in context.doc.citations.values() if c.card in context.quotable}
    of_runs = {name for run in context.given for name in (*run.metrics, run.name)}
    names = _known_names(context.resolver.library) | context.names | of_runs
    steps = {step for run in context.given for step in run.steps}
    return check(text, mentions, facts, steps=steps, quotes=quotes, names=names, kind_of=context.kind_of)


_NAMES: WeakKeyDictionary[Library, frozenset[str]] = WeakKeyDictionary()


def _known_names(library: Library) -> frozenset[str]:
    """Names that are no numbers, whatever the log: keys and ids of cards, ``mean@30`` and the like; kept a library."""
    if library not in _NAMES:
        names = {k for card in library for k in (*card.keys, card.id)}
        names |= {f"{stat}@{n}" for stat in ("mean", "best", "worst", "maj", "std", "pass") for n in range(1, 1025)}
        _NAMES[library] = frozenset(names | {f"best@n/{s}" for s in ("mean", "std")})
    return _NAMES[library]


def card_text(card, language: str) -> str:  # type: ignore[no-untyped-def]
    """Everything of a card that an answer may quote in a language, joined."""
    parts = [
        card.title(language),
        card.short(language),
        card.unit,
        card.formula,
        card.source,
        card.present_when(language),
    ]
    parts += list(card.body[language].values())
    if card.meta.get("healthy"):
        parts.append(card.meta["healthy"][language])
    for other in card.meta.get("also", ()):
        names = ", ".join(f"`{name}`" for name in other["keys"])
        text = f"{other['framework']} {names}"
        if "differs" in other:
            difference = other["differs"][language].rstrip("。.")
            text += f"（{difference}）" if language == "zh" else f" ({difference})"
        parts.append(text)
    return "\n\n".join(parts)


def _withheld(text: str, mentions: Sequence[Mention], checked: Checked) -> tuple[str, tuple[Mention, ...]]:
    """The text without failing sentences; mentions are kept where their text still stands once."""
    shorter = withhold(text, checked.failures)
    kept, position = [], 0
    for mention in mentions:
        piece = text[mention.start : mention.end]
        found = shorter.find(piece, position)
        if found >= 0:
            kept.append(Mention(found, found + len(piece), mention.fact))
            position = found + len(piece)
    return shorter, tuple(kept)


__all__ = ["Answerer", "Query", "State", "strict_grounding"]
