"""Which part of a paste is the question."""

from __future__ import annotations

import pytest

from assistant.service.facade import Source, service

LOG = "\n".join(
    f"Iter {i}: Train loss {2 - 0.1 * i:.3f}, Val loss {2 + 0.1 * i:.3f}, Total rewards mean 0.{i}" for i in range(1, 8)
)


@pytest.mark.parametrize(
    ("paste", "question"),
    [
        (f"Val loss is increasing\n{LOG}", "Val loss is increasing"),
        (f"[Question] Train loss never gets below 1\n\n```\n{LOG}\n```", "Train loss never gets below 1 - why?"),
        (f"# Overfitting\n{LOG}", ""),  # a comment of a shell as well as a heading
        (f"Overfitting again\n{LOG}", "Overfitting again"),
        (f"验证 loss 一直上升\n{LOG}", "验证 loss 一直上升，为什么？"),
        (f"My first run on the new machine\n{LOG}", ""),
        (f"[Help] what does this tell?\n{LOG}", "what does this tell?"),
        (f"[INFO] reading the configuration of the train loss failed\n{LOG}", ""),
    ],
)
def test_title_with_a_symptom_is_the_question(paste: str, question: str) -> None:
    found = service().read([Source("paste.txt", paste)]).question
    assert found.removeprefix("[Help] ") == question


def test_long_paragraph_is_reduced_to_what_it_asks() -> None:
    body = (
        "Train loss stays above 1\nI used a data set of my own, which gave a loss of zero elsewhere, and went on "
        "to train on my own machine for free, yet the answers are bad. How to improve the loss? Thanks!"
    )
    found = service().read([Source("paste.txt", f"{body}\n\n{LOG}")]).question
    assert found == "Train loss stays above 1 How to improve the loss?"


def test_title_that_asks_is_kept_without_the_story() -> None:
    body = (
        "Why is the train loss not decreasing?\nHello everyone, I ran the script of the examples and noticed that the "
        "return increases but the loss of the learner is not decreasing as the episodes continue. Why is that?"
    )
    found = service().read([Source("paste.txt", f"{body}\n\n{LOG}")]).question
    assert found == "Why is the train loss not decreasing? Why is that?"


def test_lines_of_a_value_beside_the_question_are_none_of_it() -> None:
    log = "\n".join(f"Episode {i:3d}/400 | Mean reward (100 ep): {23 - i / 40:.1f}" for i in range(50, 401, 50))
    paste = f"{log}\nTraining finished. Final mean reward (100 ep): 13.0\nis it learning?"
    assert service().read([Source("paste.txt", paste)]).question == "is it learning?"
