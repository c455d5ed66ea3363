"""Templates of sentences, and the scenes that are drawn for them from the runs by a fixed seed."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from evals.faithfulness.fields import METRICS, RUNS, Scene, Written, parts, write
from evals.faithfulness.names import Role, roles
from evals.faithfulness.tables import Truth, truth
from evals.questions import logs

FOLDER: Final = Path(__file__).parent
HALVES: Final = ("open", "held")
FILES: Final = tuple(
    f"{what}_{language}_{half}.yaml"
    for what in ("templates", "written")
    for language in ("en", "zh")
    for half in HALVES
)
FRESH: Final = "fresh"
FOURTH: Final = "fourth"
LATER: Final = (FRESH, FOURTH)
"""Sets of their own, each in one file for both languages: the id begins with the language."""
STEPS: Final = ("s", "t", "u")
DRAWS: Final = 4
TRIES: Final = 400
FIELDS: Final = frozenset({"id", "kind", "text", *METRICS, "runs", "pair", "let", "where", "lies", "draws", "any_step"})
KINDS: Final = frozenset(
    {"value", "change", "percent", "ratio", "trend", "extreme", "count", "share", "sum", "derived", "missing"}
    | {"comparison", "table", "multi", "no_claim", "rounding", "two_runs"}
)
FALSEHOODS: Final = frozenset(
    {"value", "decimal", "step", "metric", "sign", "unit", "direction", "swapped", "missing", "derived", "ratio"}
    | {"extreme", "count", "trend", "run", "hallucinated", "precision", "share", "sum"}
)
POOL: Final = (
    *("verl_healthy", "verl_aime", "verl_agentic", "verl_ppo", "verl_entropy", "verl_slow", "verl_hack", "verl_cap"),
    *("verl_short", "verl_tools", "verl_leak", "verl_longer", "example", "csv_wandb"),
    *("trl_healthy", "trl_kl", "trl_terse", "trl_frozen"),
    *("roll_healthy", "roll_const", "roll_critic", "roll_gibberish"),
)
PAIRS: Final = (
    *(("verl_healthy", "verl_hack"), ("verl_tools", "verl_leak"), ("verl_entropy", "verl_cap")),
    *(("trl_healthy", "trl_terse"), ("roll_healthy", "roll_const"), ("roll_gibberish", "roll_critic")),
)
NAME: Final = "train.log"
"""What a log goes by where there is but one."""
NAMES: Final = (("baseline", "lr5e-6"), ("runA", "runB"), ("exp-031", "exp-047"), ("grpo-base", "grpo-kl0"))


@dataclass(frozen=True)
class Template:
    """A sentence, or a few, to be written about a run.

    Attributes:
        id: unique; its hash decides the half.
        language: zh or en.
        kind: of sentence.
        text: prose with fields.
        metrics: roles that each metric variable may be.
        runs: the runs that it may be about; none: a pair of runs.
        let: expressions of further variables, in order.
        where: what must hold of a scene.
        false: texts with one falsehood, by its kind.
        draws: how many scenes are drawn.
        any_step: steps need not hold the metrics' values.
        later: the later set that it belongs to, or "".
    """

    id: str
    language: str
    kind: str
    text: str
    metrics: Mapping[str, tuple[str, ...]]
    runs: tuple[str, ...]
    let: Mapping[str, str] = field(default_factory=dict)
    where: str = "True"
    false: Mapping[str, str] = field(default_factory=dict)
    draws: int = DRAWS
    any_step: bool = False
    later: str = ""

    @property
    def half(self) -> str:
        """open, held, or the later set."""
        return self.later or ("held" if self.held else "open")

    @property
    def held(self) -> bool:
        """Whether the template belongs to the half that is kept back."""
        return held(self.id)

    @property
    def used(self) -> set[str]:
        """Variables that the texts, the condition and the definitions speak of."""
        written = " ".join([self.text, self.where, *self.let.values(), *self.false.values()])
        return set(re.findall(r"(?<![\w'])([a-z])(?![\w'(])", " ".join(_expressions(written, self.where, self.let))))

    def scenes(self) -> Iterator[tuple[Written, tuple[tuple[str, str], ...], random.Random]]:
        """True sentences: written out, with (name, run) of the logs they are about, and a source of chance.

        Raises:
            ValueError: if no scene of the runs satisfies the template.
        """
        seen: set[str] = set()
        for draw in range(self.draws):
            rng = random.Random(f"{self.id} {draw}")
            for _ in range(TRIES):
                drawn = self._draw(rng)
                if drawn is None:
                    continue
                scene, about = drawn
                written = write(self.text, scene, self.language, rng)
                if written and written.true() and written.text not in seen:
                    seen.add(written.text)
                    yield written, about, rng
                    break
        if not seen:
            raise ValueError(f"{self.id}: no scene of the runs makes this sentence true")

    def _draw(self, rng: random.Random) -> tuple[Scene, tuple[tuple[str, str], ...]] | None:
        if self.runs:
            run = rng.choice(self.runs)
            about: tuple[tuple[str, str], ...] = ((NAME, run),)
            truths = {"": truth(run)}
            values: dict[str, Any] = {}
        else:
            pair, names = rng.choice(PAIRS), rng.choice(NAMES)
            if rng.random() < 0.5:
                pair = (pair[1], pair[0])
            about = ((names[0], pair[0]), (names[1], pair[1]))
            truths = {"": truth(pair[0]), "a": truth(pair[0]), "b": truth(pair[1])}
            values = {}
        chosen: dict[str, Role] = {}
        for variable, names_ in self.metrics.items():
            able = [roles()[name] for name in names_ if all(roles()[name].key(one) for one in truths.values())]
            able = [role for role in able if role not in chosen.values()]
            if not able:
                return None
            chosen[variable] = rng.choice(able)
            values[variable] = chosen[variable].key(truths[""])
        steps = self._steps(rng, truths, [str(values[name]) for name in chosen])
        if steps is None:
            return None
        scene = Scene(truths, {**values, **steps}, chosen)
        for name, expression in self.let.items():
            found = scene.value(expression)
            if found is None:
                return None
            if isinstance(found, float) and found.is_integer() and abs(found) >= 1:
                found = int(found)
            scene = Scene(truths, {**scene.values, name: found}, chosen)
        if not scene.value(self.where):
            return None
        if not self.runs:
            scene = Scene(truths, {**scene.values, "a": about[0][0], "b": about[1][0]}, chosen)
        return scene, about

    def _steps(self, rng: random.Random, truths: Mapping[str, Truth], keys: list[str]) -> dict[str, int] | None:
        wanted = [name for name in STEPS if name in self.used and name not in self.let]
        common: set[int] | None = None
        for one in truths.values():
            able = set(map(int, one.frame.index))
            if not self.any_step:
                for key in keys:
                    able &= set(map(int, one.series(key).index))
            common = able if common is None else common & able
        if len(common or ()) < len(wanted):
            return None
        return dict(zip(wanted, sorted(rng.sample(sorted(common or ()), len(wanted))), strict=True))


def _expressions(written: str, where: str, let: Mapping[str, str]) -> list[str]:
    return [*re.findall(r"\{([^{}]+)\}", written), where, *let.values()]


def held(name: str) -> bool:
    """The half of a template: by a hash of its id without the language, so that translations stay together."""
    return hashlib.sha256(name.partition("-")[2].encode()).digest()[0] % 2 == 1


@cache
def templates(later: str = "") -> tuple[Template, ...]:
    """All templates of the open and the held half, checked; or those of one of :data:`LATER`.

    Raises:
        ValueError: naming the file, the template and what is wrong with it.
    """
    found: list[Template] = []
    for name in (f"{later}.yaml",) if later else FILES:
        for entry in yaml.safe_load(FOLDER.joinpath(name).read_text(encoding="utf-8")):
            for problem in problems(entry):
                raise ValueError(f"{name}: {entry.get('id', entry)}: {problem}")
            if not later and name.endswith("_held.yaml") != held(entry["id"]):
                raise ValueError(f"{name}: {entry['id']}: belongs to the other half's file")
            language = entry["id"][:2] if later else "zh" if "_zh_" in name else "en"
            found.append(_template(entry, language, later))
    ids = [template.id for template in found]
    for double in sorted({one for one in ids if ids.count(one) > 1}):
        raise ValueError(f"{double}: two templates have this id")
    return tuple(found)


def _template(entry: Mapping[str, Any], language: str, later: str) -> Template:
    runs = entry.get("runs", POOL)
    metrics = {name: _several(entry[name]) for name in METRICS if name in entry}
    fixed = not metrics and len(_several(runs)) == 1
    return Template(
        id=entry["id"],
        language=language,
        kind=entry["kind"],
        text=entry["text"].rstrip("\n"),
        metrics=metrics,
        runs=() if entry.get("pair") else _several(runs),
        let={name: str(value) for name, value in entry.get("let", {}).items()},
        where=str(entry.get("where", "True")),
        false={name: text.rstrip("\n") for name, text in entry.get("lies", {}).items()},
        draws=int(entry.get("draws", 1 if fixed or entry["kind"] == "no_claim" else DRAWS)),
        any_step=bool(entry.get("any_step", False)),
        later=later,
    )


def _several(value: Any) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, list | tuple) else tuple(str(value).split())


def problems(entry: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a template's fields, one line each."""
    if unknown := set(entry) - FIELDS:
        yield f"unknown field {', '.join(sorted(unknown))}"
    if lacking := {"id", "kind", "text"} - set(entry):
        yield f"no field {', '.join(sorted(lacking))}"
        return
    if entry["kind"] not in KINDS:
        yield f"kind {entry['kind']!r} is none of {', '.join(sorted(KINDS))}"
    for name in METRICS:
        for role in _several(entry.get(name, ())):
            if role not in roles():
                yield f"{name}: no role is named {role!r} in names.yaml"
    for run in _several(entry.get("runs", ())):
        if run not in logs.runs():
            yield f"runs: {run!r} is not in evals/questions/runs.yaml"
    if unknown := set(entry.get("lies", {})) - FALSEHOODS:
        yield f"lies: unknown kind {', '.join(sorted(unknown))}"
    try:
        claims = [part for text in [entry["text"], *entry.get("lies", {}).values()] for part in parts(text)]
    except ValueError as error:
        yield str(error)
        return
    if unknown := {part.tag for part in claims if part.tag} - FALSEHOODS:
        yield f"unknown kind of falsehood {', '.join(sorted(unknown))}"
    claiming = any(part.claim for part in parts(entry["text"]))
    if claiming == (entry["kind"] == "no_claim"):
        yield "a sentence of kind no_claim claims nothing, any other one does"
    if not all(variable in entry for variable in RUNS) and entry.get("pair") and "runs" in entry:
        yield "a pair of runs is drawn: runs cannot be given"
