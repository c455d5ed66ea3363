"""One server and one browser for all tests of a process; pages that fail on other hosts and on errors."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.web.support import BROWSER, Pages, Server


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What servers read from the cards, kept from one to the next: a first start takes seconds to read them."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Generator[Server]:
    """The server without a model."""
    made = Server(tmp_path_factory.mktemp("served"), cache=cache).start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def browser(require_program: Callable[[str], Path]) -> Generator[Browser]:
    """A browser for the tests of one file: while its driver runs, no test in the same process can run an event loop."""
    program = require_program("chromium")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=str(program), args=BROWSER)
        yield made
        made.close()


@pytest.fixture
def pages(server: Server, browser: Browser) -> Generator[Pages]:
    """Pages on the server without a model, which holds no session yet."""
    server.forget()
    made = Pages(browser, server.url)
    yield made
    made.close()
