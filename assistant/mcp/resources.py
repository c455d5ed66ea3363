"""What can be read by address: ``metric://`` cards, ``run://`` logs that were parsed, ``rules://`` what is judged."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from assistant.mcp.calls import Call
from assistant.model import InputError, Run
from assistant.model.run import json_number

if TYPE_CHECKING:
    import mcp_types as types

#: Resources on one page of the list.
PAGE = 200
#: Values of one completion (the protocol's limit is 100).
MOST_COMPLETED = 50
RULES = ("rules://diagnosis", "rules://thresholds")
JSON = "application/json"


def card_address(card: str) -> str:
    """The address of a card: ``metric://verl/actor/ppo_kl``; what an address cannot hold is percent-encoded."""
    return "metric://" + quote(card, safe="/@_-.~")


def templates() -> list[types.ResourceTemplate]:
    """How addresses are made."""
    import mcp_types as types

    return [
        types.ResourceTemplate(
            uri_template="metric://{+card}", name="metric", title="Metric definition",
            description="A metric's card, both languages: framework/key, such as metric://verl/actor/ppo_kl. "
            "指标的定义（中英文）。", mime_type=JSON,
        ),
        types.ResourceTemplate(
            uri_template="run://{log}/{run}", name="run", title="Parsed run",
            description="A run that was read: steps, and for each metric how often, first, last, least and largest. "
            "已解析的 run。", mime_type=JSON,
        ),
    ]  # fmt: skip


def page(call: Call, *, cursor: str | None) -> types.ListResourcesResult:
    """One page of the list.

    Raises:
        InputError: the cursor is none of ours.
    """
    import mcp_types as types

    from assistant.service import service
    from assistant.settings import settings

    language = settings().lang
    listed: list[types.Resource] = [
        types.Resource(
            uri=f"run://{held.handle}/{run.id}", name=f"{held.name} {run.id}", title=f"{held.name}: {run.name}",
            description=f"{len(run.distinct_steps)} steps, {len(run.columns)} metrics", mime_type=JSON,
        )
        for held in call.store.of(call.owner)
        for run in held.material.runs
    ]  # fmt: skip
    names = {"rules://diagnosis": "Failure modes 诊断规则", "rules://thresholds": "Thresholds 阈值"}
    listed += [types.Resource(uri=uri, name=uri, title=names[uri], mime_type=JSON) for uri in RULES]
    listed += [
        types.Resource(
            uri=card_address(card.id), name=card.id, title=card.title(language),
            description=card.short(language), mime_type=JSON,
        )
        for card in service().resolver.library
    ]  # fmt: skip
    start = _place(cursor)
    rest = start + PAGE
    return types.ListResourcesResult(
        resources=listed[start:rest], next_cursor=_cursor(rest) if rest < len(listed) else None
    )


def _cursor(place: int) -> str:
    return base64.urlsafe_b64encode(str(place).encode()).decode()


def _place(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        place = int(base64.urlsafe_b64decode(cursor.encode()))
    except ValueError:
        place = -1
    if place < 0:
        raise InputError(zh="cursor 无效。", en="The cursor is not valid.")
    return place


def read(call: Call, *, uri: str) -> types.ReadResourceResult:
    """A resource.

    Raises:
        InputError: there is none at the address.
    """
    import mcp_types as types

    from assistant.service.brevity import dumped

    text = dumped(_content(call, uri))
    contents: list[Any] = [types.TextResourceContents(uri=uri, mime_type=JSON, text=text)]
    return types.ReadResourceResult(contents=contents)


def _content(call: Call, uri: str) -> Any:
    from assistant.service import service
    from assistant.settings import settings

    kind, _, rest = uri.partition("://")
    engine = service()
    if kind == "metric":
        name = unquote(rest)
        card = engine.resolver.library.get(name)
        if card is None:
            near = ", ".join(other.id for other in engine.metric(name[:200])[:3])
            raise _absent(uri, f"; nearest: {near}" if near else "")
        return engine.metric_json(card)
    if kind == "rules" and uri in RULES:
        from assistant.service.rulelist import rule_list

        return {rest: rule_list(engine.resolver, settings().lang)[rest]}
    if kind == "run":
        handle, _, wanted = rest.partition("/")
        held = call.store.get(call.owner, handle)
        for run in held.material.runs if held is not None else ():
            if run.id == wanted:
                return overview(run, settings().lang)
    raise _absent(uri, "")


def _absent(uri: str, more: str) -> InputError:
    return InputError(zh=f"没有资源 {uri[:200]}{more}", en=f"There is no resource {uri[:200]}{more}.")


def overview(run: Run, language: str) -> dict[str, Any]:
    """A run at a glance: its summary, and each metric's number of values, first, last, least and largest."""
    metrics = {}
    for key in run.metrics:
        steps, values = run.series(key)
        finite = [value for value in values if math.isfinite(value)]
        metrics[key] = {
            "n": len(values), "steps": [steps[0], steps[-1]],
            "first": json_number(values[0]), "last": json_number(values[-1]),
            "min": min(finite) if finite else None, "max": max(finite) if finite else None,
        }  # fmt: skip
    return {**run.summary_json(language), "n_missing": len(run.missing), "metrics": metrics}


def completed(call: Call, *, start: str) -> tuple[list[str], int]:
    """Ids of cards that begin with, or else contain, what was typed; and how many there are."""
    from assistant.service import service

    typed = start.lower()
    ids = [card.id for card in service().resolver.library]
    found = [one for one in ids if one.lower().startswith(typed)]
    found += [one for one in ids if typed in one.lower() and not one.lower().startswith(typed)]
    return found[:MOST_COMPLETED], len(found)
