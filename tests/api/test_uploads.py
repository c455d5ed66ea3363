"""Bodies: JSON and forms, packed or not, and never more than the limit."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.api.app import create_app
from assistant.api.uploads import SPOOL, _file_name, _Gunzip, _Unzstd
from tests.api.client import LOG, Client

MB = 1024 * 1024
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(create_app())


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("ASSISTANT_MAX_BODY_MB", "1")
    return Client(create_app())


def steps(reply: object) -> list[list[int]]:
    return [[row["step"] for row in run["rows"]] for run in reply.json()["runs"]]  # type: ignore[attr-defined]


# --- what is read ----------------------------------------------------------------------------------------


def test_read_request_files_of_a_form_are_runs_of_their_names(client: Client) -> None:
    files = [("files", ("a/b.log", LOG)), ("files", ("c.log", LOG))]
    reply = client.post("/parse", files=files, data={"lang": "zh"})
    assert reply.status_code == 200
    assert [run["name"] for run in reply.json()["runs"]] == ["a/b.log", "c.log"]
    assert steps(reply) == [[0, 1, 2, 3]] * 2


def test_read_request_form_fields_are_those_of_the_body(client: Client) -> None:
    reply = client.post("/explain", files={"file": ("a.log", LOG)}, data={"question": "用了多少张卡？", "lang": "en"})
    answer = reply.json()
    assert (answer["intent"], answer["language"], answer["question"]) == ("derive", "en", "用了多少张卡？")


def test_read_request_text_field_comes_before_the_files(client: Client) -> None:
    fields = {"text": "step:7 - actor/entropy:0.5", "name": "pasted"}
    reply = client.post("/parse", files={"f": ("a.log", LOG)}, data=fields)
    assert [run["name"] for run in reply.json()["runs"]] == ["pasted", "a.log"]


def test_read_request_repeated_field_is_a_list(client: Client) -> None:
    data = {"text": "step:1 - actor/ppo_kl:0.12 - actor/grad_norm:3", "thresholds": ["ppo_kl < 0.05", "grad_norm < 2"]}
    reply = client.post("/check", data=data, files={"x": ("empty.log", "step:1 - a/b:1\n")})
    assert sum(finding["rule"] == "threshold" for finding in reply.json()["findings"]) == 2


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_read_request_packed_files_are_unpacked(client: Client, pack: object) -> None:
    reply = client.post("/parse", files={"f": ("a.log.gz", pack(LOG.encode()))})  # type: ignore[operator]
    assert steps(reply) == [[0, 1, 2, 3]]


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)])
def test_read_request_packed_bodies_are_unpacked(client: Client, encoding: str, pack: object) -> None:
    content = pack(json.dumps({"text": LOG}).encode())  # type: ignore[operator]
    reply = client.post("/parse", content=content, headers={**JSON, "content-encoding": encoding})
    assert steps(reply) == [[0, 1, 2, 3]]


@pytest.mark.parametrize("pad", [0, 2 * SPOOL])
def test_read_request_text_of_any_size_gives_the_same_table(client: Client, pad: int) -> None:
    reply = client.post("/parse", json={"text": LOG + "\n" * pad, "name": "mine"})
    assert steps(reply) == [[0, 1, 2, 3]]
    assert reply.json()["runs"][0]["name"] == "mine"


def test_read_request_large_file_leaves_nothing_behind(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert client.post("/parse", files={"f": ("a.log", LOG + "\n" * 2 * SPOOL)}).status_code == 200
    assert client.post("/parse", json={"text": "\n" * 3 * SPOOL}).status_code == 422
    assert list(tmp_path.iterdir()) == []


# --- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "headers", "expected"),
    [
        (b"{", JSON, (422, "invalid_request")),
        (b"", JSON, (422, "invalid_request")),
        (b"[]", JSON, (422, "invalid_request")),
        (b"\xff\xfe", JSON, (422, "invalid_request")),
        (b"{}", {"content-type": "text/csv"}, (415, "unsupported_media_type")),
        (b"{}", {**JSON, "content-encoding": "br"}, (415, "unsupported_encoding")),
        (b"{}", {**JSON, "content-encoding": "gzip"}, (400, "body_damaged")),
        (gzip.compress(b"{}" * 99, mtime=0)[:-9], {**JSON, "content-encoding": "gzip"}, (400, "body_damaged")),
        (b"{}", {**JSON, "content-encoding": "zstd"}, (400, "body_damaged")),
        (zstandard.compress(b"{}" * 99)[:-3], {**JSON, "content-encoding": "zstd"}, (400, "body_damaged")),
        (b"x", {"content-type": "multipart/form-data"}, (400, "bad_form")),
        (b"x", {"content-type": "multipart/form-data; boundary=q"}, (400, "bad_form")),
        (b"--q\r\n\r\nx\r\n--q--\r\n", {"content-type": "multipart/form-data; boundary=q"}, (400, "bad_form")),
        (b"[" * 100_000, JSON, (422, "invalid_request")),
    ],
)
def test_read_request_bad_body_is_a_problem(
    client: Client, content: bytes, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    reply = client.post("/parse", content=content, headers=headers)
    assert (reply.status_code, reply.json()["code"]) == expected
    assert reply.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"text": "a",}', "not valid JSON"),
        (b'{"text":\n"a" "b"}', "line 2, column 5"),
        ('{"text": "损失"}'.encode("gbk"), "not UTF-8"),
        (b'{"text": "step:1 - a:1", "questoin": "x"}', "body.questoin: unknown; did you mean question?"),
    ],
)
def test_read_request_bad_body_is_told_what_to_mend(client: Client, content: bytes, said: str) -> None:
    for accepted, tail in (("en", "See /docs"), ("zh-CN", "格式见 /docs")):
        reply = client.post("/explain", content=content, headers={**JSON, "accept-language": accepted})
        assert reply.status_code == 422
        assert said in reply.json()["detail"]
        assert tail in reply.json()["detail"]


def test_read_request_unknown_member_that_is_near_none_is_let_pass(client: Client) -> None:
    body = {"text": LOG, "question": "GPUs?", "lang": "en", "stream": False, "questions": "another field"}
    assert client.post("/explain", json=body).status_code == 200


def test_read_request_large_body_that_is_no_json_is_a_problem(client: Client) -> None:
    reply = client.post("/parse", content=b'{"text": "' + b"x" * 2 * SPOOL, headers=JSON)
    assert (reply.status_code, reply.headers["content-type"]) == (422, "application/problem+json")


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)])
def test_read_request_body_is_counted_after_it_was_expanded(small: Client, encoding: str, pack: object) -> None:
    bomb = pack(b'{"text": "' + b" " * 200 * MB)  # type: ignore[operator]
    assert len(bomb) < MB
    reply = small.post("/parse", content=bomb, headers={**JSON, "content-encoding": encoding})
    assert (reply.status_code, reply.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_read_request_packed_files_count_expanded_and_together(small: Client, pack: object) -> None:
    half = pack(b" " * (MB * 6 // 10))  # type: ignore[operator]
    files = [("f", ("a", half)), ("f", ("b", half))]
    reply = small.post("/parse", files=files)
    assert (reply.status_code, reply.json()["code"]) == (413, "body_too_large")


def test_read_request_body_without_a_length_is_counted_too(small: Client) -> None:
    async def endless() -> object:
        yield b'{"text": "'
        for _ in range(100):
            yield b" " * 65536

    reply = small.post("/parse", content=endless(), headers=JSON)
    assert (reply.status_code, reply.json()["code"]) == (413, "body_too_large")


# --- names and unpackers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_", "shown"),
    [("train.log", "train.log"), ("run1/train.log", "run1/train.log"), ("../../etc/passwd", "etc/passwd"),
     ("/etc/passwd", "etc/passwd"), ("C:\\logs\\a.log", "C:/logs/a.log"), ("a\x00b\n.log", "ab.log"), ("", "log"),
     (None, "log"), ("..", "log")],
)  # fmt: skip
def test_file_name_is_only_for_display(given_: str | None, shown: str) -> None:
    assert _file_name(given_) == shown


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=3000), max_size=5), st.integers(1, 700))
def test_unpackers_give_back_what_was_packed_however_it_is_cut(parts: list[bytes], cut: int) -> None:
    for pack, unpacker in ((gzip.compress, _Gunzip()), (zstandard.compress, _Unzstd())):
        packed = b"".join(pack(part) for part in parts)
        chunks = [packed[at : at + cut] for at in range(0, len(packed), cut)]
        assert b"".join(out for chunk in [*chunks, b""] for out in unpacker.feed(chunk)) == b"".join(parts)
