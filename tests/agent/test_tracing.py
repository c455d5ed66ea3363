from __future__ import annotations

import os
import subprocess
import sys

import pytest

from assistant.agent import tracing
from assistant.devmodel import DevModel
from tests.agent.support import EXAMPLE


def test_span_without_an_endpoint_is_nothing() -> None:
    with tracing.span("model", tokens=3) as span:
        assert span is None


@pytest.mark.parametrize(("own", "after"), [(None, "false"), ("true", "true")])
def test_silence_switches_off_what_the_user_did_not_switch_on(
    monkeypatch: pytest.MonkeyPatch, own: str | None, after: str
) -> None:
    if own is not None:
        monkeypatch.setenv("LANGSMITH_TRACING", own)
    else:
        monkeypatch.setenv("LANGSMITH_TRACING", "x")
        monkeypatch.delenv("LANGSMITH_TRACING")
    monkeypatch.setenv("LANGCHAIN_TRACING_V2", "false")
    monkeypatch.setenv("ANONYMIZED_TELEMETRY", "False")
    tracing.silence()
    assert os.environ["LANGSMITH_TRACING"] == after


SPANS = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
from assistant.service import Source, service
engine = service()
material = engine.read([Source("x", open(sys.argv[1], "rb").read())])
engine.search("clip ratio")
assert engine.explain(material, "healthy?").answer.engine == "llm"
print(" ".join(sorted({span.name for span in kept.get_finished_spans()})))
"""


def test_spans_of_parse_analyse_retrieve_and_model_where_they_are_collected() -> None:
    with DevModel("echo") as server:
        environment = {
            **os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "ASSISTANT_LLM_MODEL": "dev",
            "ASSISTANT_LLM_BASE_URL": server.base_url,
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", SPANS, str(EXAMPLE)], env=environment, capture_output=True, text=True, check=False,
            cwd=EXAMPLE.parent.parent,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    names = {f"metric_assistant.{name}" for name in ("parse", "analyse", "retrieve", "answer", "model")}
    assert names <= set(done.stdout.split())
