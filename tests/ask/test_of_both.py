"""Follow-ups about what the last turns told one after the other: two metrics, two steps, the ends, a step's stage."""

from __future__ import annotations

import pytest

from assistant.model import Run
from tests.analysis.support import run_of

from .support import conversation, first_line, holds

STEPS = range(1, 61)
#: A score that falls at step 40, a KL that jumps at step 20, an entropy that falls all the way, two stages of a step.
RUN: Run = run_of(
    {
        step: {
            "critic/score/mean": round((0.8 if step < 40 else 0.1) + 0.001 * (step % 3), 4),
            "actor/kl_loss": round((0.01 if step < 20 else 2.0) + 0.001 * (step % 4), 4),
            "actor/entropy": round(0.9 - 0.01 * step, 4),
            "actor/grad_norm": round(0.5 + 0.004 * step, 4),
            "timing_s/gen": 30.0 + step,
            "timing_s/update_actor": 10.0,
            "timing_s/step": 60.0 + 2 * step,
        }
        for step in STEPS
    }
)


@pytest.mark.parametrize(
    ("turns", "ratio"),
    [
        (("entropy at step 20", "and 60?", "ratio?"), 0.3 / 0.7),
        (("step 20 的 entropy", "60 呢", "两者之比"), 0.3 / 0.7),
        (("step 20 的 entropy", "60 呢", "ratio 多少"), 0.3 / 0.7),
        (("grad norm 第 10 步", "at 50?", "what's the ratio"), 0.7 / 0.54),
        (("max gen time", "min?", "what's the ratio"), 90 / 31),
        (("gen time 的 max", "那 min 呢", "两个差几倍"), 90 / 31),
    ],
)
def test_a_ratio_is_that_of_the_two_values_told(turns: tuple[str, ...], ratio: float) -> None:
    made = conversation(RUN, *turns)
    values = [fact.value for fact in made.facts if isinstance(fact.value, float)]
    values += [fact.ratio for fact in made.facts if fact.ratio is not None]
    assert any(value == pytest.approx(ratio, rel=1e-3) for value in values)


@pytest.mark.parametrize("asked", ["两个 correlate 吗", "两个相关吗", "are the two correlated?", "它俩有关联吗"])
@pytest.mark.parametrize("turns", [("entropy trend", "grad norm 呢"), ("熵的趋势", "and the grad norm?")])
def test_two_metrics_told_are_those_that_are_said_to_go_together(turns: tuple[str, ...], asked: str) -> None:
    made = conversation(RUN, *turns, asked)
    assert set(made.slots.metrics) == {"actor/entropy", "actor/grad_norm"}
    assert any(fact.value == pytest.approx(-1.0) for fact in made.facts if isinstance(fact.value, float))


@pytest.mark.parametrize(("asked", "lead"), [("哪个先动的", "actor/kl_loss"), ("which moved first?", "actor/kl_loss")])
def test_which_moved_first_is_asked_of_the_two_metrics_told(asked: str, lead: str) -> None:
    line = first_line(conversation(RUN, "score 最后多少", "kl_loss 呢", asked))
    assert line.startswith(f"`{lead}`")
    assert "step 19" in line
    assert "step 39" in line


@pytest.mark.parametrize(
    ("turns", "share"),
    [
        (("step 40 的 gen 时间", "占整步多少"), 0.5),
        (("gen time at step 40", "what share of the step is that"), 0.5),
        (("gen time at step 40", "占 step 的 percent"), 0.5),
        (("step 20 的 update_actor", "占一步几成"), 0.1),
    ],
)
def test_a_share_is_that_of_the_step_told(turns: tuple[str, ...], share: float) -> None:
    made = conversation(RUN, *turns)
    assert made.slots.steps.values in {(40,), (20,)}
    assert holds(made, share)


@pytest.mark.parametrize("asked", ["vs 60", "versus step 60", "跟 60 步比呢", "和 60 比"])
@pytest.mark.parametrize("metric", ["actor/entropy", "critic/score/mean"])
def test_a_step_alone_is_set_against_the_one_told(metric: str, asked: str) -> None:
    made = conversation(RUN, f"step 20 的 {metric}", asked)
    assert made.intent == "compare"
    assert made.slots.steps.values == (20, 60)


@pytest.mark.parametrize("asked", ["显著吗", "算 improvement 吗", "算进步吗", "是噪声吗", "is that significant?"])
@pytest.mark.parametrize("first", ["entropy step20→60", "entropy step 20 → 60", "entropy step20到60"])
def test_whether_a_change_counts_is_asked_of_the_steps_told(first: str, asked: str) -> None:
    made = conversation(RUN, first, asked)
    assert made.intent == "compare"
    assert made.slots.steps.values == (20, 60)


@pytest.mark.parametrize("asked", ["后 20 呢", "后20呢", "后 20 步呢", "last 20?"])
def test_a_number_of_steps_needs_no_word_for_steps(asked: str) -> None:
    made = conversation(RUN, "前 20 步 grad norm 的均值", asked)
    assert any(fact.value == pytest.approx(0.702) for fact in made.facts if isinstance(fact.value, float))


@pytest.mark.parametrize("asked", ["gen 呢", "那 gen 呢", "gen?"])
def test_the_bare_name_of_a_stage_is_its_time_at_the_step_told(asked: str) -> None:
    made = conversation(RUN, "step 2 的 score", asked)
    assert made.slots.metrics == ("timing_s/gen",)
    assert holds(made, 32.0)


@pytest.mark.parametrize("asked", ["说 English 再来一遍", "用英文再说一遍", "English 版", "in English 重新说一次"])
def test_saying_it_again_in_english_asks_nothing_else(asked: str) -> None:
    made = conversation(RUN, "step 20 的 entropy", asked)
    assert made.language == "en"
    assert holds(made, 0.7)


@pytest.mark.parametrize(
    "question", ["critic/score/mean 和 actor/kl_loss 哪个先变", "critic/score/mean 和 actor/kl_loss 谁先动的"]
)
def test_a_member_of_a_key_is_no_word_of_the_question(question: str) -> None:
    assert first_line(conversation(RUN, question)).startswith("`actor/kl_loss`")


@pytest.mark.parametrize("name", ["loss", "time/step_generate"])
def test_a_ratio_asked_for_alone_is_no_metric_of_ratios(name: str) -> None:
    rows = {step: {name: 2.0 - 0.02 * step, "actor/ratio_mean": 1.0, "reward": 0.1} for step in STEPS}
    made = conversation(run_of(rows), f"{name} at step 10", "vs 60", "ratio?")
    assert made.slots.metrics == (name,)
    assert any(fact.ratio == pytest.approx(0.8 / 1.8) for fact in made.facts if fact.ratio is not None)
