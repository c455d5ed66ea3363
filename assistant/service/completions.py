"""A chat in the shape of OpenAI's API as logs, a question, and what the conversation carried so far.

The client keeps the conversation and sends all of it each time, so nothing is stored: the log is wherever the user
pasted it, the last question wins, and earlier questions are understood again (not answered) so that a follow-up has
what it refers to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from assistant.model import EmptyInput, InputError
from assistant.service.facade import Material, Service, Source, service

if TYPE_CHECKING:
    from assistant.ask import State

Engine = Literal["auto", "offline", "llm"]

#: Model names that ``GET /v1/models`` lists, and the engine that each asks for.
MODELS: Final[Mapping[str, Engine]] = {
    "metric-assistant": "auto",
    "metric-assistant-offline": "offline",
    "metric-assistant-llm": "llm",
}
#: Earlier questions that are understood again; a follow-up refers to the ones just before it.
RECALLED: Final = 4
#: Characters beyond which the tokens of a text are scaled from its beginning.
LONG: Final = 200_000
_TEXT_PARTS: Final = {"text", "input_text", "output_text"}
_CONTEXT_ROLES: Final = ("tool", "function", "system", "developer")


@dataclass(frozen=True, slots=True)
class Said:
    """One message: who, and its text."""

    role: str
    text: str


@dataclass(frozen=True)
class Conversation:
    """What a request asks.

    Attributes:
        material: the runs of all logs in the messages.
        question: the last one; empty where the last message is a log alone.
        state: what the questions before it leave for a follow-up.
    """

    material: Material
    question: str
    state: State | None


def said(body: Mapping[str, Any]) -> list[Said]:
    """The messages of a request body, of the chat shape (``messages``) or the Responses shape (``input``).

    Raises:
        InputError: there are none, or one is of no known shape.
    """
    given = body.get("messages")
    if given is None:
        given = body.get("input")
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, Sequence) or isinstance(given, bytes | str) or not given:
        raise InputError(
            zh="请求里没有 messages（也没有 input）：请给出至少一条用户消息。",
            en="There are no messages (and no input): give at least one message of a user.",
        )
    found = []
    if isinstance(body.get("instructions"), str):
        found.append(Said("system", str(body["instructions"])))
    for place, item in enumerate(given):
        if not isinstance(item, Mapping):
            raise _shapeless(place)
        role = item.get("role")
        if role is None and "type" in item and item["type"] != "message":  # a tool's call or result, a reasoning item
            output = item.get("output")
            found.append(Said("tool", output if isinstance(output, str) else ""))
            continue
        if not isinstance(role, str):
            raise _shapeless(place)
        found.append(Said(role, _text(item.get("content"), place)))
    return found


def conversation(engine: Service, messages: Sequence[Said]) -> Conversation:
    """The logs and the last question of a chat.

    Logs are looked for in the user's messages; only where these hold none, in what tools and the system said, since
    editors put files there. The assistant's own messages are never read as logs.

    Raises:
        EmptyInput: no message of a user holds any text.
        BinaryInput: a message holds no text.
    """
    texts = [message.text for message in messages if message.role == "user" and message.text.strip()]
    if not texts:
        raise EmptyInput(
            zh="没有用户消息：请把日志和问题放进 role 为 user 的消息。",
            en="No message of a user holds text: put the log and the question into one with the role user.",
        )
    sources: list[Source] = []
    asked: list[tuple[str, int]] = []  # a question, and how many logs had been pasted when it was asked
    for text in texts:
        source, question = pasted(engine, text, anything=bool(sources))
        if source is not None:
            sources.append(source)
        asked.append((question, len(sources)))
    if not sources:
        for role in _CONTEXT_ROLES:
            for message in messages:
                if message.role == role and message.text.strip():
                    found = _source(message.text, len(sources))
                    if engine.read([found]).runs:
                        sources.append(found)
        asked = [(question, len(sources)) for question, _ in asked]
    state: State | None = None
    for question, count in asked[:-1][-RECALLED:]:
        if question:
            before = engine.read(sources[:count])
            state = engine.explain(before, question, engine="offline", state=state, own_question=False).state
    return Conversation(engine.read(sources), asked[-1][0], state)


def offline_answer(messages: Sequence[Said], engine: Engine) -> dict[str, Any]:
    """The answer's JSON without a model; an ``engine`` other than ``offline`` only adds why none was asked.

    At the top of a module, over values that can be pickled: a worker process can do it.
    """
    asked = conversation(service(), messages)
    told = service().explain(asked.material, asked.question, engine=engine, state=asked.state, own_question=False)
    return told.answer.to_json()


def read_chat(messages: Sequence[Said]) -> Conversation:
    """:func:`conversation` of the process's service."""
    return conversation(service(), messages)


def pasted(engine: Service, text: str, *, anything: bool) -> tuple[Source | None, str]:
    """The log in a message, if it holds one, and the question.

    Args:
        engine: reads it.
        text: the message.
        anything: whether there is a log already: a line that asks and quotes a figure is then a question alone.

    Returns:
        The log as a source of its own, or ``None``; the question as typed, which may be empty.
    """
    source = _source(text, 0)
    found = engine.read([source])
    if not found.runs:
        return None, text
    asks = text.rstrip().endswith(("?", "？"))
    if not found.question and asks and "\n" not in text.strip():
        return (None if anything else source), text
    return source, found.question


def _source(text: str, place: int) -> Source:
    return Source("pasted" if place == 0 else f"pasted {place + 1}", text.encode("utf-8", "surrogatepass"))


def _text(content: object, place: int) -> str:
    """The text of a message's content: a string, or parts of which those that are no text count for nothing."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        raise _shapeless(place)
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            if part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str):
                texts.append(part["text"])
        else:
            raise _shapeless(place)
    return "\n".join(texts)


def _shapeless(place: int) -> InputError:
    return InputError(
        zh=f"messages[{place}] 的格式不对：应为 {{role, content}}，content 为字符串或文本片段列表。",
        en=f"messages[{place}] is malformed: it needs a role and a content, a string or a list of text parts.",
    )


def tokens(texts: Sequence[str]) -> int:
    """Tokens of texts as the budget counts them; those of a long one are scaled from its beginning."""
    from assistant.agent.budget import counter

    count = counter()
    total = 0
    for text in texts:
        if len(text) <= LONG:
            total += count(text)
        else:
            total += int(count(text[:LONG]) * len(text) / LONG)
    return total
