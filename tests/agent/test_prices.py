from __future__ import annotations

from pathlib import Path

import pytest

from assistant.agent import prices
from assistant.model import KnowledgeError


@pytest.mark.parametrize("name", ["gpt-4o-mini", "gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini"])
def test_cost_is_tokens_times_prices(name: str) -> None:
    assert prices.cost(name, 1_000_000, 100_000) == pytest.approx(0.15 + 0.06)


@pytest.mark.parametrize("name", ["my-own-qwen", "gpt-4", "gpt-4o-minimal"])
def test_cost_of_an_unknown_model_is_not_said(name: str) -> None:
    assert prices.cost(name, 1000, 1000) is None


def test_cost_own_table_comes_first(tmp_path: Path) -> None:
    own = tmp_path / "prices.yaml"
    own.write_text("models: {my-qwen: {prompt: 1, completion: 2}, gpt-4o: {prompt: 0, completion: 0}}")
    assert prices.cost("my-qwen", 1_000_000, 1_000_000, str(own)) == 3
    assert prices.cost("gpt-4o", 1000, 1000, str(own)) == 0
    assert prices.cost("gpt-4o-mini", 1_000_000, 0, str(own)) == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("text", "where"),
    [("models: {a: {prompt: 1}}", "models/a"), ("models: [", "cannot read"), ("other: 1", "models is missing"),
     ("models: {a: {prompt: -1, completion: 0}}", "models/a")],
)  # fmt: skip
def test_prices_that_are_unsound_name_the_place(tmp_path: Path, text: str, where: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(KnowledgeError, match=where):
        prices.read_prices(path)
