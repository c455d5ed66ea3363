"""Cards: valid, alike in both languages, and kept in a cache that may be lost."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from assistant.knowledge import Card, Library, cards, library
from assistant.knowledge.cards import (
    SECTION_NAMES,
    SECTIONS,
    cache_folder,
    parse_card,
    read_cards,
)
from assistant.model import KnowledgeError
from assistant.resources import data_folder

ALL = sorted(library(), key=lambda card: card.id)
BY_ID = [pytest.param(card, id=card.id) for card in ALL]

GOOD = """---
id: mine/loss
framework: mine
title: {zh: 损失, en: Loss}
short: {zh: 损失, en: the loss}
keys: [mine/loss]
category: loss
unit: nats
direction: lower_better
formula: "-log p"
present_when: {zh: 总是, en: always}
sources: [{ref: here}]
---

## zh

### 是什么

损失。

## en

### What it is

The loss.
"""


def numbers_of(text: str) -> set[str]:
    """Numbers that the text states; names and code are left out."""
    text = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)", " ", text)
    return set(re.findall(r"(?<![A-Za-z0-9_@.])\d+(?:,\d{3})*(?:\.\d+)?(?=th\b|(?![A-Za-z0-9_@]))", text))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "cards"
    path.mkdir()
    (path / "loss.md").write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture
def fresh() -> Any:
    """``library`` without what the process remembers; the shipped cards are read again afterwards."""
    library.cache_clear()
    yield library
    library.cache_clear()


# --- the shipped cards -----------------------------------------------------------------------------------


def test_read_cards_shipped_folder_is_valid() -> None:
    assert set(read_cards(data_folder("knowledge"))) == {card.id for card in ALL}
    assert len(ALL) > 100


@pytest.mark.parametrize("card", BY_ID)
def test_card_has_the_same_sections_in_both_languages(card: Card) -> None:
    assert set(card.body) == {"zh", "en"}
    assert set(card.body["zh"]) == set(card.body["en"]) <= set(SECTION_NAMES)


@pytest.mark.parametrize("card", BY_ID)
def test_card_states_the_same_numbers_in_both_languages(card: Card) -> None:
    for name in card.body["zh"]:
        assert numbers_of(card.section("zh", name)) == numbers_of(card.section("en", name)), name
    assert numbers_of(card.short("zh")) == numbers_of(card.short("en"))


@pytest.mark.parametrize("card", BY_ID)
def test_card_names_the_same_keys_in_both_languages(card: Card) -> None:
    for name in card.body["zh"]:
        spans = [set(re.findall(r"`([^`]+)`", card.section(language, name))) for language in ("zh", "en")]
        assert spans[0] == spans[1], name


@pytest.mark.parametrize("card", BY_ID)
def test_card_related_cards_exist(card: Card) -> None:
    assert [name for name in card.meta.get("related", ()) if library().get(name) is None] == []


@pytest.mark.parametrize("card", BY_ID)
def test_card_is_written_in_its_languages(card: Card) -> None:
    assert all(re.search(r"[\u3400-\u9fff]", text) for text in card.body["zh"].values())
    assert not any(re.search(r"[\u3400-\u9fff]", text) for text in card.body["en"].values())


@pytest.mark.parametrize("card", BY_ID)
def test_card_healthy_range_names_its_source(card: Card) -> None:
    healthy = card.meta.get("healthy")
    assert healthy is None or healthy["source"]
    low, high = card.meta.get("range") or (None, None)
    assert low is None or high is None or low < high


def test_cards_no_key_of_a_framework_has_two_cards() -> None:
    owners: dict[tuple[str, str], list[str]] = {}
    for card in ALL:
        for key in card.keys:
            owners.setdefault((card.framework, key.lower()), []).append(card.id)
    assert {key: ids for key, ids in owners.items() if len(ids) > 1} == {}


def test_card_sections_and_json_say_the_same() -> None:
    card = library().get("verl/actor/ppo_kl")
    assert card is not None
    assert [title for title, _ in card.sections("en")] == list(SECTIONS["en"])
    document = card.to_json()
    assert document["card"] == card.id
    assert document["text"]["zh"]["是什么"] == card.section("zh", "is")
    assert "verl-project/verl@" in document["source"]


# --- broken cards ----------------------------------------------------------------------------------------


def test_read_cards_good_card_is_read(folder: Path) -> None:
    card = Library(
        {k: Card(k, "mine", ("mine/loss",), (), v["meta"], v["body"]) for k, v in read_cards(folder).items()}
    )
    found = card.get("mine/loss")
    assert found is not None
    assert (found.kind, found.unit, found.direction, found.source) == ("number", "nats", "lower_better", "here")
    assert found.section("en", "is") == "The loss."
    assert found.section("en", "read") == ""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("---\nid", "id", r"loss\.md: no YAML front matter"),
        ("{zh: 损失, en: Loss}", "{zh: 损失, en: Loss", r"loss\.md: bad YAML"),
        ("direction: lower_better", "direction: downwards", r"loss\.md: direction: 'downwards'"),
        ("keys: [mine/loss]", "keys: []", r"loss\.md: keys: "),
        ("unit: nats\n", "", r"loss\.md: \(top\): 'unit' is a required property"),
        ("unit: nats", "unit: nats\nunits: nats", r"loss\.md: \(top\): .*units"),
        ("title: {zh: 损失, en: Loss}", "title: {zh: 损失}", r"loss\.md: title: 'en' is a required"),
        ("### What it is", "### What is it", r"loss\.md: unknown section “What is it”"),
        ("## en\n\n### What it is\n\nThe loss.\n", "", r"loss\.md: section “What it is” is missing"),
        ("### 是什么", "### 怎么读", r"loss\.md: section “是什么” is missing"),
        ("id: mine/loss", "id: Mine Loss", r"loss\.md: id: "),
    ],
)  # fmt: skip
def test_read_cards_broken_card_raises_naming_file_and_field(folder: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    (folder / "loss.md").write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(KnowledgeError, match=message) as caught:
        read_cards(folder)
    assert "loss.md" in caught.value.message("zh")


def test_read_cards_same_id_twice_raises_naming_the_second(folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "again.md").write_text(GOOD, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r"again\.md: id mine/loss stands twice"):
        read_cards(folder)


def test_parse_card_words_in_other_headings_stay_in_the_section() -> None:
    raw = parse_card(GOOD.replace("The loss.", "The loss.\n\n#### Note\n\nMore."), "x.md")
    assert raw["body"]["en"]["is"] == "The loss.\n\n#### Note\n\nMore."


# --- cache -----------------------------------------------------------------------------------------------


def cached() -> list[Path]:
    return sorted(cache_folder().glob("cards-*.json"))


def test_library_first_reading_leaves_a_cache_and_no_litter(folder: Path, fresh: Any) -> None:
    assert not cache_folder().exists()
    assert len(fresh(folder)) == 1
    (cache,) = cached()
    assert set(orjson.loads(cache.read_bytes())) == {"mine/loss"}
    assert list(cache_folder().iterdir()) == [cache]


def test_library_second_reading_takes_the_cache(folder: Path, fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh(folder)
    fresh.cache_clear()

    def never(_: Path) -> dict[str, Any]:
        pytest.fail("the cards were read again")

    monkeypatch.setattr(cards, "read_cards", never)
    assert fresh(folder).get("mine/loss").section("zh", "is") == "损失。"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"{}", b"not json at all"])
def test_library_corrupt_cache_is_rebuilt(folder: Path, fresh: Any, content: bytes) -> None:
    fresh(folder)
    (cache,) = cached()
    good = cache.read_bytes()
    cache.write_bytes(content)
    fresh.cache_clear()
    assert fresh(folder).get("mine/loss") is not None
    assert cache.read_bytes() == good


def test_library_changed_card_is_read_anew(folder: Path, fresh: Any) -> None:
    fresh(folder)
    (folder / "loss.md").write_text(GOOD.replace("The loss.", "The loss, changed."), encoding="utf-8")
    fresh.cache_clear()
    assert fresh(folder).get("mine/loss").section("en", "is") == "The loss, changed."


def test_library_cache_cannot_be_written_still_works(
    folder: Path, fresh: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocked = tmp_path / "a-file-where-the-folder-should-be"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert fresh(folder).get("mine/loss") is not None
    assert blocked.read_text(encoding="utf-8") == ""


def test_library_read_only_cache_folder_still_works(folder: Path, fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(cards.tempfile, "NamedTemporaryFile", refuse)
    assert fresh(folder).get("mine/loss") is not None
    assert cached() == []


def test_library_broken_card_leaves_no_cache(folder: Path, fresh: Any) -> None:
    (folder / "loss.md").write_text(GOOD.replace("unit: nats\n", ""), encoding="utf-8")
    with pytest.raises(KnowledgeError, match="unit"):
        fresh(folder)
    assert cached() == []
