"""Sentences of the answers: YAML files in ``prompts/phrases``, Chinese and English side by side.

A phrase holds fields such as ``{score}``, ``{change.delta}`` or ``{gpus:integer}``: a fact's name, what of it
is shown, and how; ``{count|step|steps}`` chooses a word by number. Both languages of a phrase must show the same
fields, which is checked on loading.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from assistant import resources
from assistant.model import KnowledgeError

#: ``{count|step|steps}``: the first word where the fact is 1, else the second.
PLURAL = re.compile(r"\{(\w+)\|([^|{}]*)\|([^|{}]*)\}")
FIELD = re.compile(r"\{(\w+)(?:\.(\w+))?(?::(\w+))?\}")


class Phrases:
    """Phrases by key and language."""

    def __init__(self, table: dict[str, dict[str, str]]) -> None:
        self.table = table

    def get(self, key: str, language: str) -> str:
        """A phrase; raises :class:`KnowledgeError` naming the key if there is none."""
        try:
            return self.table[key][language]
        except KeyError:
            raise KnowledgeError(zh=f"缺少短语 {key}（{language}）。", en=f"no phrase {key} ({language}).") from None

    def __contains__(self, key: str) -> bool:
        return key in self.table


def read_phrases(folder: Path) -> dict[str, dict[str, str]]:
    """All phrases of a folder.

    Raises:
        KnowledgeError: a key stands twice, a language is missing, or the two languages show different fields.
    """
    table: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("*.yaml")):
        for key, entry in resources.yaml_table(path).items():
            where = f"{path.name}: {key}"
            if key in table:
                raise KnowledgeError(zh=f"{where} 重复。", en=f"{where} stands twice.")
            if set(entry) != {"zh", "en"}:
                raise KnowledgeError(zh=f"{where} 应恰有 zh 与 en。", en=f"{where} needs zh and en, no more.")
            fields = {lang: {m[1] + (m[2] or "") for m in FIELD.finditer(entry[lang])} for lang in entry}
            if fields["zh"] != fields["en"]:
                odd = fields["zh"] ^ fields["en"]
                raise KnowledgeError(zh=f"{where}：两种语言的字段不同：{odd}", en=f"{where}: fields differ: {odd}")
            table[key] = {lang: text.strip() for lang, text in entry.items()}
    return table


@lru_cache(maxsize=2)
def phrases() -> Phrases:
    """The shipped phrases, read once a process."""
    return Phrases(read_phrases(resources.data_folder("prompts") / "phrases"))
