"""One word, side, step, factor or derived quantity wrong: each true sentence is borne out, its false twin is not."""

# ruff: noqa: E501 (sentences stay on one line)
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.ground.audit import Auditor
from assistant.ground.quantities import english_number, quantities
from assistant.ground.thesaurus import forms
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text

RESOLVER = Resolver(library())
STEPS = 30


def _row(step: int) -> dict[str, float]:
    """Reward rises, entropy falls, grad norm peaks at step 12; 64 trajectories on 4 GPUs, 8 of each of 8 prompts."""
    length, seconds = 400.0 + 10 * step, 100.0 + step
    return {
        "step": step,
        "critic/rewards/mean": round(0.10 + 0.02 * step, 4),
        "critic/score/mean": round(-0.80 + 0.02 * step, 4),
        "critic/advantages/max": 7 / 8**0.5,
        "critic/advantages/min": -1.2,
        "critic/advantages/mean": 0.01,
        "critic/returns/max": 7 / 8**0.5,
        "critic/returns/min": -1.2,
        "critic/returns/mean": 0.01,
        "actor/entropy": round(0.90 - 0.02 * step, 4),
        "actor/grad_norm": round(1.5 - abs(step - 12) * 0.05, 4),
        "actor/pg_loss": round(0.004 if step % 5 else -0.003, 4),
        "prompt_length/mean": 100.0,
        "response_length/mean": length,
        "response_length/clip_ratio": 0.125,
        "perf/total_num_tokens": 64 * (length + 100.0),
        "perf/time_per_step": seconds,
        "perf/throughput": 64 * (length + 100.0) / 4 / seconds,
        "timing_s/step": seconds,
        "timing_s/gen": 50.0 + (step - 1),
        "timing_s/ref": 20.0,
    } | ({"timing_s/testing": 30.0} if step % 10 == 0 else {})


AUDITOR = Auditor(
    [parse_text("\n".join(json.dumps(_row(s)) for s in range(1, STEPS + 1)), name="train.jsonl").runs[0]], RESOLVER
)

DIRECTION = [
    ("梯度范数从第 12 步到第 30 步呈跌势。", "梯度范数从第 12 步到第 30 步呈升势。"),
    ("`actor/entropy` 的整体走势是往下的。", "`actor/entropy` 的整体走势是往上的。"),
    ("策略熵最终收低。", "策略熵最终收高。"),
    ("单步耗时随训练推进而增大。", "单步耗时随训练推进而减小。"),
    ("第 20 步策略熵 0.5，较第 3 步下移。", "第 20 步策略熵 0.5，较第 3 步上移。"),
    ("Overall, entropy goes south during training.", "Overall, entropy goes north during training."),
    ("Step 20 brought growth in mean reward relative to step 3: 0.5 against 0.16.", "Step 20 brought shrinkage in mean reward relative to step 3: 0.5 against 0.16."),
    ("Mean reward ends the run well above where it began.", "Mean reward ends the run well below where it began."),
    ("Mean reward at step 20 is 0.34 above where it stood at step 3.", "Mean reward at step 20 is 0.34 below where it stood at step 3."),
    ("At step 5 policy entropy is a hair above 0.79.", "At step 5 policy entropy is a hair below 0.79."),
    ("第 5 步的策略熵比 0.79 高那么一丁点。", "第 5 步的策略熵比 0.79 低那么一丁点。"),
    ("Averaged over the second half of training, entropy is lower than over the first half.", "Averaged over the second half of training, entropy is higher than over the first half."),
    ("训练后半程的策略熵均值低于前半程。", "训练后半程的策略熵均值高于前半程。"),
    ("策略熵从第 3 步的 0.84 到第 20 步的 0.5，呈负增长。", "平均奖励从第 3 步的 0.16 到第 20 步的 0.5，呈负增长。"),
    ("平均奖励从第 3 步的 0.16 到第 20 步的 0.5，与日俱增。", "策略熵从第 3 步的 0.84 到第 20 步的 0.5，与日俱增。"),
    ("Entropy, 0.84 at step 3, turned lower to 0.5 at step 20.", "Entropy, 0.84 at step 3, turned higher to 0.5 at step 20."),
    ("The first third of the run has a higher entropy than the last third.", "The first third of the run has a lower entropy than the last third."),
    ("训练前三分之一的策略熵高于后三分之一。", "训练前三分之一的策略熵低于后三分之一。"),
    ("The raw score improves, from -0.78 to -0.20.", "The raw score worsens, from -0.78 to -0.20."),
    ("第 3 步之后平均奖励渐涨，至第 20 步达 0.5。", "第 3 步之后平均奖励渐跌，至第 20 步达 0.5。"),
    ("Entropy goes from 0.84 to a lower 0.5 between step 3 and step 20.", "Entropy goes from 0.84 to a higher 0.5 between step 3 and step 20."),
    ("策略熵第 3 步时还较高（0.84），第 20 步已是 0.5。", "策略熵第 3 步时还较低（0.84），第 20 步已是 0.5。"),
    ("策略熵前高后低。", "策略熵前低后高。"),
    ("和起步阶段相比，收尾阶段的策略熵更低。", "和起步阶段相比，收尾阶段的策略熵更高。"),
    ("By step 20, entropy had dropped under its step 3 level.", "By step 20, entropy had outgrown its step 3 level."),
    ("1. Mean reward: 0.16 → 0.5 (step 3 → step 20), higher by 212.5%.", "1. Mean reward: 0.16 → 0.5 (step 3 → step 20), lower by 212.5%."),
    ("1. 策略熵：0.8 → 0.5（第 5 步 → 第 20 步），降低 37.5%。", "1. 策略熵：0.8 → 0.5（第 5 步 → 第 20 步），提高 37.5%。"),
    ("By step 20 entropy had decreased to 0.5 (-37.5% against step 5), from 0.8 there.", "By step 20 entropy had decreased to 0.5 (+37.5% against step 5), from 0.8 there."),
    ("At step 20 entropy is 0.5, roughly 0.625 times the 0.8 of step 5, so the direction between the two is down.", "At step 20 entropy is 0.5, roughly 0.625 times the 0.8 of step 5, so the direction between the two is up."),
    ("It was step 12 where grad norm topped out, at 1.5.", "It was step 9 where grad norm topped out, at 1.35."),
]  # fmt: skip
SIDES = [
    ("第 2 步生成（51 s）比参考模型前向（20 s）慢得多。", "第 2 步生成（51 s）比参考模型前向（20 s）快得多。"),
    ("The mean reward over steps 20–30 (0.6) is well above that over steps 1–10 (0.21).", "The mean reward over steps 20–30 (0.6) is well below that over steps 1–10 (0.21)."),
    ("后 10 步的平均奖励 0.61，高于前 10 步的 0.21。", "后 10 步的平均奖励 0.61，低于前 10 步的 0.21。"),
    ("Step 20 tops step 3 on mean reward.", "Step 3 tops step 20 on mean reward."),
    ("第 20 步的平均奖励压过第 3 步。", "第 3 步的平均奖励压过第 20 步。"),
    ("Of steps 3 and 20, it is step 20 that has the higher mean reward.", "Of steps 3 and 20, it is step 20 that has the lower mean reward."),
    ("step 3 和 step 20 里，策略熵更高的是 step 3。", "step 3 和 step 20 里，策略熵更高的是 step 20。"),
    ("The higher entropy of the two belongs to step 3, not to step 20.", "The higher entropy of the two belongs to step 20, not to step 3."),
    ("策略熵第 3 步高、第 20 步低。", "策略熵第 20 步高、第 3 步低。"),
    ("Step 20 minus step 3 gives +0.34 for mean reward.", "Step 3 minus step 20 gives +0.34 for mean reward."),
    ("第 20 步减去第 3 步，平均奖励相差 +0.34。", "第 3 步减去第 20 步，平均奖励相差 +0.34。"),
    ("Starting from 0.88, entropy arrives at 0.3.", "Starting from 0.3, entropy arrives at 0.88."),
    ("策略熵从 0.88 起步，止于 0.3。", "策略熵从 0.3 起步，止于 0.88。"),
    ("3、12、30 三步的策略熵依次为 0.84、0.66、0.3。", "3、12、30 三步的策略熵依次为 0.84、0.3、0.66。"),
    ("`timing_s/gen` stays above `timing_s/ref` at each of the 30 steps.", "`timing_s/gen` stays below `timing_s/ref` at each of the 30 steps."),
    ("Entropy at step 25 is half that of step 5.", "Entropy at step 25 is double that of step 5."),
]  # fmt: skip
STEP = [
    ("Not until step 11 does mean reward exceed 0.3.", "Not until step 14 does mean reward exceed 0.3."),
    ("直到第 11 步，平均奖励才突破 0.3。", "直到第 14 步，平均奖励才突破 0.3。"),
    ("从第 6 步起策略熵没再高于 0.8。", "从第 3 步起策略熵没再高于 0.8。"),
    ("第 11 步之前平均奖励从未超过 0.3，第 11 步超过了。", "第 14 步之前平均奖励从未超过 0.3，第 14 步超过了。"),
    ("第 11 步起平均奖励才开始超过 0.3。", "第 14 步起平均奖励才开始超过 0.3。"),
    ("Grad norm (step 3: 1.05, step 9: 1.35) moved upwards, with the maximum at step 12.", "Grad norm (step 3: 1.05, step 9: 1.35) moved upwards, with the maximum at step 11."),
    ("梯度范数（第 3 步 1.05，第 9 步 1.35）走高，峰值在第 12 步。", "梯度范数（第 3 步 1.05，第 9 步 1.35）走高，峰值在第 14 步。"),
    ("梯度范数最高 1.5（第 12 步），最低 0.6（第 30 步），相差 0.9。", "梯度范数最高 1.5（第 12 步），最低 0.6（第 28 步），相差 0.9。"),
    ("Over the run entropy slides from 0.88 to 0.30 and never exceeds 0.50 after step 19.", "Over the run entropy slides from 0.88 to 0.30 and never exceeds 0.32 after step 19."),
    ("From step 12 to the end, grad norm is above 0.7 at every step other than steps 29 and 30.", "From step 12 to the end, grad norm is above 0.7 at every step other than steps 20 and 30."),
    ("从第 6 步那次算起，策略熵没有再高于 0.8。", "从第 4 步那次算起，策略熵没有再高于 0.8。"),
    ("Entropy stays below 0.7 between step 11 and step 20.", "Entropy stays below 0.7 between step 7 and step 16."),
    ("Look at step 3: entropy is 0.84.", "Look at step 5: entropy is 0.84."),
    ("取最后十步做平均，`actor/entropy` 得 0.39。", "取最后十步做平均，`actor/entropy` 得 0.59。"),
    ("策略熵的最大值是 0.88，落在 1 步。", "策略熵的最大值是 0.88，落在 4 步。"),
    ("Not every value of `actor/entropy` falls between 0.5 and 0.9.", "Not every value of `actor/entropy` falls between 0.2 and 0.9."),
    ("若以 5 步为 100%，20 步的策略熵就是 62.5%。", "若以 5 步为 100%，20 步的策略熵就是 37.5%。"),
]  # fmt: skip
PRESENCE = [
    ("`timing_s/testing` is unknown at step 7.", "`timing_s/testing` is known at step 7."),
    ("`timing_s/testing` can be read off at step 20.", "`timing_s/testing` cannot be read off at step 20."),
    ("第 7 步读不到 `timing_s/testing`。", "第 7 步读得到 `timing_s/testing`。"),
    ("第 20 步的 `timing_s/testing` 打印出来了。", "第 20 步的 `timing_s/testing` 没打印出来。"),
]
RATIO = [
    ("From step 5 to step 15, mean reward saw a 2-fold increase.", "From step 5 to step 15, mean reward saw a 3-fold increase."),
    ("策略熵从第 5 步到第 25 步缩水一半。", "策略熵从第 5 步到第 13 步缩水一半。"),
    ("策略熵从第 5 步到第 25 步打了五折。", "策略熵从第 5 步到第 25 步打了八折。"),
    ("Entropy at step 25 is half what it was at step 5.", "Entropy at step 13 is half what it was at step 5."),
    ("Mean reward is twice as high at step 15 as at step 5.", "Mean reward is three times as high at step 15 as at step 5."),
    ("Relative to step 5, entropy at step 20 is at 62.5%.", "Relative to step 5, entropy at step 20 is at 92.5%."),
    ("平均奖励从第 5 步到第 20 步翻倍还多。", "平均奖励从第 5 步到第 12 步翻倍还多。"),
    ("Mean reward more than quadruples from step 1 to step 30.", "Mean reward more than octuples from step 1 to step 30."),
    ("At step 30 entropy is 0.3, about half of the 0.6 of step 15.", "At step 30 entropy is 0.3, about half of the 0.88 of step 1."),
    ("策略熵第 5 步还有 0.8，第 25 步回落到 0.4，只剩约一半。", "策略熵第 5 步还有 0.8，第 28 步回落到 0.34，只剩约三成。"),
    ("Entropy at step 25 corresponds to 50% of that at step 5.", "Entropy at step 25 corresponds to 70% of that at step 5."),
    ("Entropy at step 25: 50 percent of the step 5 value.", "Entropy at step 25: 70 percent of the step 5 value."),
    ("策略熵第 25 步占第 5 步的 50%。", "策略熵第 25 步占第 5 步的 70%。"),
    ("策略熵从第 5 步到第 25 步下降了百分之 50。", "策略熵从第 5 步到第 25 步下降了百分之 70。"),
    ("Entropy shrinks to a half between step 5 and step 25.", "Entropy shrinks to a fifth between step 5 and step 25."),
    ("平均奖励从第 5 步到第 15 步涨了一倍。", "平均奖励从第 5 步到第 10 步涨了一倍。"),
    ("第 15 步的平均奖励达到第 5 步的 2 倍。", "第 15 步的平均奖励达到第 5 步的 3 倍。"),
    ("第 20 步与第 5 步的策略熵之比为 0.625。", "第 20 步与第 5 步的策略熵之比为 0.825。"),
]  # fmt: skip
DERIVED = [
    ("64 rollouts a step on 4 GPUs makes 16 rollouts per GPU.", "64 rollouts a step on 4 GPUs makes 32 rollouts per GPU."),
    ("Each prompt is sampled 8 times.", "Each prompt is sampled 16 times."),
    ("2 步的 64 条回答，被掐断的有 8 条。", "2 步的 8 条回答，被掐断的有 64 条。"),
    ("每步生成 64 条轨迹（8 个 prompt × 8 条采样）。", "每步生成 16 条轨迹（8 个 prompt × 8 条采样）。"),
    ("In iteration 10 the policy wrote, on average, 500 tokens per answer.", "In iteration 10 the policy wrote, on average, 38.4k tokens per answer."),
    ("Twenty of the 30 steps have an entropy below 0.7.", "Twenty-six of the 30 steps have an entropy below 0.7."),
    ("`actor/pg_loss` 出现过六次负值，最低是第 5 步的 -0.003。", "`actor/pg_loss` 出现过九次负值，最低是第 5 步的 -0.003。"),
    ("After step 20 `actor/pg_loss` drops below 0 twice.", "After step 20 `actor/pg_loss` drops below 0 once."),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), [*DIRECTION, *SIDES, *STEP, *PRESENCE, *RATIO, *DERIVED])
def test_audit_twin_with_one_falsehood_is_caught(true: str, false: str) -> None:
    said, twin = AUDITOR.audit(true), AUDITOR.audit(false)
    assert {s.status for s in said.sentences} == {"supported"}, said.to_json()
    assert {s.status for s in twin.sentences} & {"contradicted", "unsupported"}, twin.to_json()


@pytest.mark.parametrize("verb", ["go went gone", "undergo underwent undergone"])
def test_forms_of_a_verb_in_o_take_es(verb: str) -> None:
    assert any(form.endswith("goes") for form in forms(verb))


@given(st.integers(21, 99).filter(lambda n: n % 10))
def test_quantities_spelt_compound_before_a_count_is_one_number(number: int) -> None:
    """``twenty-six of the 93 steps`` is twenty-six, never six."""
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"][number // 10 - 2]
    ones = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"][number % 10 - 1]
    assert english_number(f"{tens}-{ones}") == number
    assert [q.number for q in quantities(f"{tens}-{ones} of the 100 steps", [])] == [number, 100]
