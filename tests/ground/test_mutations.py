"""Answers with one thing changed: the check must notice.

Measured over the answers below, one change at a time, with the writer's marks kept (the fault of a formatter):
digits 99.4 %, signs 99.8 %, steps, units of another scale, direction words and quotations 100 %.

What is not noticed, and so is not asserted: a unit changed for another of the same scale (s, ms, GiB, tokens/s;
percentage points for %), a unit dropped where the bare number has the same value, and the metric's name.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import pytest

from assistant.ground.reading import Read, numbers
from assistant.model import Answer, Mention, Run
from tests.analysis.support import long_run
from tests.ask.support import PAIRS, answerer, example_runs, recheck

SAMPLE = 12
FLOOR = {"digit": 0.97, "sign": 0.97, "step": 1.0, "scale": 0.97}


@dataclass(frozen=True)
class Asked:
    answer: Answer
    runs: tuple[Run, ...]


@lru_cache(maxsize=1)
def answers() -> list[Asked]:
    found = []
    for runs in (example_runs(), (long_run(),)):
        for pair in PAIRS:
            for language, question in zip(("zh", "en"), pair, strict=True):
                answer, _ = answerer().ask(question, runs, language=language)
                found.append(Asked(answer, tuple(runs)))
    return found


def edited(answer: Answer, start: int, end: int, new: str) -> tuple[str, list[Mention]]:
    """The text with ``start:end`` replaced; marks over it stay, marks behind it move."""
    shift = len(new) - (end - start)
    mentions = []
    for m in answer.mentions:
        before = m.end <= start
        moved = 0 if before or m.start < end else shift
        mentions.append(Mention(m.start + moved, m.end if before else m.end + shift, m.fact))
    return answer.answer[:start] + new + answer.answer[end:], mentions


def marked(answer: Answer, owners: str) -> Iterator[tuple[Read, str]]:
    """Numbers that stand in a mark whose owner begins with ``owners``."""
    spans = [(m.start, m.end, m.fact) for m in answer.mentions if m.fact.startswith(owners)]
    for read in numbers(answer.answer):
        owner = next((o for a, b, o in spans if a <= read.start and read.start + len(read.text) <= b), None)
        if owner is not None and any(c.isdigit() for c in read.text):
            yield read, owner


def with_digit(text: str, place: int, dice: random.Random) -> str:
    """Another digit at the first (0) or last (-1) place of the mantissa."""
    end = next((i for i, c in enumerate(text) if c in "eE%％× "), len(text))
    i = [k for k, c in enumerate(text[:end]) if c.isdigit()][place]
    return text[:i] + dice.choice([d for d in "123456789" if d != text[i]]) + text[i + 1 :]


def mutations(read: Read, owner: str, steps: Sequence[int], dice: random.Random) -> Iterator[tuple[str, str]]:
    text = read.text
    if owner.startswith("step:"):
        others = [step for step in steps if step != read.value]
        yield "step", str(dice.choice(others))
        yield "step", str(max(steps) + dice.randint(1, 9))
        return
    yield "digit", with_digit(text, 0, dice)
    yield "digit", with_digit(text, -1, dice)
    if read.value and text[0] in "+-−":
        yield "sign", ("-" if text[0] == "+" else "+") + text[1:]
    elif read.value and text[0] != "±":
        yield "sign", "-" + text
    if read.value:
        bare = text.removesuffix(read.unit).rstrip()
        yield "scale", bare + (" h" if read.unit in {"%", "％", "pp", "个百分点"} else "%")


def caught(kind: str) -> tuple[int, int, list[str]]:
    """How many mutations of a kind are noticed, of how many, and those that are not."""
    seen, total, escaped = 0, 0, []
    for number, asked in enumerate(answers()):
        dice = random.Random(number)
        reads = list(marked(asked.answer, "step:" if kind == "step" else "E"))
        for read, owner in dice.sample(reads, min(SAMPLE, len(reads))):
            for name, new in mutations(read, owner, asked.runs[0].distinct_steps, dice):
                if name != kind or new == read.text:
                    continue
                text, mentions = edited(asked.answer, read.start, read.start + len(read.text), new)
                total += 1
                if recheck(asked.answer, asked.runs, text, mentions).failures:
                    seen += 1
                else:
                    near = asked.answer.answer[max(0, read.start - 30) : read.end + 10]
                    escaped.append(f"{read.text} → {new} ({owner}) in {near!r}")
    return seen, total, escaped


def test_check_answers_untouched_have_no_failure() -> None:
    for asked in answers():
        result = recheck(asked.answer, asked.runs, asked.answer.answer, asked.answer.mentions)
        assert result.failures == (), asked.answer.question
        assert result.grounding.numbers == result.grounding.supported == asked.answer.grounding.numbers


@pytest.mark.parametrize("kind", sorted(FLOOR))
def test_check_answer_with_one_number_changed_is_noticed(kind: str) -> None:
    seen, total, escaped = caught(kind)
    assert total > 100
    assert seen / total >= FLOOR[kind], "\n".join(escaped[:20])


def quotations() -> Iterator[tuple[Asked, Mention]]:
    for asked in answers():
        for mention in asked.answer.mentions:
            if mention.fact.startswith("K") and mention.end - mention.start > 8:
                yield asked, mention


def test_check_answer_with_a_quotation_changed_is_noticed() -> None:
    tried: dict[str, int] = defaultdict(int)
    for asked, mention in quotations():
        if tried[asked.answer.question] >= SAMPLE:
            continue
        tried[asked.answer.question] += 1
        middle = (mention.start + mention.end) // 2
        text, mentions = edited(asked.answer, middle, middle + 1, "※")
        assert recheck(asked.answer, asked.runs, text, mentions).failures
    assert sum(tried.values()) > 50


@pytest.mark.parametrize(
    ("language", "up", "down"), [("zh", "上升了", "下降了"), ("en", "It rose: ", "It fell: ")]
)  # fmt: skip
def test_check_answer_with_a_direction_against_its_change_is_noticed(language: str, up: str, down: str) -> None:
    tried = 0
    for asked in answers():
        facts = {f.id: f for f in asked.answer.facts if f.kind == "change" and f.delta}
        if asked.answer.language != language:
            continue
        for fact in facts.values():
            shown = repr(fact.to_value)
            right, wrong = (up, down) if (fact.delta or 0) > 0 else (down, up)
            for word, fails in ((right, False), (wrong, True)):
                text = word + shown + ("。" if language == "zh" else ".")
                mention = Mention(len(word), len(word) + len(shown), fact.id)
                assert bool(recheck(asked.answer, asked.runs, text, [mention]).failures) is fails
            tried += 1
    assert tried > 20
