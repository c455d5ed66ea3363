"""Metrics that a question names otherwise than by name: by phrase in context, by category, with a slip of the pen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from assistant import resources
from assistant.ask.facets import described_by_facets
from assistant.ask.patterns import late
from assistant.ask.verbatim import spelt_with_blanks
from assistant.knowledge import Mentioned, Resolver
from assistant.knowledge.resolver import plain_words
from assistant.model import Run

MOST_OF_A_CATEGORY = 8
MOST_BEGUN = 3
_LEAST_ALIKE = 0.8
_SHORTEST_TYPO = 5
_SHORTEST_SURE = 0.74
_TIMED = ("timing_s/", "time/")
_STATISTICS = {
    "max": r"最大值?|最高值?|\bmax(?:imum)?\b",
    "min": r"最小值?|最低值?|\bmin(?:imum)?\b",
    "std": r"标准差|方差|\bstd\b|standard deviation|variance",
}
_NO_METRIC = re.compile(r"(?i)(?:training )?steps?|global_step|training/global_step|epochs?\s*\d+")
_SOME_EPOCHS = re.compile(
    r"(?i)(?:\b(?:one|two|another|more|next|per|each|every|an?|few|extra|further|last|first)|\d|[一两二三几每个半轮整])\s*$"
)
"""Before "epoch": so many of them, rather than the logged epoch."""
_FRAMEWORK = re.compile(
    r"(?i)verl|trl|roll|openrlhf|slime|areal|nemo[- ]?rl|ms-?swift|llama-?factory|deepspeed(?:-?chat)?|megatron|"
    r"prime-?rl|easyr1|unsloth|hf|huggingface|nanogpt"
)
#: Scores that engineers ask for and that few logs hold: never read as the log's own ``score``.
_ELSEWHERE = re.compile(
    r"(?i)\b(?:bleu|rouge(?:-?l)?|f1|wer|cer|mrr|ndcg|elo|auc|win[- ]?rate|perplexity|ppl|bert[- ]?score|map@\d+)"
    r"(?:[- ]?scores?)?\b"
    r"(?:\s*(?:分数|得分))?|困惑度|胜率"
)
#: English words that stand in questions and are no misspelt metric.
_WORDS = frozenset(
    re.findall(
        r"[a-z]+",
        """about above accurate actual actually after again along already always another answer answers anything average
because become becoming before being below best better between break broken cause change changed changes check
checkpoint compare compared config could count curve curves decrease decreasing degrade describe detail details does
doing down drift drop dropped during each either else enough ever every everything exact exactly explain exploding
exceed falling faster final finish first flat found friday from going gone good great group grow growing half happen
happened happening hardware have healthy help high higher highest hour hours improve improved improving increase
increasing initial instead interpret issue issues iteration just keep kind know largest last latest latency learn
learning least length less level line list little log logged logs long longer longest look looking looks lower
lowest machine make manager many maximum mean meaning means measure metric metrics minimum minute minutes model
models monitor more most much need never next noise noisy normal nothing number numbers okay once only other over
overall part peak percent percentage performance phase plateau please plot point points print prompt prompts problem
problems question quick quickly quite range rate rather rating read really reason recent remain report response
responses restart restarted result results right rise rising rollout rollouts running runs same sample samples save
second seconds seem seems separate setting share should show showing since single size slow slower slowest small
smaller smallest something sometimes soon sound speed stable start started starts state stats status still stop
stopped strange such sudden suddenly summary sure table take takes taken tell test than that their them then there
these they thing things think this those though thousand through tiny today together token tokens tool tools total
trained trainer training trajectory trend trending trust turn turns unit units until update updated used using usual
value values verdict very wait want warn warning wasn well went were what when where whether which while whole will
with within without worse worst would wrong year yesterday your""",
    )
)


@dataclass(frozen=True, slots=True)
class _Rule:
    words: re.Pattern[str]
    keys: tuple[str, ...]
    when: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    take: str
    over: bool
    weak: bool


@lru_cache(maxsize=1)
def _rules() -> tuple[_Rule, ...]:
    path = Path(__file__).parent / "metric_words.yaml"
    rules = []
    for number, entry in enumerate(resources.yaml_table(path), 1):
        unknown = set(entry) - {"re", "keys", "when", "unless", "take", "over", "weak"}
        if unknown or not entry.get("keys") or entry.get("take", "first") not in {"first", "all", "each"}:
            raise ValueError(f"{path.name}: rule {number} is malformed: {sorted(unknown) or entry}")
        rules.append(
            _Rule(
                _compiled(entry["re"]), tuple(entry["keys"]),
                late(entry["when"]) if "when" in entry else None,
                late(entry["unless"]) if "unless" in entry else None,
                entry.get("take", "first"), bool(entry.get("over")), bool(entry.get("weak")),
            )
        )  # fmt: skip
    return tuple(rules)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@lru_cache(maxsize=1)
def _phrases() -> list[tuple[str, tuple[str, ...]]]:
    """Phrases of more than one word of the table of bare words, longest first."""
    pairs = [(word.lower(), tuple(entry["keys"])) for entry in plain_words() for word in entry["words"]]
    return sorted((pair for pair in pairs if " " in pair[0] or not pair[0].isascii()), key=lambda pair: -len(pair[0]))


def metrics_named(text: str, resolver: Resolver, run: Run | None) -> tuple[Mentioned, ...]:
    """Every metric that a question names, left to right.

    Args:
        text: the question, normalised (:func:`assistant.ask.wording.normalised`).
        resolver: from names to cards.
        run: whose keys come first; ``None`` without a log.
    """
    keys = run.metrics if run is not None else ()
    framework = run.framework if run is not None else None
    found = [m for m in resolver.mentions(text, keys, framework) if not _NO_METRIC.fullmatch(m.text)]
    found = [m for m in found if m.key is not None or not _FRAMEWORK.fullmatch(m.text)]
    found = [m for m in found if not (m.text.lower().startswith("epoch") and _SOME_EPOCHS.search(text[: m.start]))]
    if run is None:
        return tuple(found)
    found = _unjointed(text, _widened(text, found, run, resolver), run, resolver)
    found = _begun(text, found, run, resolver)
    found = [_chosen(m, text, run, resolver) for m in found]
    found = _mended(text, found, run, resolver)
    found, told = _by_facets(text, found, run, resolver)
    found = [_owned(m, text, run, resolver) for m in _by_rule(text, found, run, resolver, told)]
    found = _counted_steps(text, found)
    found = spelt_with_blanks(text, _elsewhere(text, found, run, told), run, resolver)
    seen: dict[tuple[str | None, int], Mentioned] = {}
    for mention in sorted(found, key=lambda m: m.start):
        seen.setdefault((mention.key, mention.start if mention.key is None else -1), mention)
    return tuple(seen.values())


def _mention(run: Run, resolver: Resolver, key: str, start: int, end: int, text: str) -> Mentioned:  # noqa: PLR0917
    resolution = resolver.key(key, run.framework)
    return Mentioned(start, end, text, resolution.card if resolution is not None else None, key)


def _held(patterns: Iterable[str], keys: Sequence[str]) -> list[list[str]]:
    """Of each pattern that a log's key answers to, these keys."""
    groups = []
    for pattern in patterns:
        lowered = pattern.lower()
        same = [key for key in keys if key.lower() == lowered or ("*" in lowered and fnmatchcase(key.lower(), lowered))]
        if same:
            groups.append(same)
    return groups


def _widened(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """A phrase wins over a name inside it: ``eval loss`` is not ``loss``."""
    lower = text.lower()
    for phrase, patterns in _phrases():
        start = lower.find(phrase)
        if start < 0:
            continue
        end = start + len(phrase)
        inside = [m for m in found if start <= m.start and m.end <= end and m.end - m.start < len(phrase)]
        if not inside or any(m.start < end and start < m.end for m in found if m not in inside):
            continue
        groups = _held(patterns, run.metrics)
        if groups and _whole(lower, start, end):
            found = [m for m in found if m not in inside]
            found.append(_mention(run, resolver, groups[0][0], start, end, text[start:end]))
    return found


def _whole(text: str, start: int, end: int) -> bool:
    left = start == 0 or not (text[start - 1].isascii() and text[start - 1].isalnum() and text[start].isascii())
    return left and (end == len(text) or not (text[end].isascii() and text[end].isalnum() and text[end - 1].isascii()))


def _unjointed(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Keys spelt with spaces: ``vf explained var`` for ``critic/vf_explained_var``."""
    words = [(m.start(), m.end(), m.group().lower()) for m in re.finditer(r"[A-Za-z0-9]+", text)]
    if len(words) < 2:
        return found
    tails: dict[tuple[str, ...], list[str]] = {}
    for key in run.metrics:
        pieces = key.lower().split("/")
        for at in range(len(pieces)):
            parts = tuple(re.findall(r"[a-z0-9]+", "/".join(pieces[at:])))
            if len(parts) > 1:
                tails.setdefault(parts, []).append(key)
    at = 0
    while at < len(words):
        for length in range(min(6, len(words) - at), 1, -1):
            run_of = words[at : at + length]
            start, end = run_of[0][0], run_of[-1][1]
            keys = tails.get(tuple(word for _, _, word in run_of), [])
            free = re.fullmatch(r"[A-Za-z0-9]+(?:[ _/.-][A-Za-z0-9]+)+", text[start:end])
            inside = [m for m in found if m.start < end and start < m.end]
            shorter = all(start <= m.start and m.end <= end and (m.start, m.end) != (start, end) for m in inside)
            if len(keys) == 1 and free and shorter:
                found = [m for m in found if m not in inside]
                found.append(_mention(run, resolver, keys[0], start, end, text[start:end]))
                at += length - 1
                break
        at += 1
    return found


def _begun(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Keys spelt without their end: ``max_memory_reserved`` for ``perf/max_memory_reserved_gb``."""
    for match in re.finditer(r"(?<![\w/])[A-Za-z]+(?:_[A-Za-z0-9]+)+(?![\w/])", text):
        word = match.group().lower()
        inside = [m for m in found if m.start < match.end() and match.start() < m.end]
        if any(m.key is not None for m in inside):
            continue
        keys = _starting(word, run)
        if keys:
            found = [m for m in found if m not in inside]
            found += [_mention(run, resolver, key, match.start(), match.end(), match.group()) for key in keys]
    return found


_CRITICS = re.compile(r"(?i)(?:critic|价值网络|value (?:network|model|function))(?:'s| ?的)?\s*$")


def _owned(mention: Mentioned, text: str, run: Run, resolver: Resolver) -> Mentioned:
    """The critic's own key where a question speaks of the critic's: never the actor's in its place."""
    key = mention.key
    if key is None or not key.startswith("actor/") or not _CRITICS.search(text[: mention.start]):
        return mention
    own = f"critic/{key.removeprefix('actor/')}"
    if own in run.columns:
        return _mention(run, resolver, own, mention.start, mention.end, mention.text)
    resolution = resolver.key(own, run.framework)
    return Mentioned(mention.start, mention.end, own, resolution.card if resolution is not None else None)


def _starting(word: str, run: Run) -> list[str]:
    """The keys that a word of a key's spelling begins or heads; of many, the overall one or the means."""
    keys = [
        key for key in run.metrics
        if any(part == word or part.startswith(word + "_") for part in key.lower().replace("@", "_").split("/"))
    ]  # fmt: skip
    if any(key.lower().rsplit("/", 1)[-1] == word for key in keys):
        return []  # a whole end of a key, of which there may be several
    for narrower in ("/all/mean", "/mean", "_mean@sum", "_mean"):
        chosen = [key for key in keys if key.lower().endswith(narrower)]
        if len(keys) > 1 and chosen:
            keys = chosen
    return keys if len(keys) <= MOST_BEGUN else []


def _chosen(mention: Mentioned, text: str, run: Run, resolver: Resolver) -> Mentioned:
    """Of several keys with one end (``update_actor``), the one in seconds, unless another is asked for."""
    if mention.key is not None or mention.specific:
        return mention
    tails = [key for key in run.metrics if key.lower().endswith("/" + mention.text.lower())]
    timed = [key for key in tails if key.startswith(_TIMED)]
    shortest = sorted(tails, key=lambda key: key.count("/"))
    if len(tails) > 1 and not timed and shortest[0].count("/") < shortest[1].count("/"):
        return _mention(run, resolver, shortest[0], mention.start, mention.end, mention.text)
    if len(tails) > 1 and len(timed) == 1 and not re.search(r"(?i)per.?token|每.{0,2}token", text):
        return _mention(run, resolver, timed[0], mention.start, mention.end, mention.text)
    return mention


def _mended(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Misspelt names, where one key of the log is clearly nearest; a name that is like nothing stays unknown."""
    result = []
    taken = [False] * len(text)
    for mention in found:
        taken[mention.start : mention.end] = [True] * (mention.end - mention.start)
        key = None
        if mention.key is None and mention.card is None:
            key = _nearest(mention.text, run)
        fixed = mention if key is None else _mention(run, resolver, key, mention.start, mention.end, mention.text)
        result.append(fixed)
    for match in re.finditer(r"(?<![A-Za-z0-9_/@.])[A-Za-z][A-Za-z_/]{3,}(?![A-Za-z0-9_/@])", text):
        word = match.group().lower()
        if any(taken[match.start() : match.end()]) or word in _WORDS or len(word) < _SHORTEST_TYPO:
            continue
        key = _nearest(word, run)
        if key is not None:
            result.append(_mention(run, resolver, key, match.start(), match.end(), match.group()))
    return result


def _nearest(word: str, run: Run) -> str | None:
    """The log's key that a misspelt word means; ``None`` where none is near, or two are as near."""
    from rapidfuzz.distance import OSA

    word = word.lower()
    pool: dict[str, list[str]] = {}
    for key in run.metrics:
        pieces = key.lower().split("/")
        tails = {"/".join(pieces[at:]) for at in range(len(pieces))} | ({pieces[0]} if len(pieces) > 1 else set())
        for tail in tails - {
            "mean",
            "max",
            "min",
            "std",
            "step",
            "actor",
            "critic",
            "timing_s",
            "perf",
            "token",
            "time",
        }:
            if ("/" in word) == ("/" in tail):
                pool.setdefault(tail, []).append(key)
    for phrase, patterns in ((entry_word, entry["keys"]) for entry in plain_words() for entry_word in entry["words"]):
        if (
            phrase.isascii()
            and " " not in phrase
            and len(phrase) >= _SHORTEST_TYPO
            and (held := _held(patterns, run.metrics))
        ):
            known = pool.get(phrase.lower(), [])
            if all(key.startswith(_TIMED) for key in known):  # "rewrd" is the reward, not the time that it takes
                pool[phrase.lower()] = [held[0][0]]
    scored = sorted(((OSA.normalized_similarity(word, name), name) for name in pool), reverse=True)
    if not scored or scored[0][0] < _LEAST_ALIKE or scored[0][1] == word:
        return None
    best = [name for score, name in scored if score >= scored[0][0] - 1e-9]
    keys = [key for name in best for key in pool[name]]
    means = [key for key in keys if key.endswith("/mean")] or [key for key in keys if key.startswith(_TIMED)]
    if len(set(keys)) == 1:
        return keys[0]
    return means[0] if len(set(means)) == 1 else None


def _by_facets(
    text: str, found: list[Mentioned], run: Run, resolver: Resolver
) -> tuple[list[Mentioned], tuple[tuple[int, int], ...]]:
    """The mentions with the metrics that are described, which replace names within the words of the description.

    Returns:
        All mentions, and the places of the words that describe one: no rule reads another metric into them.
    """
    told: list[tuple[int, int]] = []
    for one in described_by_facets(text, run):
        touching = [m for m in found if any(m.start < end and start < m.end for start, end in one.spans)]
        spelt = [m for m in touching if m.key is not None and re.search(r"[/_]", m.text) and m.key not in one.keys]
        outside = [m for m in found if m not in touching and m.key is not None]
        if spelt or (one.weak and outside):
            continue
        found = [m for m in found if m not in touching]
        found += [_mention(run, resolver, key, one.start, one.end, text[one.start : one.end]) for key in one.keys]
        told += one.spans
    return found, tuple(told)


_OF_A_STEP = re.compile(r"(?i)(?:步|step)")


def _counted_steps(text: str, found: list[Mentioned]) -> list[Mentioned]:
    """Without the step's time that "第 3 步耗时" seems to name beside another metric: the step is where, not what."""
    others = [m for m in found if m.key is not None]
    return [
        m for m in found
        if len(others) < 2 or not _OF_A_STEP.match(m.text) or not re.search(r"\d\s*$", text[: m.start])
    ]  # fmt: skip


def _by_rule(
    text: str, found: list[Mentioned], run: Run, resolver: Resolver, told: Sequence[tuple[int, int]] = ()
) -> list[Mentioned]:
    written = [m for m in found if m.key is not None and m.text.lower() == m.key.lower()]
    spelt = [m for m in written if re.search(r"[/_]", m.text)]  # a key written out is not to be replaced
    spelt += [m for m in found if m.key is not None and "_" in m.text and m.text.lower() in m.key.lower()
              and m.key.lower().rsplit("/", 1)[-1] != m.text.lower()]  # fmt: skip
    for rule in _rules():
        if rule.weak and not rule.over and any(m.key is not None or m.card is not None for m in found):
            continue
        if rule.when is not None and not rule.when.search(text):
            continue
        if rule.unless is not None and rule.unless.search(text):
            continue
        for match in rule.words.finditer(text):
            start, end = match.span()
            if any(a < end and start < b for a, b in told):
                continue
            touching = [m for m in found if m.start < end and start < m.end]
            outside = [m for m in found if m not in touching and (m.key is not None or m.card is not None)]
            if (touching and not rule.over) or any(m in spelt for m in touching) or (rule.weak and outside):
                continue
            if any(m.start < start or m.end > end for m in touching if m.key is not None):
                continue
            keys = _keys(rule, text, run)
            if keys:
                found = [m for m in found if m not in touching]
                found += [_mention(run, resolver, key, start, end, match.group()) for key in keys]
                break
    return found


def _elsewhere(text: str, found: list[Mentioned], run: Run, told: Sequence[tuple[int, int]] = ()) -> list[Mentioned]:
    """A score that the log does not hold stays unknown, rather than be taken for another."""
    for match in _ELSEWHERE.finditer(text):
        word = re.findall(r"[a-z0-9]+", match.group().lower())
        if word and any(word[0] in key.lower() for key in run.metrics):
            continue
        if any(a < match.end() and match.start() < b for a, b in told):
            continue
        found = [m for m in found if m.end <= match.start() or match.end() <= m.start]
        found.append(Mentioned(match.start(), match.end(), match.group(), None))
    return found


def _keys(rule: _Rule, text: str, run: Run) -> list[str]:
    groups = _held(rule.keys, run.metrics)
    if not groups:
        return []
    if rule.take == "first":
        return [_fitting(groups[0], text)]
    each = [group[0] for group in groups] if rule.take == "each" else [key for group in groups for key in group]
    return list(dict.fromkeys(each))[:MOST_OF_A_CATEGORY]


def _fitting(keys: list[str], text: str) -> str:
    """Of keys that differ in a data set's name, the one whose data set the question names."""
    lower = re.sub(r"[^a-z0-9]", "", text.lower())
    for key in keys:
        parts = [re.sub(r"[^a-z0-9]", "", part.lower()) for part in key.split("/")[1:-2] or key.split("/")[1:]]
        if any(len(part) > 2 and part in lower for part in parts):
            return key
    return keys[0]


def statistics(
    mentions: Sequence[Mentioned], text: str, run: Run, resolver: Resolver, *, pointed: bool
) -> tuple[Mentioned, ...]:
    """The metrics with the statistic that is asked for: ``score max``, ``优势的最大值`` of one step.

    Args:
        mentions: the metrics named.
        text: the question they stand in.
        run: whose keys there are.
        resolver: from names to cards.
        pointed: whether single steps are named; over a window "最大值" is the largest of the means.
    """
    places = [(m.start, m.end) for m in mentions]  # where one place means several keys, each is already told apart
    return tuple(
        m if places.count((m.start, m.end)) > 1 else _statistic(m, text, run, resolver, pointed) for m in mentions
    )


def _statistic(mention: Mentioned, text: str, run: Run, resolver: Resolver, pointed: bool) -> Mentioned:
    key = mention.key
    if key is None or not key.endswith("/mean") or mention.text.lower() == key.lower():
        return mention
    before, after = text[max(0, mention.start - 12) : mention.start], text[mention.end : mention.end + 8]
    for name, words in _STATISTICS.items():
        sibling = f"{key[: -len('mean')]}{name}"
        beside = (pointed and re.match(rf"(?i)\s*的?\s*(?:{words})", after)) or (
            re.match(rf"(?i)\s*{name}\s*[?.!]*$", after)
            or ((pointed or name == "std") and re.search(rf"(?i)(?:{words})\s*(?:of|的)?\s*$", before))
        )
        if sibling in run.columns and beside:
            return replace(_mention(run, resolver, sibling, mention.start, mention.end, mention.text))
    return mention


def categories() -> list[dict[str, Any]]:
    """The rules as data, for tests: words, keys and conditions."""
    return [{"words": rule.words.pattern, "keys": rule.keys, "take": rule.take} for rule in _rules()]
