"""Misspelt words are mended by their neighbours; what is right, or like nothing, is left alone."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.knowledge import library
from assistant.knowledge.resolver import Resolver
from assistant.knowledge.typos import Speller
from assistant.knowledge.wordmend import WordMender

TEXTS = [
    ("learning rate of the actor", 9),
    ("gradient norm before clipping", 9),
    ("policy ratio and importance weight", 9),
    ("group relative policy optimization grpo", 9),
    ("dr grpo drops the length", 9),
    ("a race of the raters", 1),
    ("the order of a number", 3),
]


@pytest.fixture(scope="module")
def mender() -> WordMender:
    return WordMender(TEXTS, known=["paris", "police"])


@pytest.fixture(scope="module")
def speller() -> Speller:
    cards = library()
    return Speller(cards, Resolver(cards), lambda term: 1.0)


@pytest.mark.parametrize(
    ("before", "typed", "after", "right"),
    [
        ("", "gradeint", "", "gradient"),
        ("", "cliping", "", "clipping"),
        ("learning", "rae", "", "rate"),
        ("dr", "grop", "", "grpo"),
        ("", "grop", "relative", "group"),
        ("", "imporatnec", "weight", "importance"),
        ("", "cilppnig", "", "clipping"),
        ("", "ploiyc", "", "policy"),
        ("", "polic", "", "policy"),
        ("", "numbe", "", "number"),  # no form of a word "numb"
        ("importance", "wieiht", "", "weight"),
        ("gradient", "nomr", "", "norm"),
    ],
)
def test_mend_misspelt_word_gives_the_one_that_fits_its_neighbours(
    mender: WordMender, before: str, typed: str, after: str, right: str
) -> None:
    assert mender.mend(typed, before, after) == right


@pytest.mark.parametrize("typed", ["rate", "paris", "ratios", "of", "zebra", "rae"])
def test_mend_right_or_unlike_or_short_word_is_left(mender: WordMender, typed: str) -> None:
    assert mender.mend(typed) is None


@pytest.mark.parametrize(
    ("typed", "apart"),
    [("gentime", "gen time"), ("ratiomean", "ratio mean"), ("meantimes", None), ("gradient", None), ("genit", None)],
)
def test_apart_two_words_of_names_written_as_one_are_two(typed: str, apart: str | None) -> None:
    mender = WordMender(TEXTS, known=["paris"], of_names=["gen", "time", "mean", "ratio", "it"])
    assert mender.apart(typed) == apart


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=14))
def test_mend_any_word_gives_a_word_of_the_texts(word: str) -> None:
    mender = WordMender(TEXTS)
    right = mender.mend(word)
    assert right is None or (right in mender.counts and right != word)


def test_mend_swapped_letters_in_titles_gives_the_title(speller: Speller) -> None:
    rng = random.Random(2)
    titles = sorted({card.title("en").lower() for card in library() if card.framework in {"concept", "verl"}})
    right = total = 0
    for title in rng.sample(titles, 120):
        words = [word for word in title.split() if word.isalpha() and len(word) > 5]
        if not words:
            continue
        word = rng.choice(words)
        at = rng.randrange(1, len(word) - 1)
        typed = title.replace(word, word[:at] + word[at + 1] + word[at] + word[at + 2 :], 1)
        if typed == title:
            continue
        total += 1
        right += speller.mend(typed)[0] == title
    assert total > 80
    assert right / total > 0.8


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("train.gen_kl_error", "train/gen_kl_error"),
        ("critic/reward-clip-frac", "critic/reward_clip_frac"),
        ("fully-async/rollouter/idle-ratio", "fully_async/rollouter/idle_ratio"),
        ("seq-load-balancing-loss", "seq_load_balancing_loss"),
    ],
)
def test_mend_key_with_other_joints_gives_the_key(speller: Speller, typed: str, right: str) -> None:
    assert speller.mend(typed)[0] == right


@pytest.mark.parametrize(
    "text",
    [
        "pass@16",
        "off-policy data",
        "mean_log_prob_ref",
        "log_prob_ref",
        "weather in paris",
        "how tall is it",
        "gen secs",
    ],
)
def test_mend_what_is_right_is_left(speller: Speller, text: str) -> None:
    assert speller.mend(text) == (text, {})


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("wating for data", "waiting for data"),
        ("critic (valie) loss", "critic (value) loss"),
        ("total ste time", "total step time"),
        ("kll loss", "kl loss"),
        ("rolloutkl", "rollout kl"),
        ("train_bstch_size", "train_batch_size"),
        ("why is grad_nuom so high", "why is grad_norm so high"),
    ],
)
def test_mend_slip_in_a_short_question_is_put_right(speller: Speller, typed: str, right: str) -> None:
    assert speller.mend(typed)[0] == right


@pytest.mark.parametrize(
    "key",
    ["actor/karma_norm", "prompt_beauty/mean", "response_length/zen", "rollout/sarcasm_rate", "perf/coffee_per_step"],
)
def test_mend_key_with_a_word_of_its_own_is_no_misspelling(speller: Speller, key: str) -> None:
    assert speller.mend(key) == (key, {})


@pytest.mark.parametrize("parts", [9, 60, 2000])
def test_listed_ends_of_a_key_of_many_parts_is_found_at_once(speller: Speller, parts: int) -> None:
    """The time is no power of the number of parts."""
    assert speller.listed_ends("val-core/" * parts + "joy") == []
    assert [card.id for card in speller.listed_ends("val-core/x/acc/maj@8/mean")] == ["verl/val/maj@n/mean"]
