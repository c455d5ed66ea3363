"""The bundled example log is what its table of figures says."""

from __future__ import annotations

import re

import pytest

from examples import make_example


def test_example_log_equals_what_the_table_writes() -> None:
    assert make_example.LOG.read_text(encoding="utf-8") == make_example.write_log(make_example.read_figures())


def test_example_figures_keep_every_digit() -> None:
    lines = make_example.LOG.read_text(encoding="utf-8").splitlines()
    assert [re.search(r" step:(\d+) - ", line).group(1) for line in lines] == ["0", "1", "2", "3"]
    assert " - actor/pg_loss:np.float64(0.00021197963747567882) - " in lines[1]
    assert " - actor/lr:np.float64(1e-06) - " in lines[2]
    assert lines[3].endswith(" - perf/throughput:667.2285752891935")


def test_write_log_row_of_wrong_width_raises() -> None:
    figures = {"process": "p", "tables": [{"columns": ["type", "1"], "rows": {"a/b": ["plain", "1", "2"]}}]}
    with pytest.raises(ValueError, match=r"a/b: 3 cells"):
        make_example.write_log(figures)


def test_write_log_unknown_type_raises() -> None:
    figures = {"process": "p", "tables": [{"columns": ["type", "1"], "rows": {"a/b": ["float32", "1"]}}]}
    with pytest.raises(ValueError, match=r"a/b: the type is 'float32'"):
        make_example.write_log(figures)
