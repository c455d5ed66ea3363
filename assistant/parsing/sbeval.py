"""What Stable-Baselines' EvalCallback prints beside the tables: ``Eval num_timesteps=5000, episode_reward=9 +/- 1``.

DLR-RM/stable-baselines3, ``stable_baselines3/common/callbacks.py``. Where the tables hold ``eval/mean_reward`` these
lines repeat it, and are not read.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.stepbook import Book, Cell
from assistant.parsing.table import Reading

_EVAL: Final = re.compile(
    r"\s{0,8}Eval num_timesteps=(?P<step>[0-9]{1,12}), (?P<key>episode_reward)="
    rf"(?P<mean>{NUMBER}) \+/- (?P<spread>{NUMBER})\s*$"
)
_MORE: Final = re.compile(
    rf"\s{{0,8}}(?P<key>Episode length|Success rate): (?P<mean>{NUMBER})(?P<unit>%?)(?: \+/- (?P<spread>{NUMBER}))?\s*$"
)
_LONGEST: Final = 400
_NEAR: Final = 3


class BaselinesEval:
    """Reads evaluations: a mean, and the spread over episodes under the name with `` +-``."""

    name: Final = "sb3-eval"
    strength: Final = 54

    def read(self, document: Document) -> Reading:
        """At most one run, one row an evaluation."""
        if any("mean_reward" in line and "|" in line for line in document.lines):
            return Reading()
        book = Book()
        for raw, number in zip(document.lines, document.numbers, strict=False):
            if len(raw) > _LONGEST:
                continue
            line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
            head = _EVAL.match(line) if "Eval num_timesteps=" in line else None
            if head is not None:
                book.add(int(head["step"]), _cells(head, ""), number)
                continue
            more = _MORE.match(line) if book.rows and number - book.last <= _NEAR else None
            if more is not None:
                book.add(book.rows[-1].step, _cells(more, more["unit"]), number)
        if not book.rows:
            return Reading()
        run = book.run(document, format=self.name, framework="Stable-Baselines3", axis="num_timesteps")
        return Reading((run,), frozenset(book.taken))


def _cells(found: re.Match[str], unit: str) -> list[Cell]:
    """The mean and, if it is printed, the spread."""
    pairs = ((found["key"], found["mean"], unit), (f"{found['key']} +-", found["spread"], ""))
    values = [(key, read_number(text) if text else None, given) for key, text, given in pairs]
    return [Cell(key, value, given) for key, value, given in values if value is not None]
