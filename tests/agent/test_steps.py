"""Tools that a model uses are told as they are used."""

from __future__ import annotations

import json

from assistant.devmodel import DevModel
from tests.agent.support import inquiry, script, streamed


def test_stream_tool_used_is_told_with_its_result() -> None:
    call = {"tool_calls": [{"name": "get_values", "arguments": {"metric": "actor/lr"}}]}
    with DevModel(script(call, {"text": "The learning rate is 1e-06."})) as server:
        got = streamed(inquiry(server))
    steps = [event.data for event in got.events if event.kind == "step"]
    assert [(step["name"], step["arguments"]) for step in steps] == [("get_values", {"metric": "actor/lr"})]
    assert json.loads(steps[0]["result"])["facts"]
    kinds = [event.kind for event in got.events]
    assert kinds[-1] == "answer"
    assert kinds.index("step") < kinds.index("answer")
