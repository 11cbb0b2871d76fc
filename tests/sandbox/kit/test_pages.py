import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.sandbox.kit import pages
from sandbox.kit.kit_context import Failure, context
from tables import try_each


@try_each(
    ("body", "kind", "text", "encoding"),
    [
        ("perché".encode(), "", "perché", "utf-8"),
        ("perché".encode("latin-1"), "", "perché", "latin-1"),
        ("perché".encode("latin-1"), "text/html; charset=ISO-8859-1", "perché", "iso-8859-1"),
        (b"<meta charset=windows-1252>\x80", "", "<meta charset=windows-1252>€", "windows-1252"),
        (b'<?xml version="1.0" encoding="koi8-r"?>\xc1', "", '<?xml version="1.0" encoding="koi8-r"?>\u0430', "koi8-r"),
        (b"\xef\xbb\xbfx", "text/html; charset=koi8-r", "x", "utf-8"),
        ("è".encode("utf-16"), "", "è", "utf-16-le"),
        (b"plain", "text/plain; charset=rot13", "plain", "utf-8"),
        (b"plain", "text/plain; charset=windows-9999", "plain", "utf-8"),
        ("5 €".encode(), "text/html; charset=euc-kr", "5 €", "utf-8"),
        (b"a\xff\xfeb", "text/html; charset=utf-8", "a\ufffd\ufffdb", "utf-8"),
    ],
)
def test_a_page_is_decoded_as_it_says_and_as_it_is(body: bytes, kind: str, text: str, encoding: str) -> None:
    assert pages.decoded(body, kind) == (text, encoding)


def test_a_letter_that_was_cut_through_is_no_sign_of_another_encoding() -> None:
    body = ("perché " * 3 + "è").encode()[:-1]
    assert pages.decoded(body, cut=True) == ("perché " * 3, "utf-8")
    assert pages.decoded(body)[1] == "latin-1"


@given(st.binary(), st.text(), st.booleans())
def test_decoding_never_fails(body: bytes, kind: str, cut: bool) -> None:
    for said in (kind, f"text/html; charset={kind}", "text/html; charset=euc-jp"):
        assert isinstance(pages.decoded(body, said, cut)[0], str)


def tree(source: str, **more: Any) -> Any:
    return pages.tree_of(pages.clean(source), context(), **more)


def test_a_line_for_each_block_and_no_scripts() -> None:
    head = "<html><head><title>t</title></head><body>"
    body = "<p>one <b>two</b></p>tail<script>no</script><ul><li>a<li>b</ul><!-- no -->end"
    assert pages.whole_text(tree(head + body)) == "one two\ntail\na\nb\nend"


@pytest.mark.slow
def test_the_main_text_is_the_article_or_nothing() -> None:
    article = "<p>" + "Bread is made of flour, water, salt and yeast. " * 8 + "</p>"
    source = f"<html><body><nav><a href=/>menu</a></nav><article>{article}</article></body></html>"
    assert pages.main_text(source).startswith("Bread is made")
    assert "menu" not in pages.main_text(source)
    assert pages.main_text("<html><body><p>short</p></body></html>") == ""


def test_what_the_parser_refuses_is_taken_out() -> None:
    assert pages.clean('  <?xml version="1.0" encoding="x"?><p>a\0b\x1f') == "<p>a b "
    assert pages.whole_text(tree('<?xml version="1.0" encoding="utf-8"?><p>a\0b')) == "a b"


def test_no_html_and_too_deep_html() -> None:
    with pytest.raises(Failure, match="no HTML"):
        tree("   ")
    deep = "<div>" * 3000 + "x"
    tree(deep)
    with pytest.raises(Failure, match="nested too deeply"):
        tree(deep, complete=True)


@given(st.text("<>/!-abp ='\"&;\n\0", max_size=200))
def test_hostile_html_ends_in_a_failure_or_text(source: str) -> None:
    with contextlib.suppress(Failure):
        assert isinstance(pages.whole_text(tree(source)), str)


def test_entries_are_collected_while_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_TOGETHER", 25)
    monkeypatch.setattr(pages, "MOST_CHARACTERS", 10)
    rooms: list[int] = []

    def entry_of(item: str, room: int) -> dict[str, Any]:
        rooms.append(room)
        if item == "bad":
            context().fail("unavailable", "no")
        return {"text": "x" * room}

    reply = pages.collected(["a", "bad", "b", "c", "d"], 10, entry_of, context())
    assert rooms == [10, 10, 10, 5]
    assert [len(entry["text"]) for entry in reply["entries"]] == [10, 10, 5]
    assert reply["total"] == 4
    assert reply["failures"] == [{"item": "bad", "kind": "unavailable", "message": "no"}]
    assert len(pages.collected(["a", "b"], 10, entry_of, context(limit=1))["entries"]) == 1
