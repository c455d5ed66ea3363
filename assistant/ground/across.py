"""Sentences about several runs: each number and word is judged against the run that it is said of."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Final

from assistant.ground.apart import between_columns
from assistant.ground.audited import AuditedRun
from assistant.ground.changes import SPEED
from assistant.ground.cues import cue
from assistant.ground.lexicon import Lexicon
from assistant.ground.quantities import quantities
from assistant.ground.rates import FACTOR_LESS
from assistant.ground.sentences import Unit
from assistant.ground.table import Table, agrees
from assistant.ground.verdicts import GRAVEST, Claim, Sentence, plain, reason, worst
from assistant.model import Run

_AFTER: Final = re.compile(
    r"(?i)^[`*\s]*(?!(?:and|while|but)\b)(?:[%\w/]{0,9}\s)?(?:for|in|of|on|at|from|under|的|属于)?\s*(?:run\s*)?[（(`*\s]*$"
)
_BREAK: Final = re.compile(r"[，,；;。]|\b(?:while|against|but|whereas)\b|而|但")
_RESPECTIVELY: Final = re.compile(r"(?i)\brespectively\b|分别")
_PAIR: Final = re.compile(
    r"(?i)^\s*[`*%]*\s*(?:vs\.?|versus|against|compared (?:to|with)|and|minus|less|对|比|和|与|减去?|/|,)\s*[`*]*$"
)


@dataclass(frozen=True, slots=True)
class Spot:
    """A run named at ``start:end``."""

    start: int
    end: int
    run: int


def spots(text: str, runs: Sequence[Run]) -> list[Spot]:
    """Every naming of a run, by its name with or without the file's ending, left to right."""
    found: list[Spot] = []
    for number, run in enumerate(runs):
        for name in sorted({run.name, PurePath(run.name).stem}, key=len, reverse=True):
            if len(name) < 2:
                continue
            for match in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
                if not any(s.start < match.end() and match.start() < s.end for s in found):
                    found.append(Spot(match.start(), match.end(), number))
    return sorted(found, key=lambda spot: spot.start)


def named_in(text: str, readers: Sequence[AuditedRun]) -> list[Spot]:
    """Where a text names which run; nowhere where there is only one to speak of."""
    return spots(text, [reader.run for reader in readers]) if len(readers) > 1 else []


def runs_named(text: str, readers: Sequence[AuditedRun]) -> list[int]:
    """The runs that a text names, in its order; none where there is only one."""
    return list(dict.fromkeys(spot.run for spot in named_in(text, readers)))


def chosen(
    options: Sequence[Sentence], readers: Sequence[AuditedRun], language: str, unit: Unit | None = None,
    order: Sequence[int] = (),
) -> Sentence:  # fmt: skip
    """Of the verdicts of several runs, that of the runs named; else the kindest: the text may mean that run.

    Args:
        options: the verdict against each run.
        readers: the runs.
        language: of reasons.
        unit: what is judged: a row's columns may each be of a run.
        order: the runs that the sentence before named, which "respectively" takes over.
    """
    if len(options) > 1 and unit is not None and unit.kind == "row":
        columns = [(cell, runs_named(title, readers)) for cell, title in zip(unit.cells, unit.header, strict=False)]
        if sum(len(runs) == 1 for _, runs in columns) > 1:
            kept = [
                claim
                for (start, end), runs in columns
                for claim in options[runs[0] if len(runs) == 1 else 0].claims
                if start <= claim.start < end and len(runs) == 1
            ]
            kept += between_columns(options[0], unit, columns, language)
            return replace(options[0], status=worst(tuple(kept)), claims=tuple(kept))
    if (
        len(options) > 1
        and len(order) > 1
        and _RESPECTIVELY.search(options[0].text)
        and not runs_named(options[0].text, readers)
    ):
        spans = sorted({(c.start, c.end) for option in options for c in option.claims if re.search(r"\d", c.text)})
        if len(spans) == len(order):
            picked = [
                claim
                for span, run in zip(spans, order, strict=True)
                for claim in options[run].claims
                if (claim.start, claim.end) == span
            ]
            return replace(options[0], status=worst(tuple(picked)), claims=tuple(picked))
    named = named_in(options[0].text, readers)
    if named:
        lexicons, tables = [r.lexicon for r in readers], [r.table for r in readers]
        return combined(options, named, lexicons, tables, lambda key, **values: reason(key, language, **values))
    return max(options, key=lambda s: (s.status != "no_claim", GRAVEST.index(s.status)))


def combined(
    options: Sequence[Sentence], named: Sequence[Spot], lexicons: Sequence[Lexicon], tables: Sequence[Table],
    say: Callable[..., str],
) -> Sentence:  # fmt: skip
    """One verdict of a sentence that names runs, from its verdicts against each of them.

    Args:
        options: the sentence judged against each run.
        named: where the sentence names which run.
        lexicons: names of each run's metrics.
        tables: each run.
        say: a reason in the audit's language.
    """
    base = options[0]
    text, offset = base.text, base.start
    claims: list[Claim] = []
    compared = _comparison(text, named, lexicons, tables, say)
    spans = sorted({(c.start, c.end) for option in options for c in option.claims})
    values = [span for span in spans if re.search(r"\d", text[span[0] - offset : span[1] - offset])]
    for start, end in spans:
        run = _run_of(text, start - offset, end - offset, named, [(a - offset, b - offset) for a, b in values])
        claim = next((c for c in options[run].claims if (c.start, c.end) == (start, end)), None)
        if claim is None or (
            compared is not None and (cue("higher").fullmatch(claim.text) or cue("lower").fullmatch(claim.text))
        ):
            continue
        if claim.status != "supported" and (ratio := _ratio(claim, claims, named, offset, tables)) is not None:
            claim = replace(claim, status="supported" if ratio else claim.status, reason="" if ratio else claim.reason)
        if claim.status != "supported" and _multiple(text, claim, offset, named, lexicons, tables):
            claim = replace(claim, status="supported", reason="")
        if (apart := _differ(text, claim, named, lexicons, tables)) and claim.status != "supported":
            claim = replace(claim, status="supported", reason="")
        elif apart is False:
            claim = replace(claim, status="contradicted")
        if (fits := _times_the_other(text, claim, offset, named, lexicons, tables)) is not None:
            claim = replace(claim, status="supported" if fits else "contradicted", reason="" if fits else claim.reason)
        if claim.status != "supported" and compared is not None and _by_so_much(text, claim, offset, *compared[4:]):
            claim = replace(claim, status="supported", reason="")
        claims.append(claim)
    gone = [n for n in lexicons[0].named(text) if n.absent]
    if not claims and gone and (_OF_TWO.search(text) or cue("higher").search(text) or cue("lower").search(text)):
        at = offset + gone[0].start
        note = say("no_metric", metric=gone[0].text.strip("`"))
        claims.append(Claim(gone[0].text, at, at + len(gone[0].text), "contradicted", note))
    if (said := _alike(text)) is not None:
        ways = [c for c in claims if _way(c.text)]
        if not ways and (gone := [n for n in lexicons[0].named(text) if n.absent]):
            at = offset + gone[0].start
            note = say("no_metric", metric=gone[0].text.strip("`"))
            claims.append(Claim(gone[0].text, at, at + len(gone[0].text), "contradicted", note))
        if len(ways) == 2 and (_way(ways[0].text) == _way(ways[1].text)) != said:
            claims = [replace(c, status="contradicted") if c is ways[1] else c for c in claims]
    if compared is not None:
        start, end, fine, note, *_ = compared
        claims.append(
            Claim(text[start:end], offset + start, offset + end, "supported" if fine else "contradicted", note)
        )
    claims.sort(key=lambda c: c.start)
    return Sentence(text, base.start, base.end, worst(tuple(claims)), tuple(claims))


def _ratio(
    claim: Claim, before: Sequence[Claim], named: Sequence[Spot], offset: int, tables: Sequence[Table]
) -> bool | None:
    """Whether a factor is that of the two runs' values told before it; ``None`` where it is no such factor."""
    found = quantities(claim.text, [])
    told = [c for c in before if c.status == "supported" and c.fact and re.search(r"\d", c.text)]
    if len(found) != 1 or found[0].unit not in {"ratio", "factor"} or len(told) < 2:
        return None
    values = []
    for one in told[-2:]:
        run, _, own = str(one.fact).partition(":")
        fact = tables[int(run)].ledger.get(own)
        if fact is None or not isinstance(fact.value, (int, float)) or not fact.value:
            return None
        values.append((int(run), float(fact.value)))
    (one_run, x), (two_run, y) = values
    behind = next((s.run for s in named if s.start + offset >= claim.end), None)
    q = found[0]
    options = [x / y] if behind == one_run else [y / x] if behind == two_run else [x / y, y / x]
    return one_run != two_run and any(agrees(q.number, q.half, value, bound=q.bound) for value in options)


#: "116% above that of B", 比 B 高 116%: by how much one run's value differs from the other's.
_MORE_AFTER: Final = re.compile(
    r"(?i)[`*\s]*(?:points? )?(?:above|below|over|under|higher|lower|more|less|longer|shorter|larger|smaller|greater|faster|slower|ahead|behind)\b"
)
_MORE_BEFORE: Final = re.compile(r"[高低大小多少长短快慢](?:了|出)?(?:约|大约|近)?\s*[`*]*$")


def _by_so_much(text: str, claim: Claim, offset: int, x: float, y: float) -> bool:
    """Whether a number is by how much the value of the run named first differs from the other's."""
    found, start, end = quantities(claim.text, []), claim.start - offset, claim.end - offset
    beside = _MORE_AFTER.match(text[end:]) or _MORE_BEFORE.search(text[max(0, start - 8) : start])
    if len(found) != 1 or not beside or found[0].sign or found[0].bound:
        return False
    q = found[0]
    if q.unit == "%":
        return bool(y) and agrees(q.number, q.half, abs(x / y - 1) * 100)
    return not q.unit and agrees(q.number, q.half, abs(x - y))


#: "Of the two, A is the one with …", "更高的是 A，而不是 B".
_OF_TWO: Final = re.compile(
    r"(?i)\b(?:of|between) the (?:two|pair|both)\b|\bis the one (?:that|with|which)\b"
    r"|\b(?:not|rather than|instead of)\b"
    r"|而不是|而非|[两二](?:个|组|次|份|条)?(?:者|实验|run|日志|训练|边)(?:里|中|之中|当中|相比)?|的是"
)
_SAME: Final = re.compile(
    r"(?i)走势.{0,6}(?:相同|一致|一样)|都(?:在)?[升降涨跌]|\b(?:both|same (?:way|direction|trend))\b"
)
_OTHER: Final = re.compile(
    r"(?i)走势.{0,6}(?:不同|相反|不一样)|\b(?:opposite|different) (?:ways|directions?|trends?)\b"
)


def _alike(text: str) -> bool | None:
    """Whether a sentence says that the runs go the same way, or different ones."""
    return True if _SAME.search(text) else False if _OTHER.search(text) else None


def _way(text: str) -> int:
    up, down = bool(cue("up").search(f" {text} ")), bool(cue("down").search(f" {text} "))
    return up - down


def _run_of(text: str, start: int, end: int, named: Sequence[Spot], values: Sequence[tuple[int, int]]) -> int:
    """The run that characters are about."""
    order = [s.run for s in named]
    before = [s for s in named if s.end <= start]
    after = [s for s in named if s.start >= end]
    if len(before) >= 2 and (start, end) in values:
        at = values.index((start, end))
        for first, second in ((at, at + 1), (at - 1, at)):
            if not 0 <= first < second < len(values):
                continue
            left, right = values[first][1], values[second][0]
            alone = not any(left <= s.start < right for s in named) and before[0].end <= values[first][0]
            if alone and _PAIR.match(text[left:right]):
                return order[0] if at == first else order[1]
    if after and _AFTER.match(text[end : after[0].start]):
        return after[0].run
    near = [s for s in before if not _BREAK.search(text[s.end : start])]
    if near:
        return near[-1].run
    ahead = [s for s in after if not _BREAK.search(text[end : s.start])]
    if ahead:  # "0.59 to 0.77 in A, and from -0.34 to 0.26 in B"
        return ahead[0].run
    return before[-1].run if before else after[0].run


#: "…, B 更高": of the two told.
_MORE_THAN_IT: Final = re.compile(r"更[高低大小多少长短快慢](?:[一些点]{1,2})?(?=\s*(?:[，,。；;）)]|$))")


def _comparison(
    text: str, named: Sequence[Spot], lexicons: Sequence[Lexicon], tables: Sequence[Table], say: Callable[..., str]
) -> tuple[int, int, bool, str, float, float] | None:
    """``A ends with a higher reward than B``: the two runs' last values, or those at the step named."""
    alone = len({s.run for s in named}) == 1 and len(tables) == 2 and _OF_TWO.search(text)
    if len({s.run for s in named}) != 2 and not alone:
        return None
    subject = named[0].run
    other = 1 - subject if alone else next(s.run for s in named if s.run != subject)
    told = next(iter(_MORE_THAN_IT.finditer(text)), None)
    if not (alone or told or _OF_TWO.search(text) or cue("versus").search(text)):
        return None
    if told and not cue("versus").search(text) and (near := [s for s in named if s.end <= told.start()]):
        subject = near[-1].run  # "A 是 0.3，B 是 0.5，B 更高"
        other = 1 - subject if alone else next(s.run for s in named if s.run != subject)
    found: Any = None
    for sense in ("higher", "lower"):
        for match in cue(sense).finditer(text):
            if found is None or match.end() > found[0].end():
                found = (match, sense)
    if found is None:
        return None
    match, sense = found
    both = _values(text, subject, other, lexicons, tables)
    if both is None:
        return None
    mine, x, y = both
    pace = SPEED.search(mine) is not None and re.search(r"(?i)[快慢]|fast|slow|quick", match.group()) is not None
    fine = x > y if (sense == "higher") != pace else x < y
    shown = (tables[subject].run.name, tables[other].run.name)
    note = "" if fine else say("two_runs", metric=mine, one=shown[0], true=plain(x), other=shown[1], value=plain(y))
    start = max(match.start(), match.end() - 12)
    return start, match.end(), fine, note, x, y


#: "Differs by 0.29 between A and B", A 与 B 相差 0.29.
_DIFFER: Final = re.compile(r"(?i)\bdiffer(?:s|ed)? by\b|\b(?:difference|gap)\b|\bapart\b|相差|差距|之差|差了?")


def _differ(
    text: str, claim: Claim, named: Sequence[Spot], lexicons: Sequence[Lexicon], tables: Sequence[Table]
) -> bool | None:
    """Whether a number is by how much the values of the two runs differ; ``None`` where it need not be."""
    runs = list(dict.fromkeys(spot.run for spot in named))
    found = quantities(claim.text, [])
    if not _DIFFER.search(text) or len(runs) != 2 or len(found) != 1 or found[0].unit:
        return None
    both = _values(text, runs[0], runs[1], lexicons, tables)
    if both is None:
        return None
    q, apart = found[0], both[1] - both[2]
    if q.sign in {"+", "-"}:  # the first less the second
        return agrees(abs(q.number), q.half, abs(apart)) and (q.sign == "-") == (apart < 0)
    return agrees(q.number, q.half, abs(apart)) or None


#: 是 B 的 3.2 倍: a run's value over the other's.
_OF_THE_OTHER: Final = re.compile(r"\s*的\s*(?:约|大约|近|将近)?\s*[`*]*")
_IS_THAT: Final = re.compile(r"(?:是|为|达到?|相当于|高达|只有|仅有|仅为)了?\s*$")


def _times_the_other(  # noqa: PLR0917
    text: str, claim: Claim, offset: int, named: Sequence[Spot], lexicons: Sequence[Lexicon], tables: Sequence[Table]
) -> bool | None:
    """Whether a factor is that of the first run's value over the other's; ``None`` where it is no such factor."""
    found, start = quantities(claim.text, []), claim.start - offset
    base = next((spot for spot in named if _OF_THE_OTHER.fullmatch(text, spot.end, max(spot.end, start))), None)
    if base is None or len(found) != 1 or found[0].unit not in {"ratio", "factor", "%"}:
        return None
    if not _IS_THAT.search(text[: base.start]) or named[0].run == base.run:
        return None
    both = _values(text, named[0].run, base.run, lexicons, tables)
    if both is None or not both[2]:
        return None
    q, factor = found[0], 0.01 if found[0].unit == "%" else 1.0
    return agrees(q.number * factor, q.half * factor, both[1] / both[2], bound=q.bound)


#: A step's time, told without its name.
_A_STEP: Final = re.compile(
    r"(?:每步|一步|单步|每个? ?step)(?:要|需要?|花|用|耗时|跑)?(?:了)?\s*(?:约|大约)?\s*[\d.,]+\s*(?:秒|分钟|s\b)"
)


#: "Finishes with 2.5 times the length of B": where in the runs both values stand.
_MEANT: Final = re.compile(
    r"(?i)\b(?:end(?:s|ed|ing)?|finish(?:es|ed)?|final(?:ly)?|last|closes?|closed|best|highest|peak|on average|step \d+)\b|第\s*\d+\s*步|最后|最终|最高|最好|平均"
)


def _multiple(  # noqa: PLR0917
    text: str, claim: Claim, offset: int, named: Sequence[Spot], lexicons: Sequence[Lexicon], tables: Sequence[Table]
) -> bool:
    """Whether a factor is the value of the run named before it over that of the one named behind."""
    found = quantities(claim.text, [])
    before = {s.run for s in named if s.end <= claim.start - offset}
    behind = {s.run for s in named if s.start >= claim.end - offset}
    if len(found) != 1 or found[0].unit != "ratio" or len(before) != 1 or len(behind) != 1 or before == behind:
        return False
    if not _MEANT.search(text) or FACTOR_LESS.search(text[claim.end - offset :]):
        return False
    both = _values(text, before.pop(), behind.pop(), lexicons, tables)
    q = found[0]
    return both is not None and both[2] != 0 and agrees(q.number, q.half, both[1] / both[2], bound=q.bound)


def _values(
    text: str, subject: int, other: int, lexicons: Sequence[Lexicon], tables: Sequence[Table]
) -> tuple[str, float, float] | None:
    """The metric that a sentence names and its values in two runs: the last ones, or those that the words ask for."""
    names = [n for n in lexicons[subject].named(text) if n.keys]
    theirs = {n.start: n for n in lexicons[other].named(text) if n.keys}
    times = [tables[run].total_time() for run in (subject, other)]
    if names:
        mine = names[0].keys[0]
        match_other = theirs.get(names[0].start)
        if match_other is None:
            return None
        yours = match_other.keys[0]
    elif _A_STEP.search(text) and times[0] and times[1]:
        mine, yours = times[0], times[1]
    else:
        return None
    from assistant.ground.places import places

    steps = [s for p in places(text, tables[subject].steps) if p.kind == "steps" for s in p.steps]
    pair = []
    for run, key in ((subject, mine), (other, yours)):
        rows = tables[run].finite(key)
        chosen = next((v for s, v in rows if steps and s == steps[0]), rows[-1][1] if rows else None)
        if re.search(r"(?i)\bbest|highest|peak|最高|最好|最大", text) and rows:
            chosen = max(v for _, v in rows)
        if (
            re.search(
                r"(?i)\bon average|\baverag(?:es|ed)\b|\bmean over|平均(?:下来|而言|来看|每步|每个? ?step|一步)", text
            )
            and rows
        ):
            chosen = sum(v for _, v in rows) / len(rows)
        pair.append(chosen)
    x, y = pair
    return None if x is None or y is None else (mine, x, y)
