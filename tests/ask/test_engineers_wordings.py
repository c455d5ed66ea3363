"""Wordings of working questions: means at steps named, the pace of what was told, best at the end, time to save."""

from __future__ import annotations

import pytest

from assistant.ask.query import State
from assistant.model import Answer, Number, Run
from assistant.parsing import parse_text
from tests.analysis.support import run_of, training_step

from .support import answerer

STEPS = 40
SLOWEST = 17


def run(**more: float) -> Run:
    """Validation is best at step 20; generation takes longest at one step; memory grows by a quarter GiB a step."""
    table: dict[int, dict[str, Number]] = {}
    for step in range(1, STEPS + 1):
        gen = 90.0 if step == SLOWEST else 40.0 + step % 2
        table[step] = {
            **training_step(step), "actor/entropy": 0.5 - 0.005 * step, "num_turns/mean": 5.0 + 0.1 * step,
            "tool_call_counts/mean": 3.0 - 0.02 * step, "response_length/mean": 200.0 + 10 * step,
            "timing_s/gen": gen, "timing_s/update_actor": 10.0, "timing_s/ref": 2.0 + 0.01 * step,
            "timing_s/old_log_prob": 1.0,
            "timing_s/step": gen + 13.0, "perf/max_memory_allocated_gb": 40.0 + 0.25 * step,
            "actor/reward_kl_penalty": 0.001 * step, "rollout_corr/kl": 0.01 * step, **more,
        }  # fmt: skip
    for step in (10, 20, 30, 40):
        table[step]["val-core/math500/acc/mean@1"] = 0.6 if step == 20 else 0.5 + 0.001 * step
    return run_of(table)


def ask(*turns: str, one: Run | None = None) -> Answer:
    state: State | None = None
    for turn in turns:
        made, state = answerer().ask(turn, [one or run()], state=state)
    return made


def lead(*turns: str) -> str:
    return ask(*turns).answer.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "values"),
    [
        ("average number of turns at step 8 and at step 4", ("5.40", "5.80", "5.60")),
        ("mean response length at steps 10, 20 and 30", ("300", "400", "500")),
    ],
)
def test_mean_at_steps_named_tells_each_of_them(question: str, values: tuple[str, ...]) -> None:
    said = lead(question)
    assert all(value in said or value.rstrip("0") in said for value in values), said


@pytest.mark.parametrize(
    ("question", "key", "step"),
    [
        ("which step had the fewest tool calls on average and how many", "tool_call_counts/mean", 40),
        ("which step had the most turns on average", "num_turns/mean", 40),
        ("which step had the shortest answers on average", "response_length/mean", 1),
    ],
)
def test_extreme_of_a_mean_is_its_step_and_value(question: str, key: str, step: int) -> None:
    made = ask(question)
    assert made.slots.op in {"argmin", "argmax"}
    assert any(f.metric == key and f.step == step and f.kind == "value" for f in made.facts)
    assert f"step {step}" in made.answer.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "said"), [("did entropy ever top 0.4?", "0.4"), ("does the response length ever top 500", "500")]
)
def test_top_as_a_verb_is_a_limit(question: str, said: str) -> None:
    assert "with the largest" not in lead(question)
    assert said in lead(question)


@pytest.mark.parametrize(
    "question",
    [
        "how much longer is an average answer now than at the beginning",
        "how much longer are the answers at step 40 than at step 1",
    ],
)
def test_longer_answers_are_the_length_at_both_ends(question: str) -> None:
    made = ask(question)
    assert next(iter(made.slots.metrics)) == "response_length/mean"
    assert "210" in made.answer.splitlines()[0]
    assert "600" in made.answer.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("rollout vs trainer kl at step 9", "rollout_corr/kl"),
        ("kl between rollout and trainer at step 9", "rollout_corr/kl"),
        ("kl penalty put into the reward at step 9?", "actor/reward_kl_penalty"),
        ("ref model pass, step 9: seconds?", "timing_s/ref"),
    ],
)
def test_plain_words_name_one_metric(question: str, key: str) -> None:
    made = ask(question)
    assert made.intent == "lookup"
    assert list(made.slots.metrics) == [key]


@pytest.mark.parametrize(
    "question",
    ["did validation hit its best at the end?", "is the last validation the best one?", "最后一次验证是最好的吗"],
)
def test_best_at_the_end_is_yes_or_no_with_both_values(question: str) -> None:
    said = lead(question)
    assert said.startswith(("**No:", "**不是："))
    assert "60.0%" in said
    assert "54.0%" in said


@pytest.mark.parametrize(
    "question", ["is response length highest at the end?", "最后的 response_length/mean 是不是最高的"]
)
def test_highest_at_the_end_is_yes(question: str) -> None:
    assert lead(question).startswith(("**Yes:", "**是："))


@pytest.mark.parametrize(
    "question",
    [
        "how can I make the steps faster", "how can the steps be made faster",
        "can I cut the time per step without hurting anything", "how can I speed up the steps?",
    ],
)  # fmt: skip
def test_time_to_save_is_said_first(question: str) -> None:
    made = ask(question)
    assert made.intent == "advice"
    assert "`timing_s/gen`" in made.answer.splitlines()[0]


@pytest.mark.parametrize(
    ("turns", "value"),
    [
        (("response length at step 10", "at 40?", "how many times longer is that"), "2 times"),
        (("response length at step 10", "and at 40?", "by what factor is that more"), "2 times"),
        (("is the gpu memory growing?", "by how much per step"), "+0.25 GiB"),
        (("slowest step", "and the fastest", "what made the slow one slow?"), f"step {SLOWEST}"),
        (("slowest step", "what made it so slow?"), f"step {SLOWEST}"),
    ],
)
def test_follow_up_goes_on_from_what_was_told(turns: tuple[str, ...], value: str) -> None:
    assert value in lead(*turns)


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("response length in 20 more steps?", "forecast"),
        ("what to change so that it doesn't happen again", "advice"),
        ("can you already tell whether it works", "health"),
        ("looks dead after 30 to me. agree?", "health"),
        ("direction of entropy?", "trend"),
        ("at this rate when do we run out of an 80 GB card", "forecast"),
    ],
)
def test_wording_has_the_intent_of_what_is_meant(question: str, intent: str) -> None:
    made = ask(question)
    assert made.intent == intent
    if "GB" in question:
        assert list(made.slots.metrics) == ["perf/max_memory_allocated_gb"]


@pytest.mark.parametrize(
    "question",
    [
        "percentage of the step that goes into updating the actor, step 9",
        "share of the step spent in the actor update, step 9",
    ],
)
def test_share_of_a_step_is_of_the_stage_named(question: str) -> None:
    assert lead(question).startswith("**At step 9, `timing_s/update_actor` takes 18.")


def test_counter_per_step_is_its_pace_and_not_the_mean_of_the_counter() -> None:
    one = run_of({s: {"loss": 0.1, "num_tokens": 1000.0 * s, "reward": 0.5} for s in range(1, 21)})
    made = ask("tokens seen per step on average?", one=one)
    assert "1,000 tokens a step" in made.answer.splitlines()[0]


def test_gradient_is_zero_because_every_answer_scores_nothing() -> None:
    table = {
        s: {"actor/grad_norm": 0.3 if s < 8 else 0.0, "critic/score/mean": 0.4 if s < 8 else 0.0,
            "critic/score/max": 1.0 if s < 8 else 0.0, "critic/score/min": 0.0,
            "critic/advantages/max": 2.0 if s < 8 else 0.0, "critic/advantages/min": -2.0 if s < 8 else 0.0,
            "actor/pg_loss": 0.1 if s < 8 else 0.0, "response_length/mean": 300.0}
        for s in range(1, 21)
    }  # fmt: skip
    made = ask("why is the gradient zero", one=run_of(table))
    assert "Every answer scores 0" in made.answer.splitlines()[0]
    assert made.verdict.code in {"warning", "critical"}


@pytest.mark.parametrize(
    ("question", "stage"),
    [
        ("second most expensive stage at step 9?", "timing_s/update_actor"),
        ("第二慢的阶段是哪个，step 9", "timing_s/update_actor"),
        ("third longest stage at step 9", "timing_s/ref"),
    ],
)
def test_nth_stage_is_of_the_order_by_time(question: str, stage: str) -> None:
    assert f"`{stage}`: " in lead(question) or f"`{stage}`：" in lead(question)


@pytest.mark.parametrize("question", ["pass@8 on math500?", "best@16 at step 20", "maj@4 最近是多少"])
def test_statistic_that_is_not_logged_is_not_another(question: str) -> None:
    made = ask(question)
    assert made.verdict.code == "no_data"
    assert "`mean@1`" in made.answer.splitlines()[0]


def test_statistic_that_is_logged_is_told() -> None:
    assert "60.0%" in lead("math500 mean@1 at step 20")


@pytest.mark.parametrize(
    ("turns", "said"),
    [
        (("best math500?", "worst?", "what's the gap between the two"), "9.00 pp"),
        (("response length at step 10", "at 40?", "so how much did it grow, in percent"), "+100"),
        (("entropy at step 10", "and at 40", "by how much, in percent"), "-33"),
    ],
)
def test_follow_up_about_two_values_told(turns: tuple[str, ...], said: str) -> None:
    assert said in lead(*turns)


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("average calls per trajectory at step 9", "tool_call_counts/mean"),
        ("development of entropy", "actor/entropy"),
        ("how long will a step take at step 60", "timing_s/step"),
    ],
)
def test_other_plain_words_name_one_metric(question: str, key: str) -> None:
    assert list(ask(question).slots.metrics) == [key]


def test_best_and_worst_of_a_part_are_both_told() -> None:
    said = lead("best and worst entropy over steps 10 to 20")
    assert "0.45" in said
    assert "0.4" in said.replace("0.45", "")


def test_first_row_with_a_limit_is_the_row_that_meets_it() -> None:
    rows = "\n".join(str({"loss": 2.0 - 0.1 * n, "learning_rate": 1e-5, "epoch": 0.1 * n}) for n in range(20))
    run_ = parse_text(rows).runs[0]
    assert "row 11" in ask("first row with a loss below 1", one=run_).answer.splitlines()[0]


def test_running_total_is_not_summed() -> None:
    one = run_of({s: {"system/samples": 256.0 * s, "critic/score/mean": 0.5} for s in range(1, 21)})
    assert "5,120" in ask("total answers sampled in the whole run", one=one).answer.splitlines()[0]
