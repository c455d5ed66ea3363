"""Where in a text a Trainer's dictionaries stand: what may precede one, and which are log events."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from typing import Final

from assistant.parsing.dictscan import ScannedDict
from assistant.parsing.eventdict import place_dict
from assistant.parsing.metric_names import is_metric_name
from assistant.parsing.prose import is_prose
from assistant.parsing.quickdict import quick_dict
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.trainerevents import STEP_OF_MAX, TIMES, Event, item_number, make_event, quick_event

_KNOWN: Final = re.compile(
    r"\w{0,60}loss$|grad_norm$|learning_rate$|(?:eval_)?reward(?:_std)?$|kl$|entropy$|step_time$|"
    r"completion_length$|frac_reward_zero_std$|mean_token_accuracy$|num_tokens$|token_acc$|eval_\w+$|"
    r"(?:eval_)?(?:rewards|completions|clip_ratio|logps|logits|objective|sampling|policy|val|loss)/\S+$"
)
_WEAK: Final = frozenset({"learning_rate", "num_tokens"})
_LOGGED: Final = frozenset({"loss", "grad_norm", "epoch"})
"""What the Trainer itself puts into every event: beside them, even a setting's name (``entropy_coef``) is a metric."""
_BAR_END: Final = re.compile(r"[0-9]/[0-9]+ \[[^\[\]]{0,120}\]\s*$")
_TOKEN: Final = re.compile(
    r"\[[^\[\]]{0,60}\]:?|\[?(?:(?:INFO|WARNING|DEBUG)\|)?[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}(?:[T_]\S{0,20})?|"
    r"[0-9]{2}/[0-9]{2}/[0-9]{4}|"
    r"\[?[0-9]{2}:[0-9]{2}:[0-9]{2}\S{0,12}|"
    r"(?:\[?(?:INFO|WARNING|DEBUG)[\]:]{0,2})|[\w./-]{1,60}\.py:[0-9]{1,6}\S{0,3}|[\w.]{1,60}:[0-9]{1,6}|"
    r"[-|:>]{1,2}|[\w.-]{1,40}\s?\|"
)
_GREP: Final = re.compile(r"(?:[\w.~/-]{1,200}[:-])?[0-9]{1,9}[:-]\s*|[\w.~/-]{1,200}\.(?:log|txt|out)[:-]\s*")
_MARKS: Final = frozenset({">", ">>", "`", "```", "#", "//", "*", "-", "•", "...", "…"})
_OUTPUT: Final = re.compile(r"\s{0,40}TrainOutput\(global_step=[0-9]{1,12}, training_loss=\S{1,40}, metrics=")
_HOST: Final = re.compile(r"(?=[^:\s]{0,80}[0-9])(?=[^:\s]{0,80}[A-Za-z.])[\w.-]{1,80}:")
_RANK: Final = re.compile(r"\s*\[(?:rank|default|worker)?\s?([0-9]{1,5})\]:?")
_OPENING: Final = "{'"
_FEW_LINES: Final = 5
_FEW_TIMES: Final = 2
_MOST_TRIES: Final = 2000
_MOST_FRONT: Final = 160
_LONGEST_PASTE: Final = 4000


class Finds:
    """The dictionaries of a document that are log events.

    Attributes:
        strong: those that are log events by themselves.
        weak: those that count beside others.
        short: those that are cut before they show that they are one.
        bad: lines in doubt.
        asking: lines on which a question follows a dictionary.
    """

    def __init__(self, document: Document):
        self.strong: list[Event] = []
        self.weak: list[Event] = []
        self.short: list[Event] = []
        self.bad: list[int] = []
        self.asking: list[int] = []
        self._document = document
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...]], bool | None] = {}
        lines = document.lines
        self._few = len(lines) <= 200 and sum(1 for line in lines if line.strip()) <= _FEW_LINES

    def search(self) -> None:
        """Goes through the lines once; a dictionary may end on a later one."""
        entry, base = 0, 0
        lines = self._document.lines
        while entry < len(lines):
            if _OPENING not in lines[entry]:
                if lines[entry][:1] == "'" and base == 0:
                    self._read_braceless(entry)
                entry, base = entry + 1, 0
                continue
            last, base = self._search_line(entry, base)
            if last == entry:
                entry, base = entry + 1, 0
            else:
                entry = last

    def settle(self) -> tuple[list[Event], list[int]]:
        """All events in order, and the lines in doubt.

        A weak one counts if its keys come several times, one that is cut early if others begin as it does.
        """
        if not self.strong:
            self.bad.extend(event.line for event in self.short)
            return self.strong, self.bad
        counted = list(self.strong)
        shapes = Counter(event.keys for event in self.weak)
        for event in self.weak:
            if shapes[event.keys] >= _FEW_TIMES:
                counted.append(event)
            else:
                self.bad.append(event.line)
        known = {event.keys for event in self.strong if not event.cut} if self.short else set()
        for event in self.short:
            begun = event.keys if event.half is None or event.half.metric is None else (*event.keys, event.half.metric)
            if any(keys[: len(begun)] == begun for keys in known):
                counted.append(event)
            else:
                self.bad.append(event.line)
        if len(counted) > len(self.strong):
            counted.sort(key=lambda event: event.span)
        return counted, self.bad

    def _search_line(self, entry: int, base: int) -> tuple[int, int]:
        """Reads the dictionaries that begin on a line, up to one that ends on a later line.

        Args:
            entry: index of the line.
            base: where its own text begins (behind a dictionary that began on an earlier line).

        Returns:
            Index of the line on which the last of them ends, and where.
        """
        line = self._document.lines[entry]
        tag = None
        if base == 0 and "=" in line[:120]:
            tag, rest = strip_ray(line)
            base = len(line) - len(rest) if tag is not None and line.endswith(rest) else 0
        begin = base
        for _ in range(_MOST_TRIES):
            at = line.find(_OPENING, begin)
            if at < 0:
                break
            if not (_is_front(line, base, at) or (self._few and _is_pasted(line, at))):
                begin = at + 1
                continue
            event = self._read(entry, at, line)
            if isinstance(event, int):
                begin = max(at + 1, event)
                continue
            event.tag = tag
            if tag is None and begin == 0 and at:
                ranked = _RANK.match(line) or _HOST.match(line)
                event.tag = ranked[0].strip(" :") if ranked is not None else None
            last, begin = event.span[1]
            base = begin
            if last != entry:
                return last, base
        return entry, 0

    def _read_braceless(self, entry: int) -> None:
        """Reads a line from which the opening brace was lost in copying, if all the rest is there."""
        line = self._document.lines[entry]
        before = self._document.lines[entry - 1] if entry else ""
        if "}" not in line or before.count("{") != before.count("}") or before.rstrip()[-1:] == ",":
            return
        quick = quick_dict("{" + line, 0, TIMES)
        if quick is not None and _worth(quick.keys, quick.cells.keys(), closed=True):
            quick.end -= 1
            self.strong.append(quick_event(quick, self._document.numbers[entry], entry, 0))

    def _read(self, entry: int, at: int, line: str) -> Event | int:
        """The event that begins at an offset, or where to go on if there is none."""
        number = self._document.numbers[entry]
        quick = quick_dict(line, at, TIMES)
        if quick is not None:
            shape = (quick.keys, tuple([key for key, _ in quick.rest]) if quick.rest else ())
            if shape not in self._known:
                self._known[shape] = _worth(quick.keys, quick.cells.keys(), closed=True)
            worth = self._known[shape]
            if worth is not None:
                event = quick_event(quick, number, entry, at)
                (self.strong if worth else self.weak).append(event)
                if quick.end < len(line) and _asks(line[quick.end : quick.end + 200]):
                    self.asking.append(number)
                return event
        placed = place_dict(self._document, entry, at, line)
        flat = placed.flat
        worth = None
        if flat.state != "nested" and flat.items and not any(item.kind == "flag" for item in flat.items):
            keys = tuple(item.key for item in flat.items)
            numbers = {item.key for item in flat.items if item_number(item) is not None}
            worth = _worth(keys, numbers, closed=flat.state == "closed")
            if worth is None and flat.state == "open" and any(_KNOWN.match(key) for key in numbers):
                event = make_event(placed)
                self.short.append(event)
                return placed.stop if placed.last == entry else at + 1
        if worth is None:
            if _is_doubtful(flat):
                self.bad.append(number)
            return placed.stop if placed.last == entry else at + 1
        event = make_event(placed)
        (self.strong if worth else self.weak).append(event)
        if _asks(placed.tail):
            self.asking.append(self._document.numbers[placed.last])
        return event


def _asks(tail: str) -> bool:
    return bool(tail.strip()) and ("?" in tail or "？" in tail or is_prose(tail))


def _is_front(line: str, base: int, at: int) -> bool:
    """Whether what stands before a brace is what programs put there."""
    if at == base:
        return True
    before = line[at - 1]
    if before in "{('\"=\\" or before.isalnum():
        return before == "=" and at < _MOST_FRONT and _OUTPUT.fullmatch(line, 0, at) is not None
    front = line[max(base, at - _MOST_FRONT) : at]
    if not front.strip():
        return True
    if before in "] " and _BAR_END.search(front):
        return True
    if at - base > _MOST_FRONT or base:
        return False
    bare = front.strip()
    if bare in _MARKS or _GREP.fullmatch(front) or _HOST.fullmatch(bare):
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


def _worth(keys: Sequence[str], numbers: Set[str], *, closed: bool) -> bool | None:
    """Whether a flat dictionary without flags is a log event.

    Args:
        keys: all its keys, in order.
        numbers: those that hold numbers.
        closed: whether it ends.

    Returns:
        ``True`` for a log event, ``False`` for one that only counts among others, ``None`` for anything else.
    """
    held = set(keys)
    if not numbers >= _LOGGED and any(_is_setting(key) for key in held):
        return None
    strong = {key for key in numbers if _KNOWN.match(key)} - _WEAK
    if len(numbers) * 2 < len(held):
        return None
    if not closed:
        return True if len(strong) >= 2 or (strong and {"learning_rate", STEP_OF_MAX} & held) else None
    if "train_runtime" in numbers or len(strong) >= 3:
        return True
    if strong and ("epoch" in numbers or STEP_OF_MAX in held):
        return True
    if "epoch" in numbers and len(numbers) >= 2 and len(numbers) == len(held) and keys[-1] == "epoch":
        return False if numbers - _WEAK - {"epoch"} else None
    return None


def _is_setting(key: str) -> bool:
    return key != "learning_rate" and "_" in key and not is_metric_name(key) and "/" not in key and "(" not in key


def _is_doubtful(flat: ScannedDict) -> bool:
    """Whether a dictionary that does not count begins as a log event does."""
    return sum(1 for item in flat.items if _KNOWN.match(item.key) and item.kind in {"number", "none"}) >= 2
