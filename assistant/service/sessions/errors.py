"""What can go wrong with sessions, each with the HTTP status that stands for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from assistant.model import AssistantError


class SessionError(AssistantError):
    """Base; ``status`` is the HTTP status, ``extra`` further members of the problem document."""

    code = "session_error"
    status = 400
    extra: ClassVar[Mapping[str, int]] = {}


class DatabaseUnavailable(SessionError):
    """The database does not answer; nothing was lost, and the same request may be sent again.

    Attributes:
        reason: what the driver said, for the log; it may name hosts, so no caller is told.
    """

    code = "database_unavailable"
    status = 503
    extra: ClassVar[Mapping[str, int]] = {"retry_after": 2}

    def __init__(self, reason: str = "") -> None:
        super().__init__(
            zh="数据库暂时不可用。已确认的消息不会丢失，请稍后用同一个 Idempotency-Key 重试。",
            en="The database cannot be reached. No acknowledged message is lost; send the same request again in a "
            "moment, with the same Idempotency-Key.",
        )
        self.reason = reason


class DatabaseBusy(SessionError):
    """Too many requests wait for the database."""

    code = "busy"
    status = 429
    extra: ClassVar[Mapping[str, int]] = {"retry_after": 1}

    def __init__(self) -> None:
        super().__init__(
            zh="服务器繁忙：等待数据库的请求太多，请稍后再试。",
            en="The server is busy: too many requests wait for the database. Try again in a moment.",
        )


class DatabaseMisconfigured(SessionError):
    """The database that the settings name cannot be used: the address or a missing driver."""

    code = "database_misconfigured"
    status = 503


class SessionNotFound(SessionError):
    """There is no such session, or it is another's."""

    code = "session_not_found"
    status = 404

    def __init__(self) -> None:
        super().__init__(
            zh="没有这个会话：可能已被删除。GET /sessions 列出现有的会话。",
            en="There is no such session; it may have been deleted. GET /sessions lists yours.",
        )


class MessageNotFound(SessionError):
    """The session has no such message."""

    code = "message_not_found"
    status = 404

    def __init__(self) -> None:
        super().__init__(
            zh="会话里没有这条消息。GET /sessions/{id}/messages 列出全部消息。",
            en="The session has no such message. GET /sessions/{id}/messages lists them.",
        )


class RunNotFound(SessionError):
    """The session has no such run."""

    code = "run_not_found"
    status = 404

    def __init__(self, rid: str) -> None:
        super().__init__(
            zh=f"会话里没有日志 {rid[:40]}。GET /sessions/{{id}}/runs 列出全部日志。",
            en=f"The session has no run {rid[:40]}. GET /sessions/{{id}}/runs lists them.",
        )


class NoMetrics(SessionError):
    """A text was to be attached and holds no metric."""

    code = "no_metrics"
    status = 422

    def __init__(self, names: str) -> None:
        super().__init__(
            zh=f"{names} 里没有找到任何指标。请确认这是训练日志。",
            en=f"{names} holds no metric. Check that it is a training log.",
        )


class TextNotKept(SessionError):
    """The text of a log is not there any more, or was never kept."""

    code = "text_not_kept"
    status = 404

    def __init__(self) -> None:
        super().__init__(
            zh="没有保存这份日志的原文（ASSISTANT_KEEP_TEXT=0，或它不是文本）；解析出的表仍在。",
            en="The text of this log was not kept (ASSISTANT_KEEP_TEXT=0, or it is no text); its parsed table is.",
        )


class KeyReused(SessionError):
    """An idempotency key came again with another request."""

    code = "idempotency_key_reused"
    status = 422

    def __init__(self) -> None:
        super().__init__(
            zh="同一个 Idempotency-Key 已用于另一个不同的请求。请为新请求换一个键。",
            en="This Idempotency-Key was used for a different request. Give each new request a key of its own.",
        )


class SessionFull(SessionError):
    """A session holds as much as one may."""

    code = "session_full"
    status = 409

    def __init__(self, limit: int) -> None:
        super().__init__(
            zh=f"一个会话最多 {limit} 份日志。请删除不再需要的日志，或新建会话。",
            en=f"A session holds at most {limit} runs. Delete some, or open another session.",
        )
