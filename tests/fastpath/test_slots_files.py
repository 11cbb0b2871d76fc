from fastpath.reading import told
from tables import try_each

IMAGES = "*.jpg|*.jpeg|*.png|*.heic|*.gif|*.webp"
VIDEOS = "*.mp4|*.mkv|*.mov|*.avi|*.webm|*.m4v"
AUDIO = "*.mp3|*.flac|*.wav|*.ogg|*.m4a|*.aac|*.opus"
KINDS = [
    ("list the PDFs", ["files *.pdf"]),
    ("elenca i pdf", ["files *.pdf"]),
    ("all pdf files", ["files *.pdf"]),
    ("tutti i file PDF", ["files *.pdf"]),
    ("the photos", [f"files {IMAGES}"]),
    ("le immagini", [f"files {IMAGES}"]),
    ("le foto", [f"files {IMAGES}"]),
    ("which videos", [f"files {VIDEOS}"]),
    ("i filmati", [f"files {VIDEOS}"]),
    ("the songs", [f"files {AUDIO}"]),
    ("le canzoni", [f"files {AUDIO}"]),
    ("csv files", ["files *.csv"]),
    ("i file csv", ["files *.csv"]),
    ("fogli excel", ["files *.xlsx|*.xls"]),
    ("excel files", ["files *.xlsx|*.xls"]),
    ("spreadsheets", ["files *.xlsx|*.xls|*.ods"]),
    ("i fogli di calcolo", ["files *.xlsx|*.xls|*.ods"]),
    ("word documents", ["files *.docx|*.doc"]),
    ("documenti word", ["files *.docx|*.doc"]),
    (".log files", ["files *.log"]),
    (".old files", ["files *.old"]),
    ("the old files", []),
    ("the key documents", ["files *.pdf|*.docx|*.doc|*.odt|*.rtf|*.txt|*.md"]),
    ("make a zip of it", []),
    ("crea un archivio", []),
    ("unpack the zip", ["files *.zip"]),
    ("all .pdf", ["files *.pdf"]),
    ("i file di log", ["files *.log"]),
    ("text files", ["files *.txt|*.md"]),
    ("i file di testo", ["files *.txt|*.md"]),
    ("jpegs", ["files *.jpg|*.jpeg"]),
    ("le foto jpg", ["files *.jpg|*.jpeg"]),
    ("mp3 files", ["files *.mp3"]),
    ("gli mp3", ["files *.mp3"]),
    ("python scripts", ["files *.py"]),
    ("presentazioni", ["files *.pptx|*.ppt|*.odp"]),
    ("zip files", ["files *.zip"]),
    ("gli archivi zip", ["files *.zip"]),
    ("turn it into a CSV file", ["files *.csv @to"]),
    ("salva in un foglio Excel", ["files *.xlsx|*.xls @to"]),
    ("convert it to png", ["files *.png @to"]),
    ("save as PDF", ["files *.pdf @as"]),
    ("salvalo come pdf", ["files *.pdf @as"]),
    ("un database SQLite", ["files *.db|*.sqlite|*.sqlite3"]),
    # what is an ordinary word
    ("zip it", []),
    ("log in", []),
    ("extract their text", []),
    ("how many words", []),
    ("a patch for the game", []),
    ("the key point", []),
    # the file itself is named
    ("the picture holiday.jpg", ["name holiday.jpg"]),
    ("le foto a.bmp e b.tiff", ["name a.bmp", "name b.tiff"]),
    ("le diapositive di riunione.pptx", ["name riunione.pptx"]),
    ("the photos of archive.zip", [f"files {IMAGES}", "name archive.zip"]),
]


@try_each(("text", "expected"), KINDS)
def test_kinds_of_files_in_words(text: str, expected: list[str]) -> None:
    assert told(text) == expected
