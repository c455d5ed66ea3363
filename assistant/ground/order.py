"""The order in which two values of one metric are told, against the steps that hold them and the word between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from assistant.ground.binding import Frame
from assistant.ground.changes import SPEED
from assistant.ground.courses import ABSOLUTE, course_words
from assistant.ground.cues import negated
from assistant.ground.deciding import Decision
from assistant.ground.judging import Judge

#: "0.42 到 0.24", "338 at first, 437 now": the first is the earlier one.
_THEN_TO: Final = re.compile(r"(?i)\s*(?:到|至|->|→|变(?:成|为|到)?|to)\s*")
_TO: Final = re.compile(r"(?i)^\s*(?:back )?to\s*[`*]*$")
_PACE: Final = re.compile(r"(?i)\b(?:slow|fast|quick|speed|sped)|[快慢]")
_FROM_BACK: Final = re.compile(
    r"(?i)\b(?:from|after|against|versus|vs|than|compared|instead)\b|从|由|比|较|对比|而不是"
)


def turned(frame: Frame, judge: Judge, idle: Sequence[bool]) -> Iterator[tuple[int, int, Decision]]:
    """Two values of one metric that are told the wrong way round.

    Args:
        frame: the sentence.
        judge: knows the cells that its numbers were tied to.
        idle: which clauses state nothing.
    """
    tied = [(at, *judge.told[at]) for at in sorted(judge.told) if at < len(frame.numbers)]
    if len(tied) != 2 or len({key for _, key, _ in tied}) != 1 or tied[0][2] == tied[1][2]:
        return
    (one, key, first), (two, _, second) = tied
    x, y = frame.numbers[one], frame.numbers[two]
    if idle[frame.clause(x.start)] or x.bound or y.bound or x.number == y.number or ABSOLUTE.search(frame.text):
        return
    gap = frame.text[x.end : y.start]
    if not frame.places and first > second and _THEN_TO.fullmatch(gap) and not _FROM_BACK.search(frame.text[: x.start]):
        note = judge.say("order", metric=key, shown=f"{x.text}{gap}{y.text}", first=second, second=first,
                         from_=y.text, to=x.text)  # fmt: skip
        yield x.start, y.end, Decision("contradicted", note, None, key)
        return
    words = [w for w in course_words(frame) if w.sense in {"up", "down"}]
    if len(words) != 1 or negated(frame, words[0].start) or len(frame.numbers) != 2:
        return
    if len({n.keys for n in frame.names if n.keys}) != 1:
        return
    if (
        words[0].end <= x.start
        and frame.clause(x.start) != frame.clause(y.start)
        and _TO.search(frame.text[words[0].end : x.start])
    ):
        return  # "having fallen to 0.98 at step 4, it is back at 1.44": of the first alone
    if re.match(r"\S{0,2}后[升涨增高降跌减低回]", frame.text[words[0].end :]):
        return  # "先升后降": both ways
    moved = (y.number - x.number) * (1 if second > first else -1)
    word = words[0]
    if SPEED.search(key) and _PACE.search(frame.text[word.start : word.end]):
        moved = -moved  # a throughput that slows down falls
    if (moved > 0) != (word.sense == "up"):
        note = judge.say("shown_words", shown=frame.text[word.start : word.end], from_=x.text, to=y.text)
        yield word.start, word.end, Decision("contradicted", note, None, key)
