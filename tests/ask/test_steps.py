"""Steps and limits in figures, numerals and words."""

from __future__ import annotations

import pytest

from assistant.ask.limits import threshold_in
from assistant.ask.steps import western_numbers
from assistant.ask.understand import understand
from assistant.knowledge import Resolver, library
from tests.analysis.support import long_run

RESOLVER = Resolver(library())
RUN = long_run()


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("第三步", "第3步"), ("最近十步", "最近10步"), ("过去五步", "过去5步"), ("三到九步", "3到9步"),
        ("最后一步", "最后一步"), ("前一步", "前一步"), ("last ten steps", "last 10 steps"), ("step twelve", "step 12"),
        ("the third step", "the step 3"), ("第二个 epoch", "第2个 epoch"),
        ("14 步里的平均", "前14步里的平均"), ("第 14 步里", "第 14 步里"),
        ("最近 14 步内", "最近 14 步内"), ("这二十步里", "这前20步里"),
    ],
)  # fmt: skip
def test_western_numbers_numeral_becomes_a_figure(text: str, figures: str) -> None:
    assert western_numbers(text) == figures


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("超过 0.05 的步", ("above", 0.05)), ("above 5%", ("above", 0.05)), ("掉到 0.1 以下", ("below", 0.1)),
        ("first pass 0.4", ("above", 0.4)), ("take more than 60 seconds", ("above", 60.0)),
        ("低于过 0.2", ("below", 0.2)),
        ("什么时候能到 0.5", ("above", 0.5)), ("23.0% -> 26.2%", None), ("step 3 到 9", None), ("到 200 步时", None),
    ],
)  # fmt: skip
def test_threshold_in_limit_is_side_and_number(text: str, limit: tuple[str, float] | None) -> None:
    assert threshold_in(text) == limit


@pytest.mark.parametrize(
    ("question", "kind", "values"),
    [
        ("entropy between 3 and 9", "range", (3, 9)), ("entropy steps 3..9", "range", (3, 9)),
        ("3到9步的熵", "range", (3, 9)), ("最近5步的熵", "last_n", (5,)),
        ("entropy over the past 4 steps", "last_n", (4,)),
        ("现在的熵", "last", ()), ("entropy at the end", "last", ()), ("一开始的熵", "first", ()),
        ("initial entropy", "first", ()), ("step 4, 6 的熵", "pair", (4, 6)), ("entropy @ step 6", "single", (6,)),
        ("best@30 是什么", "none", ()), ("峰值出现在哪", "none", ()),
    ],
)  # fmt: skip
def test_step_marks_wording_gives_the_slot(question: str, kind: str, values: tuple[int, ...]) -> None:
    steps = understand(question, RESOLVER, [RUN], language="zh").steps
    assert (steps.kind, steps.values) == (kind, values)
