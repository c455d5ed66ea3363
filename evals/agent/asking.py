"""Puts questions to the assistant with a scripted model behind it."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

from assistant.agent import inquiry_of, respond, stream
from assistant.devmodel import DevModel, Script, load_script
from assistant.model import Answer
from assistant.service import service
from assistant.service.facade import Material
from assistant.settings import Endpoint, Settings

DEADLINE = 10.0


@dataclass(frozen=True, slots=True)
class Got:
    """An answer, what was streamed before it, the offline answer to the same question, the seconds it took, how often
    the model was asked, and all that it was sent."""

    answer: Answer
    streamed: str
    offline: Answer
    seconds: float
    requests: int
    sent: str


def script(*steps: dict[str, Any]) -> Script:
    """Steps played one after the other, the last one from then on."""
    rules = [{"times": 1, "then": step} for step in steps[:-1]] + [{"then": steps[-1]}]
    return load_script(json.dumps({"rules": rules}))


def ask(
    material: Material, question: str, model: Script | str, *, live: bool, language: str = "auto",
    deadline: float = DEADLINE,
) -> Got:  # fmt: skip
    """One question with a scripted model.

    Args:
        material: what was read.
        question: as typed.
        model: what the model replies.
        live: streamed, or whole.
        language: of the answer.
        deadline: seconds within which the answer ends.
    """
    engine = service()
    offline = engine.explain(material, question, language=language, engine="offline").answer
    with DevModel(model) as server:
        settings = Settings(models=(Endpoint("dev", server.base_url, "key"),), llm_timeout=deadline, llm_cache=False)
        inquiry = inquiry_of(offline, material.runs, engine.resolver, settings, finder=engine.finder)
        started = time.perf_counter()
        if live:
            answer, text = asyncio.run(_followed(inquiry))
        else:
            answer, text = respond(inquiry), ""
        return Got(answer, text, offline, time.perf_counter() - started, len(server.received), _sent(server))


def _sent(server: DevModel) -> str:
    """The text of every message that the model was sent."""
    return "\n".join(str(message.get("content")) for one in server.received for message in one.body["messages"])


async def _followed(inquiry: Any) -> tuple[Answer, str]:
    events = [event async for event in stream(inquiry)]
    return events[-1].data, "".join(event.data for event in events if event.kind == "delta")
