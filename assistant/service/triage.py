"""Many logs at once: one verdict each, told as they come, worst first at the end.

Logs are read in processes of their own, so that one that is damaged or huge stops nothing; on a Ray cluster where an
address is given. What is done is kept in a file of JSON lines, from which a triage that was stopped goes on.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from assistant.model import AssistantError, Finding, InputError, SourceNotFound
from assistant.model.jsontext import json_bytes

#: Endings of what is taken for a log in a folder; a file that is named is read whatever it is called.
ENDINGS: Final = (
    ".log", ".txt", ".out", ".err", ".jsonl", ".json", ".csv", ".tsv", ".log.gz", ".txt.gz", ".jsonl.gz", ".log.zst",
)  # fmt: skip
#: Part of the name of a TensorBoard event file.
EVENTS: Final = ".tfevents."
#: Files in a folder that are no logs whatever they hold.
NEVER: Final = frozenset({"requirements.txt", "package.json", "package-lock.json", "tsconfig.json", "config.json"})
#: Verdicts, worst first; of what could not be read, last.
ORDER: Final = ("critical", "warning", "insufficient_data", "healthy", "no_metrics", "unreadable")
#: Cards of rules that stand in no file of rules.
CARDS: Final = {
    "not_finite": "failure/non-finite-gradient", "vanished_key": "failure/non-finite-gradient",
    "runaway": "failure/reference-drift", "loss_gone": "failure/non-finite-gradient",
    "imbalance": "failure/load-imbalance", "validation_sinks": "failure/reward-hacking",
}  # fmt: skip
#: Beginnings of other rules → how they are called (``triage.kind_…``).
KINDS: Final = {
    "threshold/possible/": "possible", "threshold": "threshold", "departure": "departure", "spike": "spikes",
    "lone_spike": "spikes", "score_falling": "falling", "validation_falling": "falling", "identity": "identity",
}  # fmt: skip
#: Files without a run are told apart from the logs.
NO_RUN: Final = frozenset({"no_metrics", "unreadable"})
#: Jobs that are handed out at once for each that runs.
AHEAD: Final = 2


@dataclass(frozen=True, slots=True)
class Job:
    """A log to look at: its path as told, and what tells whether it has changed."""

    path: str
    size: int
    changed: int


class Unreachable(AssistantError):
    """A service that was asked for does not answer (exit status 3)."""

    code = "unreachable"


def sources_of(names: Sequence[str]) -> list[Job]:
    """The logs that files, folders and patterns mean, each once, in order of name.

    Raises:
        SourceNotFound: a name means nothing.
    """
    found: dict[str, Job] = {}
    for name in names:
        paths = list(_files(name))
        if not paths:
            raise SourceNotFound(
                zh=f"{name} 里没有日志。可以给出文件、文件夹（找 {' '.join(ENDINGS[:6])} 等）或通配符。",
                en=f"{name} holds no log. Name files, folders (searched for {' '.join(ENDINGS[:6])} …) or patterns.",
            )
        for path in paths:
            try:
                held = Path(path).stat()
            except OSError:
                continue
            found.setdefault(os.path.realpath(path), Job(path, held.st_size, held.st_mtime_ns))
    return sorted(found.values(), key=lambda job: job.path)


def _files(name: str) -> Iterator[str]:
    path = Path(name)
    if path.is_dir():
        yield from _folder(path)
    elif path.exists():
        yield name
    elif glob.has_magic(name):
        for match in sorted(glob.glob(name, recursive=True)):  # noqa: PTH207 - a pattern may be absolute
            if Path(match).is_dir():
                yield from _folder(Path(match))
            else:
                yield match


def _folder(folder: Path) -> Iterator[str]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        for name in sorted(files):
            logs = name.lower().endswith(ENDINGS) or EVENTS in name
            if logs and name not in NEVER and not name.startswith("."):
                yield str(Path(root) / name)


def look_at(path: str, thresholds: Sequence[str], language: str) -> list[dict[str, Any]]:
    """The verdict on each run of a log; on a log that cannot be read, why.

    Everything is plain data, since it may come from another process or machine.
    """
    from assistant.service.alerts import LOUD
    from assistant.service.checking import check_runs
    from assistant.service.facade import Source, service
    from assistant.service.formats import located
    from assistant.service.sources import read_source

    try:
        label, content = read_source(path)
        engine = service()
        material = engine.read([Source(label, content)])
        if not material.runs:
            return [_plain(path, "no_metrics", _NO_METRICS[language])]
        found = []
        for run in material.runs:
            report = check_runs([run], engine.resolver, thresholds=thresholds, language=language)
            loud = [one for one in located(report, [run], {run.id: path}) if one.finding.severity in LOUD]
            steps = run.distinct_steps
            found.append(
                {
                    "source": path, "run": run.name, "verdict": report.verdict.code, "summary": report.verdict.summary,
                    "framework": run.framework or run.format, "step_axis": run.step_axis, "n_steps": len(steps),
                    "steps": [steps[0], steps[-1]] if steps else [],
                    "critical": sum(one.finding.severity == "critical" for one in loud),
                    "warning": sum(one.finding.severity == "warning" for one in loud),
                    "findings": [
                        {"rule": one.finding.rule, "severity": one.finding.severity, "step": one.step, "line": one.line,
                         "title": _title(engine, one.finding, language),
                         "onset": one.finding.onset, "metrics": list(one.finding.metrics),
                         "statement": one.finding.statement}
                        for one in loud
                    ],
                }
            )  # fmt: skip
    except InputError as error:
        return [_plain(path, "unreadable", error.message("zh" if language == "zh" else "en"))]
    except MemoryError:
        return [_plain(path, "unreadable", _MEMORY[language])]
    return found


def _title(engine: Any, finding: Finding, language: str) -> str:
    """What a finding is called: its card's title, else words for its rule and metric, else its rule."""
    from assistant.analysis.diagnosis.single import single_rules
    from assistant.service.terminal_words import say

    cards = {rule.rule: rule.card for rule in single_rules()} | CARDS
    name = finding.card or cards.get(finding.rule)
    card = engine.resolver.library.get(name) if name else None
    if card is not None:
        return str(card.title(language))
    kind = next((kind for start, kind in KINDS.items() if finding.rule.startswith(start)), None)
    metric = ", ".join(finding.metrics[:1])
    return finding.rule if kind is None else say(f"triage.kind_{kind}", language, metric=metric).strip()


_NO_METRICS: Final = {"zh": "没有任何指标", "en": "holds no metric"}
_MEMORY: Final = {"zh": "内存不足", "en": "too large for the memory at hand"}
_DIED: Final = {"zh": "读取它的进程崩溃了", "en": "the process that read it died"}


def _plain(path: str, code: str, why: str) -> dict[str, Any]:
    return {
        "source": path, "run": Path(path).name, "verdict": code, "summary": why, "framework": None, "step_axis": "step",
        "n_steps": 0, "steps": [], "critical": 0, "warning": 0, "findings": [],
    }  # fmt: skip


def verdict_word(row: Mapping[str, Any], language: str) -> str:
    """The verdict in a word or two; of a log long enough, that the rules know too few of its keys."""
    from assistant.service.checking import ENOUGH_STEPS
    from assistant.service.terminal_words import say

    long = row["verdict"] == "insufficient_data" and row["n_steps"] >= ENOUGH_STEPS
    return say("triage.not_covered" if long else f"triage.{row['verdict']}", language)


def rank(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Worst first: by verdict, then by how many critical findings and warnings, then by when the first began."""
    first = min((found["step"] for found in row["findings"] if found["step"] is not None), default=0)
    code = ORDER.index(row["verdict"]) if row["verdict"] in ORDER else len(ORDER)
    return code, -row["critical"], -row["warning"], first, row["source"], row["run"]


# -- done before -------------------------------------------------------------------------------------------------------
def done_before(path: Path) -> dict[tuple[str, int, int], list[dict[str, Any]]]:
    """Results of an earlier triage by log; the last line may be half of one.

    Raises:
        InputError: the file cannot be read.
    """
    import orjson

    found: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    try:
        with path.open("rb") as handle:
            for line in handle:
                try:
                    row = orjson.loads(line)
                    key = (row["source"], row["size"], row["changed"])
                    found[key] = row["runs"]
                except (orjson.JSONDecodeError, KeyError, TypeError):
                    continue
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(zh=f"读不了 {path}：{error.strerror}。", en=f"Cannot read {path}: {error.strerror}.") from None
    return found


def line_of(job: Job, rows: Sequence[Mapping[str, Any]]) -> bytes:
    """A log's results as one line of that file."""

    return json_bytes({"source": job.path, "size": job.size, "changed": job.changed, "runs": list(rows)}) + b"\n"


# -- running -----------------------------------------------------------------------------------------------------------
Results = Iterator[tuple[Job, list[dict[str, Any]]]]


def in_processes(jobs: Iterable[Job], count: int, thresholds: Sequence[str], language: str) -> Results:
    """Results as they come, from processes of this machine; with one job at a time, from this process.

    A process that dies costs the log that it was reading; the others go on.
    """
    if count <= 1:
        for job in jobs:
            yield job, look_at(job.path, thresholds, language)
        return
    left = iter(jobs)
    pool = _pool(count)
    running: dict[Future[list[dict[str, Any]]], Job] = {}
    doubtful: list[Job] = []
    try:
        while True:
            for job in islice(left, count * AHEAD - len(running)):
                running[pool.submit(look_at, job.path, thresholds, language)] = job
            if not running:
                break
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            broken = False
            for future in finished:
                job = running.pop(future)
                try:
                    yield job, future.result()
                except BrokenProcessPool:
                    broken = True
                    doubtful.append(job)
            if broken:  # one of those under way did it: each is tried alone
                doubtful += running.values()
                running.clear()
                pool.shutdown(cancel_futures=True)
                pool = _pool(count)
                for job in doubtful:
                    yield job, _alone(job, thresholds, language)
                doubtful.clear()
    finally:
        pool.shutdown(cancel_futures=True)


def _pool(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, mp_context=get_context("spawn"))


def _alone(job: Job, thresholds: Sequence[str], language: str) -> list[dict[str, Any]]:
    with _pool(1) as pool:
        try:
            return pool.submit(look_at, job.path, thresholds, language).result()
        except BrokenProcessPool:
            return [_plain(job.path, "unreadable", _DIED[language])]


def on_ray(jobs: Iterable[Job], address: str, thresholds: Sequence[str], language: str) -> Results:
    """Results as they come from a Ray cluster, whose machines see the logs under the same paths.

    Raises:
        InputError: Ray is not installed.
        Unreachable: no cluster answers at the address.
    """
    ray = _ray()
    try:
        ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    except Exception as error:  # Ray raises what its transport does
        raise Unreachable(
            zh=f"连接不上 Ray 集群 {address}：{type(error).__name__}。",
            en=f"No Ray cluster answers at {address}: {type(error).__name__}.",
        ) from None
    try:
        remote = ray.remote(look_at)
        left = iter(jobs)
        most = max(int(ray.cluster_resources().get("CPU", 1)), 1) * AHEAD
        running: dict[Any, Job] = {}
        while True:
            for job in islice(left, most - len(running)):
                running[remote.remote(job.path, list(thresholds), language)] = job
            if not running:
                return
            finished, _ = ray.wait(list(running), num_returns=1)
            for reference in finished:
                job = running.pop(reference)
                try:
                    yield job, ray.get(reference)
                except Exception as error:  # one log's worker died; the others go on
                    yield job, [_plain(job.path, "unreadable", type(error).__name__)]
    finally:
        ray.shutdown()


@lru_cache(maxsize=1)
def _ray() -> Any:
    from importlib import import_module

    try:
        return import_module("ray")
    except ImportError:
        raise InputError(
            zh="--ray 需要 Ray：pip install ray（集群各节点也要装 metric-assistant）。不用集群时改用 --jobs N。",
            en="--ray needs Ray: pip install ray (and metric-assistant on the cluster's nodes). "
            "Without a cluster use --jobs N.",
        ) from None
