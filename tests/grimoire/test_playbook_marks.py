"""A file that says itself which of its lines Metnos wrote, also when nobody remembers."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.desk import ONE, TWO, Desk, texts
from grimoire.test_playbook_text import DEEP, NEW, contents
from grimoire.test_playbook_text import ONE as KNOWN
from metnos.grimoire import playbook_marks as marks
from metnos.grimoire.playbook import Report
from metnos.grimoire.playbook_text import Change, Line, parse, words_of
from metnos.grimoire.playbook_writer import founded
from metnos.law.principal import at_terminal


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def lose(desk: Desk) -> None:
    """The memory is gone, and the file is not."""
    with desk.db.write() as tx:
        for table in ("heuristics", "playbook_versions", "progress", "facts"):
            tx.execute(f"DELETE FROM {table}")
    desk.book = desk.open()


def test_lines_that_nobody_remembers_are_known_as_metnoss_and_leave(desk: Desk) -> None:
    desk.learn(ONE, TWO)
    desk.text = desk.text.replace("## By hand\n", "## By hand\n\n- Be kind.\n")
    lose(desk)
    assert texts(desk.book.lines()) == [ONE.text, TWO.text]
    report = desk.book.consider([], 1)
    assert (sorted(texts(report.left)), report.barred) == (sorted([ONE.text, TWO.text]), ())
    plain = founded().decode().replace("## By hand\n", "## By hand\n\n- Be kind.\n")
    assert desk.text.split() == f"{plain} ### moving files".split()
    assert texts(desk.learn(ONE).entered) == [ONE.text], "it can be learnt again"


def test_what_is_learnt_again_at_once_stays(desk: Desk) -> None:
    desk.learn(ONE, TWO)
    lose(desk)
    desk.learn(ONE)
    assert texts(desk.book.lines()) == [ONE.text]
    assert desk.text.count(ONE.text) == 1
    assert TWO.text not in desk.text


def test_a_line_that_the_owner_changed_is_theirs_and_stays(desk: Desk) -> None:
    desk.learn(ONE, TWO)
    desk.text = desk.text.replace(ONE.text, f"{ONE.text} Or the largest.")
    lose(desk)
    assert texts(desk.book.lines()) == [TWO.text]
    desk.book.consider([], 1)
    assert f"{ONE.text} Or the largest." in desk.text


def test_what_the_owner_took_out_and_wrote_again_is_theirs(desk: Desk) -> None:
    desk.learn(ONE, TWO)
    before = desk.text
    desk.text = before.replace(f"- {ONE.text}\n", "")
    assert texts(desk.book.look().barred) == [ONE.text]
    desk.text = before
    assert texts(desk.book.lines()) == [TWO.text]
    assert desk.book.consider([ONE, TWO], 10) == Report()
    assert ONE.text in desk.text


def test_what_the_owner_put_back_is_theirs_if_nobody_remembers_it(desk: Desk) -> None:
    desk.learn(ONE)
    desk.book.consider([], 1)
    with desk.db.write() as tx:
        tx.execute("DELETE FROM heuristics")
    version = next(each.id for each in desk.book.versions() if ONE.text.encode() in desk.book.history.content(each.id))
    desk.book.restore(version, at_terminal())
    assert desk.book.lines() == ()
    assert desk.book.consider([], 1) == Report()
    assert ONE.text in desk.text


def test_what_is_forgotten_leaves_no_mark_either(desk: Desk) -> None:
    desk.learn(ONE, TWO)
    desk.book.forget(["F1"])
    every = [desk.path.read_bytes(), *(desk.book.history.content(each.id) for each in desk.book.versions())]
    mine = marks.lines_of(f"## Learned\n- {ONE.text}\n".encode() + b"".join(every))
    assert ONE.text not in [line.words for line in mine]


def test_many_lines_have_many_marks() -> None:
    ours = [Line(f"f{each}", "", f"line number {each}") for each in range(30)]
    made = marks.merge(founded(), Change(wanted=ours))
    assert {line.words for line in marks.lines_of(made.content)} == {line.words for line in ours}
    assert max(map(len, made.content.splitlines())) <= 140


@given(contents, st.sampled_from([b"", b"<!-- learnt by Metnos: 0123456789ab -->\n"]))
def test_marks_are_all_that_is_added_and_taken_away(content: bytes, mark: bytes) -> None:
    before = mark + content
    made = marks.merge(before, Change(ours=[KNOWN], wanted=[NEW, DEEP]))
    again = marks.merge(made.content, Change(ours=made.ours, headings=made.headings))
    assert (again.content, again.missing) == (made.content, ())
    if made.problem:
        assert made.content == before
        return
    assert {line.words for line in marks.lines_of(made.content)} == {line.words for line in made.ours}
    assert [item.words for item in parse(marks.unmarked(made.content)).items] == [
        item.words for item in parse(made.content).items
    ]
    bare = marks.merge(made.content, Change(ours=made.ours, gone=[line.fact for line in made.ours]))
    assert marks.lines_of(bare.content) == ()
    assert b"learnt by Metnos" not in bare.content


@given(st.text())
def test_no_line_can_be_written_that_is_a_mark(text: str) -> None:
    words = words_of(f"<!-- learnt by Metnos: 0123456789ab --> {text}")
    made = marks.merge(founded(), Change(wanted=[Line("f", "", words)]))
    assert [line.words for line in marks.lines_of(made.content)] == [words]
