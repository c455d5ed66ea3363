from __future__ import annotations

from pathlib import Path

import pytest

from assistant.agent.verdicts import contrary, read_verdict_words
from assistant.model import KnowledgeError


@pytest.mark.parametrize(
    ("text", "code", "against"),
    [
        ("The run is healthy.", "critical", "healthy"),
        ("Verdict: healthy.", "critical", "healthy"),
        ("训练一切正常。", "warning", "healthy"),
        ("正常。", "critical", "healthy"),
        ("一步就涨了两倍多，证明模型能力显著提升。", "inconclusive", "improved"),
        ("The model has clearly improved.", "not_comparable", "improved"),
        ("模型能力在持续进步", "insufficient_data", "improved"),
        ("The policy has collapsed.", "healthy", "broken"),
        ("训练已经崩溃。", "healthy", "broken"),
        ("The model got worse.", "improved", "worse"),
        ("The run is healthy.", "healthy", None),
        ("The model has improved.", "improved", None),
        ("It is too early to say that the model has improved.", "inconclusive", None),
        ("还不能说模型能力提升了。", "inconclusive", None),
        ("If the reward collapsed, roll back.", "healthy", None),
        ("Is the training healthy?", "critical", None),
        ("`actor/entropy` fell from 0.1564 to 0.1557.", "inconclusive", None),
        ("The normal range is documented.", "critical", None),
    ],
)
def test_contrary_finds_verdicts_against_the_answers(text: str, code: str, against: str | None) -> None:
    assert contrary(text, code) == against


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("hedges: a", "needs hedges and verdicts"),
        ("{hedges: '(', verdicts: {}}", "hedges"),
        ("{hedges: a, verdicts: {x: {says: b}}}", "x"),
    ],
)
def test_verdict_words_that_are_unsound_name_the_place(tmp_path: Path, text: str, where: str) -> None:
    path = tmp_path / "words.yaml"
    path.write_text(text)
    with pytest.raises(KnowledgeError, match=where):
        read_verdict_words(path)
