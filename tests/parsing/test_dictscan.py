from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing.dictscan import scan_dict
from assistant.parsing.printeddict import read_flat
from assistant.parsing.quickdict import quick_dict
from assistant.parsing.trainerevents import item_number
from tests.timing import assert_in_proportion

NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(repr),
    st.floats().map(repr),
    st.sampled_from(
        ["0.0", "-0", "-0.0", "1E5", "1e-05", "1.", ".5", "01", "1e400", "5e-324", "9" * 30, "0." + "1" * 399]
    ),
)
TEXTS = st.one_of(
    NUMBERS, st.sampled_from(["", " ", "0:01:03", "1.65%", "1,100", "1,2", "9/547", "None", "nan", "a b", "+1", "it"])
)
VALUES = st.one_of(
    NUMBERS,
    TEXTS.map(lambda text: f"'{text}'"),
    NUMBERS.map(lambda text: f"np.float64({text})"),
    st.sampled_from(
        ["None", "null", "True", "nan", "-inf", "NaN", "Infinity", "[1, 2]", "{'a': 1}", "(1, 2)", "''", "it"]
    ),
)
KEYS = st.one_of(
    st.sampled_from(
        ["loss", "rewards/a b", "kl", "nan", "a: nan", "info", "eval_loss", "时间", "a{b", "it's", "x" * 301]
    ),
    st.text(max_size=5),
)
SPACES = st.sampled_from(["", " ", "  ", "\t"])


def careful(text: str, start: int) -> str:
    """What the scanner reads, told as the quick way tells it."""
    flat = scan_dict(text, start)
    values: dict[str, object] = {}
    rest = []
    for item in flat.items:
        value = item_number(item)
        if value is None:
            rest.append((item.key, item.text))
        else:
            values.setdefault(item.key, value)
    return repr((flat.state, flat.end, tuple(item.key for item in flat.items), values, rest))


@settings(max_examples=600, deadline=None)
@given(
    pairs=st.lists(st.tuples(KEYS, VALUES, SPACES, SPACES), max_size=5),
    json=st.booleans(),
    front=st.sampled_from(["", " 50%|##| 1/2 [", "{"]),
    behind=st.sampled_from(["", "}", " x", "{'a': 1}"]),
)
def test_quick_dict_gives_what_the_scanner_gives(
    pairs: list[tuple[str, str, str, str]], json: bool, front: str, behind: str
) -> None:
    raw = "{" + ", ".join(f"'{key}'{one}: {other}{value}" for key, value, one, other in pairs) + "}"
    text = front + (raw.replace("'", '"') if json else raw) + behind
    quick = quick_dict(text, len(front))
    if quick is not None:
        told = ("closed", quick.end, quick.keys, quick.cells, quick.rest)
        assert repr(told) == careful(text, len(front))
        assert quick.raw == text[len(front) : quick.end]


@settings(max_examples=400, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(
            ["{'", "'", '"', ": ", ", ", "}", "1", ".5", "nan", "None", "a", "\\", " ", "[", "(", "np.f(", ")", "%"]
        ),
        max_size=30,
    ).map(lambda parts: "{'a" + "".join(parts))
)  # fmt: skip
def test_quick_dict_of_odd_text_gives_what_the_scanner_gives(text: str) -> None:
    quick = quick_dict(text, 0)
    if quick is not None:
        assert repr(("closed", quick.end, quick.keys, quick.cells, quick.rest)) == careful(text, 0)
    scan_dict(text, 0, deep=True)


@pytest.mark.parametrize(
    "text",
    [
        "{'loss': 0.5, 'kl': nan, 'reward': None, 'epoch': 0.1}",
        "{'loss': '0.5', 'num_tokens': 12, 'epoch': '0.1'}",
        '{"loss": NaN, "x": null, "elapsed_time": "0:01:03"}',
    ],
)
def test_quick_dict_reads_what_trainers_print(text: str) -> None:
    assert quick_dict(text, 0) is not None


def test_scan_dict_values_of_every_kind() -> None:
    text = (
        "{'a': 1, 'b/c': np.float64(0.5), 'd': tensor(-2., device='cuda:0', grad_fn=<MeanBackward0>), 'e': '0.25', "
        "'f': None, 'g': [1, 2], 'h': array(0.125, dtype=float32), \"it's\": 'x', }"
    )
    flat = scan_dict(text, 0)
    assert (flat.state, flat.end) == ("closed", len(text))
    assert [(item.key, item.kind, item.text) for item in flat.items] == [
        ("a", "number", "1"),
        ("b/c", "number", "0.5"),
        ("d", "number", "-2."),
        ("e", "text", "0.25"),
        ("f", "none", "None"),
        ("g", "other", "[1, 2]"),
        ("h", "number", "0.125"),
        ("it's", "text", "x"),
    ]
    assert all(text[item.at :].startswith(item.text) for item in flat.items)


def test_scan_dict_nested_stops_unless_it_is_to_go_deep() -> None:
    text = "{'a': {'b': 1}, 'c': (1, 'x)'), 'd': array([1., 2.], dtype=float32), 'e': 3}"
    assert (scan_dict(text, 0).state, scan_dict(text, 0).key) == ("nested", "a")
    deep = scan_dict(text, 0, deep=True)
    assert [(item.key, item.kind) for item in deep.items] == [
        ("a", "other"),
        ("c", "other"),
        ("d", "other"),
        ("e", "number"),
    ]
    assert read_flat(text, 0).others == 3


@pytest.mark.parametrize(
    ("end", "key", "rest", "reason"),
    [
        (" 'b': 0.5", "b", "0.5", "half_value"),
        (" 'b': '0.5", "b", "0.5", "half_value"),
        (" 'b': np.fl", "b", "np.fl", "half_wrapper"),
        (" 'b': np.float64(0", "b", "np.float64(0", "half_wrapper"),
        (" 'b': na", "b", "na", "half_value"),
        (" 'b':", "b", "", "half_value"),
        (" 'b", None, "b", "half_key"),
        ("", None, "", None),
    ],
)
def test_scan_dict_cut_tells_where_and_why(end: str, key: str | None, rest: str, reason: str | None) -> None:
    flat = scan_dict("{'a': 1," + end, 0)
    assert (flat.state, flat.key, flat.rest, flat.reason) == ("open", key, rest, reason)
    assert [item.key for item in flat.items] == ["a"]


@pytest.mark.parametrize("unit", ["'a': 1, ", "'a': '", "'a': np.float64(", "'a': [", "'a': {", "'", '"', "\\'", " "])
def test_scan_dict_is_linear(unit: str) -> None:
    for deep in (False, True):
        assert_in_proportion(
            lambda text, deep=deep: scan_dict(text, 0, deep=deep), lambda size: "{" + unit * (size // len(unit)),
            1_000_000,
        )  # fmt: skip


def test_scan_dict_random_cuts_never_take_half_a_value() -> None:
    rng = random.Random(3)
    text = str({f"k/{at}": rng.choice([rng.random(), rng.randrange(999), f"{rng.random():.4g}"]) for at in range(40)})
    whole = {item.key: item.text for item in scan_dict(text, 0).items}
    for cut in range(1, len(text)):
        flat = scan_dict(text[:cut], 0)
        assert flat.state == "open"
        assert all(whole[item.key] == item.text for item in flat.items)
