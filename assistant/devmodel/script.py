"""What a scripted model replies to which request: rules in YAML, checked when they are read."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

_HERE = Path(__file__).parent


class ScriptError(ValueError):
    """A script that cannot be used; the message names the place."""


@dataclass(frozen=True)
class Step:
    """One reply: what it says, how fast, and in which way it fails. The schema describes each field."""

    text: str | None = None
    behave: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    finish: str | None = None
    usage: bool = True
    delay: float = 0.0
    rate: float | None = None
    chunk: int = 12
    split_bytes: bool = False
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    body: str | None = None
    content_type: str | None = None
    hang: bool = False
    reset: bool = False
    garbage: bool = False
    cut_after: int | None = None
    stall_after: int | None = None
    shape: str | None = None


@dataclass(frozen=True)
class Rule:
    """A reply and the requests it is for; ``times`` bounds how often it serves."""

    then: Step
    when: Mapping[str, Any] = field(default_factory=dict)
    times: int | None = None

    def matches(self, request: Mapping[str, Any]) -> bool:
        """Whether the reply is for this request body."""
        texts = [message_text(message) for message in messages_of(request)]
        found: dict[str, bool] = {
            "contains": any(re.search(str(self.when.get("contains", "")), text) for text in texts),
            "last": bool(texts) and re.search(str(self.when.get("last", "")), texts[-1]) is not None,
            "tools": bool(request.get("tools")) == self.when.get("tools"),
            "called": sum(m.get("role") == "tool" for m in messages_of(request)) == self.when.get("called"),
            "stream": bool(request.get("stream")) == self.when.get("stream"),
            "model": re.search(str(self.when.get("model", "")), str(request.get("model", ""))) is not None,
        }
        return all(found[name] for name in self.when)


class Script:
    """Rules in order; the first that matches and has not served often enough replies."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        self._served = [0] * len(self.rules)
        self._lock = threading.Lock()

    def reply(self, request: Mapping[str, Any]) -> Step | None:
        """The reply to a request body, ``None`` where no rule is left."""
        with self._lock:
            for place, rule in enumerate(self.rules):
                if (rule.times is None or self._served[place] < rule.times) and rule.matches(request):
                    self._served[place] += 1
                    return rule.then
        return None


def messages_of(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages of a chat request, or of a Responses request put into that shape."""
    found = request.get("messages", request.get("input", ()))
    if isinstance(found, str):
        return [{"role": "user", "content": found}]
    return [message for message in found if isinstance(message, Mapping)] if isinstance(found, Sequence) else []


def message_text(message: Mapping[str, Any]) -> str:
    """The text of a message, its parts joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, Mapping))


def load_script(text: str, name: str = "script") -> Script:
    """Reads a script.

    Args:
        text: YAML with ``rules``; the schema is ``script.schema.json``.
        name: for error messages.

    Raises:
        ScriptError: it is no YAML, or breaks the schema.
    """
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ScriptError(f"{name}: not YAML: {error}") from error
    return _script(data, name)


def builtin_names() -> dict[str, str]:
    """The scripts that are shipped: name → what it does."""
    return {name: str(entry["about"]) for name, entry in _shipped().items()}


def builtin(name: str) -> Script:
    """A shipped script, such as ``echo`` or ``rate_limited``.

    Raises:
        ScriptError: there is none of this name.
    """
    if name not in _shipped():
        raise ScriptError(f"no script is called {name!r}; there are: {', '.join(_shipped())}")
    return _script(_shipped()[name], name)


@lru_cache(maxsize=1)
def _shipped() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((_HERE / "scripts.yaml").read_text(encoding="utf-8"))
    return loaded


def _script(data: Any, name: str) -> Script:
    from jsonschema import Draft202012Validator

    schema = json.loads((_HERE / "script.schema.json").read_text(encoding="utf-8"))
    for error in Draft202012Validator(schema).iter_errors(data):
        raise ScriptError(f"{name}: {'/'.join(map(str, error.absolute_path)) or 'top'}: {error.message}")
    rules = []
    for place, entry in enumerate(data["rules"]):
        for field_name in ("contains", "last", "model"):
            try:
                re.compile(entry.get("when", {}).get(field_name, ""))
            except re.error as error:
                raise ScriptError(f"{name}: rules/{place}/when/{field_name}: {error}") from error
        step = dict(entry["then"])
        if "tool_calls" in step:
            step["tool_calls"] = tuple(step["tool_calls"])
        rules.append(Rule(Step(**step), entry.get("when", {}), entry.get("times")))
    return Script(rules)
