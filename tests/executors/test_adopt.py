"""What an executor must pass before its owner is asked whether to sign it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from executors.calls import executor, manifest
from executors.samples import open_shop, sample_files, write_sample
from metnos.core.errors import ExecutorError, ManifestError, NotTrusted
from metnos.core.sections import ExecutorSettings
from metnos.executors.adopt import Step, draft, examine
from metnos.executors.state import State
from metnos.executors.verdict import Executor
from metnos.sandbox.pool import Pool

TESTS = """
[[test]]
name = "says hello"
expect = { entries = [{ any = "hello" }] }

[[test]]
name = "says it once"
expect = { count = 1 }

[[test]]
name = "knows no arguments"
args = { more = 1 }
expect_error = "invalid"
"""
HELLO = "def run(args, ctx):\n    return {'entries': [{'any': 'hello'}]}\n"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(warm=0)
    yield made
    made.close()


def steps(tried: Executor, pool: Pool) -> list[Step]:
    return list(examine(tried, pool, ExecutorSettings()))


def test_the_gate_and_then_every_test(pool: Pool) -> None:
    assert steps(executor(manifest(), HELLO, TESTS), pool) == [
        Step("static gate", ""),
        Step("test: says hello", ""),
        Step("test: says it once", ""),
        Step("test: knows no arguments", ""),
    ]


def test_what_the_gate_refuses_is_never_run(pool: Pool) -> None:
    starts: list[int] = []
    pool.on_start = starts.append
    (step,) = steps(executor(manifest(), f"import subprocess\n\n{HELLO}", TESTS), pool)
    assert step.name == "static gate"
    assert step.problem.startswith("line 1: ")
    assert "subprocess" in step.problem
    assert starts == []


def test_of_the_tests_all_are_run_whatever_the_first_says(pool: Pool) -> None:
    source = HELLO.replace("hello", "goodbye")
    gate, first, second, third = steps(executor(manifest(), source, TESTS), pool)
    assert "'goodbye' instead of 'hello'" in first.problem
    assert [step.problem for step in (gate, second, third)] == ["", "", ""]


def test_tests_that_cannot_be_read(pool: Pool) -> None:
    with pytest.raises(ManifestError, match="at least 3 tests"):
        steps(executor(manifest(), HELLO, "[[test]]\nname = 'x'\n"), pool)


def test_what_is_examined_is_tried_as_one_that_nobody_trusts(pool: Pool) -> None:
    """Also when it is active already: each test has a sandbox of its own."""
    starts: list[int] = []
    pool.on_start = starts.append
    steps(executor(manifest(), HELLO, TESTS, state=State.ACTIVE), pool)
    pool.on_start = lambda _: None
    assert len(starts) == 2, "the third is refused before it needs one"


@pytest.mark.parametrize("line", ["    break\n", "    await args\n", "    nonlocal x\n", "    return {}\nreturn 5\n"])
def test_code_that_does_not_compile_is_a_problem_and_no_crash(pool: Pool, line: str) -> None:
    found = steps(executor(manifest(), f"def run(args, ctx):\n{line}", TESTS), pool)
    assert any(step.problem for step in found)


class TestDraft:
    def test_what_lies_in_a_folder(self, tmp_path: Path) -> None:
        shop = open_shop(tmp_path)
        write_sample(shop.folder)
        found = draft(shop.catalog, "find_files")
        assert (found.state, found.source.encode()) == (State.DRAFT, sample_files()["executor.py"])
        signed = shop.catalog.sign("find_files", "for a test", expected=found.digest)
        assert draft(shop.catalog, "find_files").digest == signed.digest

    def test_what_was_changed_after_it_was_signed(self, tmp_path: Path) -> None:
        shop = open_shop(tmp_path)
        write_sample(shop.folder)
        before = shop.catalog.sign("find_files", "for a test")
        write_sample(shop.folder, source=sample_files()["executor.py"].decode() + "# changed\n")
        after = draft(shop.catalog, "find_files")
        assert after.digest != before.digest
        with pytest.raises(NotTrusted, match="changed while it was being examined"):
            shop.catalog.sign("find_files", "for a test", expected=before.digest)

    @pytest.mark.parametrize(
        ("file", "content", "said"),
        [
            ("manifest.toml", b"name = ", "not valid TOML"),
            ("manifest.toml", b'name = "find_files"\n', "is missing"),
            ("executor.py", b"\xff", "not UTF-8"),
            ("tests.toml", None, "lacks tests.toml"),
        ],
    )
    def test_what_cannot_be_read(self, tmp_path: Path, file: str, content: bytes | None, said: str) -> None:
        shop = open_shop(tmp_path)
        path = write_sample(shop.folder) / file
        path.unlink() if content is None else path.write_bytes(content)
        with pytest.raises(ExecutorError, match=f"find_files cannot be read: .*{said}"):
            draft(shop.catalog, "find_files")

    def test_what_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(NotTrusted, match="there is no executor"):
            draft(open_shop(tmp_path).catalog, "find_files")
