"""A small folder to try Metnos on, instead of one's own files.

    python3 tools/playground.py FOLDER                 make it
    python3 tools/playground.py FOLDER --serve PORT    show its web page at this port for five minutes

Rules: makes a new folder and touches nothing else; what it makes is always the same. Needs nothing but Python.
"""

import argparse
import functools
import http.server
import os
import signal
import time
from pathlib import Path

DAY_S = 86_400
SERVED_S = 300
CONTRACT = (
    "Rental contract",
    "The rent is 900 euros a month, due on the fifth day.",
    "The deposit is 1800 euros and is paid back within 60 days.",
)
INVOICE = ("Invoice 2026-031", "Two chairs, 79.50 euros each.", "Total: 159.00 euros")
EXPENSES = """date,category,amount
2026-09-02,food,41.20
2026-09-05,rent,900.00
2026-09-19,food,36.30
2026-10-05,rent,900.00
2026-10-11,travel,64.00
"""
PAGE = """<!doctype html><title>Opening hours</title>
<h1>Library</h1><p>The library is open from Tuesday to Saturday, from nine to six.</p>
"""


def make(folder: Path) -> None:
    """The whole folder."""
    if folder.exists():
        raise SystemExit(f"{folder} is there already; name a folder that is not")
    papers, site = folder / "papers", folder / "site"
    for each in (papers, site):
        each.mkdir(parents=True)
    (papers / "contract.pdf").write_bytes(pdf(CONTRACT))
    (papers / "invoice.pdf").write_bytes(pdf(INVOICE))
    (papers / "shopping.txt").write_text("milk\nbread\ncoffee beans\n", encoding="utf-8")
    (papers / "holiday.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(2_000_000) + b"\xff\xd9")
    (folder / "expenses.csv").write_text(EXPENSES, encoding="utf-8")
    (site / "index.html").write_text(PAGE, encoding="utf-8")
    long_ago = time.time() - 400 * DAY_S
    os.utime(papers / "holiday.jpg", (long_ago, long_ago))
    print(f"Made {folder}: two PDFs, a picture of last year, a shopping list, a table of expenses, and a web page.")


def pdf(lines: tuple[str, ...]) -> bytes:
    """A PDF of one page with these lines, written by hand."""
    shown = " ".join(f"({line}) Tj T*" for line in lines)
    content = f"BT /F 12 Tf 16 TL 60 760 Td {shown} ET".encode("ascii")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
    ]
    made, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(made))
    return made + head + table + end


def serve(folder: Path, port: int) -> None:
    """Show the web page of a folder from a process of its own. It can be asked for once this returns."""
    handler = functools.partial(_Silent, directory=str(folder / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/ shows its web page for five minutes.", flush=True)
        if os.fork():
            return
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        signal.alarm(SERVED_S)
        server.serve_forever()


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name that the library gives it
        """Nobody reads it."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a small folder to try Metnos on.")
    parser.add_argument("folder", type=lambda text: Path(text).expanduser())
    parser.add_argument("--serve", type=int, metavar="PORT", help="show its web page at this port for five minutes")
    options = parser.parse_args()
    if options.serve is None:
        make(options.folder)
        return
    if not (options.folder / "site").is_dir():
        raise SystemExit(f"{options.folder} has no web page; make it first: python3 tools/playground.py FOLDER")
    try:
        serve(options.folder, options.serve)
    except (OSError, OverflowError) as error:
        raise SystemExit(f"port {options.serve} cannot be used: {error}") from None


if __name__ == "__main__":
    main()
