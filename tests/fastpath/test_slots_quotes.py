from fastpath.reading import slots, told
from tables import try_each

QUOTED = [
    ("search for 'invoice'", ["quoted invoice"]),
    ('cerca "riunione di condominio"', ["quoted riunione di condominio"]),
    ("cerca «pane e latte»", ["quoted pane e latte"]),
    ("find “two words”", ["quoted two words"]),
    ("trova \u2018una frase\u2019", ["quoted una frase"]),
    ("print `hello there`", ["quoted hello there"]),
    ("it's 'don't panic' time", ["quoted don't panic"]),
    ("l'ultimo 'caso' dell'anno", ["quoted caso"]),
    ("the dogs' 'bone'", ["quoted bone"]),
    ("un po' di 'sale'", ["quoted sale"]),
    ("an unclosed 'quote", []),
    ('an unclosed "quote', []),
    ("''", []),
    ('replace " " with "_"', ["quoted  ", "quoted _ @with"]),
    ("'a', 'b' and 'c'", ["quoted a", "quoted b", "quoted c"]),
    ("['one', 'two']", ["quoted one", "quoted two"]),
    # paths, names, globs and addresses win
    ('read "~/Documents/a b.pdf"', ["path ~/Documents/a b.pdf"]),
    ("leggi '/srv/le mie cose/x.txt'", ["path /srv/le mie cose/x.txt"]),
    ('"spese 2025.csv"', ["name spese 2025.csv"]),
    ("apri 'My Report.pdf'", ["name My Report.pdf"]),
    ("delete '*.tmp'", ["glob *.tmp"]),
    ("fetch 'https://example.org/x'", ["url https://example.org/x"]),
    ("'someone@example.org'", ["email someone@example.org"]),
    ("the phrase 'and/or'", ["quoted and/or @about"]),
    ("'5 * 3'", ["quoted 5 * 3"]),
    ("write 'delete a.txt' to b.txt", ["quoted delete a.txt", "name b.txt @to"]),
    ("scrivi 'sposta a.txt' in b.txt", ["quoted sposta a.txt", "name b.txt @to"]),
    # a folder's name
    ('in the folder "Old Stuff"', ["folder Old Stuff @in"]),
    ("nella cartella 'Vecchie Cose'", ["folder Vecchie Cose @in"]),
    ("make a folder called 'Tax papers'", ["folder Tax papers @as"]),
    ("crea una cartella chiamata «Spese varie»", ["folder Spese varie @as"]),
    ("the file 'notes'", ["name notes"]),
    ("what is in 'a folder'", ["quoted a folder @in"]),
]


@try_each(("text", "expected"), QUOTED)
def test_what_stands_in_quotes(text: str, expected: list[str]) -> None:
    assert told(text) == expected


def test_the_span_holds_the_quotes_and_the_value_does_not() -> None:
    (slot,) = slots("cerca «pane e latte» qui sotto")
    assert slot.text == "«pane e latte»"
    assert slot.value == "pane e latte"


def test_a_quoted_text_keeps_its_case_and_lines() -> None:
    (slot,) = slots('write "One\nTwo"')
    assert slot.value == "One\nTwo"


def test_nothing_inside_quotes_is_found_again() -> None:
    inner = "on 3 May I moved 5 files to ~/x over 2 GB"
    assert told(f"note '{inner}'") == [f"quoted {inner}"]
