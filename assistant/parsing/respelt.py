"""Lines of PyTorch examples and other loops, told again as counters and values: ``Train Epoch: 1 [640/60000 (1%)]``."""

from __future__ import annotations

import re
from typing import Final

from assistant.parsing.numbers import NUMBER

_NUMBERED: Final = re.compile(r"_?[0-9]{1,4}\.\s{1,4}(?=[0-9]{1,12}/[0-9]{1,12}: episode: )")
_PLACED: Final = re.compile(r"\[ {0,6}([0-9]{1,9}), {1,8}([0-9]{1,9})\] {1,4}(?=[A-Za-z][\w ]{0,40}: )")
_EPOCH_PLACE: Final = re.compile(
    r"(?:[^\[\]{}]{0,60}(?:\[[0-9]{1,9}\])? INFO )?(?:(?i:train|training)\s)?(?i:epoch):?\s{0,2}"
    r"(?:\[(?P<boxed>[0-9]{1,9})(?:/[0-9]{1,9})?\]|(?P<epoch>[0-9]{1,9}))\s{0,2}"
    r"\[\s{0,8}(?P<place>[0-9]{1,12})/(?P<of>[0-9]{1,12})(?:\s{0,2}\(\s{0,2}[0-9.]{1,6}%\))?\][\s,:]{0,6}(?=[A-Za-z])"
)
_KEYED_PLACE: Final = re.compile(
    r"(?P<key>[A-Za-z][\w ]{0,40}?) \[(?P<epoch>[0-9]{1,9}), {0,4}(?P<place>[0-9]{1,9})\] ?"
    rf"\(epoch, (?:mini-?batch|batch|step|iter(?:ation)?)\): {{0,8}}(?P<value>{NUMBER})\s*$"
)
_ETA: Final = re.compile(
    r",?\s{0,4}\b(?:eta|ETA):?\s{1,2}(?:[0-9]{1,4} days?, )?[0-9]{1,3}(?::[0-9]{2}){1,2}(?![0-9:])"
)
_MEGABYTES: Final = re.compile(r"(?<=[0-9])Mb\b")
_TUPLE: Final = re.compile(rf"\('[^'\n]{{1,60}}', {NUMBER}(?:, '[^'\n]{{1,60}}', {NUMBER}){{1,20}}\)\s*$")
_TUPLE_PAIR: Final = re.compile(rf"'(?P<key>[^'\n]{{1,60}})', (?P<value>{NUMBER})")
_ESCAPED: Final = re.compile(r"\\[tn]")


def respell_start(line: str) -> str:
    """A line whose place in an epoch, or in a list, is told before anything else."""
    if line.startswith("["):
        # "[2,  4000] loss: 1.873", epoch and batch, as the tutorials of PyTorch print
        return _PLACED.sub(r"epoch \1, step \2, ", line)
    return _NUMBERED.sub("", line, count=1) if ": episode: " in line else line


def respell(line: str) -> str:
    """A message as ``epoch 1, step 640/60000, Loss: 2.21`` where a known loop prints the same in other signs.

    Known: ``Train Epoch: 1 [640/60000 (1%)]``, ``Epoch: [0][  10/5005]``, ``Loss [32, 100](epoch, minibatch): 2.6``,
    a printed tuple of names and numbers. Taken out: the time left, which is no metric.
    """
    if line.startswith("('"):
        return _from_tuple(line)
    if "(epoch, " in line and (keyed := _KEYED_PLACE.match(line)) is not None:
        return f"epoch {keyed['epoch']}, step {keyed['place']}, {keyed['key']}: {keyed['value']}"
    if "[" in line and (head := _EPOCH_PLACE.match(line)) is not None:
        epoch = head["boxed"] or head["epoch"]
        line = f"epoch {epoch}, step {head['place']}/{head['of']}, {line[head.end() :]}"
    if "eta:" in line or "ETA:" in line:
        line = _ETA.sub("", line, count=1).replace(", ,", ",").rstrip(" ,")
    return _MEGABYTES.sub("MB", line) if "Mb" in line else line


def _from_tuple(line: str) -> str:
    """A tuple that Python 2 printed: ``('Episode #', 100, '\\tfinished with reward', -50.9)``."""
    if len(line) > 600 or _TUPLE.match(line) is None:
        return line
    pairs = [(_ESCAPED.sub(" ", key).strip(), value) for key, value in _TUPLE_PAIR.findall(line)]
    (first, count), *others = pairs
    told = ", ".join(f"{key.rstrip(':= ')}: {value}" for key, value in others)
    return f"{first.rstrip('#:= ')} {count}, {told}"


_TESTED: Final = re.compile(
    r"(?P<name>(?i:test|validation|val|eval))(?: set)?: (?=(?:[Aa]verage )?(?:loss|Loss|[Aa]cc))"
)
_OF: Final = re.compile(r"[0-9]{1,9}/[0-9]{1,9} \((?=[0-9.]{1,8}%\))")
_AVERAGED: Final = re.compile(r"Averaged stats: (?=[A-Za-z])")
_EPOCH_TOLD: Final = re.compile(r"(?:[A-Z][a-z]{2,9}: )?Epoch: \[(?P<epoch>[0-9]{1,9})(?:/[0-9]{1,9})?\]")


def tested(line: str) -> str:
    """``Test set: Average loss: 0.05, Accuracy: 9834/10000 (98%)`` as cells of their own; empty for any other line."""
    head = _TESTED.match(line)
    if head is None:
        return ""
    cells = _OF.sub("", line[head.end() :]).replace(")", "").split(", ")
    return ", ".join(f"{head['name'].lower()}/{cell.strip()}" for cell in cells if cell.strip())


def epoch_told(line: str) -> str | None:
    """The epoch of a line that begins with ``Epoch: [34/80]``."""
    found = _EPOCH_TOLD.match(line) if "Epoch: [" in line[:40] else None
    return None if found is None else found["epoch"]


def averaged(line: str, epoch: str | None) -> str:
    """``Averaged stats: loss: 0.5 (0.6)`` below an epoch's bars, as a line of that epoch; empty for any other."""
    head = _AVERAGED.match(line) if epoch is not None else None
    return "" if head is None else f"epoch {epoch}, {line[head.end() :]}"
