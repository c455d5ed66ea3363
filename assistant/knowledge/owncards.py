"""Cards from a team's own documents, laid over the shipped ones, and what the two say differently."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assistant.knowledge.cards import OWN, Card, Library, library
from assistant.knowledge.documents_model import Definition, Document
from assistant.knowledge.own import Store
from assistant.knowledge.passages import Passage
from assistant.knowledge.templates import template_shape
from assistant.model import InputError

MAX_CARDS: Final = 20_000
_SHORT: Final = 160
_INHERITED: Final = ("kind", "direction", "range")
_LOOSE: Final = re.compile("(?<=[\u3400-\u9fff）]) (?=[\u3400-\u9fff])")
_CATEGORIES: Final = (
    ("validation", r"^(?:val|eval|test)(?:[/_\-]|$)"),
    ("timing", r"tim(?:e|ing)|latency|seconds|duration"),
    ("memory", r"memory|_mem\b|\bmem_|rss|vms"),
    ("throughput", r"throughput|tps|mfu|tokens_per|samples_per"),
    ("length", r"length|num_turns|seqlen"),
    ("optimizer", r"(?:^|[/_])lr(?:$|[/_])|learning_rate|grad_norm|grad"),
    ("progress", r"global_step|epoch|progress|total_samples"),
    ("advantage", r"advantage|(?:^|[/_])adv(?:$|[/_])|returns?(?:$|/)"),
    ("reward", r"reward|score|success|accuracy|acc(?:$|/)"),
    ("loss", r"loss"),
    ("value", r"^critic/|value|vf_|vpred"),
    ("policy", r"^actor/|entropy|kl|ratio|clip|log_?prob|policy"),
)
_LABELS: Final = {
    True: {"normal": "正常范围", "sign:normal": "正常信号", "sign:warning": "需要注意", "": "说明"},
    False: {"normal": "Normal range", "sign:normal": "Healthy sign", "sign:warning": "Watch for", "": "Note"},
}


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The shipped cards with a team's own over them, and what could not be read."""

    library: Library
    problems: tuple[InputError, ...] = ()


def knowledge(store: Store | None = None) -> Knowledge:
    """Everything that is known now; read again only when the stored documents change."""
    store = store or Store()
    stamp = store.stamp()
    return _knowledge(store.folder, stamp) if stamp else Knowledge(library())


@lru_cache(maxsize=2)
def _knowledge(folder: Path, _: tuple[Any, ...]) -> Knowledge:
    stored = Store(folder).read()
    return Knowledge(laid_over(library(), stored.documents), stored.problems)


def laid_over(shipped: Library, documents: Iterable[Document]) -> Library:
    """The shipped cards with those of documents over them."""
    by_key: dict[str, list[Card]] = {}
    own: dict[str, Card] = {}
    passages: list[Passage] = []
    for card in shipped:
        for key in card.keys:
            by_key.setdefault(template_shape(key), []).append(card)
    for document in documents:
        for definition in document.definitions[: MAX_CARDS - len(own)]:
            card = own_card(document, definition, by_key)
            own.setdefault(card.id, card)
        passages += (
            Passage(f"doc:{document.name}#{at}", document.name, section.heading, section.text, section.line)
            for at, section in enumerate(document.sections, 1)
        )
    return Library(shipped.cards, own, passages)


def own_card(document: Document, definition: Definition, shipped: Mapping[str, Sequence[Card]]) -> Card:
    """A definition as a card: what the document states, in its own language.

    Args:
        document: where it stands.
        definition: the definition.
        shipped: shipped cards by the shape of their keys (see :func:`template_shape`).
    """
    from assistant.knowledge.documents_ranges import kind_of
    from assistant.knowledge.documents_text import is_chinese

    alike = [*definition.keys, *([definition.template] if definition.template else [])]
    same = [card for key in alike for card in shipped.get(template_shape(key), ())]
    text = _tight(definition.text)
    chinese = is_chinese(text + definition.title + " ".join(definition.heading))
    title, short = definition.title or definition.keys[0], _first_line(text or definition.formula or definition.normal)
    where = " › ".join(definition.heading)
    ref = f"{document.name}:{definition.line}" + (f" ({where})" if where else "")
    meta: dict[str, Any] = {
        "title": _both(_tight(title)),
        "short": _both(short),
        "keys": list(definition.keys),
        "category": _category(definition.keys[0], same),
        "own": True,
        "document": document.name,
        "heading": list(definition.heading),
        "line": definition.line,
        "sources": [{"ref": _tight(ref)}],
    }
    if definition.title:
        meta["words"] = {language: [definition.title] for language in ("zh", "en")}
    for name in ("unit", "direction", "formula", "template"):
        if getattr(definition, name):
            meta[name] = _tight(getattr(definition, name))
    if kind_of(definition.unit):
        meta["kind"] = kind_of(definition.unit)
    if definition.ranges:
        meta["ranges"] = [
            {"low": r.low, "high": r.high, "kind": r.kind, "words": r.words, "line": r.line} for r in definition.ranges
        ]
    words = definition.normal or "; ".join(r.words for r in definition.ranges if r.kind == "normal")
    if words:
        meta["healthy"] = {**_both(_tight(" ".join(words.split()))), "source": f"{document.name}:{definition.line}"}
    body = {"is": text or short, "read": _tight(_reading(definition, chinese))}
    sections = {name: part for name, part in body.items() if part}
    return Card(
        id=f"{OWN}/{document.name}/{definition.keys[0]}",
        framework=OWN,
        keys=definition.keys,
        names=(),
        meta=meta,
        body={"zh": sections, "en": sections},
        inherited={name: value for name in _INHERITED if (value := _agreed(same, name)) is not None},
    )


def _both(text: str) -> dict[str, str]:
    return {"zh": text, "en": text}


def _tight(text: str) -> str:
    """Without a blank between two Chinese characters, as answers are set; what is quoted then stays verbatim."""
    return _LOOSE.sub("", text).strip()


def _first_line(text: str) -> str:
    """One line that says what it is; bars would part the cells of a table."""
    line = text.split("\n", 1)[0].replace("||", "‖").replace("|", "∣")
    if len(line) <= _SHORT:
        return line
    cut = line[:_SHORT]
    ends = [match.end() for match in re.finditer(r"[。！？；]|[.!?;](?=\s)", cut)]
    return cut[: ends[-1]].strip() if ends and ends[-1] > 20 else cut[: _SHORT - 1].rstrip() + "…"


def _reading(definition: Definition, chinese: bool) -> str:
    """Normal values and remarks as a list."""
    labels, colon = _LABELS[chinese], "：" if chinese else ": "
    lines = [f"- {labels['normal']}{colon}{' '.join(definition.normal.split())}"] if definition.normal else []
    lines += [f"- {labels.get(label, label)}{colon}{' '.join(words.split())}" for label, words in definition.notes]
    return "\n".join(lines)


def _category(key: str, same: Sequence[Card]) -> str:
    agreed = {card.category for card in same}
    if len(agreed) == 1:
        return agreed.pop()
    return next((name for name, pattern in _CATEGORIES if re.search(pattern, key.lower())), OWN)


def _agreed(cards: Sequence[Card], name: str) -> Any:
    """What all cards say, ``None`` if they do not agree."""
    values = [card.meta.get(name) for card in cards]
    return values[0] if values and all(value == values[0] for value in values) else None


# --- what is said differently ----------------------------------------------------------------------------


def difference(own: Card, other: Card) -> tuple[str, str] | None:
    """One line, in Chinese and English, on how the normal values of two cards differ; ``None`` if they do not."""
    mine = _normal(own)
    if mine is None:
        return None
    theirs = _normal(other)
    if theirs is not None and theirs != mine:
        return (
            f"参考范围不同：团队文档为 {_shown(mine)}，{other.id} 为 {_shown(theirs)}。",
            f"The reference ranges differ: {_shown(mine)} in the team's document, {_shown(theirs)} in {other.id}.",
        )
    bounds = other.meta.get("range")
    if theirs is None and bounds and not _inside(mine, bounds):
        possible = _shown((bounds[0], bounds[1]))
        return (
            f"团队文档的参考范围 {_shown(mine)} 超出了 {other.id} 的可能取值 {possible}。",
            f"The team's reference range {_shown(mine)} goes beyond the values possible in {other.id}: {possible}.",
        )
    return None


def _normal(card: Card) -> tuple[float | None, float | None] | None:
    """The normal values of a card, ``None`` if it gives none or several."""
    if card.own:
        ranges = [r for r in card.meta.get("ranges", ()) if r["kind"] == "normal"]
        return (ranges[0]["low"], ranges[0]["high"]) if len(ranges) == 1 else None
    from assistant.knowledge.documents_ranges import ranges_of

    healthy = card.meta.get("healthy")
    found = [r for language in ("en", "zh") for r in (ranges_of(healthy[language], 0) if healthy else ())]
    return (found[0].low, found[0].high) if found else None


def _inside(values: tuple[float | None, float | None], bounds: Sequence[float | None]) -> bool:
    low, high = values
    below = low is not None and bounds[0] is not None and low < bounds[0]
    above = high is not None and bounds[1] is not None and high > bounds[1]
    return not below and not above


def _shown(values: tuple[float | None, float | None]) -> str:
    low, high = values
    if low is None:
        return f"≤ {high:g}"
    return f"≥ {low:g}" if high is None else f"[{low:g}, {high:g}]"
