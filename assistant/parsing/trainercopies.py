"""One event that a Trainer's log prints several times: by several processes, or rounded by a logger and then whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from assistant.model.run import Number
from assistant.parsing.dictscan import scan_dict
from assistant.parsing.numbers import read_number, significant_digits
from assistant.parsing.trainerevents import PROGRESS, Event

_FINGERPRINT: Final = 8
_RECENT: Final = 16
_ROUNDED: Final = frozenset({"loss", "learning_rate", "epoch"})


def drop_copies(events: Sequence[Event]) -> tuple[list[Event], list[Event]]:
    """Events that count, and copies that further processes printed.

    Two equal dictionaries close to each other are one event if their numbers are too particular to be equal by
    chance, if two processes printed them, or if every event of the log comes as often. With another epoch in between
    they are two: a training that is taken up again makes the same steps with the same numbers. A dictionary that is
    the rounded form of the next one (LLaMA-Factory's logger prints it before the Trainer does) is one event with it.
    """
    rounded = [event for event, after in pairwise(events) if _is_rounded(event, after)]
    if rounded:
        gone = set(map(id, rounded))
        events = [event for event in events if id(event) not in gone]
    groups: list[list[Event]] = []
    recent: dict[str, list[Event]] = {}
    wrapped = any(event.line != event.last_line for event in events)
    for event in events:
        mark = "".join(event.raw.split()) if wrapped else event.raw
        group = recent.get(mark) if not event.cut else None
        if group is None:
            group = [event]
            groups.append(group)
            if not event.cut:
                recent[mark] = group
                if len(recent) > _RECENT:
                    del recent[next(iter(recent))]
        else:
            group.append(event)
    sizes = {len(group) for group in groups}
    all_alike = len(sizes) == 1 and len(groups) > 1
    kept: list[Event] = []
    copies: list[Event] = []
    places = {id(event): at for at, event in enumerate(events)} if len(groups) < len(events) else {}
    for group in groups:
        tags = {event.tag for event in group}
        alone = len(group) > 1 and not (all_alike or len(tags) == len(group))
        if len(group) > 1 and (not alone or (_particular(group[0]) and not _made_again(group, places, events))):
            kept.append(group[0])
            copies.extend(group[1:])
        else:
            kept.extend(group)
    if copies:
        kept.sort(key=lambda event: event.span)
    else:
        kept = list(events)
    return kept, sorted([*rounded, *copies], key=lambda event: event.span) if rounded else copies


def _made_again(group: Sequence[Event], places: dict[int, int], events: Sequence[Event]) -> bool:
    """Whether the log printed another epoch before it printed an event for the second time."""
    return any(
        between.epoch is not None and between.epoch != one.epoch
        for one, other in pairwise(group)
        for between in events[places[id(one)] + 1 : places[id(other)]]
    )


def _particular(event: Event) -> bool:
    digits = 0
    items = scan_dict(event.raw, 0).items
    for text in {item.text for item in items if item.key not in PROGRESS and item.key != "learning_rate"}:
        value = read_number(text)
        if isinstance(value, float) and math.isfinite(value) and value not in {0.5, 0.25, 0.75} and value % 1:
            digits += significant_digits(text.rstrip("0") if "." in text and "e" not in text else text)
    return digits >= _FINGERPRINT


def _is_rounded(event: Event, after: Event) -> bool:
    """Whether an event only says what the next one says, with fewer digits; its further values are then given to it."""
    if event.keys == after.keys or event.cut or "learning_rate" not in event.values or "loss" not in event.values:
        return False
    if event.epoch != after.epoch or event.bad or not after.values.keys() >= _ROUNDED:
        return False
    texts = {item.key: item.text for item in scan_dict(event.raw, 0).items}
    if not all(_rounds_to(after.values[key], texts[key]) for key in event.values.keys() & after.values.keys()):
        return False
    for key, value in event.values.items():
        if key not in after.values:
            after.values[key] = value
            after.lines = after.lines | {key: event.lines.get(key, event.line)}
    return True


def _rounds_to(value: Number, text: str) -> bool:
    """Whether a number printed with as many digits as a text gives that text's number."""
    mantissa, mark, _ = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    shown = float(f"{value:.{digits}e}") if mark else round(float(value), digits)
    return shown == read_number(text) or (math.isnan(shown) and text == "nan")
