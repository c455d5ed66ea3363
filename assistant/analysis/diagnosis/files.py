"""Reading the YAML files of this package, with errors that name the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assistant.model import KnowledgeError


def read_yaml(path: Path) -> Any:
    """A file's contents.

    Raises:
        KnowledgeError: it is no YAML; names file and line.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f":{mark.line + 1}"
        what = getattr(error, "problem", None) or "cannot be read"
        raise KnowledgeError(
            zh=f"{path.name}{line} 不是合法的 YAML：{what}。", en=f"{path.name}{line} is no valid YAML: {what}."
        ) from None
