"""Keys as people spell them: listed choices, families of keys, and misspelt templates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.knowledge import library
from assistant.knowledge.keyforms import TemplateMender, family, spelt_forms

TEMPLATES = [
    "val-core/{data_source}/{var}/maj@{n}/mean",
    "val-core/{data_source}/{var}/mean@{n}",
    "rollout/moe/avg_vio/layer_{i}",
    "rollout/moe/avg_vio/{max|avg}",
    "eval_{data_source}_pass{n}",
    "eval/{dataset}-truncated_ratio",
    "rewards/{reward_func}",
    "Timing/{phase}",
    "train/grad_norm",
]


@pytest.fixture(scope="module")
def mender() -> TemplateMender:
    """One of a few templates."""
    return TemplateMender(TEMPLATES)


def test_spelt_forms_listed_choices_gives_every_key() -> None:
    """A key whose fields list what they may be stands for that many keys."""
    assert spelt_forms("a/{max|avg}") == ["a/max", "a/avg"]
    assert spelt_forms("a (b{/gpu|})") == ["a (b/gpu)", "a (b)"]
    assert spelt_forms("a/b") == ["a/b"]
    assert spelt_forms("a/{phase}") == []


def test_family_field_in_last_part_only_gives_the_rest() -> None:
    """What stands before the last part is a family's name where only that part has fields."""
    assert family("rollout/moe/avg_vio/layer_{i}") == "rollout/moe/avg_vio"
    assert family("timing_s/{phase}") is None
    assert family("val-core/{data_source}/{var}/mean@{n}") is None
    assert family("train/grad_norm") is None


@pytest.mark.parametrize(
    ("typed", "right"),
    [
        ("val-coree/gsm8k/acc/maj@8/maen", "val-core/gsm8k/acc/maj@8/mean"),
        ("val-core/aime/acc/maen@16", "val-core/aime/acc/mean@16"),
        ("rollout/mo/avg_vio/layer_3", "rollout/moe/avg_vio/layer_3"),
        ("rollout/moe/avg_voi/layr_12", "rollout/moe/avg_vio/layer_12"),
        ("rollout/moe/avg_vio/agv", "rollout/moe/avg_vio/avg"),
        ("evall_gsm8k_pass8", "eval_gsm8k_pass8"),
        ("eval/math-truncatd_ratio", "eval/math-truncated_ratio"),
    ],
)
def test_template_mender_misspelt_fixed_parts_are_mended(mender: TemplateMender, typed: str, right: str) -> None:
    """What is fixed is put right, what fills a field stays."""
    assert mender.mend(typed) == right


@pytest.mark.parametrize(
    "typed",
    [
        "val-core/aime/acc/mean@16",  # right as it is
        "reward/politeness_bonus",  # nothing but a slip and what may be any text
        "rollout/hallucination_index",
        "rollout/moe/colour/layer_3",
        "train/grad_norm",
        "coffee/break/x/y",
    ],
)
def test_template_mender_right_or_unlike_keys_are_left(mender: TemplateMender, typed: str) -> None:
    """A key that is right is no misspelling, one that is like nothing neither."""
    assert mender.mend(typed) is None


@given(
    source=st.from_regex(r"[a-z][a-z0-9_]{1,8}", fullmatch=True),
    tries=st.integers(1, 256),
    at=st.integers(0, 7),
)
def test_template_mender_swapped_letters_are_swapped_back(source: str, tries: int, at: int) -> None:
    """Two neighbouring letters of the first part that changed places are put back, whatever fills the fields."""
    first = "val-core"
    swapped = first[:at] + first[at + 1 : at + 2] + first[at] + first[at + 2 :]
    key = f"{swapped}/{source}/acc/mean@{tries}"
    expected = None if swapped == first else f"{first}/{source}/acc/mean@{tries}"
    assert TemplateMender(TEMPLATES).mend(key) == expected


def test_template_mender_keys_of_the_cards_as_they_are_are_left() -> None:
    """No key that a card lists is taken for a misspelling of a template."""
    cards = library()
    mender = TemplateMender(key for card in cards for key in card.keys)
    spelt = {form.lower() for card in cards for key in card.keys if "{" in key for form in spelt_forms(key)}
    assert [key for key in spelt if mender.mend(key) not in {None, key} | spelt] == []
