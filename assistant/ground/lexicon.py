"""The names of a run's metrics in prose: keys, tails of keys, short names, plain words; built once a run.

A name may mean several keys (``reward`` is ``critic/rewards/mean`` and ``critic/score/mean`` where both are logged):
the first is what is usually meant, the others are admitted. A statistic beside a name chooses a sibling
(``max response length``, ``响应长度的最大值``). Names that are metrics elsewhere and no key of this run are told apart
from words that are no metric at all.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assistant import resources
from assistant.knowledge import Resolver
from assistant.knowledge.resolver import plain_words
from assistant.model import Run

STATISTICS: Final = ("mean", "max", "min", "std")
#: Ends of keys that are no names by themselves.
_GENERIC: Final = frozenset(["mean", "max", "min", "std", "total", "avg", "sum", "count", "step", "steps", "time", "value", "values", "train", "val", "eval", "test", "actor", "critic", "data", "loss_", "all", "score_", "rate", "s", "ms", "it", "iter", "epoch", "gen_", "reward_", "model", "batch", "size", "lr_", "ratio", "update", "total_time", "start", "end", "other", "others", "tokens", "memory", "num", "var", "median", "p50", "p90", "p99", "minmax", "diff", "global", "training", "perf", "rollout", "policy", "clip", "low", "high", "region", "correct", "diff", "right", "error", "mixed", "norm", "slowest", "fastest", "longest", "shortest"])  # fmt: skip
_BESIDE: Final = {
    "mean": (
        r"(?:mean|average|avg\.?|averaged|typical|平均的?|均值)",
        r"(?:mean|average|avg|averages|averaged|均值|平均值?)",
    ),
    "max": (
        r"(?:max(?:imum|imal)?|largest|longest|highest|biggest|peak|slowest|最大的?|最长的?|最高的?|最慢的?)",
        r"(?:max(?:imum)?|最大值|最高值|最大|最长|最高|上限|峰值)",
    ),
    "min": (
        r"(?:min(?:imum|imal)?|smallest|shortest|lowest|fastest|最小的?|最短的?|最低的?|最快的?)",
        r"(?:min(?:imum)?|最小值|最低值|最小|最短|最低|下限)",
    ),
    "std": (r"(?:std|standard deviation|标准差)", r"(?:std|standard deviation|标准差|spread)"),
}
_BEFORE: Final = {
    name: re.compile(rf"(?i)(?<![A-Za-z]){before}(?:\s+(?:value|of))?(?:\s+(?:of\s+)?(?:the\s+)?)?\s*[`*]*$")
    for name, (before, _) in _BESIDE.items()
}
_AFTER: Final = {
    name: re.compile(rf"(?i)^[`*]*(?:\s*(?:的|[（(/]|'s|’s))?\s*{after}(?![A-Za-z@])")
    for name, (_, after) in _BESIDE.items()
}
_AVERAGED: Final = re.compile(r"(?i)(?:mean|average)\b|平均")
#: No score is a loss.
_SCORED: Final = re.compile(r"(?i)\b(?:scores?|accuracy|rewards?)$|(?:得分|分数|准确率|奖励)$")
_LOSS_KEY: Final = re.compile(r"(?:^|[/_])loss$")
_EXTREME_KEY: Final = re.compile(r"(?:^|[/_])(?:max|min|std)(?:$|[/_])")
_STATISTIC: Final = re.compile(
    r"(?i)(?<![A-Za-z0-9_/])(mean|std|best|worst|maj|avg|pass)[@ ]?@\s?(\d+)(?:/(mean|std))?(?![\d/])"
)
_KEY_LIKE: Final = re.compile(
    r"(?<![\w/@.])[A-Za-z][\w.]*(?:[/@][\w.@-]*\w)+|(?<![\w/@.])[A-Za-z]+(?:_[A-Za-z0-9]+)+(?![\w/@])"
)
_COUNTER: Final = re.compile(r"(?i)(?:^|/)(?:global_?|training_?|train_?)?(?:steps?|epochs?|iterations?)$")
_UNKNOWN_TAIL: Final = re.compile(r"^(?:系数|温度|模型|函数|器|权重|惩罚|正则|预热|调度|采样器|头|层)")
_UNKNOWN_NEXT: Final = re.compile(r"(?i)[ -](?:coeff?(?:icient)?s?|bonus|penalty|schedule|regulari[sz](?:er|ation))\b")
_UNKNOWN_HEAD: Final = re.compile(
    r"(?i)(?:\b(?:format|process|outcome|dense|shaped|intrinsic|auxiliary|style|safety|helpfulness|teacher|student|parameter|update|effective|spectral|reward[ -]?model|weight|feature|attention|router|expert|token-level)[\s-]+|"
    r"(?:格式|过程|结果|稠密|内在|辅助|安全|风格|有效|参数|权重|特征|路由|专家|教师|学生|重要性|奖励模型)(?:的)?)[`*]*$"
)
#: "Format reward" on the card of any reward function: of a key that spells it.
_PART_OF_REWARD: Final = re.compile(
    r"(?i)(?P<part>format|accuracy|correctness|格式|准确率?|正确性?)[\s_-]?(?:rewards?|奖励)"
)
_SPELT: Final = {"格式": "format", "准确": "acc", "正确": "correct", "accuracy": "acc", "correctness": "correct"}
_COUNTED_NOUN: Final = re.compile(
    r"(?i)rollouts?|responses?|prompts?|answers?|trajector(?:y|ies)|samples?|generations?|turns?|gpus?|cards?|tokens?|completions?|validations?|验证|评测|回答|响应|回复|提示"
)
#: Words that are metrics, except as in these: "a loss of 0.65", "turns negative".
_IDIOMS: Final = {
    "loss": re.compile(
        r"(?i)\b(?:an?|the|net|total) \0 (?:of|in|to|from(?! *[\d.]+ *(?:to|→|->)))\b|(?:%|percent|['’]s) \0 (?:of|in|from|between|over|at|on|by)\b|\d \0 (?:in|between)\b"
    ),
    "as training": re.compile(r"(?i)\0 (?:went|goes|progress|proceed|continue|advance|move|unfold|drag|carrie)"),
    "than training": re.compile(r"(?i)\0 (?:rewards?|scores?|loss(?:es)?|sets?|accuracy|steps?|data)\b"),
    "than the training": re.compile(r"(?i)\0 (?:rewards?|scores?|loss(?:es)?|sets?|accuracy|steps?|data)\b"),
    "turns": re.compile(
        r"(?i)(?<!average )(?<!avg )(?<!mean )(?<!number of )(?<!maximum )(?<!minimum )\0 (?:after|at|once|when|over|upwards?|downwards?|back|negative|positive|out|into|around|up|down|sour|bad|back|from|to)\b"
    ),
    "累计": re.compile(r"\0(?:提升|上升|下降|增加|减少|提高|降低|上涨|下跌|涨|跌|改善)"),
    "触顶": re.compile(r"\0\s*(?:于|到|在)?\s*[-−\d.]"),
    "total time": re.compile(r"(?i)\0 (?:(?:spent|used|needed|taken) )?(?:on|in|for|by) "),
    "gradient": re.compile(r"(?i)\0 (?:steps?|updates?|ascent|descent)\b"),
}
_LENGTHY: Final = re.compile(r"(?i)\btok(?:en)?s?\b|\blong|\bshort|\blength|长|短|字数")
_UNIT_LIKE: Final = re.compile(
    r"(?i)tokens? per second|tps|(?:tokens?|toks?|ms|s|nats?|samples?|steps?|GiB|GB|it|rows?)(?:/(?:s|sec|second|GPU|card|worker|token|step|rank))+|and/or|w/o|n/a|i/o"
)


@dataclass(frozen=True, slots=True)
class Named:
    """A metric, or a derived quantity, that a text names at ``start:end``.

    Attributes:
        keys: what it may mean, the usual first; empty where the log does not hold it.
        derived: names of derived quantities, where it is one.
        statistic: ``max``, ``min`` or ``mean`` where such a word stands beside it (the span includes it).
        exact: the key is spelled out.
        absent: it is a metric that this log does not hold.
    """

    start: int
    end: int
    text: str
    keys: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    statistic: str = ""
    exact: bool = False
    absent: bool = False
    family: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def words() -> dict[str, Any]:
    """The shipped table of names and cues (``words.yaml``)."""
    table: dict[str, Any] = resources.yaml_table(Path(__file__).with_name("words.yaml"))
    return table


class Lexicon:
    """Names of one run's metrics.

    Args:
        run: whose keys.
        resolver: from keys to cards, whose names and plain words count too.
    """

    def __init__(self, run: Run, resolver: Resolver) -> None:
        self.run = run
        self.resolver = resolver
        self._held: dict[str, str] = {key.lower(): key for key in run.columns}
        self._entries: dict[str, tuple[int, list[str]]] = {}
        self._derived: dict[str, tuple[str, ...]] = {}
        self.missing: set[str] = set()
        self._weak: set[str] = set()
        self._build()
        self._by_start: dict[str, list[str]] = {}
        for phrase in {*self._entries, *self._derived, *self.missing}:
            self._by_start.setdefault(phrase[:1], []).append(phrase)
        for phrases in self._by_start.values():
            phrases.sort(key=len, reverse=True)

    # -- building ------------------------------------------------------------------------------
    def _add(self, phrase: str, keys: Iterable[str], rank: int) -> None:
        phrase = re.sub(r"\s+", " ", phrase.strip().lower())
        if not phrase or (len(phrase) < 2 and phrase.isascii()) or (rank > 1 and phrase in _GENERIC):
            return
        known = self._entries.get(phrase)
        if known is None or rank < known[0]:
            self._entries[phrase] = (rank, list(dict.fromkeys(keys)))
        elif rank == known[0]:
            known[1].extend(key for key in keys if key not in known[1])

    def _build(self) -> None:
        keys = list(self.run.columns)
        for key in keys:
            self._add(key, [key], 0)
            if _COUNTER.search(key):
                continue
            head = key.split("/")[0]
            if "/" in key and "_" in head and key.endswith("/mean") and head.lower() not in _GENERIC:
                self._add(head, [key], 4)
            pieces = key.split("/")
            stem = pieces[:-1] if len(pieces) > 1 and pieces[-1] in STATISTICS else pieces
            central = stem is pieces or pieces[-1] == "mean"
            for at in range(len(pieces)):
                self._tail(pieces[at:], key, 2)
                if central and stem is not pieces and at < len(stem):
                    self._tail(stem[at:], key, 2 if len(stem) == 1 else 3)
            if len(pieces) > 1 and pieces[-1] in STATISTICS and f"{'/'.join(stem)}/mean" not in self.run.columns:
                self._tail(stem, key, 4)
        for entry in plain_words():
            groups = [key for key in self._groups(entry["keys"]) if not _COUNTER.search(key)]
            for word in map(str, entry["words"]):
                if groups:
                    self._add(word, groups, 1)
                elif len(word) > 2 and "checkpoint" not in word.lower():
                    self.missing.add(word.lower())
        for word, patterns in words()["names"].items():
            if groups := self._groups(patterns):
                for spelling in str(word).split("|"):
                    self._add(spelling.strip(), groups, 1)
        for key in keys:
            found = self.resolver.key(key, self.run.framework)
            if found is None:
                continue
            card = found.card
            primary = not (
                key.rsplit("/", 1)[-1] in {"max", "min", "std"} and f"{key.rsplit('/', 1)[0]}/mean" in self.run.columns
            )
            if primary and not _COUNTER.search(key):
                named = {*card.names, *card.words("zh"), *card.words("en"), card.title("zh"), card.title("en")}
                for word in named:
                    if "@" not in word and "{" not in word and not _of_another_part(word, key):
                        self._add(word, [key], 5)
        for word, patterns in words()["weak"].items():
            if groups := self._groups(patterns):
                for spelling in str(word).split("|"):
                    self._weak.add(spelling.strip().lower())
                    self._add(spelling.strip(), groups, 6)
        for word in words()["foreign"]:
            low = str(word).lower()
            self.missing |= {spelt for spelt in (low, low.replace(" ", "-", 1)) if spelt not in self._entries}
        for phrase, names in words()["derived"].items():
            for spelling in str(phrase).split("|"):
                self._derived[spelling.strip().lower()] = tuple(names)
        self.missing -= set(self._entries)

    def _tail(self, pieces: list[str], key: str, rank: int) -> None:
        tail = "/".join(pieces)
        if tail.lower() in _GENERIC:
            return
        self._add(tail, [key], rank)
        plain = re.sub(r"[/_]+", " ", tail)
        if plain.lower() not in _GENERIC and len(plain) > 2:
            self._add(plain, [key], rank + 1)
            self._add(plain.replace(" ", "-"), [key], rank + 1)

    def _groups(self, patterns: Iterable[str]) -> list[str]:
        """Keys of the first pattern that is held, then exactly named others."""
        result: list[str] = []
        for pattern in patterns:
            lowered = str(pattern).lower()
            if lowered.startswith("+"):  # beside the first, not instead of it
                result += [key for low, key in self._held.items() if fnmatchcase(low, lowered[1:])]
            elif "*" not in lowered:
                if lowered in self._held:
                    result.append(self._held[lowered])
            elif not result:
                result += [key for low, key in self._held.items() if fnmatchcase(low, lowered)]
        return list(dict.fromkeys(result))

    # -- reading -------------------------------------------------------------------------------
    def named(self, text: str) -> list[Named]:
        """Every metric that a text names, left to right, the longest name first, not overlapping."""
        lower = text.lower().replace("\n", " ")
        if len(lower) != len(text):  # "İ" in small letters is two characters, and places would no longer agree
            lower = "".join(low if len(low := char.lower()) == 1 else char for char in text).replace("\n", " ")
        found: list[Named] = []
        taken = bytearray(len(text))

        def take(item: Named) -> None:
            if not any(taken[item.start : item.end]):
                taken[item.start : item.end] = b"\1" * (item.end - item.start)
                found.append(item)

        for match in _KEY_LIKE.finditer(text):
            key = self._held.get(match.group().rstrip(".-").lower())
            if key is not None:
                take(Named(match.start(), match.start() + len(key), match.group(), (key,), exact=True))
        for match in _STATISTIC.finditer(text):
            keys = self._counted(match, lower)
            if keys:
                take(Named(match.start(), match.end(), match.group(), keys, exact=len(keys) == 1))
            elif any("@" in key for key in self.run.columns):
                take(Named(match.start(), match.end(), match.group(), absent=True))
        at, length = 0, len(lower)
        while at < length:
            item = None if taken[at] else self._phrase(text, lower, at)
            if item is None or any(taken[item.start : item.end]):
                at += 1
            else:
                take(item)
                at = item.end
        for match in _KEY_LIKE.finditer(text):
            if _UNIT_LIKE.fullmatch(match.group()):
                continue
            if not any(taken[match.start() : match.end()]) and self._looks_absent(text, match):
                take(Named(match.start(), match.end(), match.group(), absent=True))
        found.sort(key=lambda n: n.start)
        return [self._with_statistic(item, text) for item in _merged(found, text)]

    def _phrase(self, text: str, lower: str, at: int) -> Named | None:
        if at and _word(lower[at]) and (_word(lower[at - 1]) or lower[at - 1] in "/@"):
            return None
        for phrase in self._by_start.get(lower[at], ()):
            if not lower.startswith(phrase, at):
                continue
            end = at + len(phrase)
            if end < len(lower) and _word(lower[end - 1]):
                if (
                    lower[end] == "s"
                    and not _word(lower[end + 1 : end + 2])
                    and not (lower[end + 1 : end + 2] in {"/", "@"} and _word(lower[end + 2 : end + 3]))
                ):
                    end += 1
                elif _word(lower[end]) or (
                    lower[end] in "/@" and _word(lower[end + 1 : end + 2]) and not lower[end + 1].isdigit()
                ):
                    continue
            entry = self._entries.get(phrase)
            shown = text[at:end]
            if shown.lower() == "times":
                continue  # "2.7 times", no metric "time"
            if phrase in self._weak and not _LENGTHY.search(text):
                continue
            if (idiom := _IDIOMS.get(phrase)) and idiom.search(
                text[max(0, at - 12) : at] + "\0" + text[end : end + 14]
            ):
                continue
            if _COUNTED_NOUN.fullmatch(phrase) and re.search(
                r"(?i)(?:\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|thirty))\s?(?:次|个|条|轮)?\s?$",
                text[:at],
            ):
                continue  # "16 rollouts": a unit
            if _UNIT_LIKE.fullmatch(phrase) and re.search(r"[\dkKMB万]\s?$", text[:at]):
                continue
            if entry is not None and entry[0] and self._within_unknown(text, at, end):
                return Named(at, end, shown, absent=True)
            if entry is not None:
                keys = tuple(entry[1])
                return Named(at, end, shown, keys, exact=entry[0] == 0, family=self._family(keys))
            if phrase in self._derived:
                return Named(at, end, shown, derived=self._derived[phrase])
            return Named(at, end, shown, absent=True)
        return None

    @staticmethod
    def _within_unknown(text: str, start: int, end: int) -> bool:
        """Whether a name is only a part of a longer one that the log does not hold (``格式奖励``, ``format reward``)."""
        if _UNKNOWN_HEAD.search(text[max(0, start - 18) : start]):
            return True
        if _UNKNOWN_NEXT.match(text, end):
            return True
        return "\u3400" <= text[end - 1] <= "\u9fff" and bool(_UNKNOWN_TAIL.match(text[end : end + 3]))

    def _counted(self, match: re.Match[str], lower: str) -> tuple[str, ...]:
        """Keys of ``best@30``: of the variable that the sentence names, else accuracy first."""
        name = f"{match[1]}@{match[2]}".lower()
        tail = f"/{match[3].lower()}" if match[3] else ""
        held = [
            key
            for low, key in self._held.items()
            if low.endswith((f"/{name}{tail}", f"/{name}/mean" if not tail else f"/{name}{tail}"))
        ]
        for words_, part in (
            (r"reward|奖励", "/reward/"),
            (r"\bscore|得分|分数", "/score/"),
            (r"\bacc|准确|正确率", "/acc/"),
        ):
            if re.search(words_, lower) and (chosen := [key for key in held if part in key.lower()]):
                return tuple(chosen)
        return tuple(sorted(held, key=lambda key: "/acc/" not in key.lower()))

    def _looks_absent(self, text: str, match: re.Match[str]) -> bool:
        token = match.group().rstrip(".-")
        coded = text[match.start() - 1 : match.start()] == "`" and text[match.end() : match.end() + 1] == "`"
        first = token.split("/", 1)[0].lower()
        if re.search(r"\.(?:py|ya?ml|json|md|log|txt|sh|html?|csv)$|^https?|//", token):
            return False
        if "/" in token and any(key.lower().startswith(first + "/") for key in self._held.values()):
            return True
        if coded and ("/" in token or "_" in token):
            return True
        if "/" in token and ("_" in token or token.endswith(("/mean", "/max", "/min", "/std"))):
            return True
        if self.resolver.key(token, self.run.framework) is not None and (coded or "/" in token):
            return True
        return bool("_" in token and self.resolver._names.get(token.lower()))

    def _family(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key.rsplit("/", 1)[0] for key in keys if "/" in key))

    def _with_statistic(self, item: Named, text: str) -> Named:
        """The sibling that a word beside the name asks for, and the word itself for an extreme over steps."""
        if not item.keys or item.exact:
            return item
        if _SCORED.search(item.text) and any(not _LOSS_KEY.search(key) for key in item.keys):
            item = replace(item, keys=tuple(key for key in item.keys if not _LOSS_KEY.search(key)))
        if _AVERAGED.match(item.text) and len(item.keys) > 1:
            central = tuple(key for key in item.keys if not _EXTREME_KEY.search(key))
            item = replace(item, keys=central or item.keys)
        before, after = text[max(0, item.start - 28) : item.start], text[item.end : item.end + 24]
        for name in STATISTICS:
            if _BEFORE[name].search(before) or _AFTER[name].search(after):
                siblings = [
                    sibling
                    for key in (() if name in {"max", "min"} and _AVERAGED.match(item.text) else item.keys)
                    if (sibling := _sibling(key, name)) in self.run.columns and sibling != key
                ]
                if any(key.endswith(("/" + name, "_" + name)) for key in item.keys):
                    return replace(item, statistic="")
                keys = (*siblings, *(item.keys if name != "std" else ())) if siblings else item.keys
                return replace(item, keys=keys, statistic=name)
        return item


def of_its_own(name: Named) -> bool:
    """Whether a statistic named with a metric has a key of its own: ``max response length``."""
    return name.statistic in {"max", "min"} and bool(name.keys) and name.keys[0].endswith(f"/{name.statistic}")


def _of_another_part(word: str, key: str) -> bool:
    """Whether a card's word names a part of the reward that a key of this card is not."""
    match = _PART_OF_REWARD.match(word)
    if match is None:
        return False
    part = match["part"].lower()
    return _SPELT.get(part, _SPELT.get(part[:2], part)) not in key.lower()


def _merged(found: list[Named], text: str) -> list[Named]:
    """``entropy (`actor/entropy`)`` is one naming: the exact key decides."""
    result: list[Named] = []
    for item in found:
        last = result[-1] if result else None
        if (
            last is not None
            and re.fullmatch(r"[\s`*]*[（(]?[\s`*]*", text[last.end : item.start])
            and item.start - last.end <= 5
        ):
            shared = [key for key in item.keys if key in last.keys]
            if item.exact and last.keys and not last.exact:
                result[-1] = replace(item, start=last.start, text=text[last.start : item.end])
                continue
            if (
                "@" in last.text
                and item.keys
                and not shared
                and re.fullmatch(r"[\s`*]*(?:的)?[\s`*]*", text[last.end : item.start])
            ):
                result[-1] = replace(last, end=item.end)
                continue
            if last.exact and shared:
                result[-1] = replace(last, end=item.end)
                continue
            if shared:
                result[-1] = replace(last, end=item.end, keys=tuple(shared), text=text[last.start : item.end])
                continue
        result.append(item)
    return result


def _sibling(key: str, statistic: str) -> str:
    head, _, tail = key.rpartition("/")
    if tail in STATISTICS:
        return f"{head}/{statistic}"
    return (
        re.sub(r"(?:mean|avg|average)", statistic, key) if re.search(r"mean|avg|average", key) else f"{key}/{statistic}"
    )


def _word(char: str) -> bool:
    return bool(char) and char.isascii() and (char.isalnum() or char == "_")
