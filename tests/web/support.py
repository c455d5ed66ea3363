"""What the page's tests share: the real server in a process of its own, and pages of a real browser."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "verl-retool-steps-0-3.log"
#: Milliseconds that anything may take on a slow machine.
PATIENCE = 120_000
BROWSER = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@dataclass
class Server:
    """``metric-assistant serve`` on a free port, which it keeps when it is started again."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    cache: Path | None = None
    port: int = 0
    process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Server:
        """Starts it and waits until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ASSISTANT_", "OPENAI_"))}
        environment = {
            **kept, "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.cache or self.folder / "cache"),
            "LANG": "C.UTF-8", "ASSISTANT_DATA_DIR": str(self.folder / "data"), "ASSISTANT_JOB_SECONDS": "600",
            **self.environment,
        }  # fmt: skip
        command = [sys.executable, "-m", "assistant.cli.main", "serve", "--port", str(self.port)]
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r":(\d+)  ", line)
        assert found, f"the server did not start: {line!r}\n{(self.folder / 'server.log').read_text()[-2000:]}"
        self.port = int(found[1])
        try:
            until(lambda: self.answers("/healthz"), "the server answers")
        except AssertionError:
            self.stop(kill=True)
            raise
        return self

    def answers(self, path: str) -> bool:
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=60) as reply:
            return json.load(reply)

    def post(self, path: str, body: Any) -> Any:
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def forget(self) -> None:
        """Deletes every session, so that a test finds none of another's whatever their order."""
        while kept := self.get("/sessions?limit=200")["sessions"]:
            for one in kept:
                request = urllib.request.Request(f"{self.url}/sessions/{one['id']}", method="DELETE")
                urllib.request.urlopen(request, timeout=60).close()

    def stop(self, *, kill: bool = False) -> None:
        """Ends it, politely or not."""
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=30)
        if process.stdout is not None:
            process.stdout.close()


@dataclass
class Opened:
    """A page and what happened in it that must not."""

    page: Page
    elsewhere: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Pages:
    """Pages of one browser on one server; each in a context of its own unless ``beside`` names one."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        self.url = url
        self.opened: list[Opened] = []
        #: Console messages that a test provokes on purpose (patterns).
        self.expected: list[str] = []

    def open(
        self, path: str = "/", *, lang: str = "en", width: int = 1440, height: int = 900, theme: Any = "light",
        beside: Page | None = None, **more: Any,
    ) -> Page:  # fmt: skip
        """A page that is ready."""
        if beside is None:
            context = self.browser.new_context(
                viewport={"width": width, "height": height}, locale={"zh": "zh-CN", "en": "en-US"}[lang],
                color_scheme=theme, reduced_motion="reduce", accept_downloads=True, **more,
            )  # fmt: skip
        else:
            context = beside.context
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        opened = Opened(page)
        self.opened.append(opened)
        page.on("request", lambda request: self._seen(opened, request.url))
        page.on("pageerror", lambda error: opened.errors.append(str(error)))
        page.on("console", lambda message: opened.errors.append(message.text) if message.type == "error" else None)
        page.on("dialog", lambda dialog: (opened.errors.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.goto(self.url + path)
        page.wait_for_selector("html[data-ready]")
        return page

    def _seen(self, opened: Opened, url: str) -> None:
        if not url.startswith((self.url + "/", "data:", f"blob:{self.url}/")):
            opened.elsewhere.append(url)

    def close(self) -> None:
        """Closes all pages; fails where one spoke to another host or met an error."""
        elsewhere = [url for one in self.opened for url in one.elsewhere]
        errors = [
            text for one in self.opened for text in one.errors if not any(re.search(p, text) for p in self.expected)
        ]
        for context in {one.page.context for one in self.opened}:
            context.close()
        assert not elsewhere, f"requests to another host: {elsewhere}"
        assert not errors, f"errors in the page: {errors}"


def until(done: Callable[[], Any], what: str, seconds: float = 180.0) -> Any:
    """Waits until something holds, and gives it."""
    end = time.monotonic() + seconds
    while True:
        found = done()
        if found:
            return found
        assert time.monotonic() < end, f"waited {seconds} s: {what}"
        time.sleep(0.05)


def ask(page: Page, question: str) -> None:
    """Types a question and sends it."""
    page.fill("#ask-text", question)
    page.press("#ask-text", "Enter")


def answered(page: Page, number: int = 1) -> None:
    """Waits for so many finished answers."""
    page.wait_for_function(
        "n => document.querySelectorAll('.answer .grounding').length === n && !document.querySelector('[aria-busy]')",
        arg=number,
    )


def attach(page: Page, *files: Path) -> None:
    """Attaches files and waits until they were read."""
    before = page.locator(".chip.done").count()
    page.set_input_files("#files", [str(file) for file in files])
    page.locator(".chip.done").nth(before + len(files) - 1).wait_for()


def paste(page: Page, text: str) -> None:
    """What Ctrl+V does: a paste event with that text, and the text itself unless the page took it."""
    page.focus("#ask-text")
    page.evaluate(
        """text => {
          const data = new DataTransfer();
          data.setData("text/plain", text);
          const box = document.getElementById("ask-text");
          if (box.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true})))
            document.execCommand("insertText", false, text);
        }""",
        text,
    )
