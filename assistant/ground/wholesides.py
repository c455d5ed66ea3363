"""Which of two metrics is the larger at a step, told without "than": the former dominates, generation takes longer, B is longer."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from assistant.ground.changes import SPEED
from assistant.ground.comparisons import BARE
from assistant.ground.cues import negated
from assistant.ground.lexicon import Named
from assistant.ground.verdicts import as_shown
from assistant.ground.wholephases import PhaseReader
from assistant.ground.wholereader import Whole

_MORE: Final = r"(?:larger|bigger|greater|higher|longer|slower|more|largest|biggest|longest|slowest|highest)"
_LESS: Final = r"(?:smaller|lower|shorter|faster|quicker|less|smallest|shortest|fastest|lowest)"
_NO_THAN: Final = r"(?![^.;]{0,40}\bthan\b)"
_SAID: Final = rf"(?:(?P<more>{_MORE}|dominat(?:es|ed|ing)|dominant|outweighs|wins|prevails)|(?P<less>{_LESS}))\b"
_IS: Final = r"(?:\s+(?:clearly|really|actually|by far|far|much|somewhat|slightly|still))*(?:\s+(?:is|was|are|were|being|takes?|took|needs?|needed|costs?|lasts?|lasted|runs?|ran))?(?:\s+(?:the|a|an|clearly|far|much|somewhat|slightly|by far|up|rather))*\s+"
#: What is meant stands before the word: "the former is larger", "generation takes longer".
_BEFORE: Final = re.compile(rf"(?i)^{_IS}{_SAID}{_NO_THAN}(?:\s+(?:one|part|share|time|of the (?:two|pair)))*")
#: … or behind it: "the slower of the two is generation", "the larger is the latter".
_BEHIND: Final = re.compile(
    rf"(?i)\bthe (?:(?P<more>{_MORE})|(?P<less>{_LESS}))(?: (?:one|part|phase|of (?:the two|them|both)))*(?: at [^,.;]{{1,16}})? (?:is|was|being) (?:the )?[`*]*$"
)
_WHICH: Final = re.compile(r"(?i),\s*which (?:is|was)" + rf"(?:\s+(?:clearly|far|much|slightly))*\s+{_SAID}{_NO_THAN}")
_FORMER: Final = re.compile(r"(?i)\bthe (?:former|(?P<latter>latter))\b|前者|(?P<zlatter>后者)")
_ZH_MORE: Final = (
    r"(?:[高大长多慢久]|耗时(?:更?[多长久])?|花(?:的)?时间(?:更?[多长久])?|占(?:主导|大头|多数|上风)|为主)"
)
_ZH_LESS: Final = r"(?:[低小短少快])"
_ZH_BEFORE: Final = re.compile(
    rf"^[`*\s]*(?:的|则|要|会|明显|显然|远|还是?|都|更|略|稍|用时|耗时|花得)*(?:(?P<more>更{_ZH_MORE}|占(?:主导|大头|多数|上风)|为主)|(?P<less>更{_ZH_LESS}))(?:了?一?些|得多|很多)?(?=\s*(?:[，,。；;）)]|$))"
)
_ZH_BEHIND: Final = re.compile(
    rf"(?:(?P<more>更{_ZH_MORE})|(?P<less>更{_ZH_LESS}))的(?:那个|一方|部分|阶段)?(?:是|为)\s*[`*]*$"
)


class SideReader(PhaseReader):
    """Claims that one of two metrics is the larger, with no "than" that sets them against each other."""

    def side(self) -> Iterator[Whole]:
        """``A and B are 58.9 s and 1.4 s, so the former dominates``, ``生成和更新相比，更耗时的是生成``."""
        held = [n for n in self.frame.names if n.keys]
        two = list({n.keys[0]: n for n in reversed(held)}.values())[::-1]
        if len(two) == 1 and (
            before := [n for n in self.frame.carried.names if n.keys and n.keys[0] != two[0].keys[0]]
        ):
            two = [before[-1], *two]  # "A: 36 s; B: 3 s, so B dominates"
        places = self.frame.places
        steps = list(places[0].steps) if len(places) == 1 else [] if places else list(self.frame.carried.steps)
        if len(two) != 2 or len(steps) != 1 or self.table.kind(two[0].keys[0]) != self.table.kind(two[1].keys[0]):
            return
        for start, end, which, more in self._told(two, held):
            if negated(self.frame, start):
                continue
            x, y = (self.table.value(one.keys[0], steps[0]) for one in two)
            if x is None or y is None:
                return
            if which:
                x, y = y, x
            one, other = two[which].keys[0], two[1 - which].keys[0]
            wanted = more != bool(SPEED.search(one) and re.search(r"(?i)slow|fast|quick|[快慢]", self.text[start:end]))
            kind = self.table.kind(one)
            note = self.judge.say(
                "compare", step=steps[0], metric=one, true=as_shown(x, BARE, kind), other=other, value=as_shown(y, BARE, kind)
            )  # fmt: skip
            yield self.say(start, end, x > y if wanted else x < y, note)
            return

    def _told(self, two: list[Named], held: list[Named]) -> Iterator[tuple[int, int, int, bool]]:
        """Where it is said, of which of the two, and whether it is said to be the larger."""
        spots = [(m.end(), int(bool(m["latter"] or m["zlatter"])), m.start()) for m in _FORMER.finditer(self.text)]
        again = [n for n in held[1:] if any(n is not one and n.keys[0] == one.keys[0] for one in held[: held.index(n)])]
        again += [n for n in held if n.start == two[1].start and re.search(r"\d", self.text[two[0].end : n.start])]
        spots += [(n.end, int(n.keys[0] == two[1].keys[0]), n.start) for n in again]
        for end, which, start in spots:
            match = _BEFORE.match(self.text[end:]) or _ZH_BEFORE.match(self.text[end:])
            if match is not None:
                yield start, end + match.end(), which, match["more"] is not None
            match = _BEHIND.search(self.text[:start]) or _ZH_BEHIND.search(self.text[:start])
            if match is not None:
                yield match.start(), end, which, match["more"] is not None
        match = _WHICH.search(self.text, two[1].end)
        numbers = [q for q in self.frame.numbers if match is not None and q.end <= match.start()]
        if (
            match is not None
            and len(numbers) == 2
            and not re.search(r"[,，]", self.text[numbers[1].end : match.start()])
        ):
            yield match.start(), match.end(), 1, match["more"] is not None
