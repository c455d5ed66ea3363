"""``metric-assistant index``: a team's own documents are added, listed and removed; and their cards as Markdown."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

_STATUS: Final = {
    "added": ("已添加", "added"),
    "replaced": ("已替换", "replaced"),
    "unchanged": ("没有变化", "unchanged"),
    "refused": ("未添加", "refused"),
}
_LABELS: Final = {
    "zh": {"formula": "公式", "unit": "单位", "direction": "方向", "healthy": "参考范围", "source": "来源",
           "team": "团队文档", "builtin": "内置定义", "other": "另一份团队文档", "higher_better": "越高越好",
           "lower_better": "越低越好", "more": "另有定义"},
    "en": {"formula": "Formula", "unit": "Unit", "direction": "Direction", "healthy": "Reference range",
           "source": "Source", "team": "team document", "builtin": "Built-in definition",
           "other": "Another team document", "higher_better": "higher is better", "lower_better": "lower is better",
           "more": "Also defined by"},
}  # fmt: skip
_MOST_OTHERS: Final = 4


def add_index_parser(commands: Any) -> None:
    """Adds ``index`` and its three actions to the command line."""
    index = commands.add_parser("index", help="a team's own metric documents / 团队自己的指标文档")
    actions = index.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = actions.add_parser("add", help="add or replace documents / 添加或更新文档")
    add.add_argument("source", nargs="+", metavar="DOC", help="a Markdown, text or HTML file, or a folder of these")
    add.set_defaults(run=add_command)
    listing = actions.add_parser("list", help="what was added / 已添加的文档")
    listing.set_defaults(run=list_command)
    remove = actions.add_parser("remove", help="remove documents / 移除文档")
    remove.add_argument("source", nargs="+", metavar="NAME", help="a document's name, as index list shows it")
    remove.set_defaults(run=remove_command)
    for action in (add, listing, remove):
        action.add_argument("--lang", choices=["auto", "zh", "en"], default="auto")
        action.add_argument("--format", choices=["md", "json"], default="md")


def add_command(arguments: argparse.Namespace) -> int:
    """``index add``: exit status 2 if anything that the user named was refused; everything else is kept."""
    from assistant.service import Store

    chinese = _chinese(arguments)
    store = Store()
    outcomes = [outcome for name in arguments.source for outcome in store.add(Path(name))]
    for outcome in outcomes:
        if outcome.error is not None:
            print(outcome.error.message("zh" if chinese else "en"), file=sys.stderr)
        for refused in outcome.document.refused if outcome.document is not None else ():
            at = f"{outcome.path}:{refused.line}" if refused.line else outcome.path
            print(f"{at}: {refused.zh if chinese else refused.en}", file=sys.stderr)
    if arguments.format == "json":
        _write_json({"documents": [_outcome_json(outcome) for outcome in outcomes]})
    else:
        for outcome in outcomes:
            if outcome.document is not None:
                status = _STATUS[outcome.status][0 if chinese else 1]
                print(f"{status}: {_line(outcome.document, chinese)}")
    return 2 if any(outcome.error is not None and outcome.named for outcome in outcomes) else 0


def list_command(arguments: argparse.Namespace) -> int:
    """``index list``: names, counts and where each was read; broken files are reported on standard error."""
    from assistant.service import Store

    chinese = _chinese(arguments)
    stored = Store().read()
    for problem in stored.problems:
        print(problem.message("zh" if chinese else "en"), file=sys.stderr)
    if arguments.format == "json":
        _write_json({"documents": [_document_json(document) for document in stored.documents]})
    elif not stored.documents:
        print("还没有添加任何文档：metric-assistant index add 文件" if chinese
              else "No document has been added: metric-assistant index add FILE")  # fmt: skip
    else:
        for document in stored.documents:
            print(f"{_line(document, chinese)} · {document.added} · {document.path}")
    return 0


def remove_command(arguments: argparse.Namespace) -> int:
    """``index remove``: by name, or by the path a document was read from."""
    from assistant.model import InputError
    from assistant.service import Store

    chinese = _chinese(arguments)
    store, removed, status = Store(), [], 0
    for name in arguments.source:
        try:
            document = store.remove(name)
        except InputError as error:
            print(error.message("zh" if chinese else "en"), file=sys.stderr)
            status = 2
            continue
        removed.append(document)
        if arguments.format == "md":
            print(f"已移除: {document.name}" if chinese else f"removed: {document.name}")
    if arguments.format == "json":
        _write_json({"removed": [document.name for document in removed]})
    return status


def _chinese(arguments: argparse.Namespace) -> bool:
    from assistant.settings import settings

    return (settings().lang if arguments.lang == "auto" else arguments.lang) == "zh"


def _line(document: Any, chinese: bool) -> str:
    numbers = len(document.definitions), _count_ranges(document), len(document.sections)
    if chinese:
        return f"{document.name}（{numbers[0]} 条定义，{numbers[1]} 个参考范围，{numbers[2]} 个段落）"
    return f"{document.name} ({numbers[0]} definitions, {numbers[1]} ranges, {numbers[2]} sections)"


def _count_ranges(document: Any) -> int:
    return sum(len(definition.ranges) for definition in document.definitions if not definition.template)


def _document_json(document: Any) -> dict[str, Any]:
    return {
        "name": document.name, "path": document.path, "digest": document.digest, "size": document.size,
        "added": document.added, "definitions": len(document.definitions), "ranges": _count_ranges(document),
        "sections": len(document.sections), "keys": [key for d in document.definitions for key in d.keys],
        "refused": [{"line": r.line, "zh": r.zh, "en": r.en} for r in document.refused],
    }  # fmt: skip


def _outcome_json(outcome: Any) -> dict[str, Any]:
    error = None if outcome.error is None else {"zh": outcome.error.zh, "en": outcome.error.en}
    document = {} if outcome.document is None else _document_json(outcome.document)
    return {"source": outcome.path, "status": outcome.status, "error": error, **document}


def _write_json(document: Any) -> None:
    from assistant.model.jsontext import json_bytes

    sys.stdout.write(json_bytes(document, indent=True).decode() + "\n")


# --- a team's own card -----------------------------------------------------------------------------------


def own_markdown(card: Any, others: Sequence[tuple[Any, tuple[str, str] | None]], language: str) -> str:
    """A team's own definition, quoted and with its source, then what others say of the same keys.

    Args:
        card: the definition.
        others: other definitions of its keys, and how their normal values differ.
        language: ``zh`` or ``en``.
    """
    label, colon = _LABELS[language], "：" if language == "zh" else ": "
    title = card.title(language)
    parts = [
        f"# {title}",
        f"`{'`, `'.join(card.keys[:8])}` · {label['team']}",
        _quoted(card.section(language, "is")),
    ]
    if card.section(language, "read"):
        parts.append(_quoted(card.section(language, "read")))
    facts = [f"- **{label['formula']}**{colon}`{card.formula}`"] if card.formula else []
    if card.unit:
        facts.append(f"- **{label['unit']}**{colon}{card.unit}")
    if card.meta.get("direction"):
        facts.append(f"- **{label['direction']}**{colon}{label[card.meta['direction']]}")
    if card.meta.get("healthy") and not card.section(language, "read"):
        facts.append(f"- **{label['healthy']}**{colon}{card.meta['healthy'][language]}")
    facts.append(f"- **{label['source']}**{colon}{card.source}")
    parts.append("\n".join(facts))
    for other, differs in others[:_MOST_OTHERS]:
        name = label["other"] if other.own else f"{label['builtin']} ({other.framework})"
        lines = [f"**{name}** `{other.id}`{colon}{other.short(language)}"]
        if differs is not None:
            lines.append(f"⚠ {differs[0] if language == 'zh' else differs[1]}")
        parts.append("  \n".join(lines))
    if len(others) > _MOST_OTHERS:
        parts.append(f"**{label['more']}**{colon}" + ", ".join(f"`{other.id}`" for other, _ in others[_MOST_OTHERS:12]))
    return "\n\n".join(parts)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line.strip() else ">" for line in text.split("\n"))
