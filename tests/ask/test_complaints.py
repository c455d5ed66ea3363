"""Pastes that state what is wrong rather than ask: the first sentence tells what the log shows of just that."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assistant.ask.complaints import asks_more, clauses_of, merely_complains, sentences, state_in
from assistant.parsing.prose import is_title
from tests.ask.test_pasted_logs import lead, line, paste


def log(steps: Sequence[int], **series: Sequence[object] | object) -> str:
    """Lines of verl; a value that is no list stands at every step."""
    rows = []
    for place, step in enumerate(steps):
        row = {key: value[place] if isinstance(value, list) else value for key, value in series.items()}
        rows.append(line(step, **row))
    return "\n".join(rows)


FLAT = log(
    [10, 20, 30, 40, 50, 60], critic__rewards__mean=[0.231, 0.226, 0.238, 0.229, 0.235, 0.232],
    actor__kl_loss=[0.0004, 0.0007, 0.0009, 0.0011, 0.0012, 0.0014],
    actor__grad_norm=[0.11, 0.12, 0.1, 0.12, 0.11, 0.11],
    response_length__clip_ratio=[0.05, 0.06, 0.05, 0.05, 0.06, 0.05],
)  # fmt: skip
RISING = log([10, 20, 30, 40, 50, 60], critic__rewards__mean=[0.1, 0.18, 0.27, 0.35, 0.44, 0.52], actor__grad_norm=0.2)


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("reward does not increase", "not_rising"),
        ("Reward and val acc didnt grow after 30 steps", "not_rising"),
        ("reward 一直不涨", "not_rising"),
        ("训练几乎没有效果", "not_rising"),
        ("Critic Loss can not decrease", "not_falling"),
        ("loss 一直不降", "not_falling"),
        ("the success rate is always 0", "zero"),
        ("the loss is always 0.5", None),
        ("reward score collapsed to a stable point", "still"),
        ("response length collapses", "falling"),
        ("grad_norm becomes nan", "not_finite"),
        ("training is too slow", "slow"),
        ("越来越慢", "slower"),
        ("entropy keeps increasing", "rising"),
        ("显存一直涨", "memory"),
        ("OOM after 50 steps", "memory"),
        ("Training hangs after step 3", "standstill"),
        ("a loss spike at step 500", "spike"),
        ("I use verl 0.5 on 8 GPUs", None),
    ],
)
def test_state_of_a_clause(text: str, state: str | None) -> None:
    assert state_in(text) == state


@pytest.mark.parametrize(
    "text",
    [
        "reward does not increase",
        "Reward does not increase after 100 steps. Any idea?",
        "GRPO 训练奖励一直不涨，怎么办？",
        "loss 不降，请问是什么原因？谢谢",
        "Critic Loss can not decrease. Has anyone met this problem?",
    ],
)
def test_text_that_only_states_and_asks_for_help_complains(text: str) -> None:
    assert merely_complains(text)


@pytest.mark.parametrize(
    "text",
    [
        "Is reward increasing?", "is entropy rising", "did entropy collapse", "reward 涨没涨", "KL 还在涨吗",
        "reward fell off a cliff at 30, what happened", "grad norm spikes once, where and how high",
        "跑得最慢的一步用了多久", "response length 是 growing 还是 stable", "训练分数一直涨，是好事吧",
        "Explain step 3", "which step is slow", "biggest gradient spike, where + how big",
    ],
)  # fmt: skip
def test_text_that_asks_something_of_its_own_is_no_complaint(text: str) -> None:
    assert not merely_complains(text)


def test_choice_between_measures_is_help_where_that_is_wanted() -> None:
    assert asks_more("Loss spiked. Should I lower the lr?")
    assert not asks_more("Loss spiked. Should I lower the lr?", choices=False)


def test_headings_of_a_template_are_no_sentences() -> None:
    text = (
        "### Describe the bug\nreward stays at 0\n### Expected behavior\n- [x] I have searched\n### 期望行为\n应该上升"
    )
    assert sentences(text) == ["reward stays at 0", "应该上升"]


def test_clauses_end_where_another_thing_is_said() -> None:
    assert clauses_of("Reward drops while KL increases in PPO") == ["Reward drops", "KL increases in PPO"]


# -- the first sentence is about what is complained of -----------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"GRPO 训练奖励一直不涨\n\n8 卡，lr 1e-6，请问哪里有问题？\n```\n{FLAT}\n```", "没有涨起来"),
        (f"Reward does not increase\n\nI use 8 GPUs and a lr of 1e-6. Any suggestions?\n{FLAT}", "does not rise"),
        (f"{FLAT}\nThe reward is not improving at all.", "does not rise"),
    ],
)
def test_reward_that_does_not_rise_is_told_by_its_values(text: str, said: str) -> None:
    made = paste(text)
    first = made.answer.splitlines()[0]
    assert all(part in first for part in ("critic/rewards/mean", "0.231", "0.232", "0.226", "0.238", said)), first
    assert not made.grounding.unsupported
    assert "0.0014" in made.answer
    assert "6.00%" in made.answer


def test_reward_said_not_to_rise_that_rises_is_denied() -> None:
    first = lead(f"Reward not increasing at all\n\nany idea?\n{RISING}")
    assert "shows otherwise" in first
    assert "0.1 at step 10" in first
    assert "0.52 at step 60" in first


def test_what_is_said_from_a_step_on_is_told_of_those_steps() -> None:
    steps = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
    held = log(steps, critic__rewards__mean=[0.52, 0.56, 0.6, 0.63, 0.66, 0.68, 0.68, 0.67, 0.69, 0.68])
    first = lead(f"Reward didnt grow after 30 steps\n\nI did not see improvement.\n{held}")
    assert "from step 30 on" in first
    assert "0.52 at step 5" in first


@pytest.mark.parametrize("title", ["Reward drops while KL increases in PPO", "reward 下降而 kl 上升"])
def test_two_metrics_complained_of_are_both_told(title: str) -> None:
    rows = log(
        [10, 20, 30, 40, 50], critic__rewards__mean=[-0.41, 0.13, 0.52, 0.28, -0.32],
        actor__kl_loss=[0.012, 0.055, 0.15, 0.41, 0.98],
    )  # fmt: skip
    first = lead(f"{title}\n\n{rows}")
    assert all(part in first for part in ("critic/rewards/mean", "0.52", "-0.32", "actor/kl_loss", "0.98"))


def test_spike_is_told_with_its_step_and_whether_it_came_back() -> None:
    rows = "\n".join(
        f" iteration {step:8d}/   10000 | consumed samples: {step * 64} | elapsed time per iteration (ms): 812.1 "
        f"| learning rate: 3.0E-04 | lm loss: {loss:.6E} | grad norm: {norm} | number of nan iterations:   0 |"
        for step, loss, norm in (
            (490, 2.10, 0.31), (500, 2.09, 0.3), (510, 4.87, 18.7), (520, 3.31, 4.2), (530, 2.71, 1.1),
            (540, 2.45, 0.7),
        )
    )  # fmt: skip
    first = lead(f"[QUESTION] loss spike in MoE pretraining\n\nIs this normal? Should I skip the data?\n\n{rows}")
    assert "step 510" in first
    assert "4.87" in first
    assert "not yet there" in first


@pytest.mark.parametrize(
    "title", ["the loss suddenly becomes nan and the reward becomes 0", "loss 突然 nan，奖励变成 0"]
)
def test_zero_reward_after_a_nan_is_told_as_its_consequence(title: str) -> None:
    rows = log(
        [101, 102, 103, 104, 105], actor__pg_loss=[0.01, 0.009, "nan", "nan", "nan"],
        actor__grad_norm=[0.52, 1.87, "nan", "nan", "nan"], critic__rewards__mean=[0.53, 0.55, 0.52, 0.0, 0.0],
        response_length__clip_ratio=[0.03, 0.03, 0.04, 1.0, 1.0],
    )  # fmt: skip
    first = lead(f"{title}\n\nHow should I solve this problem?\n{rows}")
    assert "step 103" in first
    assert "1.87" in first
    assert "step 104" in first
    assert "consequence" in first or "结果" in first


def test_state_from_the_first_row_on_says_what_is_finite() -> None:
    rows = log([1, 2, 3], actor__grad_norm="nan", actor__pg_loss=[0.1, 0.2, 0.1], critic__rewards__mean=[0.5, 0.6, 0.5])
    first = lead(f"Actor grad norms are always NaN and the reward does not increase\n\n{rows}")
    assert "from the first step" in first
    assert "other 2 metrics are finite" in first


# -- the time, the memory, the run -------------------------------------------------------------------------------------
TIMES = log(
    [10, 20, 30], timing_s__gen=[200.0, 700.0, 2000.0], timing_s__update_actor=[120.0, 240.0, 560.0],
    timing_s__step=[390.0, 1000.0, 2700.0], response_length__mean=[1400.0, 3700.0, 9400.0],
)  # fmt: skip


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("dapo training was too slow!", "6.92 times"),
        ("训练太慢了", "6.92 倍"),
        ("Training hangs after a while", "cannot show what hangs"),
    ],
)
def test_slow_training_is_told_by_the_step_and_its_largest_part(title: str, said: str) -> None:
    made = paste(
        f"{title}\n\nIs there any way to speed it up? Thanks\n{TIMES}" if title.isascii() else f"{title}\n{TIMES}"
    )
    first = made.answer.splitlines()[0]
    assert all(part in first for part in ("390", "2,700", "timing_s/gen", "74.1%", said)), first
    assert not made.grounding.unsupported


def test_stage_that_is_slow_is_told_by_its_share() -> None:
    rows = log([7, 8], timing_s__gen=[100.0, 110.0], timing_s__reward=[300.0, 310.0], timing_s__step=[600.0, 620.0])
    first = lead(f"Unexpected long reward time\n\nI think the reward time is unexpectedly long.\n{rows}")
    assert "`timing_s/reward` takes 50.0% of a step" in first
    assert "largest part" in first


def test_log_without_times_says_so() -> None:
    assert "cannot be said" in lead(f"training is very slow\n\n{FLAT}")


def test_memory_is_told_before_what_to_do() -> None:
    rows = log(
        [50, 51, 52], perf__max_memory_reserved_gb=[61.2, 70.3, 77.6], perf__max_memory_allocated_gb=[44.1, 45.0, 46.2],
        actor__grad_norm=0.3,
    )  # fmt: skip
    made = paste(f"successfully run 52 steps then oom\n\n{rows}\nhow to fix?")
    first = made.answer.splitlines()[0]
    assert "61.2" in first
    assert "77.6" in first
    assert "fragmentation" in first
    assert "no memory metric" in lead(f"OOM after 60 steps, how to fix?\n\n{FLAT}")


def test_garbled_output_is_told_by_what_moved_at_that_step() -> None:
    rows = log(
        [98, 99, 100, 101], actor__entropy=[1.92, 2.31, 6.84, 11.2], actor__kl_loss=[0.41, 0.77, 4.92, 12.3],
        actor__grad_norm=[1.22, 3.9, 88.2, 12.1],
    )  # fmt: skip
    first = lead(f"model response turned '!!!!!!!' after 100 steps\n\n{rows}")
    assert "step 100" in first
    assert "88.2" in first
    assert "6.84" in first


def test_why_something_is_low_is_answered_by_its_values() -> None:
    rows = "\n".join(
        f" iteration {step:8d}/   10000 | elapsed time per iteration (ms): 20880.1 "
        f"| throughput per GPU (TFLOP/s/GPU): {rate} | lm loss: {10 - step / 10:.6E} | grad norm: 2.1 |"
        for step, rate in ((10, 61.3), (20, 61.7), (30, 61.5))
    )
    first = lead(f"Why is throughput per GPU so low?\n{rows}")
    assert "61.3" in first
    assert "61.7" in first
    assert "negative" not in first


# -- what the log has no name for, and titles --------------------------------------------------------------------------
def test_time_that_belongs_to_no_stage_is_told_before_the_largest_one() -> None:
    rows = log(
        [1, 50, 100], timing_s__gen=[61.0, 62.0, 60.0], timing_s__update_actor=[40.0, 41.0, 40.0],
        timing_s__step=[120.0, 280.0, 600.0], response_length__mean=[702, 698, 705],
    )  # fmt: skip
    first = lead(f"训练越来越慢，每步从2分钟变成10分钟\n\n{rows}")
    assert "5 倍" in first
    assert "83.3% 不属于任何已记录的阶段" in first


def test_parts_of_a_step_that_no_layout_knows_are_those_timed_beside_it() -> None:
    rows = "\n".join(
        f"(PPOTrainer pid=31) ✨ Global step {step}: {{'policy_loss': 0.01, 'kl': 0.001, 'reward': 0.2, "
        f"'response_length': 5000.1, 'timing/ppo_train': 200.0, 'timing/generation': {gen}}}"
        for step, gen in ((1, 800.0), (2, 800.0))
    )
    first = lead(f"vLLM generation is slow for long generations\n\nHow could I solve it?\n{rows}")
    assert "`timing/generation` takes 80.0% of a step" in first


@pytest.mark.parametrize("title", ["Generate time 占比太高怎么优化", "Generate time is too high, how to improve it?"])
def test_time_that_is_too_high_is_told_by_its_share(title: str) -> None:
    rows = "\n".join(
        f"|E2E latency=20.0s |Gather latency=0.00s (0.00%) |Generate time=16.0s (80.00%) |Training time=3.00s (15.00%) "
        f"|Others=1.00 (5.00%)|CurSamplesPerSec=0.8 |AvgSamplesPerSec=0.8\n"
        f"epoch: 0|step: {step}|ppo_ep: 1|act_loss: 0.02|cri_loss: 0.01|unsuper_loss: 0.0\naverage reward score: 0.4"
        for step in (10, 11, 12)
    )
    assert "80.0%" in lead(f"{title}\n{rows}")


@pytest.mark.parametrize(("title", "said"), [("KL 变成负数了", "为负"), ("KL becomes negative", "are negative")])
def test_negative_values_are_counted(title: str, said: str) -> None:
    first = lead(f"{title}\n\n" + log([1, 2, 3], actor__kl_loss=[-0.01, -0.05, -0.2], actor__grad_norm=0.2))
    assert said in first
    assert "-0.2" in first


def test_loss_that_ends_near_its_highest_is_said_to_rise() -> None:
    rows = log(
        [0, 20, 40, 60, 80], actor__pg_loss=[2.12, 3.81, 5.92, 7.11, 7.02], actor__grad_norm=[4.2, 31, 88, 102, 95]
    )
    assert "it rises" in lead(f"pg_loss doesn't decrease at all\n\n{rows}")


@pytest.mark.parametrize(
    "title",
    ["[DAPO] num_gen_batches 是什么意思，为什么越来越大", "SkyRL: train/num_gen_batches keeps increasing"],
)
def test_title_that_names_a_key_is_read(title: str) -> None:
    rows = log([20, 40, 60, 80], train__num_gen_batches=[2, 3, 4, 6], critic__rewards__mean=[-0.4, -0.1, 0.2, 0.4])
    first = lead(f"{title}\n\n{rows}")
    assert "train/num_gen_batches" in first
    assert "6" in first


@pytest.mark.parametrize(
    "line",
    ["actor/entropy: 0.31", "loss=0.4 lr=1e-6 step=3", "python train.py --lr 1e-6", "| step | loss |", "INFO starting"],
)
def test_line_of_a_program_is_no_title(line: str) -> None:
    assert not is_title(line)


def test_success_of_any_name_is_what_an_effect_is_measured_by() -> None:
    rows = log([1, 2, 3, 4, 5, 6], train__Bandit__success=[0.51, 0.38, 0.62, 0.35, 0.66, 0.44], actor__entropy=1.2)
    first = lead(f"success rate fluctuates a lot, is training unstable?\n{rows}")
    assert "train/Bandit/success" in first
    assert "without a direction" in first


@pytest.mark.parametrize("question", ["rollout 太慢，能怎么优化", "rollout is too slow, how can I improve it?"])
def test_complaint_that_asks_for_a_measure_stays_advice(question: str) -> None:
    made = paste(f"{TIMES}\n{question}")
    assert made.intent == "advice"
    assert "74.1%" in made.answer


@pytest.mark.parametrize("rows", [FLAT, RISING, TIMES, log([1], critic__rewards__mean=0.3, timing_s__step=9.0)])
@pytest.mark.parametrize(
    "said",
    [
        "does not increase", "cannot decrease", "went up and then dropped", "becomes negative", "is always 0",
        "is slow", "has a spike", "is unstable", "collapses", "keeps increasing", "is stuck", "is so low",
        "is too high",
    ],
)  # fmt: skip
def test_every_state_is_told_of_the_metric_and_borne_out(said: str, rows: str) -> None:
    named = "timing_s/step" if rows is TIMES else "critic/rewards/mean"
    made = paste(f"{rows}\n{named} {said}.")
    assert named in made.answer
    assert not made.grounding.unsupported
