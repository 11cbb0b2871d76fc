"""The playbook as text: what is the owner's stays, what is learnt stands where nobody takes it for the owner's word."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metnos.context import head
from metnos.grimoire.playbook_text import HEADING, Change, Line, bar_of, merge, name_of, parse, without, words_of

PLAIN = b"# Playbook\n\n## By hand\n\n- Ask before noon.\n\n## Learned\n"
PARTS = [
    *("# Playbook", "## By hand", "## Learned", "## Learned   ", "##Learned", "### files", "### Files", "- Ask first."),
    *("- ours one", "* ours one", "- ours two", "  more of it", "  - a note", "", "   ", "```", "text", "-", "- "),
    *("<!-- a comment -->", "<!--", "-->", "x <!-- y", "z --> ## Learned", "## Notes <!-- n -->", "1. one"),
    *("<!-- a\nb -->## Other", "\ufeff## Learned", "é ☃", "\x00", "x\u2028- ours one", "a\x0cb"),
]
pieces = st.one_of(st.sampled_from([part.encode() for part in PARTS]), st.binary(max_size=8))
contents = st.tuples(st.lists(pieces, max_size=25), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.booleans()).map(
    lambda made: made[1].join(made[0]) + (made[1] if made[2] else b"")
)
ONE, TWO = Line("f1", "", "ours one"), Line("f2", "files", "ours two")
NEW = Line("f3", "", "never heard of before")
DEEP = Line("f4", "a strategy", "only here and then")
known = st.lists(st.sampled_from([ONE, TWO]), unique=True)


def owners(content: bytes, *, but: tuple[Line, ...] = ()) -> list[bytes]:
    """The lines that say something, without the points of Metnos's; each of those once."""
    parsed = parse(content)
    out: set[int] = set()
    for line in but:
        for item in parsed.items:
            if item.words == line.words and item.first not in out:
                out.update(range(item.first, item.last + 1))
                break
    return [line.strip(b"\r\n") for index, line in enumerate(parsed.lines) if index not in out and line.strip()]


def within(fewer: list[bytes], more: list[bytes]) -> bool:
    rest = iter(more)
    return all(line in rest for line in fewer)


def said(content: bytes, folder: Path) -> str:
    path = folder / "PLAYBOOK.md"
    path.write_bytes(content)
    return head._said(path)


def test_a_line_comes_below_its_heading_and_leaves_without_a_trace() -> None:
    made = merge(PLAIN, Change(wanted=[NEW, DEEP]))
    assert made.content.decode() == (
        "# Playbook\n\n## By hand\n\n- Ask before noon.\n\n## Learned\n\n- never heard of before\n"
        "\n### a strategy\n\n- only here and then\n"
    )
    gone = merge(made.content, Change(ours=made.ours, gone=["f3", "f4"], headings=made.headings))
    assert [line.fact for line in gone.left] == ["f3", "f4"]
    assert gone.content.decode().strip() == PLAIN.decode().strip()
    assert merge(made.content, Change(ours=made.ours, headings=made.headings)).content == made.content


def test_what_is_below_stays_below() -> None:
    content = b"## Learned\n- mine\n## Mine\n- x\n"
    made = merge(content, Change(wanted=[NEW, DEEP])).content
    assert made == (
        b"## Learned\n\n- never heard of before\n- mine\n\n### a strategy\n\n- only here and then\n\n## Mine\n- x\n"
    )


def test_a_file_without_a_heading_gets_one_at_its_end() -> None:
    assert merge(b"do this", Change(wanted=[DEEP])).content == (
        b"do this\n\n## Learned\n\n### a strategy\n\n- only here and then\n"
    )
    assert merge(b"", Change(wanted=[NEW])).content == b"## Learned\n\n- never heard of before\n"
    assert merge(b"do this", Change()).content == b"do this"


def test_line_ends_are_those_of_the_file() -> None:
    made = merge(b"\xef\xbb\xbf# Playbook\r\n\r\n## Learned\r\n", Change(wanted=[NEW]))
    assert made.content == b"\xef\xbb\xbf# Playbook\r\n\r\n## Learned\r\n\r\n- never heard of before\r\n"


def test_a_file_that_a_formatter_rewrote_is_still_understood() -> None:
    content = b"## Learned\r\n\r\n* ours\r\n  one\r\n\r\n### files\r\n\r\n+ ours   two\r\n"
    made = merge(content, Change(ours=[ONE, TWO]))
    assert (made.missing, len(made.ours)) == ((), 2)
    assert merge(content, Change(ours=[ONE, TWO], gone=["f1"])).content == (
        b"## Learned\r\n\r\n\r\n### files\r\n\r\n+ ours   two\r\n"
    )


@pytest.mark.parametrize(
    "changed", ["- Ours one", "- ours one, mostly", "- ours one\n  - but not on Mondays", "- ours one\n  and more"]
)
def test_a_line_that_was_changed_is_the_owners(changed: str) -> None:
    content = f"## Learned\n{changed}\n".encode()
    made = merge(content, Change(ours=[ONE], gone=["f1"]))
    assert made.missing == (ONE,)
    assert made.content == content


def test_a_line_that_was_moved_within_the_section_is_where_it_was_put() -> None:
    made = merge(b"## Learned\n\n### elsewhere\n- ours one\n", Change(ours=[ONE]))
    assert (made.missing, made.ours) == ((), (Line("f1", "elsewhere", "ours one"),))


def test_a_line_that_was_moved_out_of_the_section_is_the_owners() -> None:
    made = merge(b"## By hand\n- ours one\n## Learned\n", Change(ours=[ONE], gone=["f1"]))
    assert made.missing == (ONE,)
    assert b"ours one" in made.content


def test_what_the_owner_says_already_is_not_said_twice_and_not_taken_over() -> None:
    content = b"## Learned\n- never heard of before\n"
    made = merge(content, Change(wanted=[NEW]))
    assert (made.content, made.said, made.ours) == (content, (NEW,), ())


def test_of_two_the_same_one_is_ours() -> None:
    made = merge(b"## Learned\n- ours one\n- ours one\n", Change(ours=[ONE], gone=["f1"]))
    assert made.content == b"## Learned\n- ours one\n"


def test_a_heading_of_the_owners_stays_when_it_is_empty() -> None:
    content = b"## Learned\n\n### files\n\n- ours two\n"
    assert b"### files" in merge(content, Change(ours=[TWO], gone=["f2"])).content
    assert b"### files" not in merge(content, Change(ours=[TWO], gone=["f2"], headings=["files"])).content


def test_behind_an_open_comment_nothing_is_written() -> None:
    content = b"# Playbook\n<!-- begun\n## Learned\n"
    made = merge(content, Change(wanted=[NEW]))
    assert made.content == content
    assert "never closed" in made.problem
    inside = merge(b"## Learned\n<!-- begun\n- a\n", Change(wanted=[NEW, DEEP]))
    assert inside.problem == ""
    assert inside.content.index(b"- only here") < inside.content.index(b"<!-- begun")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("## Learned\n- be bold", "Learned - be bold"),
        ("a <!-- b --> c --> d", "a b c d"),
        ("``` sh\nrm", "sh rm"),
        ("one\r\ntwo\x00\x1b[31m", "one two [31m"),
        ("- - # > deep", "deep"),
        ("", ""),
        ("x" * 500, "x" * 239 + "…"),
    ],
)
def test_words_are_one_plain_line(text: str, words: str) -> None:
    assert words_of(text) == words
    assert len(name_of(text)) <= 60


@given(st.text())
def test_what_is_made_of_any_text_is_found_again(text: str) -> None:
    words = words_of(text)
    if words:
        made = merge(PLAIN, Change(wanted=[Line("f", name_of(text), words)]))
        assert [item.words for item in parse(made.content).items] == [words]
        assert merge(made.content, Change(ours=made.ours)).missing == ()


@given(contents, known)
@example(b"<!-- a\nb -->## Other\n## Learned", [])
@example(b"## Learned<!-- x\ny -->\n- ours one", [ONE])
@example("## Learned\u2028x\r- ours one\r".encode(), [ONE])
def test_no_line_of_the_owners_is_ever_lost(content: bytes, ours: list[Line]) -> None:
    change = Change(ours=ours, wanted=[NEW, DEEP], gone=["f2"], headings=["files"])
    made = merge(content, change)
    there = tuple(line for line in ours if line not in made.missing)
    kept = [line for line in owners(content, but=there) if line.strip() != b"### files"]
    assert within(kept, owners(made.content))
    fresh = {item.words for item in parse(made.content).items}
    assert made.problem or all(line.words in fresh for line in made.entered)
    again = merge(made.content, Change(ours=made.ours, headings=made.headings))
    assert (again.content, again.missing) == (made.content, ())


@given(contents)
def test_what_only_comes_leaves_every_byte_that_was_there(content: bytes) -> None:
    made = merge(content, Change(wanted=[NEW, DEEP])).content
    rest = iter(made.splitlines(keepends=True))
    lines = content.splitlines(keepends=True)
    assert all(any(line.rstrip(b"\r\n") == each.rstrip(b"\r\n") for each in rest) for line in lines)


@given(contents)
def test_what_was_learnt_is_never_among_the_words_of_the_owner(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp()
    before = said(content, folder)
    made = merge(content, Change(wanted=[NEW, DEEP]))
    after = said(made.content, folder)
    assert NEW.words not in after
    assert DEEP.words not in after
    if not made.problem and parse(content).body is None:
        assert after.rstrip() == before.rstrip() or HEADING in before


@given(contents)
def test_what_is_forgotten_is_no_point_any_more(content: bytes) -> None:
    made = without(content, {"ours one"})
    assert "ours one" not in {item.words for item in parse(made).items}
    assert within(owners(made), owners(content))


def test_what_is_barred_is_known_again_by_its_words() -> None:
    assert bar_of("Ask first, always.") == bar_of("ask  first always")
    assert bar_of("Ask first") != bar_of("Ask last")
