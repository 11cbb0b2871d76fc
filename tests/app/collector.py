"""An OTLP/HTTP receiver: takes what is sent, and has it as protobuf messages."""

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Receiver:
    """Listens on a port of its own until it is closed. ``hold`` lets it take a connection and never answer."""

    def __init__(self) -> None:
        self.bodies: list[tuple[str, bytes, dict[str, str]]] = []
        self.hold = threading.Event()
        self.hold.set()
        self.status = 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                receiver.hold.wait(240)
                receiver.bodies.append((self.path, body, dict(self.headers)))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(60)

    def everything(self) -> bytes:
        return b"".join(body for _, body, _ in self.bodies)

    def spans(self) -> list[Any]:
        found = []
        for path, body, _ in list(self.bodies):
            if path == "/v1/traces":
                request = ExportTraceServiceRequest.FromString(body)
                found += [span for each in request.resource_spans for scope in each.scope_spans for span in scope.spans]
        return found

    def metrics(self) -> dict[str, Any]:
        """The last figures of each metric."""
        found = {}
        for path, body, _ in list(self.bodies):
            if path == "/v1/metrics":
                request = ExportMetricsServiceRequest.FromString(body)
                for each in request.resource_metrics:
                    found.update({metric.name: metric for scope in each.scope_metrics for metric in scope.metrics})
        return found


def attributes(thing: Any) -> dict[str, Any]:
    """Attributes as plain values."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in thing.attributes}
