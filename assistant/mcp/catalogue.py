"""The tools as a client sees them: names, descriptions and JSON Schemas, put together from ``tools.json``.

JSON rather than YAML, and no model classes: the list is the first thing that a client waits for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from assistant import resources

#: All tools only read, give the same for the same, and ask nobody else.
ANNOTATIONS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: Fields of the report of a check (:class:`assistant.service.checking.Report`) and their definitions.
_REPORT = {
    "verdict": {"$ref": "#/$defs/verdict"},
    "language": {"enum": ["zh", "en"]},
    "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
    "facts": {"type": "array", "items": {"$ref": "#/$defs/fact"}},
    "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}},
    "report": {"type": "string"},
    "warnings": {"type": "array", "items": {"type": "string"}},
}


@lru_cache(maxsize=1)
def catalogue() -> dict[str, Any]:
    """The data file."""
    loaded: dict[str, Any] = json.loads(Path(__file__).with_name("tools.json").read_text(encoding="utf-8"))
    return loaded


@lru_cache(maxsize=1)
def tools() -> tuple[dict[str, Any], ...]:
    """The tools as ``tools/list`` gives them."""
    return tuple(_tool(entry) for entry in catalogue()["tools"])


@lru_cache(maxsize=1)
def by_name() -> dict[str, dict[str, Any]]:
    """Name → tool."""
    return {tool["name"]: tool for tool in tools()}


def instructions() -> str:
    """What a model should know before it calls anything."""
    text: str = catalogue()["instructions"]
    return text


def _tool(entry: Mapping[str, Any]) -> dict[str, Any]:
    shared = catalogue()["shared"]
    properties: dict[str, Any] = {}
    parts = list(entry["with"])
    for part in [part for part in parts if part == "source"]:
        properties |= shared[part]
    properties |= entry["properties"]
    for part in [part for part in parts if part != "source"]:
        properties |= shared[part]
    return {
        "name": entry["name"],
        "title": entry["title"],
        "description": entry["description"],
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": list(entry.get("required", ())),
            "additionalProperties": False,
        },
        "outputSchema": _output(entry["output"]),
        "annotations": {"title": entry["title"], **ANNOTATIONS},
    }


def _output(given: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a reply: the answer's, the report's or one of its own, with the handle and what was left out."""
    schema: dict[str, Any] = {"$schema": DIALECT, "type": "object", "properties": {}, "required": []}
    defs = list(given.get("defs", ()))
    if given.get("answer"):
        path = resources.PACKAGE / "schemas" / "answer.schema.json"
        schema = json.loads(path.read_text(encoding="utf-8"))
        schema.pop("$id", None)  # two tools' schemas must not claim one name
    elif given.get("report"):
        schema["properties"] |= _REPORT
        schema["required"] += list(_REPORT)
        defs += ["verdict", "finding", "fact", "run"]
    schema["properties"] |= given.get("properties", {})
    schema["required"] += given.get("required", [])
    reply = catalogue()["reply"]
    for name in ("log", "left_out"):
        if given.get(name, True):
            schema["properties"][name] = reply[name]
            schema["required"].append(name)
    if defs:
        schema["$defs"] = {name: catalogue()["definitions"][name] for name in dict.fromkeys(defs)}
    return schema
