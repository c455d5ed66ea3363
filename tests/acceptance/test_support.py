"""The helpers tell right from wrong; the example log holds the figures the tests are about."""

import pytest

from .audit import shows
from .figures import LOGGED, STEPS, example_rows
from .support import hard_wrap, log_of, mojibake, normalise, prose, says_key, strict_json


def test_example_log_figures_as_tabled() -> None:
    rows = example_rows()
    assert tuple(sorted(rows)) == STEPS
    held = {key: {step: rows[step].cells.get(key) for step in steps} for key, steps in LOGGED.items()}
    assert held == LOGGED


def test_example_log_lines_in_order_of_steps() -> None:
    lines = [example_rows()[step].line for step in STEPS]
    assert lines == sorted(lines)


@pytest.mark.parametrize(
    ("text", "value", "wanted"),
    [
        ("23.0 %", 0.23, True),
        ("0.23", 0.23, True),
        ("24.0 %", 0.23, False),
        ("23.0", 0.23, False),
        ("准确率60.3%", 0.6026, True),
        ("−0.385", -0.3851111, True),
        ("0.385", -0.3851111, False),
        ("2.39e-05", 2.394e-5, True),
        ("2.4 × 10⁻⁵", 2.394e-5, True),
        ("8,192 = 512 × 16", 8192, True),
        ("8,192 = 512 × 16", 512, True),
        ("18,192", 8192, False),
        ("5,419", 5419.1, True),
        ("best@30", 30, False),
        ("约8张卡", 8, True),
    ],
)
def test_shows_number_at_displayed_precision(text: str, value: float, wanted: bool) -> None:
    assert shows(text, value) is wanted


def test_normalise_minus_signs_and_full_width_written_plainly() -> None:
    assert normalise("\u22120.5\uff05 \uff13 2.4×10⁻⁵") == "-0.5% 3 2.4e-5"


def test_prose_keys_and_code_dropped() -> None:
    assert prose("看 `actor/entropy` 与 val-core/aime_2025/acc/mean@30").split() == ["看", "与"]


def test_says_key_longer_key_not_taken_for_it() -> None:
    assert not says_key("`actor/pg_clipfrac_lower`", "actor/pg_clipfrac")
    assert says_key("| `actor/pg_clipfrac` | 0.002 |", "actor/pg_clipfrac")


def test_mojibake_undone_gives_the_text_back() -> None:
    raw = bytearray()
    for char in mojibake("模型有改进吗"):
        try:
            raw += char.encode("cp1252")
        except UnicodeEncodeError:
            raw += char.encode("latin-1")
    assert raw.decode() == "模型有改进吗"


def test_hard_wrap_no_line_too_long_nothing_lost() -> None:
    wrapped = hard_wrap(log_of(3), 211, strip=False)
    assert max(map(len, wrapped.splitlines())) == 211
    assert wrapped.replace("\n", "") == log_of(3).rstrip("\n")


def test_strict_json_bare_nan_refused() -> None:
    with pytest.raises(AssertionError, match="NaN"):
        strict_json('{"value": NaN}')
