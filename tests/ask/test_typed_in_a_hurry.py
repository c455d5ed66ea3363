"""Windows beside extremes, points as per cent, that step's mean, sets not validated on, products, claimed breaks."""

from __future__ import annotations

import pytest

from assistant.model import Answer
from tests.analysis.support import run_of

from .support import answerer

N = 40
LENGTH = {s: 500.0 + 11.0 * (s * 7 % 17) for s in range(1, N + 1)}
STEP = {s: 60.0 + 3.0 * (s * 5 % 13) + (40.0 if s == 23 else 0.0) for s in range(1, N + 1)}
ENTROPY = {s: round(0.9 - 0.01 * s + 0.003 * (s * 3 % 5), 4) for s in range(1, N + 1)}
KL = {s: round(0.001 * s, 5) for s in range(1, N + 1)}
ACC = {s: round(0.4 + 0.0051 * s, 4) for s in (1, *range(5, N + 1, 5))}


def rows(scale: float = 1.0, base: str = "math500") -> dict[int, dict[str, float]]:
    made = {
        s: {
            "response_length/mean": LENGTH[s], "response_length/max": 4.0 * LENGTH[s], "timing_s/step": STEP[s],
            "timing_s/gen": 0.7 * STEP[s], "timing_s/testing": 0.0, "actor/entropy": ENTROPY[s] * scale,
            "actor/kl_loss": KL[s] * scale, "actor/kl_coef": 0.005, "critic/score/mean": 0.3 + 0.01 * s,
        }
        for s in range(1, N + 1)
    }  # fmt: skip
    for s, row in made.items():
        del row["timing_s/testing"]
        if s in ACC:
            row |= {
                f"val-core/{base}/acc/mean@4": ACC[s], f"val-core/{base}/acc/maj@4/mean": round(ACC[s] + 0.03, 4),
                f"val-core/{base}/acc/best@4/mean": round(ACC[s] + 0.2, 4), "timing_s/testing": 30.0 + s,
            }  # fmt: skip
        if s in {10, 20, 30}:
            row["timing_s/save_checkpoint"] = 5.0
    return made


RUN = run_of(rows())


def ask(*turns: str) -> Answer:
    state = None
    for turn in turns:
        made, state = answerer().ask(turn, [RUN], state=state)
    return made


def slots(made: Answer) -> dict[str, object]:
    return dict(made.to_json()["slots"])


def values(made: Answer) -> set[float]:
    return {round(f.value, 5) for f in made.facts if isinstance(f.value, (int, float))}


@pytest.mark.parametrize("n", [6, 12, 15])
@pytest.mark.parametrize(
    ("metric", "held"), [("response_length/mean", LENGTH), ("timing_s/step", STEP), ("actor/entropy", ENTROPY)]
)
def test_the_lowest_of_the_last_steps_is_one_value_and_no_ranking(n: int, metric: str, held: dict[int, float]) -> None:
    part = {s: v for s, v in held.items() if s > N - n}
    made = ask(f"最后 {n} 步 {metric} 最低是多少，哪一步")
    low = min(part, key=lambda s: part[s])
    assert slots(made)["steps"] == {"kind": "last_n", "values": [n]}
    assert {(f.step, f.value) for f in made.facts if f.kind == "value"} >= {(low, part[low])}
    assert str(low) in made.verdict.summary
    assert "个 step：" not in made.verdict.summary


def test_a_step_before_the_shortest_answer_is_that_step() -> None:
    made = ask("12 步最长的那条回答几个 token")
    assert slots(made)["steps"] == {"kind": "single", "values": [12]}
    assert 4.0 * LENGTH[12] in values(made)


@pytest.mark.parametrize("rank", ["response_length/mean 最长的 3 步", "最高的 3 步 response_length/mean"])
def test_a_ranking_is_still_one(rank: str) -> None:
    top = sorted(LENGTH, key=lambda s: -LENGTH[s])[:3]
    made = ask(rank)
    assert all(f"step {s}" in made.verdict.summary for s in top)


@pytest.mark.parametrize(
    ("first", "second", "tag"),
    [(40.51, 60.4, "这是涨了吧"), (40.51, 60.4, "，对吧"), (40.5, 60.4, "，涨得明显吗")],
)
def test_an_accuracy_given_in_points_is_per_cent(first: float, second: float, tag: str) -> None:
    made = ask(f"验证从 {first} 涨到 {second}{tag}")
    assert "不对" not in made.answer
    assert "个百分点" not in made.answer or not any(abs(v) > 200 for v in values(made))
    assert all(f"step {s}" in made.answer for s in (1, 40))


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("那步回答平均多长", "response_length/mean"),
        ("那一步平均熵多少", "actor/entropy"),
        ("那步的 kl_loss 均值", "actor/kl_loss"),
        ("what was the mean response length at that step", "response_length/mean"),
    ],
)
def test_a_mean_at_that_step_is_no_mean_of_the_run(question: str, metric: str) -> None:
    made = ask("哪步最慢" if not question.isascii() else "which step is the slowest", question)
    assert slots(made)["steps"] == {"kind": "single", "values": [23]}
    assert RUN.value(metric, 23) in {f.value for f in made.facts}
    assert slots(made)["op"] is None


@pytest.mark.parametrize(("side", "part"), [("那步之后", range(24, N + 1)), ("那步之前", range(1, 23))])
def test_a_mean_after_that_step_is_of_what_came_after(side: str, part: range) -> None:
    made = ask("哪步最慢", f"{side}平均回答多长")
    mean = sum(LENGTH[s] for s in part) / len(part)
    assert any(abs(v - mean) < 1e-3 for v in values(made))


@pytest.mark.parametrize("name", ["GPQA", "AIME 2025", "gsm8k", "HumanEval", "MMLU-Pro"])
@pytest.mark.parametrize("asked", ["{} 上考了多少", "{} 最后多少分", "what is the final {} score"])
def test_a_set_that_was_not_validated_on_is_not_answered_with_another(name: str, asked: str) -> None:
    made = ask(asked.format(name))
    assert made.verdict.code == "no_data"
    assert name.lower() in made.answer.lower()
    assert "math500" in made.answer
    assert not values(made)


@pytest.mark.parametrize("name", ["MATH-500", "math500", "math 500"])
def test_a_set_in_another_spelling_is_that_set(name: str) -> None:
    assert ask(f"{name} 最后多少分").verdict.code == "answered"


def test_the_year_of_a_set_counts() -> None:
    aime = run_of(rows(base="aime_2024"))
    for name, code in (("AIME", "answered"), ("AIME24", "answered"), ("AIME 2025", "no_data"), ("AIME25", "no_data")):
        assert answerer().ask(f"{name} 最后多少分", [aime])[0].verdict.code == code
    assert answerer().ask("aime 23% 这个数能信吗", [aime])[0].verdict.code != "no_data"


@pytest.mark.parametrize(
    ("question", "step"),
    [
        ("第 30 步 kl_loss 和 kl_coef，乘起来是多少", 30), ("kl_loss 和 kl_coef 在第 7 步相乘是多少", 7),
        ("what is the product of kl_loss and kl_coef at step 12", 12), ("最后一步 kl_loss 和 kl_coef 的乘积", N),
    ],
)  # fmt: skip
def test_a_product_of_two_metrics_is_told(question: str, step: int) -> None:
    made = ask(question)
    assert round(KL[step] * 0.005, 9) in {round(f.value, 9) for f in made.facts if isinstance(f.value, float)}
    assert str(step) in made.verdict.summary


@pytest.mark.parametrize("question", ["avg 跟投票（maj）差几个点，最后一次验证", "最后一次验证 mean 和 maj 差多少"])
def test_mean_and_majority_without_their_numbers(question: str) -> None:
    made = ask(question)
    assert {f"val-core/math500/acc/{end}" for end in ("mean@4", "maj@4/mean")} <= set(made.slots.metrics)
    last = ACC[max(ACC)]
    assert {round(last, 4), round(last + 0.03, 4)} <= {round(v, 4) for v in values(made)}
    assert any(abs(abs(v) - 0.03) < 1e-6 for v in values(made))


@pytest.mark.parametrize(
    ("question", "says"),
    [("第 3 步最慢吧", "step 23"), ("第 23 步最慢对吧", "对"), ("step 23 was the slowest, right?", "Yes")],
)
def test_whether_a_step_was_the_slowest_is_looked_up(question: str, says: str) -> None:
    assert says in ask(question).verdict.summary


@pytest.mark.parametrize(
    ("question", "denied"), [("回答长度暴涨了吧", True), ("熵暴跌了吧", False), ("回答长度飙升了吧", True)]
)
def test_a_small_move_is_no_leap(question: str, denied: bool) -> None:
    steady = run_of(
        {s: {"response_length/mean": 1000.0 + 2.0 * s, "actor/entropy": 0.9 - 0.02 * s} for s in range(1, 41)}
    )
    assert answerer().ask(question, [steady])[0].verdict.summary.startswith("不对") is denied


@pytest.mark.parametrize("n", [8, 12])
@pytest.mark.parametrize("words", ["最后 {} 步跟前面比，得分是升是降", "last {} steps against the earlier ones: score"])
def test_the_last_steps_against_all_earlier_ones(n: int, words: str) -> None:
    made = ask(words.format(n))
    assert made.intent == "compare"
    assert f"{N - n}" in made.answer
    assert f"{N - n + 1}" in made.answer


@pytest.mark.parametrize("question", ["第 25 步之后还存过 checkpoint 吗", "第 25 步之后就没存过 checkpoint 了吧"])
def test_saves_are_told_where_they_are_doubted(question: str) -> None:
    made = ask(question)
    assert slots(made)["metrics"] == ["timing_s/save_checkpoint"]
    assert "30" in made.answer


@pytest.mark.parametrize("question", ["验证一共占掉了多少时间", "验证总共吃掉了多久"])
def test_time_that_validations_took_in_all(question: str) -> None:
    assert round(sum(30.0 + s for s in ACC), 5) in values(ask(question))


@pytest.mark.parametrize("question", ["推测下第 44 步的熵", "帮忙预估一下第 44 步的熵"])
def test_a_guess_ahead_is_a_forecast(question: str) -> None:
    assert ask(question).intent == "forecast"


@pytest.mark.parametrize("question", ["跑满 60 步还得几个钟头", "训满 60 步还要多久"])
def test_time_until_a_number_of_steps(question: str) -> None:
    made = ask(question)
    assert made.intent == "forecast"
    assert "剩 20 步" in made.answer


def test_half_is_a_limit() -> None:
    made = ask("critic/score/mean 什么时候过半的")
    assert slots(made)["op"] == "first_crossing"
    assert made.verdict.summary.count("step 21")


@pytest.mark.parametrize("asked", ["触底", "见底", "最低"])
def test_the_epoch_of_an_extreme(asked: str) -> None:
    tuned = run_of(
        {s: {"eval_loss": (s - 14) ** 2 / 100 + 1.0, "epoch": s / 10, "loss": 2.0 - s / 50} for s in range(1, 31)}
    )
    made, _ = answerer().ask(f"eval_loss {asked}是在第几个 epoch", [tuned])
    assert 1.4 in values(made)
    assert slots(made)["op"] == "argmin"


def runs() -> list:  # type: ignore[type-arg]
    calm = run_of(rows())
    wild = run_of({s: row | {"actor/entropy": max(0.002, 0.45 * 0.7 ** max(0, s - 20))} for s, row in rows().items()})
    return [calm, wild]


def test_how_many_times_the_value_of_another_run() -> None:
    pair = [run_of(rows()), run_of(rows(scale=4.0))]
    made, _ = answerer().ask("第 30 步谁的 kl_loss 大，大几倍", pair)
    assert any(f.kind == "derived" and isinstance(f.value, float) and abs(f.value - 4.0) < 1e-6 for f in made.facts)


def test_which_run_s_metric_went_wrong_looks_at_every_run() -> None:
    made, _ = answerer().ask("哪个 run 的熵出问题了", runs())
    assert made.verdict.code in {"warning", "critical"}
    calm, _ = answerer().ask("哪个 run 的熵出问题了", [run_of(rows()), run_of(rows(scale=1.1))])
    assert calm.verdict.code == "healthy"


@pytest.mark.parametrize("step", [5, 10, 20])
@pytest.mark.parametrize("words", ["工具第 {} 步就挂了吧", "工具在第 {} 步就出问题了，为啥没人发现"])
def test_a_break_claimed_too_early_is_denied(step: int, words: str) -> None:
    down = {
        s: {
            "timing_s/agent_loop/tool_calls/mean": 2.0 + 0.1 * (s % 5) + (90.0 if s >= 42 else 0.0),
            "timing_s/agent_loop/tool_calls/max": 9.0 + (s % 7) + (400.0 if s >= 42 else 0.0),
            "tool_call_counts/mean": 2.4 + 0.01 * (s % 4), "actor/grad_norm": 0.5 + 0.01 * (s % 6),
            "timing_s/step": 100.0 + s % 9 + (300.0 if s >= 42 else 0.0),
            "timing_s/gen": 80.0 + s % 9 + (300.0 if s >= 42 else 0.0), "critic/score/mean": 0.5 + 0.002 * s,
            "actor/entropy": 0.6, "response_length/mean": 900.0 + s % 11,
        }
        for s in range(1, 81)
    }  # fmt: skip
    made, _ = answerer().ask(words.format(step), [run_of(down)])
    assert made.verdict.summary.startswith(f"不对：step {step}")
    assert "42" in made.verdict.summary
    late, _ = answerer().ask("工具第 42 步就挂了吧", [run_of(down)])
    assert not late.verdict.summary.startswith("不对")


def test_a_loss_of_zero_throughout_does_not_hide_the_score() -> None:
    scored = run_of(
        {
            s: {"reward": 0.4 + 0.01 * s, "eval_loss": 0.0, "eval_reward": 0.4 + 0.01 * s, "loss": 0.02}
            for s in range(5, 65, 5)
        }
    )
    made, _ = answerer().ask("eval 一路下滑，是不是过拟合了", [scored])
    assert "eval_reward" in made.answer
    assert made.verdict.code == "healthy"
