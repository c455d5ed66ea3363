"""Tables of a step's stages, of one step, of two runs and of stretches, true by construction."""

from __future__ import annotations

from dataclasses import replace

from tests.ground.grown_cells import METRICS, STAGES, Cell, Cells, Grid


class Stages(Cells):
    """Grows tables whose rows are stages, metrics at one step, or stretches."""

    def stages(self) -> Grid:
        """Stages of a step with seconds and shares, and a row of their sum."""
        step = self.dice.choice(list(self.run.distinct_steps))
        total = self.at("timing_s/step", step) or 0.0
        place = self.pick("caption", "head", "after")
        unit = self.pick("head", "cell")
        title = self.say(("耗时", "时间", "用时"), ("Time", "Duration", "Time spent"))
        if unit == "head":
            title += self.say((" (s)", "（秒）", "（s）"), (" (s)", " (sec)", " [s]", " (seconds)"), "unit")
        share = self.say(
            ("占比", "占单步比例", "比例", "占 step 比例"),
            ("Share", "% of step", "Share of step", "% of total", "Percent"),
            "head:share",
        )
        where = self.say((f"第 {step} 步", f"step {step}"), (f"step {step}", f"Step {step}"))
        before = after = ""
        if place == "caption":
            before = self.say(
                (f"{where}的时间分布：", f"{where} 各阶段耗时如下："),
                (f"Time breakdown at {where}:", f"Where the time goes at {where}:"),
            )
        elif place == "head":
            title = (
                f"{title.split(' (')[0].split('（')[0].split(' [')[0]} @ {where}"
                if unit == "cell"
                else f"{where} {title}"
            )
        else:
            after = self.say(
                (f"（以上为{where}的数据）", f"以上数据取自 {where}。"),
                (f"(all at {where})", f"All values are from {where}."),
            )
        rows = []
        stages = self.dice.sample(STAGES, self.dice.choice((2, 3)))
        for key in stages:
            value = self.at(key, step) or 0.0
            own = value / total
            cells = [Cell(self.name(key), "name", self.name_lies(key)), self.seconds(value, unit)]
            cells.append(
                Cell(
                    f"{100 * own:.1f}%",
                    "share",
                    (("percent", f"{100 * own + 9:.1f}%"), ("percent", f"{100 * own * 0.8:.1f}%")),
                )
            )
            rows.append(cells)
        if self.dice.random() < 0.6:
            rows.append(
                [
                    Cell(
                        self.say(("合计", "以上合计", "小计"), ("Sum", "Sum of the above", "Subtotal"), "total"),
                        "total",
                    ),
                    *self._sum(sum(self.at(k, step) or 0.0 for k in stages), total, unit),
                ]
            )
        if self.dice.random() < 0.6:
            rows.append(
                [
                    Cell(
                        self.say(
                            ("单步总耗时", "step 总时间", "总计（timing_s/step）"),
                            ("Step time", "Total step time", "timing_s/step"),
                            "whole",
                        ),
                        "total",
                    ),
                    self.seconds(total, unit),
                    Cell("100%", "share"),
                ]
            )
        return Grid(
            [self.say(("阶段", "环节"), ("Stage", "Phase", "Component")), title, share], rows, "stages", before, after
        )

    def seconds(self, value: float, unit: str) -> Cell:
        text = f"{value:.1f}" + ("" if unit == "head" else self.pick(" s", "s", " 秒" if self.zh else " s"))
        wrong = text.replace(f"{value:.1f}", f"{value * 1.22:.1f}")
        return Cell(text, "value", (("value", wrong), *((("unit", f"{value:.1f} min"),) if unit != "head" else ())))

    def _sum(self, value: float, total: float, unit: str) -> list[Cell]:
        own = value / total
        return [
            replace(self.seconds(value, unit), lies=(("sum", self.seconds(value * 1.11, unit).text),)),
            Cell(f"{100 * own:.1f}%", "share", (("sum", f"{100 * own - 12:.1f}%"),)),
        ]

    def two_runs(self) -> Grid:
        """One row a metric, one column a run."""
        assert self.other is not None
        runs = (self.run, self.other)
        which = self.pick("last", "step")
        step = self.dice.choice([s for s in self.run.distinct_steps if s in self.other.distinct_steps])
        keys = [k for k in self.keys if all(self.at(k, step, r) is not None for r in runs)]
        rows = []
        extra = self.dice.sample(("delta", "percent"), self.dice.choice((0, 0, 1)))
        for key in self.dice.sample(keys, 3):
            values = [self.at(key, step, r) if which == "step" else self.rows(key, r)[-1][1] for r in runs]
            x, y = values[0] or 0.0, values[1] or 0.0
            state = self.dice.getstate()
            cells = [Cell(self.name(key), "name", self.name_lies(key))]
            for value, against in ((x, y), (y, x)):
                self.dice.setstate(state)
                cells.append(self.value_cell(value, METRICS[key][0], others=[against]))
            cells += [self.change_cells(key, x, y, what) for what in extra]
            rows.append(cells)
        before = (
            self.say((f"两次运行在第 {step} 步的对比：",), (f"The two runs at step {step}:",))
            if which == "step"
            else self.say(("两次运行的最终值：",), ("Final values of the two runs:",))
        )
        return Grid(
            [self.say(("指标",), ("Metric",)), *[r.name for r in runs], *[self.change_head(w) for w in extra]],
            rows,
            "two runs",
            before,
        )

    def one_step(self) -> Grid:
        """Two columns, metric and value, with the step beside."""
        step = self.dice.choice(list(self.run.distinct_steps))
        keys = self.dice.sample([k for k in self.keys if self.at(k, step) is not None], 3)
        rows = [
            [
                Cell(self.name(k), "name", self.name_lies(k)),
                self.value_cell(
                    self.at(k, step) or 0.0, METRICS[k][0], others=[v for s, v in self.rows(k) if s != step][:1]
                ),
            ]
            for k in keys
        ]
        title = self.say(("数值", "值", f"第 {step} 步的值"), ("Value", "value", f"Value at step {step}"))
        before = (
            self.say(
                (f"第 {step} 步的关键指标：", f"step {step} 的数值如下："),
                (f"Key metrics at step {step}:", f"Values at step {step}:"),
            )
            if str(step) not in title
            else ""
        )
        return Grid([self.say(("指标", "Metric"), ("Metric", "Name")), title], rows, "one step", before)

    def parts(self) -> Grid:
        """Rows of stretches, columns of means."""
        steps = list(self.run.distinct_steps)
        third = len(steps) // 3
        spans = [(steps[0], steps[third - 1]), (steps[third], steps[2 * third - 1]), (steps[2 * third], steps[-1])]
        keys = self.dice.sample(self.keys, 2)
        mean = self.say(("均值", "平均"), ("mean", "avg"))
        rows = []
        dash = self.pick("–", "-", "~" if self.zh else "–")
        form = self.say(
            ("第 {}{}{} 步", "step {}{}{}", "steps {}{}{}"), ("Steps {}{}{}", "steps {}{}{}", "{}{}{}"), "span"
        )
        for a, b in spans:
            cells = [Cell(form.format(a, dash, b), "span")]
            for key in keys:
                own = [v for s, v in self.rows(key) if a <= s <= b]
                cells.append(self.value_cell(sum(own) / len(own), METRICS[key][0]))
            rows.append(cells)
        head = [
            self.say(("阶段", "区间", "步数区间"), ("Phase", "Range", "Steps")),
            *[
                f"{self.name(k)} {mean}"
                if self.naming not in {"explained"}
                else f"{self.name(k)}{mean}"
                if self.zh
                else f"{mean} {self.name(k)}"
                for k in keys
            ],
        ]
        return Grid(head, rows, "parts")
