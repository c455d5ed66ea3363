"""What is configured, reachable or missing, and how to mend it."""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from assistant.model import AssistantError
from assistant.resources import cache_folder
from assistant.service.terminal_words import say
from assistant.settings import OPENAI, settings

State = Literal["ok", "note", "missing"]

#: Seconds that a server has to answer.
PATIENCE_S: Final = 5.0
PACKAGE: Final = "metric-assistant"
#: Where tiktoken keeps its files: the SHA-1 of a rank file's address is its name (tiktoken/load.py).
RANKS: Final = (
    "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
    "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
)
QUERY: Final = "KL divergence"
#: What is looked at, in the order in which it is told.
PARTS: Final = (
    "python", "packages", "extras", "cards", "cache", "data", "search", "chroma", "database", "model", "tokens",
    "clipboard", "webhooks",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that was looked at.

    Attributes:
        name: ``python``, ``cards``, ``model`` …
        state: ``ok``; ``note``: optional and not there; ``missing``: asked for, or needed, and not working.
        text: what was found, and how to mend it.
    """

    name: str
    state: State
    text: str


def examine(language: str, clipboard: Callable[[], tuple[str, str]]) -> Iterator[Part]:
    """Looks at one thing after the other, some of which take seconds; what fails is told, nothing raises.

    Args:
        language: of the texts.
        clipboard: the program that reads it, or else what to do to have one.
    """
    doctor = _Doctor(language)
    for name, look in doctor.looks(clipboard):
        try:
            state, text = look()
        except AssistantError as error:
            state, text = "missing", error.message("zh" if language == "zh" else "en")
        except Exception as error:  # a doctor that dies of what it finds is of no use
            state, text = "missing", f"{type(error).__name__}: {error}"
        yield Part(name, state, text)


Look = Callable[[], tuple[State, str]]


class _Doctor:
    def __init__(self, language: str) -> None:
        self._language = language

    def looks(self, clipboard: Callable[[], tuple[str, str]]) -> Iterator[tuple[str, Look]]:
        """The parts in the order in which they are told."""
        looks: tuple[Look, ...] = (
            self._python, self._packages, self._extras, self._cards,
            lambda: self._folder(cache_folder(), "XDG_CACHE_HOME"),
            lambda: self._folder(settings().data_dir, "ASSISTANT_DATA_DIR"),
            self._search, self._chroma, self._database, self._model, self._tokens,
            lambda: self._clipboard(clipboard), self._webhooks,
        )  # fmt: skip
        return zip(PARTS, looks, strict=True)

    def _say(self, key: str, **values: Any) -> str:
        return say(f"doctor.{key}", self._language, **values)

    # -- this machine --------------------------------------------------------------------------------------------------
    def _python(self) -> tuple[State, str]:
        version = ".".join(map(str, sys.version_info[:3]))
        from assistant import __version__

        return "ok", self._say("python", version=version, own=__version__)

    def _packages(self) -> tuple[State, str]:
        wanted = [name for name, extra in requirements() if extra is None]
        absent = [name for name in wanted if not installed(name)]
        if absent:
            return "missing", self._say("packages_missing", names=", ".join(absent))
        return "ok", self._say("packages", n=len(wanted))

    def _extras(self) -> tuple[State, str]:
        extras = [(name, extra) for name, extra in requirements() if extra is not None]
        there = [name for name, _ in extras if installed(name)]
        absent = [f"{PACKAGE}[{extra}]" for name, extra in extras if not installed(name)]
        state: State = "note" if absent else "ok"
        return state, self._say("extras", there=", ".join(there) or "–", absent=", ".join(absent) or "–")

    def _cards(self) -> tuple[State, str]:
        from assistant.service.facade import service

        try:
            count = len(service().resolver.library)
        except (AssistantError, OSError) as error:
            why = (
                error.message("zh" if self._language == "zh" else "en") if isinstance(error, AssistantError) else error
            )
            return "missing", self._say("cards_broken", why=why)
        if problems := service().problems:
            told = problems[0].message("zh" if self._language == "zh" else "en")
            return "missing", self._say("documents", why=told)
        return "ok", self._say("cards", n=count)

    def _folder(self, folder: Path, variable: str) -> tuple[State, str]:
        """Whether a file can be made there."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder):
                pass
        except OSError as error:
            why = error.strerror or type(error).__name__
            return "missing", self._say("folder_bad", path=folder, why=why, variable=variable)
        return "ok", self._say("folder", path=folder)

    def _search(self) -> tuple[State, str]:
        from assistant.service.facade import service

        try:
            found = service().search(QUERY, k=1)
        except Exception as error:
            why = " ".join(str(error).split())[:160] or type(error).__name__
            return "missing", self._say("index_bad", why=why, path=cache_folder() / "search")
        if notices := service().notices:
            why = notices[-1].text(self._language)
            return "missing", self._say("index_bad", why=why, path=cache_folder() / "search")
        return "ok", self._say("index", query=QUERY, found=found[0]["card"] if found else "–")

    def _tokens(self) -> tuple[State, str]:
        import hashlib

        folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
        places = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
        if any((places / hashlib.sha1(address.encode()).hexdigest()).is_file() for address in RANKS):
            return "ok", self._say("tokens")
        return "note", self._say("tokens_none")

    def _clipboard(self, clipboard: Callable[[], tuple[str, str]]) -> tuple[State, str]:
        program, advice = clipboard()
        return ("ok", self._say("clipboard", program=program)) if program else ("note", advice)

    def _webhooks(self) -> tuple[State, str]:
        kinds = [hook.kind for hook in settings().webhooks]
        if not kinds:
            return "note", self._say("webhooks_none")
        return "ok", self._say("webhooks", kinds=", ".join(kinds))

    # -- servers -------------------------------------------------------------------------------------------------------
    def _chroma(self) -> tuple[State, str]:
        url = settings().chroma_url
        return ("ok", self._say("chroma_own")) if not url else self._listening(url, 8000, "ASSISTANT_CHROMA_URL")

    def _database(self) -> tuple[State, str]:
        url = settings().storing.database_url
        if not url:
            return "ok", self._say("database", path=settings().data_dir / "sessions.db")
        if url.startswith("sqlite"):
            path = Path(url.partition("///")[2])
            state, text = self._folder(path.parent, "ASSISTANT_DATABASE_URL")
            return (state, self._say("database", path=path)) if state == "ok" else (state, text)
        return self._listening(url, 5432, "ASSISTANT_DATABASE_URL")

    def _listening(self, url: str, port: int, variable: str) -> tuple[State, str]:
        """Whether something listens at an address; no name or password of it is told."""
        parts = urlsplit(url)
        host = parts.hostname or "localhost"
        number = parts.port or port
        try:
            with socket.create_connection((host, number), PATIENCE_S):
                return "ok", self._say("reachable", host=f"{host}:{number}")
        except OSError as error:
            why = error.strerror or type(error).__name__
            return "missing", self._say("unreachable", host=f"{host}:{number}", why=why, variable=variable)

    def _model(self) -> tuple[State, str]:
        """Asks the server for its list of models, which costs nothing."""
        models = settings().models
        if not models:
            return "note", self._say("model_none")
        import httpx

        first = models[0]
        base = (first.base_url or OPENAI).rstrip("/")
        host = urlsplit(base).netloc.rpartition("@")[2]
        headers = {"Authorization": f"Bearer {first.api_key}"} if first.api_key else {}
        try:
            answer = httpx.get(f"{base}/models", headers=headers, timeout=PATIENCE_S)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = type(error).__name__
            return "missing", self._say("unreachable", host=host, why=why, variable="ASSISTANT_LLM_BASE_URL")
        if answer.status_code in {401, 403}:
            return "missing", self._say("model_refused", host=host, status=answer.status_code)
        try:
            listed = [str(entry["id"]) for entry in answer.json()["data"]]
        except (ValueError, KeyError, TypeError):
            return "note", self._say("model_unlisted", host=host, status=answer.status_code, model=first.model)
        if first.model in listed:
            return "ok", self._say("model", model=first.model, host=host)
        others = ", ".join(listed[:3]) or "–"
        return "missing", self._say("model_other", host=host, model=first.model, others=others)


def requirements() -> list[tuple[str, str | None]]:
    """What this package needs: names, and the extra that each belongs to."""
    try:
        lines = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return []
    found = []
    for line in lines:
        name = re.match(r"[\w.-]+", line)
        extra = re.search(r"""extra\s*==\s*['"]([\w-]+)['"]""", line)
        if name is not None:
            found.append((name[0], None if extra is None else extra[1]))
    return found


def installed(name: str) -> bool:
    """Whether a package is installed."""
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
