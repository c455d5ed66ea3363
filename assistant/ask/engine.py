"""The offline answerer: question + runs → checked answer. No model, no network."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from assistant.analysis import Ledger
from assistant.ask import (
    answer_compare,
    answer_define,
    answer_explain,
    answer_lookup,
    answer_other,
    answer_trend,
    answer_validation,
    naming,
)
from assistant.ask.context import Context, is_validation
from assistant.ask.understand import Query, State, language_of, off_topic, parts, understand
from assistant.ground import check
from assistant.ground.check import Checked, withhold
from assistant.knowledge import Resolver
from assistant.model import Answer, Fact, GroundingError, Mention, Run, Usage, Verdict
from assistant.write.document import marked_ids, render, unmark

#: Intents that can be answered without any log.
MAX_SOURCES = 8
MOST_HEALTH_KEYS = 6
_TRAIN_ACCURACY = re.compile(r"训练(?:集)?(?:的|上)?(?:准确率|正确率|accuracy)|train(?:ing)? acc", re.IGNORECASE)
_WITHOUT_LOG = {"define", "out_of_scope"}


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
            language = language_of(question, fallback)
        queries = [understand(part, self.resolver, runs, language=language, state=state) for part in parts(question)]
        whole = understand(question, self.resolver, runs, language=language, state=state)
        if len(queries) == 1 or len({q.intent for q in queries} & {whole.intent, "out_of_scope"}) == 0:
            queries = [whole]
        query = replace(queries[0], text=question)
        context = Context(query, tuple(runs), self.resolver, Ledger(runs))
        if len(runs) > 1:
            context.warnings.append(context.say("note.other_runs", n=str(len(runs)), name=runs[0].name))
        verdict, problem = self._answer(context)
        verdict = _fit(context, verdict)
        first = context.query
        for other in queries[1:] if context.runs else []:
            context.query = other
            _, further = self._answer(context)
            problem = problem or further
        context.query = first
        answer = finish(context, verdict, problem, time.perf_counter() - started)
        carried = State(query.intent, query.mentions, query.steps, language, query.depth)
        return answer, carried

    def _answer(self, context: Context) -> tuple[Verdict, str | None]:
        query = context.query
        if query.intent == "out_of_scope" and context.runs:
            return answer_other.out_of_scope(context), None
        answerable = bool(query.mentions) or (query.intent == "out_of_scope" and off_topic(query.text))
        if not context.runs and not (query.intent in _WITHOUT_LOG and answerable):
            text = context.say("empty.no_metrics")
            context.doc.paragraph(f"**{text}**")
            return Verdict("no_metrics", text), text
        if not context.runs:
            verdict = answer_define.define(context) if query.mentions else answer_other.out_of_scope(context)
            return verdict, verdict.summary if verdict.code == "unknown_metric" else None
        absent = self._absent_step(context)
        if absent is not None:
            return absent, absent.summary
        logged = any("acc" in m and not is_validation(m) for m in context.run.metrics)
        if _TRAIN_ACCURACY.search(query.text) and not logged:
            context.doc.paragraph(f"**{context.say('validation.no_training_accuracy')}**")
        verdict = _DISPATCH[query.intent](context)
        if verdict.code == "unknown_metric":
            return verdict, verdict.summary
        return verdict, None

    @staticmethod
    def _absent_step(context: Context) -> Verdict | None:
        """A step that the question names and the log does not hold: said, with the steps there are."""
        query, steps = context.query, set(context.run.distinct_steps)
        if query.steps.kind not in {"single", "pair"} or query.intent in {"define", "forecast"}:
            return None
        missing = [s for s in query.steps.values if s not in steps]
        if not missing:
            return None
        held = naming.steps_text(context, sorted(steps))
        text = context.say("lookup.no_step", step=str(missing[0]), steps=held)
        context.doc.paragraph(f"**{text}**")
        context.metrics.extend(naming.central(naming.named_keys(context)))
        for step in missing:
            for metric in [*context.metrics[:1], None][:1]:
                context.ledger.add(
                    ("no-step", step), kind="missing", run=context.run.id, metric=metric, step=step,
                    reason="the log holds no such step",
                )  # fmt: skip
        return Verdict("no_data", unmark(text))


def _explain(context: Context) -> Verdict:
    """One step, several, or the run, as the question's steps say."""
    slot, run = context.query.steps, context.run
    if context.query.guessed and slot.kind == "none" and context.query.text.strip() and not context.query.mentions:
        context.doc.paragraph(context.say("explain.guessed"))
        return answer_explain.explain_run(context, brief=True)
    keys = naming.central(naming.named_keys(context))
    few = 0 < len(keys) <= MOST_HEALTH_KEYS
    if context.query.intent == "health" and few:
        return answer_trend.health(context, keys)
    if slot.kind == "single" and few and (earlier := [s for s in run.series(keys[0])[0] if s < slot.values[0]]):
        verdict = answer_compare.metrics(context, keys, earlier[-1], slot.values[0])
        return replace(verdict, code="insufficient_data")
    if slot.kind == "single":
        return answer_explain.explain_step(context, slot.values[0])
    if slot.kind == "last":
        return answer_explain.explain_step(context, run.distinct_steps[-1])
    if slot.kind == "first":
        return answer_explain.explain_step(context, run.distinct_steps[0])
    if slot.kind == "pair":
        return answer_compare.compare(context)
    if keys and context.query.mentions and len(keys) <= 8 and context.query.intent == "explain":
        return _explain_metrics(context)
    return answer_explain.explain_run(context)


def _explain_metrics(context: Context) -> Verdict:
    """ "Explain the entropy": its trend where there is one, else its definition with its values."""
    verdict = answer_define.define(context)
    code = "insufficient_data" if verdict.code == "answered" else verdict.code
    return replace(verdict, code=code)


def _validation(context: Context) -> Verdict:
    slot, query = context.query.steps, context.query
    keys = naming.named_keys(context)
    report = re.search(r"结果|results?\b|解读|分析|explain|interpret", query.text)
    if keys and not report:
        verdict = answer_lookup.lookup(context)
        if verdict.code == "answered" and slot.kind == "none" and len(context.run.series(keys[0])[0]) == 1:
            context.doc.blocks.clear()
            context.metrics.clear()
        else:
            return verdict
    if slot.kind in {"single", "pair"}:
        return answer_validation.validation(context, slot.values[0])
    return answer_validation.validation(context)


_DISPATCH: dict[str, Callable[[Context], Verdict]] = {
    "explain": _explain,
    "health": _explain,
    "define": answer_define.define,
    "lookup": answer_lookup.lookup,
    "trend": answer_trend.trend,
    "forecast": answer_other.forecast,
    "compare": answer_compare.compare,
    "derive": answer_other.derived,
    "bottleneck": answer_other.bottleneck,
    "validation": _validation,
    "advice": answer_other.advice,
    "out_of_scope": answer_other.out_of_scope,
}


#: Verdict codes by intent, as the contract has them; the two at the end are open to every intent.
CODES = {
    **dict.fromkeys(
        ("define", "lookup", "bottleneck", "validation", "derive"), ("answered", "no_data", "unknown_metric")
    ),
    **dict.fromkeys(("health", "explain", "advice"), ("healthy", "warning", "critical", "insufficient_data")),
    **dict.fromkeys(("trend", "forecast"), ("rising", "falling", "flat", "fluctuating", "inconclusive")),
    "compare": ("improved", "regressed", "mixed", "unchanged", "inconclusive", "not_comparable"),
}
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


def finish(context: Context, verdict: Verdict, problem: str | None, seconds: float) -> Answer:
    """Renders the document, renumbers the facts used, and checks the finished text against them."""
    doc = context.doc
    doc.blocks = [block for block in doc.blocks if block]
    markup = doc.markup().replace("（—）", "").replace(" (—)", "")
    if doc.citations:
        listed = "; ".join(
            f"[{c.id}] {c.card}" if f"[{c.id}]" in markup else c.card
            for c in list(doc.citations.values())[:MAX_SOURCES]
        )
        phrase = "sources.more" if len(doc.citations) > MAX_SOURCES else "sources"
        markup += "\n\n" + context.say(phrase, listed=listed)
    wanted = [i for i in marked_ids(markup) if i.startswith("E")]
    wanted += [fact_id for finding in context.findings for fact_id in finding.evidence]
    if verdict.code in {"no_data", "not_comparable", "insufficient_data", "inconclusive"} or problem:
        wanted += [fact.id for fact in context.ledger.facts if fact.kind == "missing"]
    facts, names = context.ledger.used(wanted)
    rendered = render(markup, names)
    findings = tuple(replace(f, evidence=tuple(names[i] for i in f.evidence)) for f in context.findings)
    mentions = tuple(m for m in rendered.mentions if m.end > m.start)
    checked = _check(context, rendered.text, mentions, facts)
    text, warnings = rendered.text, list(context.warnings)
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
        runs=tuple(run.summary_json(context.language) for run in context.runs), mentions=mentions,
        grounding=checked.grounding, usage=Usage(seconds=round(seconds, 4)), warnings=tuple(warnings),
        suggestions=tuple(context.suggestions), problem=problem,
    )  # fmt: skip


def _check(context: Context, text: str, mentions: Sequence[Mention], facts: Sequence[Fact]) -> Checked:
    cards = {c.id: context.resolver.library.get(c.card) for c in context.doc.citations.values()}
    quotes = {cid: card_text(card, context.language) for cid, card in cards.items() if card is not None}
    quotes |= {c.id: context.quotable[c.card] for c in context.doc.citations.values() if c.card in context.quotable}
    names = {name for run in context.runs for name in (*run.metrics, run.name)}
    names |= {k for card in context.resolver.library for k in (*card.keys, card.id)}
    names |= {f"{stat}@{n}" for stat in ("mean", "best", "worst", "maj", "std", "pass") for n in range(1, 1025)}
    names |= {f"best@n/{s}" for s in ("mean", "std")}
    steps = {step for run in context.runs for step in run.steps}
    return check(text, mentions, facts, steps=steps, quotes=quotes, names=names, kind_of=context.kind_of)


def card_text(card, language: str) -> str:  # type: ignore[no-untyped-def]
    """Everything of a card that an answer may quote in a language, joined."""
    parts = [
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
