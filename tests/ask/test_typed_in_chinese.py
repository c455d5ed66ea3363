"""Questions as Chinese engineers type them: in letters, with Chinese signs, clipped follow-ups, parts of names."""

from __future__ import annotations

from functools import lru_cache

import pytest

from assistant.ask.understand import continued_language, language_of
from assistant.ask.wording import normalised
from assistant.model import Answer, Number, Run
from assistant.parsing import parse_text
from tests.analysis.support import run_of

from .support import answerer

STEPS = range(1, 41)
ENTROPY, GRAD, SCORE, LENGTH = "actor/entropy", "actor/grad_norm", "critic/score/mean", "response_length/mean"
STEP, GEN, WEIGHTS, ADV = "timing_s/step", "timing_s/gen", "timing_s/update_weights", "timing_s/adv"
VAL, MAJ = "val-core/aime/acc/mean@8", "val-core/aime/acc/maj@8/mean"
PEAK, SLOWEST = 12, 17


def table() -> dict[int, dict[str, Number]]:
    """A score that falls from step 12 on, a step that is slower than all others, a validation every tenth step."""
    rows: dict[int, dict[str, Number]] = {}
    for step in STEPS:
        rows[step] = {
            ENTROPY: round(0.6 - 0.005 * step, 4),
            GRAD: round(0.3 + 0.01 * (step % 5), 4),
            SCORE: round(0.2 + 0.02 * step if step <= PEAK else 0.44 - 0.01 * (step - PEAK), 4),
            LENGTH: 500.0 + 3 * (step % 4), "response_length/max": 900.0 + step, "response_length/min": 10.0 + step,
            STEP: 150.0 if step == SLOWEST else 100.0 + step % 3, GEN: 60.0 + step % 2, WEIGHTS: 5.0, ADV: 0.5,
            "timing_s/update_actor": 20.0, "timing_s/old_log_prob": 6.0, "timing_s/ref": 4.0, "timing_s/reward": 1.0,
            "timing_s/testing": 30.0,
            "perf/throughput": 700.0 + step, "perf/max_memory_allocated_gb": 40.0,
            "perf/max_memory_reserved_gb": 44.0,
        }  # fmt: skip
        if step % 10 == 0:
            rows[step] |= {VAL: round(0.3 + step / 1000, 4), MAJ: round(0.4 + step / 1000, 4)}
    return rows


@lru_cache(maxsize=1)
def made() -> Run:
    return run_of(table())


def ask(*turns: str, runs: tuple[Run, ...] | None = None) -> Answer:
    state = None
    for turn in turns:
        answer, state = answerer().ask(turn, runs or (made(),), state=state)
    return answer


def first(answer: Answer) -> str:
    return answer.answer.split("\n", 1)[0]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("grad norm，step 30？", "zh"),
        ("entropy @ step 12，thx", "zh"),
        ("kl（step 5）", "zh"),
        ("step 30 de entropy shi duoshao", "zh"),
        ("reward zenmeyang", "zh"),
        ("zhengchang ma", "zh"),
        ("val acc zuigao shi na yi bu", "zh"),
        ("what is the entropy at step 5？", "en"),
        ("is the run ok？", "en"),
        ("first time kl > 0.05", "en"),
        ("step 10 entropy", "en"),
        ("what shang means", "en"),
    ],
)
def test_language_of_text_without_characters_goes_by_its_signs_and_words(text: str, language: str) -> None:
    assert language_of(text) == language
    assert continued_language(text, None, language_of(text)) == language


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("step 30 de entropy shi duoshao", "step 30 的 entropy 是 多少"),
        ("reward zhang le ma", "reward 涨了 吗"),
        ("de facto entropy", "de facto entropy"),
        ("li et al. entropy", "li et al. entropy"),
    ],
)
def test_chinese_in_letters_becomes_characters_where_a_sure_word_stands(typed: str, meant: str) -> None:
    assert normalised(typed) == meant


def test_chinese_in_letters_is_answered_as_chinese() -> None:
    answer = ask("step 30 de grad norm shi duoshao")
    assert answer.language == "zh"
    assert [(f.metric, f.step, f.value) for f in answer.facts if f.kind == "value"] == [(GRAD, 30, 0.3)]


@pytest.mark.parametrize("question", ["最慢的是哪步", "最慢的是第几步", "最慢的是哪个 step", "最快的是哪一步"])
def test_slowest_of_the_steps_is_a_step_and_no_stage(question: str) -> None:
    answer = ask(question)
    assert list(answer.slots.metrics) == [STEP]
    if "慢" in question:
        assert f"step {SLOWEST}" in first(answer)


def test_step_told_as_the_slowest_is_that_step_in_a_follow_up() -> None:
    answer = ask("最慢的是哪步", "那一步的吞吐多少")
    assert [(f.metric, f.step, f.value) for f in answer.facts if f.kind == "value"] == [
        ("perf/throughput", SLOWEST, 700.0 + SLOWEST)
    ]


@pytest.mark.parametrize(
    ("question", "metric", "step"),
    [
        ("response len 的 max，step 20", "response_length/max", 20),
        ("step 20 response length 的 min", "response_length/min", 20),
        ("step 20 的 maj@8 acc", MAJ, 20),
        ("maj@8 acc at step 20", MAJ, 20),
        ("step 20 的 acc", VAL, 20),
    ],
)
def test_part_of_a_name_is_no_other_metric(question: str, metric: str, step: int) -> None:
    answer = ask(question)
    assert list(answer.slots.metrics) == [metric]
    assert (metric, step, made().value(metric, step)) in [(f.metric, f.step, f.value) for f in answer.facts]


@pytest.mark.parametrize("question", ["第 15 步各阶段耗时列出来", "step 15 的 timing 全部 list 一下"])
def test_all_stages_of_a_step_are_all_that_the_log_holds(question: str) -> None:
    answer = ask(question)
    stages = {name for name in made().metrics if name.startswith("timing_s/")}
    assert {f.metric for f in answer.facts if f.step == 15} >= stages


def test_metrics_of_a_kind_asked_for_at_a_step_are_told_at_that_step() -> None:
    answer = ask("列一下 step 10 所有的长度指标")
    values = {f.metric: f.value for f in answer.facts if f.kind == "value"}
    assert values == {LENGTH: 506.0, "response_length/max": 910.0, "response_length/min": 20.0}
    assert {f.step for f in answer.facts if f.kind == "value"} == {10}


def test_mean_of_a_rate_of_each_gpu_says_so() -> None:
    assert "tokens/s/GPU" in first(ask("throughput average，前 20 steps"))


def test_value_between_two_validations_names_both() -> None:
    run = run_of({step: {**row, **({VAL: step / 100} if step % 4 == 0 else {})} for step, row in table().items()})
    answer = ask("val acc at step 18", runs=(run,))
    assert answer.verdict.code == "no_data"
    assert "16.0% at step 16" in first(answer)
    assert "20.0% at step 20" in first(answer)


@pytest.mark.parametrize(
    ("turns", "metric", "kind", "values"),
    [
        (("看下 step 10 的 grad norm", "entropy?"), ENTROPY, "single", (10,)),
        (("grad norm at step 10", "entropy?"), ENTROPY, "single", (10,)),
        (("entropy 最后是多少", "第一条呢"), ENTROPY, "first", ()),
    ],
)
def test_clipped_follow_up_keeps_what_it_does_not_say(
    turns: tuple[str, ...], metric: str, kind: str, values: tuple[int, ...]
) -> None:
    answer = ask(*turns)
    assert (list(answer.slots.metrics), answer.slots.steps.kind, tuple(answer.slots.steps.values)) == (
        [metric], kind, values,
    )  # fmt: skip


@pytest.mark.parametrize(
    "turns", [("compare step 4 和 8", "vs step 12 呢"), ("step 4 和 step 8 比", "和 step 12 比呢")]
)
def test_third_step_is_held_against_the_first_of_a_comparison(turns: tuple[str, ...]) -> None:
    answer = ask(*turns)
    assert answer.intent == "compare"
    assert set(answer.slots.steps.values) == {4, 12}


@pytest.mark.parametrize("said", ["只说验证", "只看验证", "验证呢"])
def test_one_metric_of_an_account_of_the_run_is_told_and_not_defined(said: str) -> None:
    answer = ask("分析一下", said)
    assert answer.intent in {"trend", "validation"}
    assert list(answer.slots.metrics) == [VAL]
    assert made().value(VAL, 40) in [f.value for f in answer.facts if f.metric == VAL]


@pytest.mark.parametrize("said", ["用中文说", "讲中文", "in Chinese please"])
def test_asking_for_a_language_repeats_the_answer_in_it(said: str) -> None:
    before, answer = ask("timing breakdown at step 15"), ask("timing breakdown at step 15", said)
    assert (before.language, answer.language) == ("en", "zh")
    assert answer.intent == before.intent == "bottleneck"
    assert answer.slots == before.slots


@pytest.mark.parametrize("said", ["短一点，one sentence", "太长了，一句话", "in one sentence"])
def test_one_sentence_is_the_first_alone(said: str) -> None:
    whole, answer = ask("这个 run 咋样"), ask("这个 run 咋样", said)
    paragraphs = [block for block in answer.answer.split("\n\n") if not block.startswith(("来源", "Sources"))]
    assert len(paragraphs) == 1
    assert answer.language == "en" or first(answer) == first(whole)


@pytest.mark.parametrize(
    ("question", "says", "direction"),
    [
        ("score 从什么时候开始掉的", f"step {PEAK}", "falling"),
        ("score 从哪个 step 开始 drop", f"step {PEAK}", "falling"),
        ("when did the score start to fall", f"step {PEAK}", "falling"),
        ("entropy 从哪步开始降的", "step 1", "falling"),
        ("entropy 从哪步开始涨的", "看不出它在往上走", "falling"),
    ],
)
def test_since_when_a_metric_moves_names_the_step_or_says_it_does_not(question: str, says: str, direction: str) -> None:
    rows = table()
    for step in STEPS:  # long enough a fall to be the whole
        rows[step][SCORE] = 0.2 + 0.01 * step if step <= PEAK else 0.32 - 0.012 * (step - PEAK)
    answer = ask(question, runs=(run_of(rows),))
    assert answer.verdict.code == direction
    assert says in first(answer)


@pytest.mark.parametrize(
    ("steps", "question", "says"),
    [
        (40, "要不要停", "没有要停的理由"),
        (40, "should I stop the run", "Nothing speaks for stopping"),
        (3, "要不要停掉", "还看不出该不该停"),
    ],
)
def test_stopping_a_run_with_nothing_wrong_is_answered_first(steps: int, question: str, says: str) -> None:
    rows = {step: {**row, SCORE: 0.3 + 0.005 * step} for step, row in table().items() if step <= steps}
    assert says in first(ask(question, runs=(run_of(rows),)))


def test_answer_about_one_of_two_runs_names_it() -> None:
    runs = (run_of(table(), id="ra", name="a.log"), run_of(table(), id="rb", name="b.log"))
    assert "`b.log`" in first(ask("B 第 20 步的 entropy", runs=runs))
    assert "`a.log`" in first(ask("B 第 20 步的 entropy", "A 呢", runs=runs))
    assert "`b.log`" in ask("B 第 20 步的 entropy", runs=runs).verdict.summary
    assert "`a.log`" not in ask("第 20 步的 entropy", runs=runs[:1]).answer


@pytest.mark.parametrize("question", ["std@8 是 error bar 吗", "is std@8 an error bar", "std@8 是误差棒吗"])
def test_statistic_taken_for_an_error_bar_is_defined(question: str) -> None:
    rows = {step: {**row, **({"val-aux/aime/acc/std@8": 0.2} if VAL in row else {})} for step, row in table().items()}
    assert ask(question, runs=(run_of(rows),)).intent == "define"


def test_looks_like_at_a_step_asks_for_the_value() -> None:
    answer = ask("what do the scores look like at step 20, the mean")
    assert answer.intent == "lookup"
    assert answer.slots.steps.values == (20,)


@pytest.mark.parametrize(
    ("question", "metric"),
    [
        ("clip_ratio 是什么", "response_length/clip_ratio"),
        ("response 的 clip_ratio 是什么意思", "response_length/clip_ratio"),
        ("prompt 的 clip_ratio 是什么", "prompt_length/clip_ratio"),
        ("kl 是什么", "actor/kl_loss"),
        ("what is kl_loss", "actor/kl_loss"),
        ("explain pg_clipfrac 中文", "actor/pg_clipfrac"),
    ],
)
def test_bare_word_without_a_log_means_what_engineers_mean_by_it(question: str, metric: str) -> None:
    answer = answerer().ask(question, ())[0]
    assert list(answer.slots.metrics) == [metric]
    assert f"`{metric}`" in first(answer)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("kl 一般多少算正常", "没有公认的正常范围"),
        ("entropy 正常范围", "没有公认的正常范围"),
        ("what is a normal entropy value", "no accepted normal range"),
    ],
)
def test_normal_range_without_a_log_is_told_before_anything_else(question: str, says: str) -> None:
    answer = answerer().ask(question, ())[0]
    assert answer.intent == "define"
    assert says in first(answer)
    assert "这份日志" not in answer.answer


def test_rise_after_the_lowest_value_is_told_though_the_whole_falls() -> None:
    values = [6.0, 3.0, 2.5, *(2.1 + 0.03 * place for place in range(14))]
    run = run_of({250 * place: {"val loss": value, "loss": 2.0} for place, value in enumerate(values)})
    answer = ask("验证损失从什么时候开始升的", runs=(run,))
    assert answer.verdict.code == "rising"
    assert "step 750" in first(answer)
    assert "看不出" not in first(answer)


@pytest.mark.parametrize("turn", ["critic 的呢", "那 critic 的", "the critic's?"])
def test_word_of_another_key_is_that_key_at_the_same_step(turn: str) -> None:
    run = run_of({step: {**row, "critic/grad_norm": 5.0 + step} for step, row in table().items()})
    answer = ask("第 20 步 actor 的梯度范数", turn, runs=(run,))
    assert [(f.metric, f.step, f.value) for f in answer.facts if f.kind == "value"] == [("critic/grad_norm", 20, 25.0)]


@pytest.mark.parametrize(
    ("question", "metrics", "says"),
    [
        ("最近 5 个 iterations 的平均 score", [SCORE], "step 36"),
        ("entropy，前 10 个 iteration 的 avg", [ENTROPY], "step 1"),
        ("全对的比例是多少", ["reward/all_correct_ratio"], "0.25"),
        ("平均奖励最高是多少", ["average reward score"], "0.9"),
    ],
)
def test_words_of_a_window_and_of_a_name_are_read_as_such(question: str, metrics: list[str], says: str) -> None:
    more: dict[str, Number] = {"reward/all_correct_ratio": 0.25}
    rows = {step: {**row, **more} for step, row in table().items()}
    if "平均奖励" in question:
        rows = {step: {"average reward score": 0.9 - 0.01 * step if step > 1 else 0.9, "loss": 1.0} for step in STEPS}
    answer = ask(question, runs=(run_of(rows),))
    assert list(answer.slots.metrics) == metrics
    assert says in first(answer)
    assert "不能" not in first(answer)
    assert answer.slots.op in {"mean", "max", None}
    assert first(answer).count("平均为") <= 1
    assert ("平均为" in first(answer)) == (answer.slots.op == "mean")


@pytest.mark.parametrize("question", ["entropy 有 spike 吗", "entropy 有没有 spikes"])
def test_spikes_asked_for_in_a_mixed_question_are_looked_for(question: str) -> None:
    rows = {step: {**row, ENTROPY: 5.0 if step == 23 else row[ENTROPY]} for step, row in table().items()}
    assert "step 23" in first(ask(question, runs=(run_of(rows),)))


@pytest.mark.parametrize(("question", "step"), [("哪一轮最慢，花了多少秒", 20), ("which iteration was slowest", 20)])
def test_slowest_round_of_any_log_is_a_step_with_its_usual_in_seconds(question: str, step: int) -> None:
    run = run_of(
        {at: {"mean_reward": 0.5, "iter_time_s": 900.0 if at == step else 400.0 + at} for at in range(1, 31)},
        framework=None, format="csv",
    )  # fmt: skip
    answer = ask(question, runs=(run,))
    assert answer.intent == "lookup"
    assert f"step {step}" in first(answer)


@pytest.mark.parametrize(
    ("question", "metric", "says"),
    [
        ("显存分配一直是 40 吗", "perf/max_memory_allocated_gb", "是："),
        ("response len 的 max 一直是 901 吗", "response_length/max", "不是：`response_length/max` 的 40 个值里有 1 个"),
        ("entropy 一直是 0.9 吗", ENTROPY, "没有一个"),
        ("is perf/max_memory_reserved_gb always 44", "perf/max_memory_reserved_gb", "Yes: all 40 values"),
    ],
)
def test_always_a_value_is_answered_with_yes_or_no(question: str, metric: str, says: str) -> None:
    answer = ask(question)
    assert list(answer.slots.metrics) == [metric]
    assert answer.intent == "lookup"
    assert says in first(answer)


@pytest.mark.parametrize(("question", "says"), [("score 变 0 是哪步开始的", "从 step 23 起"),
                                                ("when did the score become 0", "From step 23 on")])  # fmt: skip
def test_since_when_a_metric_is_zero_names_the_step_and_the_value_before(question: str, says: str) -> None:
    rows = {step: {**row, SCORE: 0.0 if step >= 23 else 0.5} for step, row in table().items()}
    answer = ask(question, runs=(run_of(rows),))
    assert says in first(answer)
    assert {f.step for f in answer.facts if f.kind == "value"} >= {22, 23}


@pytest.mark.parametrize("question", ["entropy 每 10 步给我一个", "每 10 步的 entropy", "每隔 10 步的 entropy"])
def test_every_so_many_steps_is_no_single_step(question: str) -> None:
    answer = ask(question)
    assert {f.step for f in answer.facts if f.kind == "value" and f.metric == ENTROPY} >= {10, 20, 30, 40}


@pytest.mark.parametrize("question", ["entropy 大概在什么水平", "entropy 什么量级"])
def test_level_of_a_metric_is_its_values(question: str) -> None:
    answer = ask(question)
    assert answer.intent == "lookup"
    assert made().value(ENTROPY, 40) in [f.value for f in answer.facts]


def test_first_few_by_size_in_chinese_numerals_are_so_many() -> None:
    answer = ask("response_length/max 前三大的 step")
    assert [f.step for f in answer.facts if f.kind == "value"] == [40, 39, 38]


def test_step_printed_twice_gives_the_later_value_and_names_the_earlier() -> None:
    text = "\n".join(
        f"step:{step} - actor/entropy:{value} - critic/score/mean:0.5 - actor/grad_norm:0.1"
        for step, value in [(1, 0.9), (2, 0.8), (3, 0.7), (2, 0.6), (3, 0.5), (4, 0.4)]
    )
    run = parse_text(text).runs[0]
    answer = ask("step 3 的 entropy", runs=(run,))
    assert "0.5" in first(answer)
    assert "0.7" in answer.answer
    assert "打印过 2 次" in answer.answer
    assert "打印过" not in ask("step 4 的 entropy", runs=(run,)).answer


@pytest.mark.parametrize(("question", "says"), [("从第几步开始变慢", "从 step 21 起"),
                                                ("since when is it slower", "From step 21 on")])  # fmt: skip
def test_since_when_it_is_slower_names_the_step_first(question: str, says: str) -> None:
    rows = {
        step: {
            **row, "timing_s/update_actor": (80.0 if step > 20 else 20.0) + 0.1 * (step % 3),
            STEP: 100.0 + (60.0 if step > 20 else 0.0) + 40.0 * (step % 2),
        }
        for step, row in table().items()
    }  # fmt: skip
    assert says in first(ask(question, runs=(run_of(rows),)))


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("能不能把 grad clip 加到 5", "advice"),
        ("把 score 权重降到 0.5 会怎样", "advice"),
        ("beta 调多大", "advice"),
        ("verifier 怎么查", "advice"),
        ("entropy 会不会太低", "health"),
        ("entropy 是不是太低了", "health"),
        ("收敛了没", "health"),
        ("还在学吗", "health"),
        ("throughput 是多少", "lookup"),
        ("entropy 降到多少了", "lookup"),
    ],
)
def test_short_questions_of_what_to_do_and_whether_it_is_well_are_read_as_such(question: str, intent: str) -> None:
    assert ask(question).intent == intent


def test_convergence_of_the_run_is_no_single_metric() -> None:
    assert ENTROPY not in ask("收敛了没").slots.metrics


def test_change_that_is_only_considered_is_not_denied() -> None:
    rows = {step: {**row, "actor/lr": 1e-6} for step, row in table().items()}
    assert "没有显示" not in ask("把 lr 降到 5e-7 会怎样", runs=(run_of(rows),)).answer


@pytest.mark.parametrize(("growth", "says"), [(0.01, "几乎没涨"), (0.5, "在上升")])
def test_memory_that_hardly_grows_is_not_said_to_rise(growth: float, says: str) -> None:
    rows = {
        step: {**row, "perf/max_memory_allocated_gb": 40.0 * (1 + growth * step / 40)} for step, row in table().items()
    }
    answer = ask("显存够吗", runs=(run_of(rows),))
    assert says in first(answer)
    assert (answer.verdict.code == "healthy") == (growth < 0.03)
