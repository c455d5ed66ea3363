"""Tables about a run as chat models lay them out, true by construction, each with twins that differ in one cell."""

# ruff: noqa: E501 (lists of words stay on one line)

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.ground.grown_cells import METRICS, UNIT_WORDS, Cell, Grid
from tests.ground.grown_stages import Stages


class Grower(Stages):
    """Grows tables about a run."""

    # -- the table's shapes ----------------------------------------------------------------------
    def metrics_by_steps(self) -> Grid:
        steps = sorted(self.dice.sample(list(self.run.distinct_steps), self.dice.choice((2, 2, 2, 3, 4))))
        form = self.pick("each", "each", "bare", "ends", "sides")
        corner = self.say(("指标", "", "项目", "Metric"), ("Metric", "", "Metrics", "Quantity"), "corner")
        before = ""
        if form == "bare":
            heads = [str(s) for s in steps]
            corner = self.say(
                ("指标 \\ 步数", "指标 / step", "指标 \\ step"), ("metric \\ step", "Metric / step", "metric \\ Step")
            )
        elif form == "ends":
            steps = [self.run.distinct_steps[0], self.run.distinct_steps[-1]]
            heads = list(
                self.dice.choice(
                    (
                        ("首步", "末步"),
                        ("起始", "结束"),
                        ("初始值", "最终值"),
                        ("开始", "最后"),
                        ("首值", "末值"),
                        ("初值", "终值"),
                        (f"起点（step {steps[0]}）", f"终点（step {steps[1]}）"),
                    )
                    if self.zh
                    else (
                        ("Start", "End"),
                        ("First", "Last"),
                        ("Initial", "Final"),
                        ("First step", "Last step"),
                        ("Start value", "End value"),
                        (f"Start (step {steps[0]})", f"End (step {steps[1]})"),
                    )
                )
            )
            self.features.add(f"ends:{heads[0]}")
        elif form == "sides" and len(steps) == 2:
            heads = list(
                self.dice.choice(
                    (("之前", "之后"), ("前", "后"), ("从", "到"))
                    if self.zh
                    else (("Before", "After"), ("From", "To"), ("before", "after"))
                )
            )
            before = self.say(
                (f"第 {steps[0]} 步与第 {steps[1]} 步对比：", f"从 step {steps[0]} 到 step {steps[1]} 的变化："),
                (f"Comparison of step {steps[0]} and step {steps[1]}:", f"From step {steps[0]} to step {steps[1]}:"),
            )
        else:
            form = "each"
            state = self.dice.getstate()
            heads = []
            for s in steps:
                self.dice.setstate(state)
                heads.append(self.step_head(s))
        self.features.add(f"steps:{form}")
        extra = self.dice.sample(
            ("delta", "percent", "factor", "trend", "both", "delta+percent"), self.dice.choice((0, 1, 1, 2))
        )
        keys = [k for k in self.keys if all(self.at(k, s) is not None for s in steps)]
        keys = self.dice.sample(keys, min(len(keys), self.dice.choice((1, 3, 4, 5))))
        rows = []
        for key in keys:
            kind = METRICS[key][0]
            values = [self.at(key, s) or 0.0 for s in steps]
            state = self.dice.getstate()
            cells = [Cell(self.name(key), "name", self.name_lies(key))]
            for value in values:
                self.dice.setstate(state)
                cells.append(self.value_cell(value, kind, others=[v for v in values if v != value]))
            cells += [self.change_cells(key, values[0], values[-1], what) for what in extra]
            rows.append(cells)
        head = [corner, *heads, *[self.change_head(what) for what in extra]]
        if self.dice.random() < 0.25:
            self.gap(rows, keys, steps)
        return Grid(head, rows, "metrics×steps", before)

    def gap(self, rows: list[list[Cell]], keys: list[str], steps: Sequence[int]) -> None:
        """A metric that one step lacks, if the run has one."""
        for key in self.keys:
            held = [self.at(key, s) for s in steps]
            if None in held and held.count(None) < len(held) and key not in keys:
                mark = self.say(("—", "N/A", "未打印", "缺失", "-"), ("—", "N/A", "missing", "-", "not logged"), "gap")
                cells = [Cell(self.name(key), "name")]
                near = next(v for v in held if v is not None)
                for value in held:
                    cells.append(
                        Cell(mark, "gap", (("missing", self.number(near * 1.02, METRICS[key][0])),))
                        if value is None
                        else self.value_cell(value, METRICS[key][0])
                    )
                rows.append([*cells, *[Cell("—") for _ in range(len(rows[0]) - len(cells))]])
                return

    def steps_by_metrics(self) -> Grid:
        keys = self.dice.sample(self.keys, self.dice.choice((1, 2, 3, 4)))
        steps = sorted(self.dice.sample(list(self.run.distinct_steps), self.dice.choice((2, 3, 5))))
        heads, kinds = [], []
        for key in keys:
            kind = METRICS[key][0]
            title = self.name(key)
            united = (kind, self.language) in UNIT_WORDS and self.dice.random() < 0.5
            if united and self.naming != "explained":
                unit = self.dice.choice(UNIT_WORDS[kind, self.language])
                title += self.pick(f" ({unit})", f"（{unit}）" if self.zh else f" [{unit}]", f" / {unit}")
                self.features.add("unit in head")
            else:
                united = False
            heads.append(title)
            kinds.append((kind, not united))
        label = self.pick("bare", "bare", "word")
        form = self.say(("第 {} 步", "step {}"), ("Step {}", "step {}"))
        rows = []
        for s in steps:
            text = str(s) if label == "bare" else form.format(s)
            others = [o for o in steps if o != s]
            lies = [
                ("step", text.replace(str(s), str(o)))
                for o in others
                if any(_unlike(self.at(k, s), self.at(k, o)) for k in keys)
            ]
            cells = [Cell(text, "step", tuple(lies))]
            for key, (kind, unit) in zip(keys, kinds, strict=True):
                value = self.at(key, s)
                if value is None:
                    mark = self.say(
                        ("—", "N/A", "未打印", "缺失", ""), ("—", "N/A", "missing", "not logged", ""), "gap"
                    )
                    near = self.rows(key)[0][1]
                    cells.append(Cell(mark, "gap", (("missing", self.number(near * 1.02, kind, unit=unit)),)))
                else:
                    cells.append(
                        self.value_cell(
                            value, kind, unit=unit, others=[v for o in others if (v := self.at(key, o)) is not None][:1]
                        )
                    )
            rows.append(cells)
        head = [
            self.say(
                ("步数", "Step", "step", "训练步", "步骤"),
                ("Step", "step", "Training step", "global step", "Iteration"),
                "corner",
            ),
            *heads,
        ]
        if len(keys) == 1 and self.dice.random() < 0.7:
            self.since_before(head, rows, keys[0], steps)
        return Grid(head, rows, "steps×metrics")

    def since_before(self, head: list[str], rows: list[list[Cell]], key: str, steps: Sequence[int]) -> None:
        """A column of the change against the row before."""
        what = self.pick("delta", "percent", "trend")
        title = {"delta": self.say(("较上一行变化", "环比变化", "Δ", "与上一行相比"), ("Change vs previous row", "Δ vs prev", "Δ", "Change from previous"), "head:since"),
                 "percent": self.say(("较上一行变化率", "环比", "Δ%"), ("% vs previous", "Δ% vs previous row", "Δ%"), "head:since"),
                 "trend": self.say(("趋势", "较上一行"), ("Trend", "vs previous row"), "head:since")}[what]  # fmt: skip
        head.append(title)
        for at, row in enumerate(rows):
            x, y = self.at(key, steps[at - 1]) if at else None, self.at(key, steps[at])
            row.append(Cell("—") if x is None or y is None else self.change_cells(key, x, y, what))
            if at and (x is None or y is None):
                head.pop(), [r.pop() for r in rows[: at + 1]]
                return

    def statistics(self) -> Grid:
        """One row a metric, columns of statistics."""
        columns = self.dice.sample(
            (
                "first",
                "last",
                "min",
                "max",
                "mean",
                "median",
                "argmax",
                "argmin",
                "range",
                "min@",
                "max@",
                "unit",
                "delta",
                "percent",
                "factor",
                "trend",
                "both",
                "note",
            ),
            self.dice.choice((2, 3, 4, 5)),
        )
        order = {
            c: i
            for i, c in enumerate(
                (
                    "unit",
                    "first",
                    "last",
                    "both",
                    "delta",
                    "percent",
                    "factor",
                    "min",
                    "min@",
                    "argmin",
                    "max",
                    "max@",
                    "argmax",
                    "mean",
                    "median",
                    "range",
                    "trend",
                    "note",
                )
            )
        }
        columns.sort(key=lambda c: order[c])
        if "argmax" in columns and "max" not in columns:
            columns.insert(columns.index("argmax"), "max")
        if "argmin" in columns and "min" not in columns:
            columns.insert(columns.index("argmin"), "min")
        titles = {
            "unit": (("单位",), ("Unit",)), "first": (("首步", "初始值", "起始值", "第一步"), ("First", "Initial", "Start", "First value")),
            "last": (("末步", "最终值", "最新值", "最后一步"), ("Last", "Final", "End", "Latest", "Last value")),
            "min": (("最小值", "最低", "最低值", "min"), ("Min", "Minimum", "Lowest", "min")), "max": (("最大值", "最高", "峰值", "max"), ("Max", "Maximum", "Peak", "Highest", "max")),
            "argmin": (("最低步", "最小值所在步", "出现步"), ("Min step", "Step of min", "at step", "Min at")), "argmax": (("峰值步", "最大值所在步", "出现步"), ("Max step", "Step of max", "at step", "Peak at")),
            "min@": (("最小值（步）", "最低（step）", "min (step)"), ("Min (step)", "Lowest (step)", "min (at step)", "Min @ step")),
            "max@": (("最大值（步）", "峰值（步数）", "max (step)"), ("Max (step)", "Peak (step)", "max (at step)", "Max @ step")),
            "mean": (("均值", "平均", "平均值", "全程均值"), ("Mean", "Average", "Avg", "mean")), "median": (("中位数", "中位"), ("Median", "median")),
            "range": (("范围", "区间", "取值范围"), ("Range", "Min–max", "Range (min–max)")), "note": (("备注", "说明"), ("Note", "Comment")),
        }  # fmt: skip
        rows = []
        form = self.pick("({})", "（{}）" if self.zh else "({})", "(step {})", " @ {}", " @ step {}")
        for key in self.dice.sample(self.keys, self.dice.choice((1, 2, 3, 5))):
            kind = METRICS[key][0]
            held = self.rows(key)
            values = [v for _, v in held]
            first, last = values[0], values[-1]
            low, high = min(values), max(values)
            where = {"low": [s for s, v in held if v == low], "high": [s for s, v in held if v == high]}
            cells = [Cell(self.name(key), "name")]
            for column in columns:
                if column in {"delta", "percent", "factor", "trend", "both"}:
                    cells.append(self.change_cells(key, first, last, column))
                elif column == "unit":
                    unit = UNIT_WORDS.get((kind, self.language), ("—",))[0]
                    cells.append(
                        Cell(unit, "unit", (("unit", "min"),) if kind == "seconds" and self.style == "plain" else ())
                    )
                elif column in {"argmin", "argmax"}:
                    steps = where["low" if column == "argmin" else "high"]
                    others = [s for s, _ in held if s not in steps]
                    text = self.pick("{}", "step {}" if not self.zh else "第 {} 步") if not cells[0].lies else "{}"
                    cells.append(
                        Cell(
                            text.format(steps[0]), "argstep", (("extreme step", text.format(self.dice.choice(others))),)
                        )
                    )
                elif column in {"min@", "max@"}:
                    value, steps = (low, where["low"]) if column == "min@" else (high, where["high"])
                    others = [s for s, _ in held if s not in steps]
                    shown = self.number(value, kind)
                    gap = " " if form.startswith(("(", "（")) else ""
                    plain = form
                    cells.append(
                        Cell(
                            shown + gap + plain.format(steps[0]),
                            "extreme@",
                            (
                                ("extreme step", shown + gap + plain.format(self.dice.choice(others))),
                                ("value", self.number(value * 1.23, kind) + gap + plain.format(steps[0])),
                            ),
                        )
                    )
                elif column == "range":
                    joint = self.pick(" – ", "–", " ~ ", "～" if self.zh else " to ", " - ")
                    self.features.add(f"range:{joint}")
                    low_, high_ = self.number(low, kind, style="plain"), self.number(high, kind, style="plain")
                    if "k" in low_ + high_:
                        low_, high_ = f"{low:.1f}", f"{high:.1f}"
                    wrong = self.number(high * 1.3 if high > 0 else high * 0.7, kind, style="plain").replace("k", "")
                    if "-" in low_ or "−" in low_ or "−" in high_:
                        joint = " ~ "
                    cells.append(
                        Cell(
                            low_ + joint + high_,
                            "range",
                            (("value", low_ + joint + wrong),) if "k" not in high_ else (),
                        )
                    )
                elif column == "note":
                    cells.append(self.note(key, held))
                else:
                    value = {
                        "first": first,
                        "last": last,
                        "min": low,
                        "max": high,
                        "mean": sum(values) / len(values),
                        "median": _median(values),
                    }[column]
                    others = [v for v in (first, last, low, high) if v != value]
                    cells.append(self.value_cell(value, kind, others=others[:1]))
            rows.append(cells)
        self.features |= {f"column:{c}" for c in columns}
        head = [self.say(("指标", "Metric", ""), ("Metric", "", "Name"), "corner")]
        for column in columns:
            head.append(
                self.change_head(column)
                if column not in titles
                else self.say(*titles[column], feature=f"head:{column}")
            )
        return Grid(head, rows, "statistics")

    def note(self, key: str, held: list[tuple[int, float]]) -> Cell:
        low, high = min(v for _, v in held), max(v for _, v in held)
        top = next(s for s, v in held if v == high)
        other = self.dice.choice([s for s, v in held if v != high])
        form = self.pick("peak", "trend", "none", "range")
        self.features.add(f"note:{form}")
        if form == "peak":
            return Cell(
                *self._two(
                    "note",
                    (f"第 {top} 步达到峰值", f"peaks at step {top}"),
                    (f"第 {other} 步达到峰值", f"peaks at step {other}"),
                    "extreme step",
                )
            )
        if (
            form == "trend"
            and abs(held[-1][1] - held[0][1]) > 0.2 * abs(held[0][1])
            and key not in {"actor/grad_norm", "actor/pg_loss"}
        ):
            up = held[-1][1] > held[0][1]
            words = (("整体上升", "rises over the run"), ("整体下降", "falls over the run"))
            return Cell(*self._two("note", words[0 if up else 1], words[1 if up else 0], "direction"))
        if form == "range":
            a, b = (self.number(v, METRICS[key][0], style="plain") for v in (low, high))
            wrong = self.number(high * 1.4, METRICS[key][0], style="plain")
            if high > 0 and "k" not in a + b:
                return Cell(
                    *self._two(
                        "note",
                        (f"在 {a} 到 {b} 之间", f"between {a} and {b}"),
                        (f"在 {a} 到 {wrong} 之间", f"between {a} and {wrong}"),
                        "value",
                    )
                )
        return Cell(self.pick("", "—"))

    def _two(
        self, tells: str, true: tuple[str, str], false: tuple[str, str], what: str
    ) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        at = 0 if self.zh else 1
        return true[at], tells, ((what, false[at]),)

    # -- one table ---------------------------------------------------------------------------------
    def grid(self, shape: str = "") -> Grid:
        shapes: dict[str, Callable[[], Grid]] = {
            "metrics×steps": self.metrics_by_steps, "steps×metrics": self.steps_by_metrics, "statistics": self.statistics,
            "stages": self.stages, "one step": self.one_step, "parts": self.parts,
        }  # fmt: skip
        if self.other is not None:
            shapes = {"two runs": self.two_runs}
        grid = shapes[shape or self.dice.choice(list(shapes))]()
        grid.features |= self.features | {f"shape:{grid.shape}"}
        return grid


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _unlike(x: float | None, y: float | None) -> bool:
    return x is not None and (y is None or abs(x - y) > 0.3 * max(abs(x), abs(y)))
