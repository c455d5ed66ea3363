"""The guards of conftest.py do what they say."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

CONFTEST = Path(__file__).with_name("conftest.py")


@pytest.mark.parametrize(
    ("family", "host"),
    [(socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"), (socket.AF_INET6, "::ffff:192.0.2.1")],
)
@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_network_guard_address_off_this_machine_raises(family: int, host: str, method: str) -> None:
    with socket.socket(family) as sock, pytest.raises(RuntimeError, match=host):
        getattr(sock, method)((host, 443))


def test_network_guard_datagram_off_this_machine_raises() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock, pytest.raises(RuntimeError, match=r"192\.0\.2\.1"):
        sock.sendto(b"x", ("192.0.2.1", 53))


def test_network_guard_name_off_this_machine_raises() -> None:
    with pytest.raises(RuntimeError, match=r"telemetry\.example"):
        socket.gethostbyname("telemetry.example")
    with pytest.raises(RuntimeError, match=r"telemetry\.example"):
        socket.create_connection(("telemetry.example", 443))


def test_network_guard_asyncio_off_this_machine_raises() -> None:
    with pytest.raises(RuntimeError, match=r"192\.0\.2\.1"):
        asyncio.run(asyncio.wait_for(asyncio.open_connection("192.0.2.1", 443), timeout=5))


@pytest.mark.parametrize(
    ("family", "host", "listen_on"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET, "localhost", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1"),
    ],
)
def test_network_guard_loopback_connects(family: socket.AddressFamily, host: str, listen_on: str) -> None:
    try:
        server = socket.create_server((listen_on, 0), family=family)
    except OSError as error:
        if family == socket.AF_INET6:
            pytest.xfail(f"this machine has no IPv6: {error}")
        raise
    with server, socket.create_connection((host, server.getsockname()[1]), timeout=5) as client:
        accepted, _ = server.accept()
        with accepted:
            accepted.sendall(b"hello")
            assert client.recv(5) == b"hello"


def test_network_guard_unix_socket_connects(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        client.connect(path)
        assert client.getpeername() == path


def test_environment_settings_of_the_machine_are_hidden(outer_environment: dict[str, str]) -> None:
    assert not [name for name in os.environ if name.startswith(("ASSISTANT_", "OPENAI_"))]
    assert os.environ["LANG"] == "C.UTF-8"
    assert Path.home() != Path(outer_environment["HOME"])
    assert os.environ["XDG_DATA_HOME"].startswith(str(Path.home()))


@given(number=st.integers())
@settings(max_examples=3)
def test_environment_property_tests_run_isolated(number: int) -> None:
    assert os.environ["TZ"] == "UTC", number


SKIPPING = {
    "call": "import pytest\ndef test_x():\n    pytest.skip('no chromium')\n",
    "mark": "import pytest\n@pytest.mark.skip(reason='no chromium')\ndef test_x():\n    pass\n",
    "module": "import pytest\npytest.skip('no chromium', allow_module_level=True)\n",
    "marker": "import pytest\n@pytest.mark.needs('no-such-chromium')\ndef test_x():\n    pass\n",
    "fixture": "def test_x(require_program):\n    require_program('no-such-chromium')\n",
}
EXPECTED_FAILURE = "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_x():\n    assert False\n"


def run_pytest(folder: Path, test: str, *, ci: bool) -> subprocess.CompletedProcess[str]:
    shutil.copy(CONFTEST, folder)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -ra --strict-markers -p no:cacheprovider\n")
    (folder / "test_x.py").write_text(test)
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment |= {"CI": "true"} if ci else {}
    return subprocess.run(
        [sys.executable, "-m", "pytest"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("test", SKIPPING.values(), ids=SKIPPING)
def test_skip_in_ci_fails(tmp_path: Path, test: str) -> None:
    result = run_pytest(tmp_path, test, ci=True)
    assert result.returncode != 0
    assert "in CI nothing may be" in result.stdout
    assert "chromium" in result.stdout


@pytest.mark.parametrize("test", [SKIPPING["call"], SKIPPING["marker"]], ids=["call", "marker"])
def test_skip_outside_ci_skips_and_says_why(tmp_path: Path, test: str) -> None:
    result = run_pytest(tmp_path, test, ci=False)
    assert result.returncode == 0
    assert "1 skipped" in result.stdout
    assert "chromium" in result.stdout


def test_expected_failure_in_ci_is_no_skip(tmp_path: Path) -> None:
    result = run_pytest(tmp_path, EXPECTED_FAILURE, ci=True)
    assert result.returncode == 0
    assert "1 xfailed" in result.stdout
