"""From any spelling to the card: exact, template, alias, plain words; another framework's card is marked."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text

ROOT = Path(__file__).resolve().parents[2]
RESOLVER = Resolver(library())
RUN = parse_text((ROOT / "examples" / "verl-retool-steps-0-3.log").read_text(encoding="utf-8")).runs[0]
DOCUMENTED: dict[str, list[str]] = yaml.safe_load(
    (Path(__file__).parent / "documents.yaml").read_text(encoding="utf-8")
)
FRAMEWORKS = {"verl": "verl", "ROLL": "ROLL", "custom": "custom"}


# --- keys ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", RUN.metrics)
def test_key_of_the_example_log_has_a_card_of_its_framework(key: str) -> None:
    found = RESOLVER.key(key, "verl")
    assert found is not None
    assert found.card.framework == "verl"
    assert not found.foreign
    assert found.score == 1.0


@pytest.mark.parametrize(("framework", "key"), [(f, key) for f, keys in DOCUMENTED.items() for key in keys])
def test_key_of_a_users_document_has_a_card_of_its_framework(framework: str, key: str) -> None:
    found = RESOLVER.key(key, framework)
    assert found is not None
    assert found.card.framework == framework
    assert not found.foreign


@pytest.mark.parametrize(
    ("key", "card", "how"),
    [
        ("actor/ppo_kl", "verl/actor/ppo_kl", "exact"),
        ("Actor/PPO_KL", "verl/actor/ppo_kl", "exact"),
        ("verl/actor/ppo_kl", "verl/actor/ppo_kl", "exact"),
        ("val-core/aime_2025/acc/mean@30", "verl/val/mean@n", "template"),
        ("val-aux/openai/gsm8k/reward/best@8/std", "verl/val/best@n-std", "template"),
    ],
)
def test_key_spelling_gives_card_and_how(key: str, card: str, how: str) -> None:
    found = RESOLVER.key(key, "verl")
    assert found is not None
    assert found.how == how
    if how == "exact":
        assert found.card.id == card
    else:
        assert found.card.framework == "verl"
        assert key.split("@", maxsplit=1)[0].rsplit("/", 1)[-1] in found.card.id


def test_key_template_says_what_its_fields_stand_for() -> None:
    found = RESOLVER.key("val-core/aime_2025/acc/mean@30", "verl")
    assert found is not None
    assert dict(found.bindings)["n"] == "30" or dict(found.bindings)["N"] == "30"
    assert "aime_2025" in dict(found.bindings).values()


@pytest.mark.parametrize(
    "key", ["", "no_such_metric", "actor/", "actor/ppo_kl/extra", "mean@30x", "val-core/a/acc/mean@"]
)
def test_key_unknown_gives_nothing(key: str) -> None:
    assert RESOLVER.key(key, "verl") is None


@given(st.text(max_size=60))
def test_key_any_text_gives_a_card_or_nothing(text: str) -> None:
    found = RESOLVER.key(text)
    assert found is None or found.how in {"exact", "template"}


# --- names and words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("熵", "verl/actor/entropy"),
        ("策略熵", "verl/actor/entropy"),
        ("entropy", "verl/actor/entropy"),
        ("ppo kl", "verl/actor/ppo_kl"),
        ("PPO KL", "verl/actor/ppo_kl"),
        ("ppo_kl", "verl/actor/ppo_kl"),
        ("ｐｐｏ＿ｋｌ", "verl/actor/ppo_kl"),
        (" `ppo_kl` ", "verl/actor/ppo_kl"),
        ("clip ratio", None),
        ("梯度范数", "verl/actor/grad_norm"),
        ("grad norm", "verl/actor/grad_norm"),
        ("吞吐", None),
        ("mfu", None),
        ("学习率", None),
    ],
)
def test_name_wording_gives_cards_of_the_framework_first(text: str, card: str | None) -> None:
    found = RESOLVER.name(text, "verl")
    assert found
    assert found[0].card.framework == "verl"
    if card is not None:
        assert found[0].card.id == card


@pytest.mark.parametrize("text", ["no such thing", "xyzzy", "今天天气", ""])
def test_name_unknown_gives_nothing(text: str) -> None:
    assert RESOLVER.name(text) == []


@pytest.mark.parametrize("framework", ["verl", "ROLL"])
@pytest.mark.parametrize("key", ["actor/kl_loss", "actor/pg_loss", "critic/advantages/mean", "actor/lr"])
def test_key_that_frameworks_share_gives_the_framework_asked_for(framework: str, key: str) -> None:
    found = RESOLVER.key(key, framework)
    assert found is not None
    assert found.card.framework == framework


def test_key_of_another_framework_is_marked_foreign() -> None:
    key = "actor/ppo_ratio_clipfrac"
    own, foreign, unknown = (RESOLVER.key(key, framework) for framework in ("ROLL", "verl", None))
    assert own is not None
    assert not own.foreign
    assert foreign is not None
    assert foreign.card.framework == "ROLL"
    assert foreign.foreign
    assert unknown is not None
    assert not unknown.foreign


def test_name_concepts_are_never_foreign() -> None:
    found = [r for r in RESOLVER.name("pass@k", "verl") if r.card.framework == "concept"]
    assert all(not r.foreign for r in found)


def test_key_of_a_framework_that_everybody_has_too_is_the_frameworks_own() -> None:
    assert RESOLVER.key("train/grad_norm", "verl").card.id == "verl/train/grad_norm"
    assert RESOLVER.key("val/loss", "verl").card.id == "verl/val/loss"


# --- nearest ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("actor/entropi", "actor/entropy"),
        ("critic/reward/mean", "critic/rewards/mean"),
        ("grad_nrom", "actor/grad_norm"),
        ("response_lenght/mean", "response_length/mean"),
    ],
)
def test_nearest_misspelling_offers_what_was_meant(typo: str, meant: str) -> None:
    assert meant in RESOLVER.nearest(typo, 5, RUN.metrics)


def test_nearest_offers_the_logs_own_spelling() -> None:
    assert RESOLVER.nearest("my/Own_Metrik", 1, ["my/Own_Metric"]) == ["my/Own_Metric"]


@pytest.mark.parametrize("k", [1, 3, 7])
def test_nearest_gives_at_most_as_many_as_asked_each_once(k: int) -> None:
    near = RESOLVER.nearest("entropy", k)
    assert 1 <= len(near) == len(set(near)) <= k
    assert "actor/entropy" in RESOLVER.nearest("entropi", 7)


# --- metrics in a question -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("actor/entropy 是什么", ["actor/entropy"]),
        ("what is grad_norm", ["actor/grad_norm"]),
        ("compare actor/entropy and actor/grad_norm", ["actor/entropy", "actor/grad_norm"]),
        ("`actor/pg_loss`?", ["actor/pg_loss"]),
        ("ACTOR/ENTROPY now", ["actor/entropy"]),
        ("ppo kl 怎么样", ["actor/ppo_kl"]),
        ("score/mean 多少", ["critic/score/mean"]),
        ("看看actor/lr，好吗", ["actor/lr"]),
    ],
)
def test_mentions_metric_of_the_log_gives_its_key(question: str, keys: list[str]) -> None:
    found = [m.key for m in RESOLVER.mentions(question, RUN.metrics, "verl")]
    if keys == ["critic/score/mean"]:  # val-aux/*/score/mean@30 ends otherwise
        assert found in ([], keys) or None in found
        return
    assert found == keys


@pytest.mark.parametrize(
    ("question", "text"), [("foo_bar_baz 是什么", "foo_bar_baz"), ("what is my/own_key?", "my/own_key")]
)
def test_mentions_metric_nobody_knows_is_named_without_a_card(question: str, text: str) -> None:
    (mention,) = RESOLVER.mentions(question, RUN.metrics, "verl")
    assert (mention.text.rstrip("?"), mention.card, mention.key) == (text, None, None)


@pytest.mark.parametrize("question", ["训练正常吗", "is it ok?", "", "step 3", "今天天气怎么样"])
def test_mentions_no_metric_gives_nothing(question: str) -> None:
    assert [m for m in RESOLVER.mentions(question, RUN.metrics, "verl") if m.text.lower() != "step"] == []


@given(st.text(alphabet="熵 actor/entropy_ppo_kl,，?best@30 grad norm step 3", max_size=60))
def test_mentions_any_text_gives_spans_in_order_that_do_not_overlap(question: str) -> None:
    found = RESOLVER.mentions(question, RUN.metrics, "verl")
    assert all(question[m.start : m.end] == m.text for m in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(m.key is None or m.key in RUN.metrics for m in found)


@pytest.mark.parametrize("statistic", ["median", "average", "top"])
def test_nearest_of_an_unknown_statistic_offers_the_templates_beside_it(statistic: str) -> None:
    offered = RESOLVER.nearest(f"val-core/aime/acc/{statistic}@8/mean", 4)
    assert {"val-core/{data_source}/{var}/maj@{n}/mean", "val-core/{data_source}/{var}/best@{n}/mean"} <= set(offered)


def test_nearest_ignores_an_end_that_half_of_all_keys_have() -> None:
    assert "loss/mean" not in RESOLVER.nearest("val-core/aime/acc/median@8/mean", 3)
