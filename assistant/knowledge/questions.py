"""What a question about metrics consists of: its own words, the framework it names, the kind of card it wants.

The tables are ``knowledge/search.yaml``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from assistant import resources
from assistant.knowledge.terms import fold, terms

FRAMEWORKS: Final = {
    "verl": "verl", "trl": "TRL", "roll": "ROLL", "openrlhf": "OpenRLHF", "slime": "slime", "nemo": "NeMo-RL",
    "areal": "AReaL", "swift": "ms-swift",
}  # fmt: skip

OTHER_FRAMEWORKS: Final = {
    "sb3": "Stable-Baselines3", "stable": "Stable-Baselines3", "prime": "prime-rl", "minimind": "minimind",
    "deepspeed": "DeepSpeed-Chat", "factory": "LLaMA-Factory", "rllib": "RLlib", "rsl": "rsl_rl",
    "spinning": "Spinning Up",
}  # fmt: skip
"""Frameworks with a few cards, by what stands in their spellings."""

BUILT_ON: Final = {
    "unsloth": "TRL", "axolotl": "TRL", "open-r1": "TRL", "open r1": "TRL", "tinyzero": "verl", "search-r1": "verl",
    "ragen": "verl", "easyr1": "verl", "easy-r1": "verl", "logic-rl": "verl",
}  # fmt: skip
"""Projects that train with another one's trainer, and log what it logs."""

#: Between texts that are worked on at once: a character that no text holds, and no space.
_APART: Final = "\ue000"
_ASKED: Final = re.compile(
    r"(?<![a-z0-9/_])(verl|trl|roll|openrlhf|slime|nemo(?:[- ]?rl)?|areal|(?:ms-?)?swift"
    r"|sb3|stable[- ]?baselines3?|prime[- ]rl|minimind|deepspeed[- ]chat|llama[- ]?factory|rllib|rsl[-_]rl"
    rf"|spinning[- ]?up|{'|'.join(BUILT_ON)})"
    r"(?![a-z0-9/_])"
)
_BY_SPELLING: Final = {**FRAMEWORKS, **OTHER_FRAMEWORKS, **BUILT_ON}

FRAMEWORKS_OF_PAIR: Final = ("asked", "source")

_ONE: Final = f"(?P<asked>{_ASKED.pattern})"
_CALLED: Final = "name|key|keys|metric|metrics|equivalent|counterpart|version|one|term|call|calls|analogue"
_COUNTERPART: Final = re.compile(
    r"\b(?:equivalent|equivalents|counterpart|version of|corresponds?|corresponding|analogue|same as|name for|called"
    r"|call|matches|matching|similar to|something like|metrics? like|key like|maps? to)\b"
    r"|对应|叫什么|叫啥|等价|相当于|类似|换到|换成"
)
_GOES_ON: Final = r"\s*(?:and|but|so)?\s*(?:what|which|how|where|is|does|do)\b"
"""What follows a framework that only tells where a name is from: ``kl in verl, what is it in TRL``."""

_ASKS_OF: Final = (
    re.compile(rf"{_ONE}\s*:\s*(?:\?|$)"),
    re.compile(rf"{_ONE}(?:'s)?\s+(?:{_CALLED})\b"),
    re.compile(rf"{_ONE}\s*(?:里|中)?(?:面)?\s*(?:叫|有没有|有无|有什么|对应|等价|相当于|类似|哪|是哪)"),
    re.compile(rf"(?:对应|换到|换成|等于)\s*{_ONE}"),
    re.compile(rf"在\s*{_ONE}\s*(?:里|中|那边|找|查|看)(?!面?\s*(?:是|有|叫)\s*[a-z,])"),
    re.compile(rf"(?:迁移|切换|切|转|搬)到\s*{_ONE}"),
    re.compile(rf"^\s*{_ONE}\s*(?:里|中|:)"),
    re.compile(
        rf"\b(?:in|does|for)\s+{_ONE}(?:\s+terms)?(?=\s*(?:[?.]|,(?!{_GOES_ON})|$|call|log|report|print|show|have))"
    ),
)

_BRACKETED: Final = re.compile(rf"(?<=\S)[(（]\s*({_ASKED.pattern})\s*[)）]\s*", re.IGNORECASE)
_SAYS: Final = re.compile(
    rf"(?P<framework>{_ASKED.pattern})\s+(?:logs?|calls?|reports?|names?|terms?)\b"
    r"|\b(?:i\s+)?(?:come|coming|moving) from\b"
)
"""What ties a question for a counterpart together: ``what does TRL call …``, ``where does verl log …``."""

_COUNTED_THING: Final = "tok|token|sample|seq|sequence|prompt|request|rollout|episode|step|iter|it|frame"
_OF_ONE: Final = r"(?:/(?P<{}>gpu|card|卡|device|npu|chip|accelerator|rank|worker))?"
_RATE: Final = re.compile(
    rf"(?<![\w/@.])(?<!\w\()(?P<thing>{_COUNTED_THING})s?{_OF_ONE.format('before')}/(?:s|sec|second){_OF_ONE.format('after')}(?![\w/@])",
    re.IGNORECASE,
)
"""How many in a second: ``tok/s/gpu``, ``samples/gpu/sec``."""

_TIME_OF_ONE: Final = re.compile(
    rf"(?<![\w/@.])(?<!\w\()(?P<unit>s|sec|secs|seconds|ms)/(?P<thing>{_COUNTED_THING})(?![\w/@])", re.IGNORECASE
)
"""How long one takes: ``ms/token``, ``secs/step``."""

_NUMBERED: Final = re.compile(
    r"(?<![\w/@.-])(?:(?P<how>pass|maj|cons|avg|mean|best|worst|bo|bon)-?(?:of-?|at-?)?"
    r"|(?P<said>pass|maj|cons|avg|mean|best|worst) (?:at|of) )(?P<n>\d{1,4})(?![\w/@.-])",
    re.IGNORECASE,
)
"""A score over several answers whose ``@`` is left out or said: ``pass8``, ``bo16``, ``best of 8``."""

_TRAINING: Final = "grpo|ppo|rl|rlhf|rlvr|dapo"
_RUN: Final = "run|runs|log|logs|training|dashboard|dashboards|job|jobs|experiment|experiments|setup|wandb|tensorboard"
_PLACE: Final = re.compile(
    r"(?<![\w/@.-])(?:in|on|from|of|for|during)\s+(?:(?:my|our|the|this|a|an|your)\s+)?"
    rf"(?:{_TRAINING})[- ](?:{_RUN})(?![\w/@-])"
    rf"|(?:在|我的|我们的|我)?\s*(?<![\w/@.-])(?:{_TRAINING})\s*(?:训练|日志|实验|面板|任务)(?:里面?|中|时)的?",
    re.IGNORECASE | re.ASCII,
)
"""Where somebody saw something, which tells nothing of what it is: ``in my GRPO logs``."""

_WHOLE_WORDS: Final = {"tok": "token", "seq": "sequence", "it": "step", "iter": "step", "bo": "best", "bon": "best"}

_ALONE: Final = re.compile(r"(?<![\w/@.-])[A-Za-z]+(?![\w/@-]|\.\w)", re.ASCII)
"""A word that is no part of a key; Chinese may stand beside it."""

_WORD: Final = re.compile(r"[a-z0-9@]+|[\u3400-\u9fff]+")

SYNONYM: Final = 0.2
"""What a synonym counts beside a word of the question."""


def asked_framework(text: str) -> str | None:
    """The framework that a folded question names, if it names one."""
    named = named_frameworks(text)
    return named[0] if len(named) == 1 else None


def named_frameworks(text: str) -> list[str]:
    """The frameworks that a folded question names, in order, each once."""
    return list(
        dict.fromkeys(next(_BY_SPELLING[f] for f in _BY_SPELLING if f in match) for match in _ASKED.findall(text))
    )


def asks_counterpart(text: str) -> bool:
    """Whether a folded question asks for what another framework calls something."""
    return _COUNTERPART.search(text) is not None


def asked_of_two(text: str) -> tuple[str, str] | None:
    """Of two frameworks that a folded question names the one whose metric it asks for, then the other.

    ``None`` if the wording does not tell: ``verl's name for TRL's kl`` does, ``kl in verl and TRL`` does not.
    """
    named = named_frameworks(text)
    if len(named) != len(FRAMEWORKS_OF_PAIR):
        return None
    for pattern in _ASKS_OF:
        for match in pattern.finditer(text):
            asked = asked_framework(match["asked"])
            if asked is not None:
                return asked, next(name for name in named if name != asked)
    return None


def without_asking(text: str) -> str:
    """A folded question for a counterpart without its verbs: what TRL calls something has nothing to do with calls."""
    return _SAYS.sub(lambda match: match["framework"] or " ", text)


def without_framework(text: str) -> str:
    """A question without the framework that it names, and without what ties the two: ``kl (slime)`` is ``kl``."""
    rest = re.sub(_ASKED.pattern, " ", text, flags=re.IGNORECASE)
    return re.sub(r"^(?:\s|[的里中:()\[\],])+|(?:\s|[的里中:()\[\],]|\b(?:in|of|from)\b)+$", "", rest)


def without_place(text: str) -> str:
    """A question without the training in whose log something was seen; the question itself if it is nothing else."""
    rest = _PLACE.sub(" ", text)
    return rest if rest.strip(" ,.:;?!，。：；？！") else text


def brackets_apart(text: str) -> str:
    """A question with spaces around a framework in brackets, which are no part of the key before them: ``kl(verl)``."""
    return _BRACKETED.sub(" (\\1) ", text)


def spelt_out(text: str) -> str:
    """A question without abbreviations: ``tok/s/gpu`` is no key, but tokens per second per gpu; ``fwd`` is forward."""
    text = _RATE.sub(_rate_in_words, text)
    text = _TIME_OF_ONE.sub(_time_in_words, text)
    text = _NUMBERED.sub(lambda match: f"{_whole(match['how'] or match['said'])}@{match['n']}", text)
    table: dict[str, str] = search_table()["abbreviations"]
    return _ALONE.sub(lambda match: table.get(match[0].lower(), match[0]), text)


def _whole(word: str) -> str:
    """What a short word of a rate or of a score stands for; the word itself if for nothing."""
    return _WHOLE_WORDS.get(word.lower(), word)


def _rate_in_words(match: re.Match[str]) -> str:
    of = match["before"] or match["after"]
    return f"{_whole(match['thing'])}s per second" + (f" per {of}" if of else "")


def _time_in_words(match: re.Match[str]) -> str:
    unit = "milliseconds" if match["unit"].lower() == "ms" else "seconds"
    return f"{unit} per {_whole(match['thing'])}"


def narrow(text: str) -> str:
    """A text with half-width letters and signs."""
    return unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=8)
def asked_kinds(text: str) -> frozenset[str]:
    """Whether a question in lower case asks for a metric, describes what goes wrong, or wants something explained."""
    return frozenset(kind for kind, pattern in search_table()["kinds"].items() if pattern.search(text))


@lru_cache(maxsize=64)
def question_terms(text: str) -> Mapping[str, float]:
    """The terms of a folded question and their weights; what it is written around with is left out."""
    plain = without_fillers(text)
    own = [term for term in terms(plain) if term not in search_table()["fillers"]]
    result = {term: (0.35 if len(term) == 1 else 1.0) for term in own}
    for wording in known_wordings(plain):
        for group in search_table()["synonyms"][wording]:
            for term in group:
                result.setdefault(term, SYNONYM)
    return result


def known_wordings(text: str) -> list[str]:
    """The wordings of the synonyms' table that a folded text holds, left to right, the longest at each place."""
    synonyms, longest = search_table()["synonyms"], search_table()["longest"]
    found = []
    words = _WORD.findall(text)
    at = 0
    while at < len(words):
        word = words[at]
        if word.isascii():
            most = longest.get(word) or (longest.get(word[:-1], 0) if word.endswith("s") else 0)
            for length in range(min(most, len(words) - at), 0, -1):
                phrase = " ".join(words[at : at + length])
                if phrase not in synonyms and phrase.endswith("s"):
                    phrase = phrase[:-1]
                if phrase in synonyms:
                    found.append(phrase)
                    at += length - 1
                    break
        else:
            begin = 0
            while begin < len(word):
                for end in range(min(len(word), begin + longest.get(word[begin], 0)), begin, -1):
                    if word[begin:end] in synonyms:
                        found.append(word[begin:end])
                        begin = end - 1
                        break
                begin += 1
        at += 1
    return found


@lru_cache(maxsize=512)
def without_fillers(text: str) -> str:
    """A folded question without what it is only written around with; the question itself if nothing is left."""
    pattern = search_table()["pattern"]
    return re.sub(r"\s+", " ", str(pattern.sub(" ", text))).strip() or text


def all_without_fillers(texts: Sequence[str]) -> list[str]:
    """What :func:`without_fillers` leaves of each of some texts as written, worked out at once: they are many."""
    folded = fold.__wrapped__(_APART.join(texts))
    left = search_table()["pattern"].sub(" ", folded).split(_APART)
    return [
        " ".join(one.split()) or " ".join(whole.split()) for one, whole in zip(left, folded.split(_APART), strict=True)
    ]


def without_frame(text: str) -> str:
    """What is left of a folded question without what stands around a name: the name, if it is about nothing else."""
    plain = search_table()["frame"].sub(" ", without_fillers(text))
    words = re.split(r"[\s,.:;?!，。：；？！、'\"`“”‘’]+", plain)
    return " ".join(word for word in words if word and (word.isascii() or word not in search_table()["fillers"]))


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of some names, the longest first; English ones are whole words, and no part of a key."""
    longest = sorted(names, key=len, reverse=True)
    english = "|".join(re.escape(name) for name in longest if name.isascii())
    chinese = "|".join(re.escape(name) for name in longest if not name.isascii())
    return re.compile(rf"(?<![\w/@.-])(?:{english})(?![\w/@-])|{chinese}", re.ASCII)


@lru_cache(maxsize=1)
def search_table() -> dict[str, Any]:
    """``knowledge/search.yaml``, its patterns compiled."""
    table: dict[str, Any] = resources.yaml_table(resources.data_folder("knowledge") / "search.yaml")
    chinese = sorted(table["fillers"]["zh"], key=len, reverse=True)
    everyday = [word for line in table["everyday"]["en"] for word in line.split()]
    long = [word for word in chinese if len(word) > 1]
    english = table["fillers"]["en"]
    synonyms: dict[str, list[list[str]]] = {}
    groups: dict[str, list[str]] = {}
    for group in table["synonyms"]:
        own = sorted({term for wording in group for term in terms(wording) if len(term) > 1})
        for wording in group:
            spelt = wording.replace("-", " ")  # as the words of a text are joined
            synonyms.setdefault(spelt, []).append(own)
            groups.setdefault(spelt, []).append(group[0])
    longest: dict[str, int] = {}
    for spelt in synonyms:
        words = spelt.split() if spelt.isascii() else list(spelt)
        longest[words[0]] = max(longest.get(words[0], 0), len(words))
    return {
        "synonyms": synonyms,
        "longest": longest,
        "groups": groups,
        "kinds": {
            kind: re.compile("|".join(rf"\b(?:{word})\b" if word.isascii() else word for word in words))
            for kind, words in table["kinds"].items()
        },
        "weights": table["weights"],
        "sureness": table["sureness"],
        "abbreviations": table["abbreviations"],
        "called": table["called"],
        "fillers": {*english, *chinese},
        "framed": {*table["frame"]["en"], *table["frame"]["zh"]},
        "stated": {*table["states"]["en"], *table["states"]["zh"]},
        "height": frozenset(table["height"]),
        "known": {
            *english,
            *table["frame"]["en"],
            *everyday,
            *(word for line in table["known"] for word in line.split()),
            *(word for group in table["things"] for name in group for word in re.findall("[a-z]+", name)),
        },
        "everyday": re.compile("|".join([*map(re.escape, table["everyday"]["zh"]), rf"\b(?:{'|'.join(everyday)})\b"])),
        "things": {name: tuple(group) for group in table["things"] for name in group},
        "thing": _any_of(name for group in table["things"] for name in group),
        "absent": [name for line in table["absent"] for name in line],
        "frame": re.compile(
            "|".join(
                [
                    *map(re.escape, sorted(table["frame"]["zh"], key=len, reverse=True)),
                    rf"(?<![\w/@.-])(?:{'|'.join(table['frame']['en'])})(?![\w/@-])",
                ]
            )
        ),
        "pattern": re.compile("|".join([*map(re.escape, long), rf"(?<![\w/@.-])(?:{'|'.join(english)})(?![\w/@-])"])),
    }
