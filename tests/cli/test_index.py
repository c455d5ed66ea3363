"""``index add``, ``list`` and ``remove``, and what a team's documents change in definitions, answers and the API."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.api.app import create_app
from assistant.cli.main import main
from assistant.service import Source, service

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "verl-retool-steps-0-3.log"
TEAM = (
    "# 我们的指标\n\n## 策略\n\n- `actor/entropy`: 按词表大小归一化的熵，越高越好\n- `bonus/spread`: 奖励的散布\n\n"
    "### **mean_ratio** (我们的比率)\n- **含义**: 本步与参考的概率比\n- **公式**: `r = exp(a - b)`\n"
    "- **正常范围**: 应该在 `[0.9, 1.1]` 之间\n- **当前值**: `485.0` ❌\n\n"
    "## 值班\n\n散布突然变大时，先呼叫值班同学再重启。\n"
)


@pytest.fixture
def team(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A team's document, added; a search builds the whole index first, for which a busy machine may take minutes."""
    monkeypatch.setenv("ASSISTANT_JOB_SECONDS", "600")
    path = tmp_path / "team.md"
    path.write_text(TEAM, encoding="utf-8")
    assert main(["index", "add", str(path)]) == 0
    capsys.readouterr()
    return path


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def get(path: str, **params: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=create_app())
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(path, params=params)

    return asyncio.run(send())


# --- add, list, remove -----------------------------------------------------------------------------------


def test_index_add_list_remove(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "team.md"
    path.write_text(TEAM, encoding="utf-8")
    assert output(capsys, "index", "add", str(path)) == "added: team.md (3 definitions, 1 ranges, 1 sections)\n"
    assert output(capsys, "index", "add", str(path)).startswith("unchanged: team.md")
    path.write_text(TEAM + "\n- more/key: 新增的一条\n", encoding="utf-8")
    assert output(capsys, "index", "add", str(path), "--lang", "zh").startswith("已替换: team.md（4 条定义")
    assert str(path) in output(capsys, "index", "list")
    assert output(capsys, "index", "remove", "team.md") == "removed: team.md\n"
    assert "index add" in output(capsys, "index", "list")


def test_index_json_tells_everything(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (document,) = json.loads(output(capsys, "index", "list", "--format", "json"))["documents"]
    assert (document["name"], document["path"], document["definitions"]) == ("team.md", str(team), 3)
    assert document["keys"] == ["actor/entropy", "bonus/spread", "mean_ratio"]
    (added,) = json.loads(output(capsys, "index", "add", str(team), "--format", "json"))["documents"]
    assert (added["status"], added["error"]) == ("unchanged", None)
    assert json.loads(output(capsys, "index", "remove", "team.md", "--format", "json")) == {"removed": ["team.md"]}


def test_index_add_bad_input_is_named_and_the_rest_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text("- ok/key: a text of it\n")
    bad.write_bytes(b"\x00\x01" * 50)
    assert main(["index", "add", str(bad), str(tmp_path / "missing.md"), str(good), "--lang", "en"]) == 2
    shown = capsys.readouterr()
    assert [line.split(" is ")[0] for line in shown.err.splitlines()[:1]] == [str(bad)]
    assert "missing.md" in shown.err
    assert "Traceback" not in shown.err
    assert shown.out.startswith("added: good.md")


def test_index_add_folder_reports_what_it_skips_and_succeeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("- ok/key: a text of it\n- `bad\x07key/x`: text\n")
    (tmp_path / "docs" / "b.txt").write_bytes(b"\x00\x01" * 50)
    assert main(["index", "add", str(tmp_path / "docs"), "--lang", "zh"]) == 0
    shown = capsys.readouterr()
    assert "b.txt 不是文本" in shown.err
    assert "a.md:2" in shown.err


def test_index_remove_unknown_name_is_bad_input(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "remove", "../team.md", "--lang", "en"]) == 2
    assert "team.md" in capsys.readouterr().err
    assert team.name in output(capsys, "index", "list")


def test_index_broken_file_is_reported_everywhere_and_never_fatal(
    team: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tmp_path / "data"))
    assert main(["index", "add", str(team)]) == 0
    (tmp_path / "data" / "documents" / "zzz.json").write_text("{")
    capsys.readouterr()
    for command in (["index", "list"], ["metric", "bonus/spread"]):
        assert main(command) == 0
        shown = capsys.readouterr()
        assert "zzz.json" in shown.err
        assert "bonus/spread" in shown.out or "team.md" in shown.out
    answer = service().explain(service().read([Source("a", EXAMPLE.read_bytes())]), "actor/entropy 是多少").answer
    assert any("zzz.json" in warning for warning in answer.warnings)


# --- definitions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_metric_shows_the_teams_definition_first_then_the_shipped_one(
    team: Path, capsys: pytest.CaptureFixture[str], lang: str
) -> None:
    text = output(capsys, "metric", "mean_ratio", "--lang", lang)
    assert text.index("> 本步与参考的概率比") < text.index("team.md:8") < text.index("custom/mean_ratio")
    (line,) = [line for line in text.splitlines() if line.startswith("⚠")]
    assert "[0.9, 1.1]" in line
    assert "[0.5, 2]" in line
    assert "485" not in text
    assert "r = exp(a - b)" in text


def test_metric_json_has_own_source_and_also_defined_by(team: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(output(capsys, "metric", "mean_ratio", "--format", "json"))
    assert document["own"] is True
    assert document["source"] == "team.md:8 (我们的指标 › 策略)"
    assert (document["ranges"][0]["low"], document["ranges"][0]["high"]) == (0.9, 1.1)
    other = next(o for o in document["also_defined_by"] if o["card"] == "custom/mean_ratio")
    assert set(other["differs"]) == {"zh", "en"}
    reply = get("/metrics-docs/mean_ratio").json()
    assert {k: v for k, v in document.items() if k != "others"} == reply


def test_metric_json_of_the_shipped_card_names_the_teams(team: Path) -> None:
    document = get("/metrics-docs/verl/actor/entropy").json()
    assert document["own"] is False
    assert [other["card"] for other in document["also_defined_by"]] == ["own/team.md/actor/entropy"]
    assert get("/metrics-docs/critic/vf_loss").json()["also_defined_by"] == []


def test_metric_of_two_documents_shows_both(team: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    second = tmp_path / "zz.md"
    second.write_text("- bonus/spread: another opinion of it\n")
    assert main(["index", "add", str(second)]) == 0
    text = output(capsys, "metric", "bonus/spread")
    assert "奖励的散布" in text
    assert "another opinion of it" in text


# --- search ----------------------------------------------------------------------------------------------


def test_search_finds_cards_and_passages(team: Path) -> None:
    first = get("/metrics-docs", q="bonus/spread").json()["results"][0]
    assert (first["card"], first["how"]) == ("own/team.md/bonus/spread", "exact")
    found = get("/metrics-docs", q="散布变大找谁值班").json()["results"]
    passage = next(result for result in found if result.get("kind") == "document")
    assert (passage["id"], passage["how"], passage["title"]) == ("doc:team.md#1", "search", "我们的指标 › 值班")
    assert "呼叫" in passage["excerpt"]
    assert get("/metrics-docs/doc:team.md%231").json()["text"] == "散布突然变大时，先呼叫值班同学再重启。"
    assert get("/metrics-docs/doc:team.md%239").status_code == 422


# --- answers ---------------------------------------------------------------------------------------------


@pytest.fixture
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_STRICT_GROUNDING", "1")


@pytest.mark.usefixtures("_strict")
@pytest.mark.parametrize(
    "question", ["actor/entropy 是什么意思", "what does actor/entropy mean", "逐条解释 step 2", ""]
)
def test_explain_quotes_the_teams_definition_and_cites_it(team: Path, question: str) -> None:
    engine = service()
    answer = engine.explain(engine.read([Source("a", EXAMPLE.read_bytes())]), question).answer
    if "entropy" in question:
        assert "> 按词表大小归一化的熵" in answer.answer
        assert "team.md:5" in answer.answer
        assert "verl" in answer.answer
        assert {c.card for c in answer.citations} >= {"own/team.md/actor/entropy", "verl/actor/entropy"}
    assert answer.grounding.unsupported == ()


@pytest.mark.usefixtures("_strict")
def test_explain_numbers_are_shown_as_before(tmp_path: Path) -> None:
    engine = service()
    material = engine.read([Source("a", EXAMPLE.read_bytes())])
    question = "response_length/clip_ratio 和 timing_s/step 分别是多少"
    before = engine.explain(material, question).answer
    document = tmp_path / "own.md"
    document.write_text("- response_length/clip_ratio: 截断的占比\n- timing_s/step: 一步的时间\n", encoding="utf-8")
    assert main(["index", "add", str(document)]) == 0
    after = engine.explain(material, question).answer
    assert [(f.metric, f.value) for f in after.facts] == [(f.metric, f.value) for f in before.facts]
    tables = [[line for line in a.answer.splitlines() if line.startswith(("|", "- `"))] for a in (before, after)]
    assert tables[0] == tables[1]


HOSTILE = st.text(
    st.sampled_from(list("熵 步 abc 123.5% |`*_>#[](){}<>\\\"'：:;。.,-+~^$&=±∞￥\t\x02\x03\x04")), max_size=80
)


@pytest.mark.usefixtures("_strict")
@given(text=HOSTILE)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_explain_any_text_of_a_document_is_quoted_and_checked(tmp_path: Path, text: str) -> None:
    document = tmp_path / "own.md"
    first = f"- `actor/entropy`: 定义 {text} 上升 100% in step 99\n"
    second = f"- `actor/grad_norm`: {text} rose to 7.5, 正常范围 {text}1-2\n"
    document.write_text(f"# T\n\n{first}{second}", encoding="utf-8")
    if main(["index", "add", str(document)]) != 0:  # mostly control characters: no text
        return
    engine = service()
    material = engine.read([Source("a", EXAMPLE.read_bytes())])
    for question in ("actor/entropy 是什么", "what is actor/grad_norm", "逐条解释 step 2", "actor/entropy 的趋势"):
        engine.explain(material, question)
