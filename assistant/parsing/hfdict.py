"""Dictionaries that the Hugging Face Trainer and TRL print: ``{'loss': 0.5, 'grad_norm': 7.1, 'epoch': 0.01}``.

One dictionary is one log event (huggingface/transformers, ``trainer_callback.py``: ``ProgressCallback.on_log``,
``PrinterCallback.on_log``); since transformers 5 every float comes as a quoted text. A dictionary counts only where a
program prints one: at the start of a line, behind a progress bar or a launcher's prefix. One that is quoted in a
sentence or in a sampled text does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from assistant.parsing.eventdict import EventDict, Placed, place_dict
from assistant.parsing.metric_names import is_metric_name
from assistant.parsing.progress import find_bars
from assistant.parsing.prose import is_prose
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.table import Reading
from assistant.parsing.trainerevents import STEP_OF_MAX, Event, flavour, item_number, make_event
from assistant.parsing.trainerruns import build_runs

_KNOWN: Final = re.compile(
    r"(?:eval_|train_|test_)?loss$|grad_norm$|learning_rate$|(?:eval_)?reward(?:_std)?$|kl$|entropy$|step_time$|"
    r"completion_length$|frac_reward_zero_std$|mean_token_accuracy$|num_tokens$|token_acc$|eval_\w+$|"
    r"(?:eval_)?(?:rewards|completions|clip_ratio|logps|logits|objective|sampling|policy|val|loss)/\S+$"
)
_WEAK: Final = frozenset({"learning_rate", "num_tokens"})
_BAR_END: Final = re.compile(r"[0-9]/[0-9]+ \[[^\[\]]{0,120}\]\s*$")
_TOKEN: Final = re.compile(
    r"\[[^\[\]]{0,60}\]:?|\[?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}(?:[T_]\S{0,20})?|\[?[0-9]{2}:[0-9]{2}:[0-9]{2}\S{0,12}|"
    r"(?:\[?(?:INFO|WARNING|DEBUG)[\]:]{0,2})|[\w./-]{1,60}\.py:[0-9]{1,6}\S{0,3}|[\w.]{1,60}:[0-9]{1,6}|"
    r"[-|:>]{1,2}|[\w.-]{1,40}\s?\|"
)
_GREP: Final = re.compile(r"(?:[\w.~/-]{1,200}[:-])?[0-9]{1,9}[:-]\s*|[\w.~/-]{1,200}\.(?:log|txt|out)[:-]\s*")
_RANK: Final = re.compile(r"\s*\[(?:rank|default|worker)?\s?([0-9]{1,5})\]:?")
_OPENING: Final = "{'"
_FEW_LINES: Final = 5
_FEW_TIMES: Final = 2
_MOST_TRIES: Final = 2000
_MOST_FRONT: Final = 160
_LONGEST_PASTE: Final = 4000


class HFDict:
    """Reads the dictionaries of the Hugging Face Trainer, TRL and ms-swift on a console."""

    name: Final = "hf-dict"
    strength: Final = 60

    def read(self, document: Document) -> Reading:
        """The runs of a document; no runs if no such dictionary is there."""
        if not any(_OPENING in line for line in document.lines):
            return Reading()
        found, bad = _find(document)
        if not found:
            return Reading(not_understood=tuple(bad))
        axis = _axis(found)
        style = None
        if axis == "episode":
            style = ("trl-ppo", "TRL")
        elif axis == STEP_OF_MAX:
            style = (flavour(item.key for placed, _ in found for item in placed.flat.items)[0], "ms-swift")
        events = [make_event(placed, axis=axis, tag=tag) for placed, tag in found]
        for event, (placed, _) in zip(events, found, strict=True):
            if not _worth(placed.flat):
                event.kind = "eval"
        events, odd = _drop_odd(events)
        bars = find_bars(document) if axis is None else ()
        built = build_runs(events, name=document.name, axis=axis, bars=bars, style=style)
        bad.extend([*odd, *built.undated])
        asking = [document.numbers[placed.last] for placed, _ in found if _asks(placed.tail)]
        return Reading(
            tuple(built.runs),
            frozenset(built.taken),
            tuple(sorted(set(bad) - built.taken)),
            tuple(line for line in asking if line in built.taken),
        )


def _find(document: Document) -> tuple[list[tuple[Placed, str | None]], list[int]]:
    """The dictionaries that are log events, with the process that printed each, and the lines in doubt."""
    found: list[tuple[Placed, str | None]] = []
    weak: list[tuple[Placed, str | None]] = []
    bad: list[int] = []
    few = sum(1 for line in document.lines[:200] if line.strip()) <= _FEW_LINES and len(document.lines) <= 200
    entry, base = 0, 0
    while entry < len(document.lines):
        line = document.lines[entry]
        if _OPENING not in line:
            entry, base = entry + 1, 0
            continue
        tag = None
        if base == 0 and "=" in line[:120]:
            tag, rest = strip_ray(line)
            base = len(line) - len(rest) if tag is not None and line.endswith(rest) else 0
        going = entry
        begin = base
        for _ in range(_MOST_TRIES):
            at = line.find(_OPENING, begin)
            if at < 0:
                break
            if not (_is_front(line, base, at) or (few and _is_pasted(line, at))):
                begin = at + 1
                continue
            placed = place_dict(document, entry, at, line)
            worth = _worth(placed.flat)
            if worth is None:
                if _is_doubtful(placed.flat):
                    bad.append(document.numbers[entry])
                begin = max(at + 1, placed.stop if placed.last == entry else at + 1)
                continue
            ranked = _RANK.match(line) if tag is None else None
            (found if worth else weak).append((placed, ranked[0].strip(" :") if ranked is not None else tag))
            going, begin = placed.last, placed.stop
            base = begin
            if going != entry:
                break
        if going == entry:
            entry, base = entry + 1, 0
        else:
            entry = going
    shapes = Counter(tuple(item.key for item in placed.flat.items) for placed, _ in weak)
    for placed, tag in weak if found else ():
        if shapes[tuple(item.key for item in placed.flat.items)] < _FEW_TIMES:
            bad.append(placed.line(placed.flat.start))
        else:
            found.append((placed, tag))
    if weak:
        found.sort(key=lambda pair: (pair[0].entry, pair[0].offset))
    return found, bad


def _asks(tail: str) -> bool:
    return bool(tail.strip()) and ("?" in tail or "？" in tail or is_prose(tail))


def _is_front(line: str, base: int, at: int) -> bool:
    """Whether what stands before a brace is what programs put there."""
    if at == base:
        return True
    before = line[at - 1]
    if before in "{('\"=\\" or before.isalnum():
        return False
    front = line[max(base, at - _MOST_FRONT) : at]
    if not front.strip():
        return True
    if before in "] " and _BAR_END.search(front):
        return True
    if at - base > _MOST_FRONT or base:
        return False
    bare = front.strip()
    if bare in {">", "`", "```", ">>"} or _GREP.fullmatch(front):
        return True
    tokens = bare.split()
    return len(tokens) <= 12 and all(_TOKEN.fullmatch(tokens[at]) or _is_name(tokens, at) for at in range(len(tokens)))


def _is_pasted(line: str, at: int) -> bool:
    """Whether a dictionary stands in a sentence, as people paste a single one beside their question."""
    front = line[:at].rstrip()
    return (
        len(line) < _LONGEST_PASTE
        and front[-1:] not in {"=", "(", "[", "'", '"'}
        and front.count("{") == front.count("}")
    )


def _is_name(tokens: Sequence[str], index: int) -> bool:
    """A logger's name between the parts of a logger's prefix: ``2025-01-01 12:00:00 - trainer - INFO -``."""
    if not 0 < index < len(tokens) - 1 or tokens[0][0] not in "[0123456789":
        return False
    return tokens[index - 1] in {"-", "|"} and tokens[index + 1] in {"-", "|", ">>"}


def _worth(flat: EventDict) -> bool | None:
    """``True`` for a log event, ``False`` for one that only counts among others, ``None`` for anything else."""
    if flat.state == "nested" or not flat.items:
        return None
    keys = {item.key for item in flat.items}
    if any(item.kind == "flag" for item in flat.items) or any(_is_setting(key) for key in keys):
        return None
    numbers = {item.key for item in flat.items if item.kind == "number" or item_number(item) is not None}
    strong = {key for key in numbers if _KNOWN.match(key)} - _WEAK
    if len(numbers) * 2 < len(keys):
        return None
    if flat.state != "closed":
        return True if len(strong) >= 2 or (strong and {"learning_rate", STEP_OF_MAX} & keys) else None
    if "train_runtime" in numbers or len(strong) >= 3:
        return True
    if strong and ("epoch" in numbers or STEP_OF_MAX in keys):
        return True
    if "epoch" in numbers and len(numbers) >= 2 and numbers == keys and flat.items[-1].key == "epoch":
        return False if numbers - _WEAK - {"epoch"} else None
    return None


def _is_setting(key: str) -> bool:
    return key != "learning_rate" and "_" in key and not is_metric_name(key) and "/" not in key and "(" not in key


def _is_doubtful(flat: EventDict) -> bool:
    """Whether a dictionary that does not count begins as a log event does."""
    return sum(1 for item in flat.items if _KNOWN.match(item.key) and item.kind in {"number", "none"}) >= 2


def _axis(found: Sequence[tuple[Placed, str | None]]) -> str | None:
    """The key that counts the events, if at least half of them hold it."""
    held = Counter(item.key for placed, _ in found for item in placed.flat.items)
    for key in (STEP_OF_MAX, "episode", "global_step", "step"):
        if 2 * held[key] >= len(found):
            return key
    return None


def _drop_odd(events: list[Event]) -> tuple[list[Event], list[int]]:
    """Leaves out a training event that lacks much of what all others hold: a sampled text imitating a log."""
    train = [event for event in events if event.kind == "train" and not event.cut]
    if len(train) < 3:
        return events, []
    held = Counter(key for event in train for key in event.values)
    core = {key for key, times in held.items() if 2 * times > len(train)}
    shapes = Counter(frozenset(event.values) for event in train)
    odd = {
        id(event)
        for event in train
        if shapes[frozenset(event.values)] <= 2 and 3 * len(core - event.values.keys()) > len(core)
    }
    if not odd:
        return events, []
    return [event for event in events if id(event) not in odd], [event.line for event in events if id(event) in odd]
