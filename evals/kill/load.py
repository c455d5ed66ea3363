"""Clients that ask, write down what was acknowledged, and go on over every death of the server."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

QUESTIONS = (
    "entropy at step {step}?", "step {step} 的 grad_norm 是多少？", "what about step {step}?", "reward at step {step}?",
    "step {step} 怎么样？",
)  # fmt: skip
#: Seconds before an unanswered request is sent again.
TIMEOUT = 20.0
#: Seconds in which a client that does not give up must have been told something.
PATIENCE = 600.0


@dataclass
class Book:
    """What the clients were told; the server must stand by all of it.

    Attributes:
        posted: tag of a question → session; everything that was ever sent.
        acknowledged: tag → id of the answer's message.
        answers: id of an answer's message → its text, where the whole answer came.
        runs: tag of a log → session and id of the run.
        statuses: how often each HTTP status was seen (0: the connection broke).
        surprises: replies that no client should ever see.
    """

    posted: dict[str, str] = field(default_factory=dict)
    acknowledged: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    runs: dict[str, tuple[str, str]] = field(default_factory=dict)
    sent_runs: dict[str, str] = field(default_factory=dict)
    statuses: dict[int, int] = field(default_factory=dict)
    surprises: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def seen(self, status: int) -> None:
        """Counts a reply."""
        with self.lock:
            self.statuses[status] = self.statuses.get(status, 0) + 1


class Client(threading.Thread):
    """Asks in sessions that others ask in too, by turns as JSON and as events; gives up on some questions.

    Args:
        name: marks its questions.
        ports: of the servers; each request goes to one of them by chance.
        sessions: ids.
        book: where it writes down.
        stop: set when no new question is to be asked.
        log: a log to attach now and then.
    """

    def __init__(
        self, name: str, ports: Sequence[int], sessions: Sequence[str], book: Book, *, stop: threading.Event,
        log: str, seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__(name=name, daemon=True)
        self.ports = ports
        self.sessions = sessions
        self.book = book
        self.stopping = stop
        self.log = log
        self.chance = random.Random(f"{name} {seed}")

    def run(self) -> None:
        """Until told to stop; what was begun is brought to its end, unless it is one of those given up on."""
        number = 0
        while not self.stopping.is_set():
            number += 1
            tag = f"#{self.name}-{number}"
            session = self.chance.choice(self.sessions)
            if self.chance.random() < 0.04:
                self._until_done(lambda t=tag, s=session: self._attach(t, s))  # type: ignore[misc]
            else:
                question = self.chance.choice(QUESTIONS).format(step=self.chance.randint(1, 3))
                body = {"content": f"{question} {tag}", "lang": self.chance.choice(["auto", "en", "zh"])}
                ask = self._stream if self.chance.random() < 0.4 else self._ask
                with self.book.lock:
                    self.book.posted[tag] = session
                self._until_done(lambda a=ask, t=tag, s=session, b=body: a(t, s, b))  # type: ignore[misc]

    def _until_done(self, attempt: Callable[[], bool]) -> None:
        """Again and again with the same key, as a good client does; one of ten is given up after the first failure."""
        patient = self.chance.random() < 0.9
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if attempt():
                    return
            except (OSError, http.client.HTTPException, ValueError):
                self.book.seen(0)
            if not patient:
                return
            time.sleep(self.chance.uniform(0.02, 0.2))
        with self.book.lock:
            self.book.surprises.append(f"{self.name}: no acknowledgement within {PATIENCE:g} s")

    def _request(self, path: str, tag: str, body: Any, accept: str) -> tuple[http.client.HTTPConnection, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.chance.choice(self.ports), timeout=TIMEOUT)
        headers = {"content-type": "application/json", "accept": accept, "idempotency-key": tag}
        try:
            connection.request("POST", path, json.dumps(body), headers)
            reply = connection.getresponse()
        except BaseException:
            connection.close()
            raise
        self.book.seen(reply.status)
        return connection, reply

    def _ask(self, tag: str, session: str, body: Any) -> bool:
        connection, reply = self._request(f"/sessions/{session}/messages", tag, body, "application/json")
        try:
            data = reply.read()
            if reply.status == 200:
                self._acknowledged(tag, reply.headers["x-message-id"], json.loads(data)["answer"])
                return True
            return self._refused(tag, reply.status, data, session)
        finally:
            connection.close()

    def _stream(self, tag: str, session: str, body: Any) -> bool:
        connection, reply = self._request(f"/sessions/{session}/messages", tag, body, "text/event-stream")
        try:
            if reply.status != 200:
                return self._refused(tag, reply.status, reply.read(), session)
            kind = ""
            while line := reply.readline():
                text = line.decode().rstrip("\n")
                if text.startswith("event: "):
                    kind = text[7:]
                elif text.startswith("data: "):
                    told = json.loads(text[6:])
                    if kind == "message" and told["role"] == "assistant":
                        self._acknowledged(tag, told["id"], None)
                    elif kind == "answer":
                        self._acknowledged(tag, told["message_id"], told["answer"])
                        return True
                    elif kind == "error":
                        return self._refused(tag, int(told.get("status", 500)), text[6:].encode(), session)
            return False  # it broke off: the same key asks how it ended
        finally:
            connection.close()

    def _attach(self, tag: str, session: str) -> bool:
        with self.book.lock:
            self.book.sent_runs[tag] = session
        body = {"text": self.log, "name": f"log {tag}"}
        connection, reply = self._request(f"/sessions/{session}/runs", tag, body, "application/json")
        try:
            data = reply.read()
            if reply.status == 201:
                with self.book.lock:
                    self.book.runs[tag] = (session, json.loads(data)["run"]["id"])
                return True
            return self._refused(tag, reply.status, data, session)
        finally:
            connection.close()

    def _acknowledged(self, tag: str, message: str, answer: str | None) -> None:
        with self.book.lock:
            before = self.book.acknowledged.setdefault(tag, message)
            if before != message:
                self.book.surprises.append(f"{tag} was acknowledged as {before} and as {message}")
            if answer is not None and self.book.answers.setdefault(message, answer) != answer:
                self.book.surprises.append(f"{message} was answered in two ways")

    def _refused(self, tag: str, status: int, data: bytes, session: str) -> bool:
        """Follows a reply that asks for patience, asks again for an interrupted answer; any other is a surprise."""
        if status in {429, 503, 504}:
            return False
        told = json.loads(data) if data.startswith(b"{") else {}
        if told.get("code") == "interrupted":
            path = f"/sessions/{session}/messages/{told['message_id']}/retry"
            connection, reply = self._request(path, f"{tag} again", {}, "application/json")
            with contextlib.closing(connection):
                reply.read()
            return False
        with self.book.lock:
            self.book.surprises.append(f"{tag}: {status} {data[:300]!r}")
        return True
