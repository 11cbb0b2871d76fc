"""Wishes: names from the vocabulary, the same for the same need."""

from metnos.fastpath.slots import extract
from metnos.turn.plan.clauses import split
from metnos.turn.plan.fill_text import swallows
from metnos.turn.plan.records import REQUEST
from metnos.turn.plan.wish import wish
from tables import try_each
from turn.plan.routing import CWD, HOME, NOW


def wished(text: str, *existing: str) -> str | None:
    clause = split(text, extract(text, now=NOW, home=HOME, cwd=CWD), swallows)[0]
    found = wish(clause, REQUEST, existing)
    return found.name if found else None


@try_each(("texts", "name"), [
    (["translate x.txt into French", "traduci lettera.docx in inglese", "please translate ~/a.pdf"], "translate_text"),
    (["rotate photo.jpg by 90 degrees", "ruota foto.png di 90 gradi"], "rotate_images"),
    (["che tempo fa domani", "what's the weather in Rome?", "will it rain tomorrow?"], "get_weather"),
    (["play some music", "suona un po' di musica"], "play_audio"),
    (["send the report to a@b.it", "manda la relazione a c@d.it"], "send_mails"),
    (["merge a.pdf and b.pdf"], "merge_documents"),
    (["draw a chart of x.csv", "disegna un grafico di y.csv"], "draw_charts"),
    (["order a pizza", "frobnicate ~/x", "asdf qwer", "what is love"], None),
])  # fmt: skip
def test_a_need_has_one_name(texts: list[str], name: str | None) -> None:
    assert {wished(text) for text in texts} == {name}


def test_a_name_that_is_taken_says_how_it_differs_or_is_none() -> None:
    assert wished("merge a.pdf and b.pdf", "merge_documents") == "merge_documents_pdf"
    assert wished("play some music", "play_audio") is None


def test_particulars_become_inputs_and_stay_out_of_the_summary() -> None:
    text = "translate ~/secret/plan.txt into French"
    found = wish(split(text, extract(text, now=NOW, home=HOME, cwd=CWD), swallows)[0], REQUEST, ())
    assert found is not None
    assert found.inputs == ("path (txt)",)
    assert "secret" not in found.summary
    assert "French" not in found.summary
