from fastpath.reading import slots, told
from tables import try_each

TOLD = [
    ("find duplicates in my downloads", ["folder ~/Downloads @in"]),
    ("cerca i doppioni nei miei download", ["folder ~/Downloads @in"]),
    ("i file negli scaricati", ["folder ~/Scaricati @in"]),
    ("i file scaricati ieri", ["date 2026-11-14 @in"]),
    ("what is in my documents folder?", ["folder ~/Documents @in"]),
    ("la cartella Documenti", ["folder ~/Documenti"]),
    ("nella cartella documenti", ["folder ~/Documenti @in"]),
    ("nei miei documenti", ["folder ~/Documenti @in"]),
    ("what is on the desktop", ["folder ~/Desktop @in"]),
    ("sul desktop", ["folder ~/Desktop @in"]),
    ("sulla scrivania", ["folder ~/Scrivania @in"]),
    ("a desktop app", []),
    ("unzip it into Pictures", ["folder ~/Pictures @to"]),
    ("which copies in Music could go?", ["folder ~/Music @in"]),
    ("find copies in my photos", ["folder ~/Pictures @in"]),
    ("nella cartella Immagini", ["folder ~/Immagini @in"]),
    ("nelle mie foto", ["folder ~/Immagini @in"]),
    ("quanto occupa la cartella Video?", ["folder ~/Video"]),
    ("the videos folder", ["folder ~/Videos"]),
    # home and here
    ("what fills my home?", ["folder ~"]),
    ("what is in my home directory", ["folder ~ @in"]),
    ("nella mia home", ["folder ~ @in"]),
    ("nella cartella personale", ["folder ~ @in"]),
    ("my home page", []),
    ("list the files here", ["folder /home/owner/work"]),
    ("elenca i file qui", ["folder /home/owner/work"]),
    ("here is what I want", []),
    ("list this folder", ["folder /home/owner/work"]),
    ("in the current directory", ["folder /home/owner/work @in"]),
    ("in questa cartella", ["folder /home/owner/work @in"]),
    ("la cartella corrente", ["folder /home/owner/work"]),
    ("the parent folder", ["folder .."]),
    # named
    ("in the folder Vacanze", ["folder Vacanze @in"]),
    ("nella cartella Vacanze 2025", ["folder Vacanze 2025 @in"]),
    ("the folder Old Photos", ["folder Old Photos"]),
    ("delete the folder drafts", ["folder drafts"]),
    ("zip my thesis folder", ["folder thesis"]),
    ("la cartella delle fatture", ["folder fatture"]),
    ("make a folder called Taxes 2026 in my documents", ["folder Taxes 2026 @as", "folder ~/Documents @in"]),
    ("crea una cartella chiamata spese", ["folder spese @as"]),
    ("crea le cartelle Foto, Video e Musica", ["folder Foto", "folder Video", "folder Musica"]),
    ("make the folders One, Two and Three", ["folder One", "folder Two", "folder Three"]),
    ("nella cartella Nuove", ["folder Nuove @in"]),
    ("the largest folder", ["order largest"]),
    ("which folder is empty?", []),
    ("una cartella nuova", []),
    ("the folder where I keep it", []),
    # a capital word where a place is expected
    ("copy it into Backup", ["folder Backup @to"]),
    ("put it in Web", ["folder Web @to"]),
    ("mettili in Archivio", ["folder Archivio @to"]),
    ("i file in Scansioni", ["folder Scansioni @in"]),
    ("un doppio di preventivo.pdf in Archivio", ["name preventivo.pdf", "folder Archivio @in"]),
    ("who was in Rome yesterday in Rome", ["date 2026-11-14 @in"]),
    ("translate it into Japanese", []),
    ("what time is it in Tokyo", []),
    ("convert it to English", []),
    ("move the meeting to Friday", ["date 2026-11-13 @in"]),
]


@try_each(("text", "expected"), TOLD)
def test_folders_in_words(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@try_each(
    ("text", "also"),
    [
        ("my downloads", ("~/Scaricati", "~/Download")),
        ("la cartella Documenti", ("~/Documents",)),
        ("la cartella Immagini", ("~/Pictures",)),
        ("desktop", ("~/Scrivania",)),
        ("the folder Vacanze", ("~/Vacanze",)),
        ("the folder 'Old Stuff'", ("~/Old Stuff",)),
        ("my home", ()),
        ("here", ()),
    ],
)
def test_a_folder_says_what_else_it_may_be(text: str, also: tuple[str, ...]) -> None:
    (slot,) = slots(text)
    assert slot.also == also


def test_articles_and_the_word_folder_belong_to_the_slot() -> None:
    assert [slot.text for slot in slots("list the folder Vacanze and my documents folder")] == [
        "the folder Vacanze",
        "my documents folder",
    ]
