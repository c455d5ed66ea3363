from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.agent import cache
from assistant.agent.cache import Cache, Kept
from tests.agent.support import material

KEPT = Kept("text 中文", {"a": "b"}, "model", (("parse", "{}"),))


def test_cache_gives_back_what_was_kept_and_is_the_users_alone(tmp_path: Path) -> None:
    kept = Cache(tmp_path / "replies")
    assert kept.get("name") is None
    kept.put("name", KEPT)
    assert kept.get("name") == KEPT
    assert stat.S_IMODE((tmp_path / "replies" / "name.json").stat().st_mode) == 0o600
    assert list((tmp_path / "replies").glob(".*")) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"text": 1}', '{"text":"x","repaired":[],"model":"m","calls":3}'])
def test_cache_broken_file_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "name.json").write_text(text)
    assert Cache(tmp_path).get("name") is None


def test_cache_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = Cache(tmp_path / "file" / "replies")
    kept.put("name", KEPT)
    assert kept.get("name") is None


def test_cache_oldest_give_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST", 3)
    kept = Cache(tmp_path)
    for place in range(5):
        kept.put(f"n{place}", KEPT)
    assert len(list(tmp_path.glob("*.json"))) == 3


def test_key_depends_on_cells_and_parts() -> None:
    run = material().runs[0]
    column = run.columns["actor/entropy"]
    other = replace(run, columns={**run.columns, "actor/entropy": replace(column, values=[0.5, *column.values[1:]])})
    keys = {cache.key([run], "q"), cache.key([run], "p"), cache.key([other], "q"), cache.key([run, run], "q")}
    assert len(keys) == 4
    assert cache.key([run], "q") == cache.key([replace(run, name="renamed")], "q")
