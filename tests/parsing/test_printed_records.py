import json

import pytest

from assistant.parsing import parse_text

METRICS = {"reward": 0.55, "completions/mean_length": 236.7, "kl": 5.7e-06, "step_time": 11.45}
SHOWN = {
    "json over lines": json.dumps(METRICS, indent=2),
    "json on one line": json.dumps(METRICS),
    "assigned": "metrics = " + repr(METRICS).replace(", ", ",\n "),
    "brace on its own line": "{\n" + ",\n".join(f"  '{key}': {value}" for key, value in METRICS.items()) + "\n}",
    "quoted numbers": "{\n" + ",\n".join(f"  '{key}': '{value}'" for key, value in METRICS.items()) + ",\n}",
    "a notebook's output": "Out[3]: \n" + repr(METRICS).replace(", ", ",\n "),
    "wrapped values": "{" + ", ".join(f"'{key}': np.float64({value})" for key, value in METRICS.items()) + "}",
}


@pytest.mark.parametrize("text", SHOWN.values(), ids=SHOWN.keys())
def test_parse_text_one_record_without_a_step_is_read_whole(text: str) -> None:
    (run,) = parse_text(text + "\n").runs
    assert run.at(0).keys() == METRICS.keys()
    assert {key: cell.value for key, cell in run.at(0).items()} == METRICS
    assert run.step_axis == "index"


def test_parse_text_each_cell_of_a_record_over_lines_has_its_own_line() -> None:
    (run,) = parse_text(SHOWN["brace on its own line"]).runs
    assert [run.at(0)[key].line for key in METRICS] == [2, 3, 4, 5]


def test_parse_text_several_records_without_a_step_are_rows() -> None:
    text = "\n".join(SHOWN["brace on its own line"].replace("0.55", str(value)) for value in (0.1, 0.2, 0.3))
    (run,) = parse_text(text).runs
    assert run.series("reward")[1] == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    "text",
    [
        'config = {\n "learning_rate": 1e-6,\n "batch_size": 8,\n "reward_model": "x",\n "kl_coef": 0.1\n}',
        '{"reward": 1.0, "score": 0.5, "response": "hello"}',
        "{\n 'lr': 1e-6,\n 'kl_coef': 0.001,\n 'entropy_coeff': 0.0,\n 'use_kl_loss': True\n}",
        '{"latency": 0.2, "status": 200}',
        "args: {'loss': 0.5, 'reward': 1.0}",
        "{'val/.../acc': 0.5, 'val/.../reward': 0.25}",
    ],
)
def test_parse_text_settings_samples_and_replies_are_no_records(text: str) -> None:
    assert parse_text(text).runs == ()


@pytest.mark.parametrize(
    ("heading", "step"),
    [
        ("Latest checked step 18 completed without OOM:", 18),
        ("下面是第 100 步的指标：", 100),
        ("这是第 200 步的指标", 200),
        ("Metrics at iter 30:", 30),
        ("**Global step 7:**", 7),
    ],
)
def test_parse_text_heading_above_values_names_their_step(heading: str, step: int) -> None:
    (run,) = parse_text(f"{heading}\n\nactor/entropy: 0.3\ncritic/score/mean: 0.5\n").runs
    assert (run.step_axis, run.steps) == ("step", (step,))


@pytest.mark.parametrize(
    "heading",
    ["We train 500 steps, eval every step 10:", "From step 3 to step 9:", "step 18/200 done so far", "第 3 步以前："],
)
def test_parse_text_other_steps_above_values_name_none(heading: str) -> None:
    (run,) = parse_text(f"{heading}\n\nactor/entropy: 0.3\ncritic/score/mean: 0.5\n").runs
    assert run.step_axis == "index"
