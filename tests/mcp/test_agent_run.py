"""An agent from end to end: a scripted model is given a log's path and a question, calls the tools over MCP, and
answers with numbers that all trace."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from assistant.devmodel import DevModel, load_script
from assistant.service import Source, service
from assistant.service.verifying import verify
from tests.mcp.support import EXAMPLE, EXAMPLES, LOG, MODES, run, stdio

QUESTION = f"examples/{EXAMPLE}: how did entropy move, and how large was it at each step?"
TURNS_MOST = 6
#: The model looks at the course, then at the values, then tells both: its text is made from what the tools returned.
SCRIPT = """
rules:
- when: {tools: true, called: 0}
  then:
    tool_calls:
    - {id: a, name: compute_trend, arguments: {path: %(path)s, metric: entropie}}
- when: {tools: true, called: 1}
  then:
    tool_calls:
    - {id: b, name: compute_trend, arguments: {path: %(path)s, metric: actor/entropy}}
    - {id: c, name: explain, arguments: {path: %(path)s, question: "actor/entropy at step 1, 2 and 3"}}
- when: {tools: true, called: 3}
  then:
    text: |
      {{ tool_results[1].split('"summary":"')[1].split('"')[0] }}
      {%% for part in tool_results[2].split('"kind":"value"')[1:] -%%}
      `{{ part.split('"metric":"')[1].split('"')[0] }}` at step {{ part.split('"step":')[1].split(',')[0] }} is
      {{- ' ' ~ part.split('"value":')[1].split(',')[0] }}.
      {%% endfor %%}
"""


async def agent(url: str, client: Any) -> tuple[str, list[tuple[str, dict[str, Any], Any]]]:
    """A loop as editors run it: the model is shown the tools, its calls are made, their results go back to it."""
    from openai import AsyncOpenAI

    offered = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in (await client.list_tools()).tools
    ]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": client.instructions or ""},
        {"role": "user", "content": QUESTION},
    ]
    calls = []
    async with AsyncOpenAI(base_url=url, api_key="none") as model:
        for _ in range(TURNS_MOST):
            reply = await model.chat.completions.create(model="dev", messages=messages, tools=offered)  # type: ignore[call-overload]
            said = reply.choices[0].message
            if not said.tool_calls:
                return said.content, calls
            messages.append(said.model_dump(exclude_none=True))
            for wanted in said.tool_calls:
                arguments = json.loads(wanted.function.arguments)
                result = await client.call_tool(wanted.function.name, arguments)
                calls.append((wanted.function.name, arguments, result))
                messages.append({"role": "tool", "tool_call_id": wanted.id, "content": result.content[0].text})
    raise AssertionError("the model never answered")


@pytest.mark.parametrize("mode", MODES)
def test_agent_answers_over_mcp_with_numbers_that_all_trace(mode: str) -> None:
    script = load_script(SCRIPT % {"path": EXAMPLE})
    told: list[Any] = []

    async def check() -> None:
        from mcp import Client

        async with Client(stdio("--root", str(EXAMPLES)), mode=mode) as client:
            told.append(await agent(model.base_url, client))
            await anyio.lowlevel.checkpoint()

    with DevModel(script) as model:
        run(check)
    text, calls = told[0]
    assert [name for name, _, _ in calls] == ["compute_trend", "compute_trend", "explain"]
    assert calls[0][2].is_error  # a slip of the pen, which the reply told how to mend
    assert "actor/entropy" in calls[0][2].content[0].text
    assert not any(result.is_error for _, _, result in calls[1:])

    material = service().read([Source(EXAMPLE, LOG.encode())])
    audit = verify(material, text, "en")
    assert audit.summary["contradicted"] == audit.summary["unsupported"] == 0
    assert audit.summary["supported"] >= 4
    values = {fact["value"] for fact in calls[2][2].structured_content["facts"] if fact["kind"] == "value"}
    assert {material.runs[0].value("actor/entropy", step) for step in (1, 2, 3)} <= values
    assert all(str(value) in text for value in values)
