"""JSON of documents with integers of any size."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.model.jsontext import json_bytes

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(DOCUMENTS, st.booleans())
def test_json_bytes_of_any_document_reads_back(document: object, indent: bool) -> None:
    assert json.loads(json_bytes(document, indent=indent)) == document


def test_json_bytes_keeps_every_digit_beyond_64_bits() -> None:
    assert json_bytes({"value": 2**70, "名": "é"}) == b'{"value":1180591620717411303424,"\xe5\x90\x8d":"\xc3\xa9"}'


def test_json_bytes_without_a_json_form_is_refused() -> None:
    with pytest.raises(TypeError):
        json_bytes({"value": object()})
