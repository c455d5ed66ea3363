"""What can go wrong with a model, and what may be done about it."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

Reason = Literal[
    "timeout", "rate_limited", "quota", "server", "connection", "key", "not_found", "too_long", "bad_request",
    "no_tools", "malformed", "cut", "empty", "refused", "filtered", "length", "tools", "vague",
    "unsupported", "internal",
]  # fmt: skip

#: Reasons after which the same model may be asked again at once or a little later.
AGAIN = {"rate_limited", "server", "connection", "cut", "malformed", "empty"}
#: Times that a model is asked again for one reason.
ATTEMPTS = 2
_TOO_LONG = re.compile(
    r"context[ _](?:length|window)|maximum context|too many tokens|prompt is too long|reduce the length"
    r"|exceeds? (?:the )?(?:max|limit|available)|input.{0,20}too long",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"tool[ _-]?choice|tool-call-parser|support[^.]{0,20}(?:tool|function)|tools?[^.]{0,20}support|function.?call",
    re.IGNORECASE,
)
_BROKEN_OFF = re.compile(r"incomplete|peer closed", re.IGNORECASE)
_REFUSAL = re.compile(
    r"(?i)^\W*(?:i['’]?m (?:really |very )?sorry|sorry,|as an ai"
    r"|i (?:can(?:['’]t|not)|am (?:unable|not able) to|won['’]t) (?:help|assist|answer|provide|comply|do|discuss|share)"
    r"|抱歉|对不起|很抱歉|我(?:无法|不能)(?:回答|协助|提供|帮))"
)


@dataclass
class Fault(Exception):
    """A reply that is none; ``reason`` is the key of its phrase (``agent.why_<reason>``)."""

    reason: Reason
    detail: str = ""
    retry_after: float | None = None

    def __str__(self) -> str:
        return f"{self.reason}: {self.detail}" if self.detail else self.reason


def is_refusal(text: str) -> bool:
    """Whether a short text is nothing but a refusal."""
    return len(text) < 400 and _REFUSAL.match(text) is not None


def fault_of(error: BaseException) -> Fault:
    """What an exception of the client, of HTTP or of LangChain means."""
    import httpx
    import openai

    if isinstance(error, Fault):
        return error
    if isinstance(error, openai.APIStatusError):
        return _of_status(error)
    if isinstance(error, (openai.APITimeoutError, TimeoutError, httpx.TimeoutException)):
        return Fault("timeout", type(error).__name__)
    if isinstance(error, openai.APIConnectionError):
        cause = _root(error)
        if isinstance(cause, UnicodeError) or "illegal" in str(cause):
            return Fault("malformed", type(cause).__name__)
        return Fault("cut" if _BROKEN_OFF.search(str(cause)) else "connection", type(cause).__name__)
    if isinstance(error, (httpx.RemoteProtocolError, httpx.ReadError)):
        return Fault("cut", type(error).__name__)
    if isinstance(error, httpx.HTTPError):
        return Fault("connection", type(error).__name__)
    malformed = (openai.APIError, json.JSONDecodeError, UnicodeError, ValueError, TypeError, KeyError, AttributeError)
    if isinstance(error, (*malformed, IndexError)):
        return Fault("malformed", type(error).__name__)
    return Fault("internal", type(error).__name__)


def _root(error: BaseException) -> BaseException:
    """What an error was raised from in the end."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _of_status(error: object) -> Fault:
    status = int(getattr(error, "status_code", 500))
    text = f"{getattr(error, 'message', '')} {getattr(error, 'code', '')}"
    detail = f"HTTP {status}"
    if status in {401, 403, 407}:
        return Fault("key", detail)
    if status == 413 or (status in {400, 422} and _TOO_LONG.search(text)):
        return Fault("too_long", detail)
    if status in {404, 405, 410}:
        return Fault("not_found", detail)
    if status == 429:
        if "insufficient_quota" in text or "exceeded your current quota" in text:
            return Fault("quota", detail)
        response = getattr(error, "response", None)
        return Fault("rate_limited", detail, _retry_after(response.headers if response is not None else {}))
    if status in {408, 425} or status >= 500:
        response = getattr(error, "response", None)
        return Fault("server", detail, _retry_after(response.headers if response is not None else {}))
    return Fault("no_tools" if _NO_TOOLS.search(text) else "bad_request", detail)


def _retry_after(headers: object) -> float | None:
    """Seconds that a server asks to wait: a number or an HTTP date."""
    get = getattr(headers, "get", lambda _: None)
    milliseconds = get("retry-after-ms")
    value = get("retry-after")
    try:
        if milliseconds:
            return max(0.0, float(milliseconds) / 1000)
        return max(0.0, float(value)) if value else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(str(value)).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
