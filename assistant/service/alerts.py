"""Alerts: findings that are told once, also by checks that run again and again."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assistant.analysis.thresholds import RANK
from assistant.model.fact import Severity
from assistant.resources import cache_folder
from assistant.service.formats import Located, plain_text

#: Severities that are worth a message.
LOUD: Final = frozenset({"warning", "critical"})
#: Seconds after which a finding that was sent and is still there is sent again by another check: a week.
FORGOTTEN_AFTER_S: Final = 7 * 86400.0
_CODE: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Alert:
    """A finding as it is told.

    Attributes:
        key: the same for the same finding as a log grows.
        rule: the rule's id.
        severity: ``warning`` or ``critical`` (others are not told).
        statement: one sentence, without Markdown; every number in it is a fact's.
        metrics: keys that it is about.
        run: name of the run.
        source: the log as the user named it.
        axis: what the steps are.
        step: where it began.
        line: line of the log there.
    """

    key: str
    rule: str
    severity: Severity
    statement: str
    metrics: tuple[str, ...]
    run: str
    source: str
    axis: str = "step"
    step: int | None = None
    line: int | None = None

    def to_json(self) -> dict[str, Any]:
        """For programs; nothing in it is the log's raw text."""
        return {
            "rule": self.rule, "severity": self.severity, "statement": self.statement, "metrics": list(self.metrics),
            "run": self.run, "source": self.source, self.axis: self.step, "line": self.line, "key": self.key,
        }  # fmt: skip


def alerts_of(found: Iterable[Located]) -> tuple[Alert, ...]:
    """The loud findings of a check as alerts, gravest first."""
    told = []
    for one in found:
        if one.finding.severity not in LOUD:
            continue
        told.append(
            Alert(
                key_of(one), one.finding.rule, one.finding.severity, plain_text(one.finding.statement),
                one.finding.metrics, one.run.name, one.path, one.run.step_axis, one.step, one.line,
            )
        )  # fmt: skip
    return tuple(sorted(told, key=lambda alert: -RANK[alert.severity]))


def key_of(one: Located) -> str:
    """A finding's key: of its log, run, rule and first metric; of a threshold, what it asks for.

    Where it began is no part of it: the onset of one and the same failure is told more exactly as the log grows.
    """
    parts = [one.path, one.run.id, one.finding.rule, *one.finding.metrics[:1]]
    if one.finding.rule == "threshold":
        parts += _CODE.findall(one.finding.statement)[:1]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


class Seen:
    """What was told already; a finding that has become graver is told again."""

    def __init__(self, told: Mapping[str, Severity] | None = None) -> None:
        self.told: dict[str, Severity] = dict(told or {})

    def fresh(self, alerts: Iterable[Alert]) -> tuple[Alert, ...]:
        """Those that were not told yet, which count as told from now on."""
        new = []
        for alert in alerts:
            before = self.told.get(alert.key)
            if before is None or RANK[alert.severity] > RANK[before]:
                self.told[alert.key] = alert.severity
                new.append(alert)
        return tuple(new)

    def forget(self) -> None:
        """Everything counts as new again: another log stands in the file."""
        self.told.clear()


class Sent:
    """What was sent by earlier checks: a file, so that a check in a cron job does not repeat itself.

    Args:
        path: ``notified.json`` in the cache folder by default.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or cache_folder() / "notified.json"

    def unsent(self, kind: str, alerts: Iterable[Alert], *, now: float | None = None) -> tuple[Alert, ...]:
        """Those that were not sent yet to a kind of receiver, or less grave."""
        told = self._read(now)
        ranks: dict[str, int] = {str(name): rank for name, rank in RANK.items()}
        return tuple(
            alert
            for alert in alerts
            if RANK[alert.severity] > ranks.get(told.get(self._name(kind, alert), ("", 0.0))[0], -1)
        )

    def sent(self, kind: str, alerts: Iterable[Alert], *, now: float | None = None) -> None:
        """Keeps that these were sent; where nothing can be written, the next check sends them again."""
        told = self._read(now)
        at = time.time() if now is None else now
        told |= {self._name(kind, alert): (alert.severity, at) for alert in alerts}
        import orjson

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            beside.write_bytes(orjson.dumps({name: list(entry) for name, entry in told.items()}))
            beside.replace(self.path)
        except OSError:
            return

    def _name(self, kind: str, alert: Alert) -> str:
        """By the log's place: two folders may hold logs of one name."""
        return f"{kind}:{Path(alert.source).absolute()}:{alert.key}"

    def _read(self, now: float | None) -> dict[str, tuple[str, float]]:
        import orjson

        try:
            held = orjson.loads(self.path.read_bytes())
            at = time.time() if now is None else now
            return {
                str(name): (str(entry[0]), float(entry[1]))
                for name, entry in held.items()
                if entry[0] in RANK and at - float(entry[1]) < FORGOTTEN_AFTER_S
            }
        except (OSError, ValueError, AttributeError, TypeError, IndexError, KeyError):
            return {}
