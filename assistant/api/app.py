"""The FastAPI application: answers, checks, definitions, health, and a page with one box."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from assistant import __version__
from assistant.api.problems import install, new_request_id, problem
from assistant.model import EmptyInput, InputError
from assistant.service import Source, service
from assistant.settings import settings

_SECURITY = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class ExplainRequest(BaseModel):
    """A log and a question about it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "text": "step:1 - actor/entropy:0.156 - critic/rewards/mean:0.0469",
                    "question": "entropy 是多少",
                    "lang": "auto",
                }
            ]
        }
    )  # fmt: skip

    text: str = Field(min_length=1, description="The log as pasted; a question may stand in it.")
    question: str = Field(default="", description="Empty: the question in the text, else explain what matters.")
    lang: Literal["auto", "zh", "en"] = "auto"
    engine: Literal["auto", "offline", "llm"] = "auto"


class CheckRequest(BaseModel):
    """A log, and what should hold beyond the rules that are shipped."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "step:1 - actor/ppo_kl:0.12 - actor/grad_norm:0.3", "thresholds": ["actor/ppo_kl < 0.05"]}
            ]
        }
    )

    text: str = Field(min_length=1)
    thresholds: list[str] = Field(default_factory=list, max_length=200)
    lang: Literal["auto", "zh", "en"] = "auto"


class VerifyRequest(BaseModel):
    """A log, and a text about it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"log": "step:1 - actor/entropy:0.156 - actor/grad_norm:0.3", "text": "Entropy at step 1 is 0.151."}
            ]
        }
    )

    log: str = Field(min_length=1)
    text: str = Field(min_length=1, description="Anybody's text about the log: an answer, a report.")
    lang: Literal["auto", "zh", "en"] = "auto"


class ParseRequest(BaseModel):
    """A log."""

    text: str = Field(min_length=1)


@asynccontextmanager
async def _lifespan(_: FastAPI) -> Any:
    await run_in_threadpool(service)  # cards are read before the first request, not during it
    yield


def create_app() -> FastAPI:
    """The application; stateless, so that several may run side by side."""
    app = FastAPI(title="metric-assistant", version=__version__, lifespan=_lifespan, redoc_url=None)
    install(app)
    limit = settings().max_body_bytes

    @app.middleware("http")
    async def _frame(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        request.state.request_id = new_request_id()
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > limit:
            megabytes = limit // (1024 * 1024)
            detail = f"The body is over {megabytes} MB. Send a part of the log, or raise ASSISTANT_MAX_BODY_MB."
            response: Response = problem(request, 413, "body_too_large", detail)
        else:
            response = await call_next(request)
        response.headers.setdefault("x-request-id", request.state.request_id)
        if not request.url.path.startswith("/docs"):
            for name, value in _SECURITY.items():
                response.headers.setdefault(name, value)
        return response

    @app.post("/explain", tags=["answers"], summary="Answer a question about a log")
    async def explain(body: ExplainRequest) -> Response:
        return await run_in_threadpool(_explain, body)

    @app.post("/parse", tags=["answers"], summary="The log as an exact table")
    async def parse(body: ParseRequest) -> Response:
        return await run_in_threadpool(_parse, body)

    @app.post("/check", tags=["answers"], summary="Every rule and threshold over a log")
    async def check(body: CheckRequest) -> Response:
        return await run_in_threadpool(_check, body)

    @app.post("/verify", tags=["answers"], summary="Audit a text about a log, sentence by sentence")
    async def verify(body: VerifyRequest) -> Response:
        return await run_in_threadpool(_verify, body)

    @app.get("/metrics-docs", tags=["definitions"], summary="Definitions by any wording, best first")
    def metrics_docs(
        q: str,
        lang: Literal["auto", "zh", "en"] = "auto",
        framework: str | None = None,
        k: Annotated[int, Query(ge=1, le=50)] = 5,
    ) -> dict[str, Any]:
        return {"results": service().search(q, lang=lang, framework=known_framework(framework), k=k)}

    @app.get("/metrics-docs/{name:path}", tags=["definitions"], summary="One definition, both languages")
    def metric_doc(name: str, framework: str | None = None) -> dict[str, Any]:
        engine = service()
        if name.startswith("doc:"):
            return engine.passage(name)
        return engine.metric_json(engine.metric(name, known_framework(framework))[0])

    @app.get("/healthz", tags=["operations"], summary="Is the process alive")
    def healthz() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    @app.get("/readyz", tags=["operations"], summary="Can it answer")
    def readyz() -> dict[str, Any]:
        return {"status": "ready", "cards": len(service().resolver.library)}

    _page(app)
    return app


def known_framework(name: str | None) -> str | None:
    """A framework as the cards spell it.

    Raises:
        InputError: no card is about it.
    """
    if not name:
        return None
    known: dict[str, str] = {card.framework.lower(): card.framework for card in service().resolver.library}
    if name.lower() in known:
        return known[name.lower()]
    names = ", ".join(sorted(known.values(), key=str.lower))
    raise InputError(
        zh=f"没有名为“{name[:80]}”的框架。已知的有：{names}。",
        en=f"No framework is called “{name[:80]}”. Known: {names}.",
    )


def _explain(body: ExplainRequest) -> Response:
    if not body.text.strip():
        raise EmptyInput(zh="text 是空的：请放入日志。", en="text is empty: put the log there.")
    engine = service()
    material = engine.read([Source("stdin", body.text.encode("utf-8", "surrogatepass"))])
    explained = engine.explain(material, body.question, language=body.lang, engine=body.engine)
    return Response(orjson.dumps(explained.answer.to_json()), media_type="application/json")


def _check(body: CheckRequest) -> Response:
    from assistant.service.checking import check_runs

    engine = service()
    material = engine.read([Source("stdin", body.text.encode("utf-8", "surrogatepass"))])
    language = body.lang if body.lang != "auto" else material.language or settings().lang
    report = check_runs(material.runs, engine.resolver, thresholds=body.thresholds, language=language)
    return Response(orjson.dumps(report.to_json()), media_type="application/json")


def _verify(body: VerifyRequest) -> Response:
    from assistant.service.verifying import verify

    engine = service()
    material = engine.read([Source("stdin", body.log.encode("utf-8", "surrogatepass"))])
    audit = verify(material, body.text, None if body.lang == "auto" else body.lang, resolver=engine.resolver)
    return Response(orjson.dumps(audit.to_json()), media_type="application/json")


def _parse(body: ParseRequest) -> Response:
    material = service().read([Source("stdin", body.text.encode("utf-8", "surrogatepass"))])
    if not material.runs:
        raise InputError(zh="文本里没有任何指标。", en="The text holds no metric.")
    return JSONResponse({"runs": [run.to_json() for run in material.runs]})


def _page(app: FastAPI) -> None:
    folder = Path(__file__).parent / "page"
    types = {"index.html": "text/html", "page.js": "text/javascript", "page.css": "text/css"}
    files = {name: (folder / name).read_text(encoding="utf-8") for name in types}

    @app.get("/", include_in_schema=False)
    def index() -> HTMLResponse:
        return HTMLResponse(files["index.html"])

    @app.get("/page.js", include_in_schema=False)
    def script() -> Response:
        return Response(files["page.js"], media_type=types["page.js"])

    @app.get("/page.css", include_in_schema=False)
    def style() -> Response:
        return Response(files["page.css"], media_type=types["page.css"])
