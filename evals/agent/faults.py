"""Every fault of the scripted model, streamed and not: does it end in a grounded answer, in time, with its reason?"""

from __future__ import annotations

from dataclasses import dataclass

from assistant.devmodel import builtin_names
from assistant.service import Source, service
from evals.agent.asking import ask
from evals.questions import logs

#: Seconds after the deadline that starting and ending may take on a busy machine.
SLACK = 1.0
DEADLINE = 4.0
QUESTIONS = {"en": "Is the run healthy?", "zh": "这次训练正常吗？"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one fault."""

    name: str
    live: bool
    language: str
    engine: str
    seconds: float
    requests: int
    why: str
    problems: tuple[str, ...]


def run(names: tuple[str, ...] = ()) -> list[Outcome]:
    """All faults, or some, in both ways; Chinese and English in turn."""
    engine = service()
    material = engine.read([Source("example", logs.text("example"))])
    ask(material, QUESTIONS["en"], "echo", live=False)  # what is loaded once is loaded
    found = []
    for place, name in enumerate(names or sorted(builtin_names())):
        for live in (True, False):
            language = ("en", "zh")[(place + live) % 2]
            got = ask(material, QUESTIONS[language], name, live=live, deadline=DEADLINE)
            answer, problems = got.answer, []
            if got.seconds > DEADLINE + SLACK:
                problems.append("too late")
            if not answer.answer.strip() or answer.verdict != got.offline.verdict:
                problems.append("no answer, or another verdict")
            if answer.grounding.supported < answer.grounding.numbers and not answer.grounding.unsupported:
                problems.append("not grounded")
            if answer.engine == "offline" and (answer.answer != got.offline.answer or not answer.warnings):
                problems.append("no reason given")
            if answer.engine == "llm" and live and got.streamed != answer.answer:
                problems.append("streamed another text")
            why = answer.warnings[-1] if answer.warnings else ""
            found.append(Outcome(name, live, language, answer.engine, got.seconds, got.requests, why, tuple(problems)))
    return found


def table(outcomes: list[Outcome]) -> str:
    """The outcomes as Markdown."""
    lines = ["| fault | streamed | not streamed | requests |", "| --- | --- | --- | ---: |"]
    for name in dict.fromkeys(one.name for one in outcomes):
        live, whole = (next(o for o in outcomes if o.name == name and o.live is way) for way in (True, False))
        cells = [
            f"{o.engine} {o.seconds:.1f} s{' **' + ', '.join(o.problems) + '**' if o.problems else ''}"
            for o in (live, whole)
        ]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} | {live.requests} |")
    good = sum(not one.problems for one in outcomes)
    return "\n".join([*lines, "", f"{good} of {len(outcomes)} end in a grounded answer in time."])
