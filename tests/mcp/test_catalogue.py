"""The list of tools: schemas that are schemas, annotations, names as promised."""

from __future__ import annotations

import re

import jsonschema
import pytest

from assistant.mcp.catalogue import ANNOTATIONS, by_name, instructions, tools
from assistant.mcp.tools import TOOLS
from assistant.service.brevity import tokens

PROMISED = [
    "explain", "parse_metrics", "compute_trend", "compare_steps", "check_thresholds", "diagnose", "explain_metric",
    "search_docs",
]  # fmt: skip


def test_tools_are_the_promised_ones_and_each_has_its_function() -> None:
    assert [tool["name"] for tool in tools()] == PROMISED == list(TOOLS)


@pytest.mark.parametrize("name", PROMISED)
def test_tool_schemas_are_valid_closed_and_described(name: str) -> None:
    tool = by_name()[name]
    for side in ("inputSchema", "outputSchema"):
        jsonschema.Draft202012Validator.check_schema(tool[side])
        assert tool[side]["type"] == "object"
    given = tool["inputSchema"]
    assert given["additionalProperties"] is False
    assert set(given["required"]) <= set(given["properties"])
    assert all(one["description"] for one in given["properties"].values())
    # Providers of models refuse these at the top of an input schema.
    assert not {"anyOf", "oneOf", "allOf", "$ref"} & set(given)


@pytest.mark.parametrize("name", PROMISED)
def test_tool_annotations_say_that_it_only_reads(name: str) -> None:
    found = dict(by_name()[name]["annotations"])
    assert found.pop("title") == by_name()[name]["title"] != name
    assert found == ANNOTATIONS == {
        "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False,
    }  # fmt: skip


def test_tools_every_reference_of_an_output_schema_resolves() -> None:
    for tool in tools():
        for name in re.findall(r'"#/\$defs/(\w+)"', str(tool["outputSchema"]).replace("'", '"')):
            assert name in tool["outputSchema"]["$defs"], tool["name"]


def test_tools_what_a_model_reads_of_them_is_short() -> None:
    read = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools()]
    assert tokens(read) < 4500
    assert tokens(instructions()) < 250
