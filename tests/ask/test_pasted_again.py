"""Whole pastes in the shapes of further trainers: the first sentence answers what is asked, and says nothing false."""

from __future__ import annotations

import pytest

from tests.ask.test_pasted_logs import lead, line, paste

ZERO_ADVANTAGE = line(
    5, actor__grad_norm=0.007, actor__kl_loss=0.011, actor__pg_loss=0.0, critic__score__mean=0.0,
    critic__advantages__mean=0.0, critic__advantages__max=0.0, critic__advantages__min=0.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("advantage 全是 0，那 grad_norm 是从哪来的？", "KL 项"),
        ("The advantages are all 0, so where does the grad_norm come from?", "KL term"),
    ],
)
def test_gradient_without_advantages_comes_from_the_kl_term(question: str, said: str) -> None:
    first = lead(f"{ZERO_ADVANTAGE}\n{question}")
    assert "0.007" in first
    assert said in first


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("advantages 全是 0，模型还能学到东西吗？", "学不到"),
        ("advantages are all 0, is it learning anything?", "teaches nothing"),
    ],
)  # fmt: skip
def test_rows_of_a_table_with_no_advantage_teach_nothing(question: str, said: str) -> None:
    rows = "\n".join(
        f"│ ppo_actor/{name} │ {value} │ ppo_actor/{other} │ {second} │"
        for name, value, other, second in (
            ("advantages/avg", "0.0000e+00", "new_logp/avg", "-2.5e-01"),
            ("advantages/max", "0.0000e+00", "seq_len/max", "4.3e+03"),
            ("advantages/min", "0.0000e+00", "behave_imp_weight/max", "1.1e+00"),
        )
    )
    assert said in lead(f"{question}\n{rows}")


PAIRS = """========================= Step 3/9 =========================
📊 Training Results:
  • loss: 0.6931
  • accuracy: 0.0000
  • rewards_chosen_mean: {0}
  • rewards_rejected_mean: {1}
  • num_valid_samples: 32.0000"""


@pytest.mark.parametrize(
    ("question", "said"),
    [("Why is the loss 0.6931?", "equals the reference"), ("为什么 loss 是 0.693，accuracy 是 0？", "等于参考模型")],
)
def test_loss_of_two_equal_answers_is_that_of_the_reference(question: str, said: str) -> None:
    made = paste(PAIRS.format("0.0000", "0.0000") + f"\n{question}")
    assert said in made.answer.splitlines()[0]
    assert "logarithm of two" in made.answer or "二的自然对数" in made.answer
    assert not made.grounding.unsupported


def test_loss_of_two_equal_answers_is_not_said_of_rewards_that_differ() -> None:
    assert "equals the reference" not in lead(PAIRS.format("0.3100", "-0.2200") + "\nWhy is the loss 0.6931?")


def megatron(step: int, time: float, rate: str, skipped: int = 0) -> str:
    return (
        f" iteration {step:8d}/  250000 | consumed samples: {step * 1024:12d} | elapsed time per iteration (ms): "
        f"{time} | learning rate: {rate} | global batch size:  1024 | lm loss: 2.50{step % 10}220E+00 "
        f"| loss scale: 1.0 | grad norm: 0.23{step % 10} | number of skipped iterations: {skipped:3d} "
        "| number of nan iterations:   0 |"
    )


SLOWER = "\n".join(megatron(122 + n, 86000.0 + 9000 * n, f"{9 + n / 10:.3f}E-06") for n in range(8))


@pytest.mark.parametrize("question", ["# Training speed is getting slower", "为什么训练越来越慢？"])
def test_iterations_that_are_timed_are_not_said_to_lack_times(question: str) -> None:
    first = lead(f"{question}\n{SLOWER}")
    assert "elapsed time per iteration (ms)" in first
    assert "149,000" in first


def test_rate_of_another_spelling_and_total_of_a_padded_counter_are_in_the_log() -> None:
    made = paste(f"{SLOWER}\n\n按这个速度 250000 个 iteration 要跑多久？学习率还在 warmup 吗")
    assert "249,871" in made.answer.splitlines()[0]
    assert "没有学习率" not in made.answer
    assert "warmup" in made.answer


@pytest.mark.parametrize(
    ("question", "said"),
    [("learning rate 是 0，正常吗？", "loss scale"), ("Why is the learning rate 0 at first?", "loss scale")],
)
def test_rate_of_zero_beside_skipped_iterations_is_the_loss_scale(question: str, said: str) -> None:
    log = "\n".join([megatron(10, 300.0, "0.000E+00", 10), megatron(20, 140.0, "2.020E-08", 8)])
    first = lead(f"{log}\n{question}")
    assert said in first
    assert "10" in first


TIMERS = (
    "time (ms) | forward-compute: 193.77 | backward-compute: 73.02 | backward-params-all-reduce: 20.10 "
    "| optimizer: 63.01 | optimizer-unscale-and-check-inf: 50.71"
)


@pytest.mark.parametrize("question", ["Which part of the iteration takes longest?", "时间主要花在哪个阶段？"])
def test_timers_of_phases_are_told_largest_first(question: str) -> None:
    log = "\n".join([megatron(10, 356.2, "1.0E-06"), TIMERS, megatron(20, 340.1, "2.0E-06")])
    made = paste(f"{log}\n{question}")
    assert "`forward-compute`" in made.answer.splitlines()[0]
    assert "194 ms" in made.answer.splitlines()[0]


@pytest.mark.parametrize("question", ["val_loss 一直不变，是过拟合吗？", "val_loss never changes, is it overfitting?"])
def test_evaluation_that_lines_repeat_is_one_evaluation(question: str) -> None:
    log = "\n".join(
        f"Training epoch 0, iteration {n}/149 | lr: 3e-05 | global_step: {n} | reduced_train_loss: 1.2{n % 10}3 "
        f"| train_step_timing in s: 0.0314 | val_loss: 4.106"
        for n in range(120, 127)
    )
    made = paste(f"{question}\n{log}")
    first = made.answer.splitlines()[0]
    assert "同一次评估" in first or "one evaluation" in first
    assert "1.263" in made.answer or "1.26" in made.answer


FEW = [
    f"02:3{n}:26 SUCCESS Step {28 + n} | Time: {70 + n}.77s | Reward: {reward} | Throughput: {2400 - 90 * n}.9 "
    f"tokens/s | Seq. Length: 345.6 tokens/sample | Async Level: 1 | Max. Off-Policy Level: 0"
    for n, reward in enumerate((0.38, 0.41, 0.37, 0.40))
]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("throughput 在下降吗？", "一步比一步低"),
        ("Is the throughput dropping?", "is lower each time"),
        ("reward 在涨吗？", "其间有升有降"),
        ("Is the reward going up?", "up and down in between"),
    ],
)
def test_few_values_are_told_as_they_follow_one_another(question: str, said: str) -> None:
    first = lead("\n".join([*FEW, question]))
    assert said in first
    assert "点太少" in first or "oo few points" in first


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How much faster could a step get if the waiting were gone?", "2.84 s"),
        ("如果把等待时间去掉，一步能快多少？", "2.84 秒"),
    ],
)
def test_waiting_that_is_gone_leaves_the_rest_of_the_step(question: str, said: str) -> None:
    log = (
        "perf 2: {'perf/train_wait_time': 11.34, 'perf/actor_train_time': 1.02, 'perf/train_time': 2.84, "
        "'perf/step_time': 14.18, 'perf/wait_time_ratio': 0.8}"
    )
    assert said in lead(f"{log}\n\n{question}")


TABLE = """| Step | AIME24 mean@32 | AIME25 mean@32 | AIME24 best@32 |
|---|---|---|---|
| 10 | **30.5%** | 27.8% | 69.7% |
| 20 | **5.0%** | 2.9% | 39.1% |
| 150 | 21.7% | 18.3% | 60.2% |
"""


def test_benchmark_named_by_its_name_alone_is_its_mean() -> None:
    made = paste(f"{TABLE}\nAIME24 和 AIME25 在第 150 步分别是多少？")
    assert "21.7" in made.answer
    assert "18.3" in made.answer
    assert "60.2" not in made.answer


@pytest.mark.parametrize(
    "question", ["Why did accuracy collapse between step 10 and step 20?", "为什么第 10 步到第 20 步准确率崩了？"]
)
def test_fall_between_two_steps_is_not_denied_by_the_whole_run(question: str) -> None:
    first = lead(f"{TABLE}\n{question}")
    assert "30.5" in first
    assert "-25.5" in first


@pytest.mark.parametrize(
    ("prose", "asked"),
    [
        ("Has the model collapsed? Answers have 35 tokens and a format reward of 0.1.", "Has the model collapsed?"),
        ("kl 的系数是多少？pg_loss 为 0 正常吗", "pg_loss"),
        ("The loss is 0 at every step. Is this normal?", "The loss is 0"),
    ],
)  # fmt: skip
def test_sentences_that_only_tell_are_no_part_of_the_question(prose: str, asked: str) -> None:
    log = line(3, actor__entropy=0.005, actor__pg_loss=0.0, actor__grad_norm=0.2, critic__score__mean=0.15)
    question = paste(f"{prose}\n{log}").question
    assert asked in question
    assert "35 tokens" not in question


def test_text_without_metrics_by_step_is_not_said_to_be_no_log() -> None:
    made = paste(
        "| Model | Total (s) | Refit (s) |\n|---|---|---|\n| a | 147 | 14 |\n| b | 178 | 26 |\n\nWhich is slower?"
    )
    assert made.verdict.code == "no_metrics"
    assert "that can be read" in made.answer
