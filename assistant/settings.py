"""Settings from the environment (prefix ``ASSISTANT_``) and a ``.env`` file; all optional.

A ``.env`` file in the working directory is read for names that begin with ``ASSISTANT_`` or ``OPENAI_``: lines
``NAME=value``, ``export`` and quotes allowed, ``#`` begins a comment. The environment comes first. A server that only
the file names gets no key from the environment: a folder of somebody else's logs must not be able to collect it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

Language = Literal["zh", "en"]

_LINE = re.compile(r"\s*(?:export\s+)?((?:ASSISTANT|OPENAI)_[A-Z0-9_]+)\s*=\s*(.*?)\s*$")
_YES = {"1", "true", "yes", "on"}
LONGEST_FILE = 65536
DEADLINE = 60.0
CONTEXT_TOKENS = 2500
OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model on an OpenAI-compatible server; ``base_url`` empty is OpenAI's own."""

    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)


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
        models: ``ASSISTANT_LLM_MODEL`` at ``ASSISTANT_LLM_BASE_URL`` (else ``OPENAI_BASE_URL``, else OpenAI) with
            ``ASSISTANT_LLM_API_KEY`` (else ``OPENAI_API_KEY``), then those of ``ASSISTANT_LLM_FALLBACKS``: names, or
            ``name@url``, separated by commas, their keys in ``ASSISTANT_LLM_FALLBACK_API_KEYS``. Empty: no model.
        llm_timeout: ``ASSISTANT_LLM_TIMEOUT``, seconds within which an answer with a model ends, 60 by default.
        context_tokens: ``ASSISTANT_CONTEXT_TOKENS``, most tokens of a first prompt, 2500 by default.
        anonymize: ``ASSISTANT_ANONYMIZE``, whether names that tell who runs what are masked before a call.
        prices: ``ASSISTANT_PRICES``, a YAML file of prices that comes before the shipped one.
        llm_cache: ``ASSISTANT_LLM_CACHE``, whether answers of a model are kept for the same question; on by default.
    """

    lang: Language = "en"
    max_body_bytes: int = 64 * 1024 * 1024
    embeddings: str = "local"
    embeddings_url: str = ""
    embeddings_key: str = field(default="", repr=False)
    chroma_url: str = ""
    data_dir: Path = field(default_factory=Path)
    models: tuple[Endpoint, ...] = ()
    llm_timeout: float = DEADLINE
    context_tokens: int = CONTEXT_TOKENS
    anonymize: bool = False
    prices: str = ""
    llm_cache: bool = True


def settings() -> Settings:
    """Reads the environment and ``.env``; an unknown language or size falls back to the default."""
    env: Mapping[str, str] = {**_env_file(), **{name: value for name, value in os.environ.items() if value}}
    wish = env.get("ASSISTANT_LANG") or env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or "en"
    language: Language = "zh" if wish.lower().startswith("zh") else "en"
    size = env.get("ASSISTANT_MAX_BODY_MB", "")
    limit = int(size) * 1024 * 1024 if size.isdigit() and int(size) > 0 else 64 * 1024 * 1024
    return Settings(
        lang=language,
        max_body_bytes=limit,
        embeddings=env.get("ASSISTANT_EMBEDDINGS") or "local",
        embeddings_url=env.get("ASSISTANT_EMBEDDINGS_BASE_URL") or env.get("OPENAI_BASE_URL") or "",
        embeddings_key=_key(env, "ASSISTANT_EMBEDDINGS"),
        chroma_url=env.get("ASSISTANT_CHROMA_URL") or "",
        data_dir=_data_dir(env),
        models=_models(env),
        llm_timeout=_number(env, "ASSISTANT_LLM_TIMEOUT", DEADLINE, least=0.1),
        context_tokens=int(_number(env, "ASSISTANT_CONTEXT_TOKENS", CONTEXT_TOKENS, least=600)),
        anonymize=env.get("ASSISTANT_ANONYMIZE", "").lower() in _YES,
        prices=env.get("ASSISTANT_PRICES") or "",
        llm_cache=env.get("ASSISTANT_LLM_CACHE", "1").lower() in _YES,
    )


def _models(env: Mapping[str, str]) -> tuple[Endpoint, ...]:
    """The model asked for, then those to fall back to."""
    model = env.get("ASSISTANT_LLM_MODEL", "").strip()
    if not model:
        return ()
    base = (env.get("ASSISTANT_LLM_BASE_URL") or env.get("OPENAI_BASE_URL") or "").strip()
    key = _key(env, "ASSISTANT_LLM")
    found = [Endpoint(model, base, key)]
    keys = [one.strip() for one in env.get("ASSISTANT_LLM_FALLBACK_API_KEYS", "").split(",")]
    names = [one.strip() for one in env.get("ASSISTANT_LLM_FALLBACKS", "").split(",")]
    for place, name in enumerate(names):
        if not name:
            continue
        other, _, url = name.rpartition("@") if "@http" in name else (name, "", base)
        own = keys[place] if place < len(keys) else ""
        found.append(Endpoint(other, url, own or (key if _server(url) == _server(base) else "")))
    return tuple(found)


def _server(url: str) -> tuple[str, str]:
    """Scheme and host with port: whom a key is for."""
    parts = urlsplit(url or OPENAI)
    return parts.scheme, parts.netloc


def _key(env: Mapping[str, str], prefix: str) -> str:
    """The key of a server; one of the environment is not sent to a server that only ``.env`` names."""
    key_name = next((name for name in (f"{prefix}_API_KEY", "OPENAI_API_KEY") if env.get(name)), "")
    url_name = next((name for name in (f"{prefix}_BASE_URL", "OPENAI_BASE_URL") if env.get(name)), "")
    foreign = url_name and not os.environ.get(url_name) and os.environ.get(key_name)
    return "" if foreign or not key_name else env[key_name]


def _number(env: Mapping[str, str], name: str, default: float, *, least: float) -> float:
    try:
        value = float(env.get(name, ""))
    except ValueError:
        return default
    return value if least <= value < float("inf") else default


def _env_file() -> Mapping[str, str]:
    """Names and values of the working directory's ``.env``; none where it cannot be read."""
    path = Path(".env")
    try:
        found = path.stat()
        if found.st_size > LONGEST_FILE:
            return {}
        return _read_env(str(path.resolve()), found.st_mtime_ns, found.st_size)
    except OSError:
        return {}


@lru_cache(maxsize=8)
def _read_env(path: str, changed: int, size: int) -> Mapping[str, str]:
    values = {}
    for line in Path(path).read_text(encoding="utf-8-sig", errors="replace").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        value = match[2]
        quoted = re.fullmatch(r"(['\"])(.*?)\1\s*(?:#.*)?", value)
        values[match[1]] = quoted[2] if quoted else re.sub(r"(?:^|\s)#.*$", "", value)
    return values


def _data_dir(env: Mapping[str, str]) -> Path:
    own = env.get("ASSISTANT_DATA_DIR")
    base = os.environ.get("XDG_DATA_HOME")
    if not own:
        own = f"{base}/metric-assistant" if base and Path(base).is_absolute() else "~/.local/share/metric-assistant"
    return Path(os.path.expanduser(own))  # noqa: PTH111 - Path.expanduser raises where there is no such home
