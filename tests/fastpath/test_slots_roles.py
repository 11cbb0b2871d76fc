from fastpath.reading import told
from tables import try_each

ROLES = [
    # to
    ("move a.txt to ~/b", ["name a.txt", "path ~/b @to"]),
    ("sposta a.txt in ~/b", ["name a.txt", "path ~/b @to"]),
    ("move the thesis folder to Backup", ["folder thesis", "folder Backup @to"]),
    ("copia foto.jpg nella cartella Vacanze", ["name foto.jpg", "folder Vacanze @to"]),
    ("rename draft.txt to final.txt", ["name draft.txt", "name final.txt @to"]),
    ("rinomina bozza.txt in finale.txt", ["name bozza.txt", "name finale.txt @to"]),
    ("download https://example.org/a.zip to ~/Downloads", ["url https://example.org/a.zip", "path ~/Downloads @to"]),
    ("zip a.txt and b.txt into c.zip", ["name a.txt", "name b.txt", "name c.zip @to"]),
    ("comprimi a.txt e b.txt in c.zip", ["name a.txt", "name b.txt", "name c.zip @to"]),
    ("write 'milk' in todo.txt", ["quoted milk", "name todo.txt @to"]),
    ("scrivi 'latte' nel file spesa.txt", ["quoted latte", "name spesa.txt @to"]),
    ("salva tutto dentro ~/copia", ["path ~/copia @to"]),
    ("compare a.txt to b.txt", ["name a.txt", "name b.txt"]),
    # from
    ("copy the PDFs from ~/a to ~/b", ["files *.pdf", "path ~/a @from", "path ~/b @to"]),
    ("copia i pdf da ~/a a ~/b", ["files *.pdf", "path ~/a @from", "path ~/b @to"]),
    ("extract the text from report.pdf", ["name report.pdf @from"]),
    ("estrai il testo dalla pagina ricetta.html", ["name ricetta.html @from"]),
    ("delete a.txt from ~/x and ~/y", ["name a.txt", "path ~/x @from", "path ~/y @from"]),
    ("make a backup of my thesis folder on /media/usb", ["folder thesis", "path /media/usb @to"]),
    ("leggi ~/voti.csv e salvali in ~/ordinati.csv", ["path ~/voti.csv", "path ~/ordinati.csv @to"]),
    ("how many words did I write in a.md?", ["name a.md @in"]),
    ("is a.zip the same file as b.zip?", ["name a.zip", "name b.zip"]),
    # in
    ("find the PDFs in ~/inbox", ["files *.pdf", "path ~/inbox @in"]),
    ("trova i pdf sotto ~/inbox", ["files *.pdf", "path ~/inbox @in"]),
    ("find the PDFs in ~/inbox and move them to ~/docs", ["files *.pdf", "path ~/inbox @in", "path ~/docs @to"]),
    ("move the PDFs in ~/inbox to ~/docs", ["files *.pdf", "path ~/inbox @in", "path ~/docs @to"]),
    ("sposta i pdf in ~/inbox nella cartella Vacanze", ["files *.pdf", "path ~/inbox @in", "folder Vacanze @to"]),
    ("zip the files in ~/x", ["path ~/x @in"]),
    ("i file di ~/docs", ["path ~/docs @in"]),
    ("le righe di ~/diario.md", ["path ~/diario.md"]),
    ("copia in ~/backup i file di ~/docs", ["path ~/backup @to", "path ~/docs @in"]),
    # as
    ("save these rows as expenses.csv", ["name expenses.csv @as"]),
    ("salva come spese.csv", ["name spese.csv @as"]),
    ("una copia che si chiami b.xlsx", ["name b.xlsx @as"]),
    # words in quotes
    ("files containing 'invoice'", ["quoted invoice @about"]),
    ("i file che contengono 'fattura'", ["quoted fattura @about"]),
    ("con la parola 'fattura'", ["quoted fattura @about"]),
    ("replace 'a' with 'b'", ["quoted a", "quoted b @with"]),
    ("replace 'a' by 'b' in c.txt", ["quoted a", "quoted b @with", "name c.txt @in"]),
    ("sostituisci 'a' con 'b'", ["quoted a", "quoted b @with"]),
    ("swap every 'a' for 'b'", ["quoted a", "quoted b @with"]),
    ("cambia 2025 in 2026", ["number 2025", "number 2026"]),
    ("cambia 'x' in 'y'", ["quoted x", "quoted y @to"]),
    ("a note titled 'shopping'", ["quoted shopping @as"]),
    ("una nota chiamata 'spesa'", ["quoted spesa @as"]),
    # numbers
    ("sales above 100", ["number 100 @min"]),
    ("vendite oltre 1.000 euro", ["number 1000 @min"]),
    ("pieni oltre il 90%", ["number 90 @min"]),
    ("fewer than 10 rows", ["number 10 @max"]),
    ("meno di 10 righe", ["number 10 @max"]),
    ("(12.5 + 7) * 3", ["number 12.5", "number 7", "number 3"]),
    ("10+ rows", ["number 10 @min"]),
    ("price > 5", ["number 5 @min"]),
    ("prezzo <= 5", ["number 5 @max"]),
    ("between 10 and 20 euros", ["number 10 @min", "number 20 @max"]),
    ("tra 10 e 20 euro", ["number 10 @min", "number 20 @max"]),
    ("read lines 100 to 120", ["number 100 @from", "number 120 @to"]),
    ("leggi le righe da 100 a 120", ["number 100 @from", "number 120 @to"]),
    ("pages 1-3", ["number 1 @from", "number 3 @to"]),
    # however long the path before it is
    (
        f"move the txt files in /{'a' * 80} to /{'b' * 80}",
        ["files *.txt", f"path /{'a' * 80} @in", f"path /{'b' * 80} @to"],
    ),
]


@try_each(("text", "expected"), ROLES)
def test_what_the_words_around_say(text: str, expected: list[str]) -> None:
    assert told(text) == expected
