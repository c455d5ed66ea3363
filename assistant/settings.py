"""Settings from the environment (prefix ``ASSISTANT_``); all optional."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Language = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says.

    Attributes:
        lang: ``ASSISTANT_LANG``, language of answers and errors where the question has none; else the
            locale's (``LC_ALL``, ``LC_MESSAGES``, ``LANG``); else English.
        max_body_bytes: ``ASSISTANT_MAX_BODY_MB``, largest request body, 64 MB by default.
        embeddings: ``ASSISTANT_EMBEDDINGS``, ``local`` (the default) or an embedding model's name.
        embeddings_url: ``ASSISTANT_EMBEDDINGS_BASE_URL``, else ``OPENAI_BASE_URL``: the OpenAI-compatible server of
            that model.
        embeddings_key: ``ASSISTANT_EMBEDDINGS_API_KEY``, else ``OPENAI_API_KEY``.
        chroma_url: ``ASSISTANT_CHROMA_URL``, a Chroma server for the vectors; files of one's own by default.
        data_dir: ``ASSISTANT_DATA_DIR``, where a team's own documents are kept; else ``metric-assistant`` in
            ``XDG_DATA_HOME``, else in ``~/.local/share``.
    """

    lang: Language = "en"
    max_body_bytes: int = 64 * 1024 * 1024
    embeddings: str = "local"
    embeddings_url: str = ""
    embeddings_key: str = field(default="", repr=False)
    chroma_url: str = ""
    data_dir: Path = field(default_factory=Path)


def settings() -> Settings:
    """Reads the environment; an unknown language or size falls back to the default."""
    env = os.environ
    wish = env.get("ASSISTANT_LANG") or env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or "en"
    language: Language = "zh" if wish.lower().startswith("zh") else "en"
    size = env.get("ASSISTANT_MAX_BODY_MB", "")
    limit = int(size) * 1024 * 1024 if size.isdigit() and int(size) > 0 else 64 * 1024 * 1024
    return Settings(
        lang=language,
        max_body_bytes=limit,
        embeddings=env.get("ASSISTANT_EMBEDDINGS") or "local",
        embeddings_url=env.get("ASSISTANT_EMBEDDINGS_BASE_URL") or env.get("OPENAI_BASE_URL") or "",
        embeddings_key=env.get("ASSISTANT_EMBEDDINGS_API_KEY") or env.get("OPENAI_API_KEY") or "",
        chroma_url=env.get("ASSISTANT_CHROMA_URL") or "",
        data_dir=_data_dir(),
    )


def _data_dir() -> Path:
    own = os.environ.get("ASSISTANT_DATA_DIR")
    base = os.environ.get("XDG_DATA_HOME")
    if not own:
        own = f"{base}/metric-assistant" if base and Path(base).is_absolute() else "~/.local/share/metric-assistant"
    return Path(os.path.expanduser(own))  # noqa: PTH111 - Path.expanduser raises where there is no such home
