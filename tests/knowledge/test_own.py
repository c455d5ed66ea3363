"""The store of a team's documents, their cards over the shipped ones, and the search of their text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.knowledge import Library, Resolver, Store, difference, find_passages, knowledge, library, own
from assistant.knowledge.documents import read_document
from assistant.knowledge.owncards import laid_over
from assistant.knowledge.templates import OwnKeys, is_telling
from assistant.model import InputError
from tests.timing import assert_quick

ROOT = Path(__file__).resolve().parents[2]
TEXT = (
    "# 团队指标\n\n- `actor/entropy`: 我们按词表归一化的熵。正常范围: 0.2-0.9\n"
    "- `bonus/spread`: 奖励的散布（秒）\n\n怎样看散布：先看奖励。\n"
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data" / "documents")


def written(folder: Path, name: str, text: str | bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def laid(*texts: str) -> Library:
    return laid_over(library(), [read_document(text.encode(), f"doc{at}.md") for at, text in enumerate(texts)])


# --- the store -------------------------------------------------------------------------------------------


def test_add_file_is_kept_and_read_back_the_same(store: Store, tmp_path: Path) -> None:
    (outcome,) = store.add(written(tmp_path, "team.md", TEXT))
    assert (outcome.status, outcome.error) == ("added", None)
    stored = Store(store.folder).read()
    assert stored.documents == (outcome.document,)
    assert stored.problems == ()
    assert stored.documents[0].added


def test_add_unchanged_file_says_so_and_changed_one_replaces(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, "team.md", TEXT)
    assert [o.status for o in (*store.add(path), *store.add(path))] == ["added", "unchanged"]
    written(tmp_path, "team.md", TEXT.replace("散布", "离散"))
    (outcome,) = store.add(path)
    assert outcome.status == "replaced"
    (document,) = store.read().documents
    assert document.definitions[1].text == "奖励的离散（秒）"


def test_add_same_content_elsewhere_is_unchanged(store: Store, tmp_path: Path) -> None:
    store.add(written(tmp_path / "a", "team.md", TEXT))
    (outcome,) = store.add(written(tmp_path / "b", "copy.md", TEXT))
    assert outcome.status == "unchanged"
    assert len(store.read().documents) == 1


def test_add_files_of_one_name_get_names_of_their_own(store: Store, tmp_path: Path) -> None:
    for at, folder in enumerate(["a", "b", "a/b", "c/b"]):
        store.add(written(tmp_path / folder, "README.md", f"- x/key{at}: text {at} here\n"))
    names = [document.name for document in store.read().documents]
    assert len(set(names)) == 4
    assert "README.md" in names
    assert "b-README.md" in names


def test_add_document_of_an_older_reader_is_read_again(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, "team.md", TEXT)
    store.add(path)
    (kept,) = store.folder.glob("*.json")
    raw = json.loads(kept.read_text())
    raw["reader"] = 0
    kept.write_text(json.dumps(raw))
    assert [o.status for o in (*store.add(path), *store.add(path))] == ["replaced", "unchanged"]


def test_add_folder_takes_documents_below_it_and_reports_the_rest(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    written(folder / "deep" / "er", "a.md", "- x/aa: text one\n")
    written(folder, "b.html", "<ul><li>x/bb: text two</li></ul>")
    written(folder, "c.txt", b"\x00\x01\x02")
    written(folder, "code.py", "x = 1")
    written(folder / ".git", "d.md", "- x/dd: text four\n")
    outside = written(tmp_path / "outside", "secret.md", "- x/secret: text\n")
    (folder / "link.md").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    outcomes = store.add(folder)
    assert {k for d in store.read().documents for definition in d.definitions for k in definition.keys} == {
        "x/aa",
        "x/bb",
    }
    refused = {Path(o.path).name: o.error for o in outcomes if o.error is not None}
    assert set(refused) == {"c.txt", "link.md"}
    assert not any(o.named for o in outcomes)


def test_add_folder_without_documents_is_an_error_of_its_own(store: Store, tmp_path: Path) -> None:
    written(tmp_path / "docs", "code.py", "x = 1")
    (outcome,) = store.add(tmp_path / "docs")
    assert outcome.named
    assert outcome.error is not None


@pytest.mark.parametrize("name", ["missing.md", "", "nul\0byte.md", "../../etc/missing"])
def test_add_what_is_not_there_is_refused_by_name(store: Store, tmp_path: Path, name: str) -> None:
    outcome = store.add(tmp_path / name if name else tmp_path / "no" / "such")[0]
    assert outcome.status == "refused"
    assert outcome.error is not None
    assert outcome.error.zh
    assert store.read().documents == ()


def test_add_pipe_is_refused_without_waiting(store: Store, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (outcome,) = store.add(tmp_path / "pipe.md")
    assert outcome.error is not None
    assert "regular" in outcome.error.en


def test_add_over_the_limit_of_all_documents_loses_nothing(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "MAX_TOTAL", 300)
    first = written(tmp_path, "a.md", "- x/aa: text one\n" + "prose " * 30)
    assert store.add(first)[0].status == "added"
    (outcome,) = store.add(written(tmp_path, "b.md", "- x/bb: text two\n" + "prose " * 30))
    assert outcome.error is not None
    assert "b.md" in outcome.error.en
    assert [d.name for d in store.read().documents] == ["a.md"]
    written(tmp_path, "a.md", "- x/aa: text three\n" + "prose " * 30)
    assert store.add(first)[0].status == "replaced"


def test_add_file_too_large_is_refused(store: Store, tmp_path: Path) -> None:
    (outcome,) = store.add(written(tmp_path, "big.md", b"- x/aa: text\n" * 500_000))
    assert outcome.error is not None
    assert "6.5 MB" in outcome.error.en


@pytest.mark.parametrize(
    "name", ["../../escape.md", "..", "a/b\\c.md", "…", "con.md", "x" * 200 + ".md", "名字.md", "-rf.md"]
)
def test_add_strange_name_stays_in_the_folder(store: Store, tmp_path: Path, name: str) -> None:
    base = name.replace("/", "_") if name not in {".."} else "...md"
    (outcome,) = store.add(written(tmp_path / "in", base, TEXT))
    assert outcome.document is not None
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file() and path.name != ".lock"]
    assert [path.parent for path in files] == [store.folder]
    assert not outcome.document.name.startswith((".", "-"))
    assert "/" not in outcome.document.name
    assert store.remove(outcome.document.name).name == outcome.document.name


def test_remove_by_name_or_path_and_unknown_name_lists_the_known(store: Store, tmp_path: Path) -> None:
    first, second = written(tmp_path, "a.md", "- x/aa: text one\n"), written(tmp_path, "b.md", "- x/bb: text two\n")
    store.add(first)
    store.add(second)
    with pytest.raises(InputError, match=r"a\.md, b\.md"):
        store.remove("../a.md")
    store.remove("a.md")
    store.remove(str(second))
    assert store.read().documents == ()
    assert first.exists()
    with pytest.raises(InputError, match="None has been added"):
        store.remove("\x1b[31m")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"format": "metric-assistant/document/9"}',
     b'{"format": "metric-assistant/document/1"}', b"\xff\xfe\x00", b"[" * 100_000],
)  # fmt: skip
def test_read_broken_file_is_reported_and_skipped(store: Store, tmp_path: Path, content: bytes) -> None:
    store.add(written(tmp_path, "team.md", TEXT))
    (store.folder / "broken.json").write_bytes(content)
    stored = store.read()
    assert [d.name for d in stored.documents] == ["team.md"]
    assert "broken.json" in stored.problems[0].en
    found = knowledge(store)
    assert len(found.library.own) == 2
    assert len(found.problems) == 1
    assert store.add(written(tmp_path, "more.md", "- x/aa: text one\n"))[0].status == "added"


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_read_file_with_one_value_spoilt_is_read_or_reported(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("own")
    store = Store(folder / "documents")
    store.add(written(folder, "team.md", TEXT))
    (kept,) = store.folder.glob("*.json")
    raw = json.loads(kept.read_text())
    place = data.draw(st.sampled_from([raw, raw["cards"][0], raw["cards"][0]["ranges"][0], raw["sections"][0]]))
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(
        st.sampled_from([None, 1, "x", [], {}, [1], ["x"], -1.5])
    )
    kept.write_text(json.dumps(raw))
    found = knowledge(store)
    assert len(found.problems) == 1 or found.library.own or found.library.passages or not raw["cards"]
    Resolver(found.library).key("actor/entropy")


ADD = """
import sys
from pathlib import Path
from assistant.knowledge import Store

folder, worker = Path(sys.argv[1]), sys.argv[2]
for at in range(10):
    path = folder / (f"doc{at}.md" if worker == "0" else f"w{worker}-{at}.md")
    if worker != "0":
        path.write_text(f"- w{worker}/key{at}: text of it\\n")
    (outcome,) = Store(folder / "documents").add(path)
    assert outcome.error is None, outcome
"""


def test_add_from_several_processes_loses_nothing(tmp_path: Path) -> None:
    for at in range(10):
        written(tmp_path, f"doc{at}.md", f"- shared/key{at}: text of it\n")
    commands = [[sys.executable, "-c", ADD, str(tmp_path), worker] for worker in ("0", "0", "1", "2")]
    for worker in [subprocess.Popen(command, cwd=ROOT) for command in commands]:
        assert worker.wait(timeout=120) == 0
    stored = Store(tmp_path / "documents").read()
    assert stored.problems == ()
    assert len(stored.documents) == 30
    assert [path.name for path in (tmp_path / "documents").iterdir() if path.suffix != ".json"] == [".lock"]


def test_settings_choose_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert Store().folder == tmp_path / "xdg" / "metric-assistant" / "documents"
    monkeypatch.setenv("ASSISTANT_DATA_DIR", str(tmp_path / "mine"))
    assert Store().folder == tmp_path / "mine" / "documents"


def test_knowledge_without_documents_is_the_shipped_library(store: Store) -> None:
    assert knowledge(store).library is library()
    assert not store.folder.exists()


def test_knowledge_follows_what_is_added_and_removed(store: Store, tmp_path: Path) -> None:
    store.add(written(tmp_path, "team.md", TEXT))
    first = knowledge(store).library
    assert knowledge(store).library is first
    assert Resolver(first).name("bonus/spread")
    store.remove("team.md")
    assert knowledge(store).library is library()


# --- precedence ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("framework", [None, "verl", "TRL", "custom"])
def test_key_of_a_document_comes_before_the_shipped_card(framework: str | None) -> None:
    resolver = Resolver(laid(TEXT))
    found = resolver.key("actor/entropy", framework)
    assert found is not None
    assert (found.card.id, found.how, found.foreign) == ("own/doc0.md/actor/entropy", "exact", False)
    assert resolver.shipped_key("actor/entropy", "verl").card.id == "verl/actor/entropy"  # type: ignore[union-attr]
    assert [c.id for c in resolver.definitions("actor/entropy")][:2] == [
        "own/doc0.md/actor/entropy",
        "verl/actor/entropy",
    ]
    assert resolver.name("own/doc0.md/actor/entropy")[0].card is found.card


def test_own_card_says_only_what_is_stated_and_computes_with_what_is_agreed() -> None:
    card = laid(TEXT).own["own/doc0.md/actor/entropy"]
    shipped = library().get("verl/actor/entropy")
    assert shipped is not None
    assert (card.unit, card.formula, card.present_when("zh"), card.own) == ("", "", "", True)
    assert (card.kind, card.direction) == (shipped.kind, shipped.direction)
    assert not {"unit", "direction", "formula"} & set(card.to_json())
    assert card.section("zh", "is") == card.section("en", "is") == "我们按词表归一化的熵。正常范围: 0.2-0.9"
    assert card.to_json()["source"] == "doc0.md:3 (团队指标)"
    assert laid(TEXT).own["own/doc0.md/bonus/spread"].kind == "seconds"


def test_exact_key_of_one_document_comes_before_the_tail_of_another() -> None:
    resolver = Resolver(laid("- `critic/loss`: 价值网络的损失\n", "- `loss`: 总损失\n"))
    assert resolver.name("loss")[0].card.keys == ("loss",)


def test_own_template_and_its_instances_are_found_by_key() -> None:
    text = 'stage="fit" 拟合\n\n- timing_s/{stage}: 我们的计时\n- mem/{stage}/part/{device_id}: 显存\n'
    resolver = Resolver(laid(text))
    for key, card, how in [
        ("timing_s/fit", "own/doc0.md/timing_s/fit", "exact"),
        ("timing_s/anything", "own/doc0.md/timing_s/{stage}", "template"),
        ("mem/fit/part/3", "own/doc0.md/mem/fit/part/{device_id}", "template"),
        ("mem/gen/part/3", "own/doc0.md/mem/{stage}/part/{device_id}", "template"),
        ("timing_s/{stage}", "own/doc0.md/timing_s/{stage}", "exact"),
    ]:
        found = resolver.key(key, "verl")
        assert found is not None
        assert (found.card.id, found.how) == (card, how)
    assert resolver.key("mem/gen/part/x", "verl") is None


def test_own_template_that_begins_with_a_field_gives_way_to_shipped_cards() -> None:
    resolver = Resolver(laid("- `{group}/entropy`: 各组的熵\n"))
    assert resolver.key("actor/entropy", "verl").card.id == "verl/actor/entropy"  # type: ignore[union-attr]
    assert resolver.key("mine/entropy", "verl").card.own  # type: ignore[union-attr]


def test_names_of_a_document_do_not_hide_the_logs_own_metric() -> None:
    resolver = Resolver(laid("### **mean_reward** (平均奖励)\n- **含义**: 生成动作的平均奖励\n"))
    (mention,) = resolver.mentions("平均奖励是多少", ["critic/rewards/mean", "actor/entropy"], "verl")
    assert mention.key == "critic/rewards/mean"
    (mention,) = resolver.mentions("平均奖励是多少", ["mean_reward"], None)
    assert mention.card is not None
    assert mention.card.own
    assert resolver.name("平均奖励")[0].card.own


def test_difference_of_ranges_is_said_in_one_line() -> None:
    mine = laid("### **mean_ratio** (比率)\n- **含义**: 比率\n- **正常范围**: [0.9, 1.1]\n").own[
        "own/doc0.md/mean_ratio"
    ]
    shipped = library().get("custom/mean_ratio")
    assert shipped is not None
    said = difference(mine, shipped)
    assert said is not None
    assert all("[0.9, 1.1]" in line and "\n" not in line for line in said)
    assert difference(shipped, shipped) is None
    same = laid("### **mean_ratio**\n- **含义**: 比率\n- **正常范围**: [0.5, 2]\n").own["own/doc0.md/mean_ratio"]
    assert difference(same, shipped) is None


@pytest.mark.parametrize(
    ("template", "telling"),
    [
        ("time/{x}/total", True),
        ("{x}", False),
        ("{a}{b}/loss", False),
        ("a{b}_{c}_{d}", False),
        ("x/{a}_{b}/y_{c}", True),
    ],
)
def test_template_is_telling(template: str, telling: bool) -> None:
    assert is_telling(template) is telling


def test_own_templates_match_any_key_quickly() -> None:
    names = ["{a}_{b}", "{phase}", "{c}", "{d}", "{e}"]
    text = (
        "- `a/"
        + "/".join(names)
        + "`: everything told\n"
        + "".join(f"- a/{{p{i}}}/k{i}: text of it\n" for i in range(1500))
    )
    keys = OwnKeys(laid(text).own.values())

    def sought() -> None:
        for at in range(20):
            assert keys.find("a/" + "_/" * 90 + f"{at}!") is None
            assert keys.find(f"b/{at}") is None

    assert_quick(sought, 5)


# --- passages --------------------------------------------------------------------------------------------


def test_find_passages_best_first_with_an_excerpt() -> None:
    passages = laid(
        TEXT, "# Guide\n\n## Restarting\n\nCall the pager before restarting a run.\n\n## Other\n\nNothing.\n"
    ).passages
    found = find_passages(passages, "how do we restart a run: pager?")
    assert [f.passage.id for f in found][:1] == ["doc:doc1.md#1"]
    assert "pager" in found[0].excerpt
    assert (found[0].passage.title, found[0].passage.source) == ("Guide › Restarting", "doc1.md:5")
    assert [f.passage.document for f in find_passages(passages, "散布怎样看")] == ["doc0.md"]


@pytest.mark.parametrize("question", ["", "xyzzy plugh", "the of is", "？？", "a" * 10_000])
def test_find_passages_nothing_shared_finds_nothing(question: str) -> None:
    assert find_passages(laid(TEXT).passages, question) == []


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_find_passages_any_question_is_answered_in_bounds(question: str) -> None:
    for found in find_passages(laid(TEXT).passages, question, 3):
        assert 0 < found.score <= 1
        assert len(found.excerpt) <= 250
