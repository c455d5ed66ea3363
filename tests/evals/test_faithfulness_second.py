"""The halves about real logs: each true sentence beside one twin; without the logs they say what is missing."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from evals.faithfulness.__main__ import main
from evals.faithfulness.second import FIFTH, PARTS, SECOND, THIRD, _cases, files, log_of, part, recipes, written
from evals.faithfulness.templates import FALSEHOODS


@pytest.mark.parametrize("half", [SECOND, THIRD])
def test_written_every_true_sentence_has_one_twin_that_differs(half: str) -> None:
    texts = {case.id: case.text for case in written(half)}
    twins = Counter(case.id.partition("~")[0] for case in written(half) if case.truth == "false")
    assert set(twins) == {case.id for case in written(half) if case.truth == "true"}
    assert set(twins.values()) == {1}
    assert all(text != texts[name.partition("~")[0]] for name, text in texts.items() if "~" in name)


def test_written_fifth_every_true_sentence_has_twins_of_known_kinds_that_differ() -> None:
    texts = {case.id: case.text for case in written(FIFTH)}
    true = {case.id for case in written(FIFTH) if case.truth == "true"}
    twins = [case for case in written(FIFTH) if case.truth == "false"]
    assert len(true) == 120
    assert min(Counter(case.id.partition("~")[0] for case in twins).values()) >= 2
    assert {case.falsehood for case in twins} <= FALSEHOODS
    assert all(case.text != texts[case.id.partition("~")[0]] for case in twins)
    assert len(set(texts.values())) == len(texts)


@pytest.mark.parametrize("half", [SECOND, THIRD, FIFTH])
def test_written_language_of_the_id_is_that_of_the_text(half: str) -> None:
    wrong = [
        case.id
        for case in written(half)
        if case.kind != "table" and bool(re.search(r"[\u3400-\u9fff]", case.text)) != (case.language == "zh")
    ]
    assert not wrong


def test_part_halves_share_nothing_and_make_the_whole() -> None:
    one, two = ({case.id for case in part(name)} for name in PARTS)
    assert not one & two
    assert one | two == {case.id for case in part(SECOND)}


def test_log_of_reads_the_folder_given(tmp_path: Path) -> None:
    (tmp_path / files()["sb3"]).write_text("step,loss\n1,0.5\n", encoding="utf-8")
    assert log_of("sb3", tmp_path) == "step,loss\n1,0.5\n"
    with pytest.raises(FileNotFoundError):
        log_of("gsm", tmp_path)


MADE = {
    "math-grpo": "critic/score/mean:0.88671875",
    "amc-ppo": "acc/mean@8:0.29375",
    "math-proxy": "acc/mean@4:np.float64(0.5955)",
    "gsm-base": "actor/kl_coef:0.0005",
    "aime-tools": "acc/mean@16:np.float64(0.5020833333333333)",
    "aime-plain": "acc/mean@16:np.float64(0.2875)",
    "trl-a": "'eval_reward': 0.5665",
    "trl-b": "'eval_reward': 0.455",
    "rlvr-a": '"val_correct/all/mean": 0.2625',
    "rlvr-b": '"val_correct/all/mean": 0.5435',
}


@pytest.mark.parametrize(("run", "says"), MADE.items())
def test_log_of_made_run_needs_no_folder_and_holds_what_its_sentences_say(run: str, says: str, tmp_path: Path) -> None:
    assert says in log_of(run, tmp_path)
    assert set(MADE) == set(recipes()) <= {name for case in written(FIFTH) for _, name in case.runs}


def test_cases_run_that_no_list_names_says_which() -> None:
    entry = {"id": "en-x", "kind": "value", "runs": ["nowhere"], "text": "Loss is 1.", "lies": {"value": "Loss is 2."}}
    with pytest.raises(ValueError, match="nowhere"):
        list(_cases(SECOND, entry))


def test_main_second_without_its_logs_says_how_to_give_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--half", "second"])
    assert "--logs FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize("half", ["held"])
@pytest.mark.parametrize("shown", [["--misses"], ["--cases", "cases.jsonl"]])
def test_main_asked_for_an_unread_set_refuses(half: str, shown: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--half", half, *shown])
    assert "never shown" in capsys.readouterr().err
