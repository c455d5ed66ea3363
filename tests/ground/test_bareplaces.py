"""Steps named without "step" or 第: which are read, and which are counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.ground.bareplaces import bare_places
from assistant.ground.places import places

STEPS = range(101)


@pytest.mark.parametrize(
    ("text", "steps", "kind"),
    [
        ("12 步时熵为 0.3", (12,), "steps"),
        ("到 14 步，熵升至 0.3", (14,), "steps"),
        ("15 步到 41 步一共花了 77 分钟", (15, 41), "range"),
        ("72 步对比 10 步：熵↓", (10, 72), "pair"),
        ("timing_s/gen 变化 +7.7%（s25→s67）", (25, 67), "pair"),
        ("tok/s/GPU on s61: 152", (61,), "steps"),
        ('"grad_norm": 0.24, at "step": 27', (27,), "steps"),
        ("After 31 updates we are looking at 0.50", (31,), "steps"),
        ("更新 62 次以后，长度来到 313", (62,), "steps"),
        ("Over the ten steps that followed step 57, it shed 0.05", (57, 67), "pair"),
        ("第 13 步之后的十步里，得分涨了 0.047", (13, 23), "pair"),
        ("在离末步还有 39 步的地方", (61,), "steps"),
        ("the penultimate step", (99,), "steps"),
        ("倒数第三步", (98,), "steps"),
        ("1、2、3 三步的熵", (1, 2, 3), "steps"),
    ],
)
def test_bare_places_naming_is_read(text: str, steps: tuple[int, ...], kind: str) -> None:
    """Each spelling names its steps."""
    assert [(found[2], found[3]) for found in bare_places(text, STEPS)] == [(steps, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "日志共 67 步", "有 5 步超过 1", "每 10 步验证一次", "前 20 步的均值", "连续 30 步不涨", "训练了 100 步",
        "最后 10 步", "12 步里有 3 步为负", "第 3、25、44 步分别是", "9000 步时", "after 10 steps of decline",
        "10 s12ab",
    ],
)  # fmt: skip
def test_bare_places_count_is_no_step(text: str) -> None:
    """What counts steps, is read elsewhere or is not in the log names none here."""
    assert list(bare_places(text, STEPS)) == []


@given(st.text(alphabet='0123456789步第到、，s=→ after updates"', max_size=40))
def test_bare_places_any_text_holds_only_logged_steps(text: str) -> None:
    """Whatever the text, spans lie in it and steps are the log's."""
    for start, end, steps, _ in bare_places(text, STEPS):
        assert 0 <= start < end <= len(text)
        assert set(steps) <= set(STEPS)


def test_places_bare_step_beside_a_named_one_does_not_overlap() -> None:
    """Both spellings in one sentence give two places."""
    found = places("熵在第 18 步触底（0.598），到 19 步回升至 0.654", STEPS)
    assert [place.steps for place in found] == [(18,), (19,)]
