"""From a step of a script to the objects of the protocol: what is said, and in which pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.devmodel.script import Step, message_text, messages_of

#: What ``echo`` repeats: the last such passage of the request.
ANSWER = re.compile(r"<answer>\s*(.*?)\s*</answer>", re.DOTALL)
KEY = re.compile(r"\b[a-z_]+(?:/[\w@.-]+)+")
CREATED = 1_700_000_000
#: Calls that ``agent`` makes before it answers.
CALLS = 3


@dataclass(frozen=True)
class Said:
    """A reply, shaped for nothing yet."""

    text: str | None
    reasoning: str | None
    refusal: str | None
    calls: tuple[Mapping[str, Any], ...]
    finish: str
    usage: Mapping[str, int] | None


def said(step: Step, request: Mapping[str, Any]) -> Said:
    """What a step replies to a request body."""
    messages = messages_of(request)
    results = [message_text(m) for m in messages if m.get("role") == "tool"]
    calls: list[Mapping[str, Any]] = list(step.tool_calls)
    text = _fill(step.text, request, messages, results) if step.text is not None else None
    if step.behave == "agent" and len(results) < CALLS and (call := _next_call(request, messages)):
        calls.append(call)
    elif step.behave is not None:
        told = "\n".join(_sentences(results)) if step.behave == "agent" else ""
        text = (text or "") + (told or _echo(messages))
    if text is None and not calls and step.refusal is None:
        text = ""
    spoken = "".join([text or "", step.reasoning or "", *(json.dumps(call) for call in calls)])
    prompt = sum(len(message_text(m).encode()) for m in messages) // 4
    usage = {"prompt_tokens": prompt, "completion_tokens": len(spoken.encode()) // 4}
    usage["total_tokens"] = sum(usage.values())
    finish = step.finish or ("tool_calls" if calls else "stop")
    return Said(text, step.reasoning, step.refusal, tuple(calls), finish, usage if step.usage else None)


def whole(reply: Said, model: str) -> dict[str, Any]:
    """A ``chat.completion`` object."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [_call(call, place) for place, call in enumerate(reply.calls)]
    result = {
        "id": "chatcmpl-dev", "object": "chat.completion", "created": CREATED, "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}],
    }  # fmt: skip
    return {**result, "usage": reply.usage} if reply.usage else result


def pieces(reply: Said, model: str, size: int, *, with_usage: bool) -> Iterator[dict[str, Any]]:
    """The ``chat.completion.chunk`` objects of a stream: role, reasoning, text, calls in halves, finish, usage."""

    def piece(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": "chatcmpl-dev", "object": "chat.completion.chunk", "created": CREATED, "model": model,
            "choices": [{"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish}],
        }  # fmt: skip

    yield piece({"role": "assistant", "content": ""})
    for name, text in (("reasoning_content", reply.reasoning), ("refusal", reply.refusal), ("content", reply.text)):
        for start in range(0, len(text or ""), size):
            yield piece({name: (text or "")[start : start + size]})
    for place, call in enumerate(reply.calls):
        full = _call(call, place)
        arguments = full["function"]["arguments"]
        first = {**full, "index": place, "function": {"name": full["function"]["name"], "arguments": ""}}
        yield piece({"tool_calls": [first]})
        half = len(arguments) // 2
        for part in (arguments[:half], arguments[half:]):
            yield piece({"tool_calls": [{"index": place, "function": {"arguments": part}}]})
    yield piece({}, reply.finish)
    if with_usage and reply.usage:
        yield {**piece({}), "choices": [], "usage": reply.usage}


def responses_object(reply: Said, model: str) -> dict[str, Any]:
    """A ``response`` object of the Responses API."""
    usage = reply.usage or {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    content = {"type": "output_text", "text": reply.text or "", "annotations": []}
    message = {
        "id": "msg_dev", "type": "message", "role": "assistant", "status": "completed", "content": [content],
    }  # fmt: skip
    return {
        "id": "resp_dev", "object": "response", "created_at": CREATED, "status": "completed", "model": model,
        "output": [message], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"],
            "total_tokens": usage["total_tokens"],
        },
    }  # fmt: skip


def responses_events(reply: Said, model: str, size: int) -> Iterator[dict[str, Any]]:
    """The events of a Responses stream."""
    done = responses_object(reply, model)
    yield {"type": "response.created", "response": {**done, "status": "in_progress", "output": []}}
    text = reply.text or ""
    for start in range(0, len(text), size):
        place = {"item_id": "msg_dev", "output_index": 0, "content_index": 0}
        yield {"type": "response.output_text.delta", **place, "delta": text[start : start + size]}
    yield {"type": "response.completed", "response": done}


def embeddings(request: Mapping[str, Any]) -> dict[str, Any]:
    """Vectors of 64 numbers: counts of character pairs, the same for the same text."""
    given = request.get("input", "")
    texts = [given] if isinstance(given, str) else list(given)
    data = []
    for place, text in enumerate(texts):
        vector = [0.0] * 64
        for one, other in zip(str(text), str(text)[1:], strict=False):
            vector[(ord(one) * 31 + ord(other)) % 64] += 1.0
        norm = sum(value * value for value in vector) ** 0.5 or 1.0
        data.append({"object": "embedding", "index": place, "embedding": [value / norm for value in vector]})
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": request.get("model", "dev"), "usage": usage}


def _call(call: Mapping[str, Any], place: int) -> dict[str, Any]:
    arguments = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    identity = str(call.get("id") or f"call_{place}")
    return {"id": identity, "type": "function", "function": {"name": call["name"], "arguments": text}}


def _fill(
    template: str, request: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], results: Sequence[str]
) -> str:
    if "{" not in template:
        return template
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    users = [message_text(m) for m in messages if m.get("role") == "user"]
    system = next((message_text(m) for m in messages if m.get("role") in {"system", "developer"}), "")
    offered = [tool.get("function", {}).get("name", "") for tool in request.get("tools") or ()]
    return ImmutableSandboxedEnvironment(keep_trailing_newline=True).from_string(template).render(
        last_user=users[-1] if users else "", first_user=users[0] if users else "", system=system,
        messages=[message_text(m) for m in messages], tool_results=results, tools=offered,
    )  # fmt: skip


def _echo(messages: Sequence[Mapping[str, Any]]) -> str:
    for message in reversed(messages):
        if found := ANSWER.findall(message_text(message)):
            return str(found[-1])
    return message_text(messages[-1]) if messages else ""


def _next_call(request: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """A call of the first tool that was not called yet, its arguments made up from its schema."""
    done = {call["function"]["name"] for m in messages for call in m.get("tool_calls") or ()}
    for tool in request.get("tools") or ():
        function = tool.get("function", {})
        if function.get("name") in done:
            continue
        schema = function.get("parameters", {})
        wanted = schema.get("required", ())
        properties = schema.get("properties", {})
        arguments = {name: _argument(properties.get(name, {}), messages) for name in wanted}
        return {"name": function["name"], "id": f"call_{len(done)}", "arguments": arguments}
    return None


def _argument(schema: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "array":
        return [_argument(schema.get("items", {}), messages)]
    if kind in {"integer", "number"}:
        return 1
    if kind == "boolean":
        return False
    keys = [key for message in messages for key in KEY.findall(message_text(message))]
    return keys[0] if keys else "loss"


def _sentences(results: Sequence[str]) -> list[str]:
    """A sentence for each value among tool results."""
    lines = []
    for result in results:
        try:
            data = json.loads(result)
        except ValueError:
            continue
        facts = data.get("facts", ()) if isinstance(data, dict) else data
        for fact in facts if isinstance(facts, list) else ():
            if isinstance(fact, dict) and {"metric", "step", "value"} <= fact.keys():
                lines.append(f"`{fact['metric']}` at step {fact['step']} is {fact['value']}.")
    return lines[:8]
