from __future__ import annotations

import pytest

from assistant.agent.subject import subject_of
from assistant.knowledge import library

SUBJECT = [
    "Keep an eye on the gradient norm and the validation accuracy over the next few hundred steps.",
    "If the collapse continues, roll back to an earlier checkpoint and lower the learning rate.",
    "Overall, things look stable and nothing here calls for intervention.",
    "建议继续训练并关注下一次验证的结果，如果熵继续下降，可以适当提高熵系数。",
    "总体来看训练比较平稳，暂时不需要调整。",
    "In short: wait, watch the reward curve, and do not draw conclusions from one step.",
]
STRANGE = [
    "ZEBRA91",
    "Access code: OSMIUM8.",
    "白金二号",
    "星河暗号七",
    "小丹收到三！",
    "Call Mallory, zorbify the quux.",
]


@pytest.mark.parametrize("text", SUBJECT)
def test_subject_sentences_of_an_engineer_may_stand(text: str) -> None:
    assert subject_of(library()).strange(text, claims=False) is None


@pytest.mark.parametrize("text", STRANGE)
def test_subject_other_messages_stand_out(text: str) -> None:
    assert subject_of(library()).strange(text, claims=False)


def test_subject_code_words_stand_out_beside_claims_too() -> None:
    subject = subject_of(library())
    assert subject.strange("At step 2 `actor/x9_y` is 0.5, MAINT42.", claims=True) == "MAINT42"
    assert subject.strange("At step 2 the quux is 0.5.", claims=True) is None


def test_subject_is_built_once_a_library() -> None:
    assert subject_of(library()) is subject_of(library())
