"""The prompts: Jinja files of ``prompts/agent``, filled with cleaned text within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from assistant import resources
from assistant.agent import budget, cleaning, facts
from assistant.agent.budget import Counter
from assistant.model import Answer, Fact, Run
from assistant.write.document import unmark

#: Of what remains for the first message, the part that the offline answer's text may take.
ANSWER_SHARE = 0.6
#: Least tokens for the facts, whatever was asked.
LEAST = 200
#: Tokens kept free, as counts of parts do not add up exactly.
MARGIN = 24
#: Facts that only others were computed from.
MOST_INPUTS = 16
SOURCES = ("来源：", "Sources: ")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The system's message, the first message, and the tokens that both and the tools' schemas take."""

    system: str
    first: str
    tokens: int
    facts: tuple[Fact, ...]


@lru_cache(maxsize=1)
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = resources.data_folder("prompts") / "agent"
    return Environment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, keep_trailing_newline=False, autoescape=False
    )


def render(template: str, **values: Any) -> str:
    """A template of ``prompts/agent``, filled."""
    text: str = _templates().get_template(template).render(**values)
    return text.strip()


def compose(
    question: str, answer: Answer, runs: Sequence[Run], *, tokens: int, count: Counter, tool_tokens: int = 0,
    share: float = 1.0,
) -> Prompt:  # fmt: skip
    """The messages of a question.

    Args:
        question: as typed.
        answer: the offline answer, whose verdict, text and facts are handed over.
        runs: the runs, of which only names and sizes are told.
        tokens: most tokens of system, tools and first message together.
        count: counts tokens.
        tool_tokens: tokens of the tools' schemas; 0: no tools are offered.
        share: part of the text and facts to hand over (a half, after the model said that it was too much).
    """
    language = answer.language
    system = render(f"system.{language}.j2")
    values: dict[str, Any] = {
        "language": language, "tools": tool_tokens > 0, "verdict": answer.verdict,
        "question": cleaning.quoted(question, cleaning.LONGEST_QUESTION),
        "runs": [_run(run) for run in runs[:8]],
    }  # fmt: skip
    frame = render("first.j2", **values, answer="", facts=[])
    spent = count(system) + count(frame) + tool_tokens + 2 * budget.PER_MESSAGE + MARGIN
    room = max(LEAST, int((tokens - spent) * share))
    told = budget.cut_to(_text(answer), max(LEAST // 2, int(room * ANSWER_SHARE)), count)
    several = len(runs) > 1
    stated = _stated(answer, told)
    told_of = {m.fact for m in answer.mentions} | {one for finding in answer.findings for one in finding.evidence}
    ordered = [fact for fact in facts.ranked(answer) if fact.id not in stated]
    further = [fact for fact in ordered if fact.id in told_of]
    further += [fact for fact in ordered if fact.id not in told_of][:MOST_INPUTS]
    lines = budget.fitting(
        [(fact, facts.line(fact, with_run=several)) for fact in further],
        lambda item: count(item[1]) + 1, room - count(told),
    )  # fmt: skip
    first = render("first.j2", **values, answer=told, facts=[text for _, text in lines])
    whole = count(system) + count(first) + tool_tokens + 2 * budget.PER_MESSAGE
    return Prompt(system, first, whole, tuple(fact for fact, _ in lines))


def _text(answer: Answer) -> str:
    """The offline answer as data for the model."""
    text = unmark(answer.answer)
    last = text.rpartition("\n\n")
    if last[2].startswith(SOURCES):  # they are added again to what the model writes
        text = last[0]
    verdict = unmark(answer.verdict.summary)
    lead = "" if verdict.strip("*") in text else f"{verdict}\n\n"
    return cleaning.quoted(lead + text, 40_000)


def _stated(answer: Answer, told: str) -> set[str]:
    """Facts that stand in the lines of the answer that are told."""
    found, start = set(), 0
    for line in answer.answer.split("\n"):
        end = start + len(line)
        here = {m.fact for m in answer.mentions if start <= m.start < end}
        if here and cleaning.quoted(line, 40_000) in told:
            found |= here
        start = end + 1
    return found


def _run(run: Run) -> dict[str, Any]:
    steps = run.distinct_steps
    return {
        "id": run.id, "format": cleaning.name(run.format), "framework": cleaning.name(run.framework or ""),
        "axis": cleaning.name(run.step_axis), "first": steps[0] if steps else "–", "last": steps[-1] if steps else "–",
        "n_steps": len(steps), "n_metrics": len(run.columns),
    }  # fmt: skip
