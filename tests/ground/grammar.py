"""Sentences about a run's numbers, drawn from a grammar: true by construction, each with twins that hold one falsehood.

What a sentence says is told apart from where its numbers come from: a twin names another step or metric, or shows
another number, and is kept only where what it says is then false of the run beyond rounding.
"""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import yaml

Rows = dict[str, dict[int, float]]

#: key → (kind, plain names with their article, short keys)
METRICS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "actor/entropy": ("plain", ("entropy", "the entropy", "the policy entropy", "policy entropy"), ("actor/entropy",)),
    "actor/grad_norm": ("plain", ("the grad norm", "the gradient norm", "grad norm"), ("grad_norm",)),
    "actor/kl_loss": ("small", ("the KL loss", "KL loss", "the KL"), ("kl_loss",)),
    "actor/pg_clipfrac": ("frac", ("the clip fraction",), ("pg_clipfrac",)),
    "critic/rewards/mean": ("frac", ("the mean reward", "the reward", "the average reward"), ("rewards/mean",)),
    "response_length/mean": ("tokens", ("the mean response length", "the average response length"), ("response_length/mean",)),
    "response_length/max": ("tokens", ("the maximum response length", "the longest response"), ("response_length/max",)),
    "prompt_length/mean": ("tokens", ("the mean prompt length", "the average prompt length"), ("prompt_length/mean",)),
    "timing_s/gen": ("seconds", ("the generation time", "generation time", "generation"), ("timing_s/gen",)),
    "timing_s/update_actor": ("seconds", ("the actor update", "the actor update time"), ("update_actor",)),
    "timing_s/old_log_prob": ("seconds", ("the old_log_prob time",), ("old_log_prob",)),
    "timing_s/step": ("seconds", ("the step time", "step time"), ("timing_s/step",)),
    "perf/throughput": ("rate", ("the throughput", "throughput", "the throughput per GPU"), ("perf/throughput",)),
    "perf/max_memory_allocated_gb": ("gib", ("the peak GPU memory", "the GPU memory"), ("max_memory_allocated_gb",)),
}  # fmt: skip
STAGES = ("timing_s/gen", "timing_s/update_actor", "timing_s/old_log_prob")
LENGTHS = ("response_length/mean", "response_length/max", "prompt_length/mean")
GPUS, PROMPTS, GROUP = 8, 64, 16

#: (up, down, least size, greatest size of the change): past, present, participle, -ing, infinitive
VERBS = (
    ("rose rises risen rising rise", "fell falls fallen falling fall", 0, 9),
    ("increased increases increased increasing increase", "decreased decreases decreased decreasing decrease", 0, 9),
    ("climbed climbs climbed climbing climb", "dropped drops dropped dropping drop", 0, 9),
    ("grew grows grown growing grow", "shrank shrinks shrunk shrinking shrink", 0, 9),
    ("went_up goes_up gone_up going_up go_up", "went_down goes_down gone_down going_down go_down", 0, 9),
    ("came_up comes_up come_up coming_up come_up", "came_down comes_down come_down coming_down come_down", 0, 9),
    ("advanced advances advanced advancing advance", "declined declines declined declining decline", 0, 9),
    ("moved_up moves_up moved_up moving_up move_up", "slid slides slid sliding slide", 0, 9),
    ("edged_up edges_up edged_up edging_up edge_up", "eased eases eased easing ease", 0, 0.2),
    ("crept_up creeps_up crept_up creeping_up creep_up", "slipped slips slipped slipping slip", 0, 0.2),
    ("ticked_up ticks_up ticked_up ticking_up tick_up", "dipped dips dipped dipping dip", 0, 0.2),
    ("jumped jumps jumped jumping jump", "plunged plunges plunged plunging plunge", 0.3, 9),
    ("shot_up shoots_up shot_up shooting_up shoot_up", "tumbled tumbles tumbled tumbling tumble", 0.4, 9),
    ("surged surges surged surging surge", "collapsed collapses collapsed collapsing collapse", 0.5, 9),
)
NOUNS = (
    ("rise", "fall"),
    ("increase", "decrease"),
    ("climb", "drop"),
    ("growth", "decline"),
    ("gain", "loss"),
    ("increase", "reduction"),
)
HIGHER = (("higher", "lower"), ("larger", "smaller"), ("greater", "lower"), ("higher", "less"))
DIRECTIONS = {
    "rise": NOUNS, "higher": HIGHER, "larger": HIGHER, "above": (("above", "below"),), "up": (("up", "down"),),
    "gained": (("gained", "lost"), ("put on", "shed"), ("added", "lost")),
    "exceeds": (("exceeds", "falls short of"), ("is above", "is below"), ("tops", "undercuts"), ("is larger than", "is smaller than")),
    "rosesh": NOUNS and (("rose", "fell"), ("increased", "decreased"), ("grew", "shrank")),
    "larger1": (("larger", "smaller"), ("higher", "lower")),
}  # fmt: skip
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def run_of(seed: int) -> tuple[str, Rows]:
    """A run of 3 to 16 steps in verl's keys, its values apart from one another."""
    rng = random.Random(seed)
    count = rng.choice((3, 3, 4, 6, 10, 16))
    stride = rng.choice((1, 1, 1, 5)) if count > 3 else 1
    steps = [stride * n for n in range(1, count + 1)]
    rows: Rows = {key: {} for key in METRICS}

    def walk(low: float, high: float, spread: float) -> Iterator[float]:
        value = rng.uniform(low, high)
        while True:
            yield value
            moved = value * math.exp(rng.choice((-1, 1)) * rng.uniform(0.04, spread))
            value = moved if low * 0.5 < moved < high * 2 else value * value / moved

    walks = {
        "actor/entropy": walk(0.1, 1.2, 0.4), "actor/grad_norm": walk(0.05, 2.0, 0.5), "actor/kl_loss": walk(3e-4, 2e-2, 0.8),
        "actor/pg_clipfrac": walk(0.001, 0.02, 0.5), "critic/rewards/mean": walk(0.06, 0.5, 0.4),
        "response_length/mean": walk(300, 3000, 0.3), "prompt_length/mean": walk(90, 350, 0.1),
        "timing_s/gen": walk(60, 1800, 0.3), "timing_s/update_actor": walk(30, 700, 0.3), "timing_s/old_log_prob": walk(10, 200, 0.3),
        "perf/max_memory_allocated_gb": walk(30, 75, 0.1),
    }  # fmt: skip
    lines = []
    for step in steps:
        row: dict[str, float] = {key: float(f"{next(values):.6g}") for key, values in walks.items()}
        row["response_length/max"] = round(row["response_length/mean"] * rng.uniform(2.2, 4.5))
        row["response_length/min"] = round(row["response_length/mean"] * rng.uniform(0.02, 0.1))
        rest = rng.uniform(0.03, 0.3) * row["timing_s/gen"]
        row["timing_s/step"] = round(sum(row[key] for key in STAGES) + rest, 4)
        row["perf/time_per_step"] = row["timing_s/step"]
        tokens = PROMPTS * GROUP * (row["prompt_length/mean"] + row["response_length/mean"])
        row["perf/total_num_tokens"] = round(tokens)
        row["perf/throughput"] = round(tokens / row["timing_s/step"] / GPUS, 4)
        for what in ("advantages", "returns"):
            row |= {
                f"critic/{what}/max": (GROUP - 1) / math.sqrt(GROUP),
                f"critic/{what}/min": -1.9,
                f"critic/{what}/mean": 0.01,
            }
        if step % 2 == 0:
            row["val-core/gsm8k/acc/mean@1"] = round(rng.uniform(0.2, 0.8), 4)
        for key in METRICS:
            rows[key][step] = row[key]
        lines.append(f"step:{step} - " + " - ".join(f"{key}:{value!r}" for key, value in row.items()))
    rows["val-core/gsm8k/acc/mean@1"] = {}
    return "\n".join(lines), rows


@dataclass(frozen=True)
class Said:
    """What a sentence speaks of: metrics and steps."""

    m: str
    n: str
    a: int
    b: int
    c: int


@dataclass
class Written:
    """A sentence: its features, its numbers as (slot, shown, allowance) and its directions as (slot, sign)."""

    text: str = ""
    features: list[str] = field(default_factory=list)
    numbers: list[tuple[str, float, float]] = field(default_factory=list)
    ways: list[tuple[str, int]] = field(default_factory=list)
    units: int = 0


@dataclass(frozen=True)
class Lie:
    """One exchange: another step or metric said, numbers of others shown, a number changed, a way turned."""

    kind: str = ""
    said: Said | None = None
    source: Said | None = None
    number: int = -1
    change: Callable[[float], float] | None = None
    formula: str = ""
    flip: int = -1
    unit: int = -1


@cache
def rules() -> dict[str, list[str]]:
    """The grammar."""
    loaded: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return loaded


def truth(rows: Rows, said: Said, slot: str) -> float:
    """What a slot is worth where a sentence speaks of these metrics and steps."""
    m, n, a, b, c = said.m, said.n, said.a, said.b, said.c
    x, y, w = rows[m][a], rows[m][b], rows[m][c]
    x2, y2 = rows[n][a], rows[n][b]
    total = "timing_s/step"
    values: dict[str, Callable[[], float]] = {
        "x": lambda: x, "y": lambda: y, "w": lambda: w, "x2": lambda: x2, "y2": lambda: y2,
        "d": lambda: abs(y - x), "sd": lambda: y - x, "pct": lambda: 100 * abs(y - x) / x, "spct": lambda: 100 * (y - x) / x,
        "pct2": lambda: 100 * abs(y2 - x2) / x2, "spct2": lambda: 100 * (y2 - x2) / x2, "pctback": lambda: 100 * abs(y - x) / y,
        "fac": lambda: max(x / y, y / x), "yx": lambda: y / x, "yxpct": lambda: 100 * y / x, "xy": lambda: x / y, "xypct": lambda: 100 * x / y,
        "dd": lambda: abs(x - x2), "absdd": lambda: abs(x - x2), "q": lambda: x / x2, "qback": lambda: x2 / x, "qpct": lambda: 100 * x / x2,
        "relpct": lambda: 100 * abs(x - x2) / x2, "relback": lambda: 100 * abs(x - x2) / x, "sum": lambda: x + x2,
        "sh": lambda: 100 * x / rows[total][a], "shb": lambda: 100 * y / rows[total][b], "sh2": lambda: 100 * x2 / rows[total][a],
        "shsum": lambda: 100 * (x + x2) / rows[total][a], "tv": lambda: rows[total][a],
        "mx": lambda: max(rows[m].values()), "mn": lambda: min(rows[m].values()),
        "batch": lambda: PROMPTS * GROUP, "prompts": lambda: PROMPTS, "group": lambda: GROUP, "gpus": lambda: GPUS,
        "pergpu": lambda: PROMPTS * GROUP / GPUS,
    }  # fmt: skip
    return values[slot]()


def way(rows: Rows, said: Said, slot: str) -> int:
    """The sign of what a direction word tells."""
    m, n, a, b, c = said.m, said.n, said.a, said.b, said.c
    pairs = {
        "2": (rows[n][a], rows[n][b]),
        "w": (rows[m][a], rows[m][c]),
        "wy": (rows[m][c], rows[m][b]),
        "pair": (rows[n][a], rows[m][a]),
    }
    if slot == "sh":
        return 1 if truth(rows, said, "shb") > truth(rows, said, "sh") else -1
    first, second = pairs.get(slot, (rows[m][a], rows[m][b]))
    return 1 if second > first else -1


class Writer:
    """Writes one production; the same seed makes the same choices, whatever the lie."""

    def __init__(self, rows: Rows, said: Said, seed: str, lie: Lie | None = None) -> None:
        self.rows, self.true, self.lie = rows, said, lie or Lie()
        self.said = self.lie.said or said
        self.source = self.lie.source or said
        self.rng = random.Random(seed)
        self.out = Written()
        size = abs(rows[said.m][said.b] / rows[said.m][said.a] - 1)
        size2 = abs(rows[said.n][said.b] / rows[said.n][said.a] - 1)
        self.verb = self.rng.choice([v for v in VERBS if v[2] <= size <= v[3]])
        self.verb2 = self.rng.choice([v for v in VERBS if v[2] <= size2 <= v[3]])
        self.form = {m: self.rng.randrange(6) for m in (said.m, said.n, "timing_s/step")}
        self.percents = self.rng.choice(("{:.1f}%", "{:.0f}%", "{:.0f} %", "{:.1f} %", "{:.0f} percent", "{:.1f}%"))
        self.minus = self.rng.choice(("-", "−"))
        self.steps_as = self.rng.choice(("step {}", "step {}", "step {}", "step {w}", "Step {}"))
        self.named = self.rng.choice(("plain", "plain", "plain", "code", "short", "run's"))
        self.ends = self.rng.random() < 0.3
        self.times = 0

    # -- expansion -------------------------------------------------------------------------------
    def write(self, section: str, at: int) -> Written:
        """One production of a section, by its number."""
        text = self._expand(rules()[section][at])
        text = re.sub(r"  +", " ", text).replace("step step", "step")
        self.out.text = (
            text[0].upper() + text[1:]
            if not text.startswith("`") and "/" not in text.split()[0] and "_" not in text.split()[0]
            else text
        )
        self.out.features += [f"{section}:{at}", f"as:{self.named}", f"steps:{self.steps_as}"]
        return self.out

    def _expand(self, text: str) -> str:
        for _ in range(6):
            text = re.sub(r"\[([^\[\]]*\|[^\[\]]*)\]", lambda m: self.rng.choice(m[1].split("|")), text)
            text = re.sub(r"<(\w+)>", lambda m: self._rule(m[1]), text)
        return re.sub(r"\{([^{}]+)\}", lambda m: self._slot(m[1]), text)

    def _rule(self, name: str) -> str:
        options = rules()[name.lower()] if name not in rules() else rules()[name]
        at = self.rng.randrange(len(options))
        self.out.features.append(f"{name}={options[at].strip()}")
        return options[at]

    # -- slots -----------------------------------------------------------------------------------
    def _slot(self, slot: str) -> str:
        steps = {"A": self.said.a, "B": self.said.b, "C": self.said.c}
        if slot in {"a", "b", "c"}:
            return str(getattr(self.said, slot))
        if slot in {"b_", "c_"}:
            return self.step(getattr(self.said, slot[0])).replace("step ", "")
        if slot == "b-a":
            return str(self.said.b - self.said.a)
        if slot in steps:
            return self.step(steps[slot])
        if slot in {"A's", "B's"}:
            return self.step(steps[slot[0]]) + "'s"
        if slot.lower() in {"at_a", "at_b", "at_c"}:
            found = self.at(getattr(self.said, slot[-1]), slot[-1])
            return found[0].upper() + found[1:] if slot[0] == "A" else found
        if slot == "aux_at_b":
            return f"{self.at(self.said.b, 'b')} {self.rng.choice(('is', 'was'))}"
        if slot in {"S", "s", "P", "s0", "S2", "s2", "t", "t0"}:
            key = self.said.n if slot.endswith("2") else "timing_s/step" if slot[0] == "t" else self.said.m
            found = self.name(key, bare=slot.endswith("0"))
            if slot == "P":
                return found + "'s"
            return (
                found[0].upper() + found[1:]
                if slot == "S" and self.named != "code" and "/" not in found and "_" not in found.split()[0]
                else found
            )
        if slot == "Vs":
            return self.rng.choice(("Compared with", "Relative to", "Against", "In comparison to", "Versus"))
        return self._direction(slot) or self._number(slot)

    def step(self, number: int) -> str:
        """A step in the sentence's own form."""
        if self.steps_as == "step {w}":
            return f"step {WORDS[number]}" if number < len(WORDS) else f"step {number}"
        return self.steps_as.format(number)

    def at(self, number: int, which: str) -> str:
        """At a step."""
        held = sorted(self.rows[self.said.m])
        choice = self.rng.random()
        if self.ends and number == held[0]:
            return ("at the start", "initially", "at the first step", "at the beginning", "in the first step")[
                int(choice * 5)
            ]
        if self.ends and number == held[-1]:
            return ("at the end", "by the end", "in the last step", "at the final step", "at the last step")[
                int(choice * 5)
            ]
        word = ("at", "at", "at", "in", "on", "by" if which == "b" else "at")[int(choice * 6)]
        return f"{word} {self.step(number)}"

    def name(self, key: str, *, bare: bool) -> str:
        """A metric in the sentence's own form."""
        _, plain, short = METRICS[key]
        spot = self.rng.random()
        words = plain[int(spot * len(plain))]
        if self.named == "code":
            return f"`{key}`"
        if self.named == "short":
            return short[0]
        words = re.sub(r"^the ", "", words) if bare else words
        if self.named == "run's" and words.startswith("the "):
            return "the run's " + words[4:]
        return words

    def _sign(self, slot: str) -> int:
        sign = way(self.rows, self.true, slot)
        self.out.ways.append((slot, 0))
        flipped = self.lie.flip == len(self.out.ways) - 1
        sign = -sign if flipped else sign
        self.out.ways[-1] = (slot, sign)
        return sign

    def _direction(self, slot: str) -> str:
        forms = {"rose": 0, "rises": 1, "risen": 2, "rising": 3, "rise_inf": 4, "went_w": 0, "went_y": 0}
        base = slot.lower().removesuffix("2")
        if base in forms:
            verb = self.verb2 if slot.endswith("2") else self.verb
            about = "2" if slot.endswith("2") else {"went_w": "w", "went_y": "wy"}.get(slot, "")
            if slot in {"went_w", "went_y"}:
                verb = VERBS[0]
            sign = self._sign(about)
            found = verb[0 if sign > 0 else 1].split()[forms[base]].replace("_", " ")
            self.out.features.append("verb=" + verb[0 if sign > 0 else 1].split()[4])
            return found.capitalize() if slot[0] == "R" else found
        if base in DIRECTIONS:
            options = DIRECTIONS[base]
            pick = options[self.rng.randrange(len(options))]
            about = (
                "2"
                if slot.endswith("2")
                else "sh"
                if base == "rosesh"
                else "pair"
                if base in {"larger", "exceeds", "larger1"}
                else ""
            )
            sign = self._sign(about)
            found = pick[0 if sign > 0 else 1]
            self.out.features.append(f"{base}={found}")
            return found
        if slot == "formerlatter":
            return "former"
        if slot in {"doubled", "twice", "twiceq"}:
            value = truth(self.rows, self.source, "q" if slot == "twiceq" else "yx")
            value = 1 / value if self.lie.flip == len(self.out.ways) else value
            near = min((0.5, 2.0, 3.0), key=lambda base: abs(math.log(value / base)))
            slack = near * 0.1
            self.out.numbers.append(("q" if slot == "twiceq" else "yx", near * 0.95, slack))
            words = {
                "doubled": {0.5: "halved", 2.0: "doubled", 3.0: "tripled"},
                "twice": {0.5: "half", 2.0: "twice", 3.0: "three times"},
            }
            return words["doubled" if slot == "doubled" else "twice"][near]
        if slot == "third":
            self.out.numbers.append(("sh", 31.6, 1.8))
            return "a third"
        if slot == "long":
            return "long" if METRICS[self.said.m][0] in {"seconds", "tokens"} else "large"
        return ""

    # -- numbers -----------------------------------------------------------------------------------
    def _value(self, slot: str) -> float:
        formula = slot
        index = len(self.out.numbers)
        if self.lie.number == index and self.lie.formula:
            formula = self.lie.formula
        value = truth(self.rows, self.source, formula)
        if self.lie.number == index and self.lie.change is not None:
            value = self.lie.change(value)
        return value

    def _number(self, slot: str) -> str:
        value = self._value(slot)
        if slot in {"pct", "pct2", "qpct", "relpct", "sh", "sh2", "shb", "shsum", "yxpct"}:
            return self._shown(slot, value, self.percents.format(value), "percent")
        if slot in {"spct", "spct2"}:
            shown = self.percents.format(value)
            shown = f"+{shown}" if value > 0 else shown.replace("-", self.minus)
            return self._shown(slot, value, shown, "percent")
        if slot in {"fac", "yx", "q"}:
            places = 1 if value >= 1.5 else 2
            return self._shown(slot, value, f"{value:.{places}f}", "factor")
        if slot in {"batch", "prompts", "group", "gpus", "pergpu"}:
            return self._shown(slot, value, f"{value:,.0f}" if self.form[self.true.m] % 2 else f"{value:.0f}", "count")
        key = self.true.n if slot.endswith("2") else "timing_s/step" if slot == "tv" else self.true.m
        kind = METRICS[key][0]
        signed = slot == "sd"
        shown = self._formed(abs(value), kind, self.form[key], change=slot in {"d", "sd"})
        if signed:
            shown = ("+" if value > 0 else self.minus) + shown
        return self._shown(slot, value, shown, kind)

    def _formed(self, value: float, kind: str, form: int, *, change: bool) -> str:
        if kind == "plain":
            return (f"{value:.3f}", f"{value:.3g}", f"{value:.2f}", f"{value:.4f}", f"{value:.2e}", f"{value:.3f}")[
                form
            ]
        if kind == "small":
            return (f"{value:.3g}", f"{value:.2e}", f"{value:.4f}", f"{value:.3g}", f"{value:.2e}", f"{value:.5f}")[
                form
            ]
        if kind == "frac":
            if form in {1, 3}:
                return f"{100 * value:.2f}" + (" percentage points" if change else ("%", " %")[form // 2])
            return (f"{value:.3g}", "", f"{value:.4f}", "", f"{value:.3g}", f"{value:.2e}")[form]
        if kind == "tokens":
            return (
                f"{value:.0f}",
                f"{value:,.0f}",
                f"{value:,.0f} tokens",
                f"{value / 1000:.2f}k tokens",
                f"{value:.1f}",
                f"{value:.0f} tokens",
            )[form]
        if kind == "seconds":
            return (
                f"{value:.0f} s",
                f"{value:.1f}s",
                f"{value / 60:.1f} min",
                f"{value:.0f} seconds",
                f"{value:.1f} s",
                f"{value / 60:.1f} minutes",
            )[form]
        if kind == "rate":
            return (
                f"{value:.0f} tokens/s",
                f"{value:.0f}",
                f"{value:,.0f} tok/s",
                f"{value:.1f}",
                f"{value:.0f} tokens per second",
                f"{value:.1f} tokens/s",
            )[form]
        return f"{value:.1f} GB" if form % 2 else f"{value:.0f} GB"

    def _shown(self, slot: str, value: float, shown: str, kind: str) -> str:
        number = re.search(r"[\d.,]+(?:e[-+]\d+)?", shown)
        assert number is not None
        digits = number[0].replace(",", "").rstrip(".")
        head, _, exponent = digits.partition("e")
        half = 0.5 * 10.0 ** (-(len(head.partition(".")[2])) + (int(exponent) if exponent else 0))
        read = float(digits)
        scale = 1.0
        if kind == "frac" and ("%" in shown or "percent" in shown):
            scale = 0.01
        elif kind == "seconds" and "min" in shown:
            scale = 60
        elif "k" in shown and kind == "tokens":
            scale = 1000
        read = -read if value < 0 else read
        self.out.numbers.append((slot, read * scale, half * scale))
        self.out.features.append(f"form={re.sub(r'[0-9]+', '0', shown)}")
        units = {
            "s": "min",
            " s": " min",
            "min": "s",
            " tokens": " s",
            " seconds": " minutes",
            " minutes": " seconds",
            " min": " s",
            " GB": " MB",
        }
        match = re.search(r"( ?(?:s|min|tokens|seconds|minutes|GB))$", shown)
        if match and kind in {"seconds", "gib", "tokens"}:
            self.out.units += 1
            if self.lie.unit == self.out.units - 1:
                shown = shown[: match.start()] + units[match[1]]
        return shown


def fits(rows: Rows, said: Said, written: Written) -> bool:
    """Whether all that a sentence says is true at the precision that it shows."""
    for slot, shown, half in written.numbers:
        if abs(truth(rows, said, slot) - shown) > half * (1 + 1e-6) or (shown == 0 or half > 0.1 * abs(shown)):
            return False
    shown = {slot: value for slot, value, _ in written.numbers}
    if any(
        shown.get(one, 0.0) == shown.get(two, 1.0) for one, two in (("x", "y"), ("x", "w"), ("w", "y"), ("x2", "y2"))
    ):
        return False  # alike at this precision: which is more cannot be seen
    return all(way(rows, said, slot) == sign for slot, sign in written.ways)


def off(rows: Rows, said: Said, written: Written) -> bool:
    """Whether something that a sentence says is clearly false."""
    if any(way(rows, said, slot) != sign for slot, sign in written.ways):
        return True
    return any(
        abs(truth(rows, said, slot) - shown) > 2.2 * half + 0.02 * abs(shown) for slot, shown, half in written.numbers
    )


#: sections → which slots they know
SECTIONS = ("change", "change2", "respectively", "factor", "pair", "share", "derived")


@dataclass(frozen=True)
class Case:
    """A text about a run: true, or false in one place."""

    run: int
    section: str
    kind: str
    text: str
    true: str
    features: tuple[str, ...]


def scene(rows: Rows, section: str, rng: random.Random) -> Said:
    """Metrics and steps for a section."""
    steps = sorted(rows["actor/entropy"])
    a, c, b = sorted(rng.sample(steps, 3))
    if rng.random() < 0.4:
        a, b = steps[0], steps[-1]
        c = rng.choice(steps[1:-1])
    if section in {"pair"}:
        group = rng.choice(((*STAGES, "timing_s/step"), LENGTHS))
        m, n = rng.sample(group, 2)
    elif section == "share":
        m, n = rng.sample(STAGES, 2)
    else:
        m, n = rng.sample(sorted(METRICS), 2)
    return Said(m, n, a, b, c)


def lies(rows: Rows, said: Said, written: Written, rng: random.Random) -> Iterator[Lie]:
    """One exchange each."""
    slots = [slot for slot, _, _ in written.numbers]
    steps = sorted(rows[said.m])
    swap = replace(said, a=said.b, b=said.a)
    if {"x", "y"} <= set(slots) or {"x2", "y2"} <= set(slots) or {"sh", "shb"} <= set(slots):
        yield Lie("swapped", source=swap)
        yield Lie("swapped_steps", said=swap)
    if "w" in slots:
        yield Lie("swapped", source=replace(said, b=said.c, c=said.b))
    if {"x", "x2"} & set(slots) and {"x2", "sh2", "q", "sum"} & set(slots):
        yield Lie("swapped_metrics", source=replace(said, m=said.n, n=said.m))
    if {"x2", "pct2", "spct2", "q", "dd", "relpct", "qpct", "sh2"} & set(slots):
        yield Lie("swapped_names", said=replace(said, m=said.n, n=said.m))
    for which in ("a", "b", "c"):
        other = [s for s in steps if s not in {said.a, said.b, said.c}]
        if other:
            yield Lie("step", said=replace(said, **{which: rng.choice(other)}))  # type: ignore[arg-type]
    same = [k for k in METRICS if METRICS[k][0] == METRICS[said.m][0] and k not in {said.m, said.n}]
    if same:
        yield Lie("metric", said=replace(said, m=rng.choice(same)))
    other_metrics = [k for k in METRICS if k not in {said.m, said.n}]
    yield Lie("metric", said=replace(said, m=rng.choice(other_metrics)))
    for index, slot in enumerate(slots):
        by = rng.choice((0.78, 0.86, 1.14, 1.27, 1.5))
        kind = {"x": "value", "y": "value", "w": "value", "x2": "value", "y2": "value", "tv": "value"}.get(slot, slot)
        if slot in {"batch", "prompts", "group", "gpus", "pergpu"}:
            by = rng.choice((0.5, 2.0, 4.0))
        yield Lie(f"value_{kind}", number=index, change=lambda value, by=by: value * by)  # type: ignore[misc]
        if slot in {"sd", "spct", "spct2"}:
            yield Lie("sign", number=index, change=lambda value: -value)
        back = {
            "pct": "pctback",
            "fac": "pct",
            "yx": "xy",
            "yxpct": "xypct",
            "q": "qback",
            "relpct": "relback",
            "d": "y",
            "sum": "absdd",
            "absdd": "sum",
        }
        if slot in back and slot != "fac":
            yield Lie(f"base_{slot}", number=index, formula=back[slot])
        if slot == "pct":
            yield Lie("by_to", number=index, formula="yxpct")
        if slot == "yxpct":
            yield Lie("by_to", number=index, formula="pct")
    for index in range(len(written.ways)):
        yield Lie("direction", flip=index)
    if written.units:
        yield Lie("unit", unit=rng.randrange(written.units))


def cases(seed: int, sections: tuple[str, ...] = SECTIONS, draws: int = 1) -> Iterator[Case]:
    """Of each production of the sections some true sentences about one run, and the twins of each."""
    _, rows = run_of(seed)
    for section in sections:
        for at in range(len(rules()[section])):
            for draw in range(draws):
                yield from _drawn(seed, rows, section, at, draw)


def _drawn(seed: int, rows: Rows, section: str, at: int, draw: int) -> Iterator[Case]:
    for attempt in range(12):
        name = f"{seed} {section} {at} {draw} {attempt}"
        rng = random.Random(name)
        said = scene(rows, section, rng)
        true = Writer(rows, said, name).write(section, at)
        if not fits(rows, said, true):
            continue
        yield Case(seed, section, "true", true.text, true.text, tuple(true.features))
        seen = {true.text}
        for lie in lies(rows, said, true, rng):
            false = Writer(rows, said, name, lie).write(section, at)
            about = lie.said or said
            if false.text in seen or len(false.numbers) != len(true.numbers):
                continue
            if lie.kind != "unit" and not off(rows, about, false):
                continue
            if lie.source is not None and lie.source.m != said.m and not off(rows, said, false):
                continue
            seen.add(false.text)
            yield Case(seed, section, lie.kind, false.text, true.text, tuple(true.features))
        return
