"""The application for an ASGI server (`uvicorn server:app`), and `python server.py` to start one."""

from __future__ import annotations

import sys

from assistant.cli import main as cli
from assistant.serving import application

app = application()


def main() -> int:
    """Serves the chat page and the REST API as `metric-assistant serve` does; returns its exit status."""
    return cli.main(["serve"])


if __name__ == "__main__":
    sys.exit(main())
