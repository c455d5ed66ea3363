"""EasyR1's console: ``Step 1``, and below it the step's metrics as nested YAML.

Its logger prints ``f"Step {step}\\n" + yaml.dump(unflatten_dict(metrics), indent=2)`` (hiyouga/EasyR1,
``verl/utils/logger/logger.py`` and ``verl/utils/py_functional.py``); a number is rounded to three decimals or has an
exponent, ``nan`` is ``!!float 'nan'``. Ray puts the process before each line, and other processes' lines between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from assistant.model.run import Missing
from assistant.parsing.logprefix import has_prefix
from assistant.parsing.metric_names import is_metric_name
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.records import Record, make_runs
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.table import Reading, Row

_HEAD: Final = re.compile(r"Step (?P<step>[0-9]{1,12})\s{0,9}")
_LINE: Final = re.compile(
    r"(?P<indent> {0,40})(?:'(?P<quoted>[^':#]{1,120})'|(?P<key>[A-Za-z_][\w@.+()/, -]{0,120}))"
    r":(?: (?P<value>\S[^\n]{0,200}))?"
)
_NUMBER: Final = re.compile(rf"(?P<plain>{NUMBER})|!!float '(?P<quoted>{NUMBER})'|(?P<dotted>[-+]?\.(?:nan|inf))")
_TAGGED: Final = re.compile(r"!!python/|null$|~$")
_ENDS: Final = re.compile(r"e[-+][0-9]{2}$")
_GROUPS: Final = frozenset(
    {
        "actor",
        "critic",
        "global_seqlen",
        "num_tokens",
        "perf",
        "prompt_length",
        "response_length",
        "reward",
        "timing_per_token_ms",
        "timing_s",
        "val",
        "val_prompt_length",
        "val_response_length",
    }
)
"""The first words of EasyR1's metrics: a block has one of them, with metrics below."""

_MOST_ASIDE: Final = 2000
_LONGEST: Final = 4000


@dataclass
class _Block:
    """What stands below one ``Step N``.

    Attributes:
        step: its number.
        tag: the process that prints it.
        number: line of the head.
        path: the open groups, outermost first.
        cells: (metric, number's text, line), in order.
        bad: (metric, text, line) of values that are no number.
        lines: those that were used.
        aside: how many lines of others have come since the last one.
        skips: indent of a value that is no number, while lines below it are left out.
        foreign: whether a text stands where a number belongs: no log of metrics.
        rest: what stands where the block ends within a line.
        closed: whether the last value has a sign behind it that shows its end.
    """

    step: int
    tag: str | None
    number: int
    path: list[str] = field(default_factory=list)
    cells: list[tuple[str, str, int]] = field(default_factory=list)
    bad: list[tuple[str, str, int]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    aside: int = 0
    skips: int | None = None
    foreign: bool = False
    rest: str | None = None
    closed: bool = False

    def take(self, line: str, number: int) -> bool:
        """Reads a line below; whether it belongs to the block."""
        found = _LINE.fullmatch(line.rstrip())
        depth = 0 if found is None else len(found["indent"])
        if self.skips is not None and _is_inside(line, self.skips):
            self.lines.append(number)
            return True
        if found is None or depth % 2 or depth > 2 * len(self.path):
            return False
        self.skips = None
        del self.path[depth // 2 :]
        name = found["quoted"] or found["key"].rstrip()
        text = found["value"]
        if text is None:
            self.path.append(name)
        else:
            metric = "/".join([*self.path, name])
            value = _NUMBER.fullmatch(text)
            if value is not None:
                shown = value["plain"] or value["quoted"] or value["dotted"].replace(".", "")
                self.cells.append((metric, shown, number))
                self.closed = value["plain"] is None
            elif _TAGGED.match(text):
                self.bad.append((metric, text, number))
                self.skips = depth
            else:
                self.foreign = True
        self.lines.append(number)
        return True

    def is_sound(self) -> bool:
        """Whether metrics of EasyR1 stand in it, and nothing that is none."""
        return not self.foreign and any(
            metric.partition("/")[0] in _GROUPS and is_metric_name(metric) for metric, _, _ in self.cells + self.bad
        )


class EasyR1:
    """Reads one row a block."""

    name: Final = "easyr1"
    strength: Final = 88

    def read(self, document: Document) -> Reading:
        """At most one run a process."""
        blocks = [block for block in _blocks(document) if block.is_sound()]
        if not blocks:
            return Reading()
        taken = {number for block in blocks for number in [block.number, *block.lines]}
        records = [_record(block) for block in blocks]
        shapes = {tuple(metric for metric, _, _ in block.cells) for block in blocks}
        for block, record in zip(blocks, records, strict=True):
            keys = tuple(metric for metric, _, _ in block.cells)
            record.row.cut = any(_is_part(keys, shape) for shape in shapes)
        if document.lines[-1].strip() and document.numbers[-1] == blocks[-1].lines[-1]:
            _settle_end(blocks[-1], records[-1].row)
        runs = make_runs(records, first=0, name=document.name, format="easyr1", framework="EasyR1", step_axis="step")
        return Reading(tuple(runs), frozenset(taken)) if runs else Reading()


def _blocks(document: Document) -> Iterator[_Block]:
    """All heads with what stands below them in lines of the same process."""
    opened: dict[str | None, _Block] = {}
    last = len(document.lines) - 1
    for index, (raw, number) in enumerate(zip(document.lines, document.numbers, strict=False)):
        if len(raw) > _LONGEST:
            continue
        if not opened and "Step " not in raw:
            continue
        tag, line = strip_ray(raw) if "pid=" in raw[:200] or "[repeated " in raw else (None, raw)
        head = _HEAD.fullmatch(line)
        if head is not None:
            if tag in opened:
                yield opened.pop(tag)
            opened[tag] = _Block(int(head["step"]), tag, number)
            continue
        block = opened.get(tag)
        if block is None:
            for other in [key for key, held in opened.items() if held.aside > _MOST_ASIDE]:
                yield opened.pop(other)
            for held in opened.values():
                held.aside += 1
        elif block.take(line, number):
            block.aside = 0
        elif index == last and block.lines and _is_open(line):
            block.rest = line
            block.lines.append(number)
        elif tag is None and block.aside <= _MOST_ASIDE and (has_prefix(line) or _is_bar(line)):
            block.aside += 1
        else:
            yield opened.pop(tag)
    yield from opened.values()


def _is_inside(line: str, indent: int) -> bool:
    """Whether a line stands below a value: deeper than its key, or an item of a list as deep as it."""
    return line[: indent + 1].isspace() or line[indent : indent + 2] == "- "


def _is_bar(line: str) -> bool:
    return "it/s]" in line or "s/it]" in line or "%|" in line


def _record(block: _Block) -> Record:
    row = Row(block.step, block.number, last_line=max(block.lines, default=block.number), tag=block.tag)
    for metric, text, number in block.cells:
        value = read_number(text)
        if value is not None and metric not in row.values:
            row.values[metric], row.lines[metric] = value, number
    row.bad = [Missing(metric, block.step, number, "not_a_number", text[:80]) for metric, text, number in block.bad]
    return Record("step", row)


def _settle_end(block: _Block, row: Row) -> None:
    """Where the text stops on a block's last line: takes out a value that may be half."""
    if block.rest is not None:
        row.cut = True
        row.half = Missing(None, block.step, row.last_line, "half_key", block.rest.strip()[:80])
        return
    if not block.cells or block.cells[-1][2] != row.last_line or block.closed:
        return
    metric, text, number = block.cells[-1]
    if text.endswith(".") or (row.cut and _ENDS.search(text) is None):
        row.cut = True
        row.values.pop(metric, None)
        row.half = Missing(metric, block.step, number, "half_value", text[:80])


def _is_part(keys: tuple[str, ...], shape: tuple[str, ...]) -> bool:
    """Whether metrics are the first of others, and not all but the validation's, which few steps have."""
    if not keys or len(keys) >= len(shape) or shape[: len(keys)] != keys:
        return False
    return keys[-1].startswith("val") or not shape[len(keys)].startswith("val")


def _is_open(line: str) -> bool:
    """Whether a line may be the beginning of a key."""
    key = line.strip()
    if not key or not (key.isidentifier() or "/" in key):
        return False
    return line.startswith("  ") or any(group.startswith(key) for group in _GROUPS)
