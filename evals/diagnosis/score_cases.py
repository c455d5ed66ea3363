"""The suite's cases with their texts and parsed runs, kept on disk so that simulating and parsing is paid once.

The folder is the user's cache (``metric-assistant/diagnosis``). A text is kept under a hash of the simulator's sources
and the suite, a parsed run besides under a hash of the parsers' sources: a change of either makes them anew.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from assistant.model import Run
from assistant.parsing import parse_text
from evals.diagnosis.cases import SUITE, entries, make
from evals.diagnosis.cases import runs as drawn

HERE: Final = Path(__file__).resolve().parent
PACKAGE: Final = HERE.parent.parent / "assistant"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A case without its text: what is known of it, and the runs that the parser made of the text.

    Attributes:
        label: mode, or kind of healthy run.
        healthy: whether nothing is wrong.
        onset: step from which the cause acts.
        strength: ``mild``, ``strong``, or None.
        framework: that wrote the log.
        seed: of the case.
        also: modes whose facts hold as well.
        held: kept back from tuning.
        last: last step of the run (its length in steps, as steps begin at 1).
        runs: as parsed.
    """

    label: str
    healthy: bool
    onset: int | None
    strength: str | None
    framework: str
    seed: int
    also: tuple[str, ...]
    held: bool
    last: int
    runs: tuple[Run, ...]


def cache_folder() -> Path:
    """Where texts and runs are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "metric-assistant" / "diagnosis"


def cases(
    *, held: bool | None = None, labels: Iterable[str] | None = None, cache: Path | None = None, suite: Path = SUITE
) -> Iterator[Labelled]:
    """The frozen suite's cases, in its order.

    Args:
        held: the held half, the open half, or both (None).
        labels: only these modes and kinds of healthy runs; all by default.
        cache: folder; :func:`cache_folder` by default.
        suite: the file of cases.
    """
    wanted = None if labels is None else set(labels)
    made = _simulator()
    read = _stamp([*(PACKAGE / "parsing").rglob("*"), *(PACKAGE / "model").rglob("*.py")])
    folder = cache or cache_folder()
    for entry in entries(suite):
        if (held is None or entry["held"] == held) and (wanted is None or entry["label"] in wanted):
            yield _case(entry, folder, made, read)


def fresh(n: int, seed: int) -> Iterator[Labelled]:
    """``n`` new cases over all labels, strengths and frameworks, drawn from ``seed``; not kept on disk."""
    for case in drawn(seed, n):
        runs = parse_text(case.text, name=case.label).runs
        last = max((step for step, _ in case.table), default=0)
        yield Labelled(
            case.label, case.healthy, case.onset, case.strength, case.framework, case.seed, case.also, False, last,
            tuple(runs),
        )  # fmt: skip


def text_of(case: Labelled, cache: Path | None = None) -> str:
    """The log of a case as it was written."""
    made = _simulator()
    entry = {name: getattr(case, name) for name in ("label", "seed", "framework", "strength", "held")}
    return str(_text(entry, (cache or cache_folder()) / made)["text"])


def _simulator() -> str:
    return _stamp(path for path in HERE.glob("*.py") if not path.name.startswith("score"))


def _stamp(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(set(files)):
        if path.is_file() and path.suffix in {".py", ".yaml", ".json"}:
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _name(entry: dict[str, Any]) -> str:
    return f"{entry['label']}-{entry['strength'] or 'healthy'}-{entry['framework']}-{entry['seed']}"


def _text(entry: dict[str, Any], folder: Path) -> dict[str, Any]:
    def build() -> dict[str, Any]:
        if sys.stderr.isatty():
            print(f"\rsimulating {_name(entry):60}", end="", file=sys.stderr)
        case = make(entry["label"], entry["seed"], entry["framework"], entry["strength"], held=entry["held"])
        last = max((step for step, _ in case.table), default=0)
        return {
            "text": case.text, "healthy": case.healthy, "onset": case.onset, "also": case.also, "last": last,
        }  # fmt: skip

    return dict(_kept(folder / f"{_name(entry)}.pickle", build))


def _case(entry: dict[str, Any], folder: Path, made: str, read: str) -> Labelled:
    def build() -> Labelled:
        case = _text(entry, folder / made)
        runs = parse_text(case["text"], name=_name(entry)).runs
        return Labelled(
            entry["label"], case["healthy"], case["onset"], entry["strength"], entry["framework"], entry["seed"],
            tuple(case["also"]), entry["held"], case["last"], tuple(runs),
        )  # fmt: skip

    found: Labelled = _kept(folder / f"{made}-{read}" / f"{_name(entry)}.pickle", build)
    return found


def _kept(path: Path, build: Any) -> Any:
    """What a file holds, or what is built and then kept there; a file that cannot be read is made anew."""
    if path.exists():
        try:
            return pickle.loads(path.read_bytes())
        except (pickle.UnpicklingError, EOFError, AttributeError, TypeError):
            path.unlink()
    made = build()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_bytes(pickle.dumps(made))
    beside.replace(path)
    return made
