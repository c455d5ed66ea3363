"""Who may import whom: the layers of the package, read from its syntax trees (lazy imports included).

The tables below are the rule; a new folder of `assistant/` fails until it has its row.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Leaves know nobody; everybody may import them.
LEAVES = {"kept_patterns", "resources", "settings"}

BELOW_ASK = {"model", "parsing", "analysis", "knowledge", "write", "ground"}
MAY_IMPORT: dict[str, set[str]] = {
    "": {"model", "service"},  # assistant/__init__.py, for what it exports
    "kept_patterns": set(),
    "resources": set(),
    "settings": set(),
    "__main__": {"cli"},
    "serving": {"api", "web", "mcp"},
    "model": set(),
    "parsing": {"model"},
    "analysis": {"model"},
    "knowledge": {"model"},
    "write": {"model", "knowledge"},
    "ground": {"model", "knowledge", "analysis"},
    "ask": BELOW_ASK,
    "agent": {*BELOW_ASK, "ask"},
    "service": {*BELOW_ASK, "ask", "agent"},
    "api": {"model", "service"},
    "web": {"model", "service"},
    "mcp": {"model", "service"},
    "cli": {"model", "service"},
    "devmodel": set(),
}

# A command starts a surface, so it pays for it only when it runs: inside a function.
MAY_IMPORT_LAZILY: dict[str, set[str]] = {"cli": {"api", "web", "mcp", "devmodel", "serving"}}

# Third-party packages (shell patterns) and the only files that may import them.
ONLY_IN: dict[str, list[str]] = {
    "langchain*": ["agent/*", "knowledge/index_remote.py"],
    "langgraph*": ["agent/*"],
    "openai": ["agent/*"],
    "chromadb": ["knowledge/index*"],
    "fastapi": ["api/*", "web/*", "mcp/*", "serving.py"],
    "starlette": ["api/*", "web/*", "mcp/*"],
    "prometheus_client": ["api/*"],
    "sqlalchemy": ["service/sessions/*"],
    "alembic": ["service/sessions/*"],
    "psycopg": ["service/sessions/*"],
    "mcp": ["mcp/*"],
    "rich": ["cli/*"],
    "pandas": ["model/*", "service/*", "cli/*"],
}

# Too slow to load for commands that have no use for them.
NEVER_AT_TOP = ["pandas", "pyarrow", "langchain*", "langgraph*", "openai", "chromadb", "mcp"]
NOT_LOADED_BY_CLI = {"pandas", "numpy", "fastapi", "uvicorn", "jsonschema", "rich", "sqlalchemy"}


@dataclass(frozen=True)
class Import:
    """One imported module (`name` with the names taken `from` it), and where."""

    file: str
    line: int
    name: str
    lazy: bool

    def __str__(self) -> str:
        return f"assistant/{self.file}:{self.line} imports {self.name}"


def unit_of(file: str) -> str:
    """The layer a file belongs to: its folder, or its own name at the top."""
    first, _, rest = file.partition("/")
    return first if rest else first.removesuffix(".py").replace("__init__", "")


def package_of(file: str, level: int) -> str:
    """What a relative import of that level starts from."""
    parts = ["assistant", *file.split("/")[:-1]]
    return ".".join(parts[: len(parts) - level + 1])


def is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def imports_in(file: str, node: ast.AST, *, lazy: bool = False) -> Iterator[Import]:
    """All imports below a node; lazy are those in functions and those only type checkers see."""
    match node:
        case ast.Import():
            yield from (Import(file, node.lineno, alias.name, lazy) for alias in node.names)
        case ast.ImportFrom():
            base = package_of(file, node.level) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            if module == "assistant":  # from assistant import parsing
                yield from (Import(file, node.lineno, f"assistant.{alias.name}", lazy) for alias in node.names)
            else:
                yield Import(file, node.lineno, module, lazy)
        case ast.Call(args=[ast.Constant(value=str(name)), *_]) if ast.unparse(node.func).endswith(
            ("import_module", "__import__")
        ):
            yield Import(file, node.lineno, name, lazy)
    if isinstance(node, ast.If) and is_type_checking(node.test):
        for child in node.body:
            yield from imports_in(file, child, lazy=True)
        for child in node.orelse:
            yield from imports_in(file, child, lazy=lazy)
        return
    lazy = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from imports_in(file, child, lazy=lazy)


def broken_arrows(found: list[Import]) -> list[str]:
    """Imports of a layer that the importing one may not know."""
    broken = []
    for item in found:
        top, _, rest = item.name.partition(".")
        here, there = unit_of(item.file), rest.partition(".")[0]
        if top != "assistant" or there not in MAY_IMPORT or there in {here, ""}:
            continue
        allowed = MAY_IMPORT[here] | (set() if here in LEAVES else LEAVES)
        if item.lazy:
            allowed = allowed | MAY_IMPORT_LAZILY.get(here, set())
        if there not in allowed:
            broken.append(str(item))
    return broken


def misplaced_packages(found: list[Import]) -> list[str]:
    """Imports of a third-party package in a file that may not have it, or at the top of a module."""
    misplaced = []
    for item in found:
        package = item.name.partition(".")[0]
        for pattern, files in ONLY_IN.items():
            if fnmatch(package, pattern) and not any(fnmatch(item.file, file) for file in files):
                misplaced.append(f"{item}, which only {', '.join(files)} may")
        if not item.lazy and any(fnmatch(package, pattern) for pattern in NEVER_AT_TOP):
            misplaced.append(f"{item} at its top; inside the function that needs it, please")
    return misplaced


def package_imports() -> list[Import]:
    package = ROOT / "assistant"
    found: list[Import] = []
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        found += imports_in(path.relative_to(package).as_posix(), tree)
    return found


def imports_of(file: str, source: str) -> list[Import]:
    return list(imports_in(file, ast.parse(source)))


def test_package_every_folder_has_a_layer() -> None:
    files = {path.relative_to(ROOT / "assistant").as_posix() for path in (ROOT / "assistant").rglob("*.py")}
    assert files
    assert {unit_of(file) for file in files} - MAY_IMPORT.keys() == set()


def test_package_imports_point_left() -> None:
    assert broken_arrows(package_imports()) == []


def test_package_third_party_imports_stay_in_their_place() -> None:
    assert misplaced_packages(package_imports()) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("parsing/verl.py", "from assistant.analysis import trend"),
        ("parsing/verl.py", "from ..knowledge.cards import Card"),
        ("parsing/verl.py", "from .. import knowledge"),
        ("analysis/trend.py", "def f():\n    from assistant import parsing"),
        ("knowledge/cards.py", "import importlib\nimportlib.import_module('assistant.ask')"),
        ("model/run.py", "if TYPE_CHECKING:\n    from assistant.parsing import registry"),
        ("cli/main.py", "from assistant.api.app import create_app"),
        ("cli/main.py", "def f():\n    import assistant.ask.plan"),
        ("api/app.py", "def f():\n    from assistant.cli import main"),
        ("settings.py", "from assistant.model.errors import InputError"),
        ("ask/answer.py", "from assistant.service import explain"),
    ],
)
def test_broken_arrows_import_to_the_right_is_found(file: str, source: str) -> None:
    assert len(broken_arrows(imports_of(file, source))) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("parsing/verl.py", "from assistant.model.run import Run\nfrom . import repair\nimport assistant"),
        ("cli/main.py", "def f():\n    from assistant.api.app import create_app"),
        (
            "service/facade.py",
            "from assistant.parsing import parse\nfrom assistant.resources import data_folder",
        ),
        ("knowledge/cards.py", "from assistant import resources, __version__"),
    ],
)
def test_broken_arrows_import_to_the_left_passes(file: str, source: str) -> None:
    assert broken_arrows(imports_of(file, source)) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("service/facade.py", "def f():\n    from langchain_openai import ChatOpenAI"),
        ("knowledge/cards.py", "def f():\n    import chromadb"),
        ("cli/main.py", "def f():\n    from fastapi import FastAPI"),
        ("model/run.py", "import pandas as pd"),
        ("model/run.py", "class Run:\n    import pandas"),
        ("write/report.py", "from rich.table import Table"),
    ],
)
def test_misplaced_packages_outside_their_place_are_found(file: str, source: str) -> None:
    assert len(misplaced_packages(imports_of(file, source))) == 1


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("model/run.py", "def f():\n    import pandas as pd"),
        ("model/run.py", "if TYPE_CHECKING:\n    import pandas as pd"),
        ("knowledge/index_chroma.py", "def f():\n    import chromadb"),
        ("api/app.py", "from fastapi import FastAPI"),
        ("cli/serve.py", "def f():\n    from assistant.mcp import server"),
    ],
)
def test_misplaced_packages_in_their_place_pass(file: str, source: str) -> None:
    assert misplaced_packages(imports_of(file, source)) == []


def test_cli_import_loads_nothing_slow() -> None:
    code = f"import sys, assistant.cli.main; print(sorted({NOT_LOADED_BY_CLI} & sys.modules.keys()))"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert result.stdout.strip() == "[]"
