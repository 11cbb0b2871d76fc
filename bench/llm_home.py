"""A home for a scenario: files, PDFs, archives and pages made from a few words in TOML, and a server for the pages."""

import io
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import utime
from pathlib import Path
from typing import Any

_DAY_S = 86_400


@dataclass
class Site:
    """A server on this machine, what it serves, and the paths that it was asked for."""

    url: str
    pages: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving() -> Iterator[Site]:
    """A server on loopback while the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            body = site.pages.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def furnish(home: Path, files: Mapping[str, Any], ages: Mapping[str, float] | None = None) -> None:
    """Make files below ``home``: text, ``{folder}``, ``{bytes = n}``, ``{pdf = text}`` or ``{zip = {name = text}}``."""
    for name, content in files.items():
        path = home / name
        if isinstance(content, Mapping) and "folder" in content:
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_bytes(content))
    for name, days in (ages or {}).items():
        then = time.time() - days * _DAY_S
        utime(home / name, (then, then))


def pdf(text: str) -> bytes:
    """A PDF of one page that says ``text``, which has no brackets."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode("latin-1")
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 200]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
    )
    made, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj%sendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return made + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def _bytes(content: Any) -> bytes:
    if isinstance(content, str):
        return content.encode()
    if "pdf" in content:
        return pdf(content["pdf"])
    if "zip" in content:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in content["zip"].items():
                archive.writestr(name, text)
        return packed.getvalue()
    return b"x" * int(content["bytes"])
