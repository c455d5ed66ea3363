"""Rows cut at the same length: one line where they are many, a line each where they are few; all of them are named."""

from __future__ import annotations

import pytest

from assistant.model import Run
from assistant.parsing import parse_text
from tests.ask.support import conversation, first_line

LIMIT = 4096


def run(cut: int) -> Run:
    """Thirty verl steps, a validation at every third; of those the last `cut` rows are cut as Ray's console does."""
    lines = []
    for step in range(30):
        wave = 0.01 * (step * 7 % 5)
        policy = f"actor/entropy:{0.9 - wave} - actor/grad_norm:{0.5 + wave} - actor/ppo_kl:{0.001 + wave / 100}"
        batch = f"critic/score/mean:{0.1 + step / 50} - response_length/mean:{300 + 100 * wave}"
        numbers = " - ".join(f"timing_s/part_{i}:{0.5 + i + step / 100:.20f}" for i in range(120))
        checked = f" - val-core/aime/acc/mean@4:{0.2 + step / 100}" if step % 3 == 0 else ""
        line = f"step:{step} - {policy} - actor/pg_clipfrac:{0.002 + wave / 50} - {batch} - {numbers}{checked}"
        short = step % 3 == 0 and step > 27 - 3 * cut
        lines.append(line[:LIMIT] if short else line)
    return parse_text("\n".join(lines)).runs[0]


@pytest.mark.parametrize(
    ("question", "words"), [("正常吗", "个字符处被截断"), ("is everything ok?", "were cut at 4096")]
)
def test_many_cut_rows_are_one_line(question: str, words: str) -> None:
    text = conversation(run(6), question).answer
    lines = [line for line in text.split("\n") if words in line]
    assert len(lines) == 1
    assert all(number in lines[0] for number in ("6", "12", "27"))


def test_few_cut_rows_have_a_line_each() -> None:
    text = conversation(run(2), "正常吗").answer
    assert sum("个字符处被截断" in line for line in text.split("\n")) == 2


@pytest.mark.parametrize(("question", "said"), [("正常吗", "9 个 step"), ("is everything ok?", "9 steps")])
def test_all_cut_rows_are_counted(question: str, said: str) -> None:
    assert said in conversation(run(9), question).answer


def test_a_validation_of_a_known_benchmark_settles_it_by_its_size() -> None:
    text = "\n".join(
        f"step:{step} - actor/entropy:{0.5 - step / 900} - val/test_score/openai/gsm8k:{0.0008 + 0.003 * step:.6f}"
        for step in range(0, 180, 20)
    )
    answer = conversation(parse_text(text).runs[0], "is it learning?").answer
    assert "beyond noise" in answer
    assert "would not settle" not in answer


def test_the_first_line_is_the_verdict() -> None:
    assert first_line(conversation(run(6), "正常吗")).startswith("没有发现异常")
