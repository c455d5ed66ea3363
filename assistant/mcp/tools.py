"""The eight tools: from checked arguments to a reply that fits the detail asked for.

Each is a plain function of arguments and a :class:`assistant.mcp.calls.Call`, run in a worker thread; it raises
:class:`assistant.model.InputError` for what the caller can mend.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from assistant.mcp.calls import Call
from assistant.mcp.reading import read
from assistant.model import InputError, Run, UnknownMetric
from assistant.model.run import json_number

if TYPE_CHECKING:
    from assistant.service.selection import Selected

Arguments = Mapping[str, Any]
Reply = dict[str, Any]

#: Tokens of a reply by detail, as estimated (high rather than low); what is sent beside it costs a little too.
BUDGETS = {"brief": 900, "standard": 3800, "full": 19000}
#: Which lists of an answer are shortened, in the order in which they are given room, and the share of what is left.
ANSWER = {
    "findings": 0.4, "runs": 0.35, "answer": 0.6, "facts": 0.85, "citations": 0.4, "warnings": 0.5,
    "suggestions": 0.5, "mentions": 0.5, "charts": 0.9, "change_points": 0.5,
}  # fmt: skip
TREND = {"change_points": 0.3, **ANSWER}
COMPARISON = {
    "runs": 0.3, "rows": 0.5, "answer": 0.6, "not_comparable": 0.5, "findings": 0.4, "facts": 0.8, "reasons": 0.5,
    "warnings": 0.5, "charts": 0.9,
}  # fmt: skip
REPORT = {"conditions": 0.3, "findings": 0.6, "runs": 0.5, "facts": 0.7, "report": 0.7, "warnings": 0.6}
DEFINITION = {"others": 0.1, "also": 0.3, "related": 0.3, "names": 0.3, "keys": 0.5}


def explain(arguments: Arguments, call: Call) -> Reply:
    """The answer of the contract."""
    from assistant.service import service

    held = read(arguments, call)
    call.report(0, None, "answering")
    explained = service().explain(
        held.material, arguments.get("question", ""), language=arguments.get("lang", "auto"), engine="offline"
    )
    return _fitted(explained.answer.to_json(), arguments, ANSWER, text="answer", log=held.handle)


def compute_trend(arguments: Arguments, call: Call) -> Reply:
    """An answer about one metric's course, with its change points."""
    from assistant.service.trends import trend

    held = read(arguments, call)
    call.report(0, None, "computing the trend")
    low, high = arguments.get("first_step"), arguments.get("last_step")
    if low is not None and high is not None and low > high:
        raise InputError(
            zh=f"first_step（{low}）在 last_step（{high}）之后。",
            en=f"first_step ({low}) comes after last_step ({high}).",
        )
    report = trend(
        held.material,
        arguments["metric"],
        run=arguments.get("run"),
        steps=None if low is None and high is None else (low, high),
        last=arguments.get("last"),
        scale=arguments.get("scale"),
        at=arguments.get("at_step"),
        target=arguments.get("until"),
        language=_language(arguments, held.material.language, arguments["metric"]),
    )
    return _fitted(report.to_json(), arguments, TREND, text="answer", log=held.handle)


def compare_steps(arguments: Arguments, call: Call) -> Reply:
    """The comparison of two sides, as ``compare --format json`` prints it."""
    from assistant.service import service
    from assistant.service.comparisons import compare, side_finder

    held = read(arguments, call)
    runs = list(held.material.runs)
    others = runs
    if any(arguments.get(f"other_{name}") is not None for name in ("path", "text", "log")):
        other = read(arguments, call, prefix="other_")
        others = [run.renamed(id=f"r{len(runs) + place}") for place, run in enumerate(other.material.runs)]
    call.report(0, None, "comparing")
    metrics = list(arguments.get("metrics", ()))
    best = side_finder(service().resolver, metrics)
    sides = [
        _side(runs, arguments.get("run"), arguments.get("first", ""), best),
        _side(others, arguments.get("other_run") or (arguments.get("run") if others is runs else None),
              arguments.get("second", ""), best),
    ]  # fmt: skip
    if sides[0].run is sides[1].run and (sides[0].side is None or sides[1].side is None):
        raise InputError(
            zh="要比较同一个 run 的两步或两段，请给出 first 和 second，例如 10 和 20，或 first10 和 last10。",
            en='To compare two steps or windows of one run give first and second, such as "10" and "20", or first10 '
            "and last10.",
        )  # fmt: skip
    found = compare(
        sides[0], sides[1], service().resolver, metrics=metrics, align=arguments.get("align", "step"),
        language=_language(arguments, held.material.language, " ".join(metrics)),
    )  # fmt: skip
    return _fitted(found.to_json(), arguments, COMPARISON, text="answer", log=held.handle)


def check_thresholds(arguments: Arguments, call: Call) -> Reply:
    """Every rule and threshold, and what became of the conditions that were named."""
    return _checked(arguments, call, list(arguments.get("thresholds", ())), limits=True)


def diagnose(arguments: Arguments, call: Call) -> Reply:
    """Failure modes and broken identities."""
    return _checked(arguments, call, [], limits=False)


def _checked(arguments: Arguments, call: Call, thresholds: list[str], *, limits: bool) -> Reply:
    from assistant.service import service
    from assistant.service.checking import check_runs

    held = read(arguments, call)
    call.report(0, None, "checking")
    report = check_runs(
        held.material.runs, service().resolver, thresholds=thresholds, limits=limits,
        language=_language(arguments, held.material.language),
    )  # fmt: skip
    document = report.to_json()
    if limits:
        document["conditions"] = [
            {"condition": text, "run": run, "status": status} for text, run, status in report.conditions
        ]
    return _fitted(document, arguments, REPORT, text="report", log=held.handle)


def parse_metrics(arguments: Arguments, call: Call) -> Reply:
    """Runs, keys, rows of the metrics and steps asked for, missing cells."""
    held = read(arguments, call)
    if not held.material.runs:
        raise InputError(
            zh="日志里没有任何指标。请确认这是训练日志。",
            en="The log holds no metric. Check that it is a training log.",
        )
    language = _language(arguments, held.material.language)
    run = _run(list(held.material.runs), arguments.get("run"))
    names = list(arguments.get("metrics", ()))
    keys = _keys(run, names) if names else list(run.metrics)
    steps = _side([run], None, arguments.get("steps", ""), None).side
    document: Reply = {
        "runs": [
            {key: value for key, value in one.summary_json(language).items()
             if key not in {"warnings", "framework_version"}}
            for one in held.material.runs
        ],
        "run": run.id, "keys": keys, "rows": [], "missing": [],
        "warnings": [note.text(language) for note in (*run.warnings, *held.material.notes)],
    }  # fmt: skip
    inside: Callable[[int], bool] = lambda step: steps is None or steps.first <= step <= steps.last  # noqa: E731
    if names or arguments.get("steps") or arguments.get("detail") == "full":
        document["rows"] = _rows(run, keys, inside)
    wanted = set(keys)
    document["missing"] = [
        {"metric": gap.metric, "step": gap.step, "line": gap.line, "reason": gap.reason, "detail": gap.detail}
        for gap in run.missing
        if inside(gap.step) and (gap.metric is None or gap.metric in wanted)
    ]
    shares = {"runs": 0.5, "rows": 0.75, "missing": 0.3, "warnings": 0.3, "keys": 0.9}
    if not document["rows"]:
        shares = {"runs": 0.5, "keys": 0.8, "missing": 0.5, "warnings": 0.9}
    return _fitted(document, arguments, shares, log=held.handle)


#: Rows that are put together; a reply holds far fewer.
_MOST_ROWS = 5000


def _rows(run: Run, keys: list[str], inside: Callable[[int], bool]) -> list[dict[str, Any]]:
    """Rows of the log that hold one of the keys, in the log's order."""
    found: dict[int, dict[str, Any]] = {}
    for key in keys:
        column = run.columns[key]
        for row, value in zip(column.rows, column.values, strict=True):
            if inside(run.steps[row]):
                found.setdefault(row, {})[key] = json_number(value)
    return [
        {"step": run.steps[row], "line": run.row_lines[row], "values": found[row]} for row in sorted(found)[:_MOST_ROWS]
    ]


def _keys(run: Run, names: list[str]) -> list[str]:
    """Keys of the log that names mean: themselves, patterns, plain words."""
    from assistant.service import service

    resolver = service().resolver
    found: dict[str, None] = {}
    for name in names:
        matching = [name] if name in run.columns else []
        if not matching and any(mark in name for mark in "*?["):
            matching = [key for key in run.metrics if fnmatchcase(key, name)]
        if not matching:
            mentioned = resolver.mentions(name, run.metrics, run.framework)
            matching = [m.key for m in mentioned if m.key is not None]
        if not matching:
            near = resolver.nearest(name, keys=run.metrics, only_keys=True)
            raise UnknownMetric(
                zh=f"日志里没有指标“{name[:80]}”。最接近的：{'、'.join(near)}。",
                en=f"The log has no metric “{name[:80]}”. Nearest: {', '.join(near)}.",
            )
        found.update(dict.fromkeys(matching))
    return list(found)


def _run(runs: list[Run], wanted: str | None) -> Run:
    """The run with an id or a name; the first where none is named."""
    if wanted is None:
        return runs[0]
    named = [run for run in runs if run.id == wanted] or [run for run in runs if run.name == wanted]
    if not named:
        listed = ", ".join(f"{run.id} ({run.name[:60]})" for run in runs[:10])
        raise InputError(
            zh=f"没有 run “{wanted[:80]}”，有：{listed}。", en=f"There is no run “{wanted[:80]}”; there are: {listed}."
        )
    return named[0]


def _side(runs: list[Run], wanted: str | None, steps: str, best: Any) -> Selected:
    """A run, and the steps of it that a text such as ``first10`` names."""
    from assistant.service.selection import Wish, choose, read_wish

    if not runs:
        raise InputError(
            zh="日志里没有任何指标。请确认这是训练日志。",
            en="The log holds no metric. Check that it is a training log.",
        )
    run = _run(runs, wanted)
    steps = steps.strip().removeprefix("@")
    if not steps:
        return choose(Wish("log", None, None, ""), [run], best)
    if "\x00" in steps or "/" in steps:
        raise InputError(
            zh=f"看不懂 step“{steps[:40]}”。可以写 3、1:10、first10、last10 或 best。",
            en=f"Cannot read the steps “{steps[:40]}”. Write 3, 1:10, first10, last10 or best.",
        )
    return choose(read_wish(f"@{steps}", "log"), [run], best)


def explain_metric(arguments: Arguments, call: Call) -> Reply:
    """A metric's definition in one language."""
    from assistant.service import service
    from assistant.service.frameworks import known_framework

    engine, name = service(), arguments["name"]
    language = _language(arguments, None, name)
    framework = known_framework(engine.resolver, arguments.get("framework"))
    cards = engine.metric(name, framework)
    whole = engine.metric_json(cards[0])
    document = {
        "card": whole["card"], "language": language, "framework": whole["framework"],
        "title": whole["title"][language], "short": whole["short"][language], "keys": whole["keys"],
        "names": whole.get("names", []), "unit": whole.get("unit"), "direction": whole.get("direction"),
        "formula": whole.get("formula"), "present_when": (whole.get("present_when") or {}).get(language),
        "range": whole.get("range"), "text": whole["text"][language], "source": whole["source"],
        "related": whole.get("related", []),
        "also": [
            {"framework": also["framework"], "keys": also["keys"],
             **({"differs": also["differs"][language]} if also.get("differs") else {})}
            for also in whole.get("also", [])
        ],
        "others": [card.id for card in cards[1:]], "own": whole["own"],
    }  # fmt: skip
    return _fitted(document, arguments, DEFINITION)


def search_docs(arguments: Arguments, call: Call) -> Reply:
    """Definitions and documents by any wording."""
    from assistant.service import service
    from assistant.service.frameworks import known_framework

    engine = service()
    language = _language(arguments, None, arguments["query"])
    results = engine.search(
        arguments["query"], lang=language, framework=known_framework(engine.resolver, arguments.get("framework")),
        k=int(arguments.get("k", 5)),
    )  # fmt: skip
    document = {"results": [{key: value for key, value in found.items() if value != []} | {"keys": found["keys"]}
                            for found in results]}  # fmt: skip
    return _fitted(document, arguments, {"results": 1.0})


TOOLS: dict[str, Callable[[Arguments, Call], Reply]] = {
    "explain": explain,
    "parse_metrics": parse_metrics,
    "compute_trend": compute_trend,
    "compare_steps": compare_steps,
    "check_thresholds": check_thresholds,
    "diagnose": diagnose,
    "explain_metric": explain_metric,
    "search_docs": search_docs,
}


def _language(arguments: Arguments, found: str | None = None, words: str = "") -> Any:
    """Language of a reply: the one asked for, that of the words, that around the log, the settings'."""
    from assistant.settings import settings

    wish = arguments.get("lang", "auto")
    if wish in {"zh", "en"}:
        return wish
    if any("\u3400" <= char <= "\u9fff" for char in words):
        return "zh"
    return found or settings().lang


def _fitted(
    document: Reply, arguments: Arguments, shares: Mapping[str, float], *, text: str | None = None,
    log: str | None = None,
) -> Reply:  # fmt: skip
    """The document with the handle, as far as it fits into the detail asked for."""
    from assistant.service.brevity import by_mention, fitted

    budget = BUDGETS[arguments.get("detail", "brief")]
    whole = document | ({"log": log} if log is not None else {})
    kept, left_out = fitted(whole, budget, shares, text=text, ranked=by_mention)
    return kept | {"left_out": left_out}
