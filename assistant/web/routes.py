"""Helper routes of the page, below ``/page``: what it must know at start, the example, and HTML of Markdown."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from assistant import __version__
from assistant.resources import data_folder
from assistant.settings import settings
from assistant.web.rendering import answer_html

router: Final = APIRouter(prefix="/page", include_in_schema=False)
EXAMPLE: Final = "verl-retool-steps-0-3.log"
#: Text pasted beyond this becomes an attachment.
PASTE_BYTES: Final = 20_000


class Mention(BaseModel):
    """Characters of an answer that state a fact."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    fact: str = Field(max_length=40)


class Citation(BaseModel):
    """A card that ``[K1]`` stands for."""

    id: str = Field(max_length=40)
    card: str = Field(max_length=400)


class Piece(BaseModel):
    """Markdown to be shown, with what its numbers and references are."""

    text: str = Field(max_length=2_000_000)
    mentions: list[Mention] = Field(default_factory=list, max_length=50_000)
    citations: list[Citation] = Field(default_factory=list, max_length=2_000)


class Pieces(BaseModel):
    """Several texts at once: a whole conversation is opened with one request."""

    pieces: list[Piece] = Field(max_length=500)


@router.get("/config")
def config() -> dict[str, Any]:
    """What the page must know before it is shown."""
    chosen = settings()
    return {
        "version": __version__,
        "model": chosen.models[0].model if chosen.models else None,
        "paste_bytes": PASTE_BYTES,
        "max_body_bytes": chosen.max_body_bytes,
    }


@router.get("/example")
def example() -> dict[str, str]:
    """The run that a first visitor can look at with one click."""
    return {"name": EXAMPLE, "text": _example()}


@router.post("/render")
async def render(body: Pieces) -> dict[str, list[str]]:
    """HTML of Markdown texts, in order; see :func:`assistant.web.rendering.answer_html`."""
    return {"html": await run_in_threadpool(_render, body)}


def _render(body: Pieces) -> list[str]:
    return [
        answer_html(one.text, [m.model_dump() for m in one.mentions], [c.model_dump() for c in one.citations])
        for one in body.pieces
    ]


@lru_cache(maxsize=1)
def _example() -> str:
    return (data_folder("examples") / EXAMPLE).read_text(encoding="utf-8")
