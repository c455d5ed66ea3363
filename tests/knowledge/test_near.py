from __future__ import annotations

import pytest

from assistant.knowledge import Resolver, library
from assistant.knowledge.near import OwnMetrics
from assistant.knowledge.questions import all_without_fillers, without_fillers
from assistant.knowledge.terms import fold

VERL = (
    "actor/entropy", "actor/kl_loss", "actor/grad_norm", "actor/pg_clipfrac", "actor/lr", "critic/score/mean",
    "critic/rewards/mean", "critic/vf_explained_var", "critic/vf_loss", "critic/returns/mean", "perf/throughput",
    "response_length/mean", "response_length/max", "response_length/clip_ratio", "perf/max_memory_allocated_gb",
    "timing_s/gen", "timing_s/step", "timing_s/old_log_prob",
)  # fmt: skip


@pytest.fixture(scope="module")
def own() -> OwnMetrics:
    return OwnMetrics(VERL, "verl", Resolver(library()))


@pytest.mark.parametrize(
    ("question", "card"),
    [
        ("how much of the return variance does the critic explain at 70?", "verl/critic/vf_explained_var"),
        ("what portion of answers were chopped off at step 30", "verl/response_length/clip_ratio"),
        ("how sure is the model about its tokens", "verl/actor/entropy"),
        ("第 20 步每张卡每秒处理多少词元", "verl/perf/throughput"),
        ("模型还有多少随机性", "verl/actor/entropy"),
        ("how far has the policy moved away from the reference model", "verl/actor/kl_loss"),
    ],
)
def test_near_description_finds_the_metric_that_the_log_holds(own: OwnMetrics, question: str, card: str) -> None:
    found = own.find(question)
    assert found[0].card.id == card
    assert all(0 < near.score <= 1 for near in found)
    assert [near.score for near in found] == sorted((near.score for near in found), reverse=True)


def test_near_never_names_what_the_log_does_not_hold(own: OwnMetrics) -> None:
    for question in ("memory of the host", "tool calls a trajectory makes", "groups in which all rewards are equal"):
        assert all(set(near.keys) <= set(VERL) for near in own.find(question, k=10))


@pytest.mark.parametrize("question", ["", "17", "what is it", "第 3 步", "？"])
def test_near_question_without_a_word_of_its_own_finds_nothing(own: OwnMetrics, question: str) -> None:
    assert own.find(question) == []


def test_near_family_comes_with_all_its_keys(own: OwnMetrics) -> None:
    found = own.find("average number of tokens that the answers have")[0]
    assert found.keys == ("response_length/mean", "response_length/max")


def test_wordings_worked_on_at_once_are_those_worked_on_one_by_one() -> None:
    texts = ["What is the KL?", "第三步的獎勵是多少？", "ｐｐｏ＿ｋｌ 怎么看", "how do I read  actor/entropy ?"]
    texts += ["怎么", "the"]
    assert all_without_fillers(texts) == [without_fillers(fold(text)) for text in texts]
