"""Reading the YAML files of this package, with errors that name the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assistant import resources
from assistant.model import KnowledgeError


def read_yaml(path: Path) -> Any:
    """A file's contents.

    Raises:
        KnowledgeError: it is no YAML; names file and line.
    """
    try:
        return resources.yaml_table(path)
    except Exception as error:
        import yaml  # only where it is needed: it takes its time to load

        if not isinstance(error, yaml.YAMLError):
            raise
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f":{mark.line + 1}"
        what = getattr(error, "problem", None) or "cannot be read"
        raise KnowledgeError(
            zh=f"{path.name}{line} 不是合法的 YAML：{what}。", en=f"{path.name}{line} is no valid YAML: {what}."
        ) from None
