import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fastpath.reading import slots
from metnos.fastpath.canonical import canonical
from tables import try_each

anything = st.text(st.characters(), max_size=200)


def form(text: str) -> str:
    return canonical(text, slots(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Find the PDFs in my downloads", "find <files> in <folder>"),
        ("Trova i pdf nella cartella Documenti", "trov <files> in <folder>"),
        ("move ~/a.txt to ~/b", "mov <path> to <path>"),
        ("files over 10 MB", "fil over <size>"),
        ("remind me tomorrow at 9 to call", "remind <date> at <time> to call"),
        ("which of my notes mention 'x'?", "which of note mention <quoted>"),
        ("", ""),
    ],
)
def test_the_form_of_a_request(text: str, expected: str) -> None:
    assert form(text) == expected


@try_each(
    ("one", "other"),
    [
        ("find the PDFs in ~/a", "Please find PDFs in /srv/other/place"),
        ("find files over 10 MB", "find   the files over 2,5 gigabytes"),
        ("remind me in 2 hours to call", "Could you remind me in 10 minutes to call?"),
        ("read report.pdf", 'Read "La mia tesi.pdf", thanks!'),
        ("what is 3 plus 4?", "what is 1,250.5 plus 12?"),
        ("fetch https://example.org/a", "fetch http://localhost:8000/b/c"),
        ("list the files changed on 3 May 2025", "list the files changed on 2024-01-05"),
        ("moving a.txt to ~/b", "move c.txt to ~/d"),
        ("trova i pdf in ~/a", "Per favore, trovami i PDF in ~/b"),
        ("sposta la foto a.jpg nella cartella Vacanze", "puoi spostare le foto b.jpg nella cartella Mare 2024?"),
        ("ricordami domani alle 9 di chiamare", "ricordami il 3 maggio alle 18:30 di chiamare, grazie"),
        ("quanto fa 3 più 4?", "quanto fa 1.250,5 più 12?"),
        ("mostra le prime tre righe", "mostrami le prime 20 righe"),
        ("cerca 'pane' nei file", "cercami «latte intero» nei file"),
    ],
)
def test_particulars_and_politeness_change_nothing(one: str, other: str) -> None:
    assert form(one) == form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("delete ~/a", "read ~/a"),
        ("move a.txt to ~/b", "move a.txt from ~/b"),
        ("files over 10 MB", "files under 10 MB"),
        ("do not delete a.txt", "delete a.txt"),
        ("non cancellare a.txt", "cancella a.txt"),
        ("what is the md5 of a.iso", "what is the sha256 of a.iso"),
        ("files older than 3 days", "files newer than 3 days"),
    ],
)
def test_what_is_asked_changes_the_form(one: str, other: str) -> None:
    assert form(one) != form(other)


@given(anything)
def test_a_form_of_a_form_is_itself(text: str) -> None:
    once = form(text)
    assert canonical(once, ()) == once
    assert form(text) == once


names = st.from_regex(r"[a-z]{3,12}[0-9]{2}", fullmatch=True)


@given(names, st.integers(1000, 10**9), st.sampled_from(["move {p} to {q}", "fetch {u}", "add {n} to it", "say '{t}'"]))
def test_particulars_are_not_in_the_form(name: str, number: int, template: str) -> None:
    assume(name[:3] not in template)
    text = template.format(p=f"~/{name}", q=f"/srv/{name}.txt", u=f"https://{name}.org/{name}", n=number, t=name)
    told = form(text)
    assert name not in told
    assert str(number) not in told


@given(names, names)
def test_requests_that_differ_in_names_have_one_form(one: str, other: str) -> None:
    assert form(f"copy ~/{one}/a.txt to /srv/{other}") == form(f"copy ~/{other}/a.txt to /srv/{one}")
