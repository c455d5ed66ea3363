"""Numbers about two metrics: shares, factors, differences, sums, rates over all GPUs."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Final

from assistant.ground.binding import Frame, Group
from assistant.ground.chains import Chains
from assistant.ground.changes import SPEED, adjacent_sense
from assistant.ground.cues import RATIO_OF, change_cue, cue, outside
from assistant.ground.deciding import Decision
from assistant.ground.lexicon import Named
from assistant.ground.quantities import Quantity
from assistant.ground.table import agrees
from assistant.ground.verdicts import as_shown, plain

#: Two metrics against each other.
_COMPARED: Final = re.compile(
    r"(?i)\b(?:exceed\w*|outlast\w*|than|above|below|beats?|surpass\w*|behind|ahead)\b|超过|超出|不及|不如|[高低多少长短大小快慢]于|比"
)


class Relations(Chains):
    """Decides numbers that relate two metrics."""

    def _share(self, frame: Frame, q: Quantity, key: str, steps: Sequence[int], clause: str) -> Decision | None:
        table = self.table
        total = table.total_time()
        if key == total and q.unit == "%" and q.number == 100 and not q.sign and frame.text.strip("`* ") == q.text:
            return Decision("supported", "", None, key)  # "| total | 136 s | 100% |"
        divided = key == total and re.search(r"\S\s*[/÷]\s*\S", frame.text[: q.start]) is not None
        if q.unit != "%" or not (
            cue("share").search(clause) or divided or (table.kind(key) == "seconds" and key != total)
        ):
            return None
        portions = [n for n in frame.numbers if n.unit == "%" and n.end <= q.start]
        of_it = re.match(r"(?i)[`*\s]*of (?:it|that|this|the former)\b", frame.text[q.end : q.end + 20])
        others = [
            n.keys[0]
            for n in frame.names
            if n.keys
            and key not in n.keys
            and n.start < q.start
            and (of_it or not any(n.end <= told.start for told in portions))
        ]  # "generation 77%, update 19%": what has a share of its own is no whole
        if key == total and others:
            key, others = others[0], []
        wholes = [*others, *([total] if total and total != key else [])]
        span = list(steps or table.held(key))
        first: tuple[float, int] | None = None
        if key == total:
            return None
        for whole in wholes:
            if table.kind(whole) != table.kind(key):
                continue
            shares = [
                (a / b, s) for s in span if (a := table.value(key, s)) is not None and (b := table.value(whole, s))
            ]
            if not shares:
                continue
            averaged = sum(v for v, _ in shares) / len(shares)
            fits = [agrees(q.number * 0.01, q.half * 0.01, v, bound=q.bound) for v, _ in shares]
            whole_fits = agrees(q.number * 0.01, q.half * 0.01, averaged, bound=q.bound)
            if fits[-1] or (any(fits) and not steps and len(shares) <= 6) or (whole_fits and len(shares) > 1):
                value, step = shares[-1]
                fact = table.ledger.share(key, whole, step, value, run=table.run,
                                          inputs=[table.ledger.value(key, step, table.run), table.ledger.value(whole, step, table.run)])  # fmt: skip
                return Decision("supported", "", fact.id, key, step)
            first = first or shares[-1]
        if first is None:
            return None
        value, step = first
        return Decision(
            "contradicted",
            self.say("share", metric=key, step=step, true=f"{plain(value * 100, 3)}%", shown=q.text),
            None,
            key,
            step,
        )

    def _shares(self, frame: Frame, group: Group, index: int, key: str) -> Decision | None:
        """``生成占比从 85% 变为 89%``: of a stage's share of the step's time, at the two steps that the sentence names."""
        table, total = self.table, self.table.total_time()
        if total is None or key == total or table.kind(key) != "seconds" or len(group.members) != 2:
            return None
        singles = [p.steps[0] for p in frame.places if len(p.steps) == 1]
        double = next((p.steps for p in frame.places if len(p.steps) == 2 and p.kind != "range"), ())
        pair = tuple(singles) if len(singles) == 2 else double or frame.carried.pair or ()
        held = table.held(key)
        pair = pair or ((held[0], held[-1]) if len(held) > 1 else ())
        if len(pair) != 2:
            return None
        step = sorted(pair)[group.members.index(index)]
        q, part, whole = frame.numbers[index], table.value(key, step), table.value(total, step)
        if part is None or not whole:
            return None
        inputs = [table.ledger.value(key, step, table.run), table.ledger.value(total, step, table.run)]
        fact = table.ledger.share(key, total, step, part / whole, run=table.run, inputs=inputs)
        if agrees(q.number * 0.01, q.half * 0.01, part / whole, bound=q.bound):
            return Decision("supported", "", fact.id, key, step)
        note = self.say("share", metric=key, step=step, true=f"{plain(100 * part / whole, 3)}%", shown=q.text)
        return Decision("contradicted", note, fact.id, key, step)

    def _of_two(self, frame: Frame, index: int, name: Named) -> Decision | None:
        """A factor or a difference between two metrics that the sentence names."""
        q, table = frame.numbers[index], self.table
        others = [n for n in frame.names if n.keys and not set(n.keys) & set(name.keys)]
        steps, _ = self.scope(frame, index, name.keys[0] if name.keys else "")
        if summed := self._sum(frame, q, steps):
            return summed
        after = frame.text[q.end : q.end + 24]
        if q.unit in {"ratio", "factor"} and (
            re.match(r"(?i)\s*(?:as (?:long|large|much|high) as\s+)?(?:the|its)?\s*(?:mean|average)", after)
            or re.search(r"(?:平均|均值)(?:值)?的\s*[`*]*$", frame.text[: q.start])
        ):
            means = [f"{key.rsplit('/', 1)[0]}/mean" for key in name.keys if "/" in key]
            others = [
                *others,
                *(Named(0, 0, "", (m,)) for m in means if m in self.table.run.columns and m not in name.keys[:1]),
            ]
        if q.unit == "%" and not re.search(
            r"(?i)^[`*\s]*(?:higher|lower|more|less|longer|shorter|larger|smaller|faster|slower|greater)|(?:高|低|多|少|长|短|快|慢)(?:了|出)?(?:约)?\s*[`*]*$",
            after if after.strip()[:1].isascii() and after.strip() else frame.text[: q.start],
        ):
            return None
        if not others or not name.keys or (q.unit not in {"ratio", "factor", "%"} and not change_cue(frame, q)):
            return None
        for other in others:
            for key in name.keys[:3]:
                for step in steps or table.held(key)[-1:]:
                    a, b = table.value(key, step), table.value(other.keys[0], step)
                    if a is None or b is None or table.kind(key) != table.kind(other.keys[0]) or not a or not b:
                        continue
                    if other.start and other.end <= name.start and not other.statistic:
                        a, b = b, a  # what is named first is what is compared
                    if q.unit in {"ratio", "factor"}:
                        less = cue("lower").search(frame.text) or re.search(
                            r"(?i)faster|shorter|smaller|快|短|[低少小]", frame.text
                        )
                        options: Iterable[float] = (a / b, b / a) if less else (a / b,)
                    elif q.unit == "pp":
                        options = (abs(a - b) * 100,)
                    elif q.unit == "%":
                        options = (abs(a / b - 1) * 100,)
                    else:
                        options = (abs(a - b),)
                    held = [(q.number, q.half)] if q.unit in {"ratio", "factor", "%", "pp"} else table.readings(q, key)
                    if any(agrees(abs(n), h, v, bound=q.bound) for v in options for n, h in held):
                        return Decision("supported", "", None, key, step)
        return None

    def _apart(self, frame: Frame, index: int) -> Decision | None:
        """``A exceeds B on step 51 by 0.8 s``: the difference of the two metrics compared, at the one step named."""
        q, table = frame.numbers[index], self.table
        named = [n for n in frame.names if n.keys and n.start < q.start]
        at = [p for p in frame.places if p.kind == "steps"]
        if (
            len(named) != 2
            or set(named[0].keys) & set(named[1].keys)
            or len(frame.places) != len(at)
            or len(at) != 1
            or len(at[0].steps) != 1
            or q.unit in {"ratio", "factor", "%", "pp", "steps", "points"}
            or len([n for n in frame.numbers if n.unit == q.unit]) > 1
            or not (
                (ratio := bool(RATIO_OF.search(frame.text[max(0, q.start - 90) : q.start])))
                or change_cue(frame, q) == "sure"
            )
            or not (ratio or _COMPARED.search(outside(frame, named[0].end, q.start)))
        ):
            return None
        step = at[0].steps[0]
        one, two = named
        for a, b in product(one.keys[:3], two.keys[:3]):
            x, y = table.value(a, step), table.value(b, step)
            if x is None or y is None or table.kind(a) != table.kind(b):
                continue
            if ratio and y and not q.unit and agrees(q.number, q.half, x / y, bound=q.bound):
                return Decision("supported", "", None, a)
            if not ratio and self._turned_against(frame, q, a, x - y):
                continue
            if not ratio and any(agrees(abs(n), h, abs(x - y), bound=q.bound) for n, h in table.readings(q, a)):
                return Decision("supported", "", None, a)
        x, y = table.value(one.keys[0], step), table.value(two.keys[0], step)
        if x is None or y is None or table.kind(one.keys[0]) != table.kind(two.keys[0]):
            return None
        if ratio:
            note = self.say(
                "times",
                first=one.keys[0],
                second=two.keys[0],
                step=step,
                true=plain(x / y, 4) if y else "—",
                shown=q.text,
            )
            return Decision("contradicted", note, None, one.keys[0], final=True)
        true = as_shown(abs(x - y), q, table.kind(one.keys[0]))
        note = self.say("apart", first=one.keys[0], second=two.keys[0], step=step, true=true, shown=q.text)
        return Decision("contradicted", note, None, one.keys[0], final=True)

    @staticmethod
    def _turned_against(frame: Frame, q: Quantity, key: str, apart: float) -> bool:
        """Whether a word right beside a difference (多 33.8 秒, 33.8 s less) says the other way than the metrics lie."""
        down = adjacent_sense(frame, q)
        if down is None or not apart:
            return False
        pace = re.search(r"(?i)faster|slower|quicker|[快慢]", frame.text[max(0, q.start - 8) : q.end + 10])
        return (apart < 0) != (down != bool(pace and SPEED.search(key)))

    def _sum(self, frame: Frame, q: Quantity, steps: Sequence[int]) -> Decision | None:
        """``A and B together take 4.1 s``: the sum of the metrics named before, at a step."""
        named = list(dict.fromkeys(n.keys[0] for n in frame.names if n.keys and n.end <= q.start))
        table = self.table
        clause = outside(frame, *frame.clause_span(q.start))
        if len(frame.numbers) == 1:
            clause = outside(frame, 0, len(frame.text))
        if not cue("total").search(clause) or not named:
            return None
        if len(named) == 1:
            rows = table.finite(named[0], self._span(frame) or (steps if len(steps) > 1 else None))
            if len(rows) < 2 or len(steps) == 1:
                return None
            true, key = sum(v for _, v in rows), named[0]
        elif len(steps) == 1 and len(named) <= 4:
            cells = [table.value(key, steps[0]) for key in named]
            if any(c is None for c in cells):
                return None
            true, key, rows = sum(c for c in cells if c is not None), named[0], [(steps[0], cells[0] or 0.0)]
        else:
            return None
        held = table.readings(q, key, true)
        if not held:
            return None
        fact = self.table.aggregate("sum", key, true, rows)
        if any(agrees(a, b, true, bound=q.bound) for a, b in held):
            return Decision("supported", "", fact, key)
        return Decision(
            "contradicted", self.say("sum", true=as_shown(true, q, table.kind(key)), shown=q.text), fact, key
        )

    def _across(self, frame: Frame, q: Quantity, key: str, steps: Sequence[int]) -> Decision | None:
        """``677 tokens/s across workers``: a rate per GPU told as that of all."""
        table = self.table
        if key != "perf/throughput" or q.unit not in {"rate", "", "tokens"} or change_cue(frame, q):
            return None
        clause = outside(frame, *frame.clause_span(q.start))
        beside = frame.text[max(0, q.start - 8) : q.start] + "\0" + frame.text[q.end : q.end + 8]
        if re.search(r"(?i)单卡\s*\0|每卡\s*\0|\0\s*(?:each|apiece)\b", beside):
            return None  # "四卡合计 2,786 tokens/s（单卡 697）"
        if cue("per_gpu").search(clause) or not cue("across").search(clause):
            return None
        held = [s for s in (steps or table.held(key)) if table.derived("cluster_throughput", s) is not None]
        if not held:
            return None
        for step in held:
            fact = table.derived("cluster_throughput", step)
            if fact is not None and agrees(q.number, q.half, float(fact.value or 0), bound=q.bound):
                return Decision("supported", "", fact.id, key, step)
        step = next((s for s in held if self.cell(q, key, s).status == "supported"), held[-1])
        fact, gpus = table.derived("cluster_throughput", step), table.derived("n_gpus", step)
        if fact is None or gpus is None:
            return None
        note = self.say("per_gpu", shown=q.text, gpus=gpus.value, true=plain(float(fact.value or 0), 4))
        return Decision("contradicted", note, fact.id, key, step)
