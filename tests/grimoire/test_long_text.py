"""Where a line that the owner agreed to is put in their files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import UsageError
from metnos.grimoire.long_text import with_line
from metnos.grimoire.playbook_text import parse
from metnos.grimoire.playbook_writer import founded

WORDS = "Tea is at four."


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b"- Tea is at four.\n"),
        (b"# Memory\n", b"# Memory\n- Tea is at four.\n"),
        (b"# Memory\r\n\r\nlast", b"# Memory\r\n\r\nlast\r\n- Tea is at four.\r\n"),
        (b"*  TEA is  at four.\n", b"*  TEA is  at four.\n"),
    ],
)
def test_a_line_comes_at_the_end_once(before: bytes | None, after: bytes) -> None:
    assert with_line("MEMORY.md", before, WORDS) == after
    assert with_line("MEMORY.md", after, WORDS) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"## By hand\n\n- a\n\n## Learned\n- b\n", b"## By hand\n\n- a\n- Tea is at four.\n\n## Learned\n- b\n"),
        (b"## Learned\n- b\n", b"## By hand\n\n- Tea is at four.\n\n## Learned\n- b\n"),
        (b"text\n", b"text\n## By hand\n\n- Tea is at four.\n\n"),
    ],
)
def test_in_the_playbook_it_comes_to_what_is_written_by_hand(before: bytes, after: bytes) -> None:
    assert with_line("PLAYBOOK.md", before, WORDS) == after


def test_a_founded_playbook_takes_it() -> None:
    assert b"## By hand\n\n- Tea is at four.\n\n## Learned\n" in with_line("PLAYBOOK.md", founded(), WORDS)


@pytest.mark.parametrize("content", [b"<!-- begun", b"a\n<!-- b\nc\n"])
def test_within_a_comment_it_would_not_count(content: bytes) -> None:
    with pytest.raises(UsageError, match="never closed"):
        with_line("MEMORY.md", content, WORDS)


def test_where_by_hand_is_below_learned_and_hidden_it_says_so() -> None:
    with pytest.raises(UsageError, match="no place"):
        with_line("PLAYBOOK.md", b"## Learned\n<!--\n## By hand\n-->\n", WORDS)


@given(st.lists(st.sampled_from([b"## By hand", b"## Learned", b"- x", b"", b"<!--", b"-->", b"\xff"]), max_size=12))
def test_no_byte_is_lost_and_nothing_comes_among_what_was_learnt(lines: list[bytes]) -> None:
    before = b"\n".join(lines)
    try:
        made = with_line("PLAYBOOK.md", before, WORDS)
    except UsageError:
        return
    rest = iter(made.splitlines())
    assert all(any(line == each for each in rest) for line in before.splitlines())
    assert WORDS not in {item.words for item in parse(made).items}
