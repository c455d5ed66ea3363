"""What our side adds to the bare call, up to the first checked sentence, on a model of a fixed rate."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from dataclasses import dataclass

import httpx

from assistant.devmodel import DevModel
from assistant.service import Source, service
from assistant.service.facade import Material
from evals.agent.asking import script
from evals.questions import logs

FIRST = "At step 2 `actor/entropy` is 0.1557, after 0.1564 at step 1. "
REPLY = FIRST + "`actor/grad_norm` at step 3 is 0.124. " * 8
RATE, CHUNK, TIMES = 50, 6, 9
QUESTIONS = ("Is the run healthy?", "entropy trend", "analyze step 2", "跟 step 0 相比，模型有改进吗")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds to the end of the first sentence, bare and checked, and seconds of the processor on our side."""

    question: str
    bare: float
    ours: float
    processor: float


def run() -> list[Outcome]:
    """Medians over several times, after one that loads what is loaded once."""
    engine = service()
    material = engine.read([Source("example", logs.text("example"))])
    os.environ |= {"ASSISTANT_LLM_MODEL": "dev", "ASSISTANT_LLM_CACHE": "0"}
    with DevModel(script({"text": REPLY, "rate": RATE, "chunk": CHUNK})) as server:
        os.environ["ASSISTANT_LLM_BASE_URL"] = server.base_url
        found = []
        for question in QUESTIONS:
            asyncio.run(_ours(material, question))
            pairs = [(_bare(server.base_url), asyncio.run(_ours(material, question))) for _ in range(TIMES)]
            bare = statistics.median(one for one, _ in pairs)
            ours = statistics.median(one[0] for _, one in pairs)
            found.append(Outcome(question, bare, ours, statistics.median(one[1] for _, one in pairs)))
    return found


def _bare(url: str) -> float:
    """Seconds until the stream has given the first sentence."""
    started, text = time.perf_counter(), ""
    body = {"model": "dev", "messages": [{"role": "user", "content": "x"}], "stream": True}
    with httpx.Client() as client, client.stream("POST", f"{url}/chat/completions", json=body) as reply:
        for line in reply.iter_lines():
            if line.startswith("data: {"):
                choices = json.loads(line[6:])["choices"]
                text += (choices[0]["delta"].get("content") or "") if choices else ""
            if len(text) > len(FIRST):
                break
    return time.perf_counter() - started


async def _ours(material: Material, question: str) -> tuple[float, float]:
    started, used = time.perf_counter(), time.process_time()
    events = service().stream(material, question)
    async for event in events:
        if event.kind == "delta":
            break
    seconds = time.perf_counter() - started, time.process_time() - used
    await events.aclose()
    return seconds


def table(outcomes: list[Outcome]) -> str:
    """The outcomes as Markdown."""
    lines = ["| question | bare call | first checked sentence | added |", "| --- | ---: | ---: | ---: |"]
    for one in outcomes:
        added = 1000 * (one.ours - one.bare)
        lines.append(f"| {one.question} | {1000 * one.bare:.0f} ms | {1000 * one.ours:.0f} ms | {added:.0f} ms |")
    return "\n".join(lines)
