"""A line over steps, drawn with characters: colours on a terminal, none in a pipe.

Imported only when something is drawn, since plotext takes its time to load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

#: Rows of a picture, and the least width in which one can be read.
HEIGHT, LEAST_WIDTH = 18, 40
#: Points beyond which only the extremes of each column are drawn.
DOTS_A_COLUMN = 2


def picture(
    steps: Sequence[int], values: Sequence[float], *, title: str, axis: str = "step", width: int = 80,
    levels: Sequence[tuple[Sequence[float], Sequence[float]]] = (), marks: Sequence[int] = (), log: bool = False,
    colours: bool = False, unicode: bool = True, label: Callable[[float], str] = "{:.3g}".format,
) -> str:  # fmt: skip
    """A picture of a series.

    Args:
        steps: ascending.
        values: finite, as many.
        title: above it.
        axis: what the steps are.
        width: columns to fill.
        levels: lines to draw over it: steps and values of each (a fitted slope, a median).
        marks: steps at which an upright line stands (change points).
        log: values on a logarithmic axis (all positive).
        colours: whether escape codes for colours may stand in it.
        unicode: whether the output can hold more than ASCII.
        label: writes a value on the axis.

    Returns:
        Lines of text without a newline at the end; empty below two points.
    """
    if len(steps) < 2:
        return ""
    import plotext as plt

    width = max(LEAST_WIDTH, width)
    turn: Callable[[float], float] = math.log10 if log else float
    xs, ys = thinned(steps, [turn(v) for v in values], DOTS_A_COLUMN * width)
    plt.clear_figure()
    plt.theme("clear")
    plt.limit_size(False, False)
    plt.plot_size(width, HEIGHT)
    plt.title(title)
    plt.xlabel(axis)
    for step in marks:
        plt.vline(step, "red" if colours else None)
    plt.plot(xs, ys, marker="braille" if unicode else "*", color="blue" if colours else None)
    for line_steps, line_values in levels:
        dots = [(s, turn(v)) for s, v in zip(line_steps, line_values, strict=True) if not log or v > 0]
        if len(dots) > 1:
            plt.plot(
                [s for s, _ in dots], [v for _, v in dots], marker="·" if unicode else "-",
                color="orange" if colours else None,
            )  # fmt: skip
    _axes(plt, steps, ys, (lambda v: label(10**v)) if log else label)
    text = str(plt.build())
    if not colours:
        text = plt.uncolorize(text)
    plt.clear_figure()
    if not unicode:
        text = text.translate(_ASCII)
    return "\n".join(line.rstrip() for line in text.splitlines())


def thinned(steps: Sequence[int], values: Sequence[float], most: int) -> tuple[list[int], list[float]]:
    """At most about ``most`` points: the lowest and the highest of each of as many columns, no spike is lost."""
    n = len(steps)
    if n <= most:
        return list(steps), list(values)
    groups = most // 2
    xs: list[int] = []
    ys: list[float] = []
    for group in range(groups):
        places = range(group * n // groups, (group + 1) * n // groups)
        ends = {min(places, key=values.__getitem__), max(places, key=values.__getitem__)}
        for place in sorted(ends):
            xs.append(steps[place])
            ys.append(values[place])
    return xs, ys


def _axes(plt: Any, steps: Sequence[int], values: Sequence[float], label: Callable[[float], str]) -> None:
    first, last = steps[0], steps[-1]
    places = sorted({round(first + i * (last - first) / 6) for i in range(7)})
    plt.xticks(places, [str(place) for place in places])
    low, high = min(values), max(values)
    if high > low:
        heights = [low + i * (high - low) / 4 for i in range(5)]
        plt.yticks(heights, [label(height) for height in heights])
    else:
        plt.yticks([low], [label(low)])


#: Box drawing in ASCII, for outputs that hold nothing else.
_ASCII = str.maketrans("┌┐└┘─│┤├┬┴┼", "++++-|||+++")
