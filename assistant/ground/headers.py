"""Headings of a Markdown table: which metric, which statistic and which steps a row or a column is of."""

# ruff: noqa: E501 (patterns stay on one line)
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assistant.ground.cues import cue
from assistant.ground.judging import Judge
from assistant.ground.lexicon import Lexicon, Named, words
from assistant.ground.places import Place, part_of, places

STEP_COLUMN: Final = re.compile(
    r"(?i)^\W*(?:(?:global|training|train|logged|validation|val|eval|optimi[sz]er|gradient|policy|验证|评测|训练|全局)[_ ]?)?(?:steps?|s|步[数骤]?|updates?|rows?|records?|记录|iter(?:ation)?s?|it|ckpts?|checkpoints?|epoch|第几步|训练步数?|step 编号|rounds?|轮次|第?几?轮|迭代(?:次数|轮次)?)\W*(?:no\.?|number|编号)?\W*$"
)
ENDS: Final = re.compile(
    r"(?i)\W*(?:at |the |训练|的)*(?:(?P<first>first|initial|start(?:ing|ed)?|begin(?:ning)?|opening|首|第一|初始?|开始|起始|开头|起点|起步|起初|最初|一开始)|last|final|end(?:ing)?|latest|closing|finish|末|终|结束|最后|最终|最新|结尾|收尾|终点|终|末尾)(?:的|时|[\s_-])*(?:logged |recorded )?(?:values?|steps?|point|rows?|值|数值|一步|步|记录)?\W*"
)
_FROM_TO: Final = re.compile(r"(?i)\W*(?:(?P<first>from|[从由自])|to|[到至])\W*")
SIDES: Final = re.compile(
    r"(?i)\W*(?:(?P<first>from|before|earlier|previous|old|[从由自]|之?前|先前|此前)|to|after|later|now|current|new|[到至]|之?后|现在|当前)\W*"
)
#: Beside the word "step", what says which step a column tells: "at step", "出现步数".
_AT_THE_STEP: Final = re.compile(
    r"(?i)\b(?:at|on|of|in|the|which|occurs?|reached|peak|max(?:imum)?|min(?:imum)?|highest|lowest|best|worst)\b|@|所在的?|出现(?:的|在|于)?|对应的?|发生(?:的|在|于)?|达到(?:的|于)?|取得(?:的|于)?|峰值|谷值|最[高低大小好佳差优](?:值|点)?的?|极值"
)
#: ``Start → end``, ``首 → 末``.
_BOTH_ENDS: Final = re.compile(
    r"(?i)\W*(?:first|initial|start|begin(?:ning)?|首(?:值|步)?|初(?:值|始)?|开始|起始|起点|头)\s*(?:->|→|⟶|=>|to|/|到|至)\s*(?:the )?(?:last|final|end|latest|末(?:值|步)?|尾|结束|最后|最终|终点)\W*"
)


#: What a heading holds beside its name: marks, a unit or a statistic in brackets.
_PLAIN_TITLE: Final = re.compile(r"[`*_\s]*[（(\[][^()（）\[\]]*[)）\]]|[`*:：↑↓]+|^[\s_]+|[\s_]+$")


#: ``@14``, ``ckpt-14``, ``iter 14`` above a column.
AT_STEP: Final = re.compile(
    r"(?i)[\s*`_]*(?:@|t\s?=|s|it(?:er)?\.?|ckpt|checkpoint|global_step|step)[\s_#=-]*(\d{1,7})\s*步?[\s*`_]*"
)
_OF_STATISTIC: Final = re.compile(
    r"(?i)\b(?:best|worst|final|last|first|initial|mean|average|avg|max(?:imum)?|min(?:imum)?|peak|highest|lowest)\b|最[高低大小好差]的?|最终|最后|末步|初始|平均|均值"
)


#: "出现在", "位于": the step, without the word.
_WHERE: Final = re.compile(r"(?i)[\s*`]*(?:出现[在于处]|发生[在于]|所在(?:处|位置)?|位于)[\s*`]*")


def of_steps(title: str) -> bool:
    """Whether a column tells steps: ``step``, ``At step``, ``出现步数``."""
    if re.search(r"%|[（(]", title):  # "% of step", "peak (step)"
        return bool(STEP_COLUMN.match(title))
    if _WHERE.fullmatch(title):
        return True
    return bool(STEP_COLUMN.match(re.sub(r"\s+", " ", _AT_THE_STEP.sub(" ", title))))


class HeaderReader:
    """Reads the headings of rows and columns.

    Args:
        lexicon: the run's names.
        judge: holds the run.
    """

    def __init__(self, lexicon: Lexicon, judge: Judge) -> None:
        self.lexicon, self.judge = lexicon, judge

    @staticmethod
    def _label(text: str) -> str:
        """The statistic that a row is of, by its label."""
        for word, pattern in (
            ("max", r"(?i)\W*(?:max(?:imum)?|peak|highest|high|largest|最大|最高|峰|顶点)(?:\s*value|值|点)?\W*"),
            ("min", r"(?i)\W*(?:min(?:imum)?|lowest|low|smallest|trough|最小|最低|谷|谷底)(?:\s*value|值|点)?\W*"),
            ("mean", r"(?i)\W*(?:mean|average|avg|平均|均)(?:\s*value|值)?\W*"),
        ):  # fmt: skip
            if re.fullmatch(pattern, text):
                return word
        return ""

    def _name(self, text: str) -> Named | None:
        text = re.sub(r"(?i)[（(]\s*min\s*[)）]", lambda m: " " * len(m.group()), text)
        named = [n for n in self.lexicon.named(text) if n.keys or n.derived or n.absent]
        named = [replace(n, statistic="") if self._within_key(n) else n for n in named]
        keyed = [n for n in named if n.keys or n.derived]
        if keyed and not keyed[0].exact and (head := re.search(r"(?i)[（(]\s*(actor|critic)\s*[)）]", text)):
            own = tuple(f"{head[1].lower()}/{key.partition('/')[2]}" for key in keyed[0].keys if "/" in key)
            held = tuple(key for key in own if key in self.judge.table.run.columns)
            return replace(keyed[0], keys=held) if held else None  # "grad norm (critic)"
        bare = _PLAIN_TITLE.sub("", text).strip().lower()
        for plain in () if keyed else dict.fromkeys((bare, _OF_STATISTIC.sub("", bare).strip())):
            if short := words()["short"].get(plain):
                return next((n for n in self.lexicon.named(str(short)) if n.keys), None)
        total = self.judge.table.total_time()
        timed = bare != "step" or re.search(
            r"(?i)[（(\[/]\s*(?:s|secs?|seconds?|min|minutes?|秒|分钟)\s*[)）\]]?\s*$", text
        )
        if not keyed and total is not None and timed and _OF_STATISTIC.sub("", bare).strip() == "step":
            return Named(0, len(text), text, (total,))  # "step, mean"
        whole = named and len(_OF_STATISTIC.sub("", _PLAIN_TITLE.sub("", text)).strip()) <= len(named[0].text) + 1
        return keyed[0] if keyed else named[0] if named and ("/" in named[0].text or whole) else None

    def _unnamed(self, title: str) -> str:
        """A title without the metrics that it names."""
        for name in self.lexicon.named(title):
            spared = name.start + len(name.text) - len(name.text.lstrip())
            own = re.search(r"(?i)\b(max|min|mean)\s$", title[:spared])
            if own and name.keys and re.search(rf"(?i)[/_]{own[1]}_", name.keys[0]):
                spared = own.start()  # "Max memory allocated"
            title = title[:spared] + " " * (name.end - spared) + title[name.end :]
        return title

    @staticmethod
    def _within_key(name: Named) -> bool:
        """Whether the statistic beside a name is a part of its key: ``Max memory allocated``."""
        return bool(name.statistic and name.keys) and bool(
            re.search(rf"(?:^|[/_]){name.statistic}_", name.keys[0].lower())
        )

    def _sibling(self, name: Named, title: str) -> Named:
        """``response_length`` in the row and ``max`` in the column's header."""
        for word, pattern in (
            ("max", r"(?i)^\W*max(?:imum)?\W*$|最大"),
            ("min", r"(?i)^\W*min(?:imum)?\W*$|最小"),
            ("mean", r"(?i)^\W*(?:mean|average|avg)\W*$|平均|均值"),
        ):
            if re.search(pattern, title):
                return self._with(name, word)
        return name

    def _with(self, name: Named, statistic: str) -> Named:
        siblings = [f"{key.rsplit('/', 1)[0]}/{statistic}" for key in name.keys]
        held = tuple(s for s in siblings if s in self.judge.table.run.columns)
        return replace(name, keys=(*held, *name.keys) if held else name.keys, statistic=statistic)

    def _aggregate(self, title: str, steps: tuple[int, ...]) -> str:
        if len(steps) == 1:
            return ""
        title = re.sub(r"(?i)[（(]\s*min\s*[)）]", " ", title)
        if any(cue(word).search(bare := self._unnamed(title)) for word in ("maximum", "minimum", "mean")):
            title = bare  # "peak memory, mean"
        if cue("maximum").search(title):
            return "max"
        if cue("minimum").search(title):
            return "min"
        return "mean" if cue("mean").search(title) else ""

    def _steps(self, text: str) -> tuple[int, ...]:
        found: list[Place] = [
            p
            for p in places(text, self.judge.table.steps)
            if p.kind != "range" or (part_of(text[p.start : p.end]) or (0, 1, False))[1] == 1  # a third is no step
        ]
        return found[0].steps if found else ()

    def _end(self, title: str, name: Named | None, *, told: bool = False) -> tuple[int, ...]:
        """``first``, ``末``: the first or the last step that holds the row's metric; ``from`` too, where no steps are told."""
        if not told and (side := _FROM_TO.fullmatch(title)):
            title = "first" if side["first"] else "last"
        if _BOTH_ENDS.fullmatch(title) and name is not None and name.keys:
            rows = self.judge.table.held(name.keys[0])
            return (rows[0], rows[-1]) if len(rows) > 1 else ()
        match = ENDS.fullmatch(title)
        held = self.judge.table.held(name.keys[0]) if match and name is not None and name.keys else []
        return () if not held or match is None else (held[0] if match["first"] else held[-1],)

    @staticmethod
    def _side_of(title: str, told: tuple[int, int] | None) -> tuple[int, ...]:
        """``From`` and ``To`` below "change from step 5 to step 60"."""
        side = SIDES.fullmatch(title)
        if side is None or told is None:
            return ()
        if not _FROM_TO.fullmatch(title):  # "steps 6 and 4 compared": before is the earlier
            told = min(told), max(told)
        return (told[0] if side["first"] else told[1],)

    def _step_column(self, head: Sequence[str], cells: Sequence[str]) -> int:
        """The column that tells which step a row's value is of, where none is an extreme; -1 without one."""
        if any(self._label(title) for title in head):
            return -1
        found = [at for at, title in enumerate(head) if at and at < len(cells) and of_steps(title)]
        return (
            found[0] if len(found) == 1 and (self._bare_step(cells[found[0]]) or self._steps(cells[found[0]])) else -1
        )

    def _bare_step(self, text: str) -> tuple[int, ...]:
        match = re.fullmatch(r"\W*(\d{1,7})(?:\s*[→–-]+>?\s*(\d{1,7}))?\W*", text)
        return () if match is None else tuple(int(g) for g in match.groups() if g)

    def _heading_step(self, title: str, head: list[str]) -> tuple[int, ...]:
        """A bare number above a column, where the first header says that these are steps."""
        if signed := AT_STEP.fullmatch(title):
            return (int(signed[1]),)
        bare = [t for t in head[1:] if t.strip()]
        all_steps = len(bare) > 1 and all(
            re.fullmatch(r"\W*\d{1,7}\W*", t) and int(re.sub(r"\D", "", t)) in self.judge.table.steps for t in bare
        )
        if (
            head
            and (all_steps or re.search(r"(?i)step|步", head[0]))
            and (match := re.fullmatch(r"\W*(\d{1,7})\W*", title))
        ):
            return (int(match[1]),)
        return ()
