"""The agent's loop: LangChain's ``create_agent`` over one or several models, with what to do when one fails."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from assistant.agent import faults, model, tracing
from assistant.agent.faults import Fault, fault_of, is_refusal
from assistant.agent.model import Connections
from assistant.agent.prompting import Prompt
from assistant.settings import Endpoint

#: Rounds of tools, and calls in all, after which the model must answer.
MOST_ROUNDS = 4
MOST_CALLS = 12
#: Seconds kept of the deadline for what comes after a call.
RESERVE = 0.2
BACKOFF = 0.25
LONGEST_COUNTED = 100_000
#: Longest that a rate limit is waited for while another model could be asked instead.
PATIENCE = 2.0
_AS_TEXT = re.compile(
    r"^\s*(?:<tool_call>|<function|<\|tool|```(?:json)?\s*\{\s*\"(?:name|tool)|\{\s*\"(?:name|tool)\")"
)


@dataclass
class Spent:
    """Tokens and calls of one answer."""

    prompt: int = 0
    completion: int = 0
    calls: int = 0


@dataclass
class Caller:
    """Calls models for one answer.

    Args:
        endpoints: the models, in the order in which they are tried.
        connections: to the models.
        compose: whether tools are offered, and the part of the facts to hand over → the prompt.
        schemas: the tools.
        tool: name and arguments → result.
        begin: a new reply begins, in the place of one that failed or not; ``False``: what came before was shown
            already, so that no other attempt is possible.
        tap: takes a streamed reply's text; ``False`` ends it.
        said: the text of the reply so far, without thought.
        stream: whether replies are asked for as streams.
        until: when the deadline is, in the event loop's time.
        count: counts tokens, where a server does not say how many there were.
    """

    endpoints: Sequence[Endpoint]
    connections: Connections
    compose: Callable[[bool, float], Prompt]
    schemas: Sequence[dict[str, Any]]
    tool: Callable[[str, dict[str, Any]], str]
    begin: Callable[[bool], bool]
    tap: Callable[[str], bool]
    said: Callable[[], str]
    stream: bool
    until: float
    count: Callable[[str], int]
    place: int = 0
    tools_on: bool = True
    plain: bool = False
    share: float = 1.0
    rounds: int = 0
    spent: Spent = field(default_factory=Spent)
    failures: list[tuple[str, Fault]] = field(default_factory=list)
    made: list[tuple[str, str]] = field(default_factory=list)
    cut: str = ""
    last_prompt: int = 0

    @property
    def endpoint(self) -> Endpoint:
        """The model that is asked now."""
        return self.endpoints[self.place]

    async def run(self) -> None:
        """One answer, given piece by piece to the tap.

        Raises:
            Fault: no model gave one.
        """
        from langchain_core.messages import HumanMessage

        token = model.TAP.set(self.tap if self.stream else None)
        try:
            await _agent().ainvoke(
                {"messages": [HumanMessage("")]}, config={"recursion_limit": 8 * (MOST_ROUNDS + 2)}, context=self
            )
        except Exception as error:
            raise fault_of(error) from error
        finally:
            model.TAP.reset(token)

    async def ask(self, messages: Sequence[tuple[str, str]]) -> str:
        """A reply outside the loop, whole and without tools.

        Raises:
            Fault: there is none.
        """
        token = model.TAP.set(None)
        try:
            async with asyncio.timeout(self._left()):
                reply = await self.connections.model(self.endpoint, stream=False).ainvoke(list(messages))
        except Exception as error:
            raise fault_of(error) from error
        finally:
            model.TAP.reset(token)
        self._count(reply)
        return str(reply.text)

    # -- one call of the model ------------------------------------------------------------------
    async def call_model(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """A call with everything that may be tried: again, smaller, without tools, another model."""
        attempts, again = 0, False
        while True:
            if not self.begin(again):
                raise self.failures[-1][1] if self.failures else Fault("cut")
            again = True
            self.cut = ""
            try:
                async with asyncio.timeout(self._share_of_time()):
                    with tracing.span("model", model=self.endpoint.model, prompt_tokens=self.last_prompt):
                        return self._checked(await handler(self._shaped(request)))
            except Exception as error:
                fault = fault_of(error)
            self.failures.append((self.endpoint.model, fault))
            if not await self._remedy(fault, attempts):
                if self.place + 1 >= len(self.endpoints):
                    raise fault
                self.place += 1
                attempts, self.tools_on, self.plain, self.share = 0, True, False, 1.0
                continue
            attempts += 1

    def call_tool(self, name: str, arguments: Any) -> str:
        """A tool's result; a call that was made before, or one too many, is told so."""
        told = json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)
        if (name, told) in self.made:
            return '{"note":"called before with the same arguments: its result stands above"}'
        if len(self.made) >= MOST_CALLS:
            return '{"note":"no more calls: answer now"}'
        self.made.append((name, told))
        with tracing.span("tool", tool=name[:40]):
            return self.tool(name, arguments if isinstance(arguments, dict) else {})

    async def _remedy(self, fault: Fault, attempts: int) -> bool:
        """Prepares another attempt with the same model; ``False`` where there is nothing to try."""
        reason = fault.reason
        if reason == "too_long" and self.share == 1.0:
            self.share = 0.5
            return True
        if reason in {"no_tools", "bad_request", "empty", "tools"} and (self.tools_on or not self.plain):
            self.tools_on, self.plain = False, True
            return True
        if reason not in faults.AGAIN or attempts >= faults.ATTEMPTS or (reason == "empty" and attempts):
            return False
        wait = BACKOFF * 2**attempts * (1 + random.random() / 4)
        if fault.retry_after is not None:
            wait = max(wait, fault.retry_after)
        others = self.place + 1 < len(self.endpoints)
        if wait > (min(PATIENCE, self._left()) if others else self._left()):
            return False
        await asyncio.sleep(wait)
        return True

    def _shaped(self, request: Any) -> Any:
        """The request for the model that is asked now, with as many facts and tools as it takes."""
        from langchain_core.messages import HumanMessage, SystemMessage

        exhausted = self.rounds >= MOST_ROUNDS or len(self.made) >= MOST_CALLS
        offered = self.tools_on and not exhausted
        prompt = self.compose(offered or exhausted, self.share)
        self.last_prompt = prompt.tokens
        messages = [HumanMessage(prompt.first)]
        if self.tools_on and self.share == 1.0:
            messages += request.messages[1:]
        if exhausted:
            messages.append(HumanMessage("No more tools. Answer the question now. 不再调用工具，请直接回答。"))
        chosen = self.connections.model(self.endpoint, stream=self.stream, plain=self.plain)
        return request.override(
            model=chosen, system_message=SystemMessage(prompt.system), messages=messages,
            tools=list(self.schemas) if offered else [], tool_choice=None,
        )  # fmt: skip

    def _checked(self, response: Any) -> Any:
        """The response if it is an answer or calls tools.

        Raises:
            Fault: it is neither.
        """
        message = response.result[0]
        self._count(message)
        if not self.stream:
            self.tap(str(message.text))
        finish = (message.response_metadata or {}).get("finish_reason")
        _mend_calls(message)
        if message.tool_calls:
            self.rounds += 1
            if not self.tools_on or self.rounds > MOST_ROUNDS:
                raise Fault("tools")
            return response
        said = self.said().strip()
        if message.additional_kwargs.get("refusal") or is_refusal(said):
            raise Fault("refused")
        if finish == "content_filter":
            raise Fault("filtered")
        if not said:
            raise Fault("empty", str(finish or ""))
        if _AS_TEXT.match(said):
            raise Fault("no_tools", "calls tools in its text")
        if finish == "length":
            self.cut = "length"
        return response

    def _count(self, message: Any) -> None:
        usage = message.usage_metadata or {}
        self.spent.calls += 1
        self.spent.prompt += int(usage.get("input_tokens") or self.last_prompt)
        self.spent.completion += int(usage.get("output_tokens") or self.count(str(message.text)[:LONGEST_COUNTED]))

    def _left(self) -> float:
        return max(0.0, self.until - asyncio.get_running_loop().time() - RESERVE)

    def _share_of_time(self) -> float:
        """Seconds for this model: the last one gets all that is left."""
        return self._left() / (len(self.endpoints) - self.place)


def _mend_calls(message: Any) -> None:
    """Calls whose arguments are no JSON are answered too, and no two have one id."""
    calls = list(message.tool_calls)
    for place, call in enumerate(message.invalid_tool_calls or ()):
        told = {"arguments": str(call.get("args"))[:200]}
        calls.append(
            {"name": call.get("name") or "unknown", "args": told, "id": call.get("id") or f"invalid_{place}",
             "type": "tool_call"}
        )  # fmt: skip
    seen: set[str] = set()
    for place, call in enumerate(calls):
        if not call.get("id") or call["id"] in seen:
            call["id"] = f"{call.get('id') or 'call'}_{place}"
        seen.add(call["id"])
    message.invalid_tool_calls = []
    message.tool_calls = calls
    message.additional_kwargs.pop("tool_calls", None)


@lru_cache(maxsize=1)
def _agent() -> Any:
    """The graph, built once a process: whatever is one answer's alone comes with the context of a call."""
    from langchain.agents import create_agent
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.messages import ToolMessage

    class Through(AgentMiddleware):
        """Leads every call of the model or a tool through the :class:`Caller` of the answer."""

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await request.runtime.context.call_model(request, handler)

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            del handler
            call = request.tool_call
            content = request.runtime.context.call_tool(str(call["name"]), call["args"])
            return ToolMessage(content, tool_call_id=call["id"], name=str(call["name"])[:64])

    never_asked = FakeListChatModel(responses=[])  # each request is given its own model and tools
    return create_agent(never_asked, middleware=[Through()], context_schema=Caller)
