"""``--notify``: findings of a check or a watch to a webhook."""

from __future__ import annotations

import argparse
import queue
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from assistant.model import InputError
from assistant.settings import WEBHOOKS, settings

if TYPE_CHECKING:
    from assistant.service.alerts import Alert

FAILED: Final = 3
#: Seconds that a watch waits at its end for messages that are on their way.
LAST_S: Final = 60.0


def add_notify_options(parser: argparse.ArgumentParser) -> None:
    """``--notify`` and what belongs to it."""
    parser.add_argument(
        "--notify", action="append", default=[], choices=list(WEBHOOKS),
        help="send new findings to ASSISTANT_WEBHOOK_URL or the kind's own variable; may be given again / "
        "把新发现的问题发到飞书、钉钉、Slack 或自己的 webhook",
    )  # fmt: skip
    parser.add_argument(
        "--notify-required", action="store_true", help="exit status 3 if a message could not be delivered"
    )
    parser.add_argument("--notify-again", action="store_true", help="send what was sent before too")


class Notifier:
    """Sends alerts, off the thread that watches; says on standard error what could not be delivered.

    Args:
        arguments: of the command.
        language: of the messages.

    Raises:
        InputError: a kind has no address, or one that is none.
    """

    def __init__(self, arguments: argparse.Namespace, language: str) -> None:
        self._language = language
        self._required: bool = arguments.notify_required
        self._again: bool = arguments.notify_again
        self._hooks: list[Any] = []
        self._failed = False
        self._jobs: queue.Queue[tuple[Alert, ...] | None] = queue.Queue()
        self._worker: threading.Thread | None = None
        kinds = list(dict.fromkeys(arguments.notify))
        if not kinds:
            return
        from assistant.service.webhooks import check_address

        known = {hook.kind: hook for hook in settings().webhooks}
        for kind in kinds:
            if kind not in known:
                name = f"ASSISTANT_WEBHOOK_{kind.upper()}_URL"
                raise InputError(
                    zh=f"--notify {kind} 没有地址：请设置环境变量 {name}（或 ASSISTANT_WEBHOOK_URL）。",
                    en=f"--notify {kind} has no address: set {name} (or ASSISTANT_WEBHOOK_URL) in the environment.",
                )
            check_address(known[kind])
            self._hooks.append(known[kind])

    def send(self, alerts: Sequence[Alert], *, language: str | None = None) -> None:
        """Sends alerts in the background, those that were not sent before; in the language of their statements."""
        self._language = language or self._language
        if not self._hooks or not alerts:
            return
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, daemon=True)
            self._worker.start()
        self._jobs.put(tuple(alerts))

    def finish(self) -> int:
        """Waits for what is on its way.

        Returns:
            3 if a message that was required did not arrive, else 0.
        """
        if self._worker is not None:
            self._jobs.put(None)
            self._worker.join(LAST_S)
            self._failed |= self._worker.is_alive()
        return FAILED if self._failed and self._required else 0

    def _work(self) -> None:
        while (alerts := self._jobs.get()) is not None:
            for hook in self._hooks:
                self._deliver(hook, alerts)

    def _deliver(self, hook: Any, alerts: tuple[Alert, ...]) -> None:
        from assistant.service.alerts import Sent
        from assistant.service.webhooks import Undelivered, deliver

        sent = Sent()
        fresh = alerts if self._again else sent.unsent(hook.kind, alerts)
        if not fresh:
            return
        try:
            deliver(hook, fresh, self._language)
        except Undelivered as error:
            self._failed = True
            print(error.message("zh" if self._language == "zh" else "en"), file=sys.stderr, flush=True)
        else:
            sent.sent(hook.kind, fresh)
