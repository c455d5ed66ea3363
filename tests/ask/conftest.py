"""In these tests an untraceable sentence is an error, as in development."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSISTANT_STRICT_GROUNDING", "1")
