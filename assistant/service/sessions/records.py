"""Sessions, messages and runs as they are read from the tables; plain and frozen."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

ROLES: Final = ("user", "assistant")
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Session:
    """A session without what is in it.

    Attributes:
        created: microseconds since 1970, as is ``updated``.
        n_messages: of those that stand (not superseded).
    """

    id: str
    title: str
    lang: str
    created: int
    updated: int
    n_messages: int = 0
    n_runs: int = 0

    def to_json(self) -> dict[str, Any]:
        """As in a list."""
        return {
            "id": self.id, "title": self.title, "lang": self.lang, "created": iso(self.created),
            "updated": iso(self.updated), "n_messages": self.n_messages, "n_runs": self.n_runs,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Message:
    """One message; ``answer`` is the packed JSON of the answer, where there is one."""

    id: str
    session: str
    seq: int
    role: str
    status: str
    content: str
    created: int
    reply_to: str | None = None
    asked: str | None = None
    answer: bytes | None = None
    error: str | None = None
    superseded: bool = False

    def to_json(self, *, answers: bool = True) -> dict[str, Any]:
        """The message object; ``answers=False`` leaves the answer's data out (``null``), its text stands in content.

        The answer is a :class:`orjson.Fragment`: it is stored as JSON and need not be read to be sent.
        """
        import orjson

        answer = orjson.Fragment(unpacked(self.answer)) if answers and self.answer is not None else None
        told: dict[str, Any] = {
            "id": self.id, "role": self.role, "content": self.content, "status": self.status, "answer": answer,
            "created": iso(self.created), "reply_to": self.reply_to,
        }  # fmt: skip
        if self.error:
            told["error"] = json.loads(self.error)
        return told


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run of a session without its table; ``summary`` is in both languages."""

    rid: str
    name: str
    source: int
    summary: Mapping[str, Any]

    def to_json(self, language: str = "en") -> dict[str, Any]:
        """As in ``runs`` of an answer."""
        told = self.summary.get(language) or self.summary["en"]
        return {**told, "id": self.rid, "name": self.name}


@dataclass(frozen=True, slots=True)
class PackedRun:
    """A run that was read, ready to be stored."""

    name: str
    packed: bytes
    summary: bytes


@dataclass(frozen=True, slots=True)
class PackedSource:
    """A text that was read, ready to be stored.

    Attributes:
        chunks: line number of the first line, and packed text, of each piece; none where it is not kept.
        remarks: packed JSON of what was noted of the text as a whole.
    """

    name: str
    size: int
    n_lines: int
    kept: bool
    chunks: tuple[tuple[int, bytes], ...]
    remarks: bytes
    runs: tuple[PackedRun, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """How a question was asked: what is needed to answer it again after a crash.

    Attributes:
        question: what is asked, without a log that was pasted with it; empty: explain what matters.
        lang: ``auto``, ``zh`` or ``en``.
        engine: ``auto``, ``offline`` or ``llm``.
        runs: ids of the runs that it is about; empty for all.
        else_lang: language of the answer where ``lang`` is ``auto`` and the question has none: the asker's.
    """

    question: str
    lang: str = "auto"
    engine: str = "auto"
    runs: tuple[str, ...] = ()
    else_lang: str = ""

    def dump(self) -> str:
        """As text."""
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Asked:
        """From text."""
        data = json.loads(text)
        return cls(data["question"], data["lang"], data["engine"], tuple(data["runs"]), data.get("else_lang", ""))


@dataclass(frozen=True, slots=True)
class Work:
    """A pending answer, and what it is made from.

    Attributes:
        message: id of the pending message.
        state: of the conversation before it, as JSON text.
        waits: whether an earlier answer of the session is still pending.
    """

    message: str
    session: str
    asked: Asked
    state: str | None
    waits: bool
    attempts: int


@dataclass(frozen=True, slots=True)
class Posted:
    """A question and its pending answer; ``fresh`` is false where an idempotency key was seen before."""

    user: Message
    reply: Message
    fresh: bool
    added: tuple[StoredRun, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an answer ended: what is stored in the place of the pending one."""

    status: str
    content: str = ""
    answer: bytes | None = None
    state: str | None = None
    error: Mapping[str, Any] = field(default_factory=dict)


def packed(data: bytes) -> bytes:
    """Bytes for a binary column."""
    return zlib.compress(data, 3)


def unpacked(data: bytes) -> bytes:
    """What :func:`packed` took."""
    return zlib.decompress(data)


def iso(microseconds: int) -> str:
    """A time as ISO 8601 in UTC, to the microsecond."""
    seconds, rest = divmod(microseconds, 1_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:06d}Z"


def from_iso(text: str) -> int | None:
    """Microseconds since 1970; ``None`` for what is no time."""
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds


def storable(text: str) -> str:
    """The text without what no database can hold (NUL, halves of surrogate pairs): shown as U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)
