"""The server on standard input and output: what an editor starts, and waits for before it shows any tool.

Importing all of the protocol's package takes most of a second: its client, its other server class, a validator for each
of some 500 message types in three editions. :func:`lean_import` loads only what the stdio server runs on, validators
are built when first used, and the collector of garbage rests meanwhile. The log reader and the cards are loaded after
the first list of tools has been sent.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.machinery
import importlib.util
import os
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path


def serve_stdio(roots: Sequence[Path] = ()) -> None:
    """Serves one client until it closes standard input.

    Args:
        roots: folders from which files may be read, beside the client's workspace and the settings'.
    """
    gc.disable()
    lean_import()
    import asyncio

    from mcp.server.stdio import stdio_server

    from assistant.mcp.server import Desk, build

    desk = Desk("stdio", roots)
    desk.listed = Warmth()
    server = build(desk)
    gc.freeze()  # what was imported stays: it need not be looked at again
    gc.enable()

    async def run() -> None:
        async with stdio_server() as (receive, send):
            await server.run(receive, send, server.create_initialization_options())

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        sys.stderr.flush()
        os._exit(0)  # a call is still at work, nobody waits for it, and it only reads


class Warmth:
    """Loads the cards in a thread of its own when first called, so that the first question need not wait for them."""

    def __init__(self) -> None:
        self._begun = False

    def __call__(self) -> None:
        """Begins, once."""
        if not self._begun:
            self._begun = True
            threading.Thread(target=self._load, daemon=True, name="warm-up").start()

    @staticmethod
    def _load() -> None:
        from assistant.service import service

        assert len(service().resolver.library)


def lean_import() -> None:
    """Makes ``mcp`` and ``mcp.server`` importable without what their own first lines load.

    Only for a process that does nothing else with the package: names such as ``mcp.Client`` are not there, while every
    module is, by its own name. Does nothing where the package is loaded already or is laid out otherwise.
    """
    if "mcp" in sys.modules:
        return
    made: list[str] = []
    for name in ("mcp", "mcp.server"):
        above = sys.modules[name.rpartition(".")[0]] if "." in name else None
        where = list(above.__path__) if above is not None else None
        spec = importlib.machinery.PathFinder.find_spec(name, where)
        if spec is None or spec.submodule_search_locations is None:
            for one in made:
                del sys.modules[one]
            return
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        if above is not None:
            setattr(above, name.rpartition(".")[2], module)
        made.append(name)
    try:
        with _validators_later():
            importlib.import_module("mcp.server.lowlevel.server")
    except ImportError:
        for one in [one for one in sys.modules if one == "mcp" or one.startswith("mcp.")]:
            del sys.modules[one]


@contextmanager
def _validators_later() -> Generator[None]:
    """Models defined meanwhile get their validators when first used (pydantic's ``defer_build``)."""
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        BaseModel.model_config.pop("defer_build", None)
