"""Whether the longest response reached the limit: yes or no, at a step or ever, and where that cannot be told."""

from __future__ import annotations

import pytest

from assistant.parsing import parse_text
from tests.ask.support import conversation, first_line


def told(question: str, text: str) -> str:
    """The first line of the answer to a question about a log."""
    return first_line(conversation(parse_text(text).runs[0], question))


def log(longest: list[int], cut: list[float] | None = None) -> str:
    """A verl log of steps 1, 2, …: the longest response and the share that was cut."""
    lines = []
    for step, value in enumerate(longest, start=1):
        share = "" if cut is None else f" - response_length/clip_ratio:{cut[step - 1]}"
        lines.append(
            f"step:{step} - actor/entropy:{1 / step:.3f} - response_length/mean:300.5"
            f" - response_length/max:{value}.0{share}"
        )
    return "\n".join(lines)


CUT = log([1024, 900, 1024, 1024], [0.02, 0.0, 0.0625, 0.01])
UNCUT = log([700, 812, 640, 812], [0.0, 0.0, 0.0, 0.0])
BARE = log([700, 812, 640, 790])


@pytest.mark.parametrize(
    "question",
    [
        "step 3 最长的一条回答用满上限了吗", "第 3 步最长回答顶到上限了没",
        "第3步的 response 有没有碰到 max_response_length",
        "did the longest response hit the length limit at step 3?", "was any response at the limit at step 3?",
    ],
)  # fmt: skip
def test_reached_at_a_step(question: str) -> None:
    first = told(question, CUT)
    assert all(word in first for word in ["step 3", "1,024"])
    assert first.startswith(("到上限了", "Yes"))


@pytest.mark.parametrize(
    "question",
    [
        "第 2 步回答到上限了吗",
        "did responses reach the max length at step 2?",
        "step 2 的 response_length/max 打满了吗",
    ],
)
def test_not_reached_at_a_step(question: str) -> None:
    first = told(question, CUT)
    assert all(word in first for word in ["step 2", "900", "1,024"])
    assert first.startswith(("没到上限", "No:"))


@pytest.mark.parametrize(
    "question", ["最长的回答到上限了吗", "do answers reach the max response length?", "生成长度打满了没有"]
)
def test_ever_reached(question: str) -> None:
    first = told(question, CUT)
    assert all(word in first for word in ["3", "4", "1,024"])
    assert first.startswith(("到过上限", "Yes"))


@pytest.mark.parametrize("question", ["回答碰到上限了吗", "did any completion hit the limit?"])
def test_never_cut(question: str) -> None:
    first = told(question, UNCUT)
    assert all(word in first for word in ["812"])
    assert first.startswith(("没有", "No"))


@pytest.mark.parametrize("question", ["回答碰到上限了吗", "did any completion hit the limit?"])
def test_neither_limit_nor_share_cut_is_no_answer(question: str) -> None:
    first = told(question, BARE)
    assert all(word in first for word in ["812"])
    assert first.startswith(("看不出来", "That cannot be told"))


@pytest.mark.parametrize("question", ["长度上限是多少", "what is the response length limit?"])
def test_a_limit_that_nothing_tells_is_not_said_to_be_unreached(question: str) -> None:
    first = told(question, BARE)
    assert all(word in first for word in ["812"])
    assert "没有回答顶到" not in first
    assert "no response was cut" not in first


@pytest.mark.parametrize(
    "question", ["有多少回答到上限了", "哪步回答到上限的最多", "what share of responses hit the limit?"]
)
def test_how_many_is_no_yes_or_no(question: str) -> None:
    assert not told(question, CUT).startswith(("到过上限", "到上限了", "Yes"))
