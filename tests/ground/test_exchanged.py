"""Two values told in each other's place, parts of a step, intervals, settings that the log implies; true and false."""

# ruff: noqa: E501 (sentences stay on one line)

from __future__ import annotations

import json
import math

import pytest

from assistant.ground.audit import Auditor
from assistant.knowledge import Resolver, library
from assistant.model import Run
from assistant.parsing import parse_text

RESOLVER = Resolver(library())


def _run() -> Run:
    """Thirty steps of 64 prompts with 8 answers each; validation at every tenth."""
    rows = []
    for step in range(1, 31):
        prompt, answer = 131.0, round(412.3 + 13.7 * step + 7 * (step % 3), 1)
        rows.append(
            {
                "step": step,
                "actor/entropy": round(0.913 - 0.0213 * step + 0.011 * (step % 4), 4),
                "actor/grad_norm": round(0.6123 + 0.0171 * (step % 5), 4),
                "critic/rewards/mean": round(0.11 + 0.0173 * step, 4),
                **({"val-core/gsm8k/acc/mean@1": round(0.412 + 0.0087 * step, 4)} if step % 10 == 0 else {}),
                **{f"critic/{what}/max": 7 / math.sqrt(8) for what in ("advantages", "returns")},
                **{f"critic/{what}/min": -1.9 for what in ("advantages", "returns")},
                **{f"critic/{what}/mean": 0.013 for what in ("advantages", "returns")},
                "response_length/mean": answer,
                "prompt_length/mean": prompt,
                "perf/total_num_tokens": 512 * (prompt + answer),
                "timing_s/step": round(121.4 + 3.1 * step, 2),
                "timing_s/gen": round(66.3 + 1.9 * step, 2),
                "timing_s/update_actor": round(21.7 + 0.6 * step, 2),
            }
        )  # fmt: skip
    return parse_text("\n".join(map(json.dumps, rows)), name="run").runs[0]


AUDITOR = Auditor([_run()], RESOLVER)


def _statuses(text: str) -> list[str]:
    return [sentence.status for sentence in AUDITOR.audit(text).sentences if sentence.status != "no_claim"]


PAIRS = [
    # what lies between two values, with its sign
    ("critic/rewards/mean: 0.283 @ step 10, 0.456 @ step 20 (+0.173)", "critic/rewards/mean: 0.283 @ step 10, 0.456 @ step 20 (-0.173)"),
    ("The reward's change from step 10 to step 20: +0.173.", "The reward's change from step 10 to step 20: -0.173."),
    ("平均奖励从 step 10 到 step 20 的变化：+0.173", "平均奖励从 step 10 到 step 20 的变化：-0.173"),
    ("The mean reward rose from step 10 to step 20 by 0.173 to 0.456.", "The mean reward fell from step 10 to step 20 by 0.173 to 0.456."),
    ("从 step 10 到 step 20，平均奖励上升（0.283 到 0.456）。", "从 step 10 到 step 20，平均奖励上升（0.456 到 0.283）。"),
    # a step's time told of no name: each step's own, in the order in which the steps are named
    ("Step 20 is 34% slower than step 5 (183.4 s vs 136.9 s).", "Step 20 is 35% slower than step 5 (136.9 s vs 183.4 s)."),
    ("step 5 比 step 20 快 25%（136.9 秒对 183.4 秒）。", "step 5 比 step 20 快 25%（183.4 秒对 136.9 秒）。"),
    # a change told between two steps does not begin or end at any other
    ("The validation score moved from 49.9% to 67.3% between step 10 and step 30.", "The validation score moved from 49.9% to 67.3% between step 20 and step 30."),
    ("平均奖励在 step 10 和 step 20 之间上升：0.283 对 0.456。", "平均奖励在 step 10 和 step 20 之间上升：0.283 对 0.4387。"),
    # the greatest of a stretch is not that of the run
    ("Between step 3 and step 9 the highest mean training reward is 0.266.", "Between step 3 and step 9 the highest mean training reward is 0.629."),
    ("step 3 到 step 9 之间平均奖励最高为 0.266。", "step 3 到 step 9 之间平均奖励最高为 0.629。"),
    # no step at all
    ("No step has a grad norm above 0.69 or below 0.61.", "No step has a grad norm above 0.69 or below 0.65."),
    ("没有哪一步的 grad norm 高于 0.69 或低于 0.61。", "没有哪一步的 grad norm 高于 0.64 或低于 0.61。"),
    # a step's time, and what of it
    ("Of the 183.4 s of step 20, 104.3 s (57%) is generation.", "Of the 104.3 s of step 20, 183.4 s (57%) is generation."),
    ("step 20 的 183.4 秒里，生成占 104.3 秒（57%）。", "step 20 的 104.3 秒里，生成占 183.4 秒（57%）。"),
    ("On step 20 the longest phase is generation (104.3 s for generation, 33.7 s for the update).", "On step 20 the longest phase is the actor update (104.3 s for generation, 33.7 s for the update)."),
    ("step 20 最耗时的阶段是生成（生成 104.3 秒，更新 33.7 秒）。", "step 20 最耗时的阶段是 actor 更新（生成 104.3 秒，更新 33.7 秒）。"),
    ("The cheapest phase of step 20 is the actor update.", "The cheapest phase of step 20 is generation."),
    # the greatest over the least
    ("The slowest step (214.4 s) took 1.7 times as long as the fastest (124.5 s).", "The slowest step (214.4 s) took 1.0 times as long as the fastest (124.5 s)."),
    ("最慢的一步（214.4 秒）耗时是最快一步（124.5 秒）的 1.7 倍。", "最慢的一步（214.4 秒）耗时是最快一步（124.5 秒）的 1.0 倍。"),
    # an interval that is told to more digits than a bound has is told of its ends
    ("整个训练 grad norm 始终处于 0.612～0.681。", "整个训练 grad norm 始终处于 0.612～0.684。"),
    ("Over the run, grad norm never leaves the interval 0.61 to 0.69.", "Over the run, grad norm never leaves the interval 0.612 to 0.68093721."),
    ("`timing_s/gen` always lies between 68.2 and 124 s.", "`timing_s/gen` always lies between 71.2 and 124 s."),
    # values of what is not there
    ("The log has 30 values of `actor/entropy`.", "The log has 30 values of `actor/update_norm`."),
    ("日志里有 30 个 `actor/entropy` 的值。", "日志里有 30 个 `actor/update_norm` 的值。"),
    # a number that a change has without a sign went up
    ("策略熵从 step 10 到 step 20 变化 -0.235。", "策略熵从 step 10 到 step 20 变化 0.235。"),
    # two courses between two steps that are named once
    ("Entropy falls and the response length rises between step 11 and step 17.", "Entropy falls and the grad norm rises between step 9 and step 10."),
    ("The grad norm first falls to 0.629 at step 11 (from 0.681 at step 9), then rises to 0.664 at step 18.", "The grad norm first falls to 0.629 at step 11 (from 0.681 at step 9), then falls to 0.664 at step 18."),
    # so much of what it was
    ("到 step 20，策略熵只剩 step 10 的 67%。", "到 step 10，策略熵只剩 step 20 的 67%。"),
    # from what it is compared with
    ("The response length is up by 37% at step 25 relative to step 10 (556 to 762).", "The response length is up by 36% at step 25 relative to step 10 (762 to 556)."),
    ("策略熵在 step 20 相对 step 10 下跌 33%（0.722 到 0.487）。", "策略熵在 step 20 相对 step 10 下跌 33%（0.487 到 0.722）。"),
    ("策略熵，step 10 对 step 20：0.722 对 0.487（-33%）。", "策略熵，step 10 对 step 20：0.487 对 0.722（-33%）。"),
    # a chain against the sign of its change
    ("Response length at step 25: 556 → 762 tokens, +37% since step 10.", "Response length at step 25: 762 → 556 tokens, +37% since step 10."),
    ("step 25 的平均回复长度是 step 10 的 1.4 倍，从 556 到 762。", "step 25 的平均回复长度是 step 10 的 1.4 倍，从 762 到 556。"),
    # a factor of the first in brackets over the second
    ("Generation takes 3.1 times as long as the update at step 20 (104.3 s vs 33.7 s).", "Generation takes 3.1 times as long as the update at step 20 (33.7 s vs 104.3 s)."),
    ("step 20 用的时间是 step 5 的 1.3 倍（183.4 秒和 136.9 秒）。", "step 20 用的时间是 step 5 的 0.7 倍（183.4 秒和 136.9 秒）。"),
    # a part is told before the whole, or behind it
    ("`timing_s/gen` takes 104.3 s of the 183.4 s of step 20.", "`timing_s/gen` takes 183.4 s of the 104.3 s of step 20."),
    ("step 20 共 183.4 秒，`timing_s/gen` 用了 104.3 秒。", "step 20 共 104.3 秒，`timing_s/gen` 用了 183.4 秒。"),
    # the greatest, and where it is
    ("Mean training reward never goes above 0.629 (step 30).", "Mean training reward never goes above 0.629 (step 12)."),
    ("平均奖励最高不超过 0.629（step 30）。", "平均奖励最高不超过 0.729（step 30）。"),
    # the first and the last of several
    ("The validation set was evaluated 3 times, first at step 10, last at step 30.", "The validation set was evaluated 3 times, first at step 30, last at step 10."),
    ("验证集一共评测 3 次，第一次在 step 10，最后一次在 step 30。", "验证集一共评测 3 次，第一次在 step 10，最后一次在 step 29。"),
    # 0 is no rounding of 0.6
    ("grad norm 在 step 3 时是 0.6636；到 step 10 变成了 0.6123。", "grad norm 在 step 3 时是 0；到 step 10 变成了 0.6123。"),
    # the ends of the log
    ("The log runs from step 1 to step 30.", "The log runs from step 1 to step 27."),
    ("日志从 step 1 到 step 30。", "日志从 step 3 到 step 30。"),
    # an interval of whole numbers in brackets is no citation
    ("`response_length/mean` stays within [430, 830] throughout.", "`response_length/mean` stays within [530, 830] throughout."),
    # the group's size, by the names that settings have for it
    ("rollout.n is 8.", "rollout.n is 16."),
    ("rollout.n = 8, from the largest advantage.", "rollout.n = 4, from the largest advantage."),
    ("由最大 advantage 推出 rollout.n 是 8。", "由最大 advantage 推出 rollout.n 是 16。"),
    ("The largest advantage is consistent with 8 samples per prompt.", "The largest advantage is consistent with 16 samples per prompt."),
    ("从 advantage 的最大值看，group size 是 8。", "从 advantage 的最大值看，group size 是 4。"),
    # shares told before what they are of
    ("At step 20, 57% of the time goes to generation and 18% to the actor update.", "At step 20, 18% of the time goes to generation and 57% to the actor update."),
    ("step 20 里 57% 的时间花在生成上，18% 花在 actor 更新上。", "step 20 里 18% 的时间花在生成上，57% 花在 actor 更新上。"),
    # what is told as a fact, whatever is wondered about it
    ("I would not read much into the +37% of `response_length/mean` between step 10 and step 25.", "I would not read much into the +29% of `response_length/mean` between step 10 and step 25."),
    ("The 37% rise of `response_length/mean` between step 10 and step 25 is probably noise.", "The 27% rise of `response_length/mean` between step 10 and step 25 is probably noise."),
    ("Consider the response length: 37% more at step 25 than at step 10.", "Consider the response length: 27% more at step 25 than at step 10."),
]  # fmt: skip


@pytest.mark.parametrize(("true", "false"), PAIRS, ids=[str(number) for number in range(len(PAIRS))])
def test_audit_values_in_each_others_place_are_told_apart(true: str, false: str) -> None:
    assert set(_statuses(true)) == {"supported"}, AUDITOR.audit(true)
    assert {"contradicted", "unsupported"} & set(_statuses(false)), AUDITOR.audit(false)


@pytest.mark.parametrize(
    "text",
    [
        "Launch with rollout.n=16 next time.",
        "As shown in [12], the KL term helps.",
        "I'd lower the learning rate to 5e-7 from step 20 on.",
        "With a larger batch, the response length at step 20 would be 900.",
        "A grad norm of 5 at step 20 would be a warning.",
    ],
)
def test_audit_plans_and_citations_claim_nothing(text: str) -> None:
    assert _statuses(text) == []
