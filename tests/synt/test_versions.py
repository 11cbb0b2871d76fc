"""The number of a new version, and what it changes, said so that an owner understands it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from metnos.synt import scaffold, versions
from metnos.synt.sketch import Field, Type
from synt.sketches import LINES, TITLE

numbers = st.tuples(*[st.integers(0, 999)] * 3).map(lambda each: ".".join(map(str, each)))


@given(st.lists(numbers, min_size=1))
def test_a_new_version_comes_after_every_one_that_there_was(known: list[str]) -> None:
    found = versions.after(known)
    assert all(versions.number(found) > versions.number(each) for each in known)


def test_the_first_is_the_first() -> None:
    assert versions.after([]) == "1.0.0"
    assert versions.after(["1.9.0", "1.10.2"]) == "1.11.0"


def test_another_number_changes_nothing_else() -> None:
    draft = scaffold.draft(TITLE)
    other = versions.numbered(draft, "1.1.0")
    assert other.read().version == "1.1.0"
    assert other.manifest.replace("1.1.0", "1.0.0") == draft.manifest
    assert (other.code, other.tests) == (draft.code, draft.tests)
    assert other.digest != draft.digest


class TestWhatItMayDo:
    def test_nothing_new_is_said(self) -> None:
        one = scaffold.draft(TITLE).read()
        assert versions.changes(one, versions.numbered(scaffold.draft(TITLE), "2.0.0").read()) == [versions.NOTHING_NEW]

    def test_what_is_new_and_what_is_gone(self) -> None:
        reckons, reads = scaffold.draft(replace(TITLE, name="count_lines")).read(), scaffold.draft(LINES).read()
        assert versions.changes(reckons, reads) == ["new: may read what a call names, within ~/**"]
        assert versions.changes(reads, reckons) == ["gone: may no longer read what a call names, within ~/**"]

    def test_what_it_takes_and_gives(self) -> None:
        old = scaffold.draft(TITLE).read()
        number = Field("title", Type.INTEGER, "A number.")
        other = replace(TITLE, takes=(*TITLE.takes, Field("mark", Type.TEXT, "A mark.", "!")), gives=(number,))
        new = scaffold.draft(other).read()
        assert versions.arguments(old, new) == ["takes mark now", "gives another kind of title"]
        assert versions.arguments(new, old) == ["takes mark no longer", "gives another kind of title"]
        assert versions.arguments(old, old) == []


def test_the_difference_names_both_versions_and_only_what_changed() -> None:
    found = versions.difference("a\nb\nc\n", "a\nB\nc\n", ("x 1.0.0", "x 1.1.0"), around=0)
    assert found.splitlines()[:2] == ["--- x 1.0.0", "+++ x 1.1.0"]
    assert found.splitlines()[3:] == ["-b", "+B"]
    assert versions.difference("a\n", "a\n", ("x", "y")) == ""
