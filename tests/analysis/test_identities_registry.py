"""The table of identities: complete, valid, current in the docs; a broken file is refused by name."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from assistant.analysis.identities import IDENTITIES, identities
from assistant.analysis.identities.formula import Measured, parse
from assistant.analysis.identities.grid import grid_of
from assistant.analysis.identities.laws import LAWS, denominator
from assistant.analysis.identities.registry import DATA, read_identities
from assistant.model import KnowledgeError

from .support import run_of

ROOT = Path(__file__).resolve().parents[2]
ENTRY: dict[str, Any] = {
    "zh": "甲等于乙", "en": "a is b", "formula": "a = b", "frameworks": ["any"], "tolerance": "exact", "source": "x",
    "unless": {"zh": "无", "en": "nothing"}, "verify": [{"equal": ["{a}", "{b}"]}],
}  # fmt: skip


def read(folder: Path, table: dict[str, Any]) -> dict[str, Any]:
    (folder / "made.yaml").write_text(yaml.safe_dump(table, allow_unicode=True), encoding="utf-8")
    return read_identities(folder)


def test_identities_are_all_there() -> None:
    assert {f"I-{n:02d}" for n in range(1, 77)} <= set(identities())
    assert set(IDENTITIES) == set(identities())


@pytest.mark.parametrize("path", sorted(DATA.glob("*.yaml")), ids=lambda path: path.name)
def test_identities_file_is_valid_under_its_schema(path: Path) -> None:
    schema = json.loads((DATA / "schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def test_identities_derive_or_verify_something_each() -> None:
    idle = {name for name, identity in identities().items() if not identity.derives and not identity.verifies}
    assert idle == set()


def test_identities_call_functions_that_exist_and_all_of_them() -> None:
    called = {r.left for identity in identities().values() for r in identity.verifies if r.kind == "call"}
    assert called == set(LAWS)


def test_identities_page_in_the_docs_is_current() -> None:
    page = runpy.run_path(str(ROOT / "tools" / "identities.py"))["table"]()
    assert (ROOT / "docs" / "identities.md").read_text(encoding="utf-8") == page, "run: python tools/identities.py"


def test_read_identities_valid_file_is_read(tmp_path: Path) -> None:
    identity = read(tmp_path, {"I-90": ENTRY})["I-90"]
    assert (identity.says("zh"), identity.says("en")) == ("甲等于乙", "a is b")
    assert identity.applies(None)
    assert identity.verifies[0].kind == "equal"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"tolerance": "loose"}, "tolerance"), ({"unless": {"zh": "无"}}, "unless"),
        ({"zh": None, "extra": 1}, "fields"),
        ({"verify": [{"equal": ["{a}"]}]}, "sides"), ({"verify": [{"equal": ["{a}", "{b"]}]}, "formula"),
        ({"verify": [{"same": ["{a}", "{b}"]}]}, "check"), ({"verify": [{"whole": "{a} ** 2"}]}, "does not belong"),
        ({"verify": [{"whole": "open({a})"}]}, "called"),
        ({"verify": [{"equal": ["{a}", "{b}"], "each": "("}]}, "unterminated"),
        ({"quantities": [{"name": "x", "formula": "{a}"}]}, "derives lacks"),
        ({"quantities": [{"name": "x"}], "derives": ["x"]}, "quantity"),
    ],
)  # fmt: skip
def test_read_identities_broken_file_raises_naming_file_and_key(
    tmp_path: Path, change: dict[str, Any], word: str
) -> None:
    with pytest.raises(KnowledgeError, match=r"made\.yaml: I-90") as raised:
        read(tmp_path, {"I-90": {**ENTRY, **change}})
    assert word in str(raised.value)


@pytest.mark.parametrize("name", ["90", "I-9", "X-90"])
def test_read_identities_wrong_id_raises(tmp_path: Path, name: str) -> None:
    with pytest.raises(KnowledgeError, match="I-NN"):
        read(tmp_path, {name: ENTRY})


def test_read_identities_quantity_of_two_identities_raises(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="x is I-90's"):
        read(tmp_path, {"I-90": {**ENTRY, "derives": ["x"]}, "I-91": {**ENTRY, "derives": ["x"]}})


# --- formulas with errors ------------------------------------------------------------------------------------

POSITIVE = st.floats(0.01, 1e4)


@given(a=POSITIVE, b=POSITIVE, da=st.floats(-1, 1), db=st.floats(-1, 1))
def test_formula_error_bounds_what_small_changes_do(a: float, b: float, da: float, db: float) -> None:
    formula = parse("({a} - {b}) / {b} + sqrt({a}) * abs({b}) - 3")
    size = 1e-6

    def at(x: float, y: float, error: float = 0.0) -> Measured:
        cells = {"a": Measured(x, error * x), "b": Measured(y, error * y)}
        return formula.evaluate(cells.__getitem__, {})

    centre = at(a, b, size)
    moved = at(a * (1 + size * da), b * (1 + size * db))
    assert abs(float(moved.value) - float(centre.value)) <= float(centre.error) * (1 + 1e-3) + 1e-9


def test_formula_names_and_keys_in_order_each_once() -> None:
    formula = parse("{x/mean} * batch - {y@2} / {x/mean} + batch")
    assert (formula.keys, formula.names) == (("x/mean", "y@2"), ("batch",))


def test_formula_division_by_zero_is_no_number() -> None:
    assert np.isnan(parse("{a} / {b}").evaluate({"a": Measured(1.0), "b": Measured(0.0)}.__getitem__, {}).value)


# --- printed digits --------------------------------------------------------------------------------------------


def test_grid_rounding_of_a_full_print_is_zero() -> None:
    run = run_of({s: {"a": 0.123456789 * s, "b": 1.0 / (s + 2), "c": 3.3333333 + s, "n": s} for s in range(1, 30)})
    grid = grid_of(run)
    assert grid.style[0] == "full"
    assert not np.any(grid.rounding("a"))
    assert not np.any(grid.rounding("n"))


@pytest.mark.parametrize("places", [2, 3, 4])
def test_grid_rounding_of_fixed_decimals_is_half_the_last(places: int) -> None:
    rows = {s: {k: round(f * s / 7, places) for k, f in (("a", 1.1), ("b", 31.7), ("c", 870.3))} for s in range(1, 40)}
    run = run_of(rows)  # a grid lives as long as its run
    grid = grid_of(run)
    assert grid.style == ("fixed", places)
    for metric in "abc":
        assert np.allclose(grid.rounding(metric), 0.5 * 10.0**-places)


def test_grid_rounding_of_significant_digits_follows_the_size() -> None:
    keys = (("a", 1.1e-6), ("b", 31.7), ("c", 0.003), ("d", 5e4))
    rows = {s: {k: float(f"{f * s / 7:.4g}") for k, f in keys} for s in range(1, 40)}
    run = run_of(rows)  # a grid lives as long as its run
    grid = grid_of(run)
    assert grid.style == ("significant", 4)
    values = grid.values("a")
    assert values is not None
    assert (np.asarray(grid.rounding("a")) <= 0.5e-3 * values).all()
    assert (np.asarray(grid.rounding("a")) >= 0.5e-4 * values).all()


def test_grid_values_missing_and_not_finite_cells_are_nan() -> None:
    run = run_of({1: {"a": 1.0}, 2: {"b": 2.0}, 3: {"a": float("inf")}, 4: {"a": 4.0}})
    grid = grid_of(run)
    values = grid.values("a")
    assert values is not None
    assert np.array_equal(values, [1.0, np.nan, np.nan, 4.0], equal_nan=True)
    assert grid.values("none") is None


# --- common denominators ---------------------------------------------------------------------------------------


@given(d=st.integers(2, 512), data=st.data())
def test_denominator_is_a_divisor_of_the_samples(d: int, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, d), min_size=8, max_size=40))
    values = np.array([np.float64(np.float32(count / d)) for count in counts])
    found = denominator(values, 0.0)
    if found is None:  # nearly all alike: two odd values among zeros are no property of a batch
        assert len(set(counts)) <= len(counts) // 2
    else:
        assert d % found[0] == 0


def test_denominator_of_continuous_values_is_none() -> None:
    values = np.random.default_rng(1).random(40)
    assert denominator(values, 0.0) is None


def test_denominator_of_rounded_values_is_none() -> None:
    values = np.round(np.arange(40) / 173, 3)
    assert denominator(values, 5e-4) is None


def test_denominator_one_odd_value_does_not_enter() -> None:
    values = np.arange(30) / 64
    values[11] = 0.35
    found = denominator(values, 0.0)
    assert found is not None
    assert found[0] == 64
    assert not found[1][11]
