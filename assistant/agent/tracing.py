"""Spans for those who collect them: only where ``OTEL_EXPORTER_OTLP_ENDPOINT`` is set and OpenTelemetry installed.

Nothing else traces: LangSmith is switched off inside this process unless the user switched it on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any


def silence() -> None:
    """Switches off tracing that libraries do by themselves; what the user set stays."""
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        os.environ.setdefault(name, "false")
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")  # Chroma's


@contextmanager
def span(name: str, **attributes: str | int | float | bool) -> Iterator[Any]:
    """A span around a part of the work; gives the span, or ``None`` where nobody collects any."""
    tracer = _tracer(os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", ""))
    if tracer is None:
        yield None
        return
    with tracer.start_as_current_span(f"metric_assistant.{name}") as current:
        for key, value in attributes.items():
            current.set_attribute(key, value)
        yield current


@lru_cache(maxsize=2)
def _tracer(endpoint: str) -> Any:
    if not endpoint:
        return None
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        return None
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        exporter = _exporter()
        if exporter is None:
            return None
        provider = TracerProvider(resource=Resource.create({"service.name": "metric-assistant"}))
        provider.add_span_processor(BatchSpanProcessor(exporter))
        trace.set_tracer_provider(provider)
    return trace.get_tracer("metric_assistant")


def _exporter() -> Any:
    """The exporter that is installed: over HTTP, or gRPC."""
    import importlib

    for kind in ("http", "grpc"):
        try:
            module = importlib.import_module(f"opentelemetry.exporter.otlp.proto.{kind}.trace_exporter")
        except ImportError:
            continue
        return module.OTLPSpanExporter()
    return None
