import gzip
import socket
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox import web_body
from sandbox.websites import Town, answer


@pytest.fixture
def town() -> Iterator[Town]:
    with ExitStack() as stack:
        yield Town(stack)


def _raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


@pytest.mark.parametrize(
    ("packed", "name"),
    [
        (gzip.compress(b"text" * 100, mtime=0), "gzip"),
        (gzip.compress(b"text" * 60, mtime=0) + gzip.compress(b"text" * 40, mtime=0), "GZIP"),
        (gzip.compress(b"text" * 100, mtime=0) + b"\0padding", "x-gzip"),
        (gzip.compress(b"text" * 100, mtime=0) + b"\x1fpadding", "gzip"),
        (zlib.compress(b"text" * 100), "deflate"),
        (_raw_deflate(b"text" * 100), "deflate"),
        (b"text" * 100, "identity"),
    ],
    ids=["gzip", "members", "padded", "padded like a member", "deflate", "bare deflate", "none"],
)
def test_packed_bodies_are_unpacked(town: Town, packed: bytes, name: str) -> None:
    def drip(_: str, sock: socket.socket) -> None:
        head, _, body = answer(packed, Content_Encoding=name).partition(b"\r\n\r\n")
        sock.sendall(head + b"\r\n\r\n")
        for start in range(0, len(body), 7):
            sock.sendall(body[start : start + 7])

    site = town.site(page=drip)
    found = town.get(f"http://site.example:{site.port}/page")
    assert (found.body, found.truncated) == (b"text" * 100, False)
    assert ("content-encoding" in found.headers) is (name == "identity")


def test_a_packed_body_without_its_end_counts_as_cut(town: Town) -> None:
    site = town.site(page=answer(gzip.compress(bytes(range(256)) * 40)[:200], Content_Encoding="gzip"))
    assert town.get(f"http://site.example:{site.port}/page").truncated


@pytest.mark.slow
@pytest.mark.parametrize("packed", [gzip.compress, zlib.compress])
def test_a_bomb_is_cut(town: Town, packed: Any) -> None:
    bomb = packed(bytes(50_000_000), 9)
    assert len(bomb) < 60_000
    name = "gzip" if packed is gzip.compress else "deflate"
    site = town.site(page=answer(bomb, Content_Encoding=name))
    found = town.get(f"http://site.example:{site.port}/page", max_bytes=1000)
    assert (found.body, found.truncated) == (bytes(1000), True)


def test_packing_that_unpacks_to_nothing_is_cut_too(town: Town) -> None:
    empty = gzip.compress(b"") * 10_000
    site = town.site(page=answer(empty, Content_Encoding="gzip"))
    found = town.get(f"http://site.example:{site.port}/page", max_bytes=1000)
    assert (found.body, found.truncated) == (b"", True)


@pytest.mark.parametrize("name", ["br", "gzip, gzip", "zstd"])
def test_other_packing_is_refused(town: Town, name: str) -> None:
    site = town.site(page=answer(b"xx", Content_Encoding=name))
    assert "packed" in town.failure(f"http://site.example:{site.port}/page").what


def test_damaged_packing_is_an_error(town: Town) -> None:
    site = town.site(page=answer(b"\x1f\x8bnonsense and more", Content_Encoding="gzip"))
    assert "damaged" in town.failure(f"http://site.example:{site.port}/page").what


@given(st.binary(max_size=3000), st.sampled_from(["", "gzip", "deflate"]), st.integers(0, 3000), st.integers(1, 400))
def test_what_is_collected_is_the_start_of_the_body(body: bytes, packed: str, most: int, step: int) -> None:
    wire = {"": body, "gzip": gzip.compress(body), "deflate": zlib.compress(body)}[packed]
    pieces = [wire[start : start + step] for start in range(0, len(wire), step)]
    got, cut = web_body.collect(pieces, packed, most, "h")
    assert got == body[:most]
    assert cut is (len(body) > most)
