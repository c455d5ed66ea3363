"""Cells of tables about a run: numbers, names, changes and words of direction, each with what would be false."""

# ruff: noqa: E501 (lists of words stay on one line)

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from assistant.model import Run
from assistant.parsing import parse_text

ZH, EN = "zh", "en"

#: key → kind, plain names (zh, en), whether higher is better.
METRICS: Final[dict[str, tuple[str, tuple[str, ...], tuple[str, ...], str]]] = {
    "critic/rewards/mean": ("fraction", ("平均奖励", "奖励均值"), ("Mean reward", "reward"), "higher"),
    "actor/entropy": ("number", ("熵", "策略熵"), ("Entropy", "policy entropy", "actor entropy"), ""),
    "actor/grad_norm": ("number", ("梯度范数",), ("Gradient norm", "grad norm", "grad_norm"), ""),
    "actor/ppo_kl": ("number", ("PPO KL",), ("PPO KL", "ppo_kl"), ""),
    "actor/pg_clipfrac": ("fraction", ("裁剪比例", "clipfrac"), ("Clip fraction", "clipfrac"), ""),
    "actor/pg_loss": ("number", ("策略损失", "pg_loss"), ("Policy loss", "PG loss"), ""),
    "response_length/mean": ("tokens", ("平均回复长度", "回复长度"), ("Mean response length", "response length"), ""),
    "timing_s/step": ("seconds", ("单步耗时", "每步时间"), ("Step time", "time per step"), ""),
    "timing_s/gen": ("seconds", ("生成", "生成时间"), ("Generation", "rollout", "gen"), ""),
    "timing_s/update_actor": ("seconds", ("actor 更新", "策略更新"), ("Actor update", "update_actor"), ""),
    "timing_s/ref": ("seconds", ("参考模型", "ref"), ("Reference", "ref"), ""),
    "perf/throughput": ("rate", ("吞吐量", "吞吐"), ("Throughput", "throughput"), "higher"),
    "perf/max_memory_allocated_gb": ("gib", ("显存峰值", "已分配显存"), ("Max memory allocated", "peak memory"), ""),
}  # fmt: skip
STAGES: Final = ("timing_s/gen", "timing_s/update_actor", "timing_s/ref")
UNIT_WORDS: Final = {
    ("seconds", ZH): ("s", "秒"), ("seconds", EN): ("s", "sec", "seconds"), ("tokens", ZH): ("tokens",),
    ("tokens", EN): ("tokens",), ("rate", ZH): ("tokens/s",), ("rate", EN): ("tok/s", "tokens/s"),
    ("gib", ZH): ("GB",), ("gib", EN): ("GB", "GiB"),
}  # fmt: skip


@lru_cache(maxsize=8)
def run_of(seed: int) -> Run:
    """A run of some twenty steps whose courses are plain: some rise, some fall, some neither."""
    dice = random.Random(seed)
    steps = dice.choice((8, 20, 34))
    first = dice.choice((0, 1))
    rows = []
    slope = {"critic/rewards/mean": (0.11, 0.45), "actor/entropy": (0.913, -0.55), "actor/ppo_kl": (0.0021, 0.004),
             "actor/pg_clipfrac": (0.012, 0.03), "response_length/mean": (612.0, 900.0), "timing_s/gen": (61.0, 48.0),
             "perf/throughput": (1433.0, -380.0), "timing_s/ref": (11.0, 2.6), "timing_s/update_actor": (23.0, 9.0)}  # fmt: skip
    missing = {"critic/rewards/mean": {first + 3}, "actor/ppo_kl": {first + 5}} if dice.random() < 0.5 else {}
    for at in range(steps):
        part = at / (steps - 1)
        row: dict[str, float] = {"step": first + at}
        for key, (start, gain) in slope.items():
            value = start + gain * part + abs(gain) * 0.03 * dice.uniform(-1, 1)
            row[key] = float(f"{value:.5g}")
        row["timing_s/step"] = round(sum(row[key] for key in STAGES) + dice.uniform(3, 6), 3)
        row["actor/grad_norm"] = round(dice.uniform(0.21, 0.69), 4) if at != steps // 3 else 4.731
        row["actor/pg_loss"] = round(dice.uniform(-0.03, 0.03), 5)
        row["perf/max_memory_allocated_gb"] = round(41.3 + dice.uniform(-0.1, 0.1), 3)
        rows.append({key: value for key, value in row.items() if first + at not in missing.get(key, ())})
    return parse_text("\n".join(map(json.dumps, rows)), name=f"run_{'ab'[seed % 2]}").runs[0]


@dataclass(frozen=True)
class Cell:
    """A cell: its text, what it tells, and how to tell something false instead."""

    text: str
    tells: str = ""
    lies: tuple[tuple[str, str], ...] = ()  # kind of falsehood, text


@dataclass
class Grid:
    """A table before its markup."""

    head: list[str]
    rows: list[list[Cell]]
    shape: str
    before: str = ""
    after: str = ""
    swap_rows: bool = True
    features: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Grown:
    """A text, whether it is true, and the parts of the grammar that it was grown from."""

    text: str
    true: bool
    features: frozenset[str]
    falsehood: str = ""


class Cells:
    """Writes cells about a run.

    Args:
        run: the run.
        language: ``zh`` or ``en``.
        dice: decides everything.
        other: a second run to compare with.
    """

    def __init__(self, run: Run, language: str, dice: random.Random, other: Run | None = None) -> None:
        self.run, self.zh, self.language, self.dice, self.other = run, language == ZH, language, dice, other
        self.keys = [key for key in METRICS if key in run.columns]
        self.style = dice.choice(("plain", "plain", "units", "percent", "about", "code", "bold", "sci"))
        self.naming = dice.choice(("key", "short", "plain", "plain", "code", "bold", "explained"))
        self.minus = dice.choice(("-", "−"))
        self.digits = dice.choice((3, 4))
        self.features = {f"style:{self.style}", f"naming:{self.naming}", f"lang:{language}"}

    def pick(self, *options: str) -> str:
        return self.dice.choice(options)

    def say(self, zh: Sequence[str], en: Sequence[str], feature: str = "") -> str:
        chosen = self.dice.choice(list(zh if self.zh else en))
        if feature:
            self.features.add(f"{feature}:{chosen}")
        return chosen

    # -- the run ---------------------------------------------------------------------------------
    def rows(self, key: str, run: Run | None = None) -> list[tuple[int, float]]:
        steps, values = (run or self.run).series(key)
        return [(step, float(value)) for step, value in zip(steps, values, strict=True)]

    def at(self, key: str, step: int, run: Run | None = None) -> float | None:
        value = (run or self.run).value(key, step)
        return None if value is None else float(value)

    # -- numbers ---------------------------------------------------------------------------------
    def number(self, value: float, kind: str, *, unit: bool = True, style: str = "") -> str:
        """A value as it may be shown; ``unit`` where the heading does not tell it."""
        style = style or self.style
        dice, text = self.dice, ""
        if kind == "fraction" and style == "percent" and unit:
            text = f"{100 * value:.{1 if abs(value) > 0.1 else 2}f}{self.pick('%', ' %')}"
        elif kind == "tokens":
            text = (
                self.pick(f"{value:.0f}", f"{value:,.0f}", f"{value:.1f}", f"{value / 1000:.2f}k")
                if unit
                else self.pick(f"{value:.0f}", f"{value:,.1f}")
            )
            if style == "units" and unit:
                text += " tokens"
        elif kind == "seconds":
            if unit and style in {"units", "percent"}:
                text = self.pick(
                    f"{value:.1f} s",
                    f"{value:.1f}s",
                    f"{value / 60:.2f} min",
                    f"{value:.1f} 秒" if self.zh else f"{value:.1f} sec",
                )
            else:
                text = f"{value:.1f}"
        elif kind == "rate":
            text = self.pick(f"{value:.0f}", f"{value:,.0f}", f"{value:.1f}")
            if unit and style == "units":
                text += " " + self.pick("tokens/s", "tok/s")
        elif kind == "gib":
            text = f"{value:.2f}" + (" GB" if unit and style == "units" else "")
        elif style == "sci" or abs(value) < 0.0009:
            text = f"{value:.{self.digits - 1}e}"
        else:
            text = f"{value:.{self.digits}f}" if abs(value) < 1 else f"{value:.{self.digits - 1}f}"
        if style == "about":
            text = self.pick("~", "≈", "约 " if self.zh else "~") + text
        text = text.replace("-", self.minus, 1) if text.startswith("-") else text
        if style == "code":
            text = f"`{text}`"
        if style == "bold" and dice.random() < 0.4:
            text = f"**{text}**"
        return text

    def value_cell(self, value: float, kind: str, *, unit: bool = True, others: Sequence[float] = ()) -> Cell:
        """A cell that shows a value, and what would be false in its place."""
        state = self.dice.getstate()
        text = self.number(value, kind, unit=unit)
        coarse = self.style == "about"
        lies: list[tuple[str, str]] = []

        def add(what: str, wrong: float) -> None:
            after = self.dice.getstate()
            self.dice.setstate(state)
            shown = self.number(wrong, kind, unit=unit)
            self.dice.setstate(after)
            if (
                shown != text
                and abs(wrong - value) > max(0.02, 0.06 * coarse) * abs(value)
                and _apart(shown, text, 2 if coarse else 1)
            ):
                lies.append((what, shown))

        add("value", value * self.dice.choice((0.81, 0.93, 1.08, 1.27)))
        add("decimal", value * self.dice.choice((0.1, 10)))
        if abs(value) > 0.001:
            add("sign", -value)
        for other in others:
            add("other", other)
        if text.endswith("%"):
            lies.append(("unit", text.rstrip("% ")))
        elif text.endswith((" s", "s", "秒", "sec")) and kind == "seconds":
            lies.append(("unit", text.replace("sec", "s").rstrip("s秒 ") + " min"))
        return Cell(text, "value", tuple(lies))

    def percent(self, share: float, *, sign: bool = True) -> str:
        text = f"{100 * share:+.{self.pick('0', '1')}f}" if sign else f"{100 * share:.1f}"
        return text.replace("-", self.minus) + self.pick("%", " %", "%")

    def signed(self, value: float, kind: str) -> str:
        places = 1 if kind in {"tokens", "seconds", "rate"} else 2 if kind == "gib" else 5 if abs(value) < 0.01 else 4
        return f"{value:+.{places}f}".replace("-", self.minus)

    # -- names -----------------------------------------------------------------------------------
    def name(self, key: str) -> str:
        _, zh, en, _ = METRICS[key]
        plain = self.dice.choice(zh if self.zh else en)
        return {
            "key": key, "short": key.split("/", 1)[1] if key.startswith(("actor/", "timing_s/", "perf/")) else key, "plain": plain,
            "code": f"`{key}`", "bold": f"**{plain}**",
            "explained": f"{plain} ({key})" if not self.zh else f"{plain}（`{key}`）",
        }[self.naming]  # fmt: skip

    def name_lies(self, key: str) -> tuple[tuple[str, str], ...]:
        kind = METRICS[key][0]
        others = [k for k in self.keys if k != key and (METRICS[k][0] == kind or self.dice.random() < 0.2)]
        return tuple(("metric", self.name(k)) for k in self.dice.sample(others, min(2, len(others))))

    def step_head(self, step: int) -> str:
        return self.say(
            (f"第 {step} 步", f"第{step}步", f"Step {step}", f"step {step}", f"@{step}", f"s{step}", f"step_{step}", f"第 {step} 步的值", f"`step {step}`", f"**step {step}**"),
            (f"Step {step}", f"step {step}", f"@{step}", f"s{step}", f"step_{step}", f"@ step {step}", f"Value at step {step}", f"**Step {step}**", f"step={step}", f"Step {step} value"),
        )  # fmt: skip

    def direction(self, key: str, up: bool, *, judged: bool = True) -> tuple[str, str]:
        """A word of direction, and its opposite."""
        better = METRICS[key][3]
        pairs = [("↑", "↓"), ("⬆️", "⬇️"), ("📈", "📉"), ("🔺", "🔻"), ("↗", "↘")]
        pairs += (
            [
                ("上升", "下降"),
                ("升高", "降低"),
                ("↑ 上升", "↓ 下降"),
                ("明显上升", "明显下降"),
                ("涨", "跌"),
                ("增加", "减少"),
                ("持续上升", "持续下降"),
            ]
            if self.zh
            else [
                ("up", "down"),
                ("rising", "falling"),
                ("↑ rising", "↓ falling"),
                ("increased", "decreased"),
                ("Increasing", "Decreasing"),
                ("rose", "fell"),
                ("upward", "downward"),
                ("higher", "lower"),
                ("📈 up", "📉 down"),
            ]
        )
        if better and judged:
            good = (
                [("改善", "恶化"), ("✅ 变好", "❌ 变差"), ("好转", "变差")]
                if self.zh
                else [("improved", "worsened"), ("✅ improving", "❌ worsening"), ("better", "worse")]
            )
            pairs += good if better == "higher" else [(b, a) for a, b in good]
        chosen = self.dice.choice(pairs)
        self.features.add(f"word:{chosen[0]}/{chosen[1]}")
        return chosen if up else (chosen[1], chosen[0])

    # -- cells of a row that compare two values ------------------------------------------------------
    def change_cells(self, key: str, x: float, y: float, what: str) -> Cell:
        kind = METRICS[key][0]
        if what == "delta":
            text = self.signed(y - x, kind)
            if abs(y - x) < 0.02 * max(abs(x), abs(y)):
                return Cell(text, "delta")
            return Cell(
                text, "delta", (("sign", self.signed(x - y, kind)), ("value", self.signed((y - x) * 1.4, kind)))
            )
        if what == "percent":
            if x <= 0:
                return Cell("—")
            share = y / x - 1
            if abs(share) < 0.004:
                return Cell("—")
            form = self.pick("signed", "signed", "arrow", "arrow2")
            self.features.add(f"percent:{form}")
            if form == "signed":
                state = self.dice.getstate()
                text = self.percent(share)
                lies = []
                for why, other in (("sign", -share), ("percent", share + 0.17), ("percent", share * 1.5)):
                    self.dice.setstate(state)
                    lies.append((why, self.percent(other)))
                return Cell(text, "percent", tuple(lies))
            up, down = ("↑", "↓") if form == "arrow" else ("↑ ", "↓ ")
            shown = f"{abs(100 * share):.0f}%" if abs(share) > 0.05 else f"{abs(100 * share):.2f}%"
            return Cell(
                (up if share > 0 else down) + shown,
                "percent",
                (
                    ("direction", (down if share > 0 else up) + shown),
                    ("percent", (up if share > 0 else down) + f"{abs(100 * share) + 13:.0f}%"),
                ),
            )
        if what == "factor":
            if x <= 0 or y <= 0:
                return Cell("—")
            mark = self.pick("×", "x", " 倍" if self.zh else "×")
            return Cell(
                f"{y / x:.2f}{mark}",
                "factor",
                (
                    ("factor", f"{y / x * 1.35:.2f}{mark}"),
                    ("factor", f"{x / y:.2f}{mark}") if abs(x - y) > 0.1 * x else ("factor", f"{y / x + 1:.2f}{mark}"),
                ),
            )
        if what == "both":
            state = self.dice.getstate()

            def joined(a: float, b: float) -> str:
                self.dice.setstate(state)
                first = self.number(a, kind)
                self.dice.setstate(state)
                return first + arrow + self.number(b, kind)

            arrow = self.pick(" → ", " -> ", "→")
            state = self.dice.getstate()
            return Cell(joined(x, y), "both", (("swapped", joined(y, x)), ("value", joined(x, y * 1.31))))
        if what == "trend":
            if abs(y - x) < 0.05 * max(abs(x), abs(y)):
                return Cell("—")
            word, wrong = self.direction(key, y > x)
            return Cell(word, "trend", (("direction", wrong),))
        text = self.signed(y - x, kind)
        if x <= 0 or abs(y / x - 1) < 0.004:
            return Cell(text, "delta", (("sign", self.signed(x - y, kind)),))
        share, brackets = y / x - 1, self.pick("()", "（）" if self.zh else "()")
        shown = f"{text} {brackets[0]}{100 * share:+.1f}%{brackets[1]}".replace("-", self.minus)
        return Cell(
            shown,
            "delta+percent",
            (
                ("sign", f"{self.signed(x - y, kind)} {brackets[0]}{100 * share:+.1f}%{brackets[1]}"),
                ("percent", f"{text} {brackets[0]}{100 * (share + 0.2):+.1f}%{brackets[1]}"),
            ),
        )

    def change_head(self, what: str) -> str:
        table = {
            "delta": (("变化", "变化量", "Δ", "差值", "绝对变化", "净变化"), ("Change", "Δ", "Delta", "Difference", "Abs. change", "Net change")),
            "percent": (("变化率", "Δ%", "相对变化", "变化幅度", "涨跌", "涨跌幅", "变化（%）", "变化", "增幅"), ("Change %", "Δ%", "Rel. change", "% change", "Change (%)", "Change", "Relative change", "Δ (%)")),
            "factor": (("倍数", "末/初", "变化倍数", "比值"), ("Ratio", "Factor", "×", "Last / first", "Ratio (last/first)", "Fold change")),
            "both": (("首 → 末", "变化", "起点 → 终点", "首步 → 末步"), ("First → last", "Start → end", "First → Last", "From → to")),
            "trend": (("趋势", "方向", "走势", "变化方向", "变化趋势"), ("Trend", "Direction", "Movement", "What happened")),
            "delta+percent": (("变化", "变化量", "Δ"), ("Change", "Δ", "Change (abs / %)")),
        }[what]  # fmt: skip
        return self.say(*table, feature=f"head:{what}")


def _apart(a: str, b: str, units: int) -> bool:
    """Whether two shown numbers differ by more than so many units of the last digit."""
    found = [re.search(r"[-−]?[\d,]+(\.\d+)?(e[-+]?\d+)?", text) for text in (a, b)]
    if found[0] is None or found[1] is None:
        return a != b
    one, two = (float(m.group().replace(",", "").replace("−", "-")) for m in found if m)
    exponent = int((found[1][2] or "e0")[1:])
    return abs(one - two) > (units + 0.01) * 10.0 ** (exponent - len((found[1][1] or ".")[1:]))
