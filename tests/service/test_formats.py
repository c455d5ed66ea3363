"""Findings for other programs: what each format needs escaped, where a finding stands, and that schemas hold."""

import json
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.model import Finding, Verdict
from assistant.service import formats
from assistant.service.checking import Report
from tests.analysis.support import run_of

SCHEMA = json.loads((Path(__file__).parents[1] / "cli" / "sarif-2.1.0-reduced.json").read_text(encoding="utf-8"))
RUN = run_of({step: {"actor/ppo_kl": 0.1 * step, "actor/entropy": 1.0 / step} for step in (1, 2, 3)})


def finding(statement="`actor/ppo_kl` is **high**.", **changed):
    fields = {
        "id": "F1", "rule": "a_rule", "severity": "warning", "metrics": ("actor/ppo_kl",), "steps": (2, 3),
        "statement": statement, "evidence": (), **changed,
    }  # fmt: skip
    return Finding(**fields)


def report(*findings, language="en", warnings=()):
    return Report(Verdict("warning", "text", "medium"), findings, (), (), "text", language, tuple(warnings))


def located(*findings, path="logs/train.log"):
    return formats.located(report(*findings), [RUN], {RUN.id: path})


def line_of(step):
    return RUN.cell("actor/ppo_kl", step).line


def test_located_finding_stands_at_its_onset():
    (one,) = located(finding(onset=3, mode="FM-01"))
    assert (one.step, one.line, one.path) == (3, line_of(3), "logs/train.log")


def test_located_finding_without_onset_stands_at_its_first_step():
    (one,) = located(finding(steps=(3, 2)))
    assert (one.step, one.line) == (2, line_of(2))


def test_located_finding_of_no_known_cell_stands_at_the_row():
    (one,) = located(finding(metrics=("not/there",)))
    assert one.line == RUN.row_lines[1]


def test_fingerprint_is_the_same_when_a_run_goes_on_and_another_elsewhere():
    (one,), (longer,) = located(finding(steps=(2, 3))), located(finding("Worse.", steps=(2, 3, 4)))
    (other,) = located(finding(steps=(3,)))
    assert one.fingerprint == longer.fingerprint != other.fingerprint


def test_github_escapes_what_would_end_a_property_or_the_line():
    text = formats.github(located(finding("100%\nof `a`: b, c"), path="a,b:c%.log"))
    assert text == (
        f"::warning file=a%2Cb%3Ac%25.log,line={line_of(2)},title=a_rule ({RUN.name}%2C step 2)::100%25%0Aof a: b, c"
    )


@pytest.mark.parametrize(("severity", "word"), [("critical", "error"), ("warning", "warning"), ("info", "notice")])
def test_github_severities_have_their_words(severity, word):
    assert formats.github(located(finding(severity=severity))).startswith(f"::{word} ")


def test_github_of_standard_input_names_no_file():
    assert "file=" not in formats.github(located(finding(), path="stdin"))


@given(st.text(max_size=60), st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_github_any_text_comes_back(statement, path):
    text = formats.github(located(finding(statement), path=path))
    assert len(text.split("\n")) == 1
    match = re.fullmatch(r"::warning (?:file=([^,:]*),)?line=(\d+),title=([^,:]*)::(.*)", text, re.DOTALL)
    assert match is not None
    assert unquote(match[4], errors="surrogatepass") == formats.plain_text(statement)
    assert match[1] is None or unquote(match[1]) == path


def test_compiler_lines_hold_each_finding_on_one_line():
    text = formats.compiler(located(finding("One\ntwo."), finding(severity="critical", steps=(3,))))
    assert text.split("\n") == [
        f"logs/train.log:{line_of(2)}:1: warning: One two. [a_rule]",
        f"logs/train.log:{line_of(3)}:1: error: actor/ppo_kl is high. [a_rule]",
    ]


def test_sarif_keeps_the_schema_and_says_where():
    found = located(finding(card="failure/x", mode="FM-01", onset=2), finding(severity="info", rule="b"))
    log = formats.sarif(found, report(warnings=["`a` could not be checked."]), "1.0")
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    first, second = log["runs"][0]["results"]
    assert (first["ruleIndex"], second["ruleIndex"], second["level"]) == (0, 1, "note")
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "logs/train.log", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": line_of(2)}
    assert first["message"]["text"] == "actor/ppo_kl is high."


def test_sarif_paths_are_addresses():
    (one,) = formats.sarif(located(finding(), path="/tmp/日志 1.log"), report(), "1")["runs"][0]["results"]
    uri = one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (uri[:8], unquote(uri)) == ("file:///", "file:///tmp/日志 1.log")


def test_sarif_one_rule_at_two_places_is_described_once():
    log = formats.sarif(located(finding(), finding(steps=(3,))), report(), "1")
    assert len(log["runs"][0]["tool"]["driver"]["rules"]) == 1


def test_junit_counts_failures_by_the_level_asked_for():
    found = located(finding(), finding(severity="critical"), finding(severity="info"))
    for level, failures in (("warning", 2), ("critical", 1)):
        suite = ElementTree.fromstring(formats.junit(found, [RUN], report(), level))[0]
        assert (suite.get("tests"), suite.get("failures")) == ("3", str(failures))
        assert len(suite.findall("testcase/failure")) == failures


def test_junit_of_a_run_with_nothing_found_has_a_case_that_passes():
    suites = ElementTree.fromstring(formats.junit((), [RUN], report(), "warning"))
    assert (suites.get("tests"), suites.get("failures")) == ("1", "0")
    assert len(suites.findall("testsuite/testcase")) == 1


@given(st.text(max_size=80))
def test_junit_any_text_is_well_formed(text):
    found = located(finding(text, metrics=(text,)), path=text or "x")
    suites = ElementTree.fromstring(formats.junit(found, [RUN], report(warnings=[text]), "warning").encode())
    assert suites.find("testsuite/testcase/failure") is not None
