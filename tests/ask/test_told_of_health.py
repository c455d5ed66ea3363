"""What is told of a run's health: no clean bill for a metric that is NaN, none for what the rules speak against."""

from __future__ import annotations

import pytest

from assistant.model import Answer, Run
from assistant.parsing import parse_text
from evals.diagnosis.cases import make
from tests.ask.support import answerer, first_line


def run_of(label: str, framework: str = "verl", seed: int = 1) -> Run:
    return parse_text(make(label, seed, framework, "strong").text).runs[0]


def series_log(key: str, values: list[float]) -> Run:
    lines = [
        f"step:{step} - actor/entropy:0.3 - actor/grad_norm:0.2 - critic/score/mean:0.5 - {key}:{value}"
        for step, value in enumerate(values, start=1)
    ]
    return parse_text("\n".join(lines)).runs[0]


def ask(run: Run, question: str) -> Answer:
    return answerer().ask(question, (run,))[0]


@pytest.mark.parametrize("question", ["{} 正常吗", "is {} ok?", "{} 有没有问题"])
@pytest.mark.parametrize("framework", ["verl", "ROLL"])
def test_metric_that_turned_nan_is_not_normal(question: str, framework: str) -> None:
    answer = ask(run_of("FM-15", framework), question.format("actor/grad_norm"))
    assert answer.verdict.code in {"warning", "critical"}, answer.answer
    assert "`actor/grad_norm`" in first_line(answer)
    assert "NaN" in first_line(answer)


@pytest.mark.parametrize("question", ["为什么 {} 出现了 nan", "{} is NaN, why?"])
def test_nan_of_a_metric_that_has_none_is_denied(question: str) -> None:
    nan = float("nan")
    run = series_log("tool_calls/success_rate", [nan, nan, 0.5, 0.5, 0.6, 0.6, 0.6, 0.7])
    answer = ask(run, question.format("actor/entropy"))
    assert answer.verdict.code == "healthy", answer.answer
    assert "`actor/entropy`" in first_line(answer)
    assert "tool_calls/success_rate" in answer.answer
    assert "先看最早" not in answer.answer


def test_nan_of_a_statistic_alone_is_no_alarm() -> None:
    nan = float("nan")
    answer = ask(series_log("tool_calls/success_rate", [nan] * 6 + [0.5, nan]), "有 NaN 吗")
    assert answer.verdict.code == "healthy"
    assert "`tool_calls/success_rate`" in answer.answer


def test_answers_without_the_end_token_are_not_said_to_reach_the_limit() -> None:
    answer = ask(run_of("FM-21", "TRL"), "正常吗")
    assert answer.verdict.code in {"warning", "critical"}
    assert "到了长度上限" not in answer.answer


@pytest.mark.parametrize("question", ["学到东西了吗", "did the model learn anything?"])
@pytest.mark.parametrize("label", ["FM-15", "FM-16", "FM-01"])
def test_learning_beside_what_the_rules_report(label: str, question: str) -> None:
    run = run_of(label)
    answer = ask(run, question)
    whole = ask(run, "正常吗" if answer.language == "zh" else "is it healthy?")
    assert answer.verdict.code == "warning"
    assert whole.findings[0].statement in answer.answer


@pytest.mark.parametrize("question", ["收敛了吗", "训练已经收敛了吧", "is it converged?"])
def test_convergence_is_told_by_the_last_third(question: str) -> None:
    rising = ask(series_log("val-core/math500/acc/mean@1", [0.1 + 0.02 * n for n in range(30)]), question)
    assert "还没有收敛" in rising.answer or "Not converged" in rising.answer
    few = ask(parse_text("step:1 - critic/score/mean:0.1\nstep:2 - critic/score/mean:0.2").runs[0], question)
    assert few.verdict.code == "insufficient_data"
    assert "还不能说收敛" in few.answer or "cannot be told" in few.answer


@pytest.mark.parametrize(
    "question",
    ["有没有隐患", "看一下配置有没有配错", "帮我诊断一下", "有没有跑偏", "what's off?",
     "was it a success?", "把这个 run 从头到尾讲一遍", "复盘一下", "写个周报"],
)  # fmt: skip
def test_wordings_for_the_whole_run_are_understood(question: str) -> None:
    run = run_of("FM-01")
    answer = ask(run, question)
    assert answer.intent in {"health", "explain"}
    assert answer.verdict.code == "critical"
    assert "没有完全听懂" not in answer.answer
    assert "fully understood" not in answer.answer


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("key", ["critic/score/mean", "response_length/mean"])
def test_course_that_left_its_level_is_told_so(key: str, sign: int) -> None:
    noise = [0.00, 0.03, -0.02, 0.04, 0.01, -0.03, 0.02, 0.05, -0.01, 0.03]
    values = [10 + sign * (0.1 * n) + noise[n] for n in range(10)]
    values += [10 - 3 * sign] + [10 - sign * (6 + x) for x in noise[:6]]
    lines = [f"step:{n} - actor/entropy:0.3 - {key}:{v}" for n, v in enumerate(values, start=1)]
    answer = ask(parse_text("\n".join(lines)).runs[0], f"{key} 的趋势")
    assert "随机游走" not in answer.answer


@pytest.mark.parametrize("question", ["kl 正常么", "is kl ok?"])
def test_metric_that_the_rules_read_is_not_said_to_have_no_rule(question: str) -> None:
    answer = ask(parse_text(make("steady_improvement", 5, "TRL").text).runs[0], question)
    assert answer.verdict.code == "healthy"
    assert "没有专门的规则" not in answer.answer
    assert "no rule is about" not in answer.answer


@pytest.mark.parametrize(("language", "words"), [("zh", "“之后”里还有"), ("en", "also holds another problem")])
def test_comparison_over_a_later_event_says_so(language: str, words: str) -> None:
    run = run_of("FM-27", seed=31)  # answers shrink all along, and the tools fail on the way
    answer = ask(run, "正常吗" if language == "zh" else "is it healthy?")
    modes = {finding.mode for finding in answer.findings if finding.severity in {"warning", "critical"}}
    assert {"FM-08", "FM-27"} <= modes, modes
    assert words in answer.answer
    alone = ask(run_of("FM-01"), "正常吗" if language == "zh" else "is it healthy?")
    assert words not in alone.answer
