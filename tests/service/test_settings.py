"""Settings come from the environment; nonsense falls back to the default."""

from __future__ import annotations

import pytest

from assistant.settings import settings


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "ASSISTANT_LANG": "en"}, "en"),
        ({"LANG": "en_US.UTF-8", "ASSISTANT_LANG": "ZH"}, "zh"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
    ],
)
def test_settings_language_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], language: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert settings().lang == language


@pytest.mark.parametrize(("size", "megabytes"), [("1", 1), ("200", 200), ("0", 64), ("-5", 64), ("big", 64), ("", 64)])
def test_settings_body_limit_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, size: str, megabytes: int
) -> None:
    monkeypatch.setenv("ASSISTANT_MAX_BODY_MB", size)
    assert settings().max_body_bytes == megabytes * 1024 * 1024


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"ASSISTANT_DATA_DIR": "/a/b", "XDG_DATA_HOME": "/x"}, "/a/b"),
        ({"XDG_DATA_HOME": "/x"}, "/x/metric-assistant"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/home/me"}, "/home/me/.local/share/metric-assistant"),
        ({"XDG_DATA_HOME": "", "HOME": "/home/me"}, "/home/me/.local/share/metric-assistant"),
        ({"ASSISTANT_DATA_DIR": "~/mine", "HOME": "/home/me"}, "/home/me/mine"),
    ],
)
def test_settings_data_folder_follows_the_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert str(settings().data_dir) == folder
