"""A model's text on its way out: each sentence is judged before it leaves.

Sentences leave in order: after the first that fails, the rest waits for the one round of repair.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assistant.agent.judging import Item, Judge
from assistant.agent.splitting import Piece, Splitter, Unthinking
from assistant.model import Fact, Mention

LONGEST_REPLY = 24_000
#: Of the text before a sentence, how many characters tell what it speaks of, beside headings and a table's header.
CONTEXT = 600
#: Sentences without a claim that wait for one with a claim, so that "let me look at the log" is never sent alone.
WAITING = 400
#: Least part of the text that must remain.
LEAST_KEPT = 0.4


@dataclass(frozen=True, slots=True)
class Failed:
    """A sentence that failed, as the repair round is told of it."""

    text: str
    reason: str


@dataclass
class Gate:
    """A model's text on its way out.

    Args:
        judge: decides on each piece.
        send: is given text that may be shown, in order; all that was given is a beginning of :attr:`text`.
    """

    judge: Judge
    send: Callable[[str], None]
    items: list[Item] = field(default_factory=list)
    sent: str = ""
    raw: str = ""
    plain: str = ""
    """The text without thought."""
    unthinking: Unthinking = field(default_factory=Unthinking)
    splitter: Splitter = field(default_factory=Splitter)
    _seen: set[str] = field(default_factory=set)

    def feed(self, text: str) -> bool:
        """More of the text; ``False`` once it is longer than any answer: the rest is left out."""
        whole = len(self.raw) + len(text) <= LONGEST_REPLY
        text = text[: LONGEST_REPLY - len(self.raw)]
        self.raw += text
        shown = self.unthinking.feed(text)
        if self.unthinking.forget:
            self._forget()
        self.plain += shown
        pieces = self.splitter.feed(shown)
        if pieces:
            self._add(pieces)
            self._flush()
        return whole

    def close(self) -> None:
        """The end of the reply."""
        rest = self.unthinking.close()
        self.plain += rest
        self._add(self.splitter.feed(rest) + self.splitter.close())

    def drop_unfinished(self) -> None:
        """The reply broke off: its last piece goes, unless it ends like a sentence."""
        if self.items and not re.search(r"[。！？.!?|:：）)*`\"”]\s*$", self.items[-1].piece.text):
            self.items.pop()

    @property
    def failed(self) -> list[Item]:
        """Those that did not pass, in order."""
        return [item for item in self.items if item.reason]

    @property
    def text(self) -> str:
        """What is shown of all there is so far."""
        return assemble(self.items)

    def finish(self) -> str:
        """Sends what is left and returns the whole text."""
        text = self.text.rstrip()
        self._send(text)
        return text

    def repair(self, lines: Mapping[int, str]) -> None:
        """Puts the repaired sentences in the places of those that failed, where they pass now.

        Args:
            lines: position among :attr:`failed`, from 1, → the sentence.
        """
        for place, item in list(enumerate(self.failed, 1)):
            line = lines.get(place, "").strip()
            if not line or line in {"-", "–", "—"}:
                continue
            position = self.items.index(item)
            before = _before(self.items[:position], row=item.piece.row)
            again = self.judge.judge(Piece(item.piece.lead, line, item.piece.tail), before)
            if again.kept and "\n" not in line:
                again.repaired = True
                self.items[position] = again

    @property
    def enough(self) -> bool:
        """Whether what is left is an answer: its first sentence stands, and two fifths of the text."""
        told = [item for item in self.items if item.piece.body.strip() and not item.piece.structure]
        if not told or not told[0].kept:
            return False
        whole = sum(len(item.body or item.piece.body) for item in told)
        return sum(len(item.body) for item in told if item.kept) >= LEAST_KEPT * whole

    @property
    def claims(self) -> int:
        """Supported claims in it."""
        return sum(len(item.claims) for item in self.items if item.kept)

    def mentions(self, fact_of: Callable[[str], Fact | None]) -> tuple[Mention, ...]:
        """Where the shown text states which fact.

        Args:
            fact_of: id in the auditor's ledger → the fact under its id in the answer.
        """
        text, found, position = self.text, [], 0
        for item in self.items:
            if not item.kept:
                continue
            start = text.find(item.body, position)
            if start < 0:
                continue
            inside = start
            for claim, fact_id in item.claims:
                at = text.find(claim, inside, start + len(item.body))
                at = text.find(claim, start, start + len(item.body)) if at < 0 else at
                fact = fact_of(fact_id) if fact_id else None
                if at >= 0 and fact is not None:
                    found.append(Mention(at, at + len(claim), fact.id))
                    inside = at + len(claim)
            position = start + len(item.body)
        return tuple(found)

    # -- inside ----------------------------------------------------------------------------------
    def _add(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            if len(piece.body) > 20 and piece.body in self._seen and not piece.rule:
                self.items.append(Item(piece, ""))  # a model that repeats itself
                continue
            self._seen.add(piece.body)
            self.items.append(self.judge.judge(piece, _before(self.items, row=piece.row)))

    def _flush(self) -> None:
        """Sends what is certain: nothing behind a failure, nothing that only introduces what is not there yet."""
        ready = self.items
        if any(item.reason for item in ready):
            ready = ready[: next(place for place, item in enumerate(ready) if item.reason)]
        while ready and (ready[-1].piece.structure or (ready[-1].piece.row and not _in_body(ready, len(ready) - 1))):
            ready = ready[:-1]
        waiting = not self.sent and not any(item.claims for item in ready)
        if ready and not (waiting and sum(len(item.body) for item in ready) < WAITING):
            self._send(assemble(ready).rstrip())

    def _send(self, text: str) -> None:
        if text.startswith(self.sent) and len(text) > len(self.sent):
            new, self.sent = text[len(self.sent) :], text
            self.send(new)

    def _forget(self) -> None:
        self.unthinking.forget = False
        self.plain = ""
        self.splitter = Splitter()
        if not self.sent:
            self.items.clear()
            self._seen.clear()


def _before(items: Sequence[Item], *, row: bool) -> str:
    """What a piece is read after: the last sentences, the headings above them, and in a table its header."""
    near: list[str] = []
    room, place = CONTEXT, len(items)
    while place > 0 and room > 0:
        place -= 1
        item = items[place]
        if not item.reason:
            near.append(item.piece.lead + item.body + item.piece.tail)
            room -= len(near[-1])
    level = 7
    for item in reversed(items[:place]):
        own = item.piece.lead.count("#")
        header = row and item.piece.row and not _in_body(items, items.index(item))
        if (0 < own < level or header or (row and item.piece.rule)) and not item.reason:
            near.append(item.piece.lead + item.body + item.piece.tail)
        level = min(level, own or level)
        row = row and item.piece.row
        if level == 1:
            break
    return "".join(reversed(near))


def _in_body(items: Sequence[Item], place: int) -> bool:
    """Whether a table's line stands below the table's rule."""
    while place >= 0 and items[place].piece.row:
        if items[place].piece.rule:
            return True
        place -= 1
    return False


def assemble(items: Sequence[Item]) -> str:
    """The kept pieces joined; a list marker passes on to the next sentence of its item, an empty heading goes."""
    text, carried = "", ""
    for place, item in enumerate(items):
        lead, tail = item.piece.lead, item.piece.tail
        fresh = not text or text.endswith("\n")
        if not item.kept or (_introduces(items, place) and not _followed(items, place)):
            if "\n" in tail:
                if not fresh and not text.endswith("\n"):
                    text = text.rstrip(" \t") + tail
                carried = ""
            elif lead:
                carried = lead
            continue
        text += (carried if carried and not lead else lead) + item.body + tail
        carried = ""
    return re.sub(r"\n{3,}", "\n\n", text).lstrip("\n")


def _introduces(items: Sequence[Item], place: int) -> bool:
    piece = items[place].piece
    return piece.structure or (piece.row and not _in_body(items, place))


def _followed(items: Sequence[Item], place: int) -> bool:
    """Whether something shown follows what introduces it."""
    piece = items[place].piece
    level = piece.lead.count("#")
    for after in range(place + 1, len(items)):
        other = items[after].piece
        if piece.row and not other.row:
            return False
        if "#" in other.lead and (not level or other.lead.count("#") <= level):
            return False
        if items[after].kept and not _introduces(items, after):
            return True
    return False
