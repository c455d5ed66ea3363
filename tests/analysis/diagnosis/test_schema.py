"""Rule and role files: what breaks their form is named with file, rule and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant import resources
from assistant.analysis.diagnosis import load_rules, rules
from assistant.analysis.diagnosis.roles import role, roles
from assistant.analysis.diagnosis.single import single_rules
from assistant.model import KnowledgeError, Run
from assistant.write.phrases import phrases

from ..support import run_of

GOOD = """\
- rule: short
  mode: FM-08
  card: failure/length-collapse
  onset: {of: response_length_mean, how: change, to: down}
  signs:
    length: {of: response_length_mean, stat: ratio, below: 0.3, noise: 4}
    score: {of: score_mean, stat: shift, below: 0}
  warning: {need: [length]}
  critical: {need: [length, score]}
"""


OTHER = "{of: score_mean, stat: shift, above: 0, then: hush}"


def load(tmp_path: Path, text: str) -> None:
    (tmp_path / "made.yaml").write_text(text, encoding="utf-8")
    load_rules.__wrapped__(tmp_path)


def test_load_rules_good_file_is_read(tmp_path: Path) -> None:
    load(tmp_path, GOOD)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("stat: ratio", "stat: raito", r"short\.signs\.length: no statistic raito"),
        ("of: score_mean", "of: scoer", r"short\.signs\.score\.of: no role scoer"),
        ("need: [length]}", "need: [lenght]}", r"short\.warning: no sign lenght"),
        ("below: 0.3", "bellow: 0.3", r"short\.signs\.length: unknown key bellow"),
        ("below: 0.3", "below: low", r"short\.signs\.length\.below: 'low' is no number"),
        (", below: 0}", "}", r"short\.signs\.score: needs above or below"),
        ("how: change", "how: sometimes", r"short\.onset: how must be one of"),
        ("how: change", "how: first", r"short\.onset: first needs above or below"),
        ("need: [length, score]", "need: [length]", r"short\.critical: needs at least two signs"),
        ("  mode: FM-08\n", "", r"short: needs mode"),
        ("  warning:", "  unless: [nobody]\n  warning:", r"short\.unless: no rule nobody"),
        ("  warning:", f"  lookalikes: {{a: {OTHER}}}\n  warning:", r"lookalikes\.a\.then"),
        ("- rule: short", "rule: short", r"made\.yaml"),
    ],
)
def test_load_rules_broken_file_names_the_place(tmp_path: Path, old: str, new: str, what: str) -> None:
    assert old in GOOD
    with pytest.raises(KnowledgeError, match=what) as raised:
        load(tmp_path, GOOD.replace(old, new, 1))
    assert "made.yaml" in str(raised.value) or "short" in str(raised.value)


def test_load_rules_same_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="short: stands twice"):
        load(tmp_path, GOOD + GOOD)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("entropy: {verl: [{keys: a}]}", r"entropy\.verl"),
        ("entropy: {verl: a}", "list"),
        ("entropy: [a]", "mapping"),
        ("entropy: {verl: [{key: a, times: 2}]}", "times"),
    ],
)
def test_roles_broken_file_names_the_place(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "roles.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=what):
        roles.__wrapped__(tmp_path)


# -- the shipped files ---------------------------------------------------------------------------------------


def test_rules_every_rule_has_its_sentence_and_its_card() -> None:
    cards = {f"failure/{path.stem}" for path in (resources.data_folder("knowledge") / "failures").glob("*.md")}
    for rule in (*rules(), *single_rules()):
        assert f"finding.{rule.rule}" in phrases(), rule.rule
        assert rule.card in cards, rule.rule


def test_rules_every_look_alike_has_its_words() -> None:
    for rule in rules():
        for name in rule.lookalikes:
            assert f"lookalike.{name}" in phrases(), (rule.rule, name)


def read(values: dict[str, list[float]], name: str, framework: str | None) -> tuple[str, list[float]] | None:
    steps = range(1, len(next(iter(values.values()))) + 1)
    run: Run = run_of({s: {k: v[s - 1] for k, v in values.items()} for s in steps}, framework=framework)
    found = role(run, name)
    return None if found is None else (found.name, found.values.tolist())


def test_role_same_meaning_in_each_framework() -> None:
    for framework, key in (("verl", "actor/entropy"), ("TRL", "entropy"), ("ROLL", "critic/entropy/mean")):
        assert read({key: [0.5, 0.4]}, "policy_entropy", framework) == (key, [0.5, 0.4])


def test_role_sign_and_scale_are_put_right() -> None:
    found = read({"ppo_actor/update/approx_kl/avg": [-0.01, -0.02]}, "old_kl", "AReaL")
    assert found is not None
    assert found[1] == [0.01, 0.02]
    found = read({"group/mixed_groups_ratio": [0.75, 0.25]}, "zero_std_share", "ROLL")
    assert found is not None
    assert found[1] == [0.25, 0.75]


def test_role_count_becomes_a_share() -> None:
    values = {"token/total_response_length/clip": [4.0, 8.0], "system/batch_size": [64.0, 64.0]}
    found = read(values, "truncated_share", "ROLL")
    assert found is not None
    assert found[1] == [0.0625, 0.125]


def test_role_key_of_another_framework_is_not_taken() -> None:
    assert read({"reward": [0.1, 0.2]}, "score_mean", None) is None
    assert read({"kl": [0.1, 0.2]}, "ref_kl", "verl") is None
    assert read({"kl": [0.1, 0.2]}, "ref_kl", "TRL") is not None


def test_role_of_several_datasets_is_that_with_the_most_points() -> None:
    table = {1: {"val-core/a/acc/mean@4": 0.1}, 2: {"val-core/b/acc/mean@4": 0.2}, 3: {"val-core/b/acc/mean@4": 0.3}}
    found = role(run_of(table), "val_accuracy")
    assert found is not None
    assert found.metrics == ("val-core/b/acc/mean@4",)
