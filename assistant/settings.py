"""Settings from the environment (prefix ``ASSISTANT_``); all optional."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

Language = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says.

    Attributes:
        lang: ``ASSISTANT_LANG``, language of answers and errors where the question has none; else the
            locale's (``LC_ALL``, ``LC_MESSAGES``, ``LANG``); else English.
        max_body_bytes: ``ASSISTANT_MAX_BODY_MB``, largest request body, 64 MB by default.
    """

    lang: Language = "en"
    max_body_bytes: int = 64 * 1024 * 1024


def settings() -> Settings:
    """Reads the environment; an unknown language or size falls back to the default."""
    env = os.environ
    wish = env.get("ASSISTANT_LANG") or env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or "en"
    language: Language = "zh" if wish.lower().startswith("zh") else "en"
    size = env.get("ASSISTANT_MAX_BODY_MB", "")
    limit = int(size) * 1024 * 1024 if size.isdigit() and int(size) > 0 else 64 * 1024 * 1024
    return Settings(language, limit)
