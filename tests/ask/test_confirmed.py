"""A statement put for confirmation is held against the log before anything else is said: yes, no, in part."""

from __future__ import annotations

import math

import pytest

from assistant.ask.confirmed import claim_in, statement_in
from assistant.model import Run
from tests.analysis.support import run_of, training_step

from .support import answerer

STEPS = 40
ENTROPY, SCORE, CLIP, GEN = "actor/entropy", "critic/score/mean", "response_length/clip_ratio", "timing_s/gen"
VALIDATION = "val-core/math500/acc/mean@1"


def run(*, odd_from: int = 0) -> Run:
    """Entropy from 0.60 down to 0.40, a clip ratio of 30 % at the end, a score that rises from 0.35 to 0.74, a
    validation that falls from 0.60 to 0.40, and a generation that takes three times as long from step 21 on."""
    table = {}
    for step in range(1, STEPS + 1):
        wobble = 0.002 * (step % 3 - 1)
        table[step] = {
            **training_step(step), ENTROPY: 0.605 - 0.005 * step + wobble, CLIP: 0.0075 * step,
            SCORE: 0.34 + 0.01 * step + wobble, "critic/rewards/mean": 0.34 + 0.01 * step + wobble,
            GEN: (20.0 if step <= 20 else 60.0) + wobble, "actor/lr": 1e-6,
        }  # fmt: skip
        if step % 5 == 0:
            table[step][VALIDATION] = 0.60 - 0.005 * step
        if odd_from and step >= odd_from:
            table[step]["actor/grad_norm"] = math.nan
    return run_of(table)


def first(question: str, log: Run | None = None) -> str:
    return answerer().ask(question, (log or run(),))[0].answer.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "holds", "values"),
    [
        ("at step 20 the entropy was above 0.45, yes?", True, ["0.507"]),
        ("the entropy was above 0.55 at step 20, correct?", False, ["0.507"]),
        ("entropy went from 0.6 to 0.4, right?", True, ["0.6", "0.405"]),
        ("entropy went from 0.6 to 0.2, correct?", False, ["0.405"]),
        ("so the entropy fell from 0.40 to 0.60, right?", False, ["0.6", "0.405"]),
        ("the score fell over the run, correct?", False, ["0.350", "0.74"]),
        ("is it true that the score rose?", True, ["0.350", "0.74"]),
        ("I think the learning rate is 1e-4, right?", False, ["1e-06"]),
        ("we use a learning rate of 1e-6, don't we?", True, ["1e-06"]),
        ("generation became three times slower after step 20, right?", True, ["20", "60"]),
        ("generation became ten times slower after step 20, right?", False, ["20", "60"]),
        ("entropy doubled, didn't it?", False, ["0.6", "0.405"]),
        ("the score doubled, right?", True, ["0.350", "0.74"]),
        ("validation peaked at step 30, right?", False, ["57.5", "step 5"]),
        ("validation peaked at step 5 and fell afterwards, right?", True, ["57.5", "40"]),
        ("clip ratio rose to about a third, yes?", True, ["30"]),
        ("score climbed to 0.7 while the validation dropped to 0.40, right?", True, ["0.74", "40"]),
        ("the score is 1 at the end, correct?", False, ["0.74"]),
        ("score at step 10 is higher than at step 30, right?", False, ["0.440", "0.638"]),
        ("step 20 的熵高于 0.45，对吧", True, ["0.507"]),
        ("熵从 0.6 降到 0.4，没错吧？", True, ["0.6", "0.405"]),
        ("熵从 0.6 降到 0.1，是吧", False, ["0.405"]),
        ("20 步之后生成慢了一倍，对不对", False, ["20", "60"]),
        ("20 步之后生成时间变成 3 倍，对吧", True, ["20", "60"]),
        ("20 步之后生成快了一倍，是吧", False, ["20", "60"]),
        ("generation got faster after step 20, right?", False, ["60"]),
        ("得分翻倍了吧", True, ["0.350", "0.74"]),
        ("熵翻倍了对吧", False, ["0.6", "0.405"]),
        ("截断率最后快三成了吧", True, ["30"]),
        ("截断率最后超过 50% 了吧", False, ["30"]),
        ("学习率是 1e-4 吧", False, ["1e-06"]),
        ("得分越来越低，是吧", False, ["0.350", "0.74"]),
        ("step 10 的得分比 step 30 高吧", False, ["0.440", "0.638"]),
    ],
)
def test_statement_is_confirmed_or_denied_first_with_the_values(question: str, holds: bool, values: list[str]) -> None:
    said = first(question)
    yes, no = ("**Yes", "**对", "**有", "**是"), ("**No", "**不", "**没有")
    assert said.startswith(yes if holds else no), said
    assert not said.startswith(no if holds else yes), said
    for value in values:
        assert value in said, said


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("validation rose while the score went up, right?", "**Only in part"),
        ("the validation went up along with the score, did it not?", "**Only in part"),
        ("the entropy rose, so the score went up, no?", "**Only in part"),
        ("the entropy fell, so the score went up, right?", "**Both are so"),
        ("score rose because the moon was full, yes?", "**So far it is so"),
        ("the drop in the score comes from the entropy falling, right?", "**Only in part"),
        ("the rise of validation is due to the entropy falling, right?", "**Only in part"),
        ("验证和得分一起涨的，对吧", "**只对一部分"),
        ("熵一直在降，所以得分才涨，是吧", "**两件事都是真的"),
    ],
)
def test_each_clause_counts_and_a_cause_is_never_confirmed(question: str, begins: str) -> None:
    assert first(question).startswith(begins), first(question)


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("The NaN started at step 20, correct?", "**No: `actor/grad_norm` is first no finite number at step 30"),
        ("grad norm turned NaN at step 30, didn't it?", "**Yes"),
        ("score fell below 0.1 after the NaN, right?", "**No"),
        ("NaN 是第 10 步开始的吧", "**不对：`actor/grad_norm` 从 step 30 起"),
    ],
)
def test_where_values_stopped_being_finite_is_held_against_the_log(question: str, begins: str) -> None:
    assert first(question, run(odd_from=30)).startswith(begins), first(question, run(odd_from=30))


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("why did the generation time halve after step 20?", "**Not so"),
        ("since entropy stayed around 0.1 the whole time, we can skip the bonus, right?", "**Not so"),
        ("the score went from 0.7 to 0.3, what should I do?", "**Not so"),
        ("得分从 0.7 掉到 0.3 了，怎么办", ("**不是这样", "**日志里看不到下降")),
        ("为什么 20 步之后生成快了一倍", "**不是这样"),
    ],
)
def test_what_is_taken_for_granted_and_not_so_is_denied_first(question: str, begins: str | tuple[str, ...]) -> None:
    assert first(question).startswith(begins), first(question)


@pytest.mark.parametrize(
    "text",
    [
        "what is the entropy at step 3, right?", "should entropy fall, yes?", "is 0.4 normal for entropy, right?",
        "if the score doubled, would validation rise, no?", "entropy at step 12?", "熵多少来着", "为啥",
        "怎么办，对吧",
    ],
)  # fmt: skip
def test_question_puts_no_statement(text: str) -> None:
    assert statement_in(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "        fell for most of the second half",
        "        is above 0.1 whenever it rains",
        "        不是 0.4",
        "  掉得比预期厉害",
    ],
)
def test_clause_with_words_that_are_not_read_states_nothing(text: str) -> None:
    assert claim_in(text) is None


def test_long_text_is_read_in_no_time() -> None:
    for text in (
        "so " * 30_000 + "right?",
        "从 1 到 2 " * 20_000 + "对吧",
        "a, " * 30_000 + "yes?",
        " " * 90_000 + "right?",
    ):
        assert statement_in(text) is None or statement_in(text) is not None
        claim_in(text)
