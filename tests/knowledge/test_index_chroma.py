"""Collections of vectors in a real Chroma: what takes the name, what can be read back, what is sound."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.knowledge.index_chroma import (
    Lost,
    Unusable,
    Vectors,
    connect,
    create,
    new_name,
    rename_into_place,
    sound,
)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    made = connect(tmp_path / new_name(), "")
    yield made
    made.close()


def built(client: Any, *vectors: list[float]) -> Any:
    collection = create(client, f"built-{uuid.uuid4().hex[:8]}")
    if vectors:
        collection.upsert(ids=[f"e{at}#0" for at in range(len(vectors))], embeddings=list(vectors))
    return collection


def names(client: Any) -> list[str]:
    return sorted(collection.name for collection in client.list_collections())


def test_rename_into_place_free_name_is_taken(client: Any) -> None:
    rename_into_place(client, built(client, [1.0, 0.0]), "index-a")
    assert names(client) == ["index-a"]


def test_rename_into_place_leaves_a_whole_one_of_a_quicker_replica(client: Any) -> None:
    rename_into_place(client, built(client, [1.0, 0.0]), "index-a")
    first = client.get_collection("index-a", None).id
    rename_into_place(client, built(client, [1.0, 0.0]), "index-a")
    assert names(client) == ["index-a"]
    assert client.get_collection("index-a", None).id == first


def test_rename_into_place_replaces_one_that_lost_vectors(client: Any) -> None:
    rename_into_place(client, built(client, [1.0, 0.0]), "index-a")
    rename_into_place(client, built(client, [1.0, 0.0], [0.0, 1.0]), "index-a")
    assert names(client) == ["index-a"]
    assert client.get_collection("index-a", None).count() == 2


def test_vectors_are_read_back_and_found(client: Any) -> None:
    vectors = Vectors(client, built(client, [1.0, 0.0], [0.0, 1.0]).name)
    assert vectors.size == 2
    assert vectors.stored(["e1#0", "e0#0"]) == {"e0#0": [1.0, 0.0], "e1#0": [0.0, 1.0]}
    assert vectors.stored([]) == {}
    assert [part for part, _ in vectors.nearest([0.9, 0.1], 5)] == ["e0#0", "e1#0"]


def test_vectors_held_in_memory_are_those_that_chroma_finds(client: Any) -> None:
    chance = random.Random(7)
    name = built(client, *([chance.gauss(0, 1) for _ in range(16)] for _ in range(300))).name
    asked, held = Vectors(client, name), Vectors(client, name, held=True)
    for _ in range(40):  # the first ones are Chroma's
        question = [chance.gauss(0, 1) for _ in range(16)]
        expected, found = asked.nearest(question, 20), held.nearest(question, 20)
        assert [part for part, _ in found] == [part for part, _ in expected]
        assert [far for _, far in found] == pytest.approx([far for _, far in expected], abs=1e-5)
    assert len(held.nearest([1.0] * 16, 1000)) == asked.size


def test_vectors_held_in_memory_outlive_their_collection(client: Any) -> None:
    collection = built(client, [1.0, 0.0], [0.0, 1.0])
    vectors = Vectors(client, collection.name, held=True)
    for _ in range(20):
        vectors.nearest([0.9, 0.1], 5)
    client.delete_collection(collection.name)
    assert [part for part, _ in vectors.nearest([0.1, 0.9], 5)] == ["e1#0", "e0#0"]


def test_vectors_that_are_not_there_are_lost(client: Any) -> None:
    vectors = Vectors(client, built(client, [1.0, 0.0]).name)
    with pytest.raises(Lost, match="1 of 2"):
        vectors.stored(["e0#0", "e7#0"])


def test_connect_server_that_cannot_be_reached_is_unusable(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="ValueError: "):
        connect(tmp_path, "http://127.0.0.1:9")


def test_sound_tells_broken_from_whole(tmp_path: Path) -> None:
    place = tmp_path / "a folder # of ? 100%"
    client = connect(place, "")
    built(client, *([float(at), 1.0] for at in range(100)))
    client.close()
    assert sound(place)
    database = place / "chroma.sqlite3"
    whole = database.read_bytes()
    database.write_bytes(whole[: len(whole) // 2] + b"\xff" * 8192 + whole[len(whole) // 2 + 8192 :])
    assert not sound(place)
    database.unlink()
    assert not sound(place)
