"""One answer with a model: the offline answer's facts go out, checked prose comes back, and it always ends.

Whatever happens to the model, the caller gets an answer within the deadline: the model's where enough of it passes the
check, else the offline engine's with one line that says why.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from assistant.agent import budget, cache, cleaning, facts, prices, prompting, tracing
from assistant.agent.calling import Caller
from assistant.agent.checking import LONGEST_REPLY, Failed, Gate
from assistant.agent.facts import Account
from assistant.agent.faults import Fault, fault_of
from assistant.agent.inquiry import Event, Inquiry
from assistant.agent.judging import Auditor, Judge
from assistant.agent.masks import Masks
from assistant.agent.model import Connections, connections
from assistant.agent.subject import subject_of
from assistant.agent.tools import Toolbox
from assistant.model import Answer, Fact, Grounding, Usage
from assistant.write.phrases import phrases

MOST_REPAIRS = 12
MOST_SOURCES = 8
#: Tokens of tools' facts that the repair round is told again.
REPAIR_FACTS = 600
_LINE = re.compile(r"^\W{0,3}(\d{1,2})\s*[:：.、)]\s*(.+?)\s*$", re.M)


async def stream(inquiry: Inquiry) -> AsyncGenerator[Event]:
    """The events of an answer; ending the iteration early ends the call of the model."""
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    work = asyncio.create_task(_respond(inquiry, queue.put_nowait, live=True))
    work.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        yield Event("answer", await work)
    finally:
        if not work.done():
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)


def respond(inquiry: Inquiry) -> Answer:
    """The answer, whole; for callers that are not asynchronous, inside an event loop or not."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(respond_async(inquiry))
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(respond_async(inquiry))).result()


async def respond_async(inquiry: Inquiry) -> Answer:
    """The answer, whole."""
    return await _respond(inquiry, lambda _: None, live=False)


async def _respond(inquiry: Inquiry, send: Callable[[Event], None], *, live: bool) -> Answer:
    tracing.silence()
    work = _Work(inquiry, send, live=live)
    for fact in inquiry.answer.facts:
        send(Event("fact", fact.to_json()))
    try:
        async with asyncio.timeout(inquiry.settings.llm_timeout):
            with tracing.span("answer", language=inquiry.answer.language, intent=inquiry.answer.intent):
                return await work.run()
    except Exception as error:
        return work.offline(fault_of(error))


class _Work:
    """The making of one answer."""

    def __init__(self, inquiry: Inquiry, send: Callable[[Event], None], *, live: bool) -> None:
        self.inquiry = inquiry
        self.language = inquiry.answer.language
        self.started = time.perf_counter()
        self.send = send
        self.live = live
        self.account = Account(inquiry.answer.facts)
        self.box = Toolbox(
            inquiry.runs, self.account, inquiry.resolver, finder=inquiry.finder, language=self.language,
            on_facts=self._tell,
        )  # fmt: skip
        self.count = budget.counter(inquiry.settings.models[0].model)
        self.schemas = self.box.schemas()
        wire = [{"type": "function", "function": schema} for schema in self.schemas]
        self.schema_tokens = self.count(json.dumps(wire))
        self.masks = self._masks()
        self.composed: dict[tuple[bool, float], prompting.Prompt] = {}
        self.auditor: Auditor | None = None
        self.judge: Judge | None = None
        self.gate: Gate | None = None
        self.begun = asyncio.Event()
        self.pending = ""
        self.caller: Caller | None = None
        self.repaired: dict[str, str] = {}

    def _tell(self, found: Sequence[Fact]) -> None:
        for fact in found:
            self.send(Event("fact", fact.to_json()))

    # -- the course of it ------------------------------------------------------------------------
    async def run(self) -> Answer:
        """The answer with a model.

        Raises:
            Fault: no model gave one that stands.
        """
        inquiry = self.inquiry
        first = self._compose(True, 1.0)
        name = self._cache_name(first)
        kept = cache.default_cache().get(name) if inquiry.settings.llm_cache else None
        making = asyncio.create_task(self._audit())
        try:
            if kept is not None:
                self.begun.set()
                self._judging(await making)
                answer = self._replayed(kept)
                if answer is not None:
                    return answer
            async with connections() as shared:
                answer = await self._asked(shared, making)
        finally:
            if not making.done():
                making.cancel()
        if inquiry.settings.llm_cache and self.caller is not None and self.gate is not None and not self.caller.cut:
            calls = tuple(self.caller.made)
            restore = self.masks.restore if self.masks else str
            repaired = {restore(text): restore(line) for text, line in self.repaired.items()}
            reply = cache.Kept(restore(self.gate.plain), repaired, self.caller.endpoint.model, calls)
            cache.default_cache().put(name, reply)
        return answer

    async def _audit(self) -> Auditor:
        """The audit, made when the first text comes: it is large, and a model may be silent for long."""
        await asyncio.to_thread(subject_of, self.inquiry.resolver.library)  # made once, beside the first call
        await self.begun.wait()
        return await asyncio.to_thread(self.inquiry.auditor)

    async def _asked(self, shared: Connections, making: asyncio.Task[Auditor]) -> Answer:
        loop = asyncio.get_running_loop()
        elapsed = time.perf_counter() - self.started
        caller = self.caller = Caller(
            endpoints=self.inquiry.settings.models, connections=shared, compose=self._compose, schemas=self.schemas,
            tool=self._tool, begin=self._begin, tap=self._tap, said=self._said, stream=self.live,
            until=loop.time() + self.inquiry.settings.llm_timeout - elapsed, count=self.count,
        )  # fmt: skip
        making.add_done_callback(self._made)
        await caller.run()
        self.begun.set()
        self._judging(await making)
        gate = self._gate()
        gate.close()
        if caller.cut:
            gate.drop_unfinished()
        if gate.failed:
            await self._repair(caller, gate)
        if not gate.enough:
            raise Fault("unsupported")
        if self._vague(gate):
            raise Fault("vague")
        return self._finished(gate, caller)

    def _vague(self, gate: Gate) -> bool:
        """Whether a text says nothing of the log where the offline answer does."""
        answer = self.inquiry.answer
        return not gate.claims and answer.grounding.numbers > 0 and answer.intent not in {"define", "advice"}

    async def _repair(self, caller: Caller, gate: Gate) -> None:
        failed = [Failed(item.piece.body, item.reason) for item in gate.failed][:MOST_REPAIRS]
        prompt = self._compose(False, caller.share)
        listed = [
            {"text": cleaning.quoted(one.text, 600), "reason": cleaning.quoted(one.reason, 300)} for one in failed
        ]
        told = prompting.render("repair.j2", language=self.language, failed=listed)
        offline = {fact.id for fact in self.inquiry.answer.facts}
        lines = [facts.line(fact) for fact in self.account.known if fact.id not in offline]
        lines = budget.fitting(lines, self.count, REPAIR_FACTS)
        found = "\n".join(["<facts>", *lines, "</facts>", ""]) if lines else ""
        said = cleaning.quoted(gate.plain, 8000)
        messages = [
            ("system", prompt.system), ("human", prompt.first), ("ai", said), ("human", self._hidden(found + told)),
        ]  # fmt: skip
        try:
            with tracing.span("repair", sentences=len(failed)):
                reply = await caller.ask(messages)
        except Fault as fault:
            caller.failures.append((caller.endpoint.model, fault))
            return
        lines_of = {int(m[1]): m[2] for m in _LINE.finditer(reply)}
        self.repaired = {
            item.piece.body: lines_of[place] for place, item in enumerate(gate.failed, 1) if place in lines_of
        }
        gate.repair(lines_of)

    def _replayed(self, kept: cache.Kept) -> Answer | None:
        """The answer from an earlier reply, checked anew; ``None`` if it does not stand any more."""
        for name, arguments in kept.calls:
            self.box.call(name, json.loads(arguments))
        gate = self.gate = self._new_gate()
        gate.feed(kept.text)
        gate.close()
        lines = {place: kept.repaired.get(item.piece.body, "") for place, item in enumerate(gate.failed, 1)}
        gate.repair(lines)
        if not gate.enough:
            self.gate = None
            return None
        answer = self._finished(gate, None)
        note = self._say("agent.cached")
        usage = replace(answer.usage, model=kept.model, cached=True)
        return replace(answer, usage=usage, warnings=(*answer.warnings, note))

    # -- what the caller of the model needs -----------------------------------------------------------
    def _compose(self, tools: bool, share: float) -> prompting.Prompt:
        if (tools, share) in self.composed:
            return self.composed[tools, share]
        prompt = prompting.compose(
            self.inquiry.question, self.inquiry.answer, self.inquiry.runs, tokens=self.inquiry.settings.context_tokens,
            count=self.count, tool_tokens=self.schema_tokens if tools else 0, share=share,
        )  # fmt: skip
        self.composed[tools, share] = replace(prompt, first=self._hidden(prompt.first))
        return self.composed[tools, share]

    def _tool(self, name: str, arguments: dict[str, Any]) -> str:
        if self.masks is not None:
            arguments = _mapped(arguments, self.masks.restore)
        result = self.box.call(name, arguments)
        self.send(Event("step", {"name": name, "arguments": arguments, "result": result}))
        return self._hidden(result)

    def _begin(self, again: bool) -> bool:
        if self.gate is not None and self.gate.sent:
            if again and self.live:
                return False
            if not again:  # after a tool's result the text goes on
                self._feed("\n\n")
                return True
        self.gate, self.pending = None, ""
        return True

    def _tap(self, text: str) -> bool:
        """Text of the model: checked at once where the audit is ready, else kept until it is."""
        if self.judge is None:
            self.begun.set()
            self.pending += text[: LONGEST_REPLY - len(self.pending)]
            whole = len(self.pending) < LONGEST_REPLY
            if not whole and self.caller is not None:
                self.caller.cut = "length"
            return whole
        return self._feed(text)

    def _feed(self, text: str) -> bool:
        gate = self._gate()
        going = gate.feed(text)
        if not going and self.caller is not None:
            self.caller.cut = "length"
        return going

    def _said(self) -> str:
        """The reply without thought; judged where the audit is ready."""
        if self.judge is not None:
            return self._gate().plain
        return re.sub(r"(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|$)", "", self.pending)

    def _made(self, making: asyncio.Task[Auditor]) -> None:
        if not making.cancelled() and making.exception() is None:
            self._judging(making.result())

    def _judging(self, auditor: Auditor) -> None:
        if self.judge is not None:
            return
        inquiry = self.inquiry
        self.auditor = auditor
        auditor.facts = lambda: self.account.known
        names = {name for run in inquiry.runs for name in (*run.metrics, run.name)}
        steps = {step for run in inquiry.runs for step in run.steps}
        quotes = " ".join(inquiry.quotes.values())
        self.judge = Judge(
            auditor, self.account, steps=steps, names=names,
            given=lambda: " ".join([quotes, *self.box.cards.values()]),
            untrusted=lambda: " ".join([inquiry.question, *self.box.documents]),
            citations={citation.id for citation in inquiry.answer.citations},
            checked=inquiry.answer.answer, mentions=inquiry.answer.mentions,
            restore=self.masks.restore if self.masks else str, subject=subject_of(inquiry.resolver.library),
            verdict=inquiry.answer.verdict.code,
        )  # fmt: skip

    def _gate(self) -> Gate:
        if self.gate is None:
            self.gate = self._new_gate()
            if self.pending:
                waiting, self.pending = self.pending, ""
                self._feed(waiting)
        return self.gate

    def _new_gate(self) -> Gate:
        if self.judge is None:
            raise Fault("internal", "no audit")
        return Gate(self.judge, (lambda text: self.send(Event("delta", text))) if self.live else (lambda _: None))

    # -- the answer ------------------------------------------------------------------------------
    def _finished(self, gate: Gate, caller: Caller | None) -> Answer:
        offline = self.inquiry.answer
        text = gate.finish()
        mentions = gate.mentions(self._fact_of)
        withheld = tuple(item.body or item.piece.body for item in gate.failed)
        judge = gate.judge
        shown = len(judge.read(text))
        sources = self._sources(text)
        if sources:
            text += f"\n\n{sources}"
            if self.live:
                self.send(Event("delta", f"\n\n{sources}"))
        warnings = list(offline.warnings)
        if caller is not None and caller.place:
            why = self._say(f"agent.why_{caller.failures[0][1].reason}")
            name, other = self.inquiry.settings.models[0].model, caller.endpoint.model
            warnings.append(self._say("agent.fallback", model=name, other=other, why=why))
        if withheld:
            warnings.append(self._say("agent.dropped", n=str(len(withheld))))
        if caller is not None and caller.cut:
            warnings.append(self._say("agent.cut", why=self._say(f"agent.why_{caller.cut}")))
        numbers = shown + sum(len(judge.read(one)) for one in withheld)
        self.account.used |= {mention.fact for mention in mentions}
        return replace(
            offline, engine="llm", answer=text, facts=self.account.facts, mentions=mentions,
            grounding=Grounding(numbers, shown, withheld), usage=self._usage(caller), warnings=tuple(warnings),
        )  # fmt: skip

    def offline(self, fault: Fault) -> Answer:
        """The offline answer with the line that says why."""
        offline = self.inquiry.answer
        if self.caller is not None and fault.reason == "unsupported" and self.gate is not None and self.gate.failed:
            withheld = tuple(item.body or item.piece.body for item in self.gate.failed)
            offline = replace(offline, grounding=replace(offline.grounding, unsupported=withheld))
        if self.live:
            begun = self.gate is not None and bool(self.gate.sent)
            self.send(Event("delta", ("\n\n---\n\n" if begun else "") + offline.answer))
        why = self._say(f"agent.why_{fault.reason}")
        warnings = (*offline.warnings, self._say("agent.offline", why=why))
        return replace(offline, usage=self._usage(self.caller), warnings=warnings)

    def _usage(self, caller: Caller | None) -> Usage:
        seconds = round(self.inquiry.answer.usage.seconds + time.perf_counter() - self.started, 4)
        if caller is None:
            return Usage(seconds=seconds)
        spent, name = caller.spent, caller.endpoint.model
        try:
            cost = prices.cost(name, spent.prompt, spent.completion, self.inquiry.settings.prices)
        except Exception:  # a table that cannot be read is told by doctor, it does not cost the answer
            cost = None
        return Usage(spent.prompt, spent.completion, spent.calls, seconds, model=name, cost_usd=cost)

    def _fact_of(self, fact_id: str) -> Fact | None:
        if fact_id.startswith("="):
            return self.account.get(fact_id[1:])
        found = self.auditor.fact(fact_id) if self.auditor is not None else None
        return None if found is None else self.account.take(*found)

    def _sources(self, text: str) -> str:
        cited = self.inquiry.answer.citations
        if not cited:
            return ""
        listed = "; ".join(
            f"[{one.id}] {one.card}" if f"[{one.id}]" in text else one.card for one in cited[:MOST_SOURCES]
        )
        return self._say("sources.more" if len(cited) > MOST_SOURCES else "sources", listed=listed)

    # -- small things ------------------------------------------------------------------------------
    def _say(self, phrase: str, **values: str) -> str:
        text = phrases().get(phrase, self.language)
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text

    def _masks(self) -> Masks | None:
        inquiry = self.inquiry
        wish = inquiry.settings.anonymize if inquiry.anonymize is None else inquiry.anonymize
        if not wish:
            return None
        names = [("run", run.name) for run in inquiry.runs]
        for run in inquiry.runs:
            unknown = (key for key in run.metrics if inquiry.resolver.shipped_key(key, run.framework) is None)
            names += [("metric", key) for key in unknown]
        known = {key for run in inquiry.runs for key in run.metrics}
        return Masks(dict.fromkeys(names), keep=known.__contains__)

    def _hidden(self, text: str) -> str:
        return self.masks.hide(text) if self.masks is not None else text

    def _cache_name(self, prompt: prompting.Prompt) -> str:
        first = self.inquiry.settings.models[0]
        told = [prompt.system, prompt.first, json.dumps(self.schemas), first.model, first.base_url, self.language]
        return cache.key(self.inquiry.runs, *told, self.inquiry.question)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with every string changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    return value
