"""What is asked for and no training metric ever holds: said, with the setting or the place that would show it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from assistant import resources
from assistant.analysis.validation import validation_sets
from assistant.ask import answer_batch_settings, dataset_size, not_held, other_sets, owners, worded
from assistant.ask.context import Context, key
from assistant.ask.logged import as_mention
from assistant.ask.wording import normalised
from assistant.model import Verdict
from assistant.write.document import unmark

_FIELDS: Final = {"re", "unless", "asks", "first"}
#: Things that are told in the words of another.
_SAME: Final = {"model_family": "model", "setting_named": "setting"}
_COUNTED: Final = re.compile(r"(?:几|多少)(?:个|条)|采|how many")
#: Words that ask for a setting's value, or whether it is one.
_ASKS: Final = re.compile(
    r"(?i)多少|几|多大|设(?:的|成|为|了|置)?|用的?|配的?|是不是|吗\s*[?]*$|么\s*[?]*$|啥|哪|开(?:了|着)?(?:没|吗)|呢\s*[?]*$"
    r"|\b(?:what|which|how (?:many|much|big|large|high|low))\b|\b(?:did|do|have) (?:i|we|you|they)\b"
    r"|^\W*(?:is|was|are|were|does|did)\b"
    r"|\b(?:set|used?|using|value|config\w*)\b|^\W*[\w \-.]{1,30}\?\s*$"
)
_MOST: Final = 3
#: A setting as configurations spell it.
_SPELT: Final = re.compile(r"(?<![\w/.])[a-z]+(?:_[a-z0-9]+){1,5}(?![\w/])")
#: So much of a text is searched.
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class _Thing:
    words: re.Pattern[str]
    unless: re.Pattern[str] | None
    asks: bool
    first: bool


@lru_cache(maxsize=1)
def things() -> Mapping[str, _Thing]:
    """The things of ``absent.yaml``, in their order.

    Raises:
        KnowledgeError: an entry has other fields, or holds no regular expression.
    """
    path = Path(__file__).with_name("absent.yaml")
    found = {}
    for name, entry in resources.yaml_table(path).items():
        worded.checked(path, name, entry, {"re"}, _FIELDS)
        words, unless = worded.patterns(path, name, entry)
        found[str(name)] = _Thing(words, unless, bool(entry.get("asks")), bool(entry.get("first")))
    return found


def _found(text: str, *, first: bool) -> tuple[str, str] | None:
    """The first thing that a text asks for, and the words that name it."""
    for name, thing in things().items():
        match = thing.words.search(text) if thing.first or not first else None
        if match is None or (thing.unless is not None and thing.unless.search(text)):
            continue
        if not thing.asks or _ASKS.search(text):
            return name, match.group().strip()
    return None


def thing_in(text: str) -> str | None:
    """Which of the things a question asks for, by name; how many answers a problem gets is no such thing."""
    text = text[:_LONGEST]
    if _COUNTED.search(text) and things()["per_problem"].words.search(text):
        return None
    found = _found(text, first=False)
    return None if found is None else found[0]


def _validated_on(context: Context) -> list[str]:
    """Names of the sets that the log's validations were taken on, as its keys spell them."""
    steps = context.validation_steps[:1]
    return list(dict.fromkeys(table.source for step in steps for table in validation_sets(context.run, step)))


def unlogged(context: Context) -> Verdict:
    """That the log's metrics do not hold it, and what does."""
    return _told(context, thing_in(context.query.said) or "setting")


def attempt(context: Context) -> Verdict | None:
    """As :func:`unlogged`, for what is sure to be asked for before any metric is looked for.

    Returns:
        The verdict; ``None`` (nothing written) where nothing of the kind is asked for, or the log has a metric of that
        name.
    """
    if len(context.runs) != 1 or context.query.intent == "advice":
        return None
    if (setting := answer_batch_settings.attempt(context)) is not None:
        return setting
    if (lacking := owners.attempt(context) or other_sets.attempt(context)) is not None:
        return lacking
    text = normalised(context.query.wording or context.query.text)[:_LONGEST]
    found = _found(text, first=True)
    if found is None:
        return not_held.attempt(context)
    name, word = found
    spelt_out = [one for one in _SPELT.findall(text) if one not in context.run.columns]
    if name == "setting_named" and len(spelt_out) == 1 and word not in spelt_out[0]:
        word = spelt_out[0]  # "vLLM 的 gpu_memory_utilization" asks for the second
    if name in _HELD and any(_HELD[name].search(metric) for metric in context.run.metrics):
        return None  # some trainers log it, stage by stage for instance
    parts = set(re.split(r"[^a-z0-9]+", word.lower())) - {""}
    spelt = "_".join(re.split(r"[^a-z0-9]+", word.lower()))
    held = [m for m in context.run.metrics if len(spelt) > 1 and (spelt in m.lower() or m.lower() in parts)]
    if held and name == "setting_named":
        return _logged(context, held[:_MOST], word)
    context.query = replace(context.query, intent="lookup", topics=(), mentions=(), alternatives=(), op=None)
    context.settled, context.kind = True, "unlogged"
    return _told(context, name, word if name == "setting_named" else "")


_MEMORY_OF = re.compile(
    r"(?i)(?:mem|vram|cache).*(?:critic|actor|ref|optim|kv|activ)|(?:critic|actor|ref|optim|kv|activ).*(?:mem|vram|cache)"
)
#: Keys that count groups whose answers all got the same reward, or those that were left out for it.
_UNIFORM = re.compile(
    r"(?i)zero[_ -]?(?:std|var)"
    r"|all_correct|all_wrong|all_incorrect|solve_(?:all|none)|mixed_groups|filter|evicted|skipped|uniform"
)
_HELD: Final = {
    "penalty_term": re.compile(r"(?i)penalt|overlong|repet|length_reward|reward/length|rewards/length"),
    "memory_of": _MEMORY_OF, "uniform_groups": _UNIFORM,
    "tool_success": re.compile(r"(?i)tool.*(?:succ|fail|err|timeout|invalid|valid)"),
}  # fmt: skip
_EVALUATED = re.compile(
    r"(?i)(?:^|[-_/ .])(?:val|valid|validation|eval|evaluation|test|testing|dev|held)(?=$|[-_/ .@])"
)


def not_evaluated(context: Context) -> Verdict | None:
    """That a log without any evaluation holds no evaluated reward or accuracy; ``None`` where it holds one, or cuts."""
    run = context.run
    if any(_EVALUATED.search(metric) for metric in run.metrics) or run.missing or context.validation_steps:
        return None
    held = [m.key for m in context.query.mentions if m.key in run.columns]
    count = context.ledger.count("metrics of the log", len(run.metrics))
    text = context.say("absent.not_evaluated", n=count)
    if held:
        gap = "" if context.language == "zh" else " "
        text += gap + context.say("absent.of_training", names=context.join(key(str(name)) for name in held[:2]))
    context.doc.paragraph(f"**{text}**")
    context.query = replace(context.query, mentions=(), op=None, asked_op=None)
    return Verdict("no_data", unmark(text))


def _logged(context: Context, keys: list[str], word: str) -> Verdict:
    """The values of metrics that are named as the setting is."""
    from assistant.ask.answer_lookup import lookup

    mentions = tuple(as_mention(context.run, context.resolver, key, 0, 0, word) for key in keys)
    context.query = replace(context.query, intent="lookup", topics=(), mentions=mentions)
    return lookup(context)


_VALIDATED = re.compile(r"(?i)验证|评测|测试|\b(?:valid\w*|val|eval\w*|test(?:ed|ing)?)\b")


def _told(context: Context, name: str, word: str = "") -> Verdict:
    shown = _SAME.get(name, name)
    what = context.say(f"absent.what_{shown}")
    if word:
        context.names.add(word)
        what = context.say("absent.what_named", name=key(word))
    text = context.say("absent.lead", what=what)
    sources = _validated_on(context) if name == "data" else []
    if name == "data" and not sources and _VALIDATED.search(context.query.said):
        text = context.say("absent.no_validation_set")
    if sources:
        text += ("" if context.language == "zh" else " ") + context.say(
            "absent.validated_on", names=context.join(key(source) for source in sources)
        )
        context.names.update(sources)
    context.doc.paragraph(f"**{text}**")
    elsewhere = shown == "setting" and context.run.framework not in {"verl", None}
    context.doc.paragraph(context.say("absent.setting_elsewhere" if elsewhere else f"absent.{shown}"))
    if name == "data_size":
        context.doc.paragraph(dataset_size.implied(context))
    return Verdict("no_data", unmark(text))
