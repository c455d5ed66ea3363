"""What people plainly want of a log: steps between two levels, clipping, which key, the best against the last."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of

from .support import answerer

#: A score that climbs by a hundredth a step to 0.6 and stays; a loss that falls; a norm above 1 at the first ten steps.
RUN = run_of(
    {
        step: {
            "critic/score/mean": round(min(0.01 * step, 0.6), 4),
            "actor/pg_loss": round(0.5 - 0.004 * step, 4),
            "actor/grad_norm": 2.5 if step <= 10 else 0.4,
            **({} if step % 20 else {"val-core/gsm8k/acc/mean@1": 0.7 if step == 60 else round(0.3 + 0.002 * step, 4)}),
        }
        for step in range(1, 101)
    }
)  # fmt: skip


def ask(question: str, run: Run = RUN):  # type: ignore[no-untyped-def]
    made, _ = answerer().ask(question, [run])
    return made


@pytest.mark.parametrize(
    "question",
    [
        "score 从 0.2 涨到 0.5 用了几步",
        "score 花了多少步从 0.2 到 0.5",
        "how many steps did it take the score to go from 0.2 to 0.5",
        "how long did it take score to climb from 0.2 to 0.5",
        "score went from 20% to 50% in how many steps",
    ],
)
def test_steps_from_one_level_to_another_are_counted_between_the_first_times(question: str) -> None:
    made = ask(question)
    assert made.verdict.code == "answered"
    assert any(fact.value == 30 and fact.kind == "derived" for fact in made.facts)
    assert {20, 50} <= {fact.step for fact in made.facts}


@pytest.mark.parametrize("question", ["score 从 0.5 到 0.9 花了多少步", "how many steps from 0.5 to 0.9 score"])
def test_a_level_that_is_never_reached_is_said_with_the_nearest_value(question: str) -> None:
    made = ask(question)
    assert "0.9" in made.verdict.summary
    assert any(fact.value == 0.6 for fact in made.facts)
    assert not any((fact.name or "").startswith("steps from") for fact in made.facts)


@pytest.mark.parametrize(
    "question",
    [
        "有多少步 grad_norm 被裁剪了（max_grad_norm=1）",
        "有几步梯度被 clip 了，max norm 1.0",
        "how many steps hit gradient clipping at 1.0",
        "how often was the gradient clipped?",
        "梯度裁剪了几次",
    ],
)
def test_clipped_steps_are_those_whose_norm_is_above_the_limit(question: str) -> None:
    made = ask(question)
    assert made.verdict.code == "answered"
    assert any(fact.value == 10 and fact.kind == "derived" for fact in made.facts) or "10 个 step" in made.answer
    assert "10" in made.verdict.summary


def test_no_clipping_is_told_with_the_largest_norm() -> None:
    made = ask("how many steps hit gradient clipping at 5.0")
    assert any(fact.value == 2.5 for fact in made.facts)
    assert made.verdict.summary.startswith("At none")


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("哪一列是 reward", "mean_reward"),
        ("which column is the reward", "mean_reward"),
        ("reward 对应哪个字段", "mean_reward"),
        ("which key holds the loss", "loss"),
    ],
)
def test_which_key_holds_a_metric_is_answered_by_its_key(question: str, key: str) -> None:
    run = run_of({step: {"mean_reward": 0.1 * step, "loss": 1.0 / step} for step in range(1, 9)})
    made = ask(question, run)
    assert f"`{key}`" in made.verdict.summary.replace(key, f"`{key}`")
    assert list(made.slots.metrics) == [key]


@pytest.mark.parametrize("question", ["which metric looks wrong", "哪个指标最异常"])
def test_which_metric_is_odd_is_no_question_about_its_key(question: str) -> None:
    assert ask(question).intent in {"health", "explain", "compare"}


@pytest.mark.parametrize(
    "question",
    [
        "which validation checkpoint would you pick and by how much does it beat the last one",
        "best val step and how far is it above the final one",
        "选哪个 checkpoint，它比最后一个高多少",
        "最好的一次验证比最后一次高多少",
    ],
)
def test_the_best_validation_is_told_with_its_lead_over_the_last(question: str) -> None:
    made = ask(question)
    assert any(fact.value == 0.7 and fact.step == 60 for fact in made.facts)
    assert any(fact.value == pytest.approx(0.2) for fact in made.facts)  # 0.7 − 0.5, the last


@pytest.mark.parametrize(
    "question",
    [
        "loss 和 entropy 第 5 步各是多少",
        "entropy、loss 第 5 步各是多少",
        "loss and entropy at step 5",
        "trend of entropy and loss",
        "loss、kl、reward 的首末值列个表",
    ],
)
def test_a_metric_of_a_list_that_the_log_lacks_is_said_to_be_absent(question: str) -> None:
    run = run_of({step: {"mean_reward": 0.1 * step, "loss": 1.0 / step} for step in range(1, 9)})
    made = ask(question, run)
    name = "kl" if "kl" in question else "entropy"
    assert any(f"{lead} `{name}`" in made.answer for lead in ("日志里没有", "The log holds no"))


@pytest.mark.parametrize(
    "question", ["loss 和 reward 的走势", "loss and reward at step 5", "is the loss at step 5 high?"]
)
def test_nothing_is_said_to_be_absent_where_all_that_is_named_is_there(question: str) -> None:
    run = run_of({step: {"mean_reward": 0.1 * step, "loss": 1.0 / step} for step in range(1, 9)})
    made = ask(question, run)
    assert "日志里没有" not in made.answer
    assert "The log holds no" not in made.answer


@pytest.mark.parametrize(
    "question",
    [
        "reward 全对的组占多少",
        "what fraction of groups are all correct",
        "有多少组是全错的",
        "how many prompts were filtered out",
    ],
)
def test_groups_of_one_reward_are_not_in_a_mean(question: str) -> None:
    made = ask(question)
    assert made.verdict.code == "no_data"
    assert "frac_reward_zero_std" in made.answer


@pytest.mark.parametrize(
    "question", ["completion length 和 reward 相关吗", "回答长度和奖励相关吗", "reward 与 length 相关不相关"]
)
def test_whether_two_metrics_are_correlated_is_no_question_about_a_family(question: str) -> None:
    run = run_of(
        {
            step: {"reward": 0.1 * step, "reward_std": 0.2, "completions/mean_length": 100.0 + step}
            for step in range(1, 30)
        }
    )
    made = ask(question, run)
    assert "ρ = 1（" in made.answer


@pytest.mark.parametrize(
    "question", ["长度先崩还是 reward 先崩", "长度崩是先于 reward 还是后于 reward", "长度崩在 reward 掉之前还是之后"]
)
def test_which_of_two_broke_first_is_told_however_it_is_asked(question: str) -> None:
    run = run_of(
        {
            step: {
                "response_length/mean": 900.0 - 3 * (step % 2) if step < 20 else 20.0,
                "critic/rewards/mean": 0.8 - 0.01 * (step % 2) if step < 30 else 0.1,
            }
            for step in range(1, 41)
        }
    )
    made = ask(question, run)
    assert made.verdict.summary.startswith("`response_length/mean` 先") or made.verdict.summary.startswith(
        "response_length/mean 先"
    )


@pytest.mark.parametrize("question", ["到目前为止总共生成了多少 token", "训练到现在一共用了多少 tokens"])
def test_tokens_in_total_are_the_sum(question: str) -> None:
    run = run_of({step: {"perf/total_num_tokens": 1000 * step, "timing_s/step": 10.0} for step in range(1, 11)})
    made = ask(question, run)
    assert any(fact.value == 55_000 for fact in made.facts)


@pytest.mark.parametrize(
    "question", ["生成长度只有 9 个 token 正常吗", "response length of only 9 tokens, is that normal?"]
)
def test_whether_a_value_is_normal_is_judged_rather_than_its_course_told(question: str) -> None:
    run = run_of(
        {
            step: {"response_length/mean": 900.0 + 7 * (step % 5) if step < 30 else 9.0 + 0.1 * (step % 3),
                   "critic/score/mean": 0.5, "actor/entropy": 0.4}
            for step in range(1, 61)
        }
    )  # fmt: skip
    made = ask(question, run)
    assert made.intent == "health"
    assert made.verdict.code in {"warning", "critical"}


#: Two parts that add up to the reward at every step.
PARTS = run_of(
    {
        step: {
            "reward": 1.0 + 0.01 * step,
            "rewards/format_reward": 0.25,
            "rewards/accuracy_reward": 0.75 + 0.01 * step,
        }
        for step in range(1, 21)
    }
)


@pytest.mark.parametrize(
    "question",
    ["reward 分几个部分，各占多少", "what is the reward made of", "reward 由哪些组成", "break down the reward"],
)
def test_parts_of_a_reward_are_listed_with_their_shares(question: str) -> None:
    made = ask(question, PARTS)
    assert "rewards/format_reward" in made.verdict.summary
    assert "rewards/accuracy_reward" in made.verdict.summary
    shares = [fact.value for fact in made.facts if (fact.name or "").startswith("share of")]
    assert shares == [pytest.approx(0.25 / 1.105), pytest.approx(0.855 / 1.105)]


def test_parts_that_are_weighted_get_no_shares() -> None:
    run = run_of({s: {"reward": 3.0, "rewards/a_reward": 0.5, "rewards/b_reward": 1.0} for s in range(1, 9)})
    made = ask("reward 分几个部分，各占多少", run)
    assert not [fact for fact in made.facts if (fact.name or "").startswith("share of")]
    assert "不给占比" in made.answer


@pytest.mark.parametrize(
    "question", ["reward 里 format 和 accuracy 分开看谁在涨", "what parts does the reward consist of"]
)
def test_a_reward_that_is_logged_as_a_whole_is_said_to_be(question: str) -> None:
    made = ask(question, run_of({s: {"reward": 0.1 * s, "loss": 1.0 / s} for s in range(1, 9)}))
    assert made.verdict.code == "no_data"
    assert "reward" in made.verdict.summary


@pytest.mark.parametrize(
    ("question", "metric", "value"),
    [
        ("一共跑了多少 timesteps", "time/total_timesteps", 4000),
        ("一共用了多少时间", "time/time_elapsed", 40),
        ("how long did it run in total", "time/time_elapsed", 40),
    ],
)
def test_a_card_of_several_quantities_gives_the_one_that_is_asked_for(question: str, metric: str, value: float) -> None:
    run = run_of(
        {
            step: {
                "time/fps": 100.0 - step, "time/iterations": step, "time/time_elapsed": 2 * step,
                "time/total_timesteps": 200 * step, "rollout/ep_rew_mean": 1.0 * step,
            }
            for step in range(1, 21)
        },
        framework="SB3",
    )  # fmt: skip
    made = ask(question, run)
    assert any(fact.metric == metric and fact.value == value for fact in made.facts)
    assert not any(fact.metric == "time/fps" for fact in made.facts)


@pytest.mark.parametrize(
    "question", ["length 变短了会不会有问题", "is it a problem that the length is getting shorter?"]
)
def test_a_metric_that_is_worried_about_comes_before_what_is_wrong_elsewhere(question: str) -> None:
    run = run_of(
        {
            step: {"kl": 5.0 if step in {11, 30} else 0.02 + 0.001 * (step % 3), "completion_length": 240.0 - 2 * step,
                   "reward": 0.5, "loss": 0.01}
            for step in range(1, 51)
        },
        framework="TRL",
    )  # fmt: skip
    assert ask(question, run).verdict.summary.find("completion_length") in range(0, 4)


def test_a_checkpoint_from_before_a_collapse_is_asked_for() -> None:
    table = {
        step: {"kl": 0.002 if step < 20 else 2.5, "reward": 0.5 + 0.01 * (step % 5), "loss": 0.01}
        for step in range(1, 61)
    }
    made = ask("挑一个 kl 还没崩的 checkpoint", run_of(table, framework="TRL"))
    assert made.intent == "advice"
    assert "step 20" in made.verdict.summary


def test_what_a_run_is_trained_by_describes_no_metric() -> None:
    table = {step: {"train/loss": 1.0 / step, "train/lr(1e-3)": 0.01 if step < 20 else 0.005} for step in range(1, 41)}
    made = ask("这个 sft 收敛了吗", run_of(table, framework="verl"))
    assert list(made.slots.metrics)[:1] == ["train/loss"]


#: Stages without the whole step's time; the seventh step generates for three times as long.
STAGES = run_of(
    {
        step: {"timing/gen": 30.0 if step == 7 else 10.0, "timing/update_actor": 20.0, "timing/ref": 5.0,
               "actor/entropy": 0.5, "critic/score/mean": 0.01 * step}
        for step in range(1, 21)
    },
    framework="verl",
)  # fmt: skip


@pytest.mark.parametrize("question", ["哪步最慢", "最慢的一步是哪步慢在哪", "which step was the slowest and why"])
def test_the_slowest_step_of_a_log_that_times_only_stages_is_found_by_their_sum(question: str) -> None:
    made = ask(question, STAGES)
    assert "step 7" in made.verdict.summary or "step is 7" in made.verdict.summary
    sums = [fact.value for fact in made.facts if fact.name == "sum of the stages"]
    assert sums == [55.0]
    assert any(fact.metric == "timing/gen" and fact.value == 30.0 for fact in made.facts)


#: Entropy falls to a tenth, the length halves, the rest stays.
MOVED = run_of(
    {
        step: {"actor/entropy": 0.5 * 0.95**step, "response_length/mean": 400.0 - 4 * step + step % 3,
               "actor/grad_norm": 1.0 + 0.05 * (step % 4), "critic/score/mean": 0.3 + 0.01 * (step % 5)}
        for step in range(1, 51)
    }
)  # fmt: skip


@pytest.mark.parametrize(
    "question",
    [
        "哪些指标变化最大",
        "变化最大的指标有哪些",
        "最后 10 步和最前 10 步比，哪些指标变化最大",
        "what changed the most over the run",
        "which metrics changed the most between the first 10 and the last 10 steps",
    ],
)
def test_what_changed_most_is_ranked_by_factor_beyond_noise(question: str) -> None:
    made = ask(question, MOVED)
    assert list(made.slots.metrics)[:2] == ["actor/entropy", "response_length/mean"]
    assert "actor/grad_norm" not in made.verdict.summary
    assert made.intent == "compare"


@pytest.mark.parametrize(
    "question",
    ["val 最近 3 次涨了没", "最近三次验证有提升吗", "did validation improve over the last three evals",
     "has val gone up in the last 3 evaluations"],
)  # fmt: skip
def test_the_last_few_validations_are_not_the_whole_run(question: str) -> None:
    acc = {20: 0.1, 40: 0.3, 60: 0.5, 80: 0.52, 100: 0.51, 120: 0.5}
    table = {step: {"critic/score/mean": 0.5, **({"val-core/a/acc/mean@1": acc[step]} if step in acc else {})}
             for step in range(1, 121)}  # fmt: skip
    made = ask(question, run_of(table))
    assert made.verdict.code not in {"rising", "improved"}
    steps = {fact.step for fact in made.facts if fact.kind == "value" and fact.metric == "val-core/a/acc/mean@1"}
    assert steps
    assert not steps & {20, 40, 60}


@pytest.mark.parametrize("question", ["gen 占比随时间在变大吗", "is the share of generation growing over time"])
def test_whether_a_share_grows_is_told_of_its_two_halves(question: str) -> None:
    table = {step: {"timing_s/gen": 10.0 + step, "timing_s/step": 100.0} for step in range(1, 21)}
    made = ask(question, run_of(table))
    assert any(fact.value == pytest.approx(0.155) for fact in made.facts)
    assert any(fact.value == pytest.approx(0.255) for fact in made.facts)


@pytest.mark.parametrize(
    "question",
    ["kl 尖峰前后三步的值", "what happened around the kl spike, give me three steps before and after",
     "show kl 3 steps before and after its peak"],
)  # fmt: skip
def test_values_around_a_spike_are_those_of_so_many_steps_on_each_side(question: str) -> None:
    run = run_of({step: {"kl": 5.0 if step == 20 else 0.02 + 0.0001 * step, "loss": 0.1} for step in range(1, 41)})
    made = ask(question, run)
    told = {fact.step for fact in made.facts if fact.kind == "value" and fact.metric == "kl"}
    assert told == set(range(17, 24))


@pytest.mark.parametrize(
    "question",
    ["为什么 explained variance 是负的", "why is explained_variance negative", "为啥 vf_explained_var 这么低"],
)
def test_why_a_metric_is_as_it_is_that_the_log_lacks_begins_with_its_absence(question: str) -> None:
    run = run_of(
        {step: {"critic/vf_loss": 1.0 / step, "actor/entropy": 0.5} for step in range(1, 21)}, framework="verl"
    )
    made = ask(question, run)
    assert made.verdict.code == "no_data"


@pytest.mark.parametrize("more", ["，给我三个证据", "，列几条理由", "。请给出依据"])
def test_reasons_that_are_asked_for_do_not_change_the_question(more: str) -> None:
    alone, asked = ask("训练稳定吗", MOVED), ask(f"训练稳定吗{more}", MOVED)
    assert (asked.intent, asked.verdict) == (alone.intent, alone.verdict)


@pytest.mark.parametrize(
    "question",
    ["does throughput depend on response length", "do longer responses go with higher throughput",
     "吞吐受回答长度影响吗", "回答长度越大吞吐越高吗"],
)  # fmt: skip
def test_whether_one_depends_on_the_other_is_their_correlation(question: str) -> None:
    table = {step: {"perf/throughput": 1000.0 + 5 * step, "response_length/mean": 400.0 + 3 * step}
             for step in range(1, 31)}  # fmt: skip
    assert "ρ = 1" in ask(question, run_of(table)).answer


@pytest.mark.parametrize(
    "question",
    ["between which steps did the score rise fastest", "when did the score rise fastest", "score 哪几步之间涨得最快"],
)
def test_where_it_rose_fastest_is_a_stretch(question: str) -> None:
    table = {
        step: {"critic/score/mean": 0.1 if step < 20 else 0.1 + 0.05 * min(step - 20, 10)} for step in range(1, 61)
    }
    made = ask(question, run_of(table))
    assert made.intent == "lookup"
    assert {fact.step for fact in made.facts if fact.step is not None} & set(range(18, 33))


@pytest.mark.parametrize(
    "question",
    ["what fraction of time is not generation", "除了生成以外的时间占一步多少", "非生成时间占比",
     "what share of a step is spent outside generation"],
)  # fmt: skip
def test_what_a_stage_leaves_of_a_step_is_the_rest(question: str) -> None:
    table = {
        step: {"timing_s/gen": 30.0, "timing_s/update_actor": 20.0, "timing_s/step": 100.0} for step in range(1, 9)
    }
    made = ask(question, run_of(table, framework="verl"))
    assert any(fact.value == pytest.approx(0.7) for fact in made.facts)
    assert "70.0%" in made.verdict.summary


@pytest.mark.parametrize("question", ["lr 降到一半是哪步", "lr 什么时候掉到一半", "lr 降到三分之一是哪步"])
def test_to_fall_to_a_half_is_of_what_it_began_with(question: str) -> None:
    run = run_of({step: {"actor/lr": 1e-6 * (1 - step / 50), "actor/entropy": 0.5} for step in range(41)})
    made = ask(question, run)
    at = {"一半": 25, "三分之一": 34}["三分之一" if "三分之一" in question else "一半"]
    assert any(fact.step == at and fact.metric == "actor/lr" for fact in made.facts)
    assert "0.5" not in made.verdict.summary


@pytest.mark.parametrize(
    ("question", "mean"),
    [
        ("score 过 0.3 之后平均多少", 0.5149),
        ("score 超过 0.3 之后 grad_norm 平均多少", 0.4),
        ("grad_norm 平均多少，在 score 过 0.3 之前", None),
    ],
)
def test_what_lies_behind_a_crossing_is_not_the_whole_run(question: str, mean: float | None) -> None:
    made = ask(question)
    values = [fact.value for fact in made.facts if isinstance(fact.value, float)]
    want = (10 * 2.5 + 20 * 0.4) / 30 if mean is None else mean
    assert any(value == pytest.approx(want, abs=2e-2) for value in values)


@pytest.mark.parametrize(
    ("question", "metric"),
    [("eval_loss 最低点之后 loss 又降了多少", "loss"), ("eval_loss 最低点之后涨了多少", "eval_loss")],
)
def test_what_came_after_a_low_point_begins_there(question: str, metric: str) -> None:
    table = {step: {"loss": 2.0 - 0.02 * step, "eval_loss": 2.0 + abs(step - 30) / 100} for step in range(1, 61)}
    made = ask(question, run_of(table))
    steps = {s for fact in made.facts if fact.metric == metric for s in (fact.step, fact.from_step) if s is not None}
    assert steps
    assert min(steps) >= 30
