"""Everything that rules say about runs: diagnoses, broken identities, thresholds; one verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from assistant.analysis import Ledger
from assistant.analysis.thresholds import RANK, Breach, Threshold, Unchecked, check_thresholds
from assistant.knowledge import Resolver
from assistant.model import Answer, Fact, Finding, InputError, Run, Verdict
from assistant.model.fact import Severity
from assistant.service.thresholds import of_cards, of_user, shipped
from assistant.write.document import mark, unmark
from assistant.write.numbers import plain

#: Steps from which the silence of the rules says something.
ENOUGH_STEPS = 8
#: Share of the steps up to which an impossible value may be one that was altered.
RARE = 0.05
_GRAVEST_FIRST = ("critical", "warning", "insufficient_data", "healthy")


@dataclass(frozen=True)
class Report:
    """What a check found.

    Attributes:
        verdict: ``healthy``, ``warning``, ``critical`` or ``insufficient_data``.
        findings: gravest first.
        facts: what carries them.
        runs: the runs checked, as in an answer.
        text: the report as Markdown.
        language: of the text and the statements.
        warnings: what could not be checked, and remarks.
        conditions: each threshold that was asked for, the run, and ``holds``, ``broken`` or ``undecided``.
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    facts: tuple[Fact, ...]
    runs: tuple[dict[str, Any], ...]
    text: str
    language: str
    warnings: tuple[str, ...]
    conditions: tuple[tuple[str, str, str], ...] = ()

    def reaches(self, level: str) -> bool:
        """Whether a finding is at or over a level."""
        return any(RANK[finding.severity] >= RANK[cast(Severity, level)] for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The contract's object."""
        return {
            "verdict": {
                "code": self.verdict.code, "summary": self.verdict.summary, "confidence": self.verdict.confidence,
            },
            "language": self.language,
            "findings": [finding.to_json() for finding in self.findings],
            "facts": [fact.to_json() for fact in self.facts],
            "runs": [dict(run) for run in self.runs],
            "report": self.text,
            "warnings": list(self.warnings),
        }  # fmt: skip


def check_runs(
    runs: Sequence[Run], resolver: Resolver, *, thresholds: Sequence[str] = (), language: str = "en",
    limits: bool = True,
) -> Report:  # fmt: skip
    """Checks runs against every rule.

    Args:
        runs: parsed runs.
        resolver: for the metrics' cards.
        thresholds: conditions that the user asks for (``actor/ppo_kl < 0.05``).
        language: of sentences, ``zh`` or ``en``.
        limits: look at thresholds too, not only at failure modes and identities.

    Raises:
        InputError: no run, or a threshold that cannot be read or names a metric nobody knows.
    """
    asked = of_user(thresholds, runs, lambda name, run: _key(resolver, name, run))
    if not runs:
        raise InputError(zh="文本里没有任何指标，没有可检查的内容。", en="The text holds no metric: nothing to check.")
    _refuse_unknown(asked, runs, resolver)
    return _merged([_Work(run, resolver, language, asked, limits=limits) for run in runs], language)


def _key(resolver: Resolver, name: str, run: Run) -> str | None:
    if f"{name}/mean" in run.columns:
        return f"{name}/mean"
    mentioned = resolver.mentions(name, run.metrics, run.framework)
    return next((m.key for m in mentioned if m.key is not None), None)


def _refuse_unknown(asked: Sequence[Threshold], runs: Sequence[Run], resolver: Resolver) -> None:
    """A threshold over a metric that neither the logs nor the cards know is a slip of the pen."""
    for threshold in asked:
        for metric in threshold.metrics:
            if any(metric in run.columns for run in runs) or resolver.name(metric):
                continue
            keys = [key for run in runs for key in run.metrics]
            near = resolver.nearest(metric, keys=keys, only_keys=True)
            raise InputError(
                zh=f"阈值“{threshold.text}”里的指标“{metric}”在日志里没有，也没有定义。最接近的：{'、'.join(near)}。",
                en=f"The metric “{metric}” of the threshold “{threshold.text}” is not in the log and has no "
                f"definition. Nearest: {', '.join(near)}.",
            )


class _Work:
    """One run's check: its findings, its report, and what could not be decided."""

    def __init__(
        self, run: Run, resolver: Resolver, language: str, asked: Sequence[Threshold], *, limits: bool = True
    ) -> None:
        from assistant.ask.context import Context
        from assistant.ask.understand import Query

        self.run = run
        self.context = Context(Query("", language, "health"), (run,), resolver, Ledger([run]))
        self.sentences: list[tuple[Severity, str]] = []
        self.unchecked: list[Unchecked] = []
        self.conditions: list[tuple[str, str, str]] = []
        self._rules()
        self._identities()
        if limits:
            self._thresholds(asked)
        self.answer = self._finished()

    def _rules(self) -> None:
        from assistant.ask.considered import others, signs
        from assistant.ask.departures import all_checks

        for check in all_checks(self.context):
            sentence = self.context.finding(check)
            more = [text for text in (signs(self.context, check), others(self.context, check)) if text]
            self.sentences.append((check.severity, "\n  ".join([sentence, *more])))

    def _identities(self) -> None:
        from assistant.analysis.identities import verify
        from assistant.ask.violations import broken

        resumed = any(note.code == "restart" for note in self.run.warnings)
        resumed = resumed or any(finding.mode == "FM-38" for finding in self.context.findings)
        for violation in verify(self.context.ledger, self.run):
            if resumed and violation.identity == "I-36":  # a peak that fell is the restart that is told already
                continue
            self.sentences.append((violation.severity, broken(self.context, violation)))

    def _thresholds(self, asked: Sequence[Threshold]) -> None:
        known = {finding.rule for finding in self.context.findings}
        rules = [*asked, *of_cards(self.run, self.context.card)]
        rules += [t for t in _for_framework(self.run) if not known & _TOLD_BY.get(t.id, set())]
        breaches, self.unchecked = check_thresholds(self.context.ledger, rules, self.run)
        broken, open_ = {b.threshold.text for b in breaches}, {left.threshold.text for left in self.unchecked}
        for text in dict.fromkeys(threshold.text for threshold in asked):
            status = "broken" if text in broken else "undecided" if text in open_ else "holds"
            self.conditions.append((text, self.run.id, status))
        for breach in breaches:
            self.sentences.append((breach.severity, self._breach(breach)))

    def _breach(self, breach: Breach) -> str:
        context, threshold = self.context, breach.threshold
        context.names |= {_rule(breach), threshold.source}
        values: dict[str, Any] = {
            "first": breach.first, "worst": breach.worst, "count": breach.count, "total": breach.total,
            "rule": f"`{_rule(breach)}`", "source": f"`{threshold.source}`",
            "seen": self._shown(breach.first, breach.limit), "far": self._shown(breach.worst, breach.limit),
        }  # fmt: skip
        sentence = context.say(_phrase(breach), **values)
        advice = (breach.band.advice if breach.band else None) or threshold.advice
        if advice is not None:
            text, name = advice.of(context.language), f"thresholds.yaml#{threshold.id}"
            context.quotable[name] = text
            sentence += ("" if context.language == "zh" else " ") + context.doc.quote(
                name, name, threshold.source, text
            )
        evidence = [breach.first, breach.worst, breach.count, breach.total, *([breach.limit] if breach.limit else [])]
        context.findings.append(
            Finding(
                f"F{len(context.findings) + 1}",
                "threshold" if threshold.given else f"threshold/{threshold.id}",
                breach.severity, threshold.metrics, breach.steps, unmark(sentence),
                tuple(dict.fromkeys(fact.id for fact in evidence)),
            )
        )  # fmt: skip
        card = context.resolver.library.get(threshold.card) if threshold.card else None
        return f"{sentence} {context.cite(card)}".strip()

    def _shown(self, fact: Fact, limit: Fact | None) -> str:
        """A value with as many digits as tell it from the limit."""
        doc, value = self.context.doc, fact.value
        bound = None if limit is None else limit.value
        if isinstance(value, float) and isinstance(bound, (int, float)) and math.isfinite(value) and value != bound:
            for digits in range(3, 9):
                if plain(value, digits) != plain(bound, digits):
                    return doc.show(fact) if digits == 3 else mark(fact.id, plain(value, digits))
        return doc.show(fact)

    def _finished(self) -> Answer:
        """The report of this run, every number of it traced."""
        from assistant.analysis.checks import covered
        from assistant.ask.engine import finish

        context, say = self.context, self.context.say
        order = sorted(range(len(self.sentences)), key=lambda i: -RANK[self.sentences[i][0]])
        context.findings = [replace(context.findings[i], id=f"F{place}") for place, i in enumerate(order, 1)]
        self.sentences = [self.sentences[i] for i in order]
        code: str
        worst = self.sentences[0][0] if self.sentences else "ok"
        steps = context.ledger.count("steps", len(self.run.distinct_steps))
        metrics = context.ledger.count("metrics", len(self.run.metrics))
        number = sum(RANK[severity] >= RANK["warning"] for severity, _ in self.sentences)
        if worst in {"critical", "warning"}:
            code = worst
            summary = say(
                f"check.{worst}", count=context.ledger.count("findings", number), steps=steps, metrics=metrics
            )
        else:
            few = len(context.train_steps) < ENOUGH_STEPS
            healthy = not few and covered(self.run)
            code = "healthy" if healthy else "insufficient_data"
            phrase = "check.healthy" if healthy else "check.few_steps" if few else "check.not_covered"
            values: dict[str, Any] = {"steps": steps, "metrics": metrics}
            if any(severity == "info" for severity, _ in self.sentences):
                phrase += "_notes"
                notes = sum(severity == "info" for severity, _ in self.sentences)
                values["notes"] = context.ledger.count("notes", notes)
            summary = say(phrase, **values)
        context.doc.paragraph(f"**{summary}**")
        labels = {severity: say(f"check.label_{severity}") for severity in ("critical", "warning", "info", "ok")}
        context.doc.bullets([f"**{labels[severity]}** · {sentence}" for severity, sentence in self.sentences])
        context.names |= {left.threshold.text for left in self.unchecked}
        for left in self.unchecked:
            absent = context.join(f"`{metric}`" for metric in left.absent)
            phrase = "check.undecided" if left.absent else "check.undecided_steps"
            told = {"rule": f"`{left.threshold.text}`", **({"absent": absent} if absent else {})}
            context.warnings.append(unmark(say(phrase, **told)))
        context.doc.bullets(context.warnings)
        return finish(context, Verdict(code, unmark(summary), "high" if worst == "critical" else "medium"), None, 0.0)


#: A shipped threshold that says what a rule says already.
_TOLD_BY = {
    **{f"{name}_truncation": {"truncation", "truncation_rising"} for name in ("verl", "trl", "openrlhf", "slime")},
    "areal_no_eos": {"truncation", "truncation_rising"},
    "custom_mean_ratio": {"exploding_ratio"},
}


def _for_framework(run: Run) -> list[Threshold]:
    wanted = run.framework or "custom"
    return [replace(t, frameworks=()) for t in shipped() if wanted in t.frameworks]


def _rule(breach: Breach) -> str:
    """What should hold, as text: of bands, the one that was passed."""
    threshold = breach.threshold
    return threshold.text if breach.band is None else f"{threshold.measure_text} <= {breach.band.above:g}"


def _phrase(breach: Breach) -> str:
    if breach.threshold.id.startswith("possible/"):
        if breach.threshold.advice is not None:
            return f"threshold.beyond_{'many' if len(breach.steps) > 1 else 'one'}"
        often = len(breach.steps) > RARE * breach.checked
        return "threshold.impossible_often" if often else "threshold.impossible"
    several = len(breach.steps) > 1 and breach.first.step != breach.worst.step
    many = "many" if several else "one" if len(breach.steps) == 1 else "same"
    if many != "one" and isinstance(breach.worst.value, float) and math.isnan(breach.worst.value):
        many = "not_finite"  # NaN is not farther off than anything
    if breach.limit is None:
        return f"threshold.joined_{'one' if len(breach.steps) == 1 else 'many'}"
    return f"threshold.{'given' if breach.threshold.given else 'sourced'}_{many}"


def _merged(works: Sequence[_Work], language: str) -> Report:
    """The reports of several runs as one; facts and findings are numbered through."""
    findings: list[Finding] = []
    facts: list[Fact] = []
    parts: list[str] = []
    for work in works:
        answer, shift = work.answer, len(facts)
        names = {fact.id: f"E{shift + int(fact.id[1:])}" for fact in answer.facts}
        facts += [
            replace(f, id=names[f.id], inputs=None if f.inputs is None else tuple(names[i] for i in f.inputs))
            for f in answer.facts
        ]
        findings += [
            replace(f, id=f"F{len(findings) + place}", evidence=tuple(names[i] for i in f.evidence))
            for place, f in enumerate(answer.findings, 1)
        ]
        heading = f"### {work.run.name} ({work.run.id})\n\n" if len(works) > 1 else ""
        parts.append(heading + answer.answer)
    grave = min(works, key=lambda w: _GRAVEST_FIRST.index(w.answer.verdict.code))
    verdict = grave.answer.verdict
    if len(works) > 1:
        verdict = replace(verdict, summary=f"{grave.run.name}: {verdict.summary}")
    warnings = [warning for work in works for warning in work.answer.warnings]
    runs = tuple(work.run.summary_json(language) for work in works)
    conditions = tuple(condition for work in works for condition in work.conditions)
    return Report(
        verdict, tuple(findings), tuple(facts), runs, "\n\n".join(parts), language, tuple(warnings), conditions
    )
