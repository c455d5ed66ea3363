"""Phrases: both languages alike, none missing, none left over."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import assistant
from assistant.model import KnowledgeError
from assistant.resources import data_folder
from assistant.write.phrases import FIELD, PLURAL, Phrases, phrases, read_phrases

PACKAGE = Path(assistant.__file__).parent
TABLE = read_phrases(data_folder("prompts") / "phrases")
KEYS = sorted(TABLE)
SPACES = {key.partition(".")[0] for key in KEYS}
STYLES = {"integer", "digits4", "points", "number", "fraction", "seconds", "tokens", "rate"}
BLANK = "\0"


def strings() -> Iterator[tuple[str, str]]:
    """Every string of the package, with where; a field of an f-string is ``BLANK``."""
    for path in sorted(path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in ast.walk(tree):
            where = f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
                yield node.value, where
            elif isinstance(node, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else BLANK for p in node.values)
                yield "".join(map(str, parts)), where


def keys_in_code() -> dict[str, str]:
    """Phrase keys (or patterns with ``BLANK``) that the code names, and where."""
    shape = re.compile(rf"({'|'.join(map(re.escape, SPACES))})(\.[a-z0-9_{BLANK}]+)?")
    found = {text: where for text, where in strings() if shape.fullmatch(text)}
    files = (".json", ".yaml")
    return {t: where for t, where in found.items() if t in TABLE or ("." in t and not t.endswith(files))}


NAMED = keys_in_code()
#: Ends of f-strings that begin with a field: ``f"{phrase}_m"`` names every phrase so called beside the one without.
ENDS = {text[1:] for text, _ in strings() if re.fullmatch(f"{BLANK}_[a-z]+", text)}
#: Written, and shown nowhere (yet); to be deleted or used.
NOT_SHOWN: set[str] = set()


def fields_of(text: str) -> set[tuple[str, str | None]]:
    return {(match[1], match[2]) for match in FIELD.finditer(text)}


def test_phrases_named_in_code_exist() -> None:
    missing = {}
    for text, where in NAMED.items():
        pattern = re.compile(re.escape(text).replace(re.escape(BLANK), "[a-z0-9_]+"))
        if not any(pattern.fullmatch(key) for key in KEYS):
            missing[text] = where
    assert missing == {}


def test_phrases_written_are_named_in_code() -> None:
    shapes = [re.compile(re.escape(text).replace(re.escape(BLANK), "[a-z0-9_]+")) for text in NAMED]
    named = {key for key in KEYS if any(shape.fullmatch(key) for shape in shapes)}
    named |= {stem + end for stem in named for end in ENDS}
    unused = set(KEYS) - named
    assert unused <= NOT_SHOWN


@pytest.mark.parametrize("key", KEYS)
def test_phrase_has_the_same_fields_in_both_languages(key: str) -> None:
    assert fields_of(TABLE[key]["zh"]) == fields_of(TABLE[key]["en"])
    assert TABLE[key]["zh"]
    assert TABLE[key]["en"]


@pytest.mark.parametrize("key", KEYS)
def test_phrase_styles_are_known(key: str) -> None:
    for language in ("zh", "en"):
        assert {match[3] for match in FIELD.finditer(TABLE[key][language])} - {None} <= STYLES


@pytest.mark.parametrize("key", KEYS)
def test_phrase_has_no_brace_that_is_no_field(key: str) -> None:
    for text in TABLE[key].values():
        rest = FIELD.sub("", PLURAL.sub("", text))
        assert "{" not in rest.replace("{mean,max,min}", "")
        assert "}" not in rest.replace("{mean,max,min}", "")


@pytest.mark.parametrize("key", KEYS)
def test_phrase_in_chinese_uses_chinese_stops(key: str) -> None:
    text = re.sub(r"`[^`]*`|\{[^}]*\}", "x", TABLE[key]["zh"])
    assert re.search(r"[\u3400-\u9fff][,;:?!]|[\u3400-\u9fff]\.(?!\w)", text) is None


def test_phrases_of_the_package_are_these() -> None:
    assert phrases().table == TABLE
    assert "scope.out" in phrases()
    assert "no.such_phrase" not in phrases()


@pytest.mark.parametrize(("key", "language"), [("no.such_phrase", "en"), ("scope.out", "fr")])
def test_phrases_get_unknown_raises_naming_it(key: str, language: str) -> None:
    with pytest.raises(KnowledgeError, match=rf"{key} \({language}\)") as caught:
        phrases().get(key, language)
    assert key in caught.value.message("zh")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.yaml": 'x.a: {zh: "{n} 步", en: "steps"}'}, r"a\.yaml: x\.a: fields differ"),
        ({"a.yaml": 'x.a: {zh: "{n}", en: "{n.step}"}'}, r"a\.yaml: x\.a: fields differ"),
        ({"a.yaml": 'x.a: {zh: "好"}'}, r"a\.yaml: x\.a needs zh and en"),
        ({"a.yaml": 'x.a: {zh: "好", en: "good", fr: "bon"}'}, r"a\.yaml: x\.a needs zh and en"),
        ({"a.yaml": 'x.a: {zh: "好", en: "a"}', "b.yaml": 'x.a: {zh: "好", en: "b"}'}, r"b\.yaml: x\.a stands twice"),
    ],
)  # fmt: skip
def test_read_phrases_broken_file_raises_naming_file_and_key(
    tmp_path: Path, files: dict[str, str], message: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=message):
        read_phrases(tmp_path)


def test_read_phrases_styles_may_differ_between_languages(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text('x.a: {zh: "{n:integer} 步", en: "{n} {n|step|steps}"}', encoding="utf-8")
    table = Phrases(read_phrases(tmp_path))
    assert table.get("x.a", "en") == "{n} {n|step|steps}"
