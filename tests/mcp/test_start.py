"""How soon the list of tools is there, and what is not loaded for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from evals.mcp.starting import first_list
from tests.mcp.support import ROOT

#: What a first list of tools has no use for.
NOT_NEEDED = ("mcp.client", "mcp.server.mcpserver", "httpx2", "numpy", "pandas", "fastapi", "jsonschema", "yaml")


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_first_list_of_tools_takes_at_most_a_second_of_processor_time() -> None:
    starts = [first_list() for _ in range(4)]
    assert all(start.tools == 8 for start in starts)
    best = min(start.processor for start in starts)
    # On a machine on which the package alone takes longer than that: no more than the package alone.
    plain = "import time, mcp; print(time.process_time())"
    assert best <= 1.0 or best <= float(python(plain))


def test_server_is_built_without_what_it_does_not_need() -> None:
    code = f"""
import sys
from assistant.mcp.stdio import lean_import
lean_import()
from mcp.server.stdio import stdio_server
from assistant.mcp.catalogue import tools
from assistant.mcp.server import Desk, build
build(Desk("stdio")), tools()
print([name for name in {NOT_NEEDED} if name in sys.modules])
"""
    assert python(code).strip() == "[]"


def test_lean_import_leaves_a_package_that_is_loaded_as_it_is() -> None:
    code = "import mcp; from assistant.mcp.stdio import lean_import; lean_import(); print(mcp.Client.__name__)"
    assert python(code).strip() == "Client"


def test_lean_import_of_a_package_laid_out_otherwise_falls_back() -> None:
    code = """
import sys
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == "mcp.server.lowlevel" and "mcp.server.caching" not in sys.modules and not hasattr(sys, "once"):
            sys.once = True
            raise ImportError(name)
sys.meta_path.insert(0, Broken())
from assistant.mcp.stdio import lean_import
lean_import()
import mcp
print(hasattr(mcp, "Client"), "defer_build" in __import__("pydantic").BaseModel.model_config)
"""
    assert python(code).strip() == "True False"


@pytest.mark.parametrize("statement", ["import assistant.mcp", "import assistant.cli.mcp"])
def test_import_of_the_layer_does_not_load_the_package(statement: str) -> None:
    assert (
        python(f"import sys; {statement}; print('mcp' in sys.modules or 'pydantic' in sys.modules)").strip() == "False"
    )
