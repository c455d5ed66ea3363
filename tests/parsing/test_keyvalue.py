import pytest

from assistant.parsing import parse_text


def test_parse_text_markdown_list_gives_one_row_at_its_global_step() -> None:
    text = (
        "指标说明：\n\n## **Actor**\n\n- **actor/entropy: 0.17** - 策略熵，0.5 以下偏低\n"
        "- **actor/lr: 1e-06** - 学习率\n"
        "\n## 进度\n- **training/global_step: 4** - 第 4 步\n"
        "- **perf/total_num_tokens: 13,202,040** - 总数\n\n要优化吗？\n"
    )
    parsed = parse_text(text)
    (run,) = parsed.runs
    assert (run.format, run.framework, run.step_axis, run.steps) == (
        "markdown-list",
        "verl",
        "training/global_step",
        (4,),
    )
    assert {key: cell.value for key, cell in run.at(4).items()} == {
        "actor/entropy": 0.17,
        "actor/lr": 1e-06,
        "training/global_step": 4,
        "perf/total_num_tokens": 13202040,
    }
    assert run.cell("actor/lr", 4).line == 6
    assert parsed.prose[-1].text == "要优化吗？"
    assert parsed.prose[-1].position == "after"


def test_parse_text_sections_and_example_block_are_two_events() -> None:
    text = (
        "### 1. **loss** (总损失)\n- **正常范围**: 通常在 `[-10, 10]` 之间\n"
        "- **当前值**: `1715.50` ❌ **异常！**\n\n"
        "### 2. **mean_ratio** (比率)\n- **公式**: `ratio = exp(a - b)`\n- **Current value**: `4851.0000`\n\n"
        "1. **mean_ratio: 4851**\n   - 差值达到 -94037\n\n## 示例\n\n"
        "```\nloss: 0.1234\nmean_ratio: 1.0234\n```\n"
        "```bash\n--learning_rate 1e-6\nkl_loss=3.0\n```\n"
    )
    (run,) = parse_text(text).runs
    assert run.step_axis == "index"
    assert [(step, line, values) for step, line, values in run.rows()] == [
        (0, 3, {"loss": 1715.5, "mean_ratio": 4851.0}),
        (1, 15, {"loss": 0.1234, "mean_ratio": 1.0234}),
    ]


def test_parse_text_pairs_with_steps_give_one_row_a_step() -> None:
    (run,) = parse_text("step: 10, loss: 0.5, kl: 0.1\nstep: 20, loss: 0.4, kl: nan\n").runs
    assert (run.steps, run.step_axis) == ((10, 20), "step")
    assert run.metrics == ("loss", "kl")


def test_parse_text_verl_line_without_its_head_is_one_event() -> None:
    (run,) = parse_text("actor/pg_loss:np.float64(0.5) - training/global_step:7 - actor/kl:1e-05").runs
    assert [(step, values) for step, _, values in run.rows()] == [
        (7, {"actor/pg_loss": 0.5, "training/global_step": 7, "actor/kl": 1e-05})
    ]


def test_parse_text_step_headings_give_the_steps() -> None:
    (run,) = parse_text("Step 5:\nactor/kl: 0.1\nloss: 2\n\nStep 6:\nactor/kl: 0.2\nloss: 1\n").runs
    assert (run.steps, run.series("loss")) == ((5, 6), ([5, 6], [2, 1]))


def test_parse_text_pair_with_a_question_is_value_and_prose() -> None:
    parsed = parse_text("actor/ppo_kl: 0.02 is this normal?")
    assert parsed.runs[0].value("actor/ppo_kl", 0) == 0.02
    assert [item.text for item in parsed.prose] == ["actor/ppo_kl: 0.02 is this normal?"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "为什么 reward 不涨？",
        "- val/score/mean: 验证阶段，每个 episode 的平均分数。",
        "- time/rollout: 数据收集阶段的耗时 12 秒。",
        "Date: 2025-10-02 11:40:27",
        "--learning_rate 1e-6  # from 1e-5",
        "https://example.org/a_b:8080",
        "trainer:\n  total_epochs: 15\n  save_freq: -1\n  project_name: 'x'\n  kl_loss_coef: 0.001\n",
        "```yaml\nactor/lr: 1e-6\n```",
        "```python\nkl_loss = 0.5\n```",
        "{'actor': {'lr': 1e-06, 'kl_loss_coef': 0.001}}",
        "learning_rate: 1e-6\nbatch_size: 32",
        "kl_time: 12:30:11",
        "val_loss = 0.0\nfor _ in range(steps):\n    val_loss += model(x)\n",
        "pg_clipfrac: 0.195%",
        "train_time: 52.57ms",
        "some_version: 1.2.3",
    ],
)
def test_parse_text_without_metrics_gives_no_run(text: str) -> None:
    assert parse_text(text).runs == ()


def test_parse_text_cleanrl_prints_are_rows() -> None:
    text = "global_step=1088, episodic_return=[21.]\nSPS: 2143\nglobal_step=1120, episodic_return=[nan]\n"
    (run,) = parse_text(text).runs
    assert run.steps == (1088, 1120)
    assert [repr(value) for value in run.columns["episodic_return"].values] == ["21.0", "nan"]
    assert list(run.columns["SPS"].values) == [2143]


@pytest.mark.parametrize("heading", ["config:", "  train_args:", "hparams："])
def test_parse_text_indented_settings_below_a_heading_are_nothing(heading: str) -> None:
    front = "Trial 1 runs\nMemory: 6 GiB\nScheduling\nfirst\nsecond\nthird\n"
    assert not parse_text(f"{front}{heading}\n      lr: 0.0001\n      kl_loss: 0.01\n").runs


def test_parse_text_conversation_with_a_model_is_nothing() -> None:
    text = "<|im_start|>user\nx?<|im_end|>\n<|im_start|>assistant\nloss: 0.5\nreward: 0.5, score: 1.0\n<|im_end|>\n"
    assert not parse_text(text).runs
    assert parse_text(text + "reward: 0.25\n").runs[0].columns["reward"].values[0] == 0.25


@pytest.mark.parametrize(
    "text",
    [
        "import os\n\nLOCK_TIMEOUT = 60 * 60\nMAX_SIZE = 20\n",
        "#!/bin/sh\nskip_test=0\nexport NUM_WORKERS_MAX=4\n",
        "[flake8]\nmax_line_length = 120\n\n[train]\nkl_loss_coef = 0.1\n",
        "import os\nfrom x import y\n\n\ndef train():\n    grad_norm = 0\n    kl_loss = 0.1\n",
        "class A:\n    MAX_KL_LOSS: float = 0.5\n\n    READ_TIMEOUT = 10\n",
    ],
)
def test_parse_text_source_of_a_program_gives_no_run(text: str) -> None:
    assert not parse_text(text).runs
