"""Prompts as data: ``prompts/mcp/prompts.yaml``, checked when they are read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.model import InputError, KnowledgeError
from assistant.resources import data_folder

if TYPE_CHECKING:
    import mcp_types as types

#: Characters of one argument; a longer log belongs into a file.
LONGEST = 200_000
_NAME = re.compile(r"\{([a-z_]+)\}")
_KEYS = {"name", "title", "description", "arguments", "text"}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a prompt."""

    name: str
    description: str
    required: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: text in which ``{name}`` stands for an argument."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: str

    def listed(self) -> types.Prompt:
        """The prompt as ``prompts/list`` gives it."""
        import mcp_types as types

        return types.Prompt(
            name=self.name, title=self.title, description=self.description,
            arguments=[
                types.PromptArgument(name=one.name, description=one.description, required=one.required)
                for one in self.arguments
            ],
        )  # fmt: skip

    def filled(self, given: Mapping[str, str]) -> types.GetPromptResult:
        """The prompt as a message.

        Raises:
            InputError: an argument is missing, unknown or too long.
        """
        import mcp_types as types

        known = {one.name for one in self.arguments}
        missing = [one.name for one in self.arguments if one.required and not given.get(one.name, "").strip()]
        odd = sorted(set(given) - known)
        long = [name for name, value in given.items() if len(value) > LONGEST]
        if missing or odd or long:
            wrong = ", ".join(missing or odd or long)[:200]
            zh, en = (
                ("缺少参数", "missing")
                if missing
                else ("没有参数", "no such argument")
                if odd
                else ("太长", "too long")
            )
            raise InputError(zh=f"{self.name}：{zh} {wrong}。", en=f"{self.name}: {en}: {wrong}.")
        lines = []
        for line in self.text.split("\n"):
            names = _NAME.findall(line)
            if names and not any(given.get(name, "").strip() for name in names):
                continue
            lines.append(_NAME.sub(lambda match: given.get(match[1], ""), line))
        content = types.TextContent(type="text", text="\n".join(lines))
        return types.GetPromptResult(
            description=self.description, messages=[types.PromptMessage(role="user", content=content)]
        )


@lru_cache(maxsize=1)
def prompts() -> dict[str, Prompt]:
    """Name → prompt, in the order of the file."""
    return read_prompts(data_folder("prompts") / "mcp" / "prompts.yaml")


def read_prompts(path: Path) -> dict[str, Prompt]:
    """A file of prompts.

    Raises:
        KnowledgeError: a prompt lacks a field, or its text names an argument that it does not have; names the place.
    """
    import yaml

    found: dict[str, Prompt] = {}
    for place, entry in enumerate(yaml.safe_load(path.read_text(encoding="utf-8"))):
        where = f"{path.name}: {entry.get('name', place) if isinstance(entry, dict) else place}"
        if not isinstance(entry, dict) or entry.keys() != _KEYS:
            raise _broken(where, f"a prompt has the fields {', '.join(sorted(_KEYS))}")
        arguments = tuple(_argument(where, given) for given in entry["arguments"])
        used, known = set(_NAME.findall(entry["text"])), {argument.name for argument in arguments}
        if used != known:
            raise _broken(where, f"arguments and text differ in {', '.join(sorted(used ^ known))}")
        if entry["name"] in found:
            raise _broken(where, "the name is used twice")
        found[entry["name"]] = Prompt(
            entry["name"], entry["title"], entry["description"], arguments, entry["text"]
        )  # fmt: skip
    return found


def _argument(where: str, given: Any) -> Argument:
    try:
        return Argument(**given)
    except TypeError:
        raise _broken(where, "an argument has name, description, required") from None


def _broken(where: str, what: str) -> KnowledgeError:
    return KnowledgeError(zh=f"{where}：{what}", en=f"{where}: {what}")
