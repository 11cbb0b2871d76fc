"""Kinds of files in words: `PDFs`, `the photos`, `fogli excel`, `.log files`, `i file di testo`.

Rules: the value is a glob, several joined with `|`. A word that is an ordinary verb or noun too (`zip`, `word`, `log`)
is a kind of files only beside a word such as *file*. Where the file itself is named right behind (`the photo a.jpg`),
the kind is not a particular.
"""

import re
from collections.abc import Iterator, Mapping

from metnos.fastpath.slots_paths import ARCHIVES, EXTENSIONS, extension
from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import MARKS, NUMBER_FILL, NUMBER_MARK, Source, listed


def _globs(endings: str) -> str:
    return "|".join(f"*.{ending}" for ending in endings.split())


_KINDS = {
    "images": _globs("jpg jpeg png heic gif webp"),
    "videos": _globs("mp4 mkv mov avi webm m4v"),
    "audio": _globs("mp3 flac wav ogg m4a aac opus"),
    "sheets": _globs("xlsx xls ods"),
    "word": _globs("docx doc"),
    "documents": _globs("pdf docx doc odt rtf txt md"),
    "slides": _globs("pptx ppt odp"),
    "archives": _globs("zip tar tar.gz tgz tar.bz2 tar.xz 7z rar"),
    "text": _globs("txt md"),
    "logs": "*.log",
    "html": _globs("html htm"),
    "python": "*.py",
    "markdown": "*.md",
    "shell": "*.sh",
    "databases": _globs("db sqlite sqlite3"),
    "books": _globs("epub mobi"),
    "excel": _globs("xlsx xls"),
    "jpeg": _globs("jpg jpeg"),
}
_PHRASES = {
    "images": "photos? pictures? images? photographs? foto fotografi[ae] immagin[ei]",
    "videos": "videos? movies? films? filmat[oi] video_clips? videoclip file_video",
    "audio": "songs? music musica canzon[ei] bran[oi] audio_files? file_audio file_musicali audio_tracks? tracce_audio",
    "excel": "fogli?o?_excel file_excel excel_files? excel_sheets? excel_spreadsheets? excel",
    "sheets": "spreadsheets? fogli?o?_di_calcolo",
    "word": "word_documents? word_files? word_docs? document[oi]_(?:di_)?word file_(?:di_)?word",
    "documents": "documents documenti",
    "slides": "presentations? presentazion[ei] powerpoints? powerpoint_files? file_powerpoint slides diapositive",
    "archives": "archives archiv[io] compressed_files file_compressi",
    "text": "text_files? file_di_testo plain_text_files? file_testo",
    "logs": "logs log_files? logfiles? file_di_log",
    "html": "html_pages? pagin[ae]_html web_pages_saved",
    "python": "python_files? python_scripts? script_python file_python",
    "markdown": "markdown_files? file_markdown markdown",
    "shell": "shell_scripts? script_shell",
    "databases": "sqlite_databases? sqlite_files? database_sqlite database_files sqlite",
    "books": "e-?books? libri_digitali",
    "jpeg": "jpe?gs? jpe?g_files? file_jpe?g",
}
_LOOSE = frozenset(
    listed(
        "zip doc docs log text md c h go db key rs sh mov pages part lock r old bak so numbers raw sub sig bin patch"
        " diff msg orig tmp env conf img dat properties feather swift java vue lua mid cc ts php sql css js plist srt"
    )
)
_NOUN = r"(?:files?|documents?|docs|archives?|archiv[io]|images?|immagin[ei]|photos?|foto|document[oi])"
_SURE = "|".join(sorted(EXTENSIONS - _LOOSE - {"jpg", "jpeg", "sqlite", "markdown"}, key=len, reverse=True))
_EVERY = "|".join(sorted(EXTENSIONS, key=len, reverse=True))
_ENDINGS = "|".join(sorted(EXTENSIONS - {"old", "key", "so"}, key=len, reverse=True))  # *old files* have an age
_NAMED = re.compile(
    r"\b(?:" + "|".join(
        f"(?P<{kind}>" + "|".join(phrase.replace("_", " ") for phrase in spoken.split()) + ")"
        for kind, spoken in _PHRASES.items()
    ) + r")(?![\w-])"
)  # fmt: skip
_BY_ENDING = re.compile(
    rf"\b(?:(?P<a>{_ENDINGS}) {_NOUN}"
    rf"|(?:file|document[oi]|immagin[ei]|foto|archiv[io]) (?:in |in formato )?(?P<b>{_EVERY})"
    rf"|(?P<c>{_SURE})(?:(?<=\w\w\w)s)?)(?![\w'-])"  # of two letters there is no plural: *pls* is no Perl
)
_A_ZIP = re.compile(r"\b(?P<c>zip)s\b|\b(?:a|an|the|uno|lo|gli|dello|degli|allo) (?P<d>zip)s?\b")
_MADE = re.compile(
    r"\b(?:make|making|create|creating|build|prepare|produce|crea|creare|creami|fai|fare|fammi|prepara|genera)(?: me)?"
    rf"(?: (?:an?|one|the|il|lo|un|{NUMBER_MARK}{NUMBER_FILL}*+)| new| nuovo| compressed){{1,3}} $"
)
_FOLLOWED = re.compile(
    r" (?:called |named |chiamat[oaie] |di nome )?(?P<of>(?:of|in|from|di|del|dal|da) (?:the |the file |file )?)?"
    rf"(?P<file>[{MARKS[Kind.PATH]}{MARKS[Kind.NAME]}{MARKS[Kind.URL]}])"
)


def slots(source: Source) -> Iterator[Slot]:
    """Every kind of files that is told in words."""
    by_start = {slot.start: slot for slot in source.slots}
    for match in _BY_ENDING.finditer(source.low):
        ending = match["a"] or match["b"] or match["c"]
        value = _KINDS["jpeg"] if ending in {"jpg", "jpeg"} else f"*.{ending}"
        yield from _unless_named(source, by_start, match.start(), match.end(), value)
    for match in _A_ZIP.finditer(source.low):
        yield from _unless_named(source, by_start, match.start(match.lastgroup or 0), match.end(), "*.zip")
    for match in _NAMED.finditer(source.low):
        yield from _unless_named(source, by_start, match.start(), match.end(), _KINDS[match.lastgroup or ""])


def _unless_named(source: Source, by_start: Mapping[int, Slot], start: int, end: int, value: str) -> Iterator[Slot]:
    packed = all(each.rpartition(".")[2] in ARCHIVES for each in value.split("|"))
    if packed and _MADE.search(source.low, max(0, start - 40), start):
        return  # *make a zip of ~/x*: it is what the files become
    match = _FOLLOWED.match(source.low, end)
    if match is not None:
        if not match["of"]:
            return
        if f"*.{extension(str(by_start[match.start('file')].value))}" in value.split("|"):
            return
    yield source.slot(Kind.FILES, start, end, value)
