"""``/docs``: the OpenAPI document as a page to read, made here; no script, nothing from another host."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response

STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 16px/1.55 system-ui, "PingFang SC", "Microsoft YaHei", sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { margin: 2.5rem 0 .5rem; text-transform: capitalize; }
details { border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0; padding: .5rem .75rem; }
summary { cursor: pointer; }
summary b { display: inline-block; min-width: 4.5rem; font: 600 13px ui-monospace, monospace; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { overflow: auto; border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; max-height: 24rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid var(--line); padding: .25rem .75rem .25rem 0; vertical-align: top; }
a { color: inherit; }
"""


def install(app: FastAPI) -> None:
    """Adds the page and its style."""

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page(app.openapi()))

    @app.get("/docs/style.css", include_in_schema=False)
    async def style() -> Response:
        return Response(STYLE, media_type="text/css")


def page(document: dict[str, Any]) -> str:
    """The page of an OpenAPI document, operations by their first tag."""
    groups: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or ["other"])[0]
            groups.setdefault(tag, []).append(_operation(method, path, operation))
    info = document["info"]
    parts = "".join(f"<h2>{escape(tag)}</h2>{''.join(entries)}" for tag, entries in groups.items())
    about = "".join(f"<p>{_text(part)}</p>" for part in info.get("description", "").split("\n\n"))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(info["title"])}: API</title><link rel="stylesheet" href="/docs/style.css"></head><body><main>'
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>{about}"
        f'<p><a href="/openapi.json">openapi.json</a></p>{parts}</main></body></html>'
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    parts = [f"<p>{_text(operation.get('description', ''))}</p>"]
    if rows := [_parameter(one) for one in operation.get("parameters", ())]:
        parts.append(f"<h4>Parameters</h4><table>{''.join(rows)}</table>")
    body = operation.get("requestBody", {}).get("content", {})
    if body:
        parts.append(f"<h4>Body: {escape(', '.join(body))}</h4>{_examples(body.values())}")
    replies = operation.get("responses", {})
    good = [one for status, reply in replies.items() if status < "300" for one in reply.get("content", {}).values()]
    if shown := _examples(good):
        parts.append(f"<h4>Reply</h4>{shown}")
    rows = [
        f"<tr><td>{escape(status)}</td><td>{_text(reply.get('description', ''))}</td></tr>"
        for status, reply in replies.items()
    ]
    parts.append(f"<h4>Statuses</h4><table>{''.join(rows)}</table>")
    head = f"<b>{method.upper()}</b> <code>{escape(path)}</code> · {escape(operation.get('summary', ''))}"
    return f"<details><summary>{head}</summary>{''.join(parts)}</details>"


def _parameter(one: dict[str, Any]) -> str:
    schema = one.get("schema", {})
    kind = schema.get("type") or " | ".join(map(str, schema.get("enum", ())))
    needed = (
        "required" if one.get("required") else f"default {json.dumps(schema['default'])}" if "default" in schema else ""
    )
    about = ", ".join(part for part in (str(kind), needed) if part)
    return (
        f"<tr><td><code>{escape(one['name'])}</code> ({escape(one['in'])})</td><td>{escape(about)}</td>"
        f"<td>{_text(one.get('description', ''))}</td></tr>"
    )


def _examples(content: Iterable[dict[str, Any]]) -> str:
    found = []
    for kind in content:
        given = (
            [kind["example"]] if "example" in kind else [one.get("value") for one in kind.get("examples", {}).values()]
        )
        for example in given:
            text = example if isinstance(example, str) else json.dumps(example, ensure_ascii=False, indent=2)
            found.append(f"<pre>{escape(text)}</pre>")
    return "".join(found)


def _text(text: str) -> str:
    """Escaped, with what stands between backticks as code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
