"""Settings with comments: read as their programs read them, edited without touching anything else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.mcp.install.jsonc import BadJson, parse, with_member, without_member

OURS = {"command": "metric-assistant", "args": ["mcp"]}
PATH = ("servers", "metric-assistant")
KEPT = """\
// servers of the team
{
    /* do not
       sort */
    "inputs": [1, 2,], // trailing comma
    "servers": {
        "other": {"command": "x // no comment", "args": ["a\\"b", "}"]}, // keep me
        // and me
    },
}
"""


def test_parse_comments_and_trailing_commas_are_no_values() -> None:
    assert parse(KEPT).value == {
        "inputs": [1, 2],
        "servers": {"other": {"command": "x // no comment", "args": ['a"b', "}"]}},
    }


def test_with_member_keeps_every_comment_and_the_layout() -> None:
    new = with_member(KEPT, PATH, OURS)
    assert parse(new).value["servers"] == {**parse(KEPT).value["servers"], "metric-assistant": OURS}
    lines = iter(new.split("\n"))
    assert all(line in lines for line in KEPT.split("\n"))  # each line as it was, in its order
    assert '\n        "metric-assistant": {\n            "command"' in new


def test_without_member_takes_out_what_was_put_in() -> None:
    new = without_member(with_member(KEPT, PATH, OURS), PATH)
    assert parse(new).value == parse(KEPT).value
    assert all(comment in new for comment in ("// keep me", "// and me", "/* do not"))


@pytest.mark.parametrize(
    "text",
    [
        "", "\n", "\ufeff", "// nothing yet\n", "{}", "{ }", "{\n}", '{"servers": {}}', '{"servers":{"a":{}}}',
        '{"a": 1}', '{"a": 1,}', '{"a": 1 // x\n}', '{\r\n\t"a": 1\r\n}\r\n', '{"servers": {"metric-assistant": 3}}',
        '{"servers": {"metric-assistant": {"command": "old"}, "b": {}}}', '{"a": "\\u00e9 \ud83d\ude00"}',
    ],
)  # fmt: skip
def test_with_member_of_any_file_sets_it_and_nothing_else(text: str) -> None:
    before = parse(text).value
    new = with_member(text, PATH, OURS)
    assert parse(new).value == {**before, "servers": {**before.get("servers", {}), "metric-assistant": OURS}}
    assert ("\r\n" in new) == ("\r\n" in text)
    if "\r\n" in text:
        assert not re.search(r"(?<!\r)\n", new)
    gone = parse(without_member(new, PATH)).value
    assert gone.pop("servers", {}) == {k: v for k, v in before.pop("servers", {}).items() if k != "metric-assistant"}
    assert gone == before


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1', 1), ('{"a" 1}', 1), ("{'a': 1}", 1), ("{\n a: 1}", 2), ('{"a": tru}', 1), ("{} x", 1), ("[1, 2", 1),
        ('{"a": 1 "b": 2}', 1), ('{"a": 01}', 1), ('{"a": "x\ny"}', 1), ("[" * 500, 1), ("{,}", 1), ("/* open", 1),
    ],
)  # fmt: skip
def test_parse_of_what_is_no_json_names_the_line(text: str, line: int) -> None:
    with pytest.raises(BadJson) as error:
        parse(text)
    assert error.value.line == line


def test_with_member_where_the_path_is_no_object_is_refused() -> None:
    with pytest.raises(BadJson, match="servers is no object"):
        with_member('{"servers": []}', PATH, OURS)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    whole=st.dictionaries(st.text(max_size=5), VALUES, max_size=4),
    servers=st.none() | st.dictionaries(st.text(max_size=5), VALUES, max_size=3),
    indent=st.sampled_from([None, 2, 4, "\t"]),
)
def test_with_member_of_any_object_sets_it_and_nothing_else(whole: Any, servers: Any, indent: Any) -> None:
    whole = {**whole, **({} if servers is None else {"servers": servers})}
    if not isinstance(whole.get("servers", {}), dict):
        del whole["servers"]
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    new = with_member(text, PATH, OURS)
    assert json.loads(new) == {**whole, "servers": {**whole.get("servers", {}), "metric-assistant": OURS}}
    back = json.loads(without_member(new, PATH))
    assert {**back, "servers": None} == {**whole, "servers": None}
    assert back["servers"] == {k: v for k, v in (servers or {}).items() if k != "metric-assistant"}
