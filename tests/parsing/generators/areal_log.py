"""Prints AReaL's step lines and its boxed tables (four pairs of columns, values in ``.4e``)."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.parsing.generators.harm import Value, number

Row = tuple[int, dict[str, Value]]
HEAD = "20251120-12:34:56.789 StatsLogger INFO: "


@dataclass
class Log:
    lines: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)


def table(texts: dict[str, str], pairs: int = 4) -> list[str]:
    """The items from top to bottom, then from left to right, in a grid."""
    items = list(texts.items())
    height = -(-len(items) // pairs)
    cells = [[cell for at in range(i, len(items), height) for cell in items[at]] for i in range(height)]
    wide = max(map(len, cells))
    cells = [row + [""] * (wide - len(row)) for row in cells]
    widths = [max(len(row[at]) for row in cells) + 2 for at in range(wide)]

    def edge(left: str, line: str, cross: str, right: str) -> str:
        return left + cross.join(line * width for width in widths) + right

    lines = [edge("╒", "═", "╤", "╕")]
    for index, row in enumerate(cells):
        shown = [
            f" {text:>{width - 2}} " if at % 2 else f" {text:<{width - 2}} "
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines += ["│" + "│".join(shown) + "│"]
        lines += [edge("├", "─", "┼", "┤") if index < height - 1 else edge("╘", "═", "╧", "╛")]
    return lines


def random_log(seed: int, steps: int, *, count: int = 10, parts: int = 1) -> Log:
    rng = random.Random(seed)
    log = Log()
    for step in range(1, steps + 1):
        log.lines.append(f"{HEAD}Epoch 1/10 Step {step}/100 Train step {step}/1000 done.")
        merged: dict[str, Value] = {}
        for part in range(parts):
            log.lines.append(f"{HEAD}Stats ({part + 1}/{parts}):")
            texts = {f"ppo_actor/update/metric_{part}_{n}/avg": f"{number(rng):.4e}" for n in range(count)}
            log.lines.append(HEAD)
            log.lines += table(texts)
            merged |= {key: float(text) for key, text in texts.items()}
        log.rows.append((step, merged))
    return log
