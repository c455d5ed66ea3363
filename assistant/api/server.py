"""Running the application under uvicorn."""

from __future__ import annotations

import errno
import socket
import sys


def run_server(host: str, port: int) -> int:
    """Serves until interrupted; exit status 2 when the port is taken."""
    import uvicorn

    from assistant.api.app import create_app

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno not in {errno.EADDRINUSE, errno.EACCES}:
                raise
            print(
                f"Port {port} on {host} is taken or not allowed; choose another with --port (make run PORT=…). "
                f"端口 {port} 被占用或无权使用，请用 --port 换一个。",
                file=sys.stderr,
            )
            return 2
    print(
        f"metric-assistant: http://{'[' + host + ']' if ':' in host else host}:{port}  (Ctrl+C stops)",
        flush=True,
    )
    uvicorn.run(create_app(), host=host, port=port, log_level="warning")
    return 0
