"""``POST /verify``: the audit over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx

from assistant.api.app import create_app

LOG = (Path(__file__).resolve().parents[2] / "examples" / "verl-retool-steps-0-3.log").read_text(encoding="utf-8")


def post(**body: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=create_app(), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.post("/verify", json=body)

    return asyncio.run(send())


def test_verify_text_about_a_log_gives_sentences_summary_and_facts() -> None:
    reply = post(log=LOG, text="step 2 的奖励是 0.16。熵为 0.156。")
    assert reply.status_code == 200
    document = reply.json()
    assert [sentence["status"] for sentence in document["sentences"]] == ["contradicted", "supported"]
    assert document["summary"] == {"supported": 1, "contradicted": 1, "unsupported": 0, "no_claim": 0}
    claim = document["sentences"][0]["claims"][0]
    assert "0.1504" in claim["reason"]
    assert claim["fact"] in {fact["id"] for fact in document["facts"]}


def test_verify_language_wish_is_followed() -> None:
    reason = post(log=LOG, text="step 2 的奖励是 0.16。", lang="en").json()["sentences"][0]["claims"][0]["reason"]
    assert "not 0.16" in reason


def test_verify_log_without_metrics_is_a_problem_document() -> None:
    reply = post(log="hello", text="Reward is 0.16.")
    assert 400 <= reply.status_code < 500
    assert reply.headers["content-type"].startswith("application/problem+json")


def test_verify_missing_text_is_refused() -> None:
    assert post(log=LOG).status_code == 422
