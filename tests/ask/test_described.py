from __future__ import annotations

import pytest

from assistant.ask import State
from assistant.ask.understand import understand
from assistant.model import Run
from assistant.parsing import parse_text
from assistant.service import service

LOG = "\n".join(
    f"step:{step} - actor/entropy:{0.5 - step / 100} - critic/score/mean:{step / 50} - response_length/clip_ratio:0.1"
    f" - perf/throughput:900.0 - timing_s/gen:{20 + step} - timing_s/step:{40 + step}"
    for step in range(1, 12)
)


@pytest.fixture(scope="module")
def run() -> Run:
    return parse_text(LOG).runs[0]


def metrics(question: str, run: Run, state: State | None = None) -> list[str | None]:
    return [m.key for m in understand(question, service().resolver, [run], language="en", state=state).mentions]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("what portion of answers were chopped off at step 3", "response_length/clip_ratio"),
        ("how sure is the model about its tokens at step 2", "actor/entropy"),
        ("模型还有多少随机性", "actor/entropy"),
        ("第 5 步每张卡每秒处理多少词元", "perf/throughput"),
    ],
)
def test_described_metric_is_the_one_asked_about(question: str, key: str, run: Run) -> None:
    assert metrics(question, run) == [key]


@pytest.mark.parametrize(
    "question",
    [
        "should I stop", "what should I do next", "is anything wrong?", "晚上吃什么", "explain everything", "总结一下",
        "something is off with this run, what is it", "from where on did it go wrong", "how did step 2 go",
        "gpus used?", "how many processes does this job use", "where did it all go south",
    ],
)  # fmt: skip
def test_described_question_about_no_metric_names_none(question: str, run: Run) -> None:
    assert metrics(question, run) == []


@pytest.mark.parametrize("follow_up", ["and at the end?", "那 step 3 呢", "最小值呢", "and the first 5?"])
def test_described_follow_up_goes_on_about_the_metric_before(follow_up: str, run: Run) -> None:
    material = service().answerer
    _, state = material.ask("entropy at step 2?", [run])
    assert metrics(follow_up, run, state) == ["actor/entropy"]
