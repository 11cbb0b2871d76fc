import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.executors import vocabulary
from metnos.turn.plan.model_wish import wish
from tables import try_each

HAVE = frozenset({"find_files", "read_tables"})


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("send_mails", "send_mails"),
        ("send mail", "send_mails"),
        ("translate_document", "translate_documents"),
        ("Play Audio!", "play_audio"),
        ("traduci testo", "translate_text"),
        ("read_tables_csv", "read_tables_csv"),  # the plain name is taken, the qualifier says how it differs
        ("convert_currencys", "convert_currencies"),
    ],
)
def test_a_models_name_becomes_one_of_the_vocabulary(said: str, name: str) -> None:
    found = wish(said, "the request", "", HAVE)
    assert found is not None
    assert (found.name, found.source, found.summary) == (name, "request", "the request")


@try_each("said", ["", "order_pizza", "find_files", "xyzzy", "../../etc", "rm -rf", "_" * 500, "12345"])
def test_what_has_no_name_is_not_wished_for(said: str) -> None:
    assert wish(said, "x", "find_files", HAVE) is None


@given(st.text(max_size=200))
def test_whatever_is_said_the_name_is_of_the_vocabulary_and_new(said: str) -> None:
    found = wish(said, said, "", HAVE)
    if found is not None:
        assert str(vocabulary.parse_name(found.name)) == found.name
        assert found.name not in HAVE
        assert len(found.summary) <= 120
