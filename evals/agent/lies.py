"""A scripted model that lies, and lies again when asked to repair: does a false statement reach the user?"""

from __future__ import annotations

from dataclasses import dataclass

from assistant.service import Source, service
from evals.agent.asking import ask, script
from evals.faithfulness.lies import Lie, lies
from evals.questions import logs


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one reply."""

    id: str
    way: str
    judgement: bool
    engine: str
    leaked: tuple[str, ...]
    kept: int
    true: int


def run() -> list[Outcome]:
    """Every lie alone, and behind the offline answer's own sentences (so that dropping it leaves an answer)."""
    engine = service()
    found = []
    for lie in lies():
        material = engine.read([Source(lie.run, logs.text(lie.run))])
        offline = engine.explain(material, lie.question, language=lie.language, engine="offline").answer
        for way, reply in (("alone", lie.reply), ("behind truths", f"{offline.answer}\n\n{lie.reply}")):
            again = "\n".join(f"{place}: {text}" for place, text in enumerate(lie.false, 1))
            got = ask(
                material, lie.question, script({"text": _literal(reply)}, {"text": _literal(again)}),
                live=way != "alone", language=lie.language,
            )  # fmt: skip
            found.append(_outcome(lie, way, got.answer.engine, got.answer.answer + "\n" + got.streamed, offline.answer))
    return found


def _outcome(lie: Lie, way: str, engine: str, shown: str, offline: str) -> Outcome:
    leaked = tuple(text.strip() for text in lie.false if text.strip() in shown and text.strip() not in offline)
    kept = sum(text in shown for text in lie.true)
    return Outcome(lie.id, way, lie.judgement, engine, leaked, kept, len(lie.true))


def _literal(text: str) -> str:
    """A text of a script, which is a template."""
    return "{% raw %}" + text + "{% endraw %}"


def table(outcomes: list[Outcome]) -> str:
    """The outcomes as Markdown, leaks by name."""
    lines = ["| lie | replies | false statements shown | true ones kept |", "| --- | ---: | ---: | ---: |"]
    for what, judgement in (("a number, step, unit, name or direction", False), ("a conclusion", True)):
        chosen = [one for one in outcomes if one.judgement is judgement]
        kept, true = sum(one.kept for one in chosen), sum(one.true for one in chosen)
        lines.append(f"| {what} | {len(chosen)} | {sum(bool(one.leaked) for one in chosen)} | {kept} of {true} |")
    leaks = [f"- {one.id} ({one.way}): {'; '.join(one.leaked)}" for one in outcomes if one.leaked]
    return "\n".join([*lines, "", *leaks])
