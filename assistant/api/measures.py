"""What the server counts, for Prometheus: latency by route and stage, tokens, cost, cache, findings, the queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from assistant.api.jobs import Done

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Measures:
    """The metrics of one application, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        prefix, registry = "metric_assistant_", self.registry
        self.requests = Histogram(
            prefix + "request_seconds", "Time of a request.", ["method", "route", "status"],
            buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self.stages = Histogram(
            prefix + "stage_seconds", "Time of a stage of the work.", ["stage"], buckets=_SECONDS, registry=registry
        )
        self.answers = Counter(prefix + "answers", "Answers by engine.", ["engine"], registry=registry)
        self.tokens = Counter(prefix + "tokens", "Tokens of the model.", ["model", "kind"], registry=registry)
        self.cost = Counter(
            prefix + "cost_usd", "Price of the model's calls in US dollars.", ["model"], registry=registry
        )
        self.calls = Counter(prefix + "model_calls", "Calls of the model.", ["model"], registry=registry)
        self.cache = Counter(
            prefix + "model_cache", "Answers of the model, kept or asked.", ["outcome"], registry=registry
        )
        self.findings = Counter(prefix + "findings", "Findings told.", ["rule", "severity"], registry=registry)
        self.rejected = Counter(prefix + "rejected", "Requests refused.", ["reason"], registry=registry)
        self.in_progress = Gauge(prefix + "requests_in_progress", "Requests under way.", registry=registry)
        self.queue = Gauge(prefix + "queue_depth", "Jobs that wait for a worker.", registry=registry)
        self.streams = Gauge(prefix + "streams_open", "Event streams with a listener.", registry=registry)

    def text(self) -> bytes:
        """The exposition."""
        return bytes(generate_latest(self.registry))

    def job(self, done: Done) -> None:
        """Counts what a job tells about itself."""
        for stage, seconds in done.stages.items():
            self.stages.labels(stage).observe(seconds)
        for rule, severity in done.found:
            self.findings.labels(rule, severity).inc()
        if done.engine:
            self.answer(done.engine, done.usage)

    def answer(self, engine: str, usage: Mapping[str, Any]) -> None:
        """Counts an answer and what the model took for it."""
        self.answers.labels(engine).inc()
        if not usage.get("llm_calls") and not usage.get("cached"):
            return
        model = str(usage.get("model") or "unknown")
        self.cache.labels("hit" if usage.get("cached") else "miss").inc()
        self.calls.labels(model).inc(usage.get("llm_calls", 0))
        self.tokens.labels(model, "prompt").inc(usage.get("prompt_tokens", 0))
        self.tokens.labels(model, "completion").inc(usage.get("completion_tokens", 0))
        self.cost.labels(model).inc(usage.get("cost_usd") or 0.0)
