"""Metrics that a question names otherwise than by name: by phrase in context, by category, with a slip of the pen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from assistant import resources
from assistant.ask.appositions import joined
from assistant.ask.facets import described_by_facets
from assistant.ask.joint_names import mentioned
from assistant.ask.key_words import by_number, by_words
from assistant.ask.logged import TIMED, as_mention, behind_the_cuts, held, of_any, tails
from assistant.ask.misspelt import respelt
from assistant.ask.part_names import owned_lengths, told_apart
from assistant.ask.patterns import late
from assistant.ask.verbatim import first_words, spelt_with_blanks
from assistant.knowledge import Card, Mentioned, Resolver
from assistant.knowledge.resolver import plain_words
from assistant.model import Run

MOST_OF_A_CATEGORY, MOST_BEGUN = 14, 3
_STATISTICS = {
    "max": r"最大值?|最高值?|最[长久慢]|\bmax(?:imum)?\b",
    "min": r"最小值?|最低值?|最[短快]|\bmin(?:imum)?\b",
    "std": r"标准差|方差|\bstd\b|standard deviation|variance",
}
_CLIP_RATIOS = ("clip_ratio/region_mean", "clip_ratio")
_NO_METRIC = re.compile(r"(?i)(?:training )?steps?|global_step|training/global_step|epochs?\s*\d+")
_SLOWEST_ONE = re.compile(
    r"(?i)slowest[ _/](?:trajector|rollout|sample|response|request|agent|generate|tool|prompt)|agent_loop|轨迹|样本"
)
_SOME_EPOCHS = re.compile(
    r"(?i)(?:\b(?:one|two|another|more|next|per|each|every|an?|few|extra|further|last|first)|\d|[一两二三几每个半轮整])\s*$"
)
"""Before "epoch": so many of them, rather than the logged epoch."""
_HOW_MANY_RUN = re.compile(r"(?i)(?:跑|训|练|训练|走|过)了?\s*(?:多少|几)\s*个?\s*$")
_FRAMEWORK = re.compile(
    r"(?i)verl|trl|roll|openrlhf|slime|areal|nemo[- ]?rl|ms-?swift|llama-?factory|deepspeed(?:-?chat)?|megatron|"
    r"prime-?rl|easyr1|unsloth|hf|huggingface|nanogpt"
)
#: Scores that engineers ask for and that few logs hold: never read as the log's own ``score``.
ELSEWHERE = re.compile(
    r"(?i)\b(?:bleu|rouge(?:-?l)?|f1|wer|cer|mrr|ndcg|elo|auc|win[- ]?rate|perplexity|ppl|bert[- ]?score|map@\d+)"
    r"(?:[- ]?scores?)?\b"
    r"(?:\s*(?:分数|得分))?|困惑度|胜率"
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
    absent: bool


@lru_cache(maxsize=1)
def _rules() -> tuple[_Rule, ...]:
    path = Path(__file__).parent / "metric_words.yaml"
    rules = []
    for number, entry in enumerate(resources.yaml_table(path), 1):
        unknown = set(entry) - {"re", "keys", "when", "unless", "take", "over", "weak", "absent"}
        if unknown or not entry.get("keys") or entry.get("take", "first") not in {"first", "all", "each"}:
            raise ValueError(f"{path.name}: rule {number} is malformed: {sorted(unknown) or entry}")
        rules.append(
            _Rule(
                _compiled(entry["re"]), tuple(entry["keys"]),
                late(entry["when"]) if "when" in entry else None,
                late(entry["unless"]) if "unless" in entry else None,
                entry.get("take", "first"), bool(entry.get("over")), bool(entry.get("weak")), bool(entry.get("absent")),
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
    found = [m for m in mentioned(text, resolver, run) if not _NO_METRIC.fullmatch(m.text)]
    found = [m for m in found if m.key is not None or not _FRAMEWORK.fullmatch(m.text)]
    if not _SLOWEST_ONE.search(text):  # of the steps rather than of the trajectories
        found = [m for m in found if m.text.lower() != "slowest"]
    found = [m for m in found if not (m.text.lower().startswith("epoch") and _counted_epochs(text[: m.start]))]
    if run is None:
        return tuple(found)
    found = _unjointed(text, _widened(text, found, run, resolver), run, resolver)
    found = _begun(text, found, run, resolver)
    found = [_of_the_policy(_chosen(m, text, run, resolver), run, resolver) for m in found]
    found = first_words(text, found, run, resolver)
    found = respelt(text, found, run, resolver)
    found, told = _by_facets(text, found, run, resolver)
    found = [_owned(m, text, run, resolver) for m in _by_rule(text, found, run, resolver, told)]
    found = _stages_beside(text, _counted_steps(text, found), run, resolver)
    found = told_apart(text, owned_lengths(text, found))
    found = spelt_with_blanks(text, _elsewhere(text, found, run, told), run, resolver)
    found = by_number(text, by_words(text, joined(text, found, run, resolver), run, resolver), run, resolver)
    seen: dict[tuple[str | None, int], Mentioned] = {}
    for mention in sorted(found, key=lambda m: m.start):
        seen.setdefault((mention.key, mention.start if mention.key is None else -1), mention)
    return tuple(seen.values())


#: Ends of a stage's key that stand for other things as well.
_NOT_ALONE = frozenset({"step", "reward", "testing", "total"})


def _stages_beside(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """A stage by the end of its key alone, beside another stage of the log: "gen 是 update_actor 的几倍"."""
    heads = {m.key.rpartition("/")[0] for m in found if m.key is not None and m.key.startswith(TIMED)}
    for match in re.finditer(r"(?<![\w/@.-])[a-z][a-z_]+(?![\w/@-])", text) if heads else ():
        apart = all(m.end <= match.start() or match.end() <= m.start for m in found)
        key = next((f"{head}/{match.group()}" for head in heads if f"{head}/{match.group()}" in run.columns), None)
        if apart and key is not None and match.group() not in _NOT_ALONE and key not in {m.key for m in found}:
            found = [*found, as_mention(run, resolver, key, match.start(), match.end(), match.group())]
    return found


def _counted_epochs(before: str) -> bool:
    """Whether the text before "epoch" counts epochs ("one more epoch"), and does not ask how many were run."""
    return _SOME_EPOCHS.search(before) is not None and not _HOW_MANY_RUN.search(before)


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
        groups = held(patterns, run.metrics)
        if groups and _whole(lower, start, end):
            found = [m for m in found if m not in inside]
            found.append(as_mention(run, resolver, groups[0][0], start, end, text[start:end]))
    return found


def _whole(text: str, start: int, end: int) -> bool:
    left = start == 0 or not (text[start - 1].isascii() and text[start - 1].isalnum() and text[start].isascii())
    return left and (end == len(text) or not (text[end].isascii() and text[end].isalnum() and text[end - 1].isascii()))


def _unjointed(text: str, found: list[Mentioned], run: Run, resolver: Resolver) -> list[Mentioned]:
    """Keys spelt with spaces: ``vf explained var`` for ``critic/vf_explained_var``."""
    words = [(m.start(), m.end(), m.group().lower()) for m in re.finditer(r"[A-Za-z0-9]+", text)]
    if len(words) < 2:
        return found
    known = tails(tuple(run.metrics))
    at = 0
    while at < len(words):
        for length in range(min(6, len(words) - at), 1, -1):
            run_of = words[at : at + length]
            start, end = run_of[0][0], run_of[-1][1]
            spelt = tuple(word for _, _, word in run_of)
            keys = known.get(spelt, [])
            if not keys:
                continue
            whole = [key for key in keys if tuple(re.findall(r"[a-z0-9]+", key.lower())) == spelt]
            keys = whole or keys  # "num_turns mean" where there is a `val-aux/num_turns/mean` too
            free = re.fullmatch(r"[A-Za-z0-9]+(?:[ _/.-][A-Za-z0-9]+)+", text[start:end])
            inside = [m for m in found if m.start < end and start < m.end]
            shorter = all(
                start <= m.start and m.end <= end and ((m.start, m.end) != (start, end) or m.key is None)
                for m in inside
            )  # a key written out wins over the card that it shares with others
            if len(keys) == 1 and free and shorter:
                found = [m for m in found if m not in inside]
                found.append(as_mention(run, resolver, keys[0], start, end, text[start:end]))
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
        keys = _starting(word, run) or (_headed(word, run) if _A_GROUP.search(text) else [])
        if keys:
            found = [m for m in found if m not in inside]
            found += [as_mention(run, resolver, key, match.start(), match.end(), match.group()) for key in keys]
    return found


_A_GROUP = re.compile(
    r"(?i)[一这那整]组|相关|[这那]几个|[这那]些|全部|所有|都(?:列|给|报|看)|全列|系列|\b(?:all|every|group|family|metrics)\b"
)
MOST_HEADED = 24


def _headed(word: str, run: Run) -> list[str]:
    """All keys that begin with a component, where its whole group is asked for: "rollout_corr 那一组"."""
    return [key for key in run.metrics if key.lower().partition("/")[0] == word][:MOST_HEADED]


_CRITICS = re.compile(r"(?i)(?:critics?|价值网络|value (?:network|model|function))(?:'s?| ?的)?\s*$")


_OF_CRITIC = re.compile(r"(?i)\s*(?:of|for|in) (?:the |my |our )?(?:critic|value (?:network|model|function|net))\b")


def _owned(mention: Mentioned, text: str, run: Run, resolver: Resolver) -> Mentioned:
    """The critic's own key where a question speaks of the critic's: never the actor's in its place."""
    key = mention.key
    if (
        key is None
        or "actor" not in key.split("/")
        or not (
            _CRITICS.search(text[max(0, mention.start - 40) : mention.start]) or _OF_CRITIC.match(text, mention.end)
        )
    ):
        return mention
    own = "/".join("critic" if part == "actor" else part for part in key.split("/"))
    own = own.replace("pg_loss", "vf_loss")  # what a critic minimises is no policy gradient
    own = own if own in run.columns else own.partition("@")[0]  # ROLL sums the actor's alone: "clipfrac@sum"
    if own in run.columns:
        return as_mention(run, resolver, own, mention.start, mention.end, mention.text)
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
    timed = [key for key in tails if key.startswith(TIMED)]
    shortest = sorted(tails, key=lambda key: key.count("/"))
    if len(tails) > 1 and not timed and shortest[0].count("/") < shortest[1].count("/"):
        return as_mention(run, resolver, shortest[0], mention.start, mention.end, mention.text)
    if len(tails) > 1 and len(timed) == 1 and not re.search(r"(?i)per.?token|每.{0,2}token", text):
        return as_mention(run, resolver, timed[0], mention.start, mention.end, mention.text)
    return mention


def _of_the_policy(mention: Mentioned, run: Run, resolver: Resolver) -> Mentioned:
    """TRL's own ``clip_ratio/…`` where "clip_ratio" is asked for and the log holds it: not the truncated answers'."""
    own = next((key for key in _CLIP_RATIOS if key in run.columns), None)
    if own is None or not re.fullmatch(r"(?i)clip[_ ]?ratio", mention.text) or mention.key == own:
        return mention
    return as_mention(run, resolver, own, mention.start, mention.end, mention.text)


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
        lost = {gap.metric for gap in run.missing}
        found += [
            as_mention(run, resolver, key, one.start, one.end, text[one.start : one.end])
            if key in run.columns or key in lost
            else behind_the_cuts(run, resolver, key, one.start, one.end, text)
            for key in one.keys
        ]
        told += one.spans
    return found, tuple(told)


_EACH_STEP = re.compile(r"(?:每|单|一)个?一?步(?:里|内|中)?|每个 ?step")
_TIME = re.compile(
    r"(?i)久|秒|时|快|慢|分钟|[花费]|\btime\b|"
    r"\bsecs?\b|\bseconds?\b|\blong\b|\bfast|\bslow|速"
)
_OF_A_STEP = re.compile(r"(?i)(?:步|step)")


def _counted_steps(text: str, found: list[Mentioned]) -> list[Mentioned]:
    """Without the step's time that "第 3 步耗时" seems to name beside another metric: the step is where, not what."""
    others = [m for m in found if m.key is not None]
    if not _TIME.search(text):  # "how many answers does each step train on": a step, and not its time
        found = [m for m in found if not _EACH_STEP.fullmatch(m.text)]
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
                found += [as_mention(run, resolver, key, start, end, match.group()) for key in keys]
                break
            if rule.absent and not outside and (known := resolver.key(rule.keys[0], run.framework)) is not None:
                found = [m for m in found if m not in touching]
                found.append(Mentioned(start, end, match.group(), known.card))
                break
            told_already = any(m.key or (m.card is not None and m.card.framework == run.framework) for m in touching)
            if not told_already and (lost := _lost(rule, run, resolver)) is not None and not (outside and rule.weak):
                found = [m for m in found if m not in touching]
                found.append(Mentioned(start, end, match.group(), lost))
                break
    return found


def _lost(rule: _Rule, run: Run, resolver: Resolver) -> Card | None:
    """The card of a rule's first key where every training row was cut before it could stand there."""
    cut = {gap.step for gap in run.missing}
    if not cut or not cut.issuperset(run.distinct_steps[1:]) or "*" in rule.keys[0]:
        return None
    found = resolver.key(rule.keys[0], run.framework)
    return None if found is None or found.card.framework != run.framework else found.card


def _elsewhere(text: str, found: list[Mentioned], run: Run, told: Sequence[tuple[int, int]] = ()) -> list[Mentioned]:
    """A score that the log does not hold stays unknown, rather than be taken for another."""
    for match in ELSEWHERE.finditer(text):
        word = re.findall(r"[a-z0-9]+", match.group().lower())
        if word and any(word[0] in key.lower() for key in run.metrics):
            continue
        if any(a < match.end() and match.start() < b for a, b in told):
            continue
        found = [m for m in found if m.end <= match.start() or match.end() <= m.start]
        found.append(Mentioned(match.start(), match.end(), match.group(), None))
    return found


def _keys(rule: _Rule, text: str, run: Run) -> list[str]:
    groups = held(rule.keys, run.metrics)
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
    keyed = [m for m in mentions if m.key is not None]
    if pointed and len(keyed) == 1 and len(several := _listed_statistics(keyed[0], text, run, resolver)) > 1:
        return several
    return tuple(
        m if places.count((m.start, m.end)) > 1 else _statistic(m, text, run, resolver, pointed) for m in mentions
    )


#: Statistics in a list, by the ends of their keys: "avg / max / min / clip".
_LISTED = {
    "mean": r"平均值?|均值|\bmean\b|\baverage\b|\bavg\b",
    **_STATISTICS,
    "clip_ratio": r"\bclip(?:ped|ping)?(?:[ _](?:ratio|rate|frac\w*))?\b|截断(?:率|比例)?",
}
_BESIDE = r"\s*(?:[,，、/+&]|\band\b|和|与|及|以及)\s*(?:the\s+)?"


def _listed_statistics(mention: Mentioned, text: str, run: Run, resolver: Resolver) -> tuple[Mentioned, ...]:
    """The keys of a metric's statistics where a list of them is asked for ("avg + max"); else none."""
    key = mention.key
    any_one = "|".join(f"(?:{words})" for words in _LISTED.values())
    listed = re.search(rf"(?i)(?:{any_one})(?:{_BESIDE}(?:{any_one}))+", text)
    if key is None or not key.endswith("/mean") or listed is None:
        return ()
    found = [
        (at.start(), f"{key[: -len('mean')]}{name}")
        for name, words in _LISTED.items()
        if (at := re.search(rf"(?i){words}", listed.group())) is not None
    ]
    held = [one for _, one in sorted(found) if one in run.columns]
    return tuple(as_mention(run, resolver, one, mention.start, mention.end, mention.text) for one in held)


_LENGTH_BEHIND = re.compile(
    r"(?i)^\s*(?:len(?:gth)?s?\b|长度)|^\s*的?(?:在|于|,)?\s*(?:第\s*\d{1,7}\s*步|step\s*\d{1,7})(?:的?时候?|那一?步|里)?(?=\s*的?最)"
)


def _statistic(mention: Mentioned, text: str, run: Run, resolver: Resolver, pointed: bool) -> Mentioned:
    mention = of_any(mention, text, run, resolver)
    key = mention.key
    for name in ("mean", *_STATISTICS):  # "generate_sequences 的 mean"
        spelt = f"{mention.text.lower()}/{name}"
        own = [k for k in run.metrics if k.lower() == spelt] or [
            k for k in run.metrics if k.lower().endswith(f"/{spelt}")
        ]
        if len(own) == 1 and own[0] != key and re.match(rf"(?i)\s*的?\s*{name}\b", text[mention.end :]):
            return as_mention(run, resolver, own[0], mention.start, mention.end, mention.text)
    if key is None or not key.endswith("/mean") or mention.text.lower() == key.lower():
        return mention
    before, after = text[max(0, mention.start - 12) : mention.start], text[mention.end : mention.end + 24]
    after = _LENGTH_BEHIND.sub("", after)[:8]  # "response len 的 max": the name goes on
    for name, words in _STATISTICS.items():
        sibling = f"{key[: -len('mean')]}{name}"
        beside = (pointed and re.match(rf"(?i)\s*的?\s*(?:{words})", after)) or (
            re.match(rf"(?i)\s*{name}\s*[?.!]*$", after)
            or ((pointed or name == "std") and re.search(rf"(?i)(?:{words})\s*(?:of|的)?\s*$", before))
        )
        if sibling in run.columns and beside:
            return replace(as_mention(run, resolver, sibling, mention.start, mention.end, mention.text))
    return mention


def categories() -> list[dict[str, Any]]:
    """The rules as data, for tests: words, keys and conditions."""
    return [{"words": rule.words.pattern, "keys": rule.keys, "take": rule.take} for rule in _rules()]
