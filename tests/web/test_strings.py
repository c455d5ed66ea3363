"""The interface's words: both languages whole, every word used and every used word there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import assistant.web

STATIC = Path(assistant.web.__file__).parent / "static"
ZH, EN = (
    json.loads((STATIC / "strings" / f"{language}.json").read_text(encoding="utf-8")) for language in ("zh", "en")
)
PLURAL = re.compile(r"\.(one|other)$")


def bases(table: dict[str, str]) -> set[str]:
    return {PLURAL.sub("", key) for key in table}


def fields(table: dict[str, str], base: str) -> set[str]:
    texts = [text for key, text in table.items() if PLURAL.sub("", key) == base]
    return {name for text in texts for name in re.findall(r"\{(\w+)\}", text)}


def scripts() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((STATIC / "js").glob("*.js")))


def test_strings_both_languages_have_the_same_keys() -> None:
    assert bases(ZH) == bases(EN)
    assert all(f"{base}.other" in EN for base in bases(EN) if f"{base}.one" in EN)


@pytest.mark.parametrize("base", sorted(bases(EN)))
def test_strings_fields_agree_in_both_languages(base: str) -> None:
    assert fields(ZH, base) == fields(EN, base)
    assert all(text.strip() for key, text in {**ZH, **EN}.items() if PLURAL.sub("", key) == base)


def test_strings_chinese_is_chinese_and_english_is_not() -> None:
    same = {key for key in ZH if key in EN and ZH[key] == EN[key]}
    assert all(len(EN[key]) <= 12 for key in same), same  # names such as JSON, Markdown, step
    assert not [key for key, text in EN.items() if re.search(r"[\u4e00-\u9fff]", text)]


def test_strings_every_key_that_is_used_is_there() -> None:
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    used = set(re.findall(r'data-t(?:-label|-placeholder)?="([\w.]+)"', html))
    used |= set(re.findall(r'\bt\(\s*"([\w.]+)"', scripts()))
    assert len(used) > 100
    assert used - bases(EN) == set()


def test_strings_every_key_is_used() -> None:
    text = scripts() + (STATIC / "index.html").read_text(encoding="utf-8")
    made = re.findall(r"\bt\(`([\w.]+)\$\{", text)  # t(`severity.${…}`)
    unused = [
        base for base in bases(EN) if f'"{base}"' not in text and not any(base.startswith(prefix) for prefix in made)
    ]
    assert unused == []
