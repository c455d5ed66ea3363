"""Rules as data: what ``rules/*.yaml`` may say, checked on loading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from assistant.analysis.diagnosis.files import read_yaml
from assistant.analysis.diagnosis.roles import roles
from assistant.analysis.diagnosis.statistics import known
from assistant.model import KnowledgeError

FOLDER: Final = Path(__file__).with_name("rules")
How = Literal[
    "change", "first", "start", "jump", "any", "top", "bottom", "departs",
    "restart", "rebound", "drop", "upturn", "repeats", "idle", "vanishes",
]  # fmt: skip
Then = Literal["note", "lower", "silent"]


@dataclass(frozen=True, slots=True)
class SignRule:
    """A condition on a role's series around the onset.

    Attributes:
        of: roles, the first that the log holds.
        stat: name in the vocabulary of statistics.
        above: the statistic must exceed it.
        below: the statistic must be under it.
        noise: standard errors by which it must stand out, where the statistic has such.
        other: roles of a second series, for statistics of two.
        window: number of points that the statistic reads, where it needs one.
        bound: inner bound of a statistic that counts points.
        framework: where it applies; empty for all.
        source: who states an absolute bound.
        early: whether a change that begins with the run is measured against its first three points (not for what a
            warm-up moves).
    """

    of: tuple[str, ...]
    stat: str
    above: float | None = None
    below: float | None = None
    noise: float = 0.0
    other: tuple[str, ...] = ()
    window: int | None = None
    bound: float | None = None
    framework: tuple[str, ...] = ()
    source: str = ""
    early: bool = False


@dataclass(frozen=True, slots=True)
class LookAlikeRule:
    """Another explanation: it holds where its condition does (``says: no`` turns it round)."""

    sign: SignRule
    then: Then = "note"


@dataclass(frozen=True, slots=True)
class OnsetRule:
    """From when on: which role's series tells it, and how; ``above``/``below`` for ``first``, ``start``, ``any``."""

    of: tuple[str, ...]
    how: How
    to: Literal["up", "down", "either"] = "either"
    above: float | None = None
    below: float | None = None
    log: bool = False
    share: float = 0.7


@dataclass(frozen=True, slots=True)
class Grade:
    """Signs that a severity needs: all of ``need``, and ``least`` of ``among``."""

    need: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    least: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        rule: stable id.
        mode: ``FM-01`` …
        card: the mode's card.
        onset: how its onset is found; of several, the first that gives one.
        signs: by id.
        warning: what makes a warning (``None``: the rule knows only ``info`` or ``critical``).
        critical: what makes it critical.
        info: what makes it worth knowing only.
        lookalikes: by id.
        unless: rules, or modes, that explain the same and are more specific.
        steps: points of the onset's role below which it abstains.
        frameworks: where it applies; empty for all.
        roles: that must be in the log besides the onset's.
    """

    rule: str
    mode: str
    card: str
    onset: tuple[OnsetRule, ...]
    signs: Mapping[str, SignRule]
    warning: Grade | None = None
    critical: Grade | None = None
    info: Grade | None = None
    lookalikes: Mapping[str, LookAlikeRule] = None  # type: ignore[assignment]
    unless: tuple[str, ...] = ()
    steps: int = 8
    frameworks: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


@lru_cache(maxsize=4)
def load_rules(folder: Path = FOLDER) -> tuple[Rule, ...]:
    """All rules of a folder, files in the order of their names.

    Raises:
        KnowledgeError: a rule breaks the form; names file, rule and key.
    """
    found: dict[str, Rule] = {}
    for path in sorted(folder.glob("*.yaml")):
        entries = read_yaml(path) or []
        if not isinstance(entries, list):
            raise _error(path.name, "must be a list of rules", "应为规则的列表")
        for entry in entries:
            rule = _rule(path.name, entry)
            if rule.rule in found:
                raise _error(f"{path.name}: {rule.rule}", "stands twice", "重复")
            found[rule.rule] = rule
    modes = {rule.mode for rule in found.values()} | {f"FM-{number:02d}" for number in range(1, 41)}
    for rule in found.values():
        if strange := [name for name in rule.unless if name not in found and name not in modes]:
            raise _error(f"{rule.rule}.unless", f"no rule {strange[0]}", f"没有规则 {strange[0]}")
    return tuple(found.values())


def rules() -> tuple[Rule, ...]:
    """The shipped rules, read once a process."""
    return load_rules()


def _error(where: str, en: str, zh: str) -> KnowledgeError:
    return KnowledgeError(zh=f"{where}：{zh}。", en=f"{where}: {en}.")


def _checked(where: str, given: Any, kind: type, extra: tuple[str, ...] = ()) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise _error(where, "must be a mapping", "应为键值对")
    allowed = {field.name for field in fields(kind)} | set(extra)
    if odd := sorted(set(given) - allowed):
        raise _error(where, f"unknown key {odd[0]}", f"不认识的键 {odd[0]}")
    return dict(given)


def _names(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def _roles(where: str, given: Any) -> tuple[str, ...]:
    names = _names(given)
    for name in names:
        if name not in roles():
            raise _error(where, f"no role {name} in roles.yaml", f"roles.yaml 中没有角色 {name}")
    return names


def _sign(where: str, given: Any, extra: tuple[str, ...] = ()) -> SignRule:
    entry = _checked(where, given, SignRule, extra)
    entry = {key: value for key, value in entry.items() if key not in extra}
    for key in ("of", "stat"):
        if key not in entry:
            raise _error(where, f"needs {key}", f"缺少 {key}")
    if entry["stat"] not in known():
        raise _error(where, f"no statistic {entry['stat']}", f"没有统计量 {entry['stat']}")
    if "above" not in entry and "below" not in entry:
        raise _error(where, "needs above or below", "缺少 above 或 below")
    _numbers(where, entry, ("above", "below", "noise", "bound"))
    entry["of"] = _roles(f"{where}.of", entry["of"])
    entry["other"] = _roles(f"{where}.other", entry.get("other"))
    entry["framework"] = _names(entry.get("framework"))
    return SignRule(**entry)


def _numbers(where: str, entry: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in keys:
        value = entry.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _error(f"{where}.{key}", f"{value!r} is no number", f"{value!r} 不是数字")


def _grade(where: str, given: Any, signs: Mapping[str, SignRule]) -> Grade | None:
    if given is None:
        return None
    entry = _checked(where, given, Grade)
    grade = Grade(_names(entry.get("need")), _names(entry.get("among")), int(entry.get("least", 0)))
    for name in (*grade.need, *grade.among):
        if name not in signs:
            raise _error(where, f"no sign {name}", f"没有迹象 {name}")
    if grade.least > len(grade.among) or not (grade.need or grade.least):
        raise _error(where, "asks for no sign, or for more than it lists", "所需迹象为空，或多于所列")
    return grade


def _onset(where: str, given: Any) -> OnsetRule:
    entry = _checked(where, given, OnsetRule)
    if entry.get("how") not in get_args(How):
        able = ", ".join(get_args(How))
        raise _error(where, f"how must be one of {able}", f"how 应为 {able} 之一")
    _numbers(where, entry, ("above", "below", "share"))
    bounded = "above" in entry or "below" in entry
    if entry["how"] in {"first", "any"} and not bounded:
        raise _error(where, f"{entry['how']} needs above or below", f"{entry['how']} 需要 above 或 below")
    entry["of"] = _roles(f"{where}.of", entry.get("of"))
    if not entry["of"]:
        raise _error(where, "needs of", "缺少 of")
    return OnsetRule(**entry)


def _rule(file: str, given: Any) -> Rule:
    where = f"{file}: {given.get('rule', '?') if isinstance(given, dict) else given}"
    entry = _checked(where, given, Rule)
    for key in ("rule", "mode", "card", "onset", "signs"):
        if key not in entry:
            raise _error(where, f"needs {key}", f"缺少 {key}")
    given_onsets = entry["onset"] if isinstance(entry["onset"], list) else [entry["onset"]]
    entry["onset"] = tuple(_onset(f"{where}.onset", one) for one in given_onsets)
    entry["signs"] = {name: _sign(f"{where}.signs.{name}", sign) for name, sign in entry["signs"].items()}
    grades = [name for name in ("critical", "warning", "info") if entry.get(name) is not None]
    if not grades:
        raise _error(where, "needs critical, warning or info", "缺少 critical、warning 或 info")
    for name in grades:
        entry[name] = _grade(f"{where}.{name}", entry[name], entry["signs"])
    critical = entry.get("critical")
    if critical is not None and len(critical.need) + critical.least < 2:
        raise _error(f"{where}.critical", "needs at least two signs", "至少需要两个迹象")
    entry["lookalikes"] = {
        name: LookAlikeRule(_sign(f"{where}.lookalikes.{name}", one, ("then",)), one.get("then", "note"))
        for name, one in (entry.get("lookalikes") or {}).items()
    }
    for name, one in entry["lookalikes"].items():
        if one.then not in get_args(Then):
            what = ", ".join(get_args(Then))
            raise _error(f"{where}.lookalikes.{name}.then", f"must be one of {what}", f"应为 {what} 之一")
    for key in ("unless", "frameworks"):
        entry[key] = _names(entry.get(key))
    entry["roles"] = _roles(f"{where}.roles", entry.get("roles"))
    return Rule(**entry)
