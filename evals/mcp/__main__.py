"""Measures the tools for agents and puts tables and links into ``docs/editors.md``.

python -m evals.mcp                  prints the tables
python -m evals.mcp --write          puts them, and the links, into docs/editors.md
python -m evals.mcp --check          exit status 1 if links or token counts there are not the present ones
python -m evals.mcp --logs FOLDER    over somebody's own logs: tokens of the default replies, worst of each tool
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from assistant.mcp.arguments import checked
from assistant.mcp.calls import Call, Store
from assistant.mcp.catalogue import by_name, instructions, tools
from assistant.mcp.install.clients import clients, cursor_link, cursor_web_link, vscode_link, vscode_web_link
from assistant.mcp.tools import TOOLS
from assistant.model import InputError
from assistant.service.brevity import tokens

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "editors.md"
LOG = ROOT / "examples" / "verl-retool-steps-0-3.log"
DETAILS = ("brief", "standard", "full")
MOST = 1000
#: Calls whose tokens are published: the tool, what is asked.
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("explain", {}),
    ("explain", {"question": "跟 step 0 相比，模型有改进吗"}),
    ("explain", {"question": "逐条解读 step 1"}),
    ("explain", {"question": "How should I read actor/ppo_kl at step 1?"}),
    ("parse_metrics", {}),
    ("parse_metrics", {"metrics": ["actor/*"]}),
    ("compute_trend", {"metric": "entropy"}),
    ("compare_steps", {"first": "1", "second": "3"}),
    ("check_thresholds", {"thresholds": ["actor/ppo_kl < 1e-9"]}),
    ("diagnose", {}),
    ("explain_metric", {"name": "actor/ppo_kl"}),
    ("search_docs", {"query": "回答被截断的比例"}),
]


def counts(calls: Iterable[tuple[str, dict[str, Any]]] = CALLS) -> list[tuple[str, str, list[int]]]:
    """For each call: the tool, what is asked, the tokens at each detail."""
    call, rows = Call(Store(), roots=[LOG.parent]), []
    for name, asked in calls:
        source = {"path": LOG.name} if "log" in by_name()[name]["inputSchema"]["properties"] else {}
        sizes = [tokens(TOOLS[name](checked(name, {**source, **asked, "detail": d}), call)) for d in DETAILS]
        rows.append((name, ", ".join(f"{key}: {_shown(value)}" for key, value in asked.items()), sizes))
    return rows


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


def token_table(rows: Iterable[tuple[str, str, list[int]]]) -> str:
    """The published table."""
    lines = ["| tool | asked | brief | standard | full |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| `{name}` | {asked} | {' | '.join(f'{n:,}' for n in sizes)} |" for name, asked, sizes in rows]
    read = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools()]
    told = tokens(read), tokens(instructions())
    lines += ["", f"Names, descriptions and arguments of all tools: {told[0]:,}; instructions: {told[1]:,}."]
    return "\n".join(lines)


def link_table() -> str:
    """The links, for the command as it is on the PATH."""
    cursor, vscode = (clients()[name].server(["metric-assistant"]) for name in ("cursor", "vscode"))
    lines = ["| | link |", "| --- | --- |"]
    lines.append(f"| Cursor | [Add to Cursor]({cursor_web_link(cursor)}) · `{cursor_link(cursor)}` |")
    lines.append(f"| VS Code | [Add to VS Code]({vscode_web_link(vscode)}) · `{vscode_link(vscode)}` |")
    lines.append(f"| VS Code Insiders | `{vscode_link(vscode, insiders=True)}` |")
    return "\n".join(lines)


def client_table() -> str:
    """The clients that ``mcp install`` knows."""
    lines = ["| `--client` | file (user) | file (project) | format described at |", "| --- | --- | --- | --- |"]
    for client in clients().values():
        places = []
        for scope in ("user", "project"):
            found = client.places.get(scope)
            place = found["linux"] if isinstance(found, dict) else found
            places.append(f"`{place}`" if place else "—")
        lines.append(f"| `{client.name}` ({client.title}) | {places[0]} | {places[1]} | <{client.source}> |")
    return "\n".join(lines)


def filled(page: str, parts: dict[str, str]) -> str:
    """The page with each part between its marks."""
    for name, text in parts.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        page = re.sub(rf"{begin}.*?{end}", lambda _, b=begin, t=text, e=end: f"{b}\n{t}\n{e}", page, flags=re.DOTALL)
    return page


def start_line(number: int) -> str:
    """How soon the first list of tools is there, as a client over stdio sees it."""
    from evals.mcp.starting import first_list

    starts = [first_list() for _ in range(number)]
    wall, used = (sorted(getattr(start, name) for start in starts) for name in ("wall", "processor"))
    return (
        f"From the start of the process to the first list of tools over stdio, {number} cold starts on the machine "
        f"that wrote this page: best {wall[0]:.2f} s, median {wall[number // 2]:.2f} s on the clock; "
        f"best {used[0]:.2f} s, "
        f"median {used[number // 2]:.2f} s of processor time."
    )


def own_logs(folder: Path) -> int:
    """Default replies about every log of a folder; how many went over the limit."""
    over, worst = 0, dict.fromkeys(TOOLS, 0)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("explain", {}), ("explain", {"question": "逐条解读最后一步"}), ("parse_metrics", {}),
        ("parse_metrics", {"steps": "first3"}), ("check_thresholds", {}), ("diagnose", {}),
        ("compare_steps", {"first": "first5", "second": "last5"}),
    ]  # fmt: skip
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    call, seen, started = Call(Store(), roots=[folder]), 0, time.perf_counter()
    for path in files:
        for name, arguments in asked:
            try:
                size = tokens(TOOLS[name]({"path": str(path), **arguments}, call))
            except InputError:
                continue
            seen, over = seen + 1, over + (size >= MOST)
            worst[name] = max(worst[name], size)
            if size >= MOST:
                print(f"{size} tokens: {name} {arguments} {path}")
    print(f"{len(files)} files, {seen} replies, {over} of {MOST} tokens or more, {time.perf_counter() - started:.0f} s")
    print("worst:", {name: size for name, size in worst.items() if size})
    return over


def main() -> int:
    """Prints, writes or checks."""
    parser = argparse.ArgumentParser(prog="python -m evals.mcp")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--starts", type=int, default=5, help="cold starts to measure")
    parser.add_argument("--logs", type=Path)
    arguments = parser.parse_args()
    if arguments.logs:
        return int(own_logs(arguments.logs) > 0)
    rows = counts()
    parts = {"tokens": token_table(rows), "links": link_table(), "clients": client_table()}
    old = PAGE.read_text(encoding="utf-8")
    if arguments.check:
        return int(filled(old, parts) != old)
    if not arguments.write:
        print(parts["tokens"])
    parts["start"] = start_line(max(arguments.starts, 1))
    print(parts["start"])
    if arguments.write:
        PAGE.write_text(filled(old, parts), encoding="utf-8")
    return int(any(sizes[0] >= MOST for _, _, sizes in rows))


if __name__ == "__main__":
    sys.exit(main())
