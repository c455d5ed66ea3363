"""Lines read by an earlier one's form give what reading each with care gives."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.parsing import parse_text
from assistant.parsing.quickline import Forms
from tests.parsing.generators import harm, line_logs, megatron, small_trainers

MAKERS = {
    "nanogpt": lambda rng, step: [line for line, _, _ in small_trainers.nanogpt(rng, step)],
    "llm.c": lambda rng, step: [line for line, _, _ in small_trainers.llmc(rng, step)],
    "mlx": lambda rng, step: [line for line, _, _ in small_trainers.mlx(rng, step)],
    "megatron": lambda rng, step: [megatron.random_row(rng, step + 1, nan=rng.random() < 0.1)[0]],
    "minimind": lambda rng, step: line_logs.minimind(rng.randrange(10**6), 2).lines,
}


@pytest.mark.parametrize("name", MAKERS)
@given(seed=st.integers(0, 10**6), damage=st.floats(0, 0.3))
@settings(max_examples=40, deadline=None)
def test_parse_text_many_lines_give_what_careful_reading_gives(name: str, seed: int, damage: float) -> None:
    rng = random.Random(seed)
    lines = [line for step in range(30) for line in MAKERS[name](rng, step)]
    lines = [line[: rng.randrange(len(line))] if rng.random() < damage else line for line in lines]
    lines = harm.interleave(rng, lines, damage)
    quick = parse_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Forms, "find", lambda self, line: None)
        careful = parse_text("\n".join(lines))
    assert repr(quick) == repr(careful)


@pytest.mark.parametrize(
    "line",
    ["a2 5: b 1.5s", "a1 5: b 1s", "a1 5: b nans", "a1 5: b 1.5ms", "a1 5: b +1.5s", "a1 x: b 1.5s", "a1 5: b2 1.5s"],
)
def test_forms_other_text_does_not_fit(line: str) -> None:
    forms = Forms[str]()
    forms.learn("a1 7: b 2.5s", 3, [(8, 2.5)], "held", loose=False)
    assert forms.read("a1 5: b -1.5s") == ("held", 5, [-1.5])
    assert forms.read(line) is None


def test_forms_digits_before_the_step_may_be_others() -> None:
    forms = Forms[str]()
    forms.learn("12:30 iter    7: b1 2", 11 + 3, [(20, 2)], "held")
    assert forms.read("09:15 iter   12: b1 40") == ("held", 12, [40])
    assert forms.read("9:15 iter   12: b1 40") is None
    assert forms.read("09:15 iter   12: b2 40") is None
