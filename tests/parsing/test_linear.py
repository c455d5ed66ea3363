"""No text makes a format slow: what a pattern could go back over is repeated a million characters long."""

import string
from collections.abc import Callable

import pytest

from assistant.parsing import parse_text, registry
from assistant.parsing.repair import prepare
from tests.timing import assert_in_proportion, once

SIZE = 1_000_000
PRINTABLE = [char for char in string.printable if char not in "\n\r\x0b\x0c"]
PATTERNS = {
    "brackets": "[" * 100_000 + "]" * 100_000,
    "braces": "{" * 100_000,
    "parentheses": "(" * 100_000,
    "nested dicts": "{'a': " * 100_000,
    "nested objects": '{"a":' * 100_000,
    "steps": "step:1 - " * (SIZE // 9),
    "open dicts": "{'" * (SIZE // 2),
    "bars": "|" * SIZE,
    "cells": "| a " * (SIZE // 4),
    "pairs": "a: 1 " * (SIZE // 5),
    "assignments": "loss=1 " * (SIZE // 7),
    "paths": "a/" * (SIZE // 2),
    "signs": "-+" * (SIZE // 2),
    "numbers": "1," * (SIZE // 2),
    "iterations": "iter 1: loss " * (SIZE // 13),
    "rows": "1,2\n" * (SIZE // 4),
    "lines": "loss: 1\n" * (SIZE // 8),
    "dicts": "{'loss': 1}\n" * (SIZE // 12),
    "colours": "\x1b[" * (SIZE // 2),
}


def assert_formats_in_proportion(made: Callable[[int], str], label: object) -> None:
    documents = once(lambda size: prepare("x", made(size)))
    for known in registry.formats():
        assert_in_proportion(known.read, documents, SIZE, label=(label, known.name))


@pytest.mark.parametrize("chars", [PRINTABLE[at : at + 16] for at in range(0, len(PRINTABLE), 16)], ids="".join)
def test_formats_megabyte_of_one_character_is_quick(chars: list[str]) -> None:
    for char in chars:
        assert_formats_in_proportion(char.__mul__, char)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("front", ["", "step:1 - a/b:1 - "])
def test_formats_megabyte_of_one_pattern_is_quick(pattern: str, front: str) -> None:
    def made(size: int) -> str:
        return front + PATTERNS[pattern][: len(PATTERNS[pattern]) * size // SIZE]

    assert_formats_in_proportion(made, pattern)
    assert_in_proportion(parse_text, made, SIZE, limit=4.0, label=pattern)
