"""A report: one HTML page that holds everything (text, charts, findings, the ledger) and asks nothing of a network."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assistant.model import Answer, Fact, Number, Run
from assistant.write.numbers import plain
from assistant.write.phrases import phrases

FOLDER: Final = Path(__file__).parent / "page"
#: Points of a series that a page holds at most; longer ones are thinned evenly, first and last kept.
MOST_POINTS: Final = 2000

_OPEN, _MIDDLE, _CLOSE = "\ue000", "\ue001", "\ue002"
_MARK: Final = re.compile(f"{_OPEN}([^{_MIDDLE}]*){_MIDDLE}([^{_CLOSE}]*){_CLOSE}")
_CITED: Final = re.compile(r"\[(K\d+)\]")

_KEYS: Final = (
    "made", "charts", "findings", "severity", "finding", "onset", "evidence", "metrics", "metric", "first", "last",
    "least", "most", "points", "search", "pick", "ledger", "ledger_hint", "id", "what", "step", "value", "line", "how",
    "sources", "log", "smooth", "report", "traced", "critical", "warning", "info", "ok",
)  # fmt: skip
#: Series whose largest values lie further apart than this are drawn apart.
ONE_SCALE: Final = 5.0


def report(answers: Sequence[Answer], runs: Sequence[Run], *, title: str = "", made: datetime | None = None) -> str:
    """The page.

    Args:
        answers: what it tells, in order; their language is the page's.
        runs: whose metrics can be looked at.
        title: heading; the runs' names by default.
        made: time of making, now by default.

    Returns:
        HTML that stands alone: styles, scripts and data are inside, nothing is fetched.
    """
    from jinja2 import Environment
    from markupsafe import Markup

    language = answers[0].language if answers else "en"
    words = {key: phrases().get(f"report.{key}", language) for key in _KEYS}
    charts: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    parts = [_part(answer, place, words, charts, marks) for place, answer in enumerate(answers)]
    tables = [_run(run, language) for run in runs]
    data = {
        "charts": charts,
        "marks": marks,
        "words": {key: words[key] for key in ("log", "smooth", "step")},
        "runs": [{"id": run.id, "first": table["shown"], "metrics": table["series"]} for run, table in
                 zip(runs, tables, strict=True)],
    }  # fmt: skip
    packed = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    names = ", ".join(dict.fromkeys(run.name for run in runs))
    when = (made or datetime.now().astimezone()).strftime("%Y-%m-%d %H:%M")
    return environment.from_string(_file("page.html.j2")).render(
        language="zh-CN" if language == "zh" else "en", title=title or f"{words['report']} · {names}", made=when,
        t=words, parts=parts, runs=tables, css=Markup(_file("page.css")), js=Markup(_file("page.js")),
        data=Markup(packed),
        library_css=Markup(_file("uPlot.min.css")), library_js=Markup(_file("uPlot.iife.min.js")),
    )  # fmt: skip


@lru_cache(maxsize=8)
def _file(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _part(
    answer: Answer, place: int, words: Mapping[str, str], charts: list[dict[str, Any]], marks: list[dict[str, Any]]
) -> dict[str, Any]:
    from markupsafe import Markup

    prefix = f"a{place}-"
    numbers = []
    several = len({s.run for chart in answer.charts for s in chart.series}) > 1
    for chart in answer.charts:
        series = [
            {
                "run": s.run, "metric": s.metric, "label": f"{s.metric} ({s.run})" if several else s.metric,
                **_points(s.steps, s.values),
            }
            for s in chart.series
        ]  # fmt: skip
        for group in _groups(series):
            numbers.append(len(charts))
            title = chart.title if len(group) == len(series) else ", ".join(dict.fromkeys(s["metric"] for s in group))
            charts.append({"title": title, "series": group})
    for finding in answer.findings:
        if finding.onset is not None and finding.severity in {"warning", "critical"}:
            marks.append({"run": _run_of(finding.evidence, answer), "step": finding.onset, "severity": finding.severity,
                          "metrics": list(finding.metrics)})  # fmt: skip
    grounding = answer.grounding
    return {
        "prefix": prefix,
        "question": answer.question,
        "name": answer.runs[0]["name"] if answer.runs else "",
        "code": answer.verdict.code,
        "label": phrases().get(f"report.{answer.verdict.code}", answer.language),
        "html": Markup(html_of(answer, prefix)),
        "grounding": words["traced"].format(a=grounding.supported, b=grounding.numbers),
        "warnings": answer.warnings,
        "charts": numbers,
        "findings": [
            {
                "severity": f.severity, "label": words[f.severity], "statement": f.statement.replace("`", ""),
                "onset": "" if f.onset is None else f.onset, "evidence": f.evidence,
            }
            for f in answer.findings
        ],
        "facts": [_fact(fact) for fact in answer.facts],
        "citations": answer.citations,
    }  # fmt: skip


def _groups(series: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Series that one axis of values can hold together: the same metric, or of about the same size."""
    sizes = [max((abs(v) for v in s["values"] if v is not None), default=0.0) for s in series]
    if sizes and max(sizes) <= ONE_SCALE * min(sizes):
        return [list(series)]
    groups: dict[str, list[dict[str, Any]]] = {}
    for one in series:
        groups.setdefault(one["metric"], []).append(one)
    return list(groups.values())


def _run_of(evidence: Sequence[str], answer: Answer) -> str | None:
    return next((fact.run for fact in answer.facts if fact.id in evidence), None)


def html_of(answer: Answer, prefix: str = "") -> str:
    """The answer's Markdown as HTML, every number that states a fact linked to its row of the ledger.

    Raw HTML in the Markdown is shown as text.
    """
    from markdown_it import MarkdownIt

    text, last, pieces = answer.answer, 0, []
    for mention in answer.mentions:
        if mention.start < last or not re.fullmatch(r"E\d+", mention.fact):
            continue
        piece = text[mention.start : mention.end]
        if "\n" in piece:
            continue
        pieces += [text[last : mention.start], _OPEN, mention.fact, _MIDDLE, piece, _CLOSE]
        last = mention.end
    marked = "".join([*pieces, text[last:]])
    html: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(marked)
    html = _MARK.sub(lambda m: f'<a class="n" href="#{prefix}{m[1]}">{m[2]}</a>', html)
    known = {citation.id for citation in answer.citations}
    return _CITED.sub(lambda m: f'<a href="#{prefix}{m[1]}">[{m[1]}]</a>' if m[1] in known else m[0], html)


def _fact(fact: Fact) -> dict[str, Any]:
    what = fact.metric or fact.name or fact.kind
    if fact.kind == "change":
        step, value = f"{fact.from_step} → {fact.to_step}", f"{_show(fact.from_value)} → {_show(fact.to_value)}"
    elif fact.kind == "trend":
        step, value = f"{fact.first_step} – {fact.last_step}", str(fact.direction)
    elif fact.kind == "missing":
        step, value = _blank(fact.step), "—"
    else:
        step, value = _blank(fact.step), _show(fact.value)
    how = fact.formula or fact.reason or (f"{fact.name} / {fact.of}" if fact.kind == "share" else "")
    if fact.kind == "change" and fact.noise is not None:
        how = f"± {plain(fact.noise)} ({fact.noise_basis})"
    if fact.kind == "trend" and fact.p_value is not None:
        how = f"n = {fact.n}, p = {plain(fact.p_value, 2)}"
    if fact.card:
        how = f"{how} ({fact.card})".strip()
    return {"id": fact.id, "what": what, "step": step, "value": value, "line": _blank(fact.line), "how": how,
            "inputs": fact.inputs or ()}  # fmt: skip


def _blank(value: int | None) -> str:
    return "" if value is None else str(value)


def _show(value: Number | str | bool | None) -> str:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    return "" if value is None else str(value)


def _points(steps: Sequence[int], values: Sequence[Number]) -> dict[str, list[Any]]:
    """A series as JSON holds it: thinned, NaN and infinities as gaps."""
    picks: Sequence[int] = range(len(steps))
    if len(steps) > MOST_POINTS:
        picks = [round(i * (len(steps) - 1) / (MOST_POINTS - 1)) for i in range(MOST_POINTS)]
    return {
        "steps": [steps[i] for i in picks],
        "values": [values[i] if math.isfinite(values[i]) else None for i in picks],
    }


def _run(run: Run, language: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    series: list[dict[str, Any]] = []
    shown = 0
    for metric in run.metrics:
        steps, values = run.series(metric)
        finite = [value for value in values if math.isfinite(value)]
        if not values:
            continue
        if not series or (len(finite) > 1 and len(series[shown]["values"]) < 2):
            shown = len(series)
        rows.append({
            "index": len(series), "metric": metric, "first": _cell(values[0]), "last": _cell(values[-1]),
            "least": _cell(min(finite)) if finite else "", "most": _cell(max(finite)) if finite else "",
            "points": len(values),
        })  # fmt: skip
        series.append({"metric": metric, **_points(steps, values)})
    steps_held = run.distinct_steps
    framework = run.framework or run.format
    ends = f"step {steps_held[0]}–{steps_held[-1]}" if steps_held else ""
    count = len(series)
    summary = (
        f"{framework} · {ends} · {count} 个指标。" if language == "zh" else f"{framework} · {ends} · {count} metrics."
    )
    return {"name": run.name, "summary": summary, "rows": rows, "series": series, "shown": shown}


def _cell(value: Number) -> str:
    return plain(value, 4) if math.isfinite(value) else str(value)
