"""Metrics that people paste by hand: ``key: value`` lines, ``key=value, key=value`` lines, Markdown lists.

A weak format: it runs only where no log format found anything, because the same shapes stand in prose,
configuration and shell commands. A line counts only as a whole, and only with a key that looks like a metric.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from assistant.model.run import Note, Number
from assistant.parsing.columns import is_result
from assistant.parsing.frameworks import detect_framework
from assistant.parsing.markdown import Fences, Section, read_bullet
from assistant.parsing.metric_names import is_metric_name
from assistant.parsing.numbers import GROUPED, NUMBER, read_number
from assistant.parsing.repair import Document, strip_ray
from assistant.parsing.table import Reading, Row, build_run

KEY: Final = r"[A-Za-z][\w./@+-]{0,160}(?:\([^()\s]{1,20}\))?"
_PAIR: Final = re.compile(
    rf"(?P<key>{KEY})[ \t]{{0,4}}[:=][ \t]{{0,8}}"
    rf"(?:(?:np\.[a-z]++[0-9]*+\(|\[)(?P<inner>{NUMBER})[)\]]|(?P<number>{GROUPED}|{NUMBER})(?![\w.%/:]|,\d|-\d|\s?%))"
)
_LINE: Final = re.compile(
    rf"[ \t]*(?P<key>{KEY})[ \t]{{0,4}}[:：=][ \t]*(?P<number>{GROUPED}|{NUMBER})"
    r"(?=[ \t]*[,;]?[ \t]*$|[ \t]+[^\s%]|[(（,，。;])"
)
_YAML: Final = re.compile(r"(: -?)\.((?:nan|inf)(?![\w.]))")
_BETWEEN: Final = re.compile(r"(?: -(?= )|[\s,;|])*+")
_STEP_FRONT: Final = re.compile(
    r"(?i)[\s\[(|]*(?:[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]{5,15}[\s\])|-]*)?"
    r"(?:(?:INFO|METRICS?)[\s:|\]-]*)?"
    r"(?:(?:global[_ ]?)?(?:step|iter(?:ation)?)\s{0,2}[:=# ]?\s{0,2}(?P<step>[0-9]{1,12})"
    r"(?:\s?/\s?[0-9]{1,12})?)?[\s:|,\])-]*"
)
_STEP_LINE: Final = re.compile(
    r"(?i)[\s=#*\[-]*(?:global[_ ]?)?(?:step|iter(?:ation)?)\s{0,2}[:=# ]?\s{0,2}(?P<step>[0-9]{1,12})"
    r"(?:\s?/\s?[0-9]{1,12})?[\s\]=*:：-]*"
    r"|[\s=#*\[-]*(?:训练)?[到在]?第?\s{0,2}(?P<count>[0-9]{1,12})\s{0,2}步(?:的?时候?)?[\s\]=*:：-]*"
)
_HEADING: Final = re.compile(
    r"(?:#{1,6} [^\n]{0,160}$)|[^\n]{0,160}(?:[:：]|的(?:各项)?(?:指标|日志|数据|结果|值))[\s*`]*"
)
_HEADED: Final = re.compile(
    r"(?i)(?<![A-Za-z\d_./-])(?:global[_ ]?)?(?:step|iter(?:ation)?)\s{0,2}[:=#]?\s{0,2}(?P<step>[0-9]{1,12})"
    r"(?!\s{0,2}(?:[/.~–—%\d]|-\s?\d|to\b|steps?\b|s\b|到|至))"
    r"|第\s{0,2}(?P<count>[0-9]{1,12})\s{0,2}步"
)
_OTHER_STEPS: Final = re.compile(
    r"(?i)\b(?:steps|every|each|per|total|from|until|before|after|since|vs)\b|每|共|到第|[~～]|以[前后]|之[前后]"
)
_STEP_KEYS: Final = {
    "training/global_step",
    "train/global_step",
    "trainer/global_step",
    "global_step",
    "global_steps",
    "step",
    "_step",
    "steps",
    "iteration",
    "iter",
}
_KNOWN: Final = frozenset({"SPS"})
_SETTINGS_HEAD: Final = re.compile(
    r"(?i)(?P<indent>\s{0,40})[\w.-]{0,40}(?:config|args|arguments|params|parameters|hparams|settings|options)"
    r"\s{0,4}[:：]\s*$"
)
_CHAT_BEGIN: Final = ("<|im_start|>", "<|start_header_id|>", "<|user|>", "<|assistant|>", "<think>", "<answer>")
_CHAT_END: Final = ("<|im_end|>", "<|eot_id|>", "<|endoftext|>", "</answer>")
_MOST_CHAT: Final = 400
_CONFIG_LINE: Final = re.compile(
    r"(?i)\s*[\w.-]{1,60}\s*:\s*(?:true|false|null|none|~|\[.*\]|\{.*\}|['\"].*|[/~]\S*|\.(?!nan|inf)\S*|)\s*$"
)
_CODE_LINE: Final = re.compile(
    r"\s*(?:def \w+\(|class \w+|import \w|from \S+ import |return\b|assert |@\w+|"
    r"(?:for|while|if|elif|with|else|try|except)\b[^\n]{0,150}:\s*$|[\w.]+\([^\n]*\)\s*$|"
    r"\w[\w., ]{0,80} \+?= [^\n]{0,80}[\[(])|[^\n]{0,80}\bself\."
)
_STRONG_CODE: Final = re.compile(
    r"(?:import [\w.]+|from [\w.]+ import |(?:async )?def \w+\(|class \w+[(:]|@\w+|#include |(?:public|private) \w+ )"
)
_CONSTANT: Final = re.compile(r"\s{0,40}[A-Z][A-Z0-9]*_[A-Z0-9_]*(?:: ?\w{1,20})?\s?=\s?")
_SHELL: Final = re.compile(r"\s{0,40}(?:export )?(?P<key>[A-Za-z_]\w{0,80})=[^\s,]{1,80}\s*$")
_INI_HEAD: Final = re.compile(r"\[[A-Za-z][\w .:\"-]{0,60}\]\s*$")
_INI_LINE: Final = re.compile(r"\s*(?:[#;]|$|[\w. -]{1,80}\s?=)")
_CODE_STARTS: Final = frozenset("ifadc@#p")
_FEW_CODE: Final = 3
_LONGEST: Final = 4000


@dataclass(frozen=True, slots=True)
class Found:
    """One value on a line."""

    key: str
    value: Number
    line: int
    listed: bool


@dataclass(slots=True)
class _Event:
    cells: dict[str, Found] = field(default_factory=dict)
    step: int | None = None
    axis: str = "index"


def read_pairs(document: Document, name: str) -> Reading:
    """At most one run, one row an event; no run if no metric has a value.

    Args:
        document: a text in which no log format found anything.
        name: the run's format, ``markdown-list`` where most values are list items.
    """
    groups, taken, asking = _find(document)
    events = [event for event in _events(groups) if event.cells]
    if not any(is_metric_name(key) for event in events for key in event.cells):
        return Reading()
    rows, axis = _rows(events)
    cells = [cell for event in events for cell in event.cells.values()]
    listed = sum(cell.listed for cell in cells)
    run = build_run(
        rows,
        id="r0",
        name=document.name,
        format="markdown-list" if 2 * listed > len(cells) else name,
        framework=detect_framework({cell.key for cell in cells}),
        step_axis=axis,
        warnings=[_counted(rows[0].line)] if axis == "index" and len(rows) > 1 else [],
    )
    return Reading((run,), frozenset(taken), (), tuple(asking))


def _counted(line: int) -> Note:
    return Note(
        "rows_counted",
        "没有为每组数值认出步数；各行按出现顺序从 0 编号，编号不是训练步。",
        "No step was recognised for every group of values; the rows are counted from 0 in order of appearance, "
        "and the count is no training step.",
        line,
    )


def _find(document: Document) -> tuple[list[list[Found] | int], set[int], list[int]]:
    """Values by line (an ``int`` for a heading that names a step), the lines used, the lines that ask."""
    groups: list[list[Found] | int] = []
    taken: set[int] = set()
    asking: list[int] = []
    fences, section = Fences(), Section()
    config = _config_blocks(document.lines)
    for index, (raw, number) in enumerate(zip(document.lines, document.numbers, strict=False)):
        if len(raw) > _LONGEST or fences.skip(raw):
            continue
        line = strip_ray(raw)[1] if "pid=" in raw[:120] else raw
        line = line.strip("`") if "`" in line else line  # code in a sentence, pasted over several lines
        line = _YAML.sub(r"\1\2", line) if ": ." in line or ": -." in line else line
        held = section.read(line)
        found: list[Found] = []
        if held is not None:
            found = [Found(held[0], held[1], number, True)]
        elif index not in config:
            found = _read_line(line, number)
        if found:
            groups.append(found)
            taken.add(number)
            if "?" in line or "？" in line:
                asking.append(number)
        elif "步" in line[:60] or "step" in line[:60].lower() or "iter" in line[:60].lower():
            step = _STEP_LINE.fullmatch(line) or _heading(line)
            if step is not None:
                groups.append(int(step["step"] or step["count"]))
    return groups, taken, asking


def _heading(line: str) -> re.Match[str] | None:
    """The one step that a sentence above values names: ``Latest checked step 18 finished:``."""
    if _HEADING.fullmatch(line) is None or _OTHER_STEPS.search(line):
        return None
    named = list(_HEADED.finditer(line))
    return named[0] if len(named) == 1 else None


def _config_blocks(lines: list[str]) -> set[int]:
    """Indexes of lines in blocks of settings (text, booleans, nested keys among pairs) or of programs."""
    config: set[int] = set()
    block: list[int] = []
    for index, line in enumerate([*lines, ""]):
        if line.strip():
            block.append(index)
            continue
        texts = sum(_CONFIG_LINE.match(lines[at][:200]) is not None for at in block)
        if (texts and texts * 8 >= len(block)) or any(_CODE_LINE.match(lines[at][:200]) for at in block):
            config.update(block)
        block = []
    return config | _indented(lines) | _sampled(lines) | _program(lines)


def _program(lines: list[str]) -> set[int]:
    """Indexes of lines of a program's source, of a shell's assignments, and of sections of settings."""
    strong = sum(line[:1] in _CODE_STARTS and _STRONG_CODE.match(line[:200]) is not None for line in lines)
    source = strong >= _FEW_CODE
    if not source and not any("=" in line for line in lines):
        return set()
    found: set[int] = set()
    section = False
    for index, line in enumerate(lines):
        section = _INI_HEAD.match(line[:100]) is not None or (section and _INI_LINE.match(line[:200]) is not None)
        if "=" not in line[:200]:
            if source and line[:1] in {" ", "\t"}:
                found.add(index)
            continue
        shell = _SHELL.match(line[:200])
        unknown = shell is not None and not is_result(shell["key"]) and shell["key"] not in _STEP_KEYS
        if source or section or unknown or _CONSTANT.match(line[:200]):
            found.add(index)
    return found


def _indented(lines: list[str]) -> set[int]:
    """Indexes of the lines below a heading such as ``config:`` that are indented further than it."""
    found: set[int] = set()
    if not any(line[-1:] in {":", "：", " "} for line in lines):
        return found
    deeper = -1
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if deeper >= 0 and len(line) - len(line.lstrip()) > deeper:
            found.add(index)
            continue
        head = _SETTINGS_HEAD.match(line) if line.rstrip().endswith((":", "：")) else None
        deeper = len(head["indent"]) if head is not None else -1
    return found


def _sampled(lines: list[str]) -> set[int]:
    """Indexes of the lines of a conversation with a model: what it says of rewards is no metric."""
    found: set[int] = set()
    if not any("<" in line for line in lines):
        return found
    left = 0
    for index, line in enumerate(lines):
        if "<" not in line:
            if left:
                found.add(index)
                left -= 1
            continue
        begin = max(line.rfind(mark) for mark in _CHAT_BEGIN)
        end = max(line.rfind(mark) for mark in _CHAT_END)
        if left or begin >= 0 or end >= 0:
            found.add(index)
        left = _MOST_CHAT if begin > end else 0 if end >= 0 else max(left - 1, 0)
    return found


def _read_line(line: str, number: int) -> list[Found]:
    """The values of one line: a list item, a single pair with an explanation, or nothing but pairs."""
    if ":" not in line and "=" not in line and "：" not in line:
        return []
    item = read_bullet(line)
    if item is not None:
        several = _listed_pairs(line, number)
        if len(several) > 1:
            return several
        key, value, listed = item
        return [Found(key, value, number, listed)] if is_metric_name(key) or key in _STEP_KEYS else []
    several = _read_pairs(line, number)
    if several:
        return several
    single = _LINE.match(line)
    if single is None or line.lstrip().startswith(("-", "$", "{", '"', "'")):
        return []
    key, text = single["key"], single["number"]
    held = read_number(text)
    if held is None or not (is_metric_name(key) or key in _STEP_KEYS or key in _KNOWN):
        return []
    return [Found(key, held, number, False)]


def _listed_pairs(line: str, number: int) -> list[Found]:
    """The values of a list item that holds nothing but pairs: ``- batch/solve_none: 5, solve_all: 0``."""
    body = line.lstrip()
    if body[:2] not in {"- ", "* ", "+ "} or not any(mark in body for mark in ", ;|"):
        return []
    found = _read_pairs(body[2:], number)
    return [Found(one.key, one.value, one.line, True) for one in found]


def _read_pairs(line: str, number: int) -> list[Found]:
    front = _STEP_FRONT.match(line)
    at = front.end() if front is not None else 0
    found: list[Found] = []
    if front is not None and front["step"] is not None:
        found.append(Found("step", int(front["step"]), number, False))
    real = 0
    while at < len(line):
        pair = _PAIR.match(line, at)
        if pair is None:
            return []
        value = read_number(pair["inner"] or pair["number"])
        if value is None:
            return []
        key = pair["key"]
        if is_metric_name(key) or key in _STEP_KEYS or key in _KNOWN:
            found.append(Found(key, value, number, False))
            real += key not in _STEP_KEYS
        gap = _BETWEEN.match(line, pair.end())
        at = gap.end() if gap is not None else pair.end()
    return found if real or (found and len(found) == 1) else []


def _events(groups: list[list[Found] | int]) -> list[_Event]:
    """Groups values into events: a key that comes again with another value starts a new one."""
    events = [_Event()]
    for group in groups:
        if isinstance(group, int):
            if events[-1].cells or events[-1].step is not None:
                events.append(_Event())
            events[-1].step, events[-1].axis = group, "step"
            continue
        for cell in group:
            event = events[-1]
            held = event.cells.get(cell.key)
            is_step = cell.key.lower() in _STEP_KEYS and isinstance(cell.value, int)
            bare = is_step and "/" not in cell.key
            if bare and event.step is not None and event.axis == "step" and event.step != cell.value:
                event = _Event()
                events.append(event)
            elif held is not None:
                if held.value == cell.value:
                    continue
                event = _Event()
                events.append(event)
            if is_step and (event.step is None or cell.key == "training/global_step"):
                event.step, event.axis = int(cell.value), "step" if bare else cell.key
            if not bare:
                event.cells[cell.key] = cell
    return events


def _rows(events: list[_Event]) -> tuple[list[Row], str]:
    """Rows with their steps; the index counts where an event names no step."""
    named = all(event.step is not None for event in events)
    counter = None if named else _counter(events)
    rows = []
    for index, event in enumerate(events):
        cells = list(event.cells.values())
        first = min(cell.line for cell in cells)
        step = event.step if named and event.step is not None else index
        if counter is not None:
            step = int(event.cells[counter].value)
            cells = [cell for cell in cells if cell.key != counter]
        rows.append(
            Row(
                step,
                first,
                {cell.key: cell.value for cell in cells},
                {cell.key: cell.line for cell in cells if cell.line != first},
                max(cell.line for cell in cells),
            )
        )
    return rows, events[0].axis if named else (counter or "index").lower()


def _counter(events: list[_Event]) -> str | None:
    """The key that counts every event in whole numbers that rise: the epoch or the episode."""
    for key in ("epoch", "Epoch", "episode", "Episode"):
        held = [cell for event in events if (cell := event.cells.get(key)) is not None]
        values = [cell.value for cell in held]
        whole = len(held) == len(events) and all(isinstance(value, int) for value in values)
        if whole and len(values) > 1 and all(a < b for a, b in pairwise(values)) and _told(events, key):
            return key
    return None


def _told(events: list[_Event], counter: str) -> bool:
    """Whether every event holds a value beside its counter."""
    return all(len(event.cells) > 1 and counter in event.cells for event in events)
