"""``explain`` and ``chat`` with a scripted model, over HTTP."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from assistant.cli.main import main
from assistant.devmodel import DevModel
from tests.agent.support import EXAMPLE, script

TRUE = "At step 2 `actor/entropy` is 0.1557, after 0.1564 at step 1."
LIE = "At step 2 `actor/entropy` is 0.2557."
LOG = str(EXAMPLE)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> DevModel:
    """A model's settings; its script is set by the test."""
    server = DevModel("echo")
    monkeypatch.setenv("ASSISTANT_LLM_MODEL", "dev")
    monkeypatch.setenv("ASSISTANT_LLM_CACHE", "0")
    return server


def run(server: DevModel, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    with server:
        monkeypatch.setenv("ASSISTANT_LLM_BASE_URL", server.base_url)
        return main(list(arguments))


def test_explain_streams_checked_blocks_then_warnings_and_the_count(
    model: DevModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model.script = script({"text": f"{TRUE}\n\n`actor/grad_norm` at step 3 is 0.124. {LIE}"}, {"text": "1: -"})
    assert run(model, monkeypatch, "explain", LOG, "-q", "healthy?", "--engine", "llm") == 0
    out = capsys.readouterr().out
    assert out.startswith(TRUE)
    assert "0.2557" not in out
    assert "1 of the model's sentences could not be tied" in out
    assert "numbers traced" in out


def test_explain_auto_uses_the_configured_model_and_json_says_so(
    model: DevModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(model, monkeypatch, "explain", LOG, "-q", "healthy?", "--format", "json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["engine"] == "llm"
    assert answer["usage"]["model"] == "dev"
    assert answer["usage"]["llm_calls"] == 1


def test_explain_model_that_fails_still_answers_with_status_0(
    model: DevModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model.script = script({"status": 401, "error": {"message": "bad key"}})
    assert run(model, monkeypatch, "explain", LOG, "-q", "正常吗", "--engine", "llm") == 0
    out = capsys.readouterr().out
    assert "密钥无效" in out
    assert "actor/entropy" in out


def test_explain_anonymize_masks_what_is_sent(model: DevModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("\n".join(f"step:{i} - acme/secret:{i / 7:.3f} - actor/entropy:0.{9 - i}" for i in range(1, 8)))
    assert run(model, monkeypatch, "explain", str(log), "-q", "trend of acme/secret", "--anonymize") == 0
    assert "acme/secret" not in json.dumps(model.received[0].body)


def test_explain_offline_asks_nobody(
    model: DevModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(model, monkeypatch, "explain", LOG, "-q", "healthy?", "--engine", "offline") == 0
    assert model.received == []
    assert capsys.readouterr().out


def test_chat_asks_the_model_and_follows_up(
    model: DevModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model.script = script({"text": TRUE})
    monkeypatch.setattr("sys.stdin", io.StringIO("analyze step 2\nwhat about step 3?\n/quit\n"))
    assert run(model, monkeypatch, "chat", LOG, "--engine", "llm") == 0
    assert capsys.readouterr().out.count(TRUE) == 2
    assert len(model.received) == 2
