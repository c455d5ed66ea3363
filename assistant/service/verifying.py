"""Auditing somebody's text about a log: an AI's answer, a colleague's report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assistant.ask.understand import language_of
from assistant.ground.audit import Audit, Auditor
from assistant.knowledge import Resolver
from assistant.model import EmptyInput, Fact, InputError, Run
from assistant.parsing.mojibake import repair_mojibake
from assistant.service.facade import Material, service


def verify(
    material: Material | Sequence[Run], text: str, language: str | None = None, *, resolver: Resolver | None = None,
    facts: Iterable[Fact] = (), quotes: Mapping[str, str] | None = None,
) -> Audit:  # fmt: skip
    """Audits a text about what was read.

    Args:
        material: the parsed log, or its runs.
        text: the text to audit; double-encoded text is repaired first, and offsets are then those of the repaired text.
        language: of the reasons, ``zh`` or ``en``; the text's own by default.
        resolver: from names to cards; the service's by default.
        facts: further facts that the text may state.
        quotes: texts of cards; a sentence that stands in one is no claim about the log.

    Raises:
        EmptyInput: there is no text.
        InputError: the log holds no metric, so nothing can be held against it.
    """
    runs = material.runs if isinstance(material, Material) else tuple(material)
    if not text.strip():
        raise EmptyInput(zh="没有要核对的文本。", en="There is no text to audit.")
    if not runs:
        raise InputError(
            zh="日志里没有任何指标，无从核对。请确认第一个参数是训练日志。",
            en="The log holds no metric: nothing can be checked against it. Check that the source is a training log.",
        )
    language = language if language in {"zh", "en"} else None
    repaired, _ = repair_mojibake(text)
    auditor = Auditor(runs, resolver or service().resolver, facts=facts, language=language, quotes=quotes)
    audit = auditor.audit(repaired)
    if audit.summary["contradicted"] or audit.summary["unsupported"]:
        from assistant.service.known import known

        spoken = language_of(repaired, "en")
        return known(runs, service().answerer).mended(audit, auditor, repaired, spoken)
    return audit


def summary_line(audit: Audit, language: str) -> str:
    """How many sentences are so, are not, and claim nothing, as a sentence."""
    from assistant.ground.verdicts import reason

    return reason("summary", language, total=len(audit.sentences), **audit.summary)
