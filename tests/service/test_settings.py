"""Settings come from the environment; nonsense falls back to the default."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.settings import Endpoint, settings


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


def models(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> tuple[Endpoint, ...]:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return settings().models


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, ()),
        ({"OPENAI_API_KEY": "k"}, ()),
        ({"ASSISTANT_LLM_MODEL": "m", "OPENAI_API_KEY": "k"}, (Endpoint("m", "", "k"),)),
        (
            {"ASSISTANT_LLM_MODEL": "m", "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://a/v1"},
            (Endpoint("m", "http://a/v1", "k"),),
        ),
        (
            {
                "ASSISTANT_LLM_MODEL": "m", "ASSISTANT_LLM_BASE_URL": "http://a/v1", "ASSISTANT_LLM_API_KEY": "own",
                "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://b/v1",
            },
            (Endpoint("m", "http://a/v1", "own"),),
        ),
        (
            {
                "ASSISTANT_LLM_MODEL": "m", "ASSISTANT_LLM_BASE_URL": "http://a/v1", "OPENAI_API_KEY": "k",
                "ASSISTANT_LLM_FALLBACKS": "small, org/big@https://b/v1 ,third@https://c/v1",
                "ASSISTANT_LLM_FALLBACK_API_KEYS": ",of-b",
            },
            (
                Endpoint("m", "http://a/v1", "k"), Endpoint("small", "http://a/v1", "k"),
                Endpoint("org/big", "https://b/v1", "of-b"), Endpoint("third", "https://c/v1", ""),
            ),
        ),
    ],
)  # fmt: skip
def test_settings_models_are_the_one_asked_for_then_the_fallbacks(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: tuple[Endpoint, ...]
) -> None:
    assert models(monkeypatch, environment) == expected


def test_settings_keys_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    found = models(monkeypatch, {"ASSISTANT_LLM_MODEL": "m", "ASSISTANT_LLM_API_KEY": "secret"})
    assert "secret" not in repr(settings()) + repr(found)


ENV = """\
# a comment
export ASSISTANT_LLM_MODEL="qwen3 8b"   # quoted
ASSISTANT_LLM_BASE_URL = http://127.0.0.1:8001/v1 # here
PATH=/nowhere
ASSISTANT_LLM_TIMEOUT='7.5'
"""


def test_settings_env_file_is_read_and_the_environment_comes_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(ENV, encoding="utf-8")
    assert settings().models == (Endpoint("qwen3 8b", "http://127.0.0.1:8001/v1", ""),)
    assert settings().llm_timeout == 7.5
    monkeypatch.setenv("ASSISTANT_LLM_MODEL", "other")
    assert settings().models[0].model == "other"


def test_settings_env_file_that_names_a_server_gets_no_key_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("ASSISTANT_LLM_BASE_URL=http://collector/v1\n", encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("ASSISTANT_LLM_MODEL", "m")
    assert settings().models == (Endpoint("m", "http://collector/v1", ""),)
    assert settings().embeddings_key == "secret"  # of the server that nothing renames


@pytest.mark.parametrize(("value", "seconds"), [("5", 5.0), ("0.5", 0.5), ("0", 60.0), ("soon", 60.0), ("inf", 60.0)])
def test_settings_deadline_follows_the_environment(monkeypatch: pytest.MonkeyPatch, value: str, seconds: float) -> None:
    monkeypatch.setenv("ASSISTANT_LLM_TIMEOUT", value)
    assert settings().llm_timeout == seconds
