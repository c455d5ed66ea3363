"""A conversation's state as JSON: what a page, a session's table or a client keeps between two questions.

Cards are named, not copied: the state of a question is some hundred bytes, and a card that was improved meanwhile is
the one that the next answer cites.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from assistant.ask.query import State
from assistant.knowledge import Card
from assistant.model import InputError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA: Final = "metric-assistant/state/1"
"""Changes whenever a field of :class:`~assistant.ask.query.State` changes its meaning."""


def state_to_json(state: State) -> dict[str, Any]:
    """The state as a JSON object; what stands at its default is left out."""
    return {"schema": SCHEMA, **_plain(state)}


def state_from_json(data: object, card: Callable[[str], Card | None]) -> State:
    """The state that :func:`state_to_json` wrote.

    Args:
        data: the object.
        card: card id → card, or ``None`` if there is none any more; a metric that was known by it is then forgotten.

    Raises:
        InputError: the object is none that this version wrote.
    """
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise _foreign()
    try:
        return _reader().validate_python(_with_cards({k: v for k, v in data.items() if k != "schema"}, card))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _foreign() from error


def _foreign() -> InputError:
    return InputError(
        zh="对话状态不是本版本写出的：请从新问题开始，不要附带 state。",
        en="This state was not written by this version: ask anew, without a state.",
    )


@lru_cache(maxsize=1)
def _reader() -> TypeAdapter[State]:
    from pydantic import TypeAdapter

    return TypeAdapter(State)


def _plain(value: object) -> Any:
    if isinstance(value, Card):
        return value.id
    if is_dataclass(value) and not isinstance(value, type):
        kept = {}
        for field in fields(value):
            item = getattr(value, field.name)
            if item != _default(field):
                kept[field.name] = _plain(item)
        return kept
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _with_cards(value: Any, card: Callable[[str], Card | None]) -> Any:
    """The same object with cards in the place of their ids; ``card`` stands nowhere but in a mention."""
    if isinstance(value, list):
        items = [_with_cards(item, card) for item in value]
        return [item for item in items if item is not None]
    if not isinstance(value, dict):
        return value
    result = {name: _with_cards(item, card) for name, item in value.items()}
    if "start" in result and "end" in result:
        named = result.setdefault("card", None)
        if isinstance(named, str):
            result["card"] = card(named)
            return result if result["card"] is not None else None
    return result
