"""DeepSpeed-Chat, step 3: ``epoch: 0|step: 13|ppo_ep: 1|act_loss: …`` and the lines that follow it.

The reward (``average reward score: …``) and the times (``|E2E latency=7.99s |…``) stand on lines of their own
behind the step's line and belong to it. Newer versions print ``Epoch: 0 | Step: 13 | PPO Epoch: 1 | …``.
"""

from __future__ import annotations

import re
from typing import Final

from assistant.model.run import Missing, Note
from assistant.parsing.logprefix import read_body
from assistant.parsing.numbers import NUMBER, read_number
from assistant.parsing.records import Record, make_runs, settle_ends, unit_notes
from assistant.parsing.repair import Document
from assistant.parsing.table import Reading, Row

_VALUE: Final = rf"(?:tensor\()?+(?P<number>{NUMBER})"
_HEADING: Final = re.compile(
    r"(?:(?![Ee]poch:)[\w.-]{1,64}+: )?+[Ee]poch: (?P<epoch>[0-9]{1,9}) ?\| ?[Ss]tep: (?P<step>[0-9]{1,12}) ?\| ?"
    r"(?:ppo_ep|PPO Epoch): [0-9]{1,9} ?\|"
)
_CELL: Final = re.compile(rf" ?(?P<key>[A-Za-z][\w ().-]{{0,60}}+): {_VALUE}(?:[,)][^|]{{0,80}}+)?+ {{0,40}}")
_REWARD: Final = re.compile(
    rf"(?:[\w.-]{{1,64}}+: )?+[Aa]verage reward score: {_VALUE}\)?+"
    rf"(?: \| EMA reward score: (?P<ema>{NUMBER}))?+\s{{0,40}}$"
)
_TIMES: Final = re.compile(r"(?:[\w.-]{1,64}+: )?+\|E2E latency=")
_TIME: Final = re.compile(
    rf"\|?(?P<key>[A-Za-z][\w ]{{0,40}}+)=(?P<number>{NUMBER})(?P<unit>[a-z]{{0,3}}+) ?(?P<share>\([0-9.]{{1,9}}%\))? ?"
)
_SPEED: Final = re.compile(r"(?:[\w.-]{1,64}+: )?+(?P<part>End-to-End|Generation|Training) {1,4}=> (?P<rest>.{1,400}+)")
_SPEED_CELL: Final = re.compile(
    rf"(?P<key>[A-Z][\w ./-]{{0,40}}?):? (?P<number>{NUMBER})(?P<unit> ?[A-Za-z][A-Za-z/]{{0,9}}+)?+"
)
_TOTAL: Final = re.compile(r"Beginning of Epoch [0-9]{1,9}/[0-9]{1,9}, Total Generation Batches (?P<total>[0-9]{1,12})")
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
        taken: set[int] = set()
        bad: list[int] = []
        units: dict[str, str] = {}
        total: int | None = None
        shifted = False
        for line, number in zip(document.lines, document.numbers, strict=False):
            if not any(word in line for word in _WORDS):
                continue
            tag, body = read_body(line)
            begun = _TOTAL.match(body)
            if begun is not None:
                total = int(begun["total"])
                continue
            heading = _HEADING.match(body)
            if heading is not None:
                epoch, step = int(heading["epoch"]), int(heading["step"])
                if epoch and total is not None and step < total:
                    step += epoch * total
                    shifted = True
                record = _step_record(body, heading, step, number, tag)
                if record.row.values:
                    records.append(record)
                    taken.add(number)
                else:
                    bad.append(number)
                continue
            if not records:
                continue
            record_of_line = _following(body, records[-1].row.step, number, tag, units)
            if record_of_line is not None:
                records.append(record_of_line)
                taken.add(number)
        if not any(record.kind == "step" for record in records):
            return Reading()
        settle_ends(records, fixed=False)
        runs = make_runs(
            records,
            first=0,
            name=document.name,
            format="deepspeed-chat",
            framework="DeepSpeed-Chat",
            step_axis="step",
            notes=[*unit_notes(units.items()), *([_SHIFTED] if shifted else [])],
        )
        return Reading(tuple(runs), frozenset(taken), tuple(bad))


def _step_record(body: str, heading: re.Match[str], step: int, number: int, tag: str | None) -> Record:
    """The losses of a step's line; the counters in front of them are no metrics."""
    row = Row(step, number, last_line=number, tag=tag)
    texts: dict[str, tuple[str, str]] = {}
    for segment in body[heading.end() :].split("|")[:40]:
        cell = _CELL.fullmatch(segment)
        key, colon, text = segment.strip().partition(": ")
        if cell is None:
            row.cut = True
            plain = bool(re.fullmatch(r"[A-Za-z][\w .-]{0,60}:?", key))
            if not segment.strip() or not plain:
                break
            if colon and text in {"None", "tensor"}:
                row.bad.append(Missing(key, step, number, "not_a_number", text[:80]))
                row.cut = False
                continue
            name = key.rstrip(":") if colon or key.endswith(":") else None
            row.half = Missing(name, step, number, "half_value" if name else "half_key", (text or key)[:80])
            break
        value = read_number(cell["number"])
        if value is not None:
            row.values[cell["key"]] = value
            texts[cell["key"]] = (cell["number"], "")
    return Record("step", row, {} if row.cut else texts)


def _following(body: str, step: int, number: int, tag: str | None, units: dict[str, str]) -> Record | None:
    """The record of a line that belongs to the step before it."""
    row = Row(step, number, last_line=number, tag=tag)
    texts: dict[str, tuple[str, str]] = {}
    reward = _REWARD.match(body)
    if reward is not None:
        key = "Average reward score" if "Average reward score" in body else "average reward score"
        for name, text in ((key, reward["number"]), ("EMA reward score", reward["ema"])):
            value = read_number(text) if text else None
            if value is not None:
                row.values[name] = value
                texts[name] = (text, "")
        return Record("reward", row, texts)
    times = _TIMES.match(body)
    if times is not None:
        at = body.index("|")
        while (cell := _TIME.match(body, at)) is not None and len(texts) < 40:
            value = read_number(cell["number"])
            if value is not None:
                row.values[cell["key"]] = value
                texts[cell["key"]] = (cell["number"], cell["unit"] + ("%" if cell["share"] else ""))
                units.setdefault(cell["key"], cell["unit"])
            at = cell.end()
        if body[at:].strip():
            row.cut = True
            key, equals, text = body[at:].lstrip("| ").partition("=")
            row.half = Missing(key if equals else None, step, number, "half_value" if equals else "half_key", text[:80])
        return Record("times", row, {} if row.cut else texts) if row.values else None
    speed = _SPEED.fullmatch(body.rstrip())
    if speed is None:
        return None
    for part in speed["rest"].split(", "):
        found = _SPEED_CELL.fullmatch(part)
        value = read_number(found["number"]) if found is not None else None
        if found is not None and value is not None:
            key = f"{speed['part']}/{found['key']}"
            row.values[key] = value
            texts[key] = (found["number"], (found["unit"] or "").strip())
            units.setdefault(key, (found["unit"] or "").strip())
    return Record(speed["part"], row, texts) if row.values else None


_SHIFTED: Final = Note(
    "epochs",
    "步数在每个 epoch 重新开始；后面 epoch 的步数已加上前面各 epoch 的批次总数。",
    "Steps start anew each epoch; those of later epochs are counted on by the number of batches an epoch.",
)
