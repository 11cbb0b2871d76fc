from fastpath.reading import slots, told
from metnos.fastpath.slots import Kind
from tables import try_each

OPEN = [
    # paths
    ("read ~/notes.txt", ["path ~/notes.txt"]),
    ("leggi ~/appunti/casa.md", ["path ~/appunti/casa.md"]),
    ("what is in /etc/hosts?", ["path /etc/hosts @in"]),
    ("che cosa c'è in /tmp/prova?", ["path /tmp/prova @in"]),
    ("open ./x", ["path ./x"]),
    ("apri ../vecchi/", ["path ../vecchi/"]),
    ("read a/b.txt, please.", ["path a/b.txt"]),
    ("leggi src/metnos/app.py!", ["path src/metnos/app.py"]),
    ("look at (~/a.txt)", ["path ~/a.txt"]),
    ("read ~/My\\ Docs/x.txt.", ["path ~/My Docs/x.txt"]),
    ("list ~", ["path ~"]),
    ("list .", ["path ."]),
    ("elenca ..", ["path .."]),
    ("cosa c'è in /", ["path / @in"]),
    ("~/a.txt's first line", ["path ~/a.txt"]),
    ("il contenuto dell'archivio/a.txt", ["path archivio/a.txt"]),
    ("compare ~/a.txt,~/b.txt", ["path ~/a.txt", "path ~/b.txt"]),
    ("path=~/x", ["path ~/x"]),
    ("file:///tmp/a.txt", ["path /tmp/a.txt"]),
    ("C:\\Users\\me\\a.txt", ["path C:\\Users\\me\\a.txt"]),
    ("in docs/guide", ["path docs/guide @in"]),
    ("crea la cartella ~/Tasse 2026", ["path ~/Tasse 2026"]),
    ("make the directory ~/Old Stuff, please", ["path ~/Old Stuff"]),
    ("da Scaricati a Documenti/Bollette", ["folder ~/Scaricati @from", "path Documenti/Bollette"]),
    # what only looks like one
    ("this and/or that", []),
    ("questo e/o quello", []),
    ("90 km/h", ["number 90"]),
    ("TCP/IP", []),
    ("formato gg/mm/aaaa", []),
    ("i/o errors", []),
    ("a ~5 line summary", ["number 5"]),
    ("nothing . here", ["folder /home/owner/work"]),
    ("**bold** words", []),
    ("metnos.core.sign", []),
    ("version 3.5.2", []),
    ("e.g. this, i.e. that", []),
    ("Washington D.C. is far", []),
    ("we are done.Then go", []),
    # names
    ("read report.pdf", ["name report.pdf"]),
    ("leggi bilancio.xlsx.", ["name bilancio.xlsx"]),
    ("are a.txt and b.txt the same?", ["name a.txt", "name b.txt"]),
    ("confronta a.txt,b.txt", ["name a.txt", "name b.txt"]),
    ("unpack photos.tar.gz", ["name photos.tar.gz"]),
    ("nell'articolo.pdf", ["name articolo.pdf @in"]),
    ("2025.csv", ["name 2025.csv"]),
    ("show README and Makefile", ["name README", "name Makefile"]),
    ("mostra .bashrc", ["name .bashrc"]),
    ("the file data.xyz", ["name data.xyz"]),
    ("report(2).pdf", ["name report(2).pdf"]),
    ("(see report.pdf)", ["name report.pdf"]),
    # globs
    ("delete *.tmp", ["glob *.tmp"]),
    ("cancella *.bak e *.old", ["glob *.bak", "glob *.old"]),
    ("*.{jpg,png}", ["glob *.jpg|*.png"]),
    ("*.jpg|*.png", ["glob *.jpg|*.png"]),
    ("i file *fattura*", ["glob *fattura*"]),
    ("IMG_????.jpg", ["glob IMG_????.jpg"]),
    ("find ~/inbox/*.pdf", ["path ~/inbox", "glob *.pdf"]),
    ("trova src/**/*.py", ["path src", "glob *.py"]),
    ("3*4", ["number 3", "number 4"]),
    # addresses
    ("fetch https://example.org/a?b=c#d.", ["url https://example.org/a?b=c#d"]),
    ("scarica http://example.it/a(b).html, poi", ["url http://example.it/a(b).html"]),
    ("(see https://example.org/Foo_(bar)).", ["url https://example.org/Foo_(bar)"]),
    ("<https://example.org>", ["url https://example.org"]),
    ("read example.org/page", ["url https://example.org/page"]),
    ("apri localhost:8000/x", ["url http://localhost:8000/x"]),
    ("vai su www.example.it", ["url https://www.example.it @in"]),
    ("127.0.0.1:8080/health", ["url http://127.0.0.1:8080/health"]),
    ("printer.local:631", ["url http://printer.local:631"]),
    ("999.1.1.1", []),
    ("write to someone@example.com.", ["email someone@example.com"]),
    ("scrivi a nome.cognome+x@posta.example.it", ["email nome.cognome+x@posta.example.it"]),
    ("mailto:a@example.org", ["email a@example.org"]),
]


@try_each(("text", "expected"), OPEN)
def test_what_stands_in_the_open(text: str, expected: list[str]) -> None:
    assert told(text) == expected


def test_marks_that_nobody_sees_are_no_part_of_a_path() -> None:
    found = slots("\u202b~/a.txt\u200f leggi")
    assert [slot.value for slot in found] == ["~/a.txt"]


def test_a_zero_byte_ends_a_path() -> None:
    assert [slot.value for slot in slots("read ~/a\x00/etc/passwd")] == ["~/a", "/etc/passwd"]


def test_a_folder_and_its_glob_stand_side_by_side() -> None:
    folder, glob = slots("find ~/inbox/*.pdf")
    assert (folder.kind, glob.kind) == (Kind.PATH, Kind.GLOB)
    assert (folder.text, glob.text) == ("~/inbox/", "*.pdf")
    assert folder.end == glob.start
