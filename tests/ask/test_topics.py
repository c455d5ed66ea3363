"""Writers of single kinds of question: right, traced, alike in both languages."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import pytest

from assistant.analysis import Ledger
from assistant.ask.answers import TOPICS, answer
from assistant.ask.context import Context
from assistant.ask.engine import CODES, finish
from assistant.ask.understand import Query
from assistant.model import Answer, Fact, Number, Run, StepSlot
from assistant.service import Source, service
from tests.analysis.support import long_run, run_of, training_step

from .support import answerer, example_runs

LONG = long_run()
SHORT = run_of({1: training_step(1), 2: training_step(2)})
LOGS = {"example": example_runs(), "long": (LONG,), "short": (SHORT,)}


def told(
    topic: str, runs: Sequence[Run] = (LONG,), text: str = "", *, language: str = "en", steps: StepSlot = StepSlot(),  # noqa: B008
    intent: str = "explain", **more: Any,
) -> Answer:  # fmt: skip
    """The answer to a question whose topic was recognised; metrics are found in the text."""
    resolver = answerer().resolver
    mentions = tuple(resolver.mentions(text, runs[0].metrics, runs[0].framework))
    topics = (topic,) if topic else ()
    query = Query(text, language, intent, mentions, steps, topics=topics, **more)  # type: ignore[arg-type]
    context = Context(query, tuple(runs), resolver, Ledger(runs))
    verdict = answer(context)
    return finish(context, verdict, None, 0.0)


def facts_of(made: Answer) -> set[tuple[Any, ...]]:
    return {
        (f.kind, f.run, f.metric or f.name, f.step, f.from_step, f.to_step, repr(f.value), repr(f.delta), f.direction)
        for f in made.facts
    }  # fmt: skip


def fact(made: Answer, name: str) -> Fact:
    return next(f for f in made.facts if f.name == name)


def value(made: Answer, name: str) -> float:
    number = fact(made, name).value
    assert isinstance(number, (int, float))
    return float(number)


TEXTS = {
    "claim": "mean@30 0.23 -> 0.262",
    "sign": "actor/ppo_kl",
    "good": "actor/entropy",
    "premise": "why did entropy drop",
    "remaining": "total of 500 steps",
    "share": "timing_s/gen timing_s/update_actor",
    "same": "critic/score/mean critic/rewards/mean",
}


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("log", LOGS)
def test_answer_topic_in_both_languages_has_the_same_traced_facts(topic: str, log: str) -> None:
    zh, en = (told(topic, LOGS[log], TEXTS.get(topic, ""), language=language) for language in ("zh", "en"))
    assert facts_of(zh) == facts_of(en)
    assert zh.verdict.code == en.verdict.code
    assert zh.intent == en.intent == TOPICS[topic][0]
    assert zh.verdict.code in CODES[zh.intent]
    assert zh.grounding.unsupported == en.grounding.unsupported == ()
    assert zh.grounding.numbers == zh.grounding.supported
    assert zh.answer.startswith("**")
    assert re.search(r"[\u3400-\u9fff]", zh.answer)
    assert not re.search(r"[\u3400-\u9fff]", re.sub(r"`[^`]*`", "", en.answer))
    assert "\x02" not in zh.answer + zh.verdict.summary


# --- speed -------------------------------------------------------------------------------------------------


def slower_run(*, tokens: bool) -> Run:
    """Generation takes half as long again from step 11 on: for half as many tokens more, or for as many."""
    table: dict[int, dict[str, Number]] = {}
    for step in range(1, 21):
        values = training_step(step)
        if step > 10:
            more = 0.5 * float(values["timing_s/gen"])
            values["timing_s/gen"] = 3 * more
            values["timing_s/step"] = float(values["timing_s/step"]) + more
            for key in ("mean", "max"):
                values[f"timing_s/agent_loop/generate_sequences/{key}"] = 1.5 * float(
                    values[f"timing_s/agent_loop/generate_sequences/{key}"]
                )
            if tokens:
                values["response_length/mean"] = 1.5 * float(values["response_length/mean"])
        table[step] = values
    return run_of(table)


@pytest.mark.parametrize(("tokens", "said"), [(True, "there are more tokens"), (False, "each token takes longer")])
def test_why_slower_names_stage_and_cause(tokens: bool, said: str) -> None:
    made = told("slowdown", (slower_run(tokens=tokens),))
    assert made.verdict.code == "answered"
    assert "`timing_s/gen`" in made.verdict.summary
    assert said in made.verdict.summary


def test_why_slower_of_a_steady_run_says_that_it_did_not_get_slower() -> None:
    made = told("slowdown")
    assert "does not show a slow-down" in made.verdict.summary


def test_why_slower_without_times_says_what_is_missing() -> None:
    run = run_of({s: {"actor/entropy": 0.3} for s in range(1, 9)})
    made = told("slowdown", (run,))
    assert made.verdict.code == "no_data"
    assert "timing_s/step" in made.answer


def test_tokens_sums_what_the_log_holds_and_names_what_it_lacks() -> None:
    table = {s: training_step(s) for s in range(1, 6)}
    lost = table[3].pop("perf/total_num_tokens")
    made = told("tokens", (run_of(table),))
    held = [float(v["perf/total_num_tokens"]) for s, v in table.items() if s != 3]
    assert lost
    assert value(made, "tokens_so_far") == math.fsum(held)
    assert value(made, "mean_tokens_per_step") == round(math.fsum(held) / 4)
    assert value(made, "steps without tokens") == 1


def test_tools_without_tools_says_what_would_show_them() -> None:
    made = told("tools")
    assert made.verdict.code == "no_data"
    assert "agent loop" in made.answer


def test_tools_of_the_example_gives_their_share_of_generation() -> None:
    made = told("tools", example_runs())
    spent, whole = (
        next(float(f.value or 0) for f in made.facts if f.metric == key and f.step == 3)  # type: ignore[arg-type]
        for key in ("timing_s/agent_loop/tool_calls/mean", "timing_s/agent_loop/generate_sequences/mean")
    )
    assert value(made, "tool_calls") == pytest.approx(spent / whole)


# --- ahead -------------------------------------------------------------------------------------------------


def test_time_left_without_a_total_is_refused_with_the_pace() -> None:
    made = told("remaining")
    assert made.verdict.code == "inconclusive"
    assert "does not say how many steps" in made.verdict.summary
    assert value(made, "time_per_100_steps") == pytest.approx(100 * value(made, "mean_step_time"))


@pytest.mark.parametrize("text", ["总共 120 步，还要跑多久", "how long, 120 steps in total"])
def test_time_left_with_the_users_total_says_whose_it_is(text: str) -> None:
    made = told("remaining", text=text)
    left = fact(made, "remaining_seconds")
    assert value(made, "steps_left") == 100
    assert left.low is not None
    assert left.high is not None
    assert left.low < value(made, "remaining_seconds") < left.high
    assert "the question's, not the log's" in made.answer


DRIFTING = run_of({i: {"timing_s/step": 60.0 + 2 * i + (i * i) % 5} for i in range(1, 31)})


def test_time_left_of_drifting_step_times_gives_the_pace_and_no_interval() -> None:
    made = told("remaining", (DRIFTING,), "5000 steps in total, how long is left")
    assert value(made, "seconds_left_at_this_pace") == pytest.approx(4970 * value(made, "mean_step_time"))
    assert "days)" in made.verdict.summary
    assert "No interval is given" in made.answer
    assert not any(one.name == "remaining_seconds" for one in made.facts)


def test_time_of_many_more_steps_of_drifting_step_times_gives_the_pace() -> None:
    made = told("remaining", (DRIFTING,), "再跑 4000 步要多久", language="zh")
    assert value(made, "seconds_of_further_steps") == pytest.approx(4000 * value(made, "mean_step_time"))
    assert "不给区间" in made.answer


def test_time_left_of_few_step_times_gives_the_pace_and_says_that_no_interval_is_possible() -> None:
    few = run_of({i: {"timing_s/step": 60.0 + i % 3} for i in range(1, 9)})
    made = told("remaining", (few,), "100 steps in total, how long is left")
    assert value(made, "seconds_left_at_this_pace") == pytest.approx(92 * value(made, "mean_step_time"))
    assert "No interval is given: 8 step times do not show" in made.answer


def test_time_left_says_whether_its_interval_is_one_of_95_percent_or_of_at_least_that() -> None:
    still = run_of({i: {"timing_s/step": 60.0 + (7 * i) % 5} for i in range(1, 31)})
    assert "interval of 95%" in told("remaining", (still,), "60 steps in total, how long is left").answer
    assert "of at least 95%" in told("remaining", (DRIFTING,), "40 steps in total, how long is left").answer


def test_time_left_of_a_run_past_its_total_says_so() -> None:
    assert "at its end" in told("remaining", text="10 steps in total").verdict.summary


def test_forecast_of_a_value_ahead_has_an_interval() -> None:
    made = told("", text="critic/score/mean", intent="forecast", steps=StepSlot("single", (25,)))
    ahead = fact(made, "forecast/critic/score/mean")
    assert ahead.step == 25
    assert ahead.low is not None
    assert ahead.high is not None
    assert ahead.low < float(ahead.value or 0) < ahead.high  # type: ignore[arg-type]
    assert "trend holds" in made.verdict.summary


def test_forecast_without_a_trend_is_refused_with_the_reason() -> None:
    made = told("", text="actor/grad_norm", intent="forecast", steps=StepSlot("single", (25,)))
    assert "There is no trend of" in made.verdict.summary
    assert not any((f.name or "").startswith("forecast/") for f in made.facts)


def test_forecast_of_a_target_behind_the_trend_says_that_it_moves_away() -> None:
    made = told("", text="critic/score/mean", intent="forecast", threshold=("below", 0.01))
    assert "moves away" in made.verdict.summary


# --- best, worse -------------------------------------------------------------------------------------------


def test_best_goes_by_validation_where_there_are_several() -> None:
    made = told("best")
    assert made.slots.metrics[0] == "val-core/aime_2025/acc/mean@30"
    assert "Step 20 is the best" in made.verdict.summary
    assert "biased" in made.answer


def test_best_with_one_validation_goes_by_reward_and_says_why() -> None:
    made = told("best", example_runs())
    assert made.slots.metrics[0] == "critic/score/mean"
    assert "only one validation" in made.answer


def test_worst_is_the_other_end() -> None:
    assert "Step 0 is the worst" in told("worst").verdict.summary


def test_best_by_a_metric_without_direction_gives_both_ends() -> None:
    made = told("best", text="actor/entropy")
    assert "no better direction" in made.verdict.summary


def test_got_better_finds_the_rising_score_and_got_worse_does_not() -> None:
    better, worse = told("got_better"), told("got_worse")
    assert "`critic/score/mean`" in better.verdict.summary
    assert better.verdict.code == worse.verdict.code == "improved"
    assert "No metric can be shown to have got worse" in worse.verdict.summary


# --- NaN, memory, learning ---------------------------------------------------------------------------------


def test_not_finite_of_a_clean_run_counts_what_was_looked_at() -> None:
    made = told("nan")
    assert made.verdict.code == "healthy"
    assert value(made, "values in the log") == sum(len(LONG.cells(m)) for m in LONG.metrics)


def test_not_finite_names_the_first_step_and_every_metric() -> None:
    table = {s: training_step(s) for s in range(1, 9)}
    table[5]["actor/grad_norm"] = math.nan
    table[6]["actor/grad_norm"] = math.inf
    table[7]["actor/pg_loss"] = math.nan
    made = told("nan", (run_of(table),))
    assert made.verdict.code in {"warning", "critical"}
    assert "`actor/grad_norm` at step 5" in made.verdict.summary
    assert value(made, "metrics not finite") == 2
    assert "`actor/pg_loss`" in made.answer


def test_memory_that_does_not_grow_is_no_sign_of_an_oom_but_no_promise() -> None:
    made = told("memory")
    assert made.verdict.code == "healthy"
    assert "capacity is not in the log" in made.verdict.summary


def test_memory_that_grows_is_told() -> None:
    table = {s: training_step(s) | {"perf/cpu_memory_used_gb": 100.0 + 3 * s + 0.3 * (s % 3)} for s in range(1, 41)}
    made = told("memory", (run_of(table),))
    assert made.verdict.code != "healthy"
    assert re.search(r"[Mm]emory (is rising|grows)", made.verdict.summary)


def test_learning_by_validation_first() -> None:
    made = told("learning")
    assert made.slots.metrics[0] == "val-core/aime_2025/acc/mean@30"
    assert made.verdict.code == "healthy"


def test_learning_without_validation_says_that_it_is_not_confirmed() -> None:
    made = told("learning", (run_of({s: training_step(s) for s in range(1, 21)}),))
    assert "not confirmed" in made.verdict.summary
    assert "held-out" in made.answer or "test_freq" in made.answer


def test_validation_against_training_is_not_comparable() -> None:
    made = told("val_train", example_runs())
    assert made.verdict.code == "not_comparable"
    assert {f.metric for f in made.facts} >= {"val-core/aime_2025/acc/mean@30", "critic/score/mean"}


# --- stated figures ----------------------------------------------------------------------------------------


def test_stated_change_is_judged_with_the_logs_own_error_and_said_to_be_the_users() -> None:
    made = told("claim", example_runs(), "is mean@30 from 0.23 to 0.262 a real gain?")
    assert value(made, "z") == pytest.approx(2.4, abs=0.05)  # √2 · 0.0095 = 0.0134, 0.032 / 0.0134
    assert value(made, "p_value") == pytest.approx(0.017, abs=0.001)
    assert made.verdict.code == "inconclusive"
    assert "your figures" in made.answer
    assert "validation_data_dir" in made.answer
    assert fact(made, "stated_after").formula == "stated by the question"


def test_stated_change_within_noise_is_no_gain() -> None:
    made = told("claim", example_runs(), "val went 23.0% -> 23.9%, real?")
    assert "no real gain" in made.verdict.summary


def test_stated_change_that_the_log_holds_is_answered_from_the_log() -> None:
    made = told("claim", text="mean@30 from 0.230 to 0.270, real?")
    assert "Both values are in the log" in made.answer
    assert any(f.kind == "change" and (f.from_step, f.to_step) == (0, 20) for f in made.facts)


# --- why ---------------------------------------------------------------------------------------------------


def test_premise_of_a_collapse_that_did_not_happen_is_not_confirmed() -> None:
    made = told("premise", text="why did it collapse at step 4", steps=StepSlot("single", (4,)))
    assert "does not show that at step 4" in made.verdict.summary
    assert made.verdict.code == "healthy"


def test_premise_of_a_fall_that_was_a_rise_is_not_confirmed() -> None:
    made = told("premise", text="why did critic/score/mean drop")
    assert "does not show a fall" in made.verdict.summary


def test_premise_that_holds_is_told_with_what_moved_beside_it() -> None:
    made = told("premise", text="why did critic/score/mean rise")
    assert "does not show" not in made.verdict.summary
    assert "`actor/entropy`" in made.answer


def test_premise_of_a_collapse_that_a_rule_sees_is_shown() -> None:
    table = {s: training_step(s) for s in range(1, 41)}
    for step in range(20, 41):
        table[step]["critic/score/mean"] = table[step]["critic/rewards/mean"] = -1.0
        for part in ("max", "min"):
            table[step][f"critic/score/{part}"] = table[step][f"critic/rewards/{part}"] = -1.0
    made = told("premise", (run_of(table),), "why did it collapse at step 20", steps=StepSlot("single", (20,)))
    assert made.findings
    assert "does show it" in made.verdict.summary


def test_sign_of_a_metric_that_is_never_negative_says_so() -> None:
    assert "none of the" in told("sign", example_runs(), "why is actor/ppo_kl negative").verdict.summary


def test_good_of_a_metric_without_direction_depends() -> None:
    made = told("good", text="is rising entropy good")
    assert made.verdict.summary.startswith("It depends")
    assert [c.card for c in made.citations] == ["verl/actor/entropy"]


# --- several runs, the whole run ---------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["zh", "en"])
def test_explain_of_several_runs_gives_a_line_for_each(language: str) -> None:
    runs = [long_run(name="a.log"), long_run(6, id="r1", name="b.log"), long_run(id="r2", name="c.log")]
    made = told("", runs, language=language)
    assert all(f"| `{name}.log` |" in made.answer for name in "abc")
    assert {f.run for f in made.facts} == {"r0", "r1", "r2"}
    assert made.warnings == ()


def test_explain_of_a_whole_run_is_half_a_page_with_validation_first() -> None:
    made = told("")
    headings = re.findall(r"^### (.*)$", made.answer, re.M)
    assert headings.index("Is it learning?") < headings.index("Is it stable?") < headings.index("Is it efficient?")
    assert made.answer.index("val-core/aime_2025/acc/mean@30") < made.answer.index("critic/score/mean")
    assert "GPUs" in made.answer
    assert made.charts
    assert len(made.answer.split("### Is it learning?")[0].splitlines()) <= 6
    assert sum(math.ceil(max(len(line), 1) / 80) for line in made.answer.splitlines()) <= 60


def test_trend_of_a_jump_speaks_of_the_jump_instead_of_a_pace() -> None:
    table: dict[int, dict[str, Number]] = {
        s: {"actor/entropy": (0.3 if s < 20 else 0.6) + 0.004 * ((7 * s) % 5 - 2)} for s in range(1, 41)
    }
    made = told("", (run_of(table),), "actor/entropy", intent="trend")
    assert "by a jump" in made.verdict.summary
    assert "step 20" in made.verdict.summary
    assert "a step (" not in made.verdict.summary


def test_compare_of_a_fall_that_is_asked_for_as_a_rise_says_so_first() -> None:
    text = "actor/entropy: how much higher at step 20 than at step 1"
    made = told("", text=text, intent="compare", steps=StepSlot("pair", (1, 20)), all_steps=(20, 1))
    assert made.verdict.summary.startswith("Not higher but lower")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("每道题的结果", "validation_data_dir"), ("show me some samples", "rollout_data_dir"),
        ("which model is this", "model.path"), ("温度是多少", "配置"), ("what temperature was used", "configuration"),
    ],
)  # fmt: skip
def test_unlogged_things_are_said_to_be_absent_with_what_would_show_them(text: str, shown: str) -> None:
    language = "zh" if re.search(r"[\u3400-\u9fff]", text) else "en"
    made = told("unlogged", text=text, language=language)
    assert made.verdict.code == "no_data"
    assert shown in made.answer


def test_bottleneck_of_a_step_whose_line_was_cut_says_so_instead_of_denying_the_metric() -> None:
    rows = [f"step:{s} - actor/entropy:0.5 - timing_s/gen:10.0 - timing_s/step:20.0" for s in (1, 2, 3)]
    rows[1] = "step:2 - actor/entropy:0.5 - training/global_step:2"
    material = service().read([Source("a.log", "\n".join(rows))])
    answer = service().explain(material, "which stage takes most of the time at step 2?").answer
    assert answer.verdict.code == "no_data"
    assert "`timing_s/step`" in answer.answer
    assert "holds no `timing_s/step` with its stages" not in answer.answer


def test_how_much_longer_the_answers_are_asks_for_no_time() -> None:
    from assistant.ask.patterns import patterns

    remaining = next(pattern for name, pattern, _ in patterns().topics if name == "remaining")
    assert remaining.search("how much longer are the answers at the end than at the start?") is None
    assert remaining.search("how much longer will it take?") is not None
