"""Plain words for a quantity and the key that a log has for it: "KL" for ``KL_ref``, "学习率" for ``Learning Rate``.

The last resort of naming: what the cards, the log's own spellings and the rules have found stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final

from assistant import resources
from assistant.ask.logged import as_mention
from assistant.knowledge import Mentioned, Resolver
from assistant.model import KnowledgeError, Run

_FIELDS: Final = {"words", "keys", "never"}
_EXTREME: Final = re.compile(r"\b(?:max|min|std|p\d+|median)\b")
_MEAN: Final = re.compile(r"\b(?:mean|avg|average)\b")
_SPREAD: Final = (" +-", " ±")
_MOST: Final = 3
"""Keys that fit alike, such as the actor's and the critic's learning rate, of which all are meant."""
_ABOUT: Final = re.compile(
    r"(?i)\bwhat (?:does|do|is|are)\b.{0,40}\bmeans?\b|\b(?:define|definition|meaning|formula)\b|"
    r"什么意思|含义|定义|公式|怎么算"
)


_EVALUATION: Final = re.compile(r"(?i)(?:val|valid|validation|eval|evaluation|test)[-_/ ]")
_COUNTER: Final = re.compile(r"(?i)(?:training |train )?(?:epoch|iteration|episode|step)s?|轮|轮次")
_FILE: Final = re.compile(r"[\w./-]{1,120}\.(?:py|ipynb|sh|ya?ml|json|md|txt|csv|log|cfg|toml)")
_STOPPING: Final = re.compile(r"(?i)\bstop|停")
_EVALUATED: Final = re.compile(r"(?i)\b(?:val|valid|eval|held|test)|验证|评测|评估|测试")


@dataclass(frozen=True, slots=True)
class _Concept:
    words: re.Pattern[str]
    keys: tuple[re.Pattern[str], ...]
    never: re.Pattern[str] | None


@lru_cache(maxsize=1)
def concepts() -> dict[str, _Concept]:
    """The quantities of ``concepts.yaml`` by name.

    Raises:
        KnowledgeError: an entry lacks a field, names an unknown one, or holds no regular expression.
    """
    path = Path(__file__).with_suffix(".yaml")
    found = {}
    for name, entry in resources.yaml_table(path).items():
        if not isinstance(entry, dict) or not {"words", "keys"} <= set(entry) <= _FIELDS:
            raise KnowledgeError(zh=f"{path.name}：{name} 的字段不对。", en=f"{path.name}: {name}: fields are wrong.")
        try:
            found[str(name)] = _Concept(
                re.compile(entry["words"], re.IGNORECASE),
                tuple(re.compile(key) for key in entry["keys"]),
                re.compile(rf"\b(?:{entry['never']})") if "never" in entry else None,
            )
        except re.error as error:
            raise KnowledgeError(
                zh=f"{path.name}：{name} 不是正则表达式：{error}。", en=f"{path.name}: {name}: {error}."
            ) from error
    return found


def spelt_out(key: str) -> str:
    """A key in lower case, with blanks for all that is no letter or digit and between ``EpRet``'s words."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key)
    return re.sub(r"[^a-z0-9]+", " ", apart.lower()).strip()


def keys_of(concept: _Concept, run: Run) -> list[str]:
    """The keys of a run that hold a quantity, those of the best name; a mean rather than an extreme."""
    spelt = {key: spelt_out(key) for key in run.metrics if not key.endswith(_SPREAD)}
    fitting = {key: text for key, text in spelt.items() if concept.never is None or not concept.never.search(text)}
    for pattern in concept.keys:
        own = [key for key, text in fitting.items() if pattern.search(text) and not _accumulates(run, key)]
        if own:
            plain = [key for key in own if not _EXTREME.search(spelt[key])] or own
            means = [key for key in plain if _MEAN.search(spelt[key])] or plain
            return means if len(means) <= _MOST else means[:1]
    return []


def _accumulates(run: Run, key: str) -> bool:
    """Whether a time runs on from the beginning (``Time`` of Spinning Up) rather than being a step's own."""
    if spelt_out(key) not in {"time", "train time"}:
        return False
    values = run.series(key)[1]
    return len(values) > 2 and all(a < b for a, b in pairwise(values))


def by_concept(text: str, found: Sequence[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """The mentions, with a key of the log for each plain word that names none so far.

    A mention that the log holds a key for stays, and its words are not looked at. One whose card has no key in the log
    is replaced; words that name nothing so far count only where the question names no key at all.
    """
    result = [m for m in found if not (m.key is None and is_file(m.text))]
    named = any(m.key is not None or _is_held(m, run) for m in found)
    if _ABOUT.search(text):
        return result
    for concept in concepts().values():
        for match in concept.words.finditer(text):
            start, end = match.start() + len(match.group()) - len(match.group().lstrip()), match.end()
            touching = [m for m in result if m.start < end and start < m.end]
            held_out = bool(touching) and all(_is_evaluation(m, run) for m in touching) and not _EVALUATED.search(text)
            if not held_out and any(m.key is not None or _is_held(m, run) or _is_spelt(m) for m in touching):
                continue
            if any(len(m.text) > len(match.group().strip()) for m in touching) or (named and not touching):
                continue
            keys = keys_of(concept, run)
            keys = [key for key in keys if key not in {m.key for m in result}]
            if not keys:
                continue
            result = [m for m in result if m not in touching]
            result += [as_mention(run, resolver, key, start, end, text[start:end]) for key in keys]
    return _without_counters(text, result, run.step_axis)


def is_file(text: str) -> bool:
    """Whether a word is the name of a file (``docs/1_dqn_tutorial.ipynb``) rather than of a metric."""
    return _FILE.fullmatch(text.strip()) is not None


def _without_counters(text: str, found: Sequence[Mentioned], axis: str) -> list[Mentioned]:
    """The mentions without words that only count: beside a metric or a wish to stop, and what counts the log's rows."""
    beside = any(m.key is not None for m in found) or _STOPPING.search(text) is not None
    counts = {m for m in found if m.key is None and _COUNTER.fullmatch(m.text.strip())}
    return [m for m in found if m not in counts or not (beside or m.text.strip().lower().rstrip("s") == axis.lower())]


def _is_evaluation(mention: Mentioned, run: Run) -> bool:
    """Whether a mention is of an evaluation's key, in words that do not spell it."""
    key = mention.key
    return key is not None and key in run.columns and not _is_spelt(mention) and _EVALUATION.match(key) is not None


def lacking(text: str, run: Run) -> bool:
    """Whether a question asks for the time of a step, which the log does not hold: nothing else is described by it."""
    concept = concepts()["step_time"]
    return concept.words.search(text) is not None and not keys_of(concept, run)


def _is_held(mention: Mentioned, run: Run) -> bool:
    """Whether a mention without a key is a family that the log has keys of, or no metric."""
    card = mention.card
    if card is None:
        return False
    if card.category in {"concept", "failure"}:
        return True
    return any(key in run.columns for key in card.keys)


def _is_spelt(mention: Mentioned) -> bool:
    """Whether a mention spells a key that the log lacks: that key is asked for, and no other."""
    return re.search(r"[A-Za-z][_/@]", mention.text) is not None
