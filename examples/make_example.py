"""Writes `verl-retool-steps-0-3.log` from the table of figures in `figures.yaml`.

    python examples/make_example.py

The log is what verl's console logger prints under Ray: one line a step,
`(TaskRunner pid=…) step:1 - actor/entropy:0.156… - actor/pg_loss:np.float64(0.0002…) - …`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "figures.yaml"
LOG = HERE / "verl-retool-steps-0-3.log"

WRAPPERS = {"plain": "{}", "float64": "np.float64({})", "int32": "np.int32({})"}


def read_figures(path: Path = FIGURES) -> dict[str, Any]:
    """The table, every cell as text: a float that was read and printed again might change its digits."""
    figures: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return figures


def write_log(figures: dict[str, Any]) -> str:
    """The log's text, one line a step, in the tables' order.

    Raises:
        ValueError: a row has more or fewer cells than its table has columns, or an unknown type.
    """
    lines = []
    for table in figures["tables"]:
        for key, row in table["rows"].items():
            if len(row) != len(table["columns"]):
                raise ValueError(f"{key}: {len(row)} cells for the columns {table['columns']}")
            if row[0] not in WRAPPERS:
                raise ValueError(f"{key}: the type is {row[0]!r}, not one of {', '.join(WRAPPERS)}")
        for column, step in enumerate(table["columns"][1:], start=1):
            cells = [f"{key}:{WRAPPERS[row[0]].format(row[column])}" for key, row in table["rows"].items()]
            lines.append(f"({figures['process']}) " + " - ".join([f"step:{step}", *cells]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    LOG.write_text(write_log(read_figures()), encoding="utf-8", newline="\n")
    print(f"{LOG.name}: {LOG.stat().st_size} bytes")
