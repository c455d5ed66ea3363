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
from functools import lru_cache, partial
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
WEBHOOKS = ("feishu", "dingtalk", "slack", "json")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model on an OpenAI-compatible server; ``base_url`` empty is OpenAI's own."""

    model: str
    base_url: str = ""
    api_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where findings are sent; its address holds a token, so it does not show itself."""

    kind: str
    url: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Serving:
    """What the environment says about the server; ``docs/service.md`` holds the same table, and a test compares them.

    Attributes:
        api_keys: ``ASSISTANT_API_KEYS``, ``name:scopes:sha256`` separated by commas (scopes joined by ``+``), or the
            path of a file with one such entry a line. Empty: only this machine may connect.
        allowed_hosts: ``ASSISTANT_ALLOWED_HOSTS``, names in a ``Host`` header that are taken beside loopback's while
            there are no keys, separated by commas.
        cors_origins: ``ASSISTANT_CORS_ORIGINS``, origins whose pages may call the API, separated by commas; none by
            default.
        allowed_roots: ``ASSISTANT_ALLOWED_ROOTS``, folders from which a caller may name files, separated as in ``PATH``
            or by commas; none by default.
        workers: ``ASSISTANT_WORKERS``, processes that answer small questions; one for each core (at most 8) by
            default, 0 for threads of the server's own process.
        large_workers: ``ASSISTANT_LARGE_WORKERS``, large logs that are worked on at once, 1 by default.
        threads: ``ASSISTANT_THREADS``, threads for the database and other short calls, 8 by default.
        model_calls: ``ASSISTANT_LLM_CONCURRENCY``, answers with a model that are under way at once, 16 by default.
        queue: ``ASSISTANT_QUEUE``, jobs that may wait; the next ones are refused with 429, 64 by default.
        large_bytes: ``ASSISTANT_LARGE_KB``, size of a text (kB) from which it has a process of its own, 1024 by
            default.
        job_seconds: ``ASSISTANT_JOB_SECONDS``, longest time of one job, waiting included, 60 by default.
        job_bytes: ``ASSISTANT_JOB_MEMORY_MB``, most memory of one job beyond what every worker has, 2048 by default.
        rate: ``ASSISTANT_RATE``, requests with a body that one client may make a second, over the burst; 20 with keys,
            0 (no limit) without by default.
        burst: ``ASSISTANT_RATE_BURST``, requests at once, 60 by default.
        resume_seconds: ``ASSISTANT_RESUME_SECONDS``, how long a stream with an ``Idempotency-Key`` goes on with nobody
            listening, 15 by default.
        kept_seconds: ``ASSISTANT_IDEMPOTENCY_SECONDS``, how long replies and streams are kept for a repeat, 600 by
            default.
        kept_bytes: ``ASSISTANT_IDEMPOTENCY_MB``, memory for them, 32 by default.
        heartbeat_seconds: ``ASSISTANT_HEARTBEAT_SECONDS``, time between signs of life in a silent stream, 15 by
            default.
        shutdown_seconds: ``ASSISTANT_SHUTDOWN_SECONDS``, time for what is under way when the server is told to stop,
            20 by default.
        log_level: ``ASSISTANT_LOG_LEVEL``, ``debug``, ``info`` (the default), ``warning`` or ``error``.
        log_format: ``ASSISTANT_LOG_FORMAT``, ``json`` or ``text``; ``text`` on a terminal, else ``json`` by default.
    """

    api_keys: str = field(default="", repr=False)
    allowed_hosts: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    allowed_roots: tuple[Path, ...] = ()
    workers: int = 0
    large_workers: int = 1
    threads: int = 8
    model_calls: int = 16
    queue: int = 64
    large_bytes: int = 1 << 20
    job_seconds: float = 60.0
    job_bytes: int = 2 << 30
    rate: float = 0.0
    burst: int = 60
    resume_seconds: float = 15.0
    kept_seconds: float = 600.0
    kept_bytes: int = 32 << 20
    heartbeat_seconds: float = 15.0
    shutdown_seconds: float = 20.0
    log_level: str = "info"
    log_format: str = ""


@dataclass(frozen=True, slots=True)
class Storing:
    """What the environment says about sessions.

    Attributes:
        database_url: ``ASSISTANT_DATABASE_URL``, ``postgresql://user:password@host/database`` (needs the extra
            ``postgres``) or ``sqlite:////path/file.db``; else ``sessions.db`` in the data folder.
        keep_text: ``ASSISTANT_KEEP_TEXT``, whether the texts of logs are kept beside their tables; on by default.
        retention_days: ``ASSISTANT_RETENTION_DAYS``, days after its last use when a session is deleted; 0 (never) by
            default.
        cache_bytes: ``ASSISTANT_SESSION_CACHE_MB``, memory for the parsed logs of recent sessions, 256 by default.
    """

    database_url: str = field(default="", repr=False)
    keep_text: bool = True
    retention_days: float = 0.0
    cache_bytes: int = 256 << 20


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
        webhooks: ``ASSISTANT_WEBHOOK_URL`` and ``ASSISTANT_WEBHOOK_SECRET``, or those of one kind
            (``ASSISTANT_WEBHOOK_FEISHU_URL``, ``…_DINGTALK_SECRET``, ``…_SLACK_…``, ``…_JSON_…``): where ``--notify``
            sends findings, and what it signs them with.
        serving: what is for the server alone.
        storing: what is for sessions alone.
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
    webhooks: tuple[Webhook, ...] = ()
    serving: Serving = field(default_factory=Serving)
    storing: Storing = field(default_factory=Storing)


def settings() -> Settings:
    """Reads the environment and ``.env``; an unknown language or size falls back to the default.

    What was read is kept as long as neither changes.
    """
    return _settings(tuple(os.environ.items()), _env_stamp())


@lru_cache(maxsize=8)
def _settings(environment: tuple[tuple[str, str], ...], stamp: tuple[str, int, int] | None) -> Settings:
    """The settings of an environment and of a ``.env`` file."""
    env: Mapping[str, str] = {**_env_file(stamp), **{name: value for name, value in environment if value}}
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
        webhooks=_webhooks(env),
        serving=_serving(env),
        storing=_storing(env),
    )


def _webhooks(env: Mapping[str, str]) -> tuple[Webhook, ...]:
    """One for each kind that has an address."""
    found = []
    for kind in WEBHOOKS:
        names = [f"ASSISTANT_WEBHOOK_{kind.upper()}_{{}}", "ASSISTANT_WEBHOOK_{}"]
        url, secret = (
            next((env[name.format(part)].strip() for name in names if env.get(name.format(part))), "")
            for part in ("URL", "SECRET")
        )
        if url:
            found.append(Webhook(kind, url, secret))
    return tuple(found)


def _storing(env: Mapping[str, str]) -> Storing:
    """The sessions' part."""
    return Storing(
        database_url=env.get("ASSISTANT_DATABASE_URL", "").strip(),
        keep_text=env.get("ASSISTANT_KEEP_TEXT", "1").lower() in _YES,
        retention_days=_number(env, "ASSISTANT_RETENTION_DAYS", 0.0, least=0.0),
        cache_bytes=_whole(env, "ASSISTANT_SESSION_CACHE_MB", 256, least=0) << 20,
    )


def _serving(env: Mapping[str, str]) -> Serving:
    """The server's part."""
    keys = env.get("ASSISTANT_API_KEYS", "").strip()
    level = env.get("ASSISTANT_LOG_LEVEL", "info").lower()
    form = env.get("ASSISTANT_LOG_FORMAT", "").lower()
    whole = partial(_whole, env)
    return Serving(
        api_keys=keys,
        allowed_hosts=_listed(env, "ASSISTANT_ALLOWED_HOSTS"),
        cors_origins=tuple(origin.rstrip("/") for origin in _listed(env, "ASSISTANT_CORS_ORIGINS")),
        allowed_roots=tuple(Path(os.path.expanduser(root)) for root in _roots(env)),  # noqa: PTH111
        workers=whole("ASSISTANT_WORKERS", min(os.cpu_count() or 1, 8), least=0),
        large_workers=whole("ASSISTANT_LARGE_WORKERS", 1),
        threads=whole("ASSISTANT_THREADS", 8),
        model_calls=whole("ASSISTANT_LLM_CONCURRENCY", 16),
        queue=whole("ASSISTANT_QUEUE", 64, least=0),
        large_bytes=whole("ASSISTANT_LARGE_KB", 1024) << 10,
        job_seconds=_number(env, "ASSISTANT_JOB_SECONDS", 60.0, least=0.1),
        job_bytes=whole("ASSISTANT_JOB_MEMORY_MB", 2048) << 20,
        rate=_number(env, "ASSISTANT_RATE", 20.0 if keys else 0.0, least=0.0),
        burst=whole("ASSISTANT_RATE_BURST", 60),
        resume_seconds=_number(env, "ASSISTANT_RESUME_SECONDS", 15.0, least=0.0),
        kept_seconds=_number(env, "ASSISTANT_IDEMPOTENCY_SECONDS", 600.0, least=0.0),
        kept_bytes=whole("ASSISTANT_IDEMPOTENCY_MB", 32, least=0) << 20,
        heartbeat_seconds=_number(env, "ASSISTANT_HEARTBEAT_SECONDS", 15.0, least=0.01),
        shutdown_seconds=_number(env, "ASSISTANT_SHUTDOWN_SECONDS", 20.0, least=0.0),
        log_level=level if level in {"debug", "info", "warning", "error"} else "info",
        log_format=form if form in {"json", "text"} else "",
    )


def _listed(env: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in env.get(name, "").split(",") if part.strip())


def _roots(env: Mapping[str, str]) -> tuple[str, ...]:
    parts = env.get("ASSISTANT_ALLOWED_ROOTS", "").replace(",", os.pathsep).split(os.pathsep)
    return tuple(part.strip() for part in parts if part.strip())


def _whole(env: Mapping[str, str], name: str, default: int, *, least: int = 1) -> int:
    return int(_number(env, name, default, least=least))


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


def _env_stamp() -> tuple[str, int, int] | None:
    """Path, time of change and size of the working directory's ``.env``; ``None`` where there is none to be read."""
    try:
        found = os.stat(".env")  # noqa: PTH116 - this is done at every turn, and Path takes longer
        return (os.path.abspath(".env"), found.st_mtime_ns, found.st_size) if found.st_size <= LONGEST_FILE else None  # noqa: PTH100
    except OSError:
        return None


def _env_file(stamp: tuple[str, int, int] | None) -> Mapping[str, str]:
    """Names and values of a ``.env`` file; none where it cannot be read."""
    try:
        return _read_env(*stamp) if stamp else {}
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
