"""Shapes against the router: what was learnt from one request is what the router plans for another."""

import pytest

from metnos.fastpath.heard import Heard
from metnos.fastpath.shape import CONSTANT, Learnt, Seen, fill, learn
from metnos.fastpath.slots import extract
from metnos.turn.plan.fill_files import Ground, resolved
from tables import try_each
from turn.plan import routing


def heard_there(text: str) -> Heard:
    """As a turn hears it: places as they are to be understood on that machine."""
    found = extract(text, now=routing.NOW, home=routing.HOME, cwd=routing.CWD)
    ground = Ground(routing.CWD, routing.HOME, routing.THERE.__contains__)
    return Heard.of(text, resolved(found, ground), routing.NOW)


PAIRS = [
    ("zip my thesis folder", "zip my Pictures folder"),
    ("are report.txt and old.txt the same?", "are a.txt and B.txt the same?"),
    ("what date is 90 days from today?", "what date is 12 days from today?"),
    ("quanti giorni tra il 1 marzo e il 15 agosto 2026?", "quanti giorni tra il 3 aprile e il 7 luglio 2026?"),
    ("what is 15% of 1250 plus 3.5 squared?", "what is 20% of 99 plus 7 squared?"),
    ("quanto fa 12.50 per 3 diviso 7?", "quanto fa 8,25 per 4 diviso 2?"),
    ("convert logo.png to jpeg and put it in Web", "convert Foto.bmp to png and put it in Site"),
    ("turn report.xlsx into a CSV file", "turn Sales.xlsx into a CSV file"),
    ("how many kilometres are 26.2 miles?", "how many kilometres are 10 miles?"),
    ("quali sono le venti parole più usate in diario.md?", "quali sono le dieci parole più usate in note.txt?"),
    ("annulla i promemoria 1 e 4", "annulla i promemoria 2 e 9"),
    ("how large is the picture holiday.jpg?", "how large is the picture ~/Pictures/cat.png?"),
    ("unzip photos.zip into Pictures", "unzip docs.tar.gz into ~/Documents"),
    ("read me the article at https://example.org/news", "read me the article at https://example.org/News/Wine?x=1"),
    ("find the PDFs in ~/inbox", "find the PDFs in my downloads"),
    ("what are the ten largest files in my home?", "what are the five newest files in Documents?"),
    ("find the photos in Foto older than a year", "find the photos in ~/Video older than 3 months"),
    ("cerca negli appunti 'riunione di condominio'", "cerca negli appunti 'Lista della Spesa'"),
    ("make a folder called Taxes 2026 in my documents", "make a folder called Recipes in my documents"),
    ("move invoice.pdf and receipt.pdf to my documents", "move One.pdf and two.pdf to my pictures"),
    ("read lines 100 to 120 of server.log", "read lines 3 to 9 of app.log"),
    ("replace 'colour' by 'color' in draft.txt", "replace 'Foo' by 'bar' in b.txt"),
    ("remind me in 2 hours to call the dentist", "remind me in 45 minutes to call the dentist"),
    ("ricordami domani alle 9 di pagare l'affitto", "ricordami lunedì alle 18 di pagare l'affitto"),
    ("save 'buy milk' as shopping.txt", "save 'Call Bob' as calls.txt"),
    ("which files in ~/Downloads are bigger than 5 MB?", "which files in Documents are bigger than 2 GB?"),
    ("list the PDFs in ~/inbox that I changed yesterday", "list the PDFs in ~/b that I changed last Friday"),
    ("total quantity in ~/data/sales.csv", "total quantity in ~/other.csv"),
    ("rename ~/Desktop/a.txt to alpha.txt", "rename ~/Documents/letter.txt to mail.txt"),
    ("note that the plumber comes on Tuesday", "note that the plumber comes on Friday"),
    ("find the PDFs in ~/inbox and extract their text", "find the PDFs in ~/b and extract their text"),
    ("rows of x.csv with weight above 4, sorted by weight", "rows of y.csv with weight above 7, sorted by weight"),
]  # fmt: skip


@try_each(("seen", "asked"), PAIRS)
def test_a_request_with_other_particulars_gets_what_the_router_would_plan(seen: str, asked: str) -> None:
    planned, wanted = routing.calls(routing.route(seen)), routing.calls(routing.route(asked))
    assert planned
    assert [name for name, _ in planned] == [name for name, _ in wanted]
    known = heard_there(seen)
    shape = learn([args for _, args in planned], known)
    assert isinstance(shape, Learnt), shape
    observed = {place: Seen(value, CONSTANT) for place, value in shape.constants.items()}
    assert fill(shape.shape, observed, heard_there(asked), known.form) == tuple(args for _, args in wanted)


@pytest.mark.slow
def test_nearly_every_plan_of_the_router_is_learnt_and_gives_itself_again() -> None:
    learnable = 0
    plans = [(route["say"], routing.calls(routing.route(route["say"]))) for route in routing.table()[::6]]
    plans = [(say, calls) for say, calls in plans if calls and routing.route(say).kind == "steps"]
    for say, calls in plans:
        heard = heard_there(say)
        shape = learn([args for _, args in calls], heard)
        if isinstance(shape, Learnt):
            learnable += 1
            observed = {place: Seen(value, CONSTANT) for place, value in shape.constants.items()}
            assert fill(shape.shape, observed, heard, heard.form) == tuple(args for _, args in calls), say
    assert learnable >= 0.97 * len(plans)
