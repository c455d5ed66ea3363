"""The report's page: it stands alone, links its numbers, and draws in a real browser."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.model import Answer, Chart, Citation, Column, Fact, Finding, Grounding, Mention, Run, Slots, Verdict
from assistant.model.answer import Series
from assistant.write.report import MOST_POINTS, html_of, report

MADE = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def made_run(steps: int = 30) -> Run:
    rows = range(steps)
    columns = {
        "actor/entropy": Column(rows, [0.5 - 0.01 * r for r in rows], [r + 1 for r in rows]),
        "critic/score/<b>mean</b>": Column(
            rows, [float("nan") if r == 3 else 0.1 * r for r in rows], [r + 1 for r in rows]
        ),
    }  # fmt: skip
    axis = tuple(range(1, steps + 1))
    return Run("r0", "train </script>.log", "verl", "verl", "step", axis, axis, columns)


def made_answer(run: Run, language: str = "en") -> Answer:
    text = (
        "**The entropy is 0.49 at step 2** [K1] <img src=x onerror=alert(1)>\n\n| a | b |\n| --- | --- |\n| c | 0.49 |"
    )
    at = text.index("0.49")
    steps, values = run.series("actor/entropy")
    fact = Fact("E1", "value", run="r0", metric="actor/entropy", step=2, value=0.49, line=2)
    return Answer(
        question="entropy?", language=language, engine="offline", intent="lookup", slots=Slots(),
        verdict=Verdict("critical", "The entropy is 0.49"), answer=text, facts=(fact,),
        findings=(Finding("F1", "rule", "critical", ("actor/entropy",), (2,), "It `fell`.", ("E1",), "FM-01", 2, "c"),),
        citations=(Citation("K1", "verl/actor/entropy", "Policy entropy", "repo@1 path"),),
        charts=(Chart("Entropy", "line", (Series("r0", "actor/entropy", tuple(steps), tuple(values)),)),),
        runs=(run.summary_json(),), mentions=(Mention(at, at + 4, "E1"),), grounding=Grounding(2, 2, ()),
    )  # fmt: skip


def page(language: str = "en", steps: int = 30) -> str:
    run = made_run(steps)
    return report([made_answer(run, language)], [run], made=MADE)


def test_html_of_links_a_number_to_its_fact_and_shows_raw_html_as_text() -> None:
    html = html_of(made_answer(made_run()), "a0-")
    assert '<a class="n" href="#a0-E1">0.49</a>' in html
    assert '<a href="#a0-K1">[K1]</a>' in html
    assert "<img" not in html
    assert "<table>" in html


def test_report_fetches_nothing() -> None:
    text = page()
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", text)
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_report_holds_data_that_names_of_runs_and_metrics_cannot_break() -> None:
    text = page()
    packed = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert packed is not None
    data = json.loads(packed[1])
    assert [m["metric"] for m in data["runs"][0]["metrics"]] == ["actor/entropy", "critic/score/<b>mean</b>"]
    assert data["runs"][0]["metrics"][1]["values"][3] is None
    assert data["marks"] == [{"run": "r0", "step": 2, "severity": "critical", "metrics": ["actor/entropy"]}]
    assert "train &lt;/script&gt;.log" in text
    assert "critic/score/&lt;b&gt;mean&lt;/b&gt;" in text


@pytest.mark.parametrize(("language", "word"), [("zh", "每个数字的来历"), ("en", "Where each number comes from")])
def test_report_speaks_the_answers_language(language: str, word: str) -> None:
    assert word in page(language)


def test_report_of_a_long_run_is_thinned_with_its_ends_kept() -> None:
    text = page(steps=3 * MOST_POINTS)
    packed = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert packed is not None
    series = json.loads(packed[1])["runs"][0]["metrics"][0]
    assert len(series["steps"]) == MOST_POINTS
    assert (series["steps"][0], series["steps"][-1]) == (1, 3 * MOST_POINTS)


def test_report_draws_its_charts_in_a_browser(tmp_path: Path, require_program: Callable[[str], str]) -> None:
    chromium = require_program("chromium")
    file = tmp_path / "report.html"
    file.write_text(page(), encoding="utf-8")
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--enable-logging=stderr", "--v=0", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.count("<canvas") >= 2
    assert '<tr tabindex="0" data-metric="0" class="chosen">' in done.stdout
    assert "CONSOLE" not in done.stderr, done.stderr
