"""Words by name from a table of regular expressions beside the module that reads them (``portions.yaml``)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from assistant import resources
from assistant.model import KnowledgeError


@lru_cache(maxsize=8)
def words(name: str) -> Mapping[str, re.Pattern[str]]:
    """The patterns of ``assistant/ask/<name>.yaml``, case ignored.

    Raises:
        KnowledgeError: an entry is no regular expression.
    """
    path = Path(__file__).with_name(f"{name}.yaml")
    found = {}
    for entry, pattern in resources.yaml_table(path).items():
        try:
            found[str(entry)] = re.compile(pattern, re.IGNORECASE)
        except (re.error, TypeError) as error:
            raise KnowledgeError(
                zh=f"{path.name}：{entry} 不是正则表达式：{error}。", en=f"{path.name}: {entry} is no pattern: {error}."
            ) from None
    return found
