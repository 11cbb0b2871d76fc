"""The way to a collector of the owner's own, by OTLP over HTTP. Loaded only where one is set.

Rules: everything is sent from the one thread that calls this, within a time limit; nothing waits in queues of the
library's, and nothing of it runs at the end of the process. What the collector does not take is lost and says so once.
The trace id is the beginning of the digest
of the turn's id, so that it can be found from either side.
"""

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from metnos import __version__
from metnos.app.observing_rules import DURATION, HITS, RUN, RUNS, TOKENS, TURN, Point, Span
from metnos.core.canon import sha256_hex
from metnos.core.errors import SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)  # as GenAI's
_COUNTS = tuple(4.0**power for power in range(14))  # conventions want them for durations, and for tokens
_HISTOGRAMS: tuple[tuple[str, str, Sequence[float], str], ...] = (
    (DURATION, "s", _SECONDS, "How long a call of a language model took"),
    (TOKENS, "{token}", _COUNTS, "Tokens of a call of a language model"),
    (TURN, "s", _SECONDS, "From the request to the answer, waiting included"),
    (RUN, "s", _SECONDS, "How long an executor ran"),
)
_COUNTERS = ((HITS, "{turn}", "Turns by a fast path"), (RUNS, "{run}", "Runs of executors"))


class Collector:
    """Sends spans and figures. For one thread."""

    def __init__(self, endpoint: str, timeout_s: float, key: str = "") -> None:
        try:
            made = _parts(endpoint.rstrip("/"), timeout_s, {"authorization": f"Bearer {key}"} if key else {})
        except ImportError as error:
            raise SettingsError(
                "`otel.endpoint` is set, and what sends telemetry is not installed",
                fix="Install it: pip install 'metnos[otel]', or empty the setting.",
            ) from error
        self._exporter, self._tracer, self._ids, self._ended, self._reader, self._measure = made
        self._timeout_ms = timeout_s * 1000

    def send(self, turns: Sequence[tuple[str, Sequence[Span], Sequence[Point]]]) -> bool:
        """Send turns, each with its id; says whether the collector took them."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        self._ended.clear()
        for turn, spans, points in turns:
            self._trace(turn, spans)
            for point in points:
                self._measure[point.metric](point.value, point.attributes)
        taken = self._exporter.export(self._ended) is SpanExportResult.SUCCESS
        if taken:  # the figures add up: those that are not sent now are in the next ones
            self._reader.force_flush(self._timeout_ms)
        return bool(taken)

    def close(self) -> None:
        self._exporter.shutdown()

    def _trace(self, turn: str, spans: Sequence[Span]) -> None:
        from opentelemetry import trace

        made: dict[str, SpanContext] = {}
        self._ids.trace = int(sha256_hex(turn.encode())[:32], 16)
        for span in spans:
            above = made.get(span.parent)
            context = trace.set_span_in_context(trace.NonRecordingSpan(above) if above else trace.INVALID_SPAN)
            kind = trace.SpanKind.CLIENT if span.client else trace.SpanKind.INTERNAL
            begun = self._tracer.start_span(
                span.name, context, kind=kind, attributes=span.attributes, start_time=span.begin
            )
            if span.error:
                begun.set_attribute("error.type", span.error)
                begun.set_status(trace.StatusCode.ERROR)
            made[span.key] = begun.get_span_context()
            begun.end(span.end)


def _parts(endpoint: str, timeout_s: float, headers: Mapping[str, str]) -> tuple[Any, ...]:
    """The library's parts, put together so that nothing of it acts by itself or looks at the environment for us."""
    import requests
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    class Ids(RandomIdGenerator):
        trace = 0

        def generate_trace_id(self) -> int:
            return self.trace

    class Ended(SpanProcessor):
        def on_end(self, span: "ReadableSpan") -> None:
            ended.append(span)

    def session() -> requests.Session:
        made = requests.Session()
        made.trust_env = False
        return made

    _hush()
    ended: list[ReadableSpan] = []
    resource = Resource({"service.name": "metnos", "service.version": __version__, "service.instance.id": str(uuid4())})
    ids = Ids()
    tracing = TracerProvider(ALWAYS_ON, resource, shutdown_on_exit=False, id_generator=ids)
    tracing.add_span_processor(Ended())
    exporter = OTLPSpanExporter(f"{endpoint}/v1/traces", headers=dict(headers), timeout=timeout_s, session=session())
    figures = OTLPMetricExporter(f"{endpoint}/v1/metrics", headers=dict(headers), timeout=timeout_s, session=session())
    reader = PeriodicExportingMetricReader(figures, math.inf, timeout_s * 1000)
    metering = MeterProvider([reader], resource, AlwaysOffExemplarFilter(), shutdown_on_exit=False)
    return exporter, tracing.get_tracer("metnos", __version__), ids, ended, reader, _instruments(metering)


def _instruments(metering: Any) -> dict[str, Callable[[float, Any], None]]:
    meter = metering.get_meter("metnos", __version__)
    found: dict[str, Callable[[float, Any], None]] = {}
    for name, unit, bounds, about in _HISTOGRAMS:
        found[name] = meter.create_histogram(name, unit, about, explicit_bucket_boundaries_advisory=bounds).record
    for name, unit, about in _COUNTERS:
        found[name] = meter.create_counter(name, unit, about).add
    return found


def _hush() -> None:
    """Its own words name addresses; what there is to say, our log says."""
    logger = logging.getLogger("opentelemetry")
    logger.handlers, logger.propagate = [logging.NullHandler()], False
