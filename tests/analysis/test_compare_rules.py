"""What a comparison looks at, as the shipped rules say, and errors in them."""

from pathlib import Path

import pytest

from assistant.analysis import compare_rules
from assistant.analysis.compare_rules import read_rules, rules
from assistant.model import KnowledgeError

TEXT = Path(compare_rules.__file__).with_name("compare_rules.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("metric", "category", "group"),
    [
        ("val-core/aime_2025/acc/mean@30", None, "validation"),
        ("val-aux/num_turns/mean", "length", "validation"),
        ("eval/aime24", None, "validation"),
        ("eval_loss", None, "validation"),
        ("val/loss", None, "validation"),
        ("critic/rewards/mean", None, "reward"),
        ("rewards/format_reward", None, "reward"),
        ("actor/entropy", "policy", "stability"),
        ("loss", None, "stability"),
        ("timing_s/step", None, "speed"),
        ("perf/throughput", "throughput", "speed"),
        ("anything", None, "stability"),
    ],
)
def test_rules_class_of_a_metric(metric, category, group):
    assert rules().class_of(metric, category) == group


def test_rules_select_leaves_out_what_another_row_says():
    kept = rules().select(
        [
            "critic/score/mean", "critic/rewards/mean", "critic/score/max", "val-core/x/acc/mean@8",
            "val-aux/x/reward/mean@8", "val-aux/y/reward/mean@8", "val-core/x/acc/best@8/mean", "training/epoch",
            "actor/lr", "actor/entropy", "timing_s/step", "timing_s/reward", "learning_rate",
        ]
    )  # fmt: skip
    assert kept == [
        "critic/score/mean", "val-core/x/acc/mean@8", "val-aux/y/reward/mean@8", "actor/entropy", "timing_s/step",
    ]  # fmt: skip


def test_rules_weights_share_the_whole_error():
    assert sum(rules().weight(name) for name in rules().classes) == pytest.approx(1)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("weight: 0.5", "weight: 0.6", "add up to one"),
        ("left_out:", "left:", "left"),
        ("'training/.*'", "'training/('", "regular expression"),
        ("  speed:", "  slow:", "validation, reward, stability, speed"),
        ("- ['critic/score/mean', 'critic/rewards/mean']", "- ['critic/score/mean']", "instead_of.0"),
    ],
)
def test_read_rules_with_a_mistake_names_the_key(old, new, said):
    assert old in TEXT
    with pytest.raises(KnowledgeError, match=r"compare_rules\.yaml") as error:
        read_rules(TEXT.replace(old, new), "compare_rules.yaml")
    assert said in str(error.value)


def test_rules_know_settings_times_and_what_is_negligible():
    found = rules()
    keys = ("actor/reward_kl_penalty_coeff", "actor/lr", "learning_rate", "actor/kl_loss")
    assert [found.setting(key) for key in keys] == ["kl", "rate", "rate", None]
    assert found.is_timed("timing_s/gen")
    assert found.is_timed("perf/throughput")
    assert not found.is_timed("actor/entropy")
    assert found.least("actor/pg_clipfrac_lower") > 0 == found.least("actor/entropy")
    assert found.contains_kl("critic/rewards/mean")
    assert not found.contains_kl("critic/score/mean")
    assert found.works(["response_length/mean", "perf/total_num_tokens"])[0] == "perf/total_num_tokens"
