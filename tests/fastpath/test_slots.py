import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.reading import slots, told
from metnos.core.canon import canonical_json
from metnos.fastpath.slots import Kind, Slot, amount, without
from suite import Repeat
from tables import try_each

REQUESTS = [
    (
        "find the PDFs over 10 MB in my downloads that are older than 30 days",
        ["files *.pdf", "size 10 MB @min", "folder ~/Downloads @in", "duration 30 @older"],
    ),
    (
        "trova i pdf oltre i 10 mega nei miei download più vecchi di un mese",
        ["files *.pdf", "size 10 MB @min", "folder ~/Downloads @in", "duration 30 @older"],
    ),
    (
        "which videos over 1 GB did I get this week?",
        ["files *.mp4|*.mkv|*.mov|*.avi|*.webm|*.m4v", "size 1 GB @min", "range 2026-11-09..2026-11-15 @in"],
    ),
    (
        "what are the ten largest files in my home?",
        ["count 10 @first", "order largest", "folder ~ @in"],
    ),
    (
        "trova le foto più vecchie di un anno nella cartella Immagini",
        ["files *.jpg|*.jpeg|*.png|*.heic|*.gif|*.webp", "duration 365 @older", "folder ~/Immagini @in"],
    ),
    (
        "move invoice.pdf and receipt.pdf to my documents",
        ["name invoice.pdf", "name receipt.pdf", "folder ~/Documents @to"],
    ),
    (
        "sposta foto.jpg nella cartella Vacanze, creala se non c'è",
        ["name foto.jpg", "folder Vacanze @to"],
    ),
    (
        "riduci a.png e b.png a 800 pixel come jpeg nella cartella Web",
        ["name a.png", "name b.png", "number 800", "files *.jpg|*.jpeg @as", "folder Web @to"],
    ),
    (
        "convert logo.png to jpeg and put it in Web",
        ["name logo.png", "files *.jpg|*.jpeg @to", "folder Web @to"],
    ),
    (
        "cerca 'fattura' nei file di testo della cartella documenti, con due righe intorno",
        ["quoted fattura", "files *.txt|*.md @in", "folder ~/Documenti @in", "number 2"],
    ),
    (
        "set a reminder for 20 December at 18:30: concert",
        ["date 2026-12-20 @in", "time 18:30"],
    ),
    (
        "ricordami domani alle 9 di pagare l'affitto",
        ["date 2026-11-16 @in", "time 09:00"],
    ),
    ("read lines 100 to 120 of server.log", ["number 100 @from", "number 120 @to", "name server.log"]),
    ("leggi le prime 20 righe di diario.md", ["count 20 @first", "name diario.md"]),
    ("mostrami gli ultimi cinque appunti", ["count 5 @last"]),
    ("quali dischi sono pieni oltre il 90%?", ["number 90 @min"]),
    ("how much disk space is left?", []),
    ("da quanto tempo è acceso il computer?", []),
    ("età media per città", []),
    ("firefox è in esecuzione?", []),
]


@try_each(("text", "expected"), REQUESTS)
def test_a_whole_request(text: str, expected: list[str]) -> None:
    assert told(text) == expected


anything = st.text(st.characters(), max_size=300)
pieces = st.sampled_from(
    "~/a.txt ../b/ *.pdf 'x y' \"~/a b\" http://a.org/x a@b.org report.pdf 3 4,5 1.234 10 MB GB May maggio yesterday"
    " ieri last ultimi week mesi at alle 5pm 18:30 older than più vecchi di un anno folder cartella Documenti my"
    " downloads here qui and e , . ( ) ' \" « » first ten più grandi between tra from dal to al 2025 2026-01-01 half"
    " mezza ora hours move copia in nella into as \u202e \x00 \n \ud800 \ue000".split(" ")
)
sentences = st.lists(pieces, max_size=30).map(" ".join)


@given(st.one_of(anything, sentences, st.lists(pieces, max_size=30).map("".join)))
def test_slots_are_where_they_say_and_never_overlap(text: str) -> None:
    found = slots(text)
    at = 0
    for slot in found:
        assert at <= slot.start < slot.end <= len(text)
        assert slot.text == text[slot.start : slot.end]
        assert isinstance(slot.kind, Kind)
        assert json.loads(canonical_json(slot.value)) == slot.value
        at = slot.end
    assert slots(text) == found
    assert "  " not in without(text, found)


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.parametrize(
    "piece",
    [
        "a", " ", "1", "'a ", " 'a", '"a', "«", "/", "a/", "*", "~/a ", "a.txt and ", "copy a.txt in ~/b ", "@",
        "a.", "a@b.co ", "folder ", "folder Xa ", "Xa ", "two ", "two hundred and ", "\\", "*.{", "(", ")",
        "http://", "5 più ", "pdf of a.pdf ", "'\"“«", "meno ", "\n\t", "the ", "in ", "10 and 20 MB ", "-5", "1,",
        "1.", "1e5 ", "5 largest ", "a=", "1:11 ", "l'", "\u202e~/a\u200f ", "last ", "march ", "friday, ",
        "3 May to ", "from 3 May to 5 June ", "5 days ", "5 ", "<", ">", "\x00", "\u0301", "İ", "\ue000", "\ud800",
        "mezz'", "un'", "ventuno", "most recent ", "a:", ".a", "..", "~", "~a",
    ],
)  # fmt: skip
def test_a_long_text_is_read_to_its_end(piece: str, repeat: Repeat) -> None:
    length = len(repeat("characters of a long text", suite=5_000, soak=20_000))
    text = (piece * length)[:length]
    found = slots(text)
    assert all(slot.text == text[slot.start : slot.end] for slot in found)


def test_without_its_particulars_a_request_is_what_is_asked() -> None:
    text = "move  report.pdf to my documents, please"
    assert without(text, slots(text)) == "move to , please"
    assert without("nothing  here to\tcut", ()) == "nothing here to cut"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("convert 90 minutes to hours", (90, "minutes")),
        ("converti 2,5 GB in byte", (2.5, "GB")),
        ("15% of it", (15, "%")),
        ("-5 degrees", (-5, "")),
        ("three days", None),
    ],
)
def test_an_amount_is_its_figures_and_unit(text: str, expected: tuple[float, str] | None) -> None:
    assert amount(slots(text)[0]) == expected


def test_the_kinds_are_these() -> None:
    names = "path folder name glob files url email number size date range time duration quoted count order"
    assert [kind.value for kind in Kind] == names.split()
    assert Slot(Kind.NAME, 0, 1, "a", "a").also == ()
