"""A trend that was not found: the answer tells what could have gone unnoticed."""

import random

import pytest

from assistant.service import Source, service


def log(epoch: bool) -> str:
    rng = random.Random(3)
    rows = []
    for step in range(1, 51):
        more = f", 'epoch': {step / (50 if epoch else 25):.2f}"
        rows.append(f"{{'loss': {0.8 + rng.gauss(0, 0.1):.4f}, 'grad_norm': 1.0, 'learning_rate': 1e-05{more}}}")
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("language", "words", "first"), [("zh", "允许全程变化", "第一个 epoch"), ("en", "allows", "first epoch")]
)
@pytest.mark.parametrize("epoch", [True, False])
def test_trend_that_was_not_found_tells_the_change_that_would_drown(language, words, first, epoch):
    text = log(epoch)
    material = service().read([Source("a.log", text)])
    answer = service().explain(material, "trend of `loss`", language=language).answer
    assert answer.verdict.code == "fluctuating"
    assert words in answer.answer
    assert (first in answer.answer) is epoch
    bounds = [f.value for f in answer.facts if (f.name or "").startswith("possible_change_")]
    assert len(bounds) == 2
    assert bounds[0] < 0 < bounds[1]
    assert answer.grounding.unsupported == ()
