"""Follow-ups: what a short question changes of the one before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.ask.antecedents import onset_asked, told
from assistant.ask.asked_again import asked_again
from assistant.ask.blanking import blanked
from assistant.ask.differing import OVER_THE_RUN, SINCE_THEN, differing, logged, one_step
from assistant.ask.leaning import told_steps
from assistant.ask.logged import STEP_TIME, TIMED, as_mention
from assistant.ask.member_there import at_that_step
from assistant.ask.other_limit import BARE_NUMBER, limit_meant
from assistant.ask.other_part import other_part
from assistant.ask.other_stage import other_stage
from assistant.ask.patterns import patterns
from assistant.ask.query import Depth, Query, State
from assistant.ask.set_against import of_another_kind, set_against
from assistant.ask.steps import NUMBER_WORDS, chinese_number
from assistant.ask.that_step import HAPPENED, LEFT_OUT, RELATIVE, SHIFTED, WHICH_OF_RUNS, that_step
from assistant.ask.wording import language_asked, language_of
from assistant.knowledge import Mentioned, Resolver
from assistant.model import Fact, Run, StepSlot
from assistant.model.answer import Intent

_SLOT_INTENTS = {"lookup", "trend", "compare", "forecast", "health", "explain", "define", "validation", "bottleneck"}
_EXTREMES = {"max", "min", "argmax", "argmin"}
_FLUFF = re.compile(
    r"(?i)\b(please|pls|plz|ok|okay|thanks|now|it|that|this|answer|reply|again|say|can you|could you"
    r"|in|once more|repeat)\b|[\s,.!?。，！？请再重新说讲来写复述一遍次回答吧呗可以吗麻烦给我]+"
)
_LANGUAGE_WORDS = re.compile(
    r"(?i)english|chinese|英文|英语|中文|汉语|用|以|换成?|改成?|说|讲|翻译成?|translate|to|into|version|版"
)
_AS_WELL = re.compile(r"也|顺便|顺带|同样|一起|再[说讲报看给列查]")
_TELLS = re.compile(
    r"(?i)steps?|第|步|那|的|也|顺[便带]|再|还有|一起|同[样时]|帮我?|麻烦|给我?|[说讲报看列查算瞅瞧](?:一?下|[看说讲瞅瞧]|个|出来|我)?"
    r"|一下|[呗吧呢哈啊了要]|[\W\d_]"
)
_BARE_PAIR = re.compile(
    r"(?i)^\s*(?:那|and|what about|how about|then|换成?|\s)*(?:step\s*)?(\d{1,7})\s*(?:vs\.?|和|跟|与|and|to|对比"
    r"|比)\s*(?:step\s*)?(\d{1,7})\s*[?呢.]*$"
)
_DENIED = re.compile(r"(?i)(?:不是|而非|并非|\bnot|n't|rather than|instead of)\s*(?:the|说|问|看|要|指)?\s*$")
_OF_ANOTHER = re.compile(
    r"(?i)^\W*(?:那|那么|and|what about|how about)?\s*(?:the )?[a-z_]{3,}(?:'s| ?的)\s*(?:呢|one)?\W*$"
)
_ITS = re.compile(r"(?i)^\W*(?:and |but |so |what(?:'s| is| was| were| are) )*(?:its|their)\b")
_IT = re.compile(r"(?i)\b(?:it|that|this)\b|它|那一?步|这个值|那个值")
_LAST_NUMBER = re.compile(r"(?<![\d.])(\d{1,7})\s*(?:步)?\s*[.!。]*\s*$")
_HERE = re.compile(r"(?i)我这个|这个\s*run|在?这里|这个日志|\b(?:in|for) (?:this|my|our) (?:run|log|case)|\bhere\b")
_PLACES = {"一": 0, "二": 1, "两": 1, "三": 2, "1": 0, "2": 1, "3": 2, "first": 0, "second": 1, "third": 2}
_PLACE = re.compile(
    r"(?i)第\s*([一二两三123])\s*(?:个|份|次)(?!\s*(?:步|step|epoch))|\bthe (first|second|third)(?: one)?\s*[?.!]*$"
)
_TENS_OF_STEPS = re.compile(r"[零一二两三四五六七八九]?[十百][零一二三四五六七八九十]*(?=\s*步)")
_STRETCH = re.compile(r"(?i)连续|longest stretch")
_SHORT_ENOUGH = 24
"""No longer is a follow-up that only moves on by some steps ("ten later")."""
#: Below this sum of weights a question's intent is not told by itself.
_WEAK = 2.5
#: A sentence that asks by itself, rather than a few words that lean on the question before.
_SENTENCE = re.compile(
    r"(?i)^\s*(?:(?:so|then|ok(?:ay)?|well)[ ,]+)?(?:how (?:do|does|did|is|are|was|were|has|have|much|many|large|high"
    r"|long)|what(?:'s| is| are| was| were)|which|(?:when|where|why) (?:do|does|did|is|are|was|were)|is|are|was|were|do"
    r"|does|did|has|have)\s+(?!about\b)\S"
)
_YES_OR_NO = re.compile(r"是不是|会不会|有没有|是否")
_AGAINST = re.compile(
    r"(?i)(?:和|跟|与|同|比起|相比|对比).{0,16}(?:比|相比|对比|呢)|^\s*比.{1,12}呢"
    r"|\bvs\.?\b|\bversus\b|compared? (?:to|with)|than"
)


def after(
    query: Query, facts: Sequence[Fact], language: str, before: State | None = None, turning: int | None = None
) -> State:
    """The state that a question and its answer leave behind.

    Args:
        query: the question as understood.
        facts: of its answer; the step of an extreme or a first crossing is kept for "that step".
        language: of the answer.
        before: what the conversation carried until then.
        turning: the step of the jump that the answer told.
    """
    step = None
    if query.op in {*_EXTREMES, "first_crossing"} or {"best", "worst"} & set(query.topics):
        step = next((fact.step for fact in facts if fact.kind == "value" and fact.step is not None), None)
    if step is None and query.threshold is not None and _STRETCH.search(query.wording):  # where the longest one begins
        step = min((fact.step for fact in facts if fact.kind == "value" and fact.step is not None), default=None)
    if "onset" in query.topics or (step is None and onset_asked(query)):
        step = next((fact.step for fact in facts if fact.name == "onset"), turning)
    values = [fact for fact in facts if fact.kind == "value" and fact.step is not None]
    plain = query.intent == "lookup" and query.op is None and query.steps.kind in {"none", "last"}
    if step is None and plain and len({fact.metric for fact in values}) == 1:  # "how high is it": the latest is meant
        step = max((fact.step or 0 for fact in values), default=None)
    few = told_steps([fact.step for fact in values])
    cells = told(query, facts, step, () if before is None else before.cells)
    return State(query.intent, query.mentions, query.steps, language, query.depth, query, step, few, cells)


def followed(own: Query, text: str, state: State, runs: Sequence[Run], *, resolver: Resolver, strength: float) -> Query:
    """A question in the light of the one before it.

    Args:
        own: what the question says by itself.
        text: the question, normalised.
        state: what the conversation carries.
        runs: the runs.
        resolver: from names to cards.
        strength: summed weight of the patterns for the intent of ``own``.
    """
    before = state.query
    if before is None or state.intent is None:
        return own
    single = patterns().single
    asked = language_asked(text)
    if asked is not None and not _FLUFF.sub("", _LANGUAGE_WORDS.sub(" ", text)):
        return replace(before, text=own.text, wording=before.wording or before.text, language=asked, follows="language")
    depth: Depth | None = (
        "detailed" if single["more"].search(text) else "brief" if single["less"].search(text) else None
    )
    if depth is not None and not own.mentions and own.steps.kind == "none" and not own.threshold and len(text) <= 40:
        deeper: Depth = "every" if depth == "detailed" and before.depth == "detailed" else depth
        return replace(
            before, text=own.text, wording=before.wording or before.text, language=own.language, depth=deeper,
            follows="depth",
        )  # fmt: skip
    if own.intent == "out_of_scope" and single["out_of_domain"].search(text):
        return own
    own = _run_named(own, before, text, runs)
    own = _stage_kept(own, before, text)
    if single["why"].fullmatch(text.strip()):
        return _why(own, before, state)
    if (corrected := _corrected(own, before, text, runs, resolver)) is not None:
        return corrected
    if runs and (apart := differing(own, before, text, runs)) is not None:
        return apart
    each = len(runs) > 1 and not before.runs and not own.runs  # "which is higher": of the runs, not of two metrics
    if runs and not each and (two := set_against(own, before, text, runs[0])) is not None:
        return two
    if runs and not own.mentions and own.steps.kind == "none" and SINCE_THEN.search(text):
        held, last = state.step if state.step is not None else one_step(before, runs[0]), runs[0].distinct_steps[-1]
        if held is not None and held < last and before.mentions:  # "and did it fall after that?"
            return replace(
                own, mentions=before.mentions, steps=StepSlot("range", (held, last)), all_steps=(held, last), topics=(),
                intent="trend", op=None, asked_op=None, follows="slots", guessed=False, runs=own.runs or before.runs,
            )  # fmt: skip
    if (kept := _lasting(own, before, text, state)) is not None:
        return kept
    if (again := asked_again(own, before, text)) is not None:
        return again
    if runs and (other := other_part(own, before, text, runs[0])) is not None:
        return other
    if runs and (stage := other_stage(own, before, text, runs[0], resolver)) is not None:
        return stage
    if before.intent in {"lookup", "trend"} and own.intent in {"explain", "lookup"} and _only_tells(own, text):
        own = replace(own, guessed=True)
    own = limit_meant(_steps_meant(own, state, text, runs), before, text)
    marked = single["follow"].search(text) is not None or (not own.mentions and _ITS.search(text) is not None)
    marked = marked or (before.intent == "lookup" and _bare_name(own, text))
    if runs and not own.mentions and _OF_ANOTHER.search(text):
        meant = _sibling(text, before.mentions, runs[0], resolver)  # "critic 的呢", after the actor's
        if meant is not None:
            own, marked = replace(own, mentions=(meant,), topics=(), intent="lookup", guessed=True), True
    if runs and (key := of_another_kind(before, text, runs[0])) is not None:  # "train 呢" after the validation
        meant = as_mention(runs[0], resolver, key, 0, 0, key)
        own, marked = replace(own, mentions=(meant,), topics=(), op=None, intent="lookup", guessed=True), True
    fragment = len(text) <= 24 if own.language == "zh" else len(text.split()) <= 5
    fragment = fragment and strength < _WEAK
    if _whole_sentence(own, before, text):
        fragment, own = False, replace(own, guessed=False)
    about = own.threshold is not None or own.asked_op is not None or _IT.search(text) is not None
    if own.intent == "out_of_scope" and before.mentions and patterns().operations["reason"].search(text):
        return _why(own, before, state)  # "为什么差这么多"
    if own.intent == "out_of_scope" and (marked or fragment or own.runs or about):
        own = replace(own, intent="explain", guessed=True)
    if own.op is None and own.asked_op is not None and not own.mentions and before.mentions:
        own = replace(own, op=own.asked_op)
    elif not own.mentions and own.op is None:
        own = replace(own, asked_op=None)
    found = _filled(own, before, text, marked=marked, fragment=fragment or own.guessed, soft=strength < _WEAK)
    if runs and not own.mentions and found.mentions == before.mentions:
        found = _other_member(found, runs[0], resolver, of=before.steps)
    if found.mentions and before.mentions and found.mentions != before.mentions and found.follows == "slots":
        found = replace(found, beside=before.mentions)
    if runs and found.mentions == before.mentions and one_step(found, runs[0]) != (then := one_step(before, runs[0])):
        return replace(found, earlier=then)
    return found


def _stage_kept(own: Query, before: Query, text: str) -> Query:
    """ "And how long did the one before it take?" after a stage's time asks for the stage's, not for the step's."""
    stage = any(m.key is not None and m.key.startswith(TIMED) for m in before.mentions)
    whole = own.mentions and all(m.key in STEP_TIME for m in own.mentions)
    whole = whole and not re.search(
        r"(?i)整步|整个?\s*(?:步|step)|一整|总共|一共|合计|全部|step[ _]?times?\b|单步|每步|步耗时"
        r"|\b(?:whole|full|entire|total)\b",
        text,
    )
    return replace(own, mentions=()) if stage and whole and (RELATIVE.search(text) or that_step(text)) else own


def asks_by_itself(text: str) -> bool:
    """Whether a text is a sentence that asks, rather than a few words that lean on the question before."""
    return _SENTENCE.search(text) is not None and not patterns().single["follow"].search(text)


def _whole_sentence(own: Query, before: Query, text: str) -> bool:
    """Whether a short question with a metric of its own asks something else than the one before it."""
    if not own.mentions or _IT.search(text) or that_step(text):
        return False
    if own.language == "zh" and _YES_OR_NO.search(text):
        return own.intent in {"health", "trend", "advice"}
    if own.mentions == before.mentions or not asks_by_itself(text):
        return False
    return own.intent not in {"define", "lookup"} or before.intent != "lookup"


def _filled(own: Query, before: Query, text: str, *, marked: bool, fragment: bool, soft: bool) -> Query:
    """The slots that a follow-up leaves open, from the question before."""
    whole = patterns().single["whole_run"].search(text) is not None and not marked
    said = {
        "metric": bool(own.mentions), "steps": own.steps.kind != "none", "op": own.op is not None,
        "threshold": own.threshold is not None, "runs": bool(own.runs),
    }  # fmt: skip
    intent: Intent = own.intent
    weak = own.guessed or ((marked or fragment) and (soft or intent in {"define", "lookup", "explain", "out_of_scope"}))
    if own.topics == ("onset",) and before.mentions and not own.mentions:  # "since when", of the metric just spoken of
        return replace(own, mentions=before.mentions, follows="slots")
    if own.topics and before.intent == "derive" and own.intent in {"derive", "explain", "lookup", "define"}:
        return replace(own, intent="derive", follows="slots")
    if weak and not own.topics and (any(said.values()) or marked or own.guessed):
        intent = _intent_kept(own, before, said)
        if intent == "define" and _HERE.search(text) and not any(said.values()):
            intent = "trend"  # what the number means is told; now what it does in this log
    elif not (marked or fragment or that_step(text) or _elliptic(own, text, whole)):
        return own
    takes = not whole or that_step(text)
    changes: dict[str, object] = {"intent": intent, "guessed": False, "follows": "slots"}
    if not said["metric"] and takes and before.mentions and intent not in {"derive", "out_of_scope"}:
        changes["mentions"] = before.mentions
    kept = intent == before.intent or intent in {"lookup", "trend", "compare"}
    if (intent == "trend" or OVER_THE_RUN.search(text)) and before.steps.kind in {"single", "last", "first"}:
        kept = False  # a trend takes more than the one step asked about before
    windowed = before.steps.kind in {"all", "range", "last_n"} or not said["threshold"]
    windowed = windowed and not (own.op in _EXTREMES and before.steps.kind == "pair")  # "and the highest in between?"
    over_one = own.op is not None and before.steps.kind in {"single", "last", "first"}
    if not (said["steps"] or over_one) and takes and kept and before.steps.kind != "none" and windowed:
        changes |= {"steps": before.steps, "all_steps": before.all_steps}
    if (intent in {"lookup"} and not said["steps"]) or intent == before.intent == "lookup":
        if own.op is None and before.op is not None and before.op != "count" and _takes_op(own, before):
            changes["op"] = changes["asked_op"] = before.op
        pointed = said["metric"] and that_step(text)
        if own.threshold is None and own.op is None and before.threshold is not None and not (said["steps"] or pointed):
            changes["threshold"] = before.threshold
        elif own.threshold is not None and own.op is None and before.op in {"first_crossing", "count"}:
            changes["op"] = changes["asked_op"] = before.op
    if not own.topics and before.topics and not any(said.values()) and intent == before.intent:
        changes["topics"] = before.topics
    if own.depth == "normal" and intent == before.intent:
        changes["depth"] = before.depth
    if not own.runs and before.runs and not WHICH_OF_RUNS.search(text):
        changes["runs"] = before.runs
    if _AGAINST.search(text) and own.steps.kind == before.steps.kind == "single":
        pair = tuple(sorted({*own.steps.values, *before.steps.values}))
        changes |= {"steps": StepSlot("pair", pair), "all_steps": (*own.all_steps, *before.steps.values)}
        changes["intent"] = "compare"
    elif _AGAINST.search(text) and own.steps.kind == "single" and before.steps.kind == "pair" and not own.mentions:
        pair = (before.all_steps or before.steps.values)[0], own.steps.values[0]  # "1 against 2", and "vs step 3?"
        if pair[0] != pair[1]:
            changes |= {"steps": StepSlot("pair", tuple(sorted(pair))), "all_steps": pair, "intent": "compare"}
    return replace(own, **changes)  # type: ignore[arg-type]


def _only_tells(own: Query, text: str) -> bool:
    """Whether a text says of another step or metric that it is to be told as well: "3 的也说下"."""
    return _AS_WELL.search(text) is not None and not _TELLS.sub(
        "", blanked(text, [(m.start, m.end) for m in own.mentions])
    )


def _bare_name(own: Query, text: str) -> bool:
    """Whether a text is nothing but the name of a metric: "entropy?" after "grad norm at step 10"."""
    if not own.mentions or own.steps.kind != "none":
        return False
    chars = list(text)
    for mention in own.mentions:
        chars[mention.start : mention.end] = " " * (mention.end - mention.start)
    return not re.search(r"[^\W_]", "".join(chars))


def _elliptic(own: Query, text: str, whole: bool) -> bool:
    """A few words that say what is asked, and leave open of what: ``要紧吗``, ``should I worry?``."""
    longest = 20 if own.op is not None or own.asked_op is not None else 12
    short = len(text) <= longest if re.search(r"[\u3400-\u9fff]", text) else len(text.split()) <= 5
    return short and not own.mentions and not whole and not own.topics and own.intent != "out_of_scope"


def _intent_kept(own: Query, before: Query, said: dict[str, bool]) -> Intent:
    if own.op is not None or own.threshold is not None:
        return "lookup"
    if not any(said.values()):
        return before.intent
    of_training = not any(re.search(r"(?i)val|eval|test", m.key or "") for m in own.mentions)
    if said["metric"] and before.intent == "validation" and of_training:
        return "lookup"
    if said["metric"] and before.intent == "define" and "good" in before.topics:
        return "trend"  # whether the other's rise is a good sign: what this one does
    if said["metric"] and before.intent in {"derive", "bottleneck", "out_of_scope", "advice"}:
        return own.intent
    if said["metric"] and before.intent == "explain" and not before.mentions and before.steps.kind in {"none", "all"}:
        return "lookup" if said["steps"] else "trend"  # of the run's account one metric alone: what it does
    if said["steps"] and before.intent in {"derive", "define", "out_of_scope"}:
        return "lookup" if own.guessed and before.mentions else own.intent
    if said["runs"] and not said["metric"] and before.intent == "define" and before.mentions:
        return "lookup"
    return before.intent if before.intent in _SLOT_INTENTS else own.intent


def _takes_op(own: Query, before: Query) -> bool:
    """An operation goes on over another metric or window, and not to a single step."""
    return (
        own.steps.kind not in {"single", "last", "first", "pair"}
        or before.op is None
        or LEFT_OUT.search(own.text) is not None
    )


def _why(own: Query, before: Query, state: State) -> Query:
    kept: Intent = before.intent if before.intent not in {"lookup", "trend", "forecast", "out_of_scope"} else "explain"
    depth = "detailed" if before.depth == "normal" else before.depth
    return replace(
        before, text=own.text, wording=before.wording or before.text, language=own.language, intent=kept, depth=depth,
        follows="why", guessed=False,
    )  # fmt: skip


def _corrected(own: Query, before: Query, text: str, runs: Sequence[Run], resolver: Resolver) -> Query | None:
    """ "No, I meant the critic's": another metric in the same question."""
    match = patterns().single["correction"].search(text)
    if match is None or not (before.mentions or own.mentions):
        return None
    mentions = _not_denied(own.mentions, text)
    unclear = not any(m.key for m in mentions) or len(mentions) > 1
    found = _sibling(text[match.start() :], before.mentions, runs[0], resolver) if unclear and runs else None
    mentions = mentions if found is None else (found,)
    if not mentions and runs and own.asked_op in _EXTREMES:  # "no, the longest one": of the same step, another member
        member = _sibling(str(own.asked_op).removeprefix("arg"), before.mentions, runs[0], resolver)
        mentions, own = (() if member is None else (member,)), replace(own, op=None, asked_op=None, steps=StepSlot())
    if own.steps.kind in {"none", "all"} and before.steps.kind == "single" and (number := _LAST_NUMBER.search(text)):
        step = int(number[1])
        own = replace(own, steps=StepSlot("single", (step,)), all_steps=(step,))
    own_steps = own.steps.kind not in {"none", "all"}
    if not mentions and not own_steps and not own.runs:
        return None
    steps, every = (own.steps, own.all_steps) if own_steps else (before.steps, before.all_steps)
    return replace(
        before, text=own.text, wording=own.wording or own.text, language=own.language,
        mentions=mentions or before.mentions, steps=steps, all_steps=every,
        step_marks=own.step_marks, op=own.op or before.op, asked_op=own.asked_op or before.asked_op,
        threshold=own.threshold or before.threshold, runs=own.runs or before.runs, follows="slots",
    )  # fmt: skip


def _not_denied(mentions: tuple[Mentioned, ...], text: str) -> tuple[Mentioned, ...]:
    """The metrics meant: of "the gradient norm, not the score" the first alone."""
    meant = tuple(m for m in mentions if not _DENIED.search(text[: m.start]))
    return meant if meant else mentions


def _sibling(text: str, mentions: Sequence[Mentioned], run: Run, resolver: Resolver) -> Mentioned | None:
    """Another key of the log with the same end as the one meant before, that holds a word of the text."""
    words = {word.lower() for word in re.findall(r"[A-Za-z][A-Za-z0-9_]+", text)}
    words |= {"val"} if re.search(r"验证|测试|评测", text) else set()
    for mention in mentions:
        if mention.key is None:
            continue
        pieces = mention.key.split("/")
        for length in range(len(pieces) - 1, 0, -1):
            tail = pieces[-length:]
            others = [
                key for key in run.metrics
                if key != mention.key
                and key.split("/")[-length:] == tail
                and words & set(re.split(r"[/_-]", key.lower()))
            ]  # fmt: skip
            if others:
                return as_mention(run, resolver, others[0], 0, 0, others[0])
        changed = [w for w in words if w in {"max", "min", "mean", "std"}]
        other = "/".join([*pieces[:-1], changed[0]]) if changed else ""
        if other in run.columns:
            return as_mention(run, resolver, other, 0, 0, other)
    return None


def _steps_meant(own: Query, state: State, text: str, runs: Sequence[Run]) -> Query:
    """Steps told by what was said before: that step, the next one, a bare number."""
    if not own.mentions and (match := _BARE_PAIR.match(_figures(text))):  # "what about 30 and 60"
        two = (int(match[1]), int(match[2]))
        return replace(own, steps=StepSlot("pair", tuple(sorted(two))), all_steps=two)
    shifted = SHIFTED.search(_figures(text)) if len(text) <= _SHORT_ENOUGH else None
    own = at_that_step(own, text, runs)
    if own.steps.kind not in {"none", "first", "last"} and shifted is None:
        return own
    held = state.step
    if held is None and state.steps.kind == "single":
        held = state.steps.values[0]
    if held is None and state.steps.kind == "last" and runs and runs[0].distinct_steps:
        held = runs[0].distinct_steps[-1]
    single: int | None = None
    if (match := shifted) and held is not None:
        further = int(match["on"] or match["then"] or match["later"] or 0) - int(match["off"] or match["before"] or 0)
        single = held + further
    elif (match := RELATIVE.search(text)) and held is not None and runs:
        steps = logged(own.mentions or state.mentions, runs[0])
        later = [s for s in steps if s > held] if match["next"] else [s for s in reversed(steps) if s < held]
        single = later[0] if later else held + (1 if match["next"] else -1)
    elif own.steps.kind == "none" and that_step(text) and held is not None:
        single = held
    elif (match := BARE_NUMBER.match(_figures(text))) and state.steps.kind in {"single", "pair", "last", "first"}:
        single = int(match[1])
    if single is None:
        return own
    if HAPPENED.search(text) and that_step(text) and not any(m.text and m.text in text for m in own.mentions):
        return replace(own, mentions=(), steps=StepSlot("single", (single,)), all_steps=(single,), intent="explain")
    intent: Intent = "lookup" if own.mentions and own.intent in {"define", "explain"} else own.intent
    guessed = own.guessed or own.intent in {"advice", "out_of_scope"}
    return replace(own, steps=StepSlot("single", (single,)), all_steps=(single,), intent=intent, guessed=guessed)


def _lasting(own: Query, before: Query, text: str, state: State) -> Query | None:
    """ "Is it still there at the end?" after an event: the same metric and limit, with the step that was told."""
    told = before.threshold is not None or state.step is not None or before.not_finite or "nan" in before.topics
    if own.mentions or own.threshold is not None or own.steps.kind not in {"none", "last", "all"} or not told:
        return None
    from assistant.ask.run_questions import holds  # which needs this module itself

    if not holds("lasting", text):
        return None
    return replace(
        before, text=own.text, wording=own.wording or own.text, language=own.language, follows="lasting",
        intent="lookup", steps=StepSlot(), all_steps=(), step_marks=(), earlier=state.step, guessed=False,
        topics=("nan",) if before.not_finite or "nan" in before.topics else (),
    )  # fmt: skip


_MEMBERS = {"max": "/max", "argmax": "/max", "min": "/min", "argmin": "/min", "mean": "/mean"}


def _other_member(found: Query, run: Run, resolver: Resolver, *, of: StepSlot) -> Query:
    """ "The longest response?", "the shortest?": another key of the family rather than the least of its largest.

    "And the max?" after a mean at one step is the largest of that step.
    """
    end = _MEMBERS.get(found.op or "")
    key = found.mentions[0].key if len(found.mentions) == 1 else None
    if of.kind == "single" and found.steps.kind == "none" and found.op in {"max", "min", "mean"} and key is not None:
        family, _, leaf = key.rpartition("/")
        other = f"{family}/{found.op}" if leaf in {"mean", "max", "min"} else ""
        if other in run.columns and other != key:
            meant = as_mention(run, resolver, other, 0, 0, other)
            return replace(found, mentions=(meant,), op=None, asked_op=None, steps=of, all_steps=of.values)
    if end is None or key is None or not key.endswith(("/max", "/min")) or key.endswith(end):
        return found
    other = f"{key.rpartition('/')[0]}{end}"
    if other not in run.columns:
        return found
    return replace(found, mentions=(as_mention(run, resolver, other, 0, 0, other),))


def _figures(text: str) -> str:
    """Number words of a short text as figures: ``and sixty`` → ``and 60``, ``再往后十步`` → ``再往后10步``."""
    if len(text.split()) > 5:
        return text
    text = _TENS_OF_STEPS.sub(lambda m: str(chinese_number(m[0])), text)
    return re.sub(r"[A-Za-z]+", lambda m: str(NUMBER_WORDS.get(m[0].lower(), m[0])), text)


def _run_named(own: Query, before: Query, text: str, runs: Sequence[Run]) -> Query:
    """ "And in the other one?" of two runs."""
    if not own.runs and before.runs and len(runs) > 1 and (match := _PLACE.search(text)):
        place = _PLACES[(match[1] or match[2]).lower()]
        return replace(own, runs=(place,)) if place < len(runs) else own
    if own.runs or len(runs) != 2 or not re.search(r"(?i)另(?:外)?一个|\bthe other (?:one|run|log)\b|对面", text):
        return own
    return replace(own, runs=(1 - (before.runs[0] if before.runs else 0),))


def continued_language(text: str, state: State | None, found: str) -> str:
    """Language of a follow-up: a few English words in a Chinese conversation do not change it."""
    if state is None or state.language is None or language_asked(text) is not None:
        return found
    few = len(re.findall(r"[A-Za-z]+", text)) <= 5 and not re.search(r"[\u3400-\u9fff]", text)
    few = few and not asks_by_itself(text)
    return state.language if few else language_of(text, state.language)
