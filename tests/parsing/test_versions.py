"""The age of the code that printed a log."""

from __future__ import annotations

import pytest

from assistant.parsing import parse_text
from assistant.parsing.versions import version_of

OLD = ["actor/pg_loss", "response_length/mean", "timing_s/gen"]
NEW = [*OLD, "response_length_non_aborted/mean"]


@pytest.mark.parametrize(
    ("keys", "since", "until"),
    [
        (NEW, "2025-08-13", None),
        (OLD, None, "2025-08-13"),
        ([*NEW, "timing_s/update_weights"], "2026-01-27", None),
        ([*NEW, "timing_s/agent_loop/generate_sequences/mean"], "2025-08-13", "2026-01-17"),
        ([*OLD, "val-core/gsm8k/acc/std@4"], "2025-04-04", "2025-08-13"),
    ],
)
def test_version_of_verl_keys_gives_the_window(keys: list[str], since: str | None, until: str | None) -> None:
    version = version_of("verl", keys)
    assert version is not None
    assert (version.since, version.until) == (since, until)
    assert set(version.evidence) <= set(keys)


def test_version_of_a_cut_log_does_not_rest_on_what_is_not_there() -> None:
    assert version_of("verl", OLD, cut=True) is None


@pytest.mark.parametrize(
    ("framework", "keys"),
    [
        ("verl", [*OLD, "timing_s/update_weights"]),
        ("verl", ["actor/pg_loss"]),
        ("TRL", NEW),
        (None, NEW),
        ("verl", []),
    ],
)
def test_version_of_contradicting_or_silent_keys_is_unknown(framework: str | None, keys: list[str]) -> None:
    assert version_of(framework, keys) is None


def test_parse_text_run_tells_its_version() -> None:
    line = "step:1 - actor/pg_loss:0.5 - response_length/mean:9.0 - response_length_non_aborted/mean:9.0\n"
    run = parse_text(line).runs[0]
    assert run.to_json()["framework_version"] == {
        "since": "2025-08-13",
        "until": None,
        "evidence": ["response_length_non_aborted/mean"],
    }
