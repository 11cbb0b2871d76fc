"""A request that speaks of a part or a property of a file never changes the file as a whole."""

from itertools import product

import pytest

from metnos.turn.plan.records import Kind
from metnos.turn.plan.router import Last
from tables import try_each
from turn.plan.asking import tools
from turn.plan.routing import calls, route

FILES = Last("find_files", "entries", frozenset({"path", "name", "kind", "size", "modified"}), 3, {"pattern": "*.pdf"})
TRAPS = """
togli lo sfondo dalla foto ~/Immagini/gatto.png
remove the watermark from a.pdf
delete the last page of x.pdf
cancella la riga 3 di x.csv
remove the password from y.zip
rimuovi la password da y.zip
elimina le pagine 2-4 di x.pdf
remove the first 3 lines of x.txt
delete a.txt from the archive b.zip
remove a.txt from b.zip
cancella Rossi da clienti.csv
delete 'foo' from a.txt
cancella la parola foo da a.txt
togli i duplicati da x.csv
remove duplicates from x.csv
sposta la colonna prezzo di x.csv all'inizio
move the second paragraph of a.txt to b.txt
copy the first page of x.pdf to y.pdf
copia il secondo foglio di x.xlsx in y.xlsx
copia il titolo di a.docx in b.docx
rename the column a to b in x.csv
rename the author of a.pdf to Bob
extract a.txt from b.zip
zip the second sheet of x.xlsx
comprimi l'audio di x.mp4
convert the second page of x.pdf to png
converti l'audio di x.mp4 in mp3
resize the columns of x.xlsx
change the owner of a.txt to bob
change the font of a.docx to Arial
cambia lo sfondo di gatto.png con uno blu
replace the logo in a.pdf with b.png
remove the shortcut from ~/Desktop
togli la protezione dalla cartella ~/Foto
remove the passwords from all pdfs in ~/x
rimuovi i metadati dalle foto di ~/Foto
delete the last page of every pdf in ~/x
cancella da a.txt l'ultima riga
in a.txt delete the word foo
delete a.txt from the server
cancella a.txt dal telefono
remove the red eyes from a.jpg
elimina i commenti da a.py
remove the sound from ~/Video/a.mp4
togli la musica da ~/Video/a.mp4
delete a.txt's last line
sposta la riga 3 di a.txt in b.txt
drop the table users in a.db
wipe the formatting of a.docx
archive the mails in ~/inbox
delete the invoices in ~/x
copy the invoices in ~/x to ~/b
find the pdfs in ~/x and remove the watermark
trova i pdf in ~/x e togli la filigrana
metti della musica rilassante
""".strip().splitlines()
FAIR = {
    "delete the old draft a.txt": ["a.txt"],
    "cancella il file a.txt che non serve più": ["a.txt"],
    "elimina la vecchia bozza a.txt": ["a.txt"],
    "delete my thesis draft a.txt please": ["a.txt"],
    "delete the useless file a.txt": ["a.txt"],
    "sposta la relazione a.pdf in ~/b": ["a.pdf"],
    "copy the signed contract c.pdf to ~/b": ["c.pdf"],
    "delete old.txt and the folder drafts": ["old.txt", "~/drafts"],
    "remove a.txt from ~/x": ["~/x/a.txt"],
}
VERBS = {"en": ("delete", "remove", "move", "copy", "zip", "rename"), "it": ("cancella", "togli", "sposta", "copia")}
PARTS = {"en": ("the watermark", "the header", "page 2", "the last line"), "it": ("lo sfondo", "la riga 3", "il logo")}
OUT_OF = {"en": ("of", "from", "in"), "it": ("di", "da", "dal file")}


def changed(text: str, last: Last | None = None) -> list[str]:
    """The steps of a plan that is carried out at once, and that change something."""
    plan = route(text, last=last)
    return [name for name, _ in calls(plan) if tools()[name].mutates] if plan.kind is Kind.STEPS else []


@try_each("text", TRAPS)
def test_what_speaks_of_a_part_changes_no_file(text: str) -> None:
    assert changed(text) == []


@pytest.mark.slow
@pytest.mark.parametrize("spoken", ["en", "it"])
def test_no_verb_takes_the_whole_for_a_part(spoken: str) -> None:
    said = [
        f"{verb} {part} {out} {file}"
        for verb, part, out, file in product(VERBS[spoken], PARTS[spoken], OUT_OF[spoken], ("~/x/a.pdf", "b.zip"))
    ]
    assert [text for text in said if changed(text)] == []


@pytest.mark.parametrize(
    "text", ["delete the first line of it", "remove the watermark from them", "togline la filigrana"]
)
def test_a_part_of_what_was_found_is_a_part_too(text: str) -> None:
    assert changed(text, FILES) == []


@try_each(("text", "paths"), FAIR.items())
def test_a_word_before_a_name_says_what_the_file_is(text: str, paths: list[str]) -> None:
    assert calls(route(text))[-1][1]["paths"] == paths


def test_what_takes_a_part_away_is_wished_for_as_such() -> None:
    assert [wish.name for wish in route("remove the watermark from a.pdf").wishes] == ["clean_documents"]
    assert [wish.name for wish in route("delete the last page of x.pdf").wishes] == ["delete_pages"]


def test_the_first_of_what_was_found() -> None:
    assert calls(route("elimina il primo", last=FILES)) == [("delete_files", {"paths": ["{{last.entries[0].path}}"]})]
    assert calls(route("delete the first one", last=FILES))[0][1] == {"paths": ["{{last.entries[0].path}}"]}
    assert route("delete the first page", last=FILES).kind is not Kind.STEPS
    assert route("elimina il primo").kind is Kind.QUESTION
