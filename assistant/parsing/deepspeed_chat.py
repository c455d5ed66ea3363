"""DeepSpeed-Chat, step 3: ``epoch: 0|step: 13|ppo_ep: 1|act_loss: …`` and the lines that follow it.

The reward (``average reward score: …``) and the times (``|E2E latency=7.99s |…``) stand on lines of their own
behind the step's line and belong to it: the hybrid engine prints the times of a step when the next one begins.
Newer versions print ``Epoch: 0 | Step: 13 | PPO Epoch: 1 | …``.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Missing, MissingReason, Note
from assistant.parsing.messages import Message, find_messages
from assistant.parsing.numbers import NUMBER, read_number, same_number
from assistant.parsing.records import Record, make_runs, settle_ends, unit_notes
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading, Row

_VALUE: Final = rf"(?:tensor\()?+(?P<number>{NUMBER})"
_HEADING: Final = re.compile(
    r"(?:(?![Ee]poch:)[\w.-]{1,64}+: )?+[Ee]poch: (?P<epoch>[0-9]{1,9}) ?\| ?[Ss]tep: (?P<step>[0-9]{1,12})"
    r"(?:/[0-9]{1,12})?+ ?\|(?P<ppo> ?(?:ppo_ep|PPO Epoch): [0-9]{1,9} ?\|)?+"
)
_CUT_STEP: Final = r" ?\|(?: ?(?:[Ss](?:t(?:e(?:p(?:: ?[0-9]{0,12})?)?)?)?)?)?"
_CUT_HEADING: Final = re.compile(
    rf"(?:(?![Ee]poch:)[\w.-]{{1,64}}+: )?+[Ee]poch: (?:[0-9]{{1,9}}(?:{_CUT_STEP})?)?\s{{0,9}}"
)
_COUNTERS: Final = frozenset({"ppo_ep", "PPO Epoch"})
_CELL: Final = re.compile(rf" {{0,80}}+(?P<key>[A-Za-z][\w ().-]{{0,60}}+): {_VALUE}(?:[,)][^|]{{0,80}}+)?+ {{0,40}}")
_REWARD: Final = re.compile(
    rf"(?:[\w.-]{{1,64}}+: )?+(?P<key>[Aa]verage reward score): {_VALUE}(?:(?:, ?[a-z_]{{1,20}}+=[^|)]{{0,80}}+)?+\))?+"
    rf"(?: \| EMA reward score: (?P<ema>{NUMBER}))?+(?P<rest> \|[^|]{{0,40}}+)?+\s{{0,40}}$"
)
_TIMES: Final = re.compile(r"(?:[\w.-]{1,64}+: )?+\|E2E latency=")
_TIME: Final = re.compile(
    rf"\|?(?P<key>[A-Za-z][\w ]{{0,40}}+)=(?P<number>{NUMBER})(?P<unit>[a-z]{{0,3}}+) ?(?P<share>\([0-9.]{{1,9}}%\))? ?"
)
_SPEED: Final = re.compile(r"(?:[\w.-]{1,64}+: )?+(?P<part>End-to-End|Generation|Training) {1,4}=> (?P<rest>.{1,400}+)")
_SPEED_CELL: Final = re.compile(
    rf"(?P<key>[A-Z][\w ./-]{{0,40}}?):? (?P<number>{NUMBER})(?P<unit> ?[A-Za-z][A-Za-z/]{{0,9}}+)?+"
)
_TOTAL: Final = re.compile(
    r"(?:[\w.-]{1,64}+: )?+Beginning of Epoch [0-9]{1,9}/[0-9]{1,9}, Total Generation Batches (?P<total>[0-9]{1,12})"
)
_WORDS: Final = ("poch: ", "reward score: ", "|E2E latency=", " => ", "Total Generation Batches ")


class DeepSpeedChat:
    """Reads one row a step, with the reward and the times that are printed behind it."""

    name: Final = "deepspeed-chat"
    strength: Final = 90

    def read(self, document: Document) -> Reading:
        """At most one run a process."""
        if not any("step: " in line or "Step: " in line for line in document.lines):
            return Reading()
        records: list[Record] = []
        early: list[Message] = []
        taken: set[int] = set()
        bad: list[int] = []
        units: dict[str, str] = {}
        total: int | None = None
        shifted = inferred = lost = False
        unplaced: list[int] = []
        behind: dict[str | None, dict[str, Row]] = {}
        for message in find_messages(document, _WORDS, _measure):
            begun = _TOTAL.match(message.body)
            if begun is not None:
                total = int(begun["total"])
                continue
            heading = _HEADING.match(message.body)
            if heading is None:
                if _CUT_HEADING.fullmatch(message.body) is not None:
                    lost = bool(records)
                    bad.append(message.number)
                    continue
                seen: dict[str, str] = {}
                following = _following(message, records[-1].row.step, seen) if records else None
                if following is not None:
                    held = behind.setdefault(message.tag, {}).setdefault(following[0].kind, following[0].row)
                    lost = lost or not _agree(held, following[0].row)
                    if lost:
                        unplaced.append(message.number)
                        continue
                    units |= {key: unit for key, unit in seen.items() if key not in units}
                    records.append(following[0])
                    taken.update(message.numbers)
                elif not records:
                    early.append(message)
                continue
            epoch, step = int(heading["epoch"]), int(heading["step"])
            if epoch and total is not None and step < total:
                step += epoch * total
                shifted = True
            record, _ = _step_record(message, heading, step)
            if not record.row.values and not record.row.cut:
                bad.append(message.number)
                continue
            last = records[-1] if records and not lost else None
            if last is not None and last.kind == "times" and last.row.last_line == message.number - 1:
                last.row.step = max(last.row.step, step - 1)  # lines were left out: the times are of the step before
            if not records and step and early and _TIMES.match(early[-1].body) is not None:
                before = _following(early[-1], step - 1, units)
                if before is not None:
                    inferred = True
                    records.append(before[0])
                    taken.update(early[-1].numbers)
            records.append(record)
            taken.update(message.numbers)
            lost, behind = False, {}
        if not any(record.kind == "step" and record.row.values for record in records):
            return Reading()
        bad += unplaced
        settle_ends(records, fixed=False)
        runs = make_runs(
            records,
            first=0,
            name=document.name,
            format="deepspeed-chat",
            framework="DeepSpeed-Chat",
            step_axis="step",
            notes=[
                *unit_notes(units.items()),
                *([_SHIFTED] if shifted else []),
                *([_INFERRED] if inferred else []),
                *([_unplaced_note(unplaced)] if unplaced else []),
            ],
        )
        return Reading(tuple(runs), frozenset(taken), tuple(bad))


def _agree(one: Row, other: Row) -> bool:
    """Whether two lines of one kind, behind the same step's line, tell the same."""
    return all(same_number(one.values.get(key, value), value) for key, value in other.values.items())


def _measure(body: str) -> tuple[tuple[str, ...], bool] | None:
    heading = _HEADING.match(body)
    message = Message(None, body, (0,), (0,))
    if heading is not None:
        record, complete = _step_record(message, heading, 0)
    else:
        following = _following(message, 0, {})
        if following is None and _CUT_HEADING.fullmatch(body) is not None:
            return (), False
        if following is None:
            return ((), True) if _TOTAL.match(body) is not None else None
        record, complete = following
    return (*record.row.values, *(gap.metric or "" for gap in record.row.bad)), complete


def _step_record(message: Message, heading: re.Match[str], step: int) -> tuple[Record, bool]:
    """The losses of a step's line, and whether it was understood; the counters in front are no metrics."""
    body, number = message.body, message.number
    row = Row(step, number, last_line=message.numbers[-1], tag=message.tag)
    texts: dict[str, tuple[str, str]] = {}
    at = heading.end()
    for segment in body[at:].split("|")[:40]:
        place, at = at, at + len(segment) + 1
        cell = _CELL.fullmatch(segment)
        key, colon, text = segment.strip().partition(": ")
        if cell is None:
            row.cut = True
            plain = bool(re.fullmatch(r"[A-Za-z][\w .-]{0,60}:?", key))
            if not segment.strip() or not plain:
                break
            if colon and text in {"None", "tensor"}:
                row.bad.append(Missing(key, step, message.line(place), "not_a_number", text[:80]))
                row.cut = False
                continue
            name = key.rstrip(":") if colon or key.endswith(":") else None
            row.half = Missing(
                name, step, message.line(place), "half_value" if name else "half_key", (text or key)[:80]
            )
            break
        value = read_number(cell["number"])
        if value is not None and cell["key"] not in _COUNTERS:
            row.values[cell["key"]], row.lines[cell["key"]] = value, message.line(place + cell.start("number"))
            texts[cell["key"]] = (cell["number"], "")
    if heading["ppo"] is None and not any("oss" in key for key in row.values):
        row.values.clear()
    return Record("step", row, {} if row.cut else texts), not row.cut


def _following(message: Message, step: int, units: dict[str, str]) -> tuple[Record, bool] | None:
    """The record of a line that belongs to the step before it, and whether nothing of the line is left over."""
    body, number = message.body, message.number
    row = Row(step, number, last_line=message.numbers[-1], tag=message.tag)
    texts: dict[str, tuple[str, str]] = {}

    def take(key: str, text: str, unit: str, at: int) -> None:
        value = read_number(text)
        if value is not None:
            row.values[key], row.lines[key] = value, message.line(at)
            texts[key] = (text, unit)
            units.setdefault(key, unit.rstrip("%"))

    reward = _REWARD.match(body)
    if reward is not None:
        take(reward["key"], reward["number"], "", reward.start("number"))
        if reward["ema"]:
            take("EMA reward score", reward["ema"], "", reward.start("ema"))
        row.cut = reward["rest"] is not None
        return Record("reward", row, {} if row.cut else texts), not row.cut
    if _TIMES.match(body) is not None:
        at = body.index("|")
        while (cell := _TIME.match(body, at)) is not None and len(texts) < 40:
            take(cell["key"], cell["number"], cell["unit"] + ("%" if cell["share"] else ""), cell.start("number"))
            at = cell.end()
        if body[at:].strip():
            row.cut = True
            key, equals, text = body[at:].lstrip("| ").partition("=")
            reason: MissingReason = "half_value" if equals else "half_key"
            row.half = Missing(key if equals else None, step, message.line(at), reason, text[:80])
        return (Record("times", row, {} if row.cut else texts), not row.cut) if row.values else None
    speed = _SPEED.fullmatch(body.rstrip())
    if speed is None:
        return None
    at, complete = speed.start("rest"), True
    for part in speed["rest"].split(", "):
        place, at = at, at + len(part) + 2
        found = _SPEED_CELL.fullmatch(part.rstrip())
        complete = complete and found is not None
        if found is not None:
            key = f"{speed['part']}/{found['key']}"
            take(key, found["number"], (found["unit"] or "").strip(), place + found.start("number"))
    return (Record(speed["part"], row, texts), complete) if row.values else None


def _unplaced_note(numbers: list[int]) -> Note:
    """Tells which lines belong to a step whose own line is cut."""
    shown = ", ".join(map(str, numbers[:12])) + (" …" if len(numbers) > 12 else "")
    return Note(
        "step_unknown",
        f"第 {shown} 行属于某一步，但该步的步行被截断、步号不完整：这些值不归入任何一步。",
        f"Lines {shown} belong to a step whose own line is cut before its number ends: "
        "their values are given to no step.",
        numbers[0],
    )


_SHIFTED: Final = Note(
    "epochs",
    "步数在每个 epoch 重新开始；后面 epoch 的步数已加上前面各 epoch 的批次总数。",
    "Steps start anew each epoch; those of later epochs are counted on by the number of batches an epoch.",
)
_INFERRED: Final = Note(
    "steps_inferred",
    "第一条步行之前的耗时行属于前一步（混合引擎在下一步开始时输出上一步的耗时）。",
    "The line of times before the first step line belongs to the step before it: the hybrid engine prints a step's "
    "times when the next step begins.",
)
