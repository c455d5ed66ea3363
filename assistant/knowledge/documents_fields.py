"""What a label in a document introduces: a definition, a formula, the normal range, the current value …

The same labels head the columns of a table and begin the points below a metric's heading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from assistant.knowledge.documents_keys import plain, read_item
from assistant.knowledge.documents_model import Definition, Range
from assistant.knowledge.documents_ranges import direction_of, ranges_of, told_ranges, unit_of

Field = Literal["key", "text", "formula", "range", "warning", "current", "unit", "direction", "title", "other"]

MAX_TEXT: Final = 4_000
MAX_RANGES: Final = 8

_LABELS: Final[dict[Field, str]] = {
    "key": "指标|指标名|指标名称|指标键|键|键名|字段|字段名|参数|变量|key|keys|metric|metrics|metric name|metric key|"
    "name|field|tag|scalar",
    "text": "含义|定义|说明|描述|意义|解释|作用|内容|含义说明|指标含义|指标说明|meaning|definition|description|what|"
    "what it is|what it means|explanation|means|about",
    "formula": "公式|计算公式|计算|计算方式|计算方法|定义式|formula|equation|calculation|computation|computed as|"
    "how it is computed",
    "range": "正常范围|参考范围|健康范围|合理范围|理想范围|建议范围|期望范围|典型范围|范围|健康值|正常值|"
    "参考值|理想值|正常区间|normal range|healthy range|typical range|expected range|target range|reference range|"
    "recommended range|healthy values|normal values|typical values|range|healthy|normal|typical|expected|target",
    "warning": "异常范围|警戒值|警告范围|警戒线|告警阈值|报警阈值|警告阈值|warning range|unhealthy range|warning|alarm|"
    "alert|alert threshold|warning threshold",
    "current": "当前值|当前|现值|现在|本次值|本次|当前状态|当前数值|实测值|示例值|数值|值|取值|最新值|"
    "current value|current|value|now|latest|latest value|observed|observed value|example value",
    "unit": "单位|unit|units",
    "direction": "方向|期望方向|趋势|期望趋势|目标|direction|goal|better|trend|desired trend",
    "title": "名称|中文名|中文名称|中文|英文名|别名|全称|title|full name|alias",
}
_BY_LABEL: Final = {label: name for name, labels in _LABELS.items() for label in labels.split("|")}
_LABELLED: Final = re.compile(r"([^\s:：`][^:：`\n]{0,39}?)\s{0,4}(?:[:：]|\s[-–—]\s)\s{0,4}")


def field_of(label: str) -> Field | None:
    """What a label means, ``None`` if it is not known."""
    plain_label = plain(label).strip(" :：`*").lower()
    found = _BY_LABEL.get(plain_label)
    if found is None and plain_label.endswith((")", "）")):  # 正常范围（参考）
        found = _BY_LABEL.get(re.split(r"[(（]", plain_label, maxsplit=1)[0].strip())
    return found


def labelled(text: str) -> tuple[Field, str, str] | None:
    """Field, label and what follows it, of ``**含义**: …`` and the like; ``None`` if no known label begins a text.

    A label in bold that is not known is a field of the sort ``other``.
    """
    bold = text.startswith("**")
    body = plain(text)
    match = _LABELLED.match(body)
    if match is None:
        return None
    name = field_of(match[1])
    if name in {None, "key"} and bold and 2 <= text.find("**", 2) <= 42:
        item = read_item(body)
        name = None if item is not None and item.strong else "other"
    if name is None or name == "key":
        return None
    return name, match[1], body[match.end() :].strip()


@dataclass(slots=True)
class Draft:
    """A definition in the making: fields are added one after another, in any order."""

    keys: tuple[str, ...]
    line: int
    heading: tuple[str, ...]
    title: str = ""
    text: list[str] = field(default_factory=list)
    fields: dict[Field, list[str]] = field(default_factory=dict)
    ranges: list[Range] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: Field, text: str, line: int, label: str = "") -> None:
        """Adds what a field says; a current value is left out, it is no part of a definition."""
        if name == "text":
            self.text.append(text)
        elif name == "other":
            self.notes.append((label, text))
        elif name == "title":
            self.title = self.title or text
        elif name != "current":
            self.fields.setdefault(name, []).append(text)
            if name in {"range", "warning"}:
                self.ranges += ranges_of(text, line, "warning" if name == "warning" else "normal")

    def finish(self) -> Definition | None:
        """The definition, ``None`` if nothing was defined."""
        text = "\n".join(part for part in self.text if part).strip()[:MAX_TEXT].replace("\ufffd", "")
        formula = " ".join(self.fields.get("formula", ())).strip()
        if not text and not formula and not self.ranges:
            return None
        said = " ".join((text, *self.fields.get("direction", ())))
        known = [r for r in self.ranges if r.kind == "normal"]
        told = told_ranges(text, self.line) if not known else []
        unit = plain(" ".join(self.fields.get("unit", ()))).strip("` ") or unit_of(text)
        unit = unit or unit_of(self.heading[-1] if self.heading else "")
        notes = [*self.notes, *(("", words) for words in self.fields.get("warning", ()))]
        return Definition(
            keys=self.keys,
            text=text,
            line=self.line,
            heading=self.heading,
            title=self.title[:120],
            formula=formula.strip("`").replace("`", "")[:500],
            unit=unit[:40],
            direction=direction_of(said),
            ranges=tuple((self.ranges + told)[:MAX_RANGES]),
            normal="\n".join(self.fields.get("range", ())).strip()[:1000],
            notes=tuple((label[:60], words[:1000]) for label, words in notes[:12]),
        )
