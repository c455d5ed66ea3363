"""What the server depends on, and in what state each part is."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from assistant.service.facade import service
from assistant.settings import settings

OK, DEGRADED, MISSING = "ok", "degraded", "missing"
CONNECT_SECONDS = 2.0


def part(status: str, reason: str = "") -> dict[str, str]:
    """A part's state and the reason."""
    return {"status": status, "reason": reason}


def count_cards() -> int:
    """How many cards are loaded."""
    return len(service().resolver.library)


def cards() -> dict[str, str]:
    """The definitions of metrics; nothing works without."""
    if count_cards() == 0:
        return part(MISSING, "no metric card is loaded: the installation is damaged")
    problems = service().problems
    return part(DEGRADED, f"{len(problems)} own documents cannot be read") if problems else part(OK)


def search_index() -> dict[str, str]:
    """The index; without it definitions are found by name only."""
    notices = [note.en for note in service().notices]
    return part(DEGRADED, notices[-1][:300]) if notices else part(OK)


def chroma() -> dict[str, str]:
    """The server of vectors, where one is configured."""
    url = settings().chroma_url
    if not url:
        return part(OK, "embedded")
    return reachable(url, 8000)


def model() -> dict[str, str]:
    """The model's server; without one the offline engine answers."""
    models = settings().models
    if not models:
        return part(MISSING, "no model is configured; the offline engine answers")
    if not models[0].base_url:
        return part(OK, f"{models[0].model} at OpenAI; not called to find out")
    found = reachable(models[0].base_url, None)
    return found if found["status"] == OK else part(DEGRADED, found["reason"] + "; the offline engine answers")


def reachable(url: str, port: int | None) -> dict[str, str]:
    """Whether something listens there; nothing is sent, and no part of the address but host and port is told."""
    parts = urlsplit(url)
    number = parts.port or port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or "localhost"
    try:
        with socket.create_connection((host, number), CONNECT_SECONDS):
            return part(OK)
    except OSError as error:
        return part(MISSING, f"{host}:{number} does not answer ({error.strerror or type(error).__name__})")


CHECKS: Mapping[str, Callable[[], dict[str, str]]] = {
    "cards": cards, "search_index": search_index, "chroma": chroma, "model": model,
}  # fmt: skip
