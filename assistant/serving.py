"""The whole server: the API, the chat page and the editors' protocol in one application."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

#: Packages that mount themselves through ``mount(app)``.
MOUNTED = ("assistant.mcp", "assistant.web")


def application() -> FastAPI:
    """The application with everything that is installed.

    Raises:
        InputError: ``ASSISTANT_API_KEYS`` cannot be read.
    """
    from assistant.api.app import create_app

    app = create_app()
    for name in MOUNTED:
        try:
            mount = importlib.import_module(name).mount
        except (ModuleNotFoundError, AttributeError) as error:
            if getattr(error, "name", "") not in {name, "mount"}:
                raise
            continue
        mount(app)
    return app
