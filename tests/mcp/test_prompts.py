"""Prompts as data: a file that is not right is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.mcp.catalogue import by_name
from assistant.mcp.prompts import prompts, read_prompts
from assistant.model import KnowledgeError

GOOD = """
- name: a
  title: A
  description: about
  arguments: [{name: log, description: the log, required: true}]
  text: "Log: {log}"
"""


def test_prompts_shipped_come_in_pairs_with_the_same_arguments() -> None:
    names = [name for name in prompts() if not name.endswith("_zh")]
    assert len(prompts()) == 2 * len(names) == 6
    for name in names:
        one, other = prompts()[name], prompts()[f"{name}_zh"]
        assert [a.name for a in one.arguments] == [a.name for a in other.arguments]
        for prompt in (one, other):
            assert any(f"`{tool}`" in prompt.text for tool in by_name())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("  title: A\n", "", "fields"), ("{log}", "{logg}", "log"), ("required: true", "needed: true", "argument"),
        ("- name: a", "- nam: a", "fields"), ("text:", "extra: 1\n  text:", "fields"),
    ],
)  # fmt: skip
def test_read_prompts_of_a_broken_file_names_the_place(old: str, new: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "prompts.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert list(read_prompts(path)) == ["a"]
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(KnowledgeError, match=told) as error:
        read_prompts(path)
    assert "prompts.yaml" in error.value.en


def test_read_prompts_of_one_name_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "prompts.yaml"
    path.write_text(GOOD * 2, encoding="utf-8")
    with pytest.raises(KnowledgeError, match="twice"):
        read_prompts(path)
