import itertools

from hypothesis import given
from hypothesis import strategies as st

from metnos.context.fence import fence
from metnos.context.pieces import pieces, sentences
from tables import try_each

TEXTS = st.text(st.one_of(st.sampled_from(" \n\"'`|/.,-0123456789«»“”not家三月ก"), st.characters()), max_size=200)


def cut(text: str) -> list[str]:
    return [text[piece.start : piece.end] for piece in pieces(text)]


@given(TEXTS)
def test_pieces_hold_everything_but_blanks_in_order(text: str) -> None:
    found = pieces(text)
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))
    rest = text
    for piece in reversed(found):
        rest = rest[: piece.start] + rest[piece.end :]
    assert not rest.strip()
    assert all(text[piece.start : piece.end].strip() for piece in found)


@given(TEXTS)
def test_sentences_are_the_pieces_in_groups(text: str) -> None:
    assert [piece for sentence in sentences(pieces(text)) for piece in sentence] == list(pieces(text))


@try_each(
    "one",
    [
        "3.14159",
        "1,117,320,768",
        "-12.5e-3",
        "1 000 000",
        "2026-11-16T09:18:45Z",
        "/home/owner/a-b/report_2024(final).pdf",
        "~/My\\ Documents/letter.txt",
        "C:\\Users\\me\\file.txt",
        "https://example.org/a/b?c=d&e=%20f#g",
        "/home/文档/报告.txt",
        '"what she said, word by word"',
        "“what she said”",
        "«come ha detto lei»",
        "`rm -rf build`",
        "'so they say'",
        'name="Ada Lovelace"',
        "```py\nx = 1\n\ny = 2\n```",
        "| a | b |",
        "三百二十",
        "👩‍👩‍👧",
    ],
)
def test_this_is_never_cut(one: str) -> None:
    assert any(one in piece for piece in cut(f"before it\n{one}\nand after"))


def test_a_fence_of_ours_is_one_piece() -> None:
    held = fence("first line\nsecond line", "a file")
    assert held in cut(f"Look:\n{held}\nDone.")


def test_a_number_stays_with_what_it_counts_and_a_denial_with_what_it_denies() -> None:
    assert cut("she has 3 kids and does not smoke, $ 5 or 5 €") == [
        *["she", "has", "3 kids", "and", "does", "not smoke,", "$ 5", "or", "5 €"]
    ]
    assert cut("non fumo mai più e 7 May 2023") == ["non fumo", "mai più", "e", "7 May", "2023"]
    assert cut("I don't smoke.") == ["I", "don't smoke."]


def test_a_row_of_numbers_stays_many_pieces() -> None:
    assert cut("1 2 3 4") == ["1", "2", "3", "4"]


def test_scripts_without_blanks_are_cut_between_signs() -> None:
    assert cut("我3月5日去了") == ["我", "3月", "5日", "去", "了"]
    assert len(sentences(pieces("今天很好。明天见。"))) == 2


def test_sentences_end_at_their_signs_and_at_lines() -> None:
    text = 'One. Two is "quoted." Three\nfour 3.5 five! Six'
    shown = [" ".join(text[piece.start : piece.end] for piece in each) for each in sentences(pieces(text))]
    assert shown == ["One.", 'Two is "quoted."', "Three", "four 3.5 five!", "Six"]


def test_the_heading_of_a_table_is_held() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |"
    assert [piece.held for piece in pieces(text)] == [True, True, False, False]


def test_signs_that_never_close_cost_little() -> None:
    """Quadratic work would take minutes here, and the suite's patience ends before."""
    assert pieces("« “ ` " * 4_000 + "```\n" * 1_000)
