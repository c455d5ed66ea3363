"""The façade: several sources, the question inside a text, definitions by any wording."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from assistant.model import BinaryInput, EmptyInput, SourceIsFolder, SourceNotFound, UnknownMetric
from assistant.service import Service, Source, read_source, service

ROOT = Path(__file__).resolve().parents[2]
LOG = (ROOT / "examples" / "verl-retool-steps-0-3.log").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def engine() -> Service:
    return service()


# --- reading ---------------------------------------------------------------------------------------------


def test_read_several_sources_numbers_the_runs(engine: Service) -> None:
    material = engine.read([Source("a.log", LOG), Source("b.log", LOG.encode())])
    assert [run.id for run in material.runs] == ["r0", "r1"]
    assert material.runs[0].columns.keys() == material.runs[1].columns.keys()


@pytest.mark.parametrize(
    "question", ["跟 step 0 相比，模型有改进吗？", "What about step 3?", "actor/entropy at step 1?"]
)
@pytest.mark.parametrize("after", [True, False])
def test_read_question_beside_the_log_is_found(engine: Service, question: str, after: bool) -> None:
    text = f"{LOG}\n\n{question}\n" if after else f"{question}\n\n{LOG}"
    assert engine.read([Source("stdin", text)]).question == question


def test_read_no_question_gives_none(engine: Service) -> None:
    assert engine.read([Source("stdin", LOG)]).question == ""


def test_read_closing_offer_of_a_pasted_answer_is_no_question(engine: Service) -> None:
    text = f"{LOG}\n\n需要我进一步分析某个指标吗？\n"
    assert engine.read([Source("stdin", text)]).question == ""


def test_read_empty_source_raises(engine: Service) -> None:
    with pytest.raises(EmptyInput):
        engine.read([Source("stdin", b"")])


def test_read_binary_source_raises(engine: Service) -> None:
    with pytest.raises(BinaryInput):
        engine.read([Source("x", b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 8)])


def test_read_no_source_gives_nothing(engine: Service) -> None:
    material = engine.read([])
    assert (material.runs, material.question, material.notes) == ((), "", ())


# --- memory ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question", ["", "正常吗", "跟 step 0 相比，模型有改进吗", "entropy 的趋势", "where does the time go?"]
)
def test_explain_lets_the_run_go_with_its_answer(engine: Service, question: str) -> None:
    material = engine.read([Source("a.log", LOG)])
    whose = [weakref.ref(run) for run in material.runs]
    assert engine.explain(material, question, engine="offline").answer.answer
    del material
    gc.collect()
    assert [run() for run in whose] == [None]


# --- explaining ------------------------------------------------------------------------------------------


def test_explain_takes_the_question_in_the_text(engine: Service) -> None:
    material = engine.read([Source("stdin", f"{LOG}\n\nWhat about step 3?\n")])
    answer = engine.explain(material).answer
    assert answer.question == "What about step 3?"
    assert answer.slots.steps.values == (3,)


def test_explain_question_given_comes_before_the_one_in_the_text(engine: Service) -> None:
    material = engine.read([Source("stdin", f"{LOG}\n\nWhat about step 3?\n")])
    assert engine.explain(material, "用了多少张卡").answer.intent == "derive"


def test_explain_state_makes_a_follow_up(engine: Service) -> None:
    material = engine.read([Source("a.log", LOG)])
    first = engine.explain(material, "actor/grad_norm 在 step 2 是多少")
    second = engine.explain(material, "那 step 3 呢", state=first.state)
    assert second.answer.slots.metrics == ("actor/grad_norm",)
    assert second.answer.slots.steps.values == (3,)


@pytest.mark.parametrize(("language", "word"), [("zh", "离线引擎"), ("en", "offline engine")])
def test_explain_model_asked_for_and_none_configured_says_so(engine: Service, language: str, word: str) -> None:
    material = engine.read([Source("a.log", LOG)])
    answer = engine.explain(material, "step 3", language=language, engine="llm").answer
    assert any(word in warning for warning in answer.warnings)
    assert answer.engine == "offline"
    assert answer.usage.llm_calls == 0


@pytest.mark.parametrize(("lang", "expected"), [("zh_CN.UTF-8", "zh"), ("en_US.UTF-8", "en")])
def test_explain_no_question_uses_the_settings_language(
    engine: Service, monkeypatch: pytest.MonkeyPatch, lang: str, expected: str
) -> None:
    monkeypatch.setenv("ASSISTANT_LANG", lang)
    assert engine.explain(engine.read([Source("a.log", LOG)])).answer.language == expected


@pytest.mark.parametrize(
    ("question", "wish", "language"), [("为什么", "auto", "zh"), ("why", "auto", "en"), ("为什么", "en", "en")]
)
def test_language_wish_comes_before_the_question(engine: Service, question: str, wish: str, language: str) -> None:
    assert engine.language(question, wish) == language


# --- definitions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "card"), [("actor/ppo_kl", "verl/actor/ppo_kl"), ("策略熵", "verl/actor/entropy")])
def test_metric_any_spelling_gives_its_cards(engine: Service, name: str, card: str) -> None:
    assert engine.metric(name)[0].id == card


def test_metric_sentence_gives_the_metric_in_it(engine: Service) -> None:
    assert engine.metric("what on earth is actor/ppo_kl")[0].id == "verl/actor/ppo_kl"


def test_metric_unknown_raises_with_the_nearest_names(engine: Service) -> None:
    with pytest.raises(UnknownMetric, match="actor/entropy") as caught:
        engine.metric("actor/entropi")
    assert "actor/entropy" in caught.value.message("zh")


@pytest.mark.parametrize("k", [1, 2, 50])
def test_search_gives_at_most_k_best_first(engine: Service, k: int) -> None:
    found = engine.search("kl_loss", k=k)
    assert 1 <= len(found) <= k
    assert [item["score"] for item in found] == sorted((item["score"] for item in found), reverse=True)


def test_search_framework_comes_first(engine: Service) -> None:
    for framework in ("verl", "ROLL"):
        assert engine.search("actor/kl_loss", framework=framework)[0]["framework"] == framework


def test_search_result_names_card_keys_and_how(engine: Service) -> None:
    (item,) = engine.search("actor/ppo_kl", lang="zh", k=1)
    assert set(item) == {"card", "title", "framework", "keys", "score", "how", "also"}
    assert (item["how"], item["keys"]) == ("exact", ["actor/ppo_kl"])
    assert all(set(other) == {"framework", "keys"} for other in item["also"])


# --- sources ---------------------------------------------------------------------------------------------


def test_read_source_file_gives_name_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"step:1 - a:2\r\n\xff")
    assert read_source(str(path)) == ("train.log", b"step:1 - a:2\r\n\xff")


def test_read_source_nothing_there_raises_naming_it(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFound, match=r"no-such\.log") as caught:
        read_source(str(tmp_path / "no-such.log"))
    assert "no-such.log" in caught.value.message("zh")


@pytest.mark.parametrize(
    ("files", "hint"), [(["a.txt", "b.log"], "a.txt"), ([], "train.log"), (["x.bin"], "train.log")]
)
def test_read_source_folder_raises_naming_a_log_in_it(tmp_path: Path, files: list[str], hint: str) -> None:
    for name in files:
        (tmp_path / name).write_text("", encoding="utf-8")
    with pytest.raises(SourceIsFolder, match=hint):
        read_source(str(tmp_path))
