"""``/metrics-docs``: what a metric means."""

from __future__ import annotations

import time
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query, Request

from assistant.api.access import needs
from assistant.api.running import run_job
from assistant.api.schemas import Definition, Found, problems
from assistant.model import InputError
from assistant.service import service

router = APIRouter(prefix="/metrics-docs", tags=["definitions"], dependencies=[Depends(needs("read"))])

LONGEST_QUERY: Final = 2_000
"""Characters of what is searched for: a question, not a text."""

_FOUND = {
    "results": [
        {
            "card": "verl/actor/ppo_kl", "title": "Approximate KL to the old policy", "framework": "verl",
            "keys": ["actor/ppo_kl"], "score": 1.0, "how": "exact", "also": [],
        }
    ]
}  # fmt: skip
_ONE = {"card": "verl/actor/ppo_kl", "framework": "verl", "keys": ["actor/ppo_kl"], "text": {"zh": "…", "en": "…"}}


@router.get(
    "", summary="Definitions by any wording, best first",
    responses={200: {"model": Found, "content": {"application/json": {"example": _FOUND}}}, **problems(422, 429, 504)},
    response_model=None,
)  # fmt: skip
async def metrics_docs(
    request: Request,
    q: Annotated[
        str,
        Query(
            max_length=LONGEST_QUERY, description="A key, a short name, or plain words, zh or en.", examples=["ppo_kl"]
        ),
    ],
    lang: Literal["auto", "zh", "en"] = "auto",
    framework: str | None = None,
    k: Annotated[int, Query(ge=1, le=50)] = 5,
) -> dict[str, Any]:
    """Cards of metrics and passages of a team's own documents."""
    began = time.perf_counter()
    found = await run_job(request, _search, q, lang, framework, k)
    request.app.state.measures.stages.labels("retrieve").observe(time.perf_counter() - began)
    return {"results": found}


@router.get(
    "/{name:path}", summary="One definition, both languages",
    responses={
        200: {"model": Definition, "content": {"application/json": {"example": _ONE}}}, **problems(404, 422, 429, 504)
    },
    response_model=None,
)  # fmt: skip
async def metric_doc(request: Request, name: str, framework: str | None = None) -> dict[str, Any]:
    """By card (`verl/actor/ppo_kl`), key, name or alias; `doc:…` gives a passage of an own document."""
    return await run_job(request, _definition, name, framework)


def _search(q: str, lang: str, framework: str | None, k: int) -> list[dict[str, Any]]:
    return service().search(q, lang=lang, framework=known_framework(framework), k=k)


def _definition(name: str, framework: str | None) -> dict[str, Any]:
    engine = service()
    if name.startswith("doc:"):
        return engine.passage(name)
    return engine.metric_json(engine.metric(name, known_framework(framework))[0])


def known_framework(name: str | None) -> str | None:
    """A framework as the cards spell it.

    Raises:
        InputError: no card is about it.
    """
    if not name:
        return None
    known: dict[str, str] = {card.framework.lower(): card.framework for card in service().resolver.library}
    if name.lower() in known:
        return known[name.lower()]
    names = ", ".join(sorted(known.values(), key=str.lower))
    raise InputError(
        zh=f"没有名为“{name[:80]}”的框架。已知的有：{names}。",
        en=f"No framework is called “{name[:80]}”. Known: {names}.",
    )
