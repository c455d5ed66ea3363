"""What a sentence speaks of: its names, steps and numbers, what it takes over, and what it hands on to the next."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.across import Spot
from assistant.ground.audited import AuditedRun
from assistant.ground.binding import Carried, Frame
from assistant.ground.counting import VALIDATION
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Named, of_its_own
from assistant.ground.masks import data_sets, masked_spans
from assistant.ground.places import Place, places, relative_places
from assistant.ground.quantities import Quantity, quantities
from assistant.ground.rounds import in_steps
from assistant.ground.sentences import Unit
from assistant.model import Run

_COUNTED: Final = {"steps", "points", "gpus", "samples", "prompts", "validations"}
_NEXT_RUN: Final = re.compile(r"(?i)\s*(?:,|，|、|and|和|;|；)?\s*_+\s*(?:为|是|有|:|：)?\s*")


def frame_of(reader: AuditedRun, part: str, context: Carried, runs: Sequence[Spot]) -> Frame:
    """A sentence taken apart.

    Args:
        reader: the run that it is judged against.
        part: its text.
        context: what it takes over, from :func:`context_of`.
        runs: where it names which run, if there are several.
    """
    steps = reader.table.steps
    part = in_steps(reader.run, part)
    whole = part
    for spot in runs:  # a run's name is no metric, no step and no number
        part = part[: spot.start] + "_" * (spot.end - spot.start) + part[spot.end :]
    shadow = part
    found = places(part, steps)
    base = found[0].steps[0] if found else context.steps[-1] if context.steps else None
    for place in relative_places(part, base, steps):
        if not any(p.start < place.end and place.start < p.end for p in found):
            found.append(place)
    found.sort(key=lambda p: p.start)
    blank = list(part)
    for place in found:
        blank[place.start : place.end] = " " * (place.end - place.start)
    names = reader.lexicon.named("".join(blank))
    names = [replace(n, text=part[n.start : n.end]) for n in names]
    names = _with_step_time(part, _with_phases(part, names, reader.run.columns), reader.table.total_time())
    names = _of_validation(names, context)
    names = _of_eval(part, names, reader.run)
    names = _with_data_set(part, _of_data_set(part, names, reader.run), reader.run)
    part = whole
    masks = masked_spans(part, reader.run, names, found) + [(s.start, s.end) for s in runs]
    numbers = [_without_plus(q, part) for q in quantities(part, masks)]
    for at in range(1, len(numbers)):  # "A logs 61 steps and B 66"
        before, here = numbers[at - 1], numbers[at]
        if runs and before.unit in _COUNTED and not here.unit and _NEXT_RUN.fullmatch(shadow[before.end : here.start]):
            numbers[at] = here.in_unit_of(before)
    return Frame(part, names, found, numbers, context, away=tuple((s.start, s.end) for s in runs))


def _without_plus(q: Quantity, part: str) -> Quantity:
    """``12 + 8``: the sign adds, and is none of the second number."""
    body = q.text.lstrip("+＋ ")
    if (
        q.sign != "+"
        or "÷" in part
        or not re.search(r"(?:\d\s?(?:%|％|秒|s)?|[)）])\s*$", part[max(0, q.start - 8) : q.start])
        or body == q.text
    ):
        return q
    return replace(q, start=q.start + len(q.text) - len(body), text=body, sign="")


def context_of(reader: AuditedRun, unit: Unit, carried: Carried) -> Carried:
    """What a unit takes over: from its heading or list parent, else from the sentence before."""
    names, steps, pair, span, key = carried.names, carried.steps, carried.pair, carried.span, carried.key
    if unit.fresh:
        names = ()
    if unit.above and (unit.fresh or unit.kind in {"item", "row"} or not (names or steps)):
        if unit.kind == "item":
            names = ()
        for text in (in_steps(reader.run, above) for above in unit.above):
            found_places = places(text, reader.table.steps)
            found_names = [n for n in reader.lexicon.named(text) if n.keys or n.derived]
            if found_places:
                steps, pair, span = _steps_of(found_places)
                key = None
            if found_names and len(found_names) <= 2:
                names = tuple(found_names[:1])
    return Carried(names, steps, pair, span, key, carried.both)


def subject_of(reader: AuditedRun, text: str, units: Sequence[Unit]) -> Named | None:
    """The one metric that a text's first sentence names: what "in this log: 0.2 at step 1" is said of further down."""
    if not units:
        return None
    named = [n for n in reader.lexicon.named(text[units[0].start : units[0].end]) if n.keys]
    return named[0] if named and len({n.keys[0] for n in named}) == 1 else None


def carry(frame: Frame, carried: Carried, judge: Judge) -> Carried:
    """What the next sentence takes from this one."""
    names = tuple(n for n in frame.names if n.keys or n.derived) or frame.carried.names
    names = tuple(n if n.statistic not in {"max", "min"} or of_its_own(n) else replace(n, statistic="") for n in names)
    if len(names) > 1:
        names = (names[0],) if frame.numbers and not _about_last(frame, names) else names[-1:]
    if frame.places:
        steps, pair, span = _steps_of(frame.places)
    else:
        steps, pair, span = frame.carried.steps, frame.carried.pair, frame.carried.span
    key = None if frame.places else frame.carried.key
    before = frame.carried.steps
    if pair is None and span is None and len(steps) == len(before) == 1 and steps != before and _same(frame):
        pair = (before[0], steps[0])  # "Step 50: entropy 0.22. Step 65: 0.20. So it went down."
    if judge.pair is not None and not frame.places:
        key, pair = judge.pair[0], (judge.pair[1], judge.pair[2])
    two = list({n.keys: n for n in frame.names if n.keys}.values())
    return Carried(names, steps, pair, span, key, tuple(two) if len(two) == 2 else ())


def _same(frame: Frame) -> bool:
    """Whether a sentence tells a value of the metric of the sentence before."""
    names, before = [n for n in frame.names if n.keys], frame.carried.names
    told = any(q.unit not in _COUNTED for q in frame.numbers)
    return told and bool(before) and (not names or (len(names) == 1 and names[0].keys == before[-1].keys))


def _about_last(frame: Frame, names: Sequence[Named]) -> bool:
    return bool(frame.numbers) and frame.numbers[-1].start > names[-1].end and frame.clause(names[-1].start) > 0


def _steps_of(found: Sequence[Place]) -> tuple[tuple[int, ...], tuple[int, int] | None, tuple[int, int] | None]:
    last = found[-1]
    if last.kind == "range":
        return (), None, (last.steps[0], last.steps[-1])
    if len(last.steps) == 2:
        return last.steps, (last.steps[0], last.steps[1]), None
    singles = [p.steps[0] for p in found if len(p.steps) == 1]
    if len(singles) == 2 and singles[0] != singles[1]:
        return tuple(singles), (singles[0], singles[1]), None
    return last.steps, None, None


_TOOK: Final = re.compile(
    r"(?i)(?P<took>\b(?:took|takes?|lasts?|lasted)\b|(?<=步)(?:所)?(?:花|用|耗)(?:费|去|掉)?的时间|(?<=步)\s*(?:总共|一共|总计|共)(?=\s*约?\s*[\d.]+\s*(?:秒|分钟|小时))|每步(?:大约|大概|约|差不多)?(?:都)?(?:要|得|需要?)?(?:跑|花|用)(?:了)?(?=\s*[\d.]+)|用时|耗时(?!占|的|为?最)|花了|跑了|(?:一步|单步)(?=\s*约?\s*[\d.,]+\s*(?:秒|分钟|小时))|\b(?:spent|spend|spends)\b(?=[^;,]{0,26}\bstep \d)|用了(?=\s*(?:约|大约)?\s*[\d.]+\s*(?:秒|分钟|小时|s\b|min)))|(?P<whole>\bof (?:the|each|a|every|its) (?:whole )?step(?:'s time)?\b(?![\s-]*\d)|占(?:整个)?(?:一步|单步|step)的?)"
)


_SLOWEST: Final = re.compile(
    r"(?i)[`*\s]*(?:(?:is|was) (?:the )?(?:slowest|fastest|longest|shortest)\b[^.;]{0,32}\b(?:where|when|which|and)(?: it)?\s*|(?:耗时)?最[慢快长短]的?(?:是|为|一步是|在|出现在)[^。；]{0,16}[，,]\s*)$"
)
#: "验证最贵的一次是 step 60，花了 178 秒": what took it is no step.
_OF_ANOTHER: Final = re.compile(r"(?i)(?:验证|评测|评估|测试|validat\w+|evaluat\w+|checkpoint)[^。；;]{0,40}$")


def _with_step_time(part: str, names: list[Named], total: str | None) -> list[Named]:
    """``Step 62 took 130 s``: where nothing else is named before it, what takes the time is the step."""
    if total is None:
        return names
    result = list(names)
    for match in _TOOK.finditer(part):
        if any(n.start < match.end() and match.start() < n.end for n in result):
            continue
        near = [
            n
            for n in result
            if n.end <= match.start()
            and match.start() - n.end < 32
            and not re.search(r"[,，;；。]", part[n.end : match.start()])
        ]
        if (
            match["took"]
            and not match.group().endswith("的时间")
            and (
                near
                or not re.match(
                    r"[^\d，,。；;]{0,24}[\d.,]+\s*(?:s\b|sec|min|h\b|hour|秒|分|小时|个小时)", part[match.end() :]
                )
            )
        ):
            continue
        if match["took"] and _OF_ANOTHER.search(part[: match.start()]):
            continue
        if match["took"] and any(
            n.end <= match.start() and set(n.keys) - {total} and _SLOWEST.match(part[n.end : match.start()])
            for n in result
        ):
            continue  # "generation is slowest at step 9, where it takes 70 s"
        if match["took"] and not re.search(r"(?i)step|步|iteration|it\b|each|每", part):
            continue
        statistic = "whole" if match["whole"] else ""
        result.append(Named(match.start(), match.end(), match.group(), (total,), statistic=statistic))
    return sorted(result, key=lambda n: n.start)


_SECONDS_AFTER: Final = r"\s*(?:约|大约|about|~)?\s*[（(]?\s*[\d.]+\s*(?:秒|分钟|s\b|min\b)"
#: Phases of a step, by words that mean them only where a time or a share stands beside: which words, which keys.
_PHASES: Final = (
    (
        re.compile(
            rf"(?:更新|\bupdate)(?:(?=\s*(?:占|为|是|约)?\s*[\d.]+\s?[%％])|(?=(?: (?:took|takes|lasted|needed|needs))?{_SECONDS_AFTER})|(?=[^，。；\d]{{0,6}}(?:占|两项|二者|两者|加起来|合计|一起))|(?=[^，。；\d]{{0,4}}(?:耗时|用时)))|(?<=[比和与跟加、])更新(?!到|至|后|的(?!耗|用|时)|了(?!\s*\d)|次)"
        ),
        ("timing_s/update_actor", "time/step_train"),
    ),
    (
        re.compile(
            rf"(?i)\b(?:generating|sampling)(?:(?={_SECONDS_AFTER})|(?= (?:the |all )?(?:\d[\d,]* )?(?:responses|answers|rollouts|samples|trajectories|completions)\b))"
        ),
        ("timing_s/gen", "time/step_generate"),
    ),
    (
        re.compile(rf"(?i)(?:训练|\btraining)(?={_SECONDS_AFTER})|(?<=\bas )training\b|(?<=\bthan )training\b"),
        ("Training time",),
    ),
    (
        re.compile(r"(?:题目|题干|提示)(?=\s*(?:的?长度)?\s*(?:平均)?(?:[长短]于|[长短]过|比回[答复]|[更还要][长短]))"),
        ("prompt_length/mean", "token/prompt_length/mean", "prompt_length"),
    ),
    (re.compile(rf"(?i)(?:其余|其他|\bthe rest|\bothers?)(?={_SECONDS_AFTER})"), ("Others",)),
    (
        re.compile(
            rf"(?i)(?:参考模型|参考策略|\breference(?: model)?)(?:(?={_SECONDS_AFTER})|(?=\s*(?:只|仅|却|大约|约)?(?:占|要|用|花)了?\s*(?:约|大约)?\s*\d)|(?=\s*(?:,|、|and\b|和|与)[^，。；.;]{{0,40}}?(?:合计|一共|together|add up|in total|加起来)))"
        ),
        ("timing_s/ref", "timing/ref", "time/ref_log_probs"),
    ),
)


def _with_phases(part: str, names: list[Named], columns: Container[str]) -> list[Named]:
    """``生成 61 秒，更新 2.4 秒``: a bare "update" with a time beside it is the actor's."""
    added = list(names)
    for pattern, keys in _PHASES:
        key = next((k for k in keys if k in columns), "")
        for match in pattern.finditer(part) if key else ():
            if not any(n.start < match.end() and match.start() < n.end for n in added):
                added.append(Named(match.start(), match.end(), match.group(), (key,)))
    return sorted(added, key=lambda n: n.start)


def _with_data_set(part: str, names: list[Named], run: Run) -> list[Named]:
    """``MATH-500 drops from 59.55% to 19.85%``: a data set's name alone is its validation's result."""
    added = list(names)
    for match in data_sets(run).finditer(part):
        spelt = re.sub(r"[^a-z0-9]", "", match.group().lower())
        held = [k for k in run.columns if VALIDATION.match(k) and spelt in re.sub(r"[^a-z0-9]", "", k.lower())]
        if not held or any(set(n.keys) & set(held) or (n.start < match.end() and match.start() < n.end) for n in added):
            continue
        keys = [k for kind in ("acc", "reward", "score") for k in held if re.search(rf"/{kind}/mean@\d+$", k)]
        keys = keys or [
            k for k in held if re.search(r"(?i)score|acc|reward", k) and not re.search(r"/(?:std|best|worst|maj)", k)
        ]
        if keys:
            added.append(Named(match.start(), match.end(), match.group(), tuple(keys[:3])))
    return sorted(added, key=lambda n: n.start)


def _of_data_set(part: str, names: list[Named], run: Run) -> list[Named]:
    """``AIME-2024 reward``: the validation's, where a data set's name stands before a bare "reward" or "score"."""
    result = []
    for name in names:
        before = part[max(0, name.start - 24) : name.start]
        found = [
            m
            for m in data_sets(run).finditer(before)
            if re.fullmatch(r"[\s`*]*(?:的|上的?|'s)?[\s`*]*", before[m.end() :])
        ]
        kind = re.search(r"(?i)reward|奖励|score|得分|acc|准确", name.text)
        if found and kind and name.keys and not name.exact:
            which = {"奖励": "reward", "得分": "score", "准确": "acc"}.get(kind.group(), kind.group().lower())
            spelt = re.sub(r"[^a-z0-9]", "", found[-1].group().lower())
            own = [
                k for k in run.columns
                if VALIDATION.match(k) and f"/{which}/mean@" in k and spelt in re.sub(r"[^a-z0-9]", "", k.lower())
            ]  # fmt: skip
            result.append(replace(name, keys=(*own, *name.keys)) if own else name)
            continue
        result.append(name)
    return result


_EVALUATED: Final = re.compile(r"(?i)(?:\b(?:validation|evaluation|eval|val)|验证集?|评测|评估)(?:的|上的)?\s?$")
_RESULT: Final = re.compile(r"(?i)(?:mean )?(?P<what>scores?|rewards?|acc(?:uracy)?|得分|分数|奖励|准确率)")


def _of_eval(part: str, names: list[Named], run: Run) -> list[Named]:
    """``eval score``: the validation's, where the run has one, whatever it calls it."""
    result = []
    for name in names:
        before = _EVALUATED.search(part[max(0, name.start - 12) : name.start])
        said = _RESULT.fullmatch(name.text)
        if (
            before is None
            or said is None
            or not (name.keys or name.absent)
            or any(VALIDATION.match(key) for key in name.keys)
        ):
            result.append(name)
            continue
        own = [key for key in run.columns if VALIDATION.match(key) and re.search(r"(?i)score|acc|reward|correct", key)]
        own = [k for k in own if not re.search(r"/(?:std|best|worst|maj)", k)]
        if name.absent:  # a score is whatever the validation tells; an accuracy or a reward only what is called so
            own = [k for k in own if _SPELT_SO.get(said["what"].lower().rstrip("s")[:3], _ANY).search(k)]
        first = sorted(own, key=lambda key: not re.search(r"(?i)-core/|/acc/|mean", key))
        start = name.start - len(before.group())
        result.append(
            replace(name, start=start, text=part[start : name.end], keys=tuple(first[:3]), absent=False)
            if own
            else name
        )
    return result


_ANY: Final = re.compile("")
_SPELT_SO: Final = {
    "acc": re.compile(r"(?i)acc|correct"),
    "准确率": re.compile(r"(?i)acc|correct"),
    "rew": re.compile(r"(?i)reward"),
    "奖励": re.compile(r"(?i)reward"),
}
_GENERIC_SCORE: Final = re.compile(r"(?i)(?:the )?(?:last |final |latest )?(?:scores?|accuracy|得分|分数|准确率)")


def _of_validation(names: list[Named], context: Carried) -> list[Named]:
    """``Validation … ; the last score is 72%``: a bare "score" may be that of the validation spoken of before."""
    before = [k for n in context.names for k in n.keys if VALIDATION.match(k)]
    if not before:
        return names
    return [
        replace(n, keys=tuple(dict.fromkeys((*before, *n.keys)))) if n.keys and _GENERIC_SCORE.fullmatch(n.text) else n
        for n in names
    ]
