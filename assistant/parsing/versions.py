"""How old the code is that printed a log: told from keys that came or went with a known commit.

The table is ``versions.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, Final

from assistant.model.run import Run, Version

_TABLE: Final = "versions.toml"


def version_of(framework: str | None, keys: Iterable[str], *, cut: bool = False) -> Version | None:
    """The window in time of the code that printed these keys.

    Args:
        framework: whose keys they are.
        keys: the metrics of a run.
        cut: whether lines of the log are cut: a key that is not there tells nothing then.

    Returns:
        ``None`` if nothing is known, or if the keys contradict each other (a fork, or lines of two versions).
    """
    rules = _rules().get(framework or "")
    if not rules:
        return None
    text = "\n".join(["", *keys, ""])
    since = until = None
    evidence: list[str] = []
    for rule in rules:
        found = rule["key"].search(text)
        lacks = rule.get("lacks")
        if found is None or (lacks is not None and (cut or lacks.search(text))):
            continue
        if "since" in rule and (since is None or rule["since"] > since):
            since = rule["since"]
        elif "until" in rule and (until is None or rule["until"] < until):
            until = rule["until"]
        else:
            continue
        evidence.append(found[1])
    if not evidence or (since is not None and until is not None and since >= until):
        return None
    return Version(since, until, tuple(evidence))


def with_versions(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs, each with the window of the code that printed it."""
    return tuple(
        replace(run, version=version)
        if (version := version_of(run.framework, run.columns, cut=bool(run.missing))) is not None
        else run
        for run in runs
    )


@cache
def _rules() -> Mapping[str, list[dict[str, Any]]]:
    table = tomllib.loads(files(__package__).joinpath(_TABLE).read_text(encoding="utf-8"))
    for rules in table.values():
        for rule in rules:
            for name in ("key", "lacks"):
                if name in rule:
                    pattern = "[^\n]*".join(map(re.escape, rule[name].split("*")))
                    rule[name] = re.compile(f"\n({pattern})(?=\n)")
    return table
