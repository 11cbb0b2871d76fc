"""Birth tests: what they let pass and what they do not, in the real sandbox."""

from collections.abc import Iterator
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from executors.calls import ADDRESS, READ, WRITE, executor, manifest, mutating
from metnos.core.errors import ManifestError
from metnos.core.sections import ExecutorSettings
from metnos.executors import birth
from metnos.executors.birth import Tried, attend, difference, parse
from metnos.executors.manifest import Manifest
from metnos.sandbox.pool import Pool

HELLO = "def run(args, ctx):\n    return {'entries': [{'any': 'hello'}]}\n"
FAILS = {"name": "fails", "args": {"more": 1}, "expect_error": "invalid"}
READING = manifest({"path": READ}, {"fs": {"read": ["~/**"]}})
WRITING = mutating("restore_content", {"target": WRITE}, {"fs": {"write": ["~/**"]}})
COPY = """
def run(args, ctx):
    with open(args["path"], "rb") as file:
        return {"entries": [{"any": list(file.read())}]}
"""
OVERWRITE = """
def run(args, ctx):
    ctx.write(args["target"], "new", overwrite=True)
    return {"results": [{"any": args["target"]}]}
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(warm=0)
    yield made
    made.close()


def sheet(*tests: dict[str, Any]) -> str:
    return tomlkit.dumps({"test": list(tests)})


def try_(pool: Pool, source: str, test: dict[str, Any], read: Manifest | None = None) -> Tried:
    """How one test goes; the two beside it are of a kind that fails before any sandbox is made."""
    text = sheet({"name": "this one", **test}, FAILS, FAILS)
    tried, *_ = attend(executor(read or manifest(), source, text), pool, ExecutorSettings())
    assert tried.name == "this one"
    return tried


class TestReading:
    def test_three_tests_of_which_one_fails(self) -> None:
        good = {"name": "good", "expect": {"count": 0}}
        assert [test.name for test in parse(sheet(good, good, FAILS))] == ["good", "good", "fails"]
        assert len(parse(sheet(good, good, {"name": "some fail", "expect": {"failed": 1}}))) == birth.LEAST

    @pytest.mark.parametrize(
        "tests", [[], [FAILS, FAILS], [{"name": "good"}] * 3, [{"name": "good", "expect": {"count": 0}}] * 5]
    )
    def test_too_few_or_none_that_fails(self, tests: list[dict[str, Any]]) -> None:
        with pytest.raises(ManifestError, match="at least 3 tests, one of them with an input that fails"):
            parse(sheet(*tests))

    def test_none_failed_is_no_failing_input(self) -> None:
        with pytest.raises(ManifestError):
            parse(sheet(*[{"name": "good", "expect": {"failed": 0}}] * 3))

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[[test", "not valid TOML"),
            ('test = "x"', "does not fit"),
            ("[[test]]\nname = ''", "`test.0.name` does not fit"),
            ("[[test]]\nname = 'x'\nfile = {}", "`test.0.file` does not fit"),
            ("[[test]]\nname = 'x'\nfiles = { a = 5 }", "`test.0.files.a"),
            ("[[test]]\nname = 'x'\nsystem = { secrets = [] }", "`test.0.system.secrets"),
        ],
    )
    def test_what_cannot_be_read_says_where(self, text: str, said: str) -> None:
        with pytest.raises(ManifestError, match=said.replace(".", r"\.")) as caught:
            parse(text, "count_lines/tests.toml")
        assert caught.value.what.startswith("count_lines/tests.toml")
        assert caught.value.fix

    @given(st.text())
    def test_whatever_the_text_is(self, text: str) -> None:
        with pytest.raises(ManifestError):
            parse(text)


class TestPassing:
    def test_right_expectations_pass_and_wrong_ones_do_not(self, pool: Pool) -> None:
        right = try_(pool, HELLO, {"expect": {"count": 1, "entries": [{"any": "hello"}]}})
        assert right.problem == ""
        assert right.outcome is not None
        assert right.outcome.ok
        wrong = try_(pool, HELLO, {"expect": {"count": 2}})
        assert wrong.problem == "the reply, 'count': 1 instead of 2"

    @pytest.mark.slow
    def test_an_error_that_did_not_come_and_one_that_did(self, pool: Pool) -> None:
        assert "should have failed with 'not_found'" in try_(pool, HELLO, {"expect_error": "not_found"}).problem
        source = "def run(args, ctx):\n    ctx.fail('not_found', 'nowhere')\n"
        assert try_(pool, source, {"expect_error": "not_found"}).problem == ""
        assert try_(pool, source, {"expect_error": "exists"}).problem == (
            "it failed with 'not_found' instead of 'exists': nowhere"
        )
        assert try_(pool, source, {"expect": {"count": 0}}).problem == "it failed with 'not_found': nowhere"

    def test_a_body_that_is_broken(self, pool: Pool) -> None:
        tried = try_(pool, "def run(args, ctx):\n    return nothing\n", {"expect": {"count": 0}})
        assert "NameError" in tried.problem
        assert "'nothing'" in tried.problem

    def test_a_crash_is_no_failure_that_one_may_expect(self, pool: Pool) -> None:
        assert try_(pool, "def run(args, ctx):\n    return nothing\n", {"expect_error": "failed"}).problem

    def test_a_dishonest_reply(self, pool: Pool) -> None:
        tried = try_(pool, "def run(args, ctx):\n    return {'entries': [], 'total': -1}\n", {})
        assert "says there are -1" in tried.problem

    def test_arguments_that_the_manifest_does_not_know(self, pool: Pool) -> None:
        assert try_(pool, HELLO, {"args": {"more": 1}, "expect_error": "invalid"}).problem == ""
        assert "there is no `more`" in try_(pool, HELLO, {"args": {"more": 1}}).problem

    def test_the_clock_stands_still(self, pool: Pool) -> None:
        source = "def run(args, ctx):\n    return {'entries': [{'any': ctx.now.timestamp()}]}\n"
        tried = try_(pool, source, {"expect": {"entries": [{"any": birth.NOW.timestamp()}]}})
        assert tried.problem == ""


class TestTheBox:
    @pytest.mark.slow
    def test_holds_the_files_and_is_home_and_working_directory(self, pool: Pool) -> None:
        files = {"a": "é", "deep/b": {"base64": "AP8="}, "empty": {"folder": True}}
        for path in ("{box}/deep/b", "~/deep/b", "deep/b"):
            test = {"files": files, "args": {"path": path}, "expect": {"entries": [{"any": [0, 255]}]}}
            assert try_(pool, COPY, test, READING).problem == ""
        text = {"files": files, "args": {"path": "a"}, "expect": {"entries": [{"any": list("é".encode())}]}}
        assert try_(pool, COPY, text, READING).problem == ""
        missing = {"args": {"path": "none"}, "expect_error": "not_found"}
        assert try_(pool, COPY, missing, READING).problem == ""

    @pytest.mark.parametrize("path", ["/etc/hostname", "{box}/../x", "../outside"])
    def test_nothing_outside_can_be_named(self, pool: Pool, path: str) -> None:
        wide = manifest({"path": READ}, {"fs": {"read": ["/**"]}})
        for read in (wide, READING):
            tried = try_(pool, COPY, {"args": {"path": path}}, read)
            assert any(words in tried.problem for words in ("stays in its box", "there is no", "outside what"))
            assert tried.outcome is None

    @pytest.mark.parametrize("name", ["../x", "/tmp/metnos-birth-x", "a/../../x"])
    def test_no_fixture_lies_outside(self, pool: Pool, name: str) -> None:
        assert "stays in its box" in try_(pool, HELLO, {"files": {name: "x"}}).problem
        assert "stays in its box" in try_(pool, HELLO, {"after": {name: "x"}}).problem

    @pytest.mark.parametrize("content", ["!", "AA", "A"])
    def test_base64_that_is_none(self, pool: Pool, content: str) -> None:
        assert "base64 that is none" in try_(pool, HELLO, {"files": {"a": {"base64": content}}}).problem

    @pytest.mark.parametrize("files", [{"a": {"base64": "é"}}, {"a\0b": "x"}])
    def test_a_fixture_that_cannot_be_made(self, pool: Pool, files: dict[str, Any]) -> None:
        assert try_(pool, HELLO, {"files": files}).problem

    def test_an_executor_of_the_workspace_gets_one_in_the_box(self, pool: Pool) -> None:
        read = manifest({}, {"fs": {"read": ["{workspace}/notes/**"]}})
        listed = "[{'any': os.listdir(ctx.workspace + '/notes')}]"
        source = f"import os\n\ndef run(args, ctx):\n    return {{'entries': {listed}}}\n"
        test = {"files": {"workspace/notes/a.md": "x"}, "expect": {"entries": [{"any": ["a.md"]}]}}
        assert try_(pool, source, test, read).problem == ""


class TestMutators:
    def test_are_looked_at_and_undone(self, pool: Pool) -> None:
        test = {"files": {"a": "old"}, "args": {"target": "a"}, "after": {"a": "new", "b": {"absent": True}}}
        assert try_(pool, OVERWRITE, test, WRITING).problem == ""

    @pytest.mark.parametrize(
        ("after", "said"),
        [
            ({"a": "old"}, "afterwards, a holds b'new'"),
            ({"a": {"absent": True}}, "afterwards, a is still there"),
            ({"b": "x"}, "afterwards, b is not there"),
            ({"a": {"folder": True}}, "afterwards, a is no folder"),
        ],
    )
    def test_that_leave_something_else_behind(self, pool: Pool, after: dict[str, Any], said: str) -> None:
        test = {"files": {"a": "old"}, "args": {"target": "a"}, "after": after}
        assert try_(pool, OVERWRITE, test, WRITING).problem == said

    def test_that_cannot_be_taken_back_do_not_pass(self, pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing that goes through the broker is like that, so undo itself forgets something here."""
        monkeypatch.setattr(birth.Undo, "undo", lambda _self, _action, **_: None)
        test = {"files": {"a": "old"}, "args": {"target": "a"}}
        assert try_(pool, OVERWRITE, test, WRITING).problem == "undone, the box is not as it was"

    def test_that_do_what_their_reversal_cannot_take_back(self, pool: Pool) -> None:
        read = mutating("remove_created", {"target": WRITE}, {"fs": {"write": ["~/**"]}})
        test = {"files": {"a": "old"}, "args": {"target": "a"}}
        assert "cannot take back" in try_(pool, OVERWRITE, test, read).problem

    def test_that_change_something_before_they_fail_are_undone_too(self, pool: Pool) -> None:
        source = OVERWRITE.replace("return", "ctx.fail('conflict', 'no')\n    return")
        test = {"files": {"a": "old"}, "args": {"target": "a"}, "expect_error": "conflict"}
        assert try_(pool, source, test, WRITING).problem == ""


class TestDoubles:
    FETCH = """
def run(args, ctx):
    page = ctx.http("GET", args["url"], max_bytes=4)
    return {"entries": [{"any": [page.status, page.body.decode(), page.url, page.truncated, page.headers]}]}
"""
    HTTP = manifest({"url": ADDRESS}, {"net": {"http": {"hosts": ["a.example"]}}})

    def test_the_web_is_what_was_recorded(self, pool: Pool) -> None:
        page = {
            "url": "http://a.example/",
            "status": 404,
            "body": "hello",
            "headers": {"X": "y"},
            "final_url": "http://z/",
        }
        test = {
            "args": {"url": "http://a.example/"},
            "http": [page],
            "expect": {"entries": [{"any": [404, "hell", "http://z/", True, {"X": "y"}]}]},
        }
        assert try_(pool, self.FETCH, test, self.HTTP).problem == ""
        nothing = {"args": {"url": "http://a.example/other"}, "http": [page], "expect_error": "unavailable"}
        assert try_(pool, self.FETCH, nothing, self.HTTP).problem == ""

    def test_a_page_of_bytes(self, pool: Pool) -> None:
        page = {"url": "http://a.example/", "body": {"base64": "b2s="}}
        test = {"args": {"url": "http://a.example/"}, "http": [page]}
        tried = try_(
            pool,
            self.FETCH,
            test | {"expect": {"entries": [{"any": [200, "ok", "http://a.example/", False, {}]}]}},
            self.HTTP,
        )
        assert tried.problem == ""

    def test_hosts_that_are_not_declared_stay_so(self, pool: Pool) -> None:
        page = {"url": "http://b.example/", "body": "hello"}
        source = self.FETCH.replace('args["url"]', '"http://b.example/"')
        tried = try_(pool, source, {"args": {"url": "http://a.example/"}, "http": [page]}, self.HTTP)
        assert "does not declare" in tried.problem

    def test_an_address_that_is_none(self, pool: Pool) -> None:
        source = self.FETCH.replace('args["url"]', '"http://["')
        assert (
            try_(pool, source, {"args": {"url": "http://a.example/"}, "expect_error": "invalid"}, self.HTTP).problem
            == ""
        )

    def test_the_machine_is_what_was_recorded(self, pool: Pool) -> None:
        source = "def run(args, ctx):\n    return {'entries': [{'any': ctx.system('disks')}]}\n"
        read = manifest({}, {"system": {"read": ["disks"]}})
        test = {"system": {"disks": [{"name": "sda"}]}, "expect": {"entries": [{"any": [{"name": "sda"}]}]}}
        assert try_(pool, source, test, read).problem == ""
        assert try_(pool, source, {"expect": {"entries": [{"any": []}]}}, read).problem == ""

    def test_no_language_model_is_there(self, pool: Pool) -> None:
        read = manifest({}, {"model": {"chat": True}})
        source = "def run(args, ctx):\n    ctx.chat('hello')\n"
        assert try_(pool, source, {"expect_error": "unavailable"}, read).problem == ""


FIND = {"name": "find_files", "args": {"deep": True, "path": "/a"}, "reply": {"entries": [{"path": "{box}/b"}]}}
HASH = {"name": "hash_files", "args": {"paths": ["{box}/b"]}, "reply": {"entries": [], "total": 0}}


class TestCalls:
    """Other executors answer as the test recorded them, in their order, and act never."""

    CALLING = manifest({}, {"executor": {"call": ["find_files", "hash_files"]}})
    SOURCE = """
def run(args, ctx):
    found = ctx.call("find_files", {"path": "/a", "deep": True})
    hashed = ctx.call("hash_files", {"paths": [each["path"] for each in found["entries"]]})
    return {"entries": [{"any": [found["count"], found["truncated"], hashed["failed"]]}]}
"""

    def test_they_answer_what_was_recorded_with_the_counts_that_metnos_adds(self, pool: Pool) -> None:
        test = {"calls": [FIND, HASH], "expect": {"entries": [{"any": [1, False, 0]}]}}
        assert try_(pool, self.SOURCE, test, self.CALLING).problem == ""

    def test_one_that_fails_fails_in_the_caller(self, pool: Pool) -> None:
        fails = {"name": "hash_files", "args": {"paths": ["{box}/b"]}, "error": "unreadable", "message": "closed"}
        tried = try_(pool, self.SOURCE, {"calls": [FIND, fails], "expect_error": "unreadable"}, self.CALLING)
        assert tried.problem == ""
        assert tried.outcome is not None
        assert tried.outcome.message == "closed"

    @pytest.mark.parametrize(
        ("calls", "said"),
        [
            ([], "it called find_files, which was not recorded"),
            ([HASH], "it called find_files, which was not recorded here: hash_files was"),
            ([FIND], "it called hash_files, which was not recorded"),
            ([FIND, HASH, HASH], "it did not call hash_files"),
            ([{**FIND, "args": {"path": "/a"}}, HASH], "otherwise than recorded: it gave more than was recorded"),
            ([{**FIND, "args": {"path": "/b", "deep": True}}, HASH], "the call, 'path': '/a' instead of '/b'"),
            ([{**FIND, "args": {"path": "/a", "deep": 1}}, HASH], "True instead of 1"),
        ],
    )
    def test_any_other_call_fails_the_test(self, pool: Pool, calls: list[dict[str, Any]], said: str) -> None:
        assert said in try_(pool, self.SOURCE, {"calls": calls}, self.CALLING).problem

    def test_code_that_goes_on_after_a_wrong_call_does_not_pass(self, pool: Pool) -> None:
        source = (
            "def run(args, ctx):\n    try:\n        ctx.call('find_files', {})\n"
            "    except ctx.Failure:\n        pass\n    return {'entries': []}\n"
        )
        assert "not recorded" in try_(pool, source, {"expect": {"count": 0}}, self.CALLING).problem
        wrong = {"expect_error": "unavailable"}
        assert "not recorded" in try_(pool, self.SOURCE, wrong, self.CALLING).problem

    def test_what_is_not_declared_stays_a_breach(self, pool: Pool) -> None:
        tried = try_(pool, self.SOURCE, {"calls": [FIND, HASH]}, manifest())
        assert "does not declare" in tried.problem

    def test_json_says_what_toml_cannot(self, pool: Pool) -> None:
        source = "def run(args, ctx):\n    return {'entries': ctx.call('find_files', {'a': None})['entries']}\n"
        call = {"name": "find_files", "args": '{"a": null}', "reply": '{"entries": [{"any": null}]}'}
        assert try_(pool, source, {"calls": [call], "expect": {"count": 1}}, self.CALLING).problem == ""

    @pytest.mark.parametrize("wrong", ["[1]", "{", "3"])
    def test_json_that_is_no_table_says_where(self, wrong: str) -> None:
        text = sheet({"name": "x", "calls": [{"name": "find_files", "args": wrong}]}, FAILS, FAILS)
        with pytest.raises(ManifestError, match=r"test\.0\.calls\.0\.args"):
            parse(text)


KEYS = st.sampled_from("abc")
VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 2, "", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=6,
)


class TestDifference:
    @given(VALUES)
    def test_everything_fits_itself(self, value: Any) -> None:
        assert difference(value, value) == ""

    @given(st.dictionaries(KEYS, VALUES, max_size=3), st.dictionaries(KEYS, VALUES, max_size=3))
    def test_of_an_object_only_the_named_keys_count(self, wanted: dict[str, Any], more: dict[str, Any]) -> None:
        assert difference(wanted, more | wanted) == ""
        assert all(difference(wanted | {"key": 1}, found) for found in ({}, {"key": 2}))

    @given(st.lists(VALUES, max_size=3), VALUES)
    def test_of_a_list_everything_counts(self, wanted: list[Any], more: Any) -> None:
        assert difference(wanted, [*wanted, more])
        assert difference([*wanted, more], wanted)

    @pytest.mark.parametrize(
        ("wanted", "found"), [(1, True), (0, False), (1, "1"), (None, False), ("", None), ([], {})]
    )
    def test_kinds_are_not_mixed_up(self, wanted: Any, found: Any) -> None:
        assert difference(wanted, found)

    def test_whole_numbers_and_others_may_be_equal(self) -> None:
        assert difference(1, 1.0) == ""
        assert difference(1.0, 2)
