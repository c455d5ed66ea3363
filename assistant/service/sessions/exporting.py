"""A session as one document: JSON that holds everything, Markdown to read, HTML to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson

from assistant.model import Answer
from assistant.model.jsontext import json_bytes
from assistant.service.restoring import answer_from_json
from assistant.service.sessions.attaching import listed
from assistant.service.sessions.keeping import look
from assistant.service.sessions.records import Message, Session, StoredRun, iso, unpacked
from assistant.service.sessions.runtime import SessionService

SCHEMA: Final = "metric-assistant/session/1"
_WORDS: Final = {
    "zh": {"logs": "日志", "steps": "{n} 个 step", "metrics": "{n} 个指标", "pending": "（回答尚未完成）",
           "failed": "（没能回答）", "stopped": "（已停止）", "made": "会话，{when} 创建"},
    "en": {"logs": "Logs", "steps": "{n} steps", "metrics": "{n} metrics", "pending": "(not answered yet)",
           "failed": "(could not be answered)", "stopped": "(stopped)", "made": "A session of {when}"},
}  # fmt: skip


def export_json(service: SessionService, owner: str, session: str, *, texts: bool = True) -> bytes:
    """Everything of a session: runs with their tables, texts where they are kept, messages with their answers.

    Raises:
        SessionNotFound: there is none, or it is another's.
    """
    held = service.sessions.get(owner, session)
    runs = service.runs.all(owner, session)
    told = []
    for stored in runs:
        told.append({**stored.to_json(held.lang), "source": stored.source, "table": _table(service, session, stored)})
    places = sorted({stored.source for stored in runs})
    sources = [{"source": place, "text": service.runs.text(session, place) if texts else None} for place in places]
    document = {
        "schema": SCHEMA, **held.to_json(), "runs": told, "sources": sources,
        "messages": [message.to_json() for message in service.messages.list(owner, session)],
    }  # fmt: skip
    return json_bytes(document)


def export_markdown(service: SessionService, owner: str, session: str, language: str) -> str:
    """The conversation as Markdown.

    Raises:
        SessionNotFound: there is none, or it is another's.
    """
    held, runs, messages = _all(service, owner, session)
    words = _WORDS["zh" if language == "zh" else "en"]
    parts = [f"# {_line(held.title) or held.id}", f"*{words['made'].format(when=iso(held.created)[:10])}*"]
    if runs:
        lines = [f"## {words['logs']}", ""]
        for stored in runs:
            told = stored.to_json(language)
            kind = told.get("framework") or told["format"]
            counts = [words["steps"].format(n=told["n_steps"]), words["metrics"].format(n=told["n_metrics"])]
            lines.append(f"- **{stored.rid}** {_line(stored.name)} · {' · '.join([kind, *counts])}")
        parts.append("\n".join(lines))
    for message in messages:
        if message.role == "user":
            quoted = "\n".join(f"> {line}" for line in message.content.strip().split("\n"))
            parts.append(f"---\n\n{quoted}")
        else:
            note = words.get(message.status, "")
            parts.append("\n\n".join(filter(None, [message.content.strip(), f"*{note}*" if note else ""])))
    return "\n\n".join(parts) + "\n"


def export_html(service: SessionService, owner: str, session: str) -> str:
    """The answers as one page that stands alone, with charts and ledgers.

    Raises:
        SessionNotFound: there is none, or it is another's.
    """
    from assistant.service.reports import page

    _, runs, messages = _all(service, owner, session)
    answers: list[Answer] = []
    for message in messages:
        if message.answer is not None:
            answers.append(answer_from_json(orjson.loads(unpacked(message.answer))))
    tables = [service.library.run(session, stored) for stored in runs]
    return page(answers, tables)


def _all(service: SessionService, owner: str, session: str) -> tuple[Session, Sequence[StoredRun], list[Message]]:
    def work(connection: Any) -> Sequence[StoredRun]:
        look(connection, owner, session)
        return listed(connection, session)

    return (
        service.sessions.get(owner, session),
        service.database.read(work),
        service.messages.list(owner, session),
    )


def _table(service: SessionService, session: str, stored: StoredRun) -> dict[str, Any]:
    run = service.library.run(session, stored)
    told = run.to_json()
    return {name: told[name] for name in ("step_axis", "rows", "missing")}


def _line(text: str) -> str:
    return " ".join(text.split())
