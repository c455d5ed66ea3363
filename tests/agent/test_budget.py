"""The estimate is held against counts that OpenAI published for o200k_base and against a small BPE made here."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.agent import budget
from tests.agent.support import EXAMPLE

ROOT = EXAMPLE.parent.parent
#: https://openai.com/index/hello-gpt-4o/, "language tokenization"
PUBLISHED = {
    "你好，我的名字是GPT-4o。我是一种新型的语言模型，很高兴见到你！": 24,
    "Hello, my name is GPT-4o. I'm a new type of language model, it's nice to meet you!": 24,
}
#: The split of o200k_base before its merges.
SPLIT = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@pytest.mark.parametrize(("text", "tokens"), PUBLISHED.items())
def test_estimate_published_counts_is_not_below_and_at_most_a_quarter_above(text: str, tokens: int) -> None:
    assert tokens <= budget.estimate(text) <= 1.25 * tokens


def test_estimate_against_a_small_bpe_of_other_pages_is_close() -> None:
    """8000 merges of other pages: far fewer than a real vocabulary has, none of them learnt from logs."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    pages = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "knowledge").rglob("*.md"))]
    bpe = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(SPLIT), "isolated")
    whole = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.pre_tokenizer = pre_tokenizers.Sequence([split, whole])
    trainer = trainers.BpeTrainer(
        vocab_size=8000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    bpe.train_from_iterator(pages[::2], trainer)
    lines = "\n".join(pages[1::2]).split("\n")
    texts = {
        "zh": "\n".join(line for line in lines if len(re.findall(r"[\u4e00-\u9fff]", line)) > 5),
        "en": "\n".join(line for line in lines if not re.search(r"[\u4e00-\u9fff]", line)),
        "log": EXAMPLE.read_text(encoding="utf-8"),
    }
    ratios = {name: budget.estimate(text) / len(bpe.encode(text).ids) for name, text in texts.items()}
    assert all(0.85 <= ratio <= 1.25 for ratio in ratios.values()), ratios


@given(st.text(max_size=200), st.text(max_size=200))
def test_estimate_grows_with_the_text(first: str, second: str) -> None:
    assert budget.estimate(first + "\n" + second) >= max(budget.estimate(first), budget.estimate(second)) - 1


def test_counter_without_ranks_estimates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert budget.counter("gpt-4o") is budget.estimate


def test_counter_with_a_broken_rank_file_estimates_and_leaves_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / hashlib.sha1(budget.RANKS["o200k_base"][0].encode()).hexdigest()
    path.write_bytes(b"half a file")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert budget.counter("qwen3-8b") is budget.estimate
    assert path.exists()


@given(st.lists(st.integers(1, 50)), st.integers(0, 200))
def test_fitting_never_exceeds_the_budget_and_keeps_the_order(sizes: list[int], room: int) -> None:
    items = list(enumerate(sizes))
    chosen = budget.fitting(items, lambda item: item[1], room)
    assert sum(size for _, size in chosen) <= room
    assert [place for place, _ in chosen] == sorted(place for place, _ in chosen)
    if items and items[0][1] <= room:
        assert chosen[0] == items[0]


def test_cut_to_keeps_whole_lines() -> None:
    text = "\n".join(f"- line {i} of the answer with some words" for i in range(40))
    cut = budget.cut_to(text, 60, budget.estimate)
    assert budget.estimate(cut) <= 60
    assert set(cut.split("\n")) <= set(text.split("\n"))
