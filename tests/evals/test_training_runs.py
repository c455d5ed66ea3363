"""The list of training runs, their labels, and how exactly the packed ones are read; nothing is trained here."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.parsing import parse_bytes
from evals.training import pack, rewards, score, tables, tiny
from evals.training.__main__ import main
from evals.training.cells import compare
from evals.training.label import CHECKS, ends, label
from evals.training.meanings import LABELS, NEUTRAL
from evals.training.runs import BadList, Fault, Spec, read_list

SPECS = read_list()


# --- the list ---------------------------------------------------------------------------------------------


def test_read_list_holds_back_one_of_each_pair() -> None:
    counts = {trainer: sum(spec.trainer == trainer for spec in SPECS) for trainer in ("GRPO", "DPO", "SFT", "SB3")}
    assert counts["GRPO"] >= 26
    assert min(counts.values()) >= 6
    assert [spec.held for spec in SPECS] == [False, True] * (len(SPECS) // 2)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_read_list_names_what_there_is(spec: Spec) -> None:
    assert spec.expect == "healthy" or spec.expect in LABELS
    assert set(spec.rewards) <= set(rewards.REWARDS)
    assert bool(spec.rewards) == (spec.trainer == "GRPO")
    assert spec.trainer == "SB3" or spec.task in (*tiny.TASKS, "mixed")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{name: a, trainer: PPO2, expect: healthy, held: false}", "01-a: trainer: 'PPO2'"),
        ("{name: a, trainer: SFT, expect: healthy, held: true}", "01-a: held"),
        ("{name: a, trainer: SFT, held: false}", "01-a: .*expect"),
        ("{name: a, trainer: SFT, expect: healthy, held: false, sedd: 1}", "01-a: .*sedd"),
        ("{name: a, trainer: SFT, expect: healthy, held: false, faults: [{when: 3}]}", "01-a: .*when"),
    ],
)
def test_read_list_wrong_entry_names_run_and_key(tmp_path: Path, entry: str, message: str) -> None:
    path = tmp_path / "runs.yaml"
    path.write_text(f"defaults: {{}}\nruns:\n  - {entry}\n")
    with pytest.raises(BadList, match=message):
        read_list(path)


# --- tasks and rewards ------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", sorted(tiny.TASKS))
def test_examples_fit_the_model_and_their_answers_are_right(task: str) -> None:
    pairs = tiny.examples(task, 64, seed=5)
    assert pairs == tiny.examples(task, 64, seed=5)
    words = [(pair["prompt"].split(), pair["answer"].split()) for pair in pairs]
    assert all(set(prompt) | set(answer) <= set(tiny.WORDS) for prompt, answer in words)
    assert all(len(answer) < rewards.LONGEST for _, answer in words)
    if task != "write":  # which has no right answer
        found = rewards.accuracy_reward([pair["answer"] for pair in pairs], [pair["answer"] for pair in pairs])
        assert found == [1.0] * 64


@given(st.sampled_from(sorted(tiny.TASKS)), st.integers(0, 10_000))
def test_spoil_is_never_the_answer(task: str, seed: int) -> None:
    answer = tiny.examples(task, 1, seed)[0]["answer"]
    wrong = tiny.spoil(answer, random.Random(seed))
    assert rewards.accuracy_reward([wrong], [answer]) == [0.0] or wrong == ""


@pytest.mark.parametrize(
    ("kind", "size", "expected"), [("constant", 0.5, 0.5), ("scale", 10, 10.0), ("none", 0, None), ("stall", 0, 1.0)]
)
def test_broken_reward_is_sound_before_its_step(kind: str, size: float, expected: float | None) -> None:
    reward = rewards.broken(rewards.accuracy_reward, kind, at=3, size=size)
    assert reward.__name__ == "accuracy_reward"

    def at(step: int) -> list[float | None]:
        return reward(completions=["1 2"], answer=["1 2"], trainer_state=SimpleNamespace(global_step=step - 1))

    assert at(2) == [1.0]
    assert at(3) == [expected]


def test_broken_reward_of_unknown_kind_raises() -> None:
    with pytest.raises(ValueError, match="no reward fault 'lost'"):
        rewards.broken(rewards.accuracy_reward, "lost", 1, 0)


# --- labels -----------------------------------------------------------------------------------------------


def grpo(steps: int = 60, **series: Any) -> list[dict[str, Any]]:
    """Records of a run that learns a little; a series is a constant or a function of the step's share of the run."""
    dice = random.Random(0)
    usual: dict[str, Any] = {
        "loss": 0.01,
        "grad_norm": 1.2,
        "learning_rate": 1e-3,
        "entropy": lambda x: 1.4 - 0.5 * x,
        "reward": lambda x: 0.3 + 0.2 * x + dice.uniform(-0.05, 0.05),
        "reward_std": 0.4,
        "frac_reward_zero_std": 0.1,
        "completions/mean_length": lambda _: 5 + dice.uniform(-0.5, 0.5),
        "completions/clipped_ratio": 0.01,
        "step_time": 0.1,
        "kl": 0.05,
    }
    rows: list[dict[str, Any]] = []
    for step in range(1, steps + 1):
        row = {key: made(step / steps) if callable(made) else made for key, made in (usual | series).items()}
        rows.append({**row, "step": step})
    return [*rows, {"train_runtime": 4.0, "train_loss": 0.01, "step": steps}]


def late(before: Any, after: Any, share: float = 0.5) -> Any:
    return lambda x: after if x > share else before


SHOWN = {
    "not_finite": {"grad_norm": late(1.0, math.nan)},
    "no_update": {"learning_rate": 0.0},
    "reward_constant": {"reward": 0.5, "reward_std": 0.0},
    "reward_missing": {"reward": late(0.3, None), "reward_std": late(0.3, None)},
    "zero_signal": {"frac_reward_zero_std": 0.9},
    "kl_blowup": {"kl": lambda x: 5 * x},
    "entropy_collapse": {"entropy": lambda x: 1.4 * math.exp(-4 * x)},
    "entropy_explosion": {"entropy": lambda x: 1.4 + 2 * x},
    "length_growth": {"completions/mean_length": lambda x: 5 + 15 * x},
    "length_collapse": {"completions/mean_length": lambda x: 10 - 8 * x},
    "truncated": {"completions/clipped_ratio": 0.5},
    "slow_down": {"step_time": late(0.1, 0.4)},
}


def test_label_healthy_run_has_none() -> None:
    assert label(grpo()) == {}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_label_statistic_that_shows_gives_its_label(name: str) -> None:
    assert name in label(grpo(**SHOWN[name]))


def test_label_jump_and_fall_of_the_reward() -> None:
    dice = random.Random(1)
    found = label(grpo(reward=lambda x: (0.05 if x > 0.5 else 0.6) + dice.uniform(-0.02, 0.02)))
    assert set(found) == {"reward_jump", "collapse"}
    assert "step 31" in found["reward_jump"]


def test_label_solved_task_explains_groups_without_spread() -> None:
    solved = {"reward": lambda x: min(1.0, 0.5 + x), "frac_reward_zero_std": 0.9, "entropy": lambda x: 1 - 0.99 * x}
    assert set(label(grpo(**solved))) == {"solved"}
    assert "zero_signal" in label(grpo(**solved | {"completions/clipped_ratio": 0.9}))


def test_label_repeated_step_and_missing_end() -> None:
    rows = grpo()[:-1]
    assert set(label(rows)) == {"interrupted"}
    assert set(label([*rows[:40], *rows[30:]])) == {"interrupted", "resumed"}


def test_label_later_passes_over_a_batch_are_no_missing_rewards() -> None:
    rows = [row if row["step"] % 2 else {k: v for k, v in row.items() if not k.startswith("reward")} for row in grpo()]
    assert "reward_missing" not in label(rows)


def test_every_label_has_a_statistic_and_a_meaning() -> None:
    assert list(CHECKS) == list(LABELS)
    assert all(not LABELS[name].modes for name in NEUTRAL)


@given(st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=60))
def test_ends_of_a_short_series_are_unknown(values: list[float]) -> None:
    head, tail = ends(values)
    assert math.isnan(head) == (len(values) < 12) == math.isnan(tail)
    if not math.isnan(head):
        assert min(values) - 1e-6 <= head <= max(values) + 1e-6


# --- the packed runs --------------------------------------------------------------------------------------

PACKED = {material.spec.name: material for material in score.read_packed()}


def test_packed_runs_are_those_of_the_list() -> None:
    assert set(PACKED) == {spec.name for spec in SPECS if spec.packed}
    assert score.PACKED.stat().st_size <= pack.LARGEST


@pytest.mark.parametrize("name", sorted(PACKED))
def test_parse_packed_run_reads_every_cell_and_no_other(name: str) -> None:
    for match in score.judge(PACKED[name]).matches.values():
        assert (match.missing, match.phantom) == ((), ())
        assert match.agreeing == match.expected > 20


def test_compare_changed_cell_is_missing_and_phantom() -> None:
    material = next(iter(PACKED.values()))
    text = f"{material.spec.name}.log"
    runs = parse_bytes(material.texts[text], name=text).runs
    key = runs[0].metrics[0]
    column = runs[0].columns[key]
    changed = replace(column, values=(12345.0, *column.values[1:]))
    match = compare(
        material.rows, [replace(runs[0], columns={**runs[0].columns, key: changed})], style="transformers 5"
    )
    assert [one[1] for one in (*match.missing, *match.phantom)] == [key, key]


def test_judge_packed_runs_gives_every_table() -> None:
    outcomes = [score.judge(material) for material in PACKED.values()]
    page = tables.page(outcomes)
    assert all(one.name in page for one in outcomes)
    assert any(one.healthy for one in outcomes)
    assert any(one.troubled for one in outcomes)
    assert not [one.name for one in outcomes if one.healthy and any(r.severity == "critical" for r in one.false)]


def test_pack_writes_what_is_marked_and_the_same_bytes_again(tmp_path: Path, monkeypatch: Any) -> None:
    spec = Spec("01-a", "SFT", "healthy", held=False, packed=True)
    monkeypatch.setattr(pack, "read_list", lambda: [spec])
    for name in ("01-a.log", "01-a.history.jsonl", "01-a.trainer_state.json"):
        (tmp_path / name).write_text("{}\n")
    pack.pack(tmp_path, target=tmp_path / "one.tar.xz")
    pack.pack(tmp_path, target=tmp_path / "two.tar.xz")
    assert (tmp_path / "one.tar.xz").read_bytes() == (tmp_path / "two.tar.xz").read_bytes()
    monkeypatch.setattr(pack, "LARGEST", 10)
    with pytest.raises(pack.TooLarge, match="mark fewer"):
        pack.pack(tmp_path, target=tmp_path / "three.tar.xz")
    assert not (tmp_path / "three.tar.xz").exists()


# --- the command ------------------------------------------------------------------------------------------


def test_main_without_command_says_how(capsys: Any) -> None:
    assert main([]) == 0
    assert "pip install torch==2.13.0" in capsys.readouterr().out


def test_main_train_without_torch_says_how(capsys: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["train", str(tmp_path)]) == 2
    assert "torch, trl, stable_baselines3 cannot be imported" in capsys.readouterr().err


def test_main_score_writes_the_tables_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Head\n{tables.BEGIN}\nold\n{tables.END}\nTail\n")
    assert main(["score", "--write", str(page)]) == 0
    text = page.read_text()
    assert "old" not in text
    assert text.startswith("# Head\n")
    assert text.endswith("Tail\n")
    assert "troubled runs found" in text
    with pytest.raises(ValueError, match="the page has no"):
        tables.into("no marks", "x")


def test_main_score_empty_folder_says_so(capsys: Any, tmp_path: Path) -> None:
    assert main(["score", str(tmp_path)]) == 2
    assert "no run of runs.yaml" in capsys.readouterr().err


def test_fault_defaults_to_the_first_step() -> None:
    assert Fault("nan") == Fault("nan", 1, 0.0)
