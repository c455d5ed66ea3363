"""What every test runs under: no network, no settings of the machine's owner, and in CI no skips.

Markers and fixtures for tests:

``@pytest.mark.needs("chromium")``
    skips the test where that program is not installed;
``require_program("chromium")`` (fixture)
    the same from inside a test, returns the program's path;
``outer_environment`` (fixture)
    the environment before isolation, for a subprocess that needs the real HOME (pip and its cache).
"""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# A machine that others use too is slow at times, which says nothing of what is tested: no limit on the clock.
settings.register_profile("any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")

OUTER_ENVIRONMENT = dict(os.environ)
IN_CI = OUTER_ENVIRONMENT.get("CI", "").lower() in {"1", "true"}

CLEARED_PREFIXES = ("ASSISTANT_", "OPENAI_", "ANTHROPIC_", "LANGCHAIN_", "LANGSMITH_", "LC_", "XDG_")
CLEARED = {
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLORTERM"),  # pipes: no colour
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
    *("LANGUAGE", "PYTHONPATH"),
}
PINNED = {"LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}


# --- no network ------------------------------------------------------------------------------------------


class NetworkBlockedError(RuntimeError):
    """A test reached for an address off this machine; no OSError, so that no retry or fallback hides it."""

    def __init__(self, address: object) -> None:
        super().__init__(f"tests may not reach the network: {address!r} is not on this machine")


def is_local(host: str | bytes | None) -> bool:
    """Whether an address or name is this machine's: loopback, localhost, or none at all (to listen on)."""
    if host is None:
        return True
    text = os.fsdecode(host).partition("%")[0].rstrip(".").lower()
    if text in {"", "localhost"}:
        return True
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def guarded_socket_method(original: Callable[..., Any]) -> Callable[..., Any]:
    """A method of sockets whose last argument is an address, refusing addresses off this machine."""

    def method(self: socket.socket, *arguments: Any) -> Any:
        address = arguments[-1]
        if self.family in {socket.AF_INET, socket.AF_INET6} and not is_local(address[0]):
            raise NetworkBlockedError(address)
        return original(self, *arguments)

    return method


def guarded_lookup(original: Callable[..., Any]) -> Callable[..., Any]:
    """A name lookup that refuses names off this machine."""

    def lookup(host: str | bytes | None, *arguments: Any, **options: Any) -> Any:
        if not is_local(host):
            raise NetworkBlockedError(host)
        return original(host, *arguments, **options)

    return lookup


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, guarded_socket_method(getattr(socket.socket, name)))
        for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
            patch.setattr(socket, name, guarded_lookup(getattr(socket, name)))
        yield


# --- nobody's settings -----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _isolated_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name in CLEARED or name.startswith(CLEARED_PREFIXES):
            monkeypatch.delenv(name)
    for name, value in PINNED.items():
        monkeypatch.setenv(name, value)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))


@pytest.fixture(scope="session")
def outer_environment() -> dict[str, str]:
    return dict(OUTER_ENVIRONMENT)


# --- programs that a machine may lack --------------------------------------------------------------------


def find_program(name: str) -> Path:
    """The program's path; skips the running test when there is none."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"needs the program {name!r}, which is not installed here")
    return Path(path)


@pytest.fixture(scope="session")
def require_program() -> Callable[[str], Path]:
    return find_program


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*programs): skip where one of these programs is not installed")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for name in marker.args:
            find_program(name)


# --- no skips in CI --------------------------------------------------------------------------------------


def fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Makes a skip a failure; an expected failure (xfail), which pytest reports alike, stays what it is."""
    if IN_CI and report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}\nskipped, and in CI nothing may be: {reason}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_if_skipped(report)
    return report
