"""Findings to a chat group or a program: Feishu (Lark), DingTalk, Slack, or plain JSON, over an outgoing webhook.

Bodies and signatures are those of the custom bots' documentation. Feishu signs with HMAC-SHA256 over nothing, keyed by
``timestamp\\nsecret`` (open.feishu.cn, "custom bot guide", signature verification); DingTalk over that text, keyed by
the secret, timestamp in milliseconds, in the query (open.dingtalk.com, "custom robot security settings"); Slack takes
``mrkdwn`` blocks and no signature (api.slack.com, "incoming webhooks"). The plain JSON body is signed as GitHub signs
its webhooks, but in ``X-Signature-256``: ``sha256=…`` over the body.

A message holds statements, rules, steps and the log's file name, nothing of its raw text.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from assistant import resources
from assistant.model import AssistantError, InputError
from assistant.model.jsontext import json_bytes
from assistant.service.alerts import Alert
from assistant.settings import Webhook
from assistant.write.phrases import PLURAL, Phrases, read_phrases

#: Findings in one message; groups do not read more.
MOST: Final = 10
TRIES: Final = 4
TIMEOUT_S: Final = 10.0
#: First pause between tries, doubled each time; and the longest one that a server may ask for.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
#: Statuses after which another try may succeed.
PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
#: Answers with status 200 that mean "too fast": Feishu's and DingTalk's.
TOO_FAST: Final = frozenset({11232, 9499, 130101, 410100})


class Undelivered(AssistantError):
    """A message that did not arrive; the reason names no secret."""

    code = "undelivered"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one try went: whether it arrived, whether another may, how long to wait, and what was answered."""

    arrived: bool
    again: bool = False
    pause: float | None = None
    reason: str = ""


def check_address(hook: Webhook) -> None:
    """Refuses what is no address, before there is anything to send.

    Raises:
        InputError: it is none.
    """
    parts = urlsplit(hook.url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError(
            zh=f"{hook.kind} 的 webhook 地址应以 http:// 或 https:// 开头。",
            en=f"The webhook address for {hook.kind} must begin with http:// or https://.",
        )


def deliver(
    hook: Webhook, alerts: Sequence[Alert], language: str, *, sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> None:  # fmt: skip
    """Sends one message about some alerts; tries again where that may help.

    Args:
        hook: where to.
        alerts: what about; at least one.
        language: of the message.
        sleep: waits so many seconds.
        clock: seconds since 1970, which the signatures hold.

    Raises:
        Undelivered: it did not arrive.
    """
    import httpx

    outcome = Outcome(arrived=False)
    with httpx.Client(timeout=TIMEOUT_S, follow_redirects=False) as client:
        for attempt in range(TRIES):
            url, headers, document = request_of(hook, alerts, language, clock())
            body = json_bytes(document)
            if hook.kind == "json" and hook.secret:
                digest = hmac.new(hook.secret.encode(), body, hashlib.sha256).hexdigest()
                headers["X-Signature-256"] = f"sha256={digest}"
            try:
                response = client.post(url, content=body, headers=headers)
                outcome = _outcome(hook.kind, response.status_code, response.headers.get("Retry-After"), response.text)
            except httpx.InvalidURL:
                outcome = Outcome(arrived=False, reason="not an address")
            except httpx.HTTPError as error:
                outcome = Outcome(arrived=False, again=True, reason=type(error).__name__)
            if outcome.arrived:
                return
            if not outcome.again or attempt == TRIES - 1:
                break
            pause = FIRST_PAUSE_S * 2**attempt * random.uniform(0.8, 1.2)
            sleep(min(max(pause, outcome.pause or 0.0), LONGEST_PAUSE_S))
    host = urlsplit(hook.url).hostname
    raise Undelivered(
        zh=f"发给 {hook.kind}（{host}）的消息没有送达：{outcome.reason}。",
        en=f"The message to {hook.kind} ({host}) was not delivered: {outcome.reason}.",
    )


def _outcome(kind: str, status: int, retry_after: str | None, text: str) -> Outcome:
    """What an answer means."""
    if not 200 <= status < 300:
        return Outcome(False, status in PASSING, _seconds(retry_after), f"HTTP {status}")
    if kind not in {"feishu", "dingtalk"}:
        return Outcome(True)
    import orjson

    try:
        told = orjson.loads(text)
        code = told.get("code", told.get("StatusCode", told.get("errcode", 0)))
        said = str(told.get("msg") or told.get("StatusMessage") or told.get("errmsg") or "")[:120]
    except (orjson.JSONDecodeError, AttributeError):
        return Outcome(False, reason="an answer that is no JSON object")
    return Outcome(True) if code == 0 else Outcome(False, code in TOO_FAST, None, f"{code} {said}".strip())


def _seconds(text: str | None) -> float | None:
    """A ``Retry-After``: seconds, or a date."""
    if not text:
        return None
    try:
        return max(float(text), 0.0)
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except ValueError:
        return None


# -- bodies ------------------------------------------------------------------------------------------------------------
def request_of(
    hook: Webhook, alerts: Sequence[Alert], language: str, now: float
) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Address, headers and body of a message, signed at a time."""
    url, headers = hook.url, {"Content-Type": "application/json; charset=utf-8", "User-Agent": "metric-assistant"}
    if hook.kind == "feishu":
        body = _feishu(alerts, language)
        if hook.secret:
            body = {"timestamp": str(int(now)), "sign": feishu_signature(hook.secret, int(now)), **body}
        return url, headers, body
    if hook.kind == "dingtalk":
        if hook.secret:
            stamp = int(now * 1000)
            signed = {"timestamp": str(stamp), "sign": dingtalk_signature(hook.secret, stamp)}
            parts = urlsplit(url)
            url = urlunsplit(parts._replace(query=urlencode([*parse_qsl(parts.query), *signed.items()])))
        return url, headers, _dingtalk(alerts, language)
    return url, headers, _slack(alerts, language) if hook.kind == "slack" else _json(alerts, language)


def feishu_signature(secret: str, stamp: int) -> str:
    """Base64 of HMAC-SHA256 over nothing, keyed by ``timestamp\\nsecret``; seconds."""
    return base64.b64encode(hmac.new(f"{stamp}\n{secret}".encode(), b"", hashlib.sha256).digest()).decode()


def dingtalk_signature(secret: str, stamp: int) -> str:
    """Base64 of HMAC-SHA256 over ``timestamp\\nsecret``, keyed by the secret; milliseconds."""
    signed = hmac.new(secret.encode(), f"{stamp}\n{secret}".encode(), hashlib.sha256)
    return base64.b64encode(signed.digest()).decode()


def _feishu(alerts: Sequence[Alert], language: str) -> dict[str, Any]:
    """A rich text message ("post"), which needs no escapes."""
    rows = [
        [{"tag": "text", "text": f"【{_say(alert.severity, language)}】{where(alert, language)}\n{alert.statement}"}]
        for alert in alerts[:MOST]
    ]
    rows += [[{"tag": "text", "text": line}] for line in _ending(alerts, language)]
    post = {"zh_cn" if language == "zh" else "en_us": {"title": title(alerts, language), "content": rows}}
    return {"msg_type": "post", "content": {"post": post}}


def _dingtalk(alerts: Sequence[Alert], language: str) -> dict[str, Any]:
    lines = [f"### {_escaped(title(alerts, language))}"]
    for alert in alerts[:MOST]:
        told = f"**{_say(alert.severity, language)}** · {_escaped(where(alert, language))}"
        lines.append(f"- {told}  \n  {_escaped(alert.statement)}")
    lines += [f"> {_escaped(line)}" for line in _ending(alerts, language)]
    return {"msgtype": "markdown", "markdown": {"title": title(alerts, language), "text": "\n\n".join(lines)}}


def _slack(alerts: Sequence[Alert], language: str) -> dict[str, Any]:
    """Blocks; a section holds at most 3,000 characters and a header 150."""
    blocks: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": title(alerts, language)[:150]}}
    ]
    for alert in alerts[:MOST]:
        mark = ":red_circle:" if alert.severity == "critical" else ":warning:"
        told = f"{mark} *{_say(alert.severity, language)}* · {_slack_text(where(alert, language))}"
        text = f"{told}\n{_slack_text(alert.statement)}"[:3000]
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": text}})
    ending = [{"type": "mrkdwn", "text": _slack_text(line)} for line in _ending(alerts, language)]
    blocks.append({"type": "context", "elements": ending})
    return {"text": _slack_text(title(alerts, language)), "blocks": blocks}


def _json(alerts: Sequence[Alert], language: str) -> dict[str, Any]:
    return {
        "schema": "metric-assistant/alert/1", "title": title(alerts, language), "language": language,
        "alerts": [{**alert.to_json(), "source": PurePath(alert.source).name} for alert in alerts],
    }  # fmt: skip


# -- words -------------------------------------------------------------------------------------------------------------
@lru_cache(maxsize=1)
def _phrases() -> Phrases:
    return Phrases(read_phrases(resources.data_folder("prompts") / "webhooks"))


def _say(key: str, language: str, **values: Any) -> str:
    text = PLURAL.sub(
        lambda match: match[2] if values[match[1]] == 1 else match[3], _phrases().get(f"message.{key}", language)
    )
    return text.format(**values)


def title(alerts: Sequence[Alert], language: str) -> str:
    """One line: how many of what, in which log."""
    names = sorted({PurePath(alert.source).name for alert in alerts})
    source = names[0] if len(names) == 1 else _say("several", language, count=len(names))
    counts = {level: sum(alert.severity == level for alert in alerts) for level in ("critical", "warning")}
    if all(counts.values()):
        return _say("title_both", language, source=source, **counts)
    level = "critical" if counts["critical"] else "warning"
    return _say(f"title_{level}", language, source=source, count=counts[level])


def where(alert: Alert, language: str) -> str:
    """Run, step and line."""
    if alert.step is None:
        return alert.run
    key = "where" if alert.line is None else "where_line"
    line = {} if alert.line is None else {"line": alert.line}
    return _say(key, language, run=alert.run, axis=alert.axis, step=alert.step, **line)


def _ending(alerts: Sequence[Alert], language: str) -> list[str]:
    more = [_say("more", language, count=len(alerts) - MOST)] if len(alerts) > MOST else []
    return [*more, _say("footer", language, source=PurePath(alerts[0].source).name)]


def _slack_text(text: str) -> str:
    """The three characters that mean something else there."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _escaped(text: str) -> str:
    """Markdown's own characters in keys and file names, as text."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in text)
