"""Where the data folders are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant import resources
from assistant.resources import data_folder

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", ["knowledge", "prompts", "examples"])
def test_data_folder_in_a_checkout_is_beside_the_package(name: resources.DataFolder) -> None:
    assert data_folder(name) == ROOT / name


def test_data_folder_of_an_installed_package_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("assistant/_data/knowledge", "knowledge"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "assistant")
    assert data_folder("knowledge") == tmp_path / "assistant" / "_data" / "knowledge"


def test_data_folder_nowhere_raises_naming_both_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "assistant")
    with pytest.raises(FileNotFoundError, match=r"assistant/_data/prompts .* and .*/prompts "):
        data_folder("prompts")
