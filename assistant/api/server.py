"""Running the application under uvicorn."""

from __future__ import annotations

import errno
import gc
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from assistant.api.access import is_loopback
from assistant.model import InputError
from assistant.settings import settings

if TYPE_CHECKING:
    from fastapi import FastAPI


def refuse_open_door(host: str) -> None:
    """Refuses to listen where other machines can connect while there are no access keys.

    Raises:
        InputError: there are none.
    """
    if settings().serving.api_keys or is_loopback(host):
        return
    raise InputError(
        zh=f"不能在 {host} 上监听：没有访问密钥，只允许本机（127.0.0.1）。用 metric-assistant keys new 名称 生成密钥，"
        "再设置 ASSISTANT_API_KEYS。",
        en=f"Will not listen on {host}: there are no access keys, so only loopback (127.0.0.1) is. Make a key with "
        "`metric-assistant keys new NAME` and set ASSISTANT_API_KEYS.",
    )


def run_server(app: FastAPI, host: str, port: int) -> int:
    """Serves until interrupted; exit status 2 when the port is taken; port 0 takes a free one.

    On the first signal no new connection is taken, what is under way may finish within
    ``ASSISTANT_SHUTDOWN_SECONDS``, and ``/readyz`` says 503; a second signal ends it at once.
    """
    from assistant.api.logs import configure

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            if error.errno not in {errno.EADDRINUSE, errno.EACCES}:
                raise
            print(
                f"Port {port} on {host} is taken or not allowed; choose another with --port (make run PORT=…). "
                f"端口 {port} 被占用或无权使用，请用 --port 换一个。",
                file=sys.stderr,
            )
            return 2
        shown = f"[{host}]" if ":" in host else host
        print(f"metric-assistant: http://{shown}:{listening.getsockname()[1]}  (Ctrl+C stops)", flush=True)
        serving = settings().serving
        configure(serving)
        _server(app, serving.shutdown_seconds).run(sockets=[listening])
    return 0


def _server(app: FastAPI, grace: float) -> Any:
    import uvicorn

    class Server(uvicorn.Server):
        """Tells the application when it is asked to stop."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if not gc.isenabled():  # switched off for the start: what is there now stays, and is not looked at again
                gc.freeze()
                gc.enable()

        def handle_exit(self, sig: int, frame: Any) -> None:
            app.state.stopping = True
            super().handle_exit(sig, frame)

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            """As uvicorn does, but being told to stop is no failure: the signal is not raised again afterwards."""
            if threading.current_thread() is not threading.main_thread():
                yield
                return
            former = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
            try:
                yield
            finally:
                for number, handler in former.items():
                    signal.signal(number, handler)

    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False,
        timeout_graceful_shutdown=max(1, round(grace)), timeout_keep_alive=20, h11_max_incomplete_event_size=64 << 10,
    )  # fmt: skip
    return Server(config)
