"""A check's findings for other programs: GitHub annotations, SARIF 2.1.0, JUnit XML, lines as a compiler prints them.

Each finding stands where it began: the file as the user named it, and the line of the cell at its onset.

Sources of the formats: GitHub's workflow commands (actions/toolkit ``packages/core/src/command.ts``, from which the
escapes are), SARIF 2.1.0 (OASIS, sections 3.27 results and 3.49 reporting descriptors), JUnit as Jenkins and GitLab
read it (``testsuites > testsuite > testcase``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from assistant.model import Finding, Run
from assistant.service.checking import Report

#: What a severity is called elsewhere.
GITHUB: Final = {"critical": "error", "warning": "warning", "info": "notice", "ok": "notice"}
SARIF: Final = {"critical": "error", "warning": "warning", "info": "note", "ok": "none"}
COMPILER: Final = {"critical": "error", "warning": "warning", "info": "info", "ok": "info"}
SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
STDIN: Final = "stdin"

_MARKUP: Final = re.compile(r"\*\*|`")
#: What XML 1.0 cannot hold, however it is escaped.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Located:
    """A finding, the run it is of, and where it began.

    Attributes:
        finding: what was found.
        run: in which run.
        path: the file as the user named it; ``stdin`` for standard input.
        step: the onset.
        line: 1-based line of the onset in that file; ``None`` where the log's format has no lines.
    """

    finding: Finding
    run: Run
    path: str
    step: int | None
    line: int | None

    @property
    def fingerprint(self) -> str:
        """The same for the same finding in another check of the log, also when it has grown since."""
        parts = (self.path, self.run.name, self.finding.rule, *self.finding.metrics[:1], str(self.step))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def located(report: Report, runs: Sequence[Run], paths: Mapping[str, str]) -> tuple[Located, ...]:
    """Where the findings of a check began.

    Args:
        report: the check.
        runs: the runs that it was about.
        paths: run id → file as the user named it.
    """
    facts = {fact.id: fact for fact in report.facts}
    known = {run.id: run for run in runs}
    found = []
    for finding in report.findings:
        evidence = [facts[name] for name in finding.evidence if name in facts]
        held = next((fact.run for fact in evidence if fact.run in known), None)
        run = known[held] if held is not None else runs[0]
        step = finding.onset if finding.onset is not None else min(finding.steps, default=None)
        line = _line(run, finding.metrics, step)
        if line is None:
            line = next((fact.line for fact in evidence if fact.line), None)
        found.append(Located(finding, run, paths.get(run.id, run.name), step, line))
    return tuple(found)


def _line(run: Run, metrics: Iterable[str], step: int | None) -> int | None:
    """The line of a step: of the first metric that has a cell there, else of the row."""
    if step is None:
        return None
    for metric in metrics:
        cell = run.cell(metric, step)
        if cell is not None and cell.line > 0:
            return cell.line
    row = next((row for row, at in enumerate(run.steps) if at == step), None)
    return None if row is None or run.row_lines[row] < 1 else run.row_lines[row]


def plain_text(statement: str) -> str:
    """A sentence without Markdown."""
    return _MARKUP.sub("", statement)


# -- GitHub ------------------------------------------------------------------------------------------------------------
def github(found: Iterable[Located]) -> str:
    """Workflow commands, one a finding; GitHub shows them beside the file's line."""
    lines = []
    for one in found:
        properties = {} if one.path == STDIN else {"file": one.path}
        if one.line is not None:
            properties["line"] = str(one.line)
        properties["title"] = f"{one.finding.rule} ({_where(one)})"
        told = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        lines.append(f"::{GITHUB[one.finding.severity]} {told}::{_data(plain_text(one.finding.statement))}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _where(one: Located) -> str:
    return one.run.name if one.step is None else f"{one.run.name}, {one.run.step_axis} {one.step}"


# -- a compiler's lines ------------------------------------------------------------------------------------------------
def compiler(found: Iterable[Located]) -> str:
    """``file:line:column: severity: sentence [rule]``, one line a finding, as editors and ``vim`` understand it."""
    return "\n".join(
        f"{one.path}:{one.line or 1}:1: {COMPILER[one.finding.severity]}: "
        f"{' '.join(plain_text(one.finding.statement).split())} [{one.finding.rule}]"
        for one in found
    )


# -- SARIF -------------------------------------------------------------------------------------------------------------
def sarif(found: Sequence[Located], report: Report, version: str) -> dict[str, Any]:
    """The SARIF log of a check: one run of the tool, a result a finding.

    Args:
        found: the findings.
        report: for the language and the remarks.
        version: of this program.
    """
    rules: dict[str, int] = {}
    for one in found:
        rules.setdefault(one.finding.rule, len(rules))
    cards = {one.finding.rule: one.finding.card for one in found if one.finding.card}
    levels = {one.finding.rule: SARIF[one.finding.severity] for one in reversed(found)}
    descriptors: list[dict[str, Any]] = []
    for name in rules:
        descriptor: dict[str, Any] = {
            "id": name,
            "shortDescription": {"text": name.replace("_", " ")},
            "defaultConfiguration": {"level": levels[name]},
        }
        if name in cards:
            descriptor["properties"] = {"card": cards[name]}
        descriptors.append(descriptor)
    driver = {"name": "metric-assistant", "version": version, "rules": descriptors}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "language": "zh-CN" if report.language == "zh" else "en-US",
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": plain_text(warning)}} for warning in report.warnings
                        ],
                    }
                ],
                "results": [_result(one, rules[one.finding.rule]) for one in found],
            }
        ],
    }


def _result(one: Located, place: int) -> dict[str, Any]:
    finding = one.finding
    physical: dict[str, Any] = {"artifactLocation": _artifact(one.path)}
    if one.line is not None:
        physical["region"] = {"startLine": one.line}
    properties: dict[str, Any] = {"run": one.run.name, "severity": finding.severity, "metrics": list(finding.metrics)}
    if one.step is not None:
        properties[one.run.step_axis] = one.step
    return {
        "ruleId": finding.rule,
        "ruleIndex": place,
        "level": SARIF[finding.severity],
        "message": {"text": plain_text(finding.statement), "markdown": finding.statement},
        "locations": [{"physicalLocation": physical}],
        "partialFingerprints": {"metricAssistant/v1": one.fingerprint},
        "properties": properties,
    }


def _artifact(path: str) -> dict[str, str]:
    """Relative paths are of the folder that the check ran in, which GitHub takes for the repository's root."""
    file = Path(path)
    if file.is_absolute():
        return {"uri": file.as_uri()}
    return {"uri": quote(file.as_posix()), "uriBaseId": "%SRCROOT%"}


# -- JUnit -------------------------------------------------------------------------------------------------------------
def junit(found: Sequence[Located], runs: Sequence[Run], report: Report, level: str) -> str:
    """JUnit XML: a suite a run, a case a finding; those at ``level`` or over it are failures.

    A run of which nothing was found has one case that passes. What could not be checked stands in the suites'
    ``system-out``.

    Args:
        found: the findings.
        runs: the runs checked.
        report: for the verdict and the remarks.
        level: ``warning`` or ``critical``.
    """
    from xml.etree import ElementTree as Tree

    order = ("ok", "info", "warning", "critical")
    top = Tree.Element("testsuites", name="metric-assistant")
    totals = [0, 0]
    for run in runs:
        own = [one for one in found if one.run.id == run.id]
        failed = [one for one in own if order.index(one.finding.severity) >= order.index(level)]
        suite = Tree.SubElement(
            top, "testsuite", name=_xml(run.name), tests=str(len(own) or 1), failures=str(len(failed)), errors="0",
            skipped="0", time="0",
        )  # fmt: skip
        totals = [totals[0] + (len(own) or 1), totals[1] + len(failed)]
        for one in own:
            where = f"{one.path}:{one.line}" if one.line is not None else one.path
            case = Tree.SubElement(
                suite, "testcase", classname=_xml(f"{run.name}.{one.finding.rule}"), name=_xml(_name(one)), time="0"
            )
            if one.line is not None:
                case.set("line", str(one.line))
            case.set("file", _xml(one.path))
            text = _xml(f"{plain_text(one.finding.statement)}\n{where}")
            if one in failed:
                first = text.partition("\n")[0]
                Tree.SubElement(case, "failure", message=first, type=one.finding.severity).text = text
            else:
                Tree.SubElement(case, "system-out").text = text
        if not own:
            Tree.SubElement(suite, "testcase", classname=_xml(run.name), name="rules", time="0")
        if report.warnings:
            Tree.SubElement(suite, "system-out").text = _xml("\n".join(map(plain_text, report.warnings)))
    top.set("tests", str(totals[0]))
    top.set("failures", str(totals[1]))
    top.set("errors", "0")
    Tree.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Tree.tostring(top, encoding="unicode")


def _name(one: Located) -> str:
    what = ", ".join(one.finding.metrics[:2])
    told = f"{one.finding.rule}: {what}" if what else one.finding.rule
    return told if one.step is None else f"{told} ({one.run.step_axis} {one.step})"


def _xml(text: str) -> str:
    return _NOT_XML.sub("�", text)
