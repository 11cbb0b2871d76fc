import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from law.packages import make_package
from metnos.law.own_code import PACKAGE, UNREADABLE, compare, measure, name_first
from tables import try_each


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_package(tmp_path)


def test_every_file_counts_but_compiled_and_hidden_ones(package: Path) -> None:
    before = measure(package)
    assert set(before.files) == {"__init__.py", "law/__init__.py", "law/levels.py", "web/page.html"}
    (package / "law" / ".levels.py.swp").write_text("an editor's")
    (package / "law" / "__pycache__" / "levels.cpython-30.pyc").write_text("another Python's")
    assert measure(package) == before


def change_keeping_times(package: Path) -> None:
    """What a cache of sizes and times would believe."""
    path = package / "law" / "levels.py"
    status = path.stat()
    path.write_text(path.read_text().replace("LIMIT = 1", "LIMIT = 9"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def write(package: Path, name: str, text: str) -> None:
    (package / name).parent.mkdir(exist_ok=True)
    (package / name).write_text(text)


@try_each(
    ("attack", "says"),
    [
        pytest.param(change_keeping_times, "law/levels.py was changed", id="same size and times"),
        pytest.param(lambda p: write(p, "web/page.html", "<script>"), "web/page.html was changed", id="template"),
        pytest.param(lambda p: write(p, "law/levels.so", "ELF"), "law/levels.so is new", id="machine code"),
        pytest.param(lambda p: write(p, "law/levels.pyc", ""), "law/levels.pyc is new", id="beside its source"),
        pytest.param(lambda p: (p / "law/levels.py").unlink(), "law/levels.py is gone", id="gone"),
        pytest.param(lambda p: write(p, "law/levels/__init__.py", ""), "law/levels/__init__.py is new", id="a folder"),
        pytest.param(lambda p: os.mkfifo(p / "law/pipe"), "law/pipe is new", id="a pipe, which would hang"),
        pytest.param(lambda p: (p / "law/more").symlink_to("/usr"), "law/more is new", id="a link to a folder"),
    ],
)  # fmt: skip
def test_each_change_shows(attack, says: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        package = make_package(Path(folder))
        before = measure(package)
        attack(package)
        now = measure(package)
        assert compare(before.files, now.files) == (says,)
        assert now.digest != before.digest


def test_what_cannot_be_read_is_said(package: Path) -> None:
    (package / "law" / "pipe").mkdir()
    (package / "law" / "more").symlink_to(package)
    (package / "law" / "gone").symlink_to("nowhere")
    assert measure(package).unreadable == ("law/gone", "law/more")
    assert measure(package.parent / "nothing").files == {".": UNREADABLE}


_FILES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("12"))


@given(_FILES, _FILES)
def test_differences_are_none_only_between_equals(before: dict[str, str], now: dict[str, str]) -> None:
    found = compare(before, now)
    assert (found == ()) == (before == now)
    assert len(found) == len(dict(before.items() ^ now.items()))


def test_a_name_that_is_no_text_counts_too(package: Path) -> None:
    before = measure(package)
    (Path(os.fsdecode(os.fsencode(package) + b"/law/\xff.py"))).write_text("x = 1\n")
    assert compare(before.files, measure(package).files) == ("law/\\udcff.py is new",)


def test_the_first_is_named_and_the_others_counted() -> None:
    assert name_first(("a", "b", "c"), 1) == "a and 2 more"
    assert name_first(("a", "b", "c"), 3) == "a, b, c"


def test_all_of_metnos_takes_a_moment() -> None:
    measure(PACKAGE)
    took = []
    for _ in range(5):
        begun = time.process_time()
        code = measure(PACKAGE)
        took.append(time.process_time() - begun)
    assert {"law/own_code.py", "executors/builtin/digests.json", "web/templates/base.html"} <= set(code.files)
    assert min(took) < 0.2  # a bound: about 10 ms on an idle machine
