"""What the agent's tests share: an example run, its offline answer, and inquiries of a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from assistant.agent import Event, Inquiry, inquiry_of, stream
from assistant.devmodel import DevModel, Script, load_script
from assistant.model import Answer
from assistant.service import Source, service
from assistant.service.facade import Material
from assistant.settings import Endpoint, Settings

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "verl-retool-steps-0-3.log"
QUESTION = "Is the run healthy?"


@lru_cache(maxsize=1)
def material() -> Material:
    """The example log."""
    return service().read([Source(EXAMPLE.name, EXAMPLE.read_bytes())])


@lru_cache(maxsize=32)
def offline(question: str = QUESTION) -> Answer:
    """The offline engine's answer."""
    return service().explain(material(), question, engine="offline").answer


def chosen(*servers: DevModel | str, **options: Any) -> Settings:
    """Settings with scripted models, in the order in which they are tried."""
    urls = [one if isinstance(one, str) else one.base_url for one in servers]
    models = tuple(Endpoint(f"dev-{place}" if place else "dev", url, "secret") for place, url in enumerate(urls))
    return replace(Settings(models=models, llm_timeout=30.0, llm_cache=False), **options)


def inquiry(
    *servers: DevModel | str, question: str = QUESTION, anonymize: bool | None = None, **options: Any
) -> Inquiry:
    """A question about the example put to scripted models."""
    engine = service()
    return inquiry_of(
        offline(question), material().runs, engine.resolver, chosen(*servers, **options), finder=engine.finder,
        anonymize=anonymize,
    )  # fmt: skip


def script(*steps: dict[str, Any]) -> Script:
    """A script that plays its steps one after the other, and the last one from then on."""
    rules = [{"times": 1, "then": step} for step in steps[:-1]] + [{"then": steps[-1]}]
    import json

    return load_script(json.dumps({"rules": rules}))


@dataclass(frozen=True)
class Streamed:
    """The events of an answer."""

    events: Sequence[Event]

    @property
    def answer(self) -> Answer:
        """The finished one."""
        return self.events[-1].data  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """What was sent, joined."""
        return "".join(event.data for event in self.events if event.kind == "delta")


def streamed(one: Inquiry) -> Streamed:
    """All events of an inquiry."""

    async def collect() -> list[Event]:
        return [event async for event in stream(one)]

    return Streamed(asyncio.run(collect()))
