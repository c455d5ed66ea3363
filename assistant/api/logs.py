"""Structured logs: a JSON object a line, with the request's id; never a body, a query, a key or an error's message."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from contextvars import ContextVar
from typing import Any

import orjson

from assistant.api.worker import is_secret
from assistant.settings import Serving

request_id: ContextVar[str] = ContextVar("request_id", default="")
access = logging.getLogger("assistant.access")

HIDDEN = "[hidden]"
_PATTERNS = re.compile(
    r"(?i)(bearer\s+|x-api-key[\"']?\s*[:=]\s*[\"']?|api[_-]?key[\"']?\s*[:=]\s*[\"']?|password[\"']?\s*[:=]\s*[\"']?)"
    r"[^\s\"',;]+|(ma_|sk-)[\w-]{8,}|(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"
)
_FIELDS = ("event", "method", "route", "status", "ms", "bytes_in", "bytes_out", "caller", "client", "code", "version")


def redacted(text: str) -> str:
    """A text in which secrets of the environment, and what looks like a key, are masked."""
    for name, value in os.environ.items():
        if is_secret(name) and len(value) >= 6:
            text = text.replace(value, HIDDEN)
    return _PATTERNS.sub(lambda match: (match[1] or "") + HIDDEN, text)


class Formatter(logging.Formatter):
    """A record as JSON, or as a line for people.

    Args:
        as_json: which of the two.
    """

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self.as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(record.getMessage()),
            "request_id": getattr(record, "request_id", "") or request_id.get(),
        }
        entry |= {name: getattr(record, name) for name in _FIELDS if getattr(record, name, None) is not None}
        if record.exc_info:
            entry["error"] = redacted(places(record.exc_info[1]))
        if self.as_json:
            return orjson.dumps({name: value for name, value in entry.items() if value != ""}, default=str).decode()
        rest = " ".join(f"{name}={value}" for name, value in entry.items() if name in (*_FIELDS, "request_id", "error"))
        return f"{entry['time']} {entry['level']:<7} {entry['message']} {rest}".rstrip()


def places(error: BaseException | None) -> str:
    """Kind and places of an error, without its message, which may quote what a caller sent."""
    import traceback

    if error is None:
        return ""
    told = str(error) if type(error).__name__ == "WorkerFault" else ""  # it holds only places itself
    frames = " < ".join(
        f"{f.filename}:{f.lineno} {f.name}" for f in reversed(traceback.extract_tb(error.__traceback__))
    )
    return " ".join(part for part in (type(error).__name__, told, "at", frames) if part)


def configure(serving: Serving) -> None:
    """Sends the logs of the package and of uvicorn to standard error, in the form that the settings say."""
    as_json = serving.log_format != "text" and (serving.log_format == "json" or not sys.stderr.isatty())
    handler = logging.StreamHandler()
    handler.setFormatter(Formatter(as_json=as_json))
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # a broken form is the caller's, who is told
    for name in ("assistant", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name != "uvicorn.error" else []
        logger.propagate = name == "uvicorn.error"
        logger.setLevel(serving.log_level.upper() if name == "assistant" else "WARNING")
