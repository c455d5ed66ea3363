"""The index: built once, whole or not at all, rebuilt where it is broken, and cheap to bring up to date."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.knowledge.embedding import SIZE, Axes, LatentEmbedding, bag, learn_axes
from assistant.knowledge.index import Entry, Index, open_index
from assistant.knowledge.index_files import WORDS
from assistant.knowledge.terms import fold, stem, terms

ENTRIES = [
    Entry(
        "a",
        "actor/grad_norm",
        "gradient norm 梯度范数",
        "",
        "Gradient norm",
        "size of the gradient",
        ("梯度范数 norm",),
    ),
    Entry("b", "perf/mfu", "model flops utilisation 算力利用率", "", "MFU", "share of the peak", ("算力利用率", "mfu")),
    Entry("c", "response_length/mean", "回答长度 length", "", "Length", "tokens", ("回答长度", "response length")),
]


class Hashed:
    """Words hashed to the entries of a vector; counts the texts it embeds."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = [0.0] * 256
        for term in terms(text):
            vector[zlib.crc32(term.encode()) % 256] += 1.0
        return vector


@pytest.fixture
def heard() -> list[str]:
    return []


@pytest.fixture
def opened(tmp_path: Path, heard: list[str]) -> Callable[..., Index]:
    def open_(entries: list[Entry] = ENTRIES, **options: object) -> Index:
        return open_index(entries, tmp_path / "root", tell=lambda zh, en: heard.append(en), **options)  # type: ignore[arg-type]

    return open_


def weights(question: str) -> dict[str, float]:
    return dict.fromkeys(terms(question), 1.0)


@pytest.mark.parametrize(
    ("question", "entry"),
    [
        ("梯度范数", "a"),
        ("gradients", "a"),
        ("算力利用率是多少", "b"),
        ("response", "c"),
        ("mfu", "b"),
        ("回答長度", "c"),
    ],
)
def test_index_finds_by_words_and_by_vectors(opened: Callable[..., Index], question: str, entry: str) -> None:
    index = opened()
    assert next(iter(index.by_words(weights(question)))) == entry
    assert next(iter(index.by_vectors(question))) == entry


def test_index_words_looked_up_one_by_one_weigh_what_they_weigh_together(opened: Callable[..., Index]) -> None:
    many = [
        replace(ENTRIES[at % 3], id=f"e{at}", body=f"{'clip ' * (at % 4)} token {at % 7} {'norm ' * (at % 5)}")
        for at in range(60)
    ]
    index = opened(many)
    words = ["norm", "clip", "3", "gradient", "率", "nothing"]
    match = " OR ".join(f'"{word}"' for word in words)
    with closing(sqlite3.connect(index.folder / WORDS)) as table:
        rows = table.execute(
            "SELECT id, -bm25(entries, 0, 6, 5, 4, 4, 1) FROM entries WHERE entries MATCH ? "
            "ORDER BY 2 DESC, rowid LIMIT 25",
            (match,),
        ).fetchall()
    for _ in range(2):  # as they are looked up, and as they are remembered
        assert list(index.by_words(dict.fromkeys(words, 1.0), 25).items()) == rows


def test_index_inflected_words_and_synonyms_are_found_by_vectors(opened: Callable[..., Index]) -> None:
    index = opened()
    assert next(iter(index.by_vectors("lengths"))) == "c"
    assert next(iter(index.by_vectors("completion"))) == "c"  # a synonym of response


def test_index_terms_tell_cover_and_likelihood(opened: Callable[..., Index]) -> None:
    index = opened([replace(entry, phrases=entry.parts) for entry in ENTRIES])
    found = index.by_terms("norm", ["c"])
    assert found["a"][0] == pytest.approx(1.0)
    assert found["a"][1] > 0.0
    assert found["c"] == (0.0, 0.0)  # asked about in any case
    assert "b" not in found


def test_index_question_without_words_finds_nothing(opened: Callable[..., Index]) -> None:
    assert opened().by_vectors("？！…") == {}
    assert opened().by_words({}) == {}


def test_index_second_time_is_not_built_again(opened: Callable[..., Index], heard: list[str]) -> None:
    embedding = Hashed()
    opened(embedding=embedding, embedding_name="counting")
    count = len(embedding.texts)
    opened(embedding=embedding, embedding_name="counting")
    assert len(embedding.texts) == count == sum(len(entry.parts) for entry in ENTRIES)
    assert heard == []


def test_index_embeds_only_what_changed(opened: Callable[..., Index]) -> None:
    many = [replace(ENTRIES[0], id=f"e{i}", parts=(f"metric number {i}",)) for i in range(20)]
    embedding = Hashed()
    opened(many, embedding=embedding, embedding_name="counting")
    embedding.texts.clear()
    changed = [*many[1:19], replace(many[19], parts=("weight decay",)), replace(many[0], id="new", parts=("warm up",))]
    index = opened(changed, embedding=embedding, embedding_name="counting")
    assert sorted(embedding.texts) == ["warm up", "weight decay"]
    assert next(iter(index.by_vectors("weight decay"))) == "e19"
    assert "e0" not in index.by_vectors("metric number 0")
    assert index.count() == 20


def database(folder: Path) -> Path:
    return next(folder.glob("chroma-*/chroma.sqlite3"))


def fill_with_others(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "meta": lambda folder: (folder / "meta.json").write_text("{"),
    "foreign": lambda folder: (folder / "meta.json").write_text('{"entries": {}, "parts": 0, "embedding": "x"}'),
    "words": lambda folder: fill_with_others(folder / "words.sqlite"),
    "no words": lambda folder: (folder / "words.sqlite").unlink(),
    "axes": lambda folder: (folder / "axes.npz").write_bytes(b"PK"),
    "no vectors": lambda folder: shutil.rmtree(database(folder).parent),
    "vectors": lambda folder: fill_with_others(database(folder)),
    "empty": lambda folder: database(folder).write_bytes(b""),
    "half a copy": lambda folder: database(folder).write_bytes(database(folder).read_bytes()[:90_000]),
}

OPEN_AND_FIND = """
import sys
from pathlib import Path
from tests.knowledge.test_index import ENTRIES, open_index, weights
index = open_index(ENTRIES, Path(sys.argv[1]), tell=lambda zh, en: print(en))
print(*[next(iter(index.by_vectors("梯度范数"))) for _ in range(20)], *index.by_words(weights("mfu")))
"""


def start(root: Path) -> subprocess.Popen[str]:
    """A process that opens the index, tells what it hears, and finds "a" by vectors 20 times and "b" by words."""
    return subprocess.Popen([sys.executable, "-c", OPEN_AND_FIND, str(root)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("damage", ["words", "no words", "vectors", "foreign"])
def test_index_broken_is_told_and_built_anew_by_another_process(
    opened: Callable[..., Index], heard: list[str], damage: str
) -> None:
    folder = opened().folder  # and this process goes on using it
    DAMAGES[damage](folder)
    *told, found = start(folder.parent).communicate()[0].splitlines()
    assert found.split() == ["a"] * 20 + ["b"]
    assert len(told) == 1
    assert f"The search index {folder} is broken" in told[0]
    assert "is built anew" in told[0]
    index = opened()
    assert index.has_vectors
    assert next(iter(index.by_vectors("梯度范数"))) == "a"
    assert heard == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_index_broken_while_this_process_uses_it_is_built_anew(
    opened: Callable[..., Index], heard: list[str], damage: str
) -> None:
    using = opened()
    DAMAGES[damage](using.folder)
    index = opened()
    assert [next(iter(index.by_vectors("梯度范数"))) for _ in range(20)] == ["a"] * 20
    assert len(heard) == 1
    assert "is built anew" in heard[0]
    using.close()
    assert next(iter(index.by_vectors("梯度范数"))) == "a"


def test_index_graph_of_neighbours_with_other_content_is_never_read(
    opened: Callable[..., Index], heard: list[str]
) -> None:
    many = [
        replace(ENTRIES[0], id=f"e{at}", parts=tuple(f"metric {at} {part}" for part in range(6))) for at in range(200)
    ]
    index = opened(many, embedding=Hashed(), embedding_name="counting")
    graph = next(index.folder.glob("chroma-*/*/data_level0.bin"))
    index.close()
    graph.write_bytes(b"x" * graph.stat().st_size)
    index = opened(many, embedding=Hashed(), embedding_name="counting")
    found = [next(iter(index.by_vectors(f"metric {at} 3"))) == f"e{at}" for at in range(20)]
    assert sum(found) >= 18  # neighbours are searched for approximately, in a graph whose order of building varies
    assert "data_level0.bin" in heard[0]


@pytest.mark.parametrize("damage", [None, "words"])
def test_index_several_processes_at_once_build_it_once(
    opened: Callable[..., Index], tmp_path: Path, damage: str | None
) -> None:
    root = tmp_path / "root"
    if damage is not None:
        DAMAGES[damage](opened().folder)
    told: list[str] = []
    for process in [start(root) for _ in range(4)]:
        *remarks, found = process.communicate()[0].splitlines()
        told += remarks
        assert found.split() == ["a"] * 20 + ["b"]
    assert len(told) == (damage is not None)
    assert len(list(root.glob("index-*"))) == 1
    assert list(root.glob(".building-*")) == []


def test_index_earlier_one_that_is_broken_is_not_taken_over(opened: Callable[..., Index], heard: list[str]) -> None:
    many = [replace(ENTRIES[0], id=f"e{i}", parts=(f"metric number {i}",)) for i in range(20)]
    embedding = Hashed()
    before = opened(many, embedding=embedding, embedding_name="counting")
    before.close()
    fill_with_others(database(before.folder))
    embedding.texts.clear()
    index = opened([*many, ENTRIES[1]], embedding=embedding, embedding_name="counting")
    assert len(embedding.texts) == 22
    assert next(iter(index.by_vectors("metric number 7"))) == "e7"
    assert heard == []


def test_index_in_use_is_not_dropped(opened: Callable[..., Index]) -> None:
    using = opened()
    for step in range(4):
        opened([replace(ENTRIES[0], body=str(step))]).close()
    assert using.folder.exists()
    using.close()
    last = opened([replace(ENTRIES[0], body="last")])
    assert not using.folder.exists()
    assert len(list(last.folder.parent.glob("index-*"))) == 2


def test_index_what_killed_builds_left_is_swept_away(opened: Callable[..., Index], tmp_path: Path) -> None:
    for name, age in ((".building-old", 2 * 86_400), (".building-new", 0)):
        left = tmp_path / "root" / name
        left.mkdir(parents=True)
        os.utime(left, (time.time() - age,) * 2)
    opened()
    assert [path.name for path in (tmp_path / "root").glob(".building-*")] == [".building-new"]


def test_index_replaced_ones_are_dropped(opened: Callable[..., Index]) -> None:
    for step in range(5):
        index = opened([replace(ENTRIES[0], body=str(step))])
    assert len(list(index.folder.parent.glob("index-*"))) == 2


def test_index_unreachable_server_leaves_words(opened: Callable[..., Index], heard: list[str]) -> None:
    index = opened(chroma_url="http://127.0.0.1:9")
    assert not index.has_vectors
    assert next(iter(index.by_words(weights("mfu")))) == "b"
    assert "only words are searched" in heard[0]
    assert opened(chroma_url="").has_vectors


def test_embedding_vectors_have_unit_length_and_unknown_words_none() -> None:
    embedding = LatentEmbedding(learn_axes([bag(part) for entry in ENTRIES for part in entry.parts]))
    for text in ("梯度范数", "response lengths", "mfu"):
        assert sum(value * value for value in embedding.embed_query(text)) == pytest.approx(1.0, abs=1e-5)
    assert not any(embedding.embed_query("!"))
    assert not any(embedding.embed_query("xylophone"))


def test_axes_bring_words_together_that_stand_in_the_same_texts() -> None:
    texts = ["奖励 reward", "奖励 bonus", "长度 tokens", "长度 words"]
    embedding = LatentEmbedding(learn_axes([bag(text) for text in texts]))

    def cosine(one: str, other: str) -> float:
        pair = (embedding.embed_query(one), embedding.embed_query(other))
        return sum(a * b for a, b in zip(*pair, strict=True))

    assert cosine("bonus", "奖励") > 0.5 > cosine("bonus", "长度")


def test_axes_are_never_more_than_the_texts_or_the_limit() -> None:
    assert learn_axes([bag(text) for text in ["a b", "c d", "a b"]]).rows.shape[1] == 2
    many = [bag(f"word{chr(97 + i // 26)}{chr(97 + i % 26)}") for i in range(SIZE + 20)]
    assert learn_axes(many).rows.shape[1] == SIZE


def test_axes_are_read_back_as_written(tmp_path: Path) -> None:
    axes = learn_axes([bag(text) for text in ["梯度 norm", "奖励 reward"]])
    axes.save(tmp_path / "axes.npz")
    again = Axes.load(tmp_path / "axes.npz")
    assert again.terms == axes.terms
    assert (again.rows == axes.rows).all()


def test_bag_counts_lines_not_repetitions() -> None:
    assert bag("norm norm")["norm"] < bag("norm\nnorm")["norm"]
    assert "the" not in bag("the norm")


@pytest.mark.parametrize(
    ("word", "stemmed"), [("clipping", "clip"), ("clipped", "clip"), ("losses", "loss"), ("policies", "policy")]
)
def test_stem_leaves_the_same_for_inflections(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_terms_fold_width_case_and_traditional_characters() -> None:
    assert fold("　ＰＰＯ＿ＫＬ 獎勵 ") == "ppo_kl 奖励"
    assert terms("回答長度/meanValue") == ["回", "答", "长", "度", "回答", "答长", "长度", "mean", "value"]
