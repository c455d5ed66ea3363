"""Conditions, shares of the steps and parts of a step: a true sentence is borne out, one with a falsehood is not."""

# ruff: noqa: E501 (sentences stay on one line)
from __future__ import annotations

import json

import pytest

from assistant.ground.audit import Auditor
from assistant.ground.quantities import quantities
from assistant.ground.sentences import units
from assistant.knowledge import Resolver, library
from assistant.parsing import parse_text


def _auditor() -> Auditor:
    """Reward rises, entropy falls, the gradient peaks at step 12; a step takes 160 s, of which generation 100 to 129."""
    rows = [
        {
            "step": step,
            "critic/rewards/mean": round(0.10 + 0.02 * step, 4),
            "actor/entropy": round(0.90 - 0.02 * step, 4),
            "actor/grad_norm": round(1.5 - abs(step - 12) * 0.05, 4),
            "response_length/mean": 300.0 + 10 * step,
            "timing_s/step": 160.0 if step != 9 else 200.0,
            "timing_s/gen": 99.0 + step,
            "timing_s/update_actor": 20.0,
        }
        for step in range(1, 31)
    ]
    log = "\n".join(map(json.dumps, rows))
    return Auditor([parse_text(log, name="train.jsonl").runs[0]], Resolver(library()))


AUDITOR = _auditor()


@pytest.mark.parametrize(
    ("true", "false"),
    [
        # any step, none, a share of them
        ("There are steps with mean reward under 0.2.", "There are steps with mean reward under 0.1."),
        ("At least one step is above 1.45 on grad norm.", "At least one step is above 1.55 on grad norm."),
        ("有些步的策略熵低于 0.35。", "有些步的策略熵低于 0.25。"),
        ("回答长度低于 300 的步一个都没有。", "回答长度低于 330 的步一个都没有。"),
        ("Mean reward is over 0.3 about two thirds of the time.", "Mean reward is over 0.3 about a quarter of the time."),
        ("大约三分之一的步里策略熵高过 0.7。", "大约三分之二的步里策略熵高过 0.7。"),
        ("策略熵未曾跌穿 0.29。", "策略熵未曾跌穿 0.4。"),
        # one end of the range as a multiple of the other
        ("平均回复长度的最大值是最小值的 1.9 倍。", "平均回复长度的最大值是最小值的 2.9 倍。"),
        ("Peak over trough, entropy spans a factor of 2.9.", "Peak over trough, entropy spans a factor of 4.9."),
        # parts of a step
        ("step 21 里每做 1 秒策略更新，就要花 6.0 秒采样。", "step 21 里每做 1 秒策略更新，就要花 5.0 秒采样。"),
        ("For every second spent in the actor update there are 6.0 seconds of generation at step 21.", "For every second spent in the actor update there are 8.0 seconds of generation at step 21."),
        ("Everything other than generation adds up to 25% of step 21, or 40.0 s.", "Everything other than generation adds up to 75% of step 21, or 40.0 s."),
        ("第 21 步除生成以外的部分合计 40.0 秒。", "第 21 步除生成以外的部分合计 60.0 秒。"),
        ("按平均速度，一小时能跑 22.3 步。", "按平均速度，一小时能跑 32.3 步。"),
        ("At the run's mean pace you get 22.3 steps per hour.", "At the run's mean pace you get 12.3 steps per hour."),
        ("9 步花的时间比 8 步多出 25%。", "9 步花的时间比 8 步多出 35%。"),
        # the extreme of some steps
        ("Of steps 3, 10 and 20, it is step 10 that has the highest grad norm, 1.4.", "Of steps 3, 10 and 20, it is step 20 that has the highest grad norm, 1.1."),
        ("3、10、20 三步里，grad norm 最高的是 10 步，为 1.4。", "3、10、20 三步里，grad norm 最高的是 20 步，为 1.1。"),
        # two stretches
        ("前十个训练步的平均奖励平均 0.21，后十个平均 0.61，整体抬升了。", "前十个训练步的平均奖励平均 0.21，后十个平均 0.61，整体下沉了。"),
        ("The first ten training steps average 0.79 in entropy and the last ten 0.39, so it has come down.", "The first ten training steps average 0.79 in entropy and the last ten 0.39, so it has come up."),
        # steps without 第 before them
        ("grad norm 的峰值是 1.5，落在 12 步。", "grad norm 的峰值是 1.5，落在 13 步。"),
        ("梯度范数：12 步 1.5，下一步 1.45。", "梯度范数：13 步 1.5，下一步 1.45。"),
        ("日志在 8 步给 `actor/entropy` 记下了 0.74 这个数。", "日志在 9 步给 `actor/entropy` 记下了 0.74 这个数。"),
        ("第 3 步和第 10 步的策略熵是 0.84 和 0.7；同样这两步，平均奖励分别为 0.16 和 0.3。", "第 3 步和第 10 步的策略熵是 0.84 和 0.7；同样这三步，平均奖励分别为 0.16 和 0.3。"),
        # one length of time in two units
        ("Step 9 took 3 min 20 s.", "Step 9 took 3 min 50 s."),
        ("第 9 步用时 3 分 20 秒。", "第 9 步用时 2 分 20 秒。"),
        # the extreme of a metric of time is an extreme
        ("生成耗时的谷值是 100，落在第 1 步。", "生成耗时的谷值是 129，落在第 30 步。"),
    ],
)  # fmt: skip
def test_audit_condition_or_part_true_is_supported_false_is_not(true: str, false: str) -> None:
    bad = {"contradicted", "unsupported"}
    statuses = {s.status for s in AUDITOR.audit(true).sentences}
    assert "supported" in statuses, AUDITOR.audit(true).to_json()
    assert not statuses & bad, AUDITOR.audit(true).to_json()
    assert {s.status for s in AUDITOR.audit(false).sentences} & bad, AUDITOR.audit(false).to_json()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1 min 11 s", 71), ("2 小时 14 分", 8040), ("1 h 2 min 3 s", 3723), ("3分20秒", 200), ("1 hour and 5 minutes", 3900)],
)  # fmt: skip
def test_quantities_time_in_two_units_is_one(text: str, seconds: int) -> None:
    found = quantities(f"It took {text}.", [])
    assert [(q.number * q.factor, q.unit) for q in found] == [(seconds, "s")]


def test_units_list_of_steps_is_no_list_item() -> None:
    assert [u.start for u in units("25、35、45 三步里，最低的是第 45 步。")] == [0]
