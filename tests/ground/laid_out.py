"""Markup for grown tables, and one falsehood at a time in them."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from assistant.model import Run
from tests.ground.grown_cells import EN, ZH, Cell, Grid, Grown
from tests.ground.grown_tables import Grower

MARKUPS = ("pipes", "pipes", "aligned", "bare", "html", "tabs", "box", "ascii", "nested", "flat")


def laid_out(grid: Grid, markup: str, dice: random.Random, *, zh: bool) -> str:
    """A grid as text."""
    head, rows = grid.head, [[cell.text for cell in row] for row in grid.rows]
    if markup in {"nested", "flat"}:
        head = [f"step {title}" if title.isdigit() else title for title in head]
    if markup in {"pipes", "aligned", "bare"}:
        rule = {"pipes": "---", "aligned": dice.choice((":---", "---:", ":---:")), "bare": "---"}[markup]
        lines = [" | ".join(head), " | ".join([rule] * len(head)), *[" | ".join(row) for row in rows]]
        body = "\n".join(lines if markup == "bare" and head[0] else [f"| {line} |" for line in lines])
    elif markup == "html":
        tr = ["<tr>" + "".join(f"<th>{h}</th>" for h in head) + "</tr>"] + [
            "<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in rows
        ]
        joint = dice.choice(("\n", "\n  ", ""))
        body = "<table>" + joint + joint.join(tr) + joint.strip(" ") + "</table>"
    elif markup == "tabs":
        body = "\n".join("\t".join(row) for row in [head, *rows])
    elif markup in {"box", "ascii"}:
        widths = [max(_wide(row[at]) for row in [head, *rows]) for at in range(len(head))]
        bar, dash, cross = ("│", "─", "┼") if markup == "box" else ("|", "-", "+")
        padded = [
            [cell + " " * (width - _wide(cell)) for cell, width in zip(row, widths, strict=True)]
            for row in [head, *rows]
        ]
        lines = [f"{bar} " + f" {bar} ".join(row) + f" {bar}" for row in padded]
        rule = dash + f"{dash}{cross}{dash}".join(dash * width for width in widths) + dash
        edges = (f"┌{rule}┐", f"├{rule}┤", f"└{rule}┘") if markup == "box" else (f"+{rule}+",) * 3
        if markup == "box":
            edges = (edges[0].replace("┼", "┬"), edges[1], edges[2].replace("┼", "┴"))
        body = "\n".join((edges[0], lines[0], edges[1], *lines[1:], edges[2]))
        if dice.random() < 0.5:
            body = f"```\n{body}\n```"
    else:
        colon = "：" if zh else ": "
        bold = dice.random() < 0.5
        lines = []
        for row in rows:
            label = f"**{row[0]}**" if bold and "**" not in row[0] else row[0]
            label = f"{head[0]} {label}" if grid.shape == "steps×metrics" and row[0].isdigit() else label
            told = [(title, cell) for title, cell in zip(head[1:], row[1:], strict=True) if cell.strip()]
            if markup == "nested":
                lines += [f"- {label}", *[f"  - {title}{colon}{cell}" for title, cell in told]]
            else:
                lines.append(
                    f"- {label}{colon}" + ("，" if zh else ", ").join(f"{title} {cell}" for title, cell in told)
                )
        body = "\n".join(lines)
    return "\n\n".join(part for part in (grid.before, body, grid.after) if part)


def _wide(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def twins(grid: Grid, dice: random.Random, most: int) -> Iterator[tuple[str, Grid]]:
    """The grid with one cell that tells something false, or with two cells exchanged."""
    places = [(r, c, lie) for r, row in enumerate(grid.rows) for c, cell in enumerate(row) for lie in cell.lies]
    for r, c, (what, text) in dice.sample(places, min(most, len(places))):
        rows = [[*row] for row in grid.rows]
        rows[r][c] = Cell(text)
        yield f"{what} in {grid.rows[r][c].tells}", replace(grid, rows=rows)
    values = [(r, c) for r, row in enumerate(grid.rows) for c, cell in enumerate(row) if cell.tells == "value"]
    if len(values) > 1:
        (a, b), (c, d) = dice.sample(values, 2)
        x, y = grid.rows[a][b], grid.rows[c][d]
        if x.text != y.text and not _close(x.text, y.text) and a != c and b != d:
            rows = [[*row] for row in grid.rows]
            rows[a][b], rows[c][d] = y, x
            yield "exchanged cells", replace(grid, rows=rows)


def _close(a: str, b: str) -> bool:
    numbers = []
    for text in (a, b):
        digits = "".join(char for char in text if char.isdigit() or char == ".")
        try:
            numbers.append(float(digits))
        except ValueError:
            return True
    return abs(numbers[0] - numbers[1]) <= 0.06 * max(numbers)


def grown(
    run: Run, seed: int, other: Run | None = None, most: int = 4, *, shape: str = "", markup: str = ""
) -> list[Grown]:
    """One true text and its false twins."""
    dice = random.Random(seed)
    language = dice.choice((ZH, EN))
    grid = Grower(run, language, dice, other).grid(shape)
    markup = markup or dice.choice(MARKUPS)
    if markup == "tabs" and not grid.head[0]:
        markup = "pipes"
    own = frozenset(grid.features | {f"markup:{markup}"})
    state = dice.getstate()
    result = [Grown(laid_out(grid, markup, dice, zh=language == ZH), True, own)]
    for what, twin in [*twins(grid, random.Random(seed + 1), most)]:
        dice.setstate(state)
        text = laid_out(twin, markup, dice, zh=language == ZH)
        if text != result[0].text:
            result.append(Grown(text, False, own, what))
    return result
