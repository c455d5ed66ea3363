"""Who may come in: loopback without keys, keys and scopes, other hosts, other sites."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.api.access import SCOPES, Gatekeeper, is_loopback, new_key, read_keys
from assistant.api.app import create_app
from assistant.model import InputError
from assistant.settings import Serving
from tests.api.client import LOG, Client

ASK, ASK_ENTRY = new_key("asker", ["ask"])
READ, READ_ENTRY = new_key("reader", ["read"])


def body() -> dict[str, str]:
    return {"text": LOG, "question": "entropy?"}


@pytest.fixture(scope="module")
def open_app() -> Client:
    return Client(create_app())


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("ASSISTANT_API_KEYS", f"{ASK_ENTRY},{READ_ENTRY}")
    return Client(create_app(), address="10.1.2.3", base="http://metrics.example")


# --- without keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "localhost:1", "[::1]:8000", "127.8.8.8"])
def test_access_without_keys_own_host_is_served(open_app: Client, host: str) -> None:
    assert open_app.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", ""]
)
def test_access_without_keys_foreign_host_is_refused(open_app: Client, host: str) -> None:
    reply = open_app.get("/healthz", headers={"host": host})
    assert (reply.status_code, reply.json()["code"]) == (421, "host_not_allowed")


def test_access_without_keys_allowed_host_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_ALLOWED_HOSTS", "workstation.lan")
    client = Client(create_app())
    assert client.get("/healthz", headers={"host": "workstation.lan:8000"}).status_code == 200


@pytest.mark.parametrize("address", ["10.0.0.7", "192.168.1.2", "2001:db8::1", "::ffff:10.0.0.7"])
def test_access_without_keys_other_machine_is_refused(address: str) -> None:
    reply = Client(create_app(), address=address).get("/healthz")
    assert (reply.status_code, reply.json()["code"]) == (403, "loopback_only")


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.255.0.3", True), ("::1", True), ("[::1]", True), ("localhost", True),
     ("::ffff:127.0.0.1", True), ("0.0.0.0", False), ("::", False), ("example.com", False), ("", False)],
)  # fmt: skip
def test_is_loopback_address_is_told_apart(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


# --- other sites -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1.evil.example"},
    ],
)  # fmt: skip
def test_access_post_from_another_site_is_refused(open_app: Client, headers: dict[str, str]) -> None:
    reply = open_app.post("/explain", json=body(), headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (403, "cross_site")


@pytest.mark.parametrize("headers", [{}, {"origin": "http://127.0.0.1"}, {"sec-fetch-site": "same-origin"}])
def test_access_post_from_the_own_page_or_a_program_is_served(open_app: Client, headers: dict[str, str]) -> None:
    assert open_app.post("/parse", json={"text": LOG}, headers=headers).status_code == 200


def test_access_cors_is_off_by_default(open_app: Client) -> None:
    headers = {"origin": "https://friend.example", "access-control-request-method": "POST"}
    reply = open_app.request("OPTIONS", "/explain", headers=headers)
    assert "access-control-allow-origin" not in reply.headers


def test_access_cors_allowed_origin_may_call_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_CORS_ORIGINS", "https://friend.example/")
    client = Client(create_app())
    reply = client.post("/parse", json={"text": LOG}, headers={"origin": "https://friend.example"})
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (200, "https://friend.example")
    other = client.post("/parse", json={"text": LOG}, headers={"origin": "https://foe.example"})
    assert other.status_code == 403
    assert "access-control-allow-origin" not in other.headers


# --- keys ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers", [{"authorization": f"Bearer {ASK}"}, {"x-api-key": ASK}, {"authorization": f"bearer {ASK}"}]
)
def test_access_with_a_key_of_the_scope_any_machine_is_served(keyed: Client, headers: dict[str, str]) -> None:
    assert keyed.post("/explain", json=body(), headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, "key_needed"), ({"authorization": "Bearer "}, "key_needed"),
        ({"authorization": f"Basic {ASK}"}, "key_needed"),
        ({"x-api-key": ASK[:-1]}, "key_unknown"), ({"x-api-key": ASK + "x"}, "key_unknown"),
        ({"x-api-key": hashlib.sha256(ASK.encode()).hexdigest()}, "key_unknown"),
        ({"x-api-key": "k" * 100_000}, "key_needed"),
    ],
)  # fmt: skip
def test_access_without_a_known_key_is_refused(keyed: Client, headers: dict[str, str], code: str) -> None:
    reply = keyed.post("/explain", json=body(), headers=headers)
    assert (reply.status_code, reply.json()["code"]) == (401, code)
    assert reply.headers["www-authenticate"] == "Bearer"


def test_access_key_without_the_scope_is_refused(keyed: Client) -> None:
    reply = keyed.post("/explain", json=body(), headers={"x-api-key": READ})
    assert (reply.status_code, reply.json()["code"], reply.json()["scope"]) == (403, "scope_missing", "ask")
    assert keyed.get("/metrics-docs?q=kl", headers={"x-api-key": ASK}).status_code == 403
    assert keyed.get("/metrics", headers={"x-api-key": READ}).status_code == 200


def test_access_key_is_needed_everywhere_but_for_the_page_and_probes(keyed: Client) -> None:
    paths = keyed.app.openapi()["paths"]
    served = {
        f"{method} {path}"
        for path, operations in paths.items()
        for method in operations
        if keyed.request(method.upper(), path.replace("{", "").replace("}", "")).status_code != 401
    }
    assert served == {"get /healthz", "get /readyz"}


def test_access_mounted_protocol_needs_the_scope(keyed: Client) -> None:
    assert keyed.post("/mcp", json={}).status_code == 401
    assert keyed.post("/mcp", json={}, headers={"x-api-key": READ}).json()["code"] == "scope_missing"
    assert keyed.post("/mcp/", json={}, headers={"x-api-key": READ}).json()["code"] == "scope_missing"


def test_access_readyz_tells_strangers_no_reason(keyed: Client) -> None:
    parts = keyed.get("/readyz").json()["parts"]
    assert {part["reason"] for part in parts.values()} == {""}
    parts = keyed.get("/readyz", headers={"x-api-key": READ}).json()["parts"]
    assert parts["model"]["reason"]


def test_access_every_key_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from assistant.api import access

    compared: list[str] = []

    def compare(left: str, right: str) -> bool:
        compared.append(left)
        return left == right

    monkeypatch.setattr(access.hmac, "compare_digest", compare)
    gate = Gatekeeper(Serving(api_keys=f"{ASK_ENTRY},{READ_ENTRY}"))
    for shown in (ASK, READ, "ma_unknown", ""):
        compared.clear()
        gate._known(shown)
        assert len(compared) == 2


# --- configuring keys ------------------------------------------------------------------------------------


def test_read_keys_file_of_entries_is_read(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(f"# the team\n{ASK_ENTRY}\n\n{READ_ENTRY}\n", encoding="utf-8")
    for text in (str(path), f"@{path}"):
        assert [key.caller.name for key in read_keys(text)] == ["asker", "reader"]


@pytest.mark.parametrize(
    "text",
    ["name", "name:ask", "name:ask:xyz", "name:fly:" + "0" * 64, "na me:ask:" + "0" * 64, f"{ASK_ENTRY},{ASK_ENTRY}",
     "name::" + "0" * 64, "/no/such/file"],
)  # fmt: skip
def test_read_keys_bad_entry_is_an_error_that_repeats_nothing(text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_keys(text)
    assert "0" * 10 not in caught.value.en
    assert ASK_ENTRY[-20:] not in caught.value.en


def test_gatekeeper_empty_key_file_does_not_open_the_door(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("# none yet\n", encoding="utf-8")
    with pytest.raises(InputError):
        Gatekeeper(Serving(api_keys=str(path)))


@given(st.sets(st.sampled_from(sorted(SCOPES)), min_size=1))
def test_new_key_entry_reads_back_with_its_scopes(scopes: set[str]) -> None:
    key, entry = new_key("somebody", scopes)
    (read,) = read_keys(entry)
    assert (read.caller.name, read.caller.scopes) == ("somebody", scopes)
    assert read.digest == hashlib.sha256(key.encode()).hexdigest()
    assert key not in entry
