"""Each question is answered with the figures of the log, and with what they do and do not mean."""

from collections.abc import Callable

import pytest

from . import figures
from .audit import numbers, shows
from .figures import LOGGED, example_rows, logged, ratio
from .questions import QUESTIONS
from .support import (
    Answer,
    assert_language,
    assert_says,
    derived_values,
    facts_of,
    says,
    says_key,
    value_cells,
)

AnswerTo = Callable[[str], Answer]

DENIES_QUALITY = (
    r"既不[^。\n]{0,12}也不|(?:不|并非)(?:能)?(?:代表|说明|意味着|反映|等于|表示|是)[^。\n]{0,30}"
    r"(?:好|坏|快|慢|学|改进|收敛)|与[^。\n]{0,15}(?:快慢|好坏|学习速度|学得)无关|(?:没有|不分|无所谓|谈不上)好坏"
)


def assert_shows(answer: Answer, *values: float, digits: int = 2) -> None:
    unseen = [value for value in values if not shows(answer["answer"], value, digits=digits)]
    assert not unseen, f"not shown: {unseen}\n\n{answer['answer']}"


def test_question_any_answered_in_its_language(answer_to: AnswerTo, asked: str) -> None:
    assert_language(answer_to(asked), QUESTIONS[asked].language)


def test_question_any_understood_as_meant(answer_to: AnswerTo, asked: str) -> None:
    assert answer_to(asked)["intent"] in QUESTIONS[asked].intents


def test_question_any_answered_offline(answer_to: AnswerTo, asked: str) -> None:
    got = answer_to(asked)
    assert got["engine"] == "offline"
    assert got["usage"]["llm_calls"] == got["usage"]["prompt_tokens"] == got["usage"]["completion_tokens"] == 0


# --- the validation of step 0 -------------------------------------------------------------------

VALIDATION = pytest.mark.parametrize("name", ["validation-alone", "validation-in-log"])


@VALIDATION
@pytest.mark.parametrize(
    "metric",
    [
        f"{figures.ACC}/mean@30",
        f"{figures.ACC}/best@30/mean",
        f"{figures.ACC}/maj@30/mean",
        "val-aux/aime_2025/reward/mean@30",
        "val-aux/num_turns/mean",
    ],
)
def test_validation_headline_shown(answer_to: AnswerTo, name: str, metric: str) -> None:
    got = answer_to(name)
    assert_shows(got, logged(metric, 0))
    near = pytest.approx(logged(metric, 0), rel=1e-6)  # reward and score are the same but for float32
    assert any(step == 0 and value == near for _, step, value in value_cells(got))


@VALIDATION
def test_validation_statistics_explained_as_coded(answer_to: AnswerTo, name: str) -> None:
    assert_says(
        answer_to(name),
        bootstrap=r"自助|bootstrap|有放回",
        with_replacement=r"有放回|放回抽样|重复抽",
        below_pass_at_n=r"pass@(?:30|N|k)",
        std_is_no_error_bar=r"std@30[^。\n]{0,60}(?:不是|并非|不能[^。\n]{0,6}当|不等于)[^。\n]{0,25}误差"
        r"|(?:误差|标准误)[^。\n]{0,25}(?:不是|并非|不能)[^。\n]{0,30}std"
        r"|(?:不是|并非)[^。\n]{0,20}(?:误差|标准误)",
    )


# --- step 1, one metric after another -----------------------------------------------------------

STEP_1 = pytest.mark.parametrize("name", ["explain-step-1", "explain-step-1-alone"])


@STEP_1
def test_step_1_every_metric_named(answer_to: AnswerTo, name: str) -> None:
    text = answer_to(name)["answer"]
    unnamed = [key for key in example_rows()[1].cells if not says_key(text, key)]
    assert not unnamed


@STEP_1
def test_step_1_metrics_grouped(answer_to: AnswerTo, name: str) -> None:
    lines = answer_to(name)["answer"].splitlines()
    headings = [line for line in lines if line.startswith("#") or line.strip().startswith("**")]
    assert len(headings) >= 4


@STEP_1
@pytest.mark.parametrize(
    "value",
    [
        figures.N_TRAJECTORIES,
        figures.N_PROMPTS,
        figures.GROUP_SIZE,
        logged("perf/throughput", 1),
        figures.CLUSTER_THROUGHPUT,
        figures.SEQLEN_GAP,
        *figures.SHARES.values(),
        figures.REMAINDER_S,
    ],
)
def test_step_1_figure_shown(answer_to: AnswerTo, name: str, value: float) -> None:
    assert_shows(answer_to(name), value)


@STEP_1
def test_step_1_what_the_log_implies_said(answer_to: AnswerTo, name: str) -> None:
    assert_says(
        answer_to(name),
        eight_gpus=r"(?<![\d.,])8\s*(?:张|块|个|枚)?\s*(?:GPU|卡|显卡)|(?:GPU|卡)[^。\n\d]{0,12}8(?![\d.,]\d)",
        no_critic=r"(?:没有|无|未|不存在|并无|不需要|没用|不含)[^。\n]{0,15}(?:critic|价值|评论家)"
        r"|critic[^。\n]{0,30}(?:不存在|没有|并不|并非|不是)",
        throughput_is_per_gpu=r"(?:每|单)[^。\n]{0,10}(?:GPU|卡)[^\n]{0,60}677|677[^\n]{0,60}(?:每|单|/\s*)\s*张?\s*(?:GPU|卡)",
        balanced=r"均衡|平衡|balanc",
        gap_is_before_balancing=r"(?:均衡|平衡)(?:化|处理|分配)?(?:之)?前|未(?:做|经)?(?:均衡|平衡)|before",
    )


@STEP_1
@pytest.mark.parametrize("phase", sorted(figures.SHARES))
def test_step_1_share_of_time_is_a_fact(answer_to: AnswerTo, name: str, phase: str) -> None:
    shares = facts_of(answer_to(name), "share", name=phase, step=1)
    assert [fact["value"] for fact in shares] == [pytest.approx(figures.SHARES[phase], abs=1e-4)]


# --- did it improve since step 0? ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["improved-zh", "improved-zh-then", "improved-en"])
def test_improvement_on_a_validation_step_not_comparable(answer_to: AnswerTo, name: str) -> None:
    assert answer_to(name)["verdict"]["code"] == "not_comparable"


@pytest.mark.parametrize("name", ["improved-zh", "improved-zh-then"])
def test_improvement_asked_in_chinese_says_why_and_what_to_wait_for(answer_to: AnswerTo, name: str) -> None:
    assert_says(
        answer_to(name),
        validation=r"验证|测试集|评测",
        training=r"训练",
        what_can_be_compared=r"mean@30|val-core",
        wait_for=r"下一?次[^。\n]{0,12}(?:验证|测试|评测|评估|val)|等[^。\n]{0,20}(?:验证|测试|评测|评估|val)"
        r"|(?:验证|测试|评测|评估)[^。\n]{0,12}(?:之后|出来|再次)|再(?:做|跑|来)?一?次[^。\n]{0,6}(?:验证|测试|评测)",
    )


def test_improvement_asked_in_english_says_why_and_what_to_wait_for(answer_to: AnswerTo) -> None:
    assert_says(
        answer_to("improved-en"),
        validation=r"validation",
        training=r"training",
        what_can_be_compared=r"mean@30|val-core",
        wait_for=r"next validation|(?:wait|until|need|second|another|later)[^.\n]{0,40}validat"
        r"|validat[^.\n]{0,40}(?:again|next|later)",
    )


# --- what is ppo_kl? ----------------------------------------------------------------------------

PPO_KL = pytest.mark.parametrize("name", ["ppo-kl", "ppo-kl-then"])


@PPO_KL
def test_ppo_kl_defined_as_the_k1_estimator(answer_to: AnswerTo, name: str) -> None:
    got = answer_to(name)
    assert got["verdict"]["code"] == "answered"
    assert_says(got, estimator=r"(?<!\w)k1(?!\w)", neither_good_nor_bad=DENIES_QUALITY)


@PPO_KL
def test_ppo_kl_definition_cites_the_source(answer_to: AnswerTo, name: str) -> None:
    cards = {citation["card"]: citation for citation in answer_to(name)["citations"]}
    assert "core_algos" in cards["verl/actor/ppo_kl"]["source"]


def test_ppo_kl_with_one_training_step_shows_its_value(answer_to: AnswerTo) -> None:
    assert_shows(answer_to("ppo-kl-then"), logged("actor/ppo_kl", 1))


def test_ppo_kl_with_several_training_steps_shows_a_value(answer_to: AnswerTo) -> None:
    text = answer_to("ppo-kl")["answer"]
    assert any(shows(text, value) for value in LOGGED["actor/ppo_kl"].values())


# --- step 2 and step 3 --------------------------------------------------------------------------


def test_step_2_changes_come_with_their_noise(answer_to: AnswerTo) -> None:
    got = answer_to("step-2")
    changes = facts_of(got, "change", from_step=1, to_step=2)
    assert any(isinstance(fact["noise"], int | float) and fact["noise"] > 0 for fact in changes)
    assert_shows(got, figures.N_PROMPTS)
    assert_says(got, noise=r"\bnoise|\bsampling|batch[- ]to[- ]batch", batches=r"prompts")


def test_step_3_figures_shown(answer_to: AnswerTo) -> None:
    assert_shows(answer_to("step-3"), logged("actor/pg_loss", 3), logged("actor/ppo_kl", 3))


def test_step_3_fall_of_ppo_kl_quantified(answer_to: AnswerTo) -> None:
    got = answer_to("step-3")
    falls = [ratio("actor/ppo_kl", step, 3) for step in (1, 2)]
    wanted = [100 * (1 - fall) for fall in falls] + [1 / fall for fall in falls]
    shown = [number for number in numbers(got["answer"]) if number.significant >= 2]
    assert any(number.is_magnitude(value) for number in shown for value in wanted), got["answer"]
    changes = facts_of(got, "change", metric="actor/ppo_kl", to_step=3)
    assert changes
    for fact in changes:
        assert fact["ratio"] == pytest.approx(ratio("actor/ppo_kl", fact["from_step"], 3), rel=1e-9)


def test_step_3_fall_of_ppo_kl_taken_for_noise(answer_to: AnswerTo) -> None:
    got = answer_to("step-3")
    assert_says(got, normal=r"\bnormal|\bexpected|\bnoise|\bsampling|not a (?:sign|symptom|collapse)")
    assert got["verdict"]["code"] != "critical"


def test_step_3_negative_loss_explained(answer_to: AnswerTo) -> None:
    assert_says(answer_to("step-3"), sign=r"negative|sign|below (?:zero|0)")


# --- what the log implies -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpus", "three-in-one"])
def test_gpus_asked_eight_derived(answer_to: AnswerTo, name: str) -> None:
    got = answer_to(name)
    assert got["verdict"]["code"] == "answered"
    assert [fact["value"] for fact in facts_of(got, "derived", name="n_gpus")][:1] == [figures.N_GPUS]
    assert says(got["answer"], r"(?<![\d.,])8(?![\d.,]\d)")


@pytest.mark.parametrize("name", ["batch", "three-in-one"])
@pytest.mark.parametrize("value", [figures.N_TRAJECTORIES, figures.N_PROMPTS, figures.GROUP_SIZE])
def test_batch_asked_geometry_derived(answer_to: AnswerTo, name: str, value: int) -> None:
    got = answer_to(name)
    assert_shows(got, value)
    assert any(derived == pytest.approx(value, abs=1e-6) for derived in derived_values(got))


@pytest.mark.parametrize("name", ["advantage", "three-in-one"])
def test_largest_advantage_asked_bound_explained(answer_to: AnswerTo, name: str) -> None:
    got = answer_to(name)
    assert_shows(got, figures.GROUP_SIZE, figures.MAX_ADVANTAGE)
    assert_says(got, formula=r"\(?\s*(?:n|16)\s*-\s*1\s*\)?\s*(?:/|÷|\\over|\}\{)\s*(?:√|sqrt|\\sqrt|根号)")


# --- the same answer in the other language ------------------------------------------------------

IN_CHINESE = sorted(name for name, question in QUESTIONS.items() if question.language == "zh")


@pytest.mark.parametrize("name", IN_CHINESE)
def test_language_english_chosen_for_a_chinese_question_same_facts(
    answer: Callable[..., Answer], answer_to: AnswerTo, name: str
) -> None:
    question = QUESTIONS[name]
    english, chinese = answer(question.text, lang="en", log=question.log), answer_to(name)
    assert_language(english, "en")
    assert english["intent"] == chinese["intent"]
    assert english["verdict"]["code"] == chinese["verdict"]["code"]
    assert value_cells(english) == value_cells(chinese)


@pytest.mark.parametrize("name", ["step-2", "improved-en"])
def test_language_chinese_chosen_for_an_english_question_same_facts(
    answer: Callable[..., Answer], answer_to: AnswerTo, name: str
) -> None:
    question = QUESTIONS[name]
    chinese, english = answer(question.text, lang="zh", log=question.log), answer_to(name)
    assert_language(chinese, "zh")
    assert value_cells(chinese) == value_cells(english)


def test_markdown_by_default_says_what_the_answer_object_says(ask: Callable[..., object], answer_to: AnswerTo) -> None:
    question = QUESTIONS["gpus"]
    done = ask("explain", figures.EXAMPLE, "-q", question.text, "--format", "md")
    assert done.returncode == 0
    assert answer_to("gpus")["answer"].strip() in done.stdout
