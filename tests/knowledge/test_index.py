"""The index: built once, whole or not at all, rebuilt where it is broken, and cheap to bring up to date."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.knowledge.embedding import SIZE, Axes, LatentEmbedding, bag, learn_axes
from assistant.knowledge.index import Entry, Index, open_index
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


@pytest.mark.parametrize("damage", ["meta", "words", "vectors", "foreign", "no words"])
def test_index_broken_is_told_and_built_anew(opened: Callable[..., Index], heard: list[str], damage: str) -> None:
    index = opened()
    folder = index.folder
    index.close()  # what this process still has open would write beside the damage
    if damage == "meta":
        (folder / "meta.json").write_text("{")
    elif damage == "words":
        (folder / "words.sqlite").write_bytes(b"no database at all" * 100)
    elif damage == "vectors":
        shutil.rmtree(folder / "chroma")
    elif damage == "foreign":
        (folder / "meta.json").write_text('{"entries": {}, "parts": 0, "embedding": "x"}')
    else:
        (folder / "words.sqlite").unlink()
    # Chroma keeps what it opened in this process; another one sees what is on the disk.
    code = (
        "import sys; from pathlib import Path; from tests.knowledge.test_index import ENTRIES, open_index, weights\n"
        "index = open_index(ENTRIES, Path(sys.argv[1]), tell=lambda zh, en: print(en))\n"
        "print(list(index.by_vectors('梯度范数'))[0], list(index.by_words(weights('mfu')))[0])"
    )
    # This process still holds Chroma's files: under load a first rebuild can meet them half written, a second does not.
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code, str(folder.parent)], capture_output=True, text=True, check=False
        )
        if done.returncode == 0 and "is built anew" in done.stdout:
            break
    assert done.returncode == 0, done.stderr[-3000:]
    *told, found = done.stdout.splitlines()
    assert found == "a b"
    assert len(told) == 1
    assert "is built anew" in told[0]
    assert str(folder) in told[0]


def test_index_several_processes_at_once_all_find(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tests.knowledge.test_index import ENTRIES, open_index\n"
        "index = open_index(ENTRIES, Path(sys.argv[1])); print(list(index.by_vectors('梯度范数'))[0])"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate()[0].strip() for process in running] == ["a"] * 4
    assert len(list(tmp_path.glob("index-*"))) == 1
    assert list(tmp_path.glob(".building-*")) == []


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
    embedding = LatentEmbedding(learn_axes([part for entry in ENTRIES for part in entry.parts]))
    for text in ("梯度范数", "response lengths", "mfu"):
        assert sum(value * value for value in embedding.embed_query(text)) == pytest.approx(1.0, abs=1e-5)
    assert not any(embedding.embed_query("!"))
    assert not any(embedding.embed_query("xylophone"))


def test_axes_bring_words_together_that_stand_in_the_same_texts() -> None:
    texts = ["奖励 reward", "奖励 bonus", "长度 tokens", "长度 words"]
    embedding = LatentEmbedding(learn_axes(texts))

    def cosine(one: str, other: str) -> float:
        pair = (embedding.embed_query(one), embedding.embed_query(other))
        return sum(a * b for a, b in zip(*pair, strict=True))

    assert cosine("bonus", "奖励") > 0.5 > cosine("bonus", "长度")


def test_axes_are_never_more_than_the_texts_or_the_limit() -> None:
    assert learn_axes(["a b", "c d", "a b"]).rows.shape[1] == 2
    assert learn_axes([f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(SIZE + 20)]).rows.shape[1] == SIZE


def test_axes_are_read_back_as_written(tmp_path: Path) -> None:
    axes = learn_axes(["梯度 norm", "奖励 reward"])
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
