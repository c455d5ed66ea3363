"""Cards: one Markdown file a metric family or concept, read, validated and cached.

A card is YAML front matter (held to ``card.schema.json``) and two bodies, ``## zh`` and ``## en``, each
with the same four sections. Reading some hundred YAML files costs more than answering a question, so the
parsed cards are kept as one JSON file in the user's cache folder, keyed by name, size and time of every
card; when the cache cannot be written everything still works, only slower.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import orjson

from assistant import resources
from assistant.knowledge.passages import Passage
from assistant.model import KnowledgeError
from assistant.resources import cache_folder

SECTIONS = {
    "zh": ("是什么", "怎么读", "不代表什么", "接下来看什么"),
    "en": ("What it is", "How to read it", "What it does not mean", "Look next"),
}
SECTION_NAMES = ("is", "read", "not", "next")
OWN = "own"
"""The framework of cards from a team's own documents."""

_CACHE_VERSION = "4"


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """One card; ``meta`` is its front matter, ``body`` maps language → section name → Markdown text.

    Section names are ``is``, ``read``, ``not`` and ``next``. A team's own card holds what its document states, in the
    language it was written in for both; ``inherited`` is what the shipped cards of the same key agree on beyond that,
    for computing with the numbers, never for telling what the metric is.
    """

    id: str
    framework: str
    keys: tuple[str, ...]
    names: tuple[str, ...]
    meta: Mapping[str, Any]
    body: Mapping[str, Mapping[str, str]]
    inherited: Mapping[str, Any] = field(default_factory=dict)

    @property
    def own(self) -> bool:
        """Whether it comes from a team's own document."""
        return self.framework == OWN

    def title(self, language: str) -> str:
        """The card's title."""
        return str(self.meta["title"][language])

    def short(self, language: str) -> str:
        """One line: what the number is."""
        return str(self.meta["short"][language])

    def section(self, language: str, name: str) -> str:
        """One section's Markdown, empty if the card has none."""
        return self.body.get(language, {}).get(name, "")

    def sections(self, language: str) -> list[tuple[str, str]]:
        """Titles and Markdown of the sections that the card has, in order."""
        titles = zip(SECTION_NAMES, SECTIONS[language], strict=True)
        return [(title, self.body[language][name]) for name, title in titles if self.body[language].get(name)]

    @property
    def kind(self) -> str:
        """How its numbers are shown: ``fraction``, ``seconds``, ``tokens`` … (``number`` if not said)."""
        return str(self.meta.get("kind") or self.inherited.get("kind", "number"))

    @property
    def unit(self) -> str:
        """Unit as the card states it, empty if it does not."""
        return str(self.meta.get("unit", ""))

    @property
    def formula(self) -> str:
        """Formula as the card states it, empty if it does not."""
        return str(self.meta.get("formula", ""))

    def present_when(self, language: str) -> str:
        """When the metric is logged, empty if the card does not say."""
        return str(self.meta.get("present_when", {}).get(language, ""))

    @property
    def bounds(self) -> list[float | None] | None:
        """Values that are possible at all: least and largest, ``None`` where there is no bound."""
        bounds: list[float | None] | None = self.meta.get("range") or self.inherited.get("range")
        return bounds

    def bounds_of(self, key: str) -> list[float | None] | None:
        """Values that are possible for one of its keys, where the card tells them apart; else :attr:`bounds`."""
        apart: dict[str, list[float | None]] = self.meta.get("key_ranges", {})
        return apart.get(key, self.bounds)

    def beyond(self, language: str) -> str:
        """What a value outside of the possible ones most likely comes of, empty if the card does not say."""
        return str(self.meta.get("beyond", {}).get(language, ""))

    @property
    def unmeasured(self) -> float | None:
        """What is printed where nothing was measured yet; ``None`` where nothing is."""
        found = self.meta.get("unmeasured")
        return None if found is None else float(found)

    @property
    def direction(self) -> str:
        """``higher_better``, ``lower_better``, ``target_range``, ``neutral`` or ``context``."""
        return str(self.meta.get("direction") or self.inherited.get("direction", "context"))

    @property
    def category(self) -> str:
        """The card's category."""
        return str(self.meta["category"])

    @property
    def source(self) -> str:
        """Where the definition was read: ``repo@commit path#symbol``; several joined by ``; ``."""
        parts = []
        for source in self.meta["sources"]:
            where = f"{source['repo']}@{source['commit']} " if "repo" in source and "commit" in source else ""
            parts.append(where + source["ref"])
        return "; ".join(parts)

    def words(self, language: str) -> tuple[str, ...]:
        """Plain words that people use for it."""
        return tuple(self.meta.get("words", {}).get(language, ()))

    def asks(self, language: str) -> tuple[str, ...]:
        """How people ask for it without naming it; the search reads them."""
        return tuple(self.meta.get("asks", {}).get(language, ()))

    def to_json(self) -> dict[str, Any]:
        """Front matter and both bodies, section names spelled out."""
        return {
            "card": self.id,
            **{k: v for k, v in self.meta.items() if k not in {"id", "asks"}},
            "source": self.source,
            "text": {
                lang: {SECTIONS[lang][SECTION_NAMES.index(name)]: text for name, text in self.body[lang].items()}
                for lang in ("zh", "en")
            },
        }


class Library:
    """All cards, by id: a team's own come first, then those that are shipped.

    Args:
        cards: the shipped cards.
        own: cards from a team's own documents.
        passages: the other text of those documents.
    """

    def __init__(
        self, cards: Mapping[str, Card], own: Mapping[str, Card] | None = None, passages: Sequence[Passage] = ()
    ) -> None:
        self.shipped = dict(cards)
        self.own = dict(own or {})
        self.cards = {**self.own, **self.shipped}
        self.passages = tuple(passages)

    def __iter__(self) -> Any:
        return iter(self.cards.values())

    def __len__(self) -> int:
        return len(self.cards)

    def get(self, card_id: str) -> Card | None:
        """A card by id, ``None`` if there is none."""
        return self.cards.get(card_id)

    def passage(self, passage_id: str) -> Passage | None:
        """A passage of a team's document by id, ``None`` if there is none."""
        return self._passages.get(passage_id)

    @cached_property
    def _passages(self) -> dict[str, Passage]:
        return {passage.id: passage for passage in self.passages}


def parse_card(text: str, where: str) -> dict[str, Any]:
    """One card file's text as ``{"meta": …, "body": …}``.

    Raises:
        KnowledgeError: front matter missing or not YAML, or a section missing; names file and field.
    """
    import yaml

    if not text.startswith("---\n") or "\n---\n" not in text[4:]:
        raise KnowledgeError(zh=f"{where}：缺少 YAML 头。", en=f"{where}: no YAML front matter.")
    front, body = text[4:].split("\n---\n", 1)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        meta = yaml.load(front, Loader=loader)
    except yaml.YAMLError as error:
        raise KnowledgeError(zh=f"{where}：YAML 有误：{error}", en=f"{where}: bad YAML: {error}") from None
    return {"meta": meta, "body": _sections(body, where)}


def _sections(body: str, where: str) -> dict[str, dict[str, str]]:
    result: dict[str, dict[str, str]] = {}
    language, name, lines = "", "", list[str]()

    def close() -> None:
        if language and name:
            result[language][name] = "\n".join(lines).strip()

    for line in body.splitlines():
        if line.startswith("## ") and line[3:].strip() in SECTIONS:
            close()
            language, name, lines = line[3:].strip(), "", []
            result[language] = {}
        elif line.startswith("### ") and language:
            close()
            title, lines = line[4:].strip(), []
            if title not in SECTIONS[language]:
                raise KnowledgeError(zh=f"{where}：未知小节“{title}”。", en=f"{where}: unknown section “{title}”.")
            name = SECTION_NAMES[SECTIONS[language].index(title)]
        else:
            lines.append(line)
    close()
    for lang in SECTIONS:
        if "is" not in result.get(lang, {}):
            raise KnowledgeError(
                zh=f"{where}：缺少 {lang} 的“{SECTIONS[lang][0]}”。",
                en=f"{where}: section “{SECTIONS[lang][0]}” is missing.",
            )
    return result


def card_schema() -> dict[str, Any]:
    """The JSON Schema of a card's front matter."""
    text = (Path(__file__).parent / "card.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def read_cards(folder: Path) -> dict[str, Any]:
    """Every ``*.md`` card below a folder, validated; raises :class:`KnowledgeError` on the first fault."""
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(card_schema())
    result: dict[str, Any] = {}
    for path in sorted(folder.rglob("*.md")):
        where = str(path.relative_to(folder))
        raw = parse_card(path.read_text(encoding="utf-8"), where)
        error = next(iter(validator.iter_errors(raw["meta"])), None)
        if error is not None:
            field = "/".join(str(p) for p in error.absolute_path) or "(top)"
            message = f"{field}: {error.message}"
            raise KnowledgeError(zh=f"{where}：{message}", en=f"{where}: {message}")
        card_id = raw["meta"]["id"]
        if card_id in result:
            raise KnowledgeError(zh=f"{where}：id {card_id} 重复。", en=f"{where}: id {card_id} stands twice.")
        result[card_id] = raw
    for path in sorted((folder / "asks").glob("*.yaml")):
        for card_id, asks in _read_asks(path).items():
            if card_id not in result:
                where = f"asks/{path.name}"
                raise KnowledgeError(zh=f"{where}：没有卡片 {card_id}。", en=f"{where}: there is no card {card_id}.")
            held = result[card_id]["meta"].setdefault("asks", {})
            for language, wordings in asks.items():
                held[language] = [*held.get(language, ()), *wordings]
    return result


def _read_asks(path: Path) -> dict[str, dict[str, list[str]]]:
    """Card id → how people ask for it without naming it, by language."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    where = f"asks/{path.name}"
    try:
        table = yaml.load(path.read_text(encoding="utf-8"), Loader=loader) or {}
    except yaml.YAMLError as error:
        raise KnowledgeError(zh=f"{where}：YAML 有误：{error}", en=f"{where}: bad YAML: {error}") from None
    for card_id, asks in table.items():
        known = isinstance(asks, dict) and set(asks) <= {"zh", "en"}
        if not known or not all(isinstance(ask, str) for wordings in asks.values() for ask in wordings):
            raise KnowledgeError(
                zh=f"{where}：{card_id} 应为 zh、en 两个列表。", en=f"{where}: {card_id} is to hold lists zh and en."
            )
    result: dict[str, dict[str, list[str]]] = table
    return result


def _fingerprint(folder: Path) -> str:
    digest = hashlib.sha256(_CACHE_VERSION.encode())
    digest.update(str(folder.resolve()).encode())
    for path in sorted([*folder.rglob("*.md"), *folder.glob("asks/*.yaml")]):
        stat = path.stat()
        digest.update(f"{path.name}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:24]


def _load(folder: Path) -> dict[str, Any]:
    cache = cache_folder() / f"cards-{_fingerprint(folder)}.json"
    try:
        cached: dict[str, Any] = orjson.loads(cache.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        cached = {}
    if cached:
        return cached
    raw = read_cards(folder)
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache.parent, delete=False) as handle:
            handle.write(orjson.dumps(raw))
        Path(handle.name).replace(cache)
    except OSError:
        pass  # a read-only home only costs time
    return raw


@lru_cache(maxsize=4)
def library(folder: Path | None = None) -> Library:
    """The cards of a folder (the shipped ones by default), read once a process."""
    raw = _load(folder or resources.data_folder("knowledge"))
    return Library(
        {
            card_id: Card(
                id=card_id,
                framework=entry["meta"]["framework"],
                keys=tuple(entry["meta"]["keys"]),
                names=tuple(entry["meta"].get("names", ())),
                meta=entry["meta"],
                body=entry["body"],
            )
            for card_id, entry in raw.items()
        }
    )
