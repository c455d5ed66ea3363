"""Spoken Chinese is set into the forms that the patterns know, and asks the same as these."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.ask.wording import language_asked, normalised
from assistant.model import Answer, Number, Run
from tests.analysis.support import run_of

from .support import answerer

STEPS = range(1, 61)
ENTROPY, SCORE, GRAD, LENGTH = "actor/entropy", "critic/score/mean", "actor/grad_norm", "response_length/mean"
PPO_KL, STEP, ADV = "actor/ppo_kl", "timing_s/step", "critic/advantages"
DIFF = "training/rollout_probs_diff_mean"


def table() -> dict[int, dict[str, Number]]:
    """An entropy that collapses from step 30 on, and steps that get shorter."""
    rows: dict[int, dict[str, Number]] = {}
    for step in STEPS:
        fallen = max(0.004, 0.5 - 0.03 * max(0, step - 25)) + 0.001 * (step % 3)
        rows[step] = {
            ENTROPY: round(fallen, 5), SCORE: round(0.3 + 0.005 * step + 0.01 * (step % 4), 4),
            GRAD: round(0.3 + 0.01 * (step % 5), 4), LENGTH: 900.0 - 5 * step + step % 3,
            "response_length/max": 2000.0 + step, PPO_KL: round(0.0001 * step, 5),
            STEP: round(200.0 - 2 * step + step % 3, 2), DIFF: round(0.001 * step, 4),
            f"{ADV}/mean": 0.01, f"{ADV}/max": round(2.0 + 0.01 * step, 3), f"{ADV}/min": -2.0,
        }  # fmt: skip
    return rows


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(table())


def ask(*turns: str, run: Run | None = None) -> Answer:
    state = None
    for turn in turns:
        answer, state = answerer().ask(turn, (run or made(),), state=state)
    return answer


def lead(*turns: str) -> str:
    return ask(*turns).answer.split("\n", 1)[0].strip("*- ")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("熵崩没崩", "熵是不是崩了"),
        ("critic 坏没坏", "critic 是不是坏了"),
        ("entropy 塌掉了吗这是", "entropy 塌了吗"),
        ("kl 是在哪步开始失控的", "kl 是在哪步开始飞的"),
        ("我记得熵挺低", "熵挺低"),
        ("分数怎么一下子掉了", "分数怎么突然掉了"),
        ("数数熵 > 0.1 的步", "熵 > 0.1 的步有多少个"),
        ("耗时最长的一步", "最慢的一步"),
        ("一步的时间有没有缩短", "一步的时间变短了吗"),
        ("那个 max 是对谁取的", "那个是哪个的max"),
        ("梯度范数，裁剪前还是裁剪后", "梯度范数,是裁剪前的还是裁剪后的"),
        ("token 级 loss 跟序列级 loss 的区别", "token-level loss 跟sequence-level loss 的区别"),
        ("19步有多少比例答对", "19步答对的比例是多少"),
        ("整组一个没对", "整组全错"),
        ("after step 22 出了啥事", "step 22 之后出了啥事"),
        ("total 多少 h", "total 多少小时"),
        ("梯度比0.5大的步数", "梯度大于0.5的步数"),
        ("长度比 300 短的有几步", "长度小于300的有几步"),
        ("update_actor 占几秒", "update_actor 花了几秒"),
        ("这个 mfu 是怎么得来的", "这个mfu是怎么算的"),
        ("第60步重算旧概率用时", "第60步算旧策略概率用时"),
        ("20 步里，熵是多少", "20 步里,熵是多少"),
        ("20 步里，熵平均是多少", "前20步里,熵平均是多少"),
    ],
)
def test_spoken_forms(said: str, meant: str) -> None:
    assert normalised(said).replace(" ", "") == meant.replace(" ", "")


@pytest.mark.parametrize("text", ["没没", "死机没", "飞行数据", "爆料", "到底", "记得", "数数", "为啥"])
def test_what_is_no_spoken_form_stays(text: str) -> None:
    assert normalised(text) == text


@pytest.mark.parametrize(
    "question", ["熵崩没崩", "entropy 塌没塌", "熵塌掉了吗", "entropy 塌掉了吗这是", "熵是不是崩了", "熵崩溃了吗"]
)
def test_whether_the_entropy_collapsed(question: str) -> None:
    answer = ask(question)
    assert answer.intent == "health"
    assert answer.verdict.code in {"critical", "warning"}


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("rollout_probs_diff_mean@46 多少", 46),
        ("grad_norm@30 是几", 30),
        ("熵@12", 12),
        ("我记得第三十八步熵挺大，到底多少", 38),
        ("第 38 步梯度挺高，是多少", 38),
    ],
)
def test_a_step_behind_a_name_or_a_remark(question: str, step: int) -> None:
    answer = ask(question)
    assert answer.intent == "lookup"
    assert answer.slots.steps.values == (step,)


def test_the_number_of_a_validation_is_no_step() -> None:
    rows = table()
    for step in (20, 40, 60):
        rows[step]["val-core/aime/acc/mean@30"] = 0.3
    answer = ask("mean@30 多少", run=run_of(rows))
    assert answer.slots.steps.kind != "single"


@pytest.mark.parametrize("told", ["3 的也说下", "第 3 步也报一下", "顺便说下 3 的", "3 也给一下"])
def test_what_is_to_be_told_as_well(told: str) -> None:
    answer = ask("step 2 的 entropy 多少", told)
    assert answer.intent == "lookup"
    assert answer.slots.steps.values == (3,)
    assert answer.slots.metrics == (ENTROPY,)


@pytest.mark.parametrize(
    "question", ["advantage 在第2步最大到多少", "第 2 步优势的最大值", "优势在 step 2 最大值是多少"]
)
def test_the_largest_at_a_step_named_between(question: str) -> None:
    assert ask(question).slots.metrics == (f"{ADV}/max",)


@pytest.mark.parametrize("question", ["44 步时新旧策略差了多少", "第44步更新前后策略的差距", "44 步新旧策略之间的 KL"])
def test_the_two_policies(question: str) -> None:
    line = lead(question)
    assert f"step 44 的 `{PPO_KL}`" in line


@pytest.mark.parametrize(
    ("question", "step"), [("哪一步平均回答最短", 60), ("平均回答最长是第几步", 1), ("哪步回答平均最短", 60)]
)
def test_the_mean_length_is_the_shortest(question: str, step: int) -> None:
    line = lead(question)
    assert f"`{LENGTH}`" in line
    assert f"step {step}" in line


@pytest.mark.parametrize("question", ["40 步时一条平均多长", "第 40 步平均每条多长", "第40步每条回答平均写多长"])
def test_how_long_one_is_on_the_average(question: str) -> None:
    assert f"step 40 的 `{LENGTH}`" in lead(question)


def test_how_much_each_step_shortened_is_a_trend() -> None:
    answer = ask("一步的时间有没有缩短")
    assert answer.intent == "trend"
    assert answer.verdict.code == "falling"


@pytest.mark.parametrize(
    ("text", "language"), [("英文，第3步的", "en"), ("中文：第 3 步", "zh"), ("第 3 步，英文", "en")]
)
def test_a_language_in_front(text: str, language: str) -> None:
    assert language_asked(text) == language


@pytest.mark.parametrize(
    ("question", "steps"),
    [("梯度范数比 0.33 大的步数", 12), ("grad norm 比0.33大的有几步", 12), ("熵比 0.1 小的步数", 22)],
)
def test_a_limit_told_as_a_comparison(question: str, steps: int) -> None:
    assert f"有 {steps} 个 step" in lead(question)


@pytest.mark.parametrize("question", ["回答平均长度是变长还是变短", "回答长度在变短吗", "平均长度是变大还是变小"])
def test_which_way_it_goes_is_a_trend(question: str) -> None:
    answer = ask(question)
    assert answer.intent == "trend"
    assert answer.verdict.code == "falling"


@pytest.mark.parametrize("asked", ["grad_norm 的也说说", "grad_norm 也看下", "顺便说说 grad_norm"])
def test_the_trend_of_another_as_well(asked: str) -> None:
    answer = ask("entropy 趋势", asked)
    assert answer.intent == "trend"
    assert answer.slots.metrics == (GRAD,)


@pytest.mark.parametrize("asked", ["0.2 呢", "那 0.2 呢"])
def test_another_limit(asked: str) -> None:
    assert "0.2" in lead("熵什么时候低于 0.4", asked)


def test_another_whole_limit() -> None:
    rows = {step: {**row, LENGTH: float(step)} for step, row in table().items()}
    line = ask("平均长度什么时候超过 20", "50 呢", run=run_of(rows)).answer.split("\n", 1)[0]
    assert "50" in line
    assert "step 51" in line


def test_the_highest_before_a_step_is_over_all_before_it() -> None:
    answer = ask("第23步前 score 最大多少")
    assert answer.slots.metrics == (SCORE,)
    assert answer.slots.steps.kind == "range"


@pytest.mark.parametrize("asked", ["同一步的 step time", "那步的单步耗时", "该步整步多久"])
def test_the_step_itself_after_one_of_its_stages(asked: str) -> None:
    rows = {step: {**row, "timing_s/gen": 50.0 + step} for step, row in table().items()}
    answer = ask("第 30 步 gen 花了多久", asked, run=run_of(rows))
    assert answer.slots.metrics == (STEP,)
    assert answer.slots.steps.values == (30,)


@pytest.mark.parametrize("asked", ["我这里是不是一样的", "在这份日志里两个相同吗", "这个 run 里一样吗"])
def test_whether_they_are_the_same_here(asked: str) -> None:
    rows = {step: {**row, "critic/rewards/mean": row[SCORE]} for step, row in table().items()}
    answer = ask("critic/score/mean 和 critic/rewards/mean 啥区别", asked, run=run_of(rows))
    assert set(answer.slots.metrics) == {SCORE, "critic/rewards/mean"}


@pytest.mark.parametrize(("asked", "step"), [("之前那步的 score 呢", 29), ("之后那步呢", 31), ("下一步呢", 31)])
def test_the_step_beside(asked: str, step: int) -> None:
    assert ask("第 30 步 score", asked).slots.steps.values == (step,)


def test_rows_by_their_number_alone() -> None:
    run = run_of({row: {"loss": 2.0 - 0.01 * row} for row in range(40)}, step_axis="index")
    assert ask("20行的 loss 是多少", run=run).slots.steps.values == (20,)
    assert ask("最后 3 行的 loss", run=run).slots.steps.kind == "last_n"
