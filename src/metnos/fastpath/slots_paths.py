"""Paths, file names, globs, web and mail addresses: what has no space in it, or stands in quotes.

Rules: punctuation that ends a sentence is not part of a path. A path with a wildcard in it is two things, the folder
and the glob. What could be an ordinary expression (`and/or`, `km/h`, `24/7`, `12/03`) is no path; a name is a name only
if its extension is one that files have, unless the words around it call it a file. Does not look at the disk.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import Source, fold, listed
from metnos.fastpath.slots_words import verb_of

EXTENSIONS = frozenset(
    listed(
        "pdf txt md markdown rst doc docx odt rtf tex pages epub mobi csv tsv xls xlsx ods numbers json jsonl"
        " ndjson xml yaml yml toml ini cfg conf env log html htm xhtml mhtml css js mjs ts tsx jsx py pyi ipynb rb"
        " go rs c h cpp hpp cc java kt swift php pl sh bash zsh bat ps1 sql lua r m4 vue jpg jpeg png gif bmp tif"
        " tiff webp heic heif svg ico raw cr2 nef dng psd xcf mp3 wav flac ogg oga opus m4a aac wma mid mp4 m4v"
        " mkv mov avi webm mpg mpeg wmv flv zip tar gz tgz bz2 xz zst 7z rar iso img dmg deb rpm apk exe msi"
        " appimage jar whl ppt pptx odp key eml msg mbox ics vcf srt sub vtt db sqlite sqlite3 parquet feather pem"
        " crt gpg asc sig bak old orig tmp part torrent lock patch diff ttf otf woff woff2 gpx kml geojson dat bin"
        " so dll plist properties gguf onnx npy pkl"
    )
)
# Folders that a desktop makes in a home, English and Italian.
FAMILIES = (
    ("Downloads", "Scaricati", "Download"), ("Documents", "Documenti"), ("Desktop", "Scrivania"),
    ("Pictures", "Immagini"), ("Music", "Musica"), ("Videos", "Video"), ("Public", "Pubblici"),
    ("Templates", "Modelli"),
)  # fmt: skip
WELL_KNOWN = frozenset(name for family in FAMILIES for name in family)
# Files of text that have no ending.
_TEXTS = frozenset(
    listed(
        "README LICENSE LICENCE COPYING AUTHORS NOTICE TODO INSTALL VERSION CHANGELOG NEWS Makefile Dockerfile Gemfile"
        " Rakefile Vagrantfile Jenkinsfile hosts hostname passwd fstab crontab authorized_keys known_hosts"
    )
)
_DOT_TEXTS = re.compile(r"\.\w*(?:rc|profile|aliases|ignore|history|env|login|logout|attributes|netrc)", re.IGNORECASE)
ARCHIVES = frozenset(listed("zip tar gz tgz bz2 xz zst 7z rar"))
# Endings of bare hosts; those that are also words or extensions count only with a port or a page behind them.
_ENDINGS = frozenset(
    listed(
        "com org net edu gov info biz eu it uk de fr es ch nl pt pl se dk fi ie ca au nz jp br io ai dev app tv"
        " xyz cloud online site example local onion wiki"
    )
)
_MORE_ENDINGS = _ENDINGS | frozenset(listed("at be us co me no in cn ru to is so gg ly sh py rs test int mil"))
_CHUNK = re.compile(r"(?:\\[^\n\x00]|[^\s\x00\\—…\ud800-\udfff])+")
_LIKELY = re.compile(r"[/.~*@\\]|localhost|README|Makefile|Dockerfile|LICENSE|CHANGELOG")
_BARE_NAMES = frozenset({"README", "Makefile", "Dockerfile", "LICENSE", "CHANGELOG"})
_QUOTES = "\"'`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
_UNSEEN = "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
_LEADING = "([{<,;:!¿¡|=" + _QUOTES + _UNSEEN
_TRAILING = ".,;:!?>|" + _QUOTES + _UNSEEN
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_ELISION = re.compile(r"(?i:l|un|d|c|dell|all|nell|sull|dall|quell|quest|coll)['\u2019](?=[\w~/.*])")
_URL = re.compile(r"(?i:[a-z][a-z0-9+.-]{1,15})://[^\s/]\S*")
_HOST = re.compile(r"(?i:(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}([a-z]{2,12}))(:\d{1,5}(?!\d))?([/?#]\S*)?")
_LOCAL = re.compile(r"(?i:localhost|(?:\d{1,3}\.){3}\d{1,3})(:\d{1,5}(?!\d))?(/\S*)?")
_EMAIL = re.compile(r"(?:mailto:)?([\w.+%-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24})")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]")
_FORMULA = re.compile(r"[\d\s.,*+/()^%-]+")
_NOT_IN_A_GLOB = re.compile(r"[/\\<>\"\n]")
_NAME = re.compile(r"[^/\\:*?<>|\"]{1,200}\.([A-Za-z0-9]{1,10})")
_DOTTED = re.compile(r"\.[a-z][\w.-]{1,60}")
_BEFORE_A_DOT = frozenset({"", " ", "(", "'", '"'})
_BRACES = re.compile(r"([^{}]*)\{([^{}]{1,200})\}([^{}]*)")
_ESCAPE = re.compile(r"\\(.)")
_TEMPLATE = frozenset({"gg", "mm", "aaaa", "aa", "dd", "yyyy", "yy", "hh", "ss", "mmm"})
_PLACE_WORDS = frozenset(
    listed(
        "in into inside from to at under of list ls open file folder directory path dir cartella percorso nella"
        " nel nelle nei dentro da dal dalla verso di del della su sul sulla sotto leggi apri elenca cd read delete"
        " remove copy move"
    )
)
_FOLDER_WORDS = frozenset({"folder", "directory", "cartella"})
_MORE_OF_A_NAME = re.compile(r"(?: (?:[A-Z][\w&+-]+|(?:19|20)\d\d)(?!\w)){1,5}")
_FILE_WORDS = frozenset(listed("file named called name nome chiamato chiamata come document documento script"))
_KIND_NOUN = re.compile(r" (?:files?|documents?|documenti)\b")


class Reading(NamedTuple):
    """What a piece of text is."""

    kind: Kind
    value: str


def slots(source: Source) -> Iterator[Slot]:
    """Every path, name, glob and address that stands in the open."""
    shown = source.open_text()
    before = ""
    for match in _CHUNK.finditer(shown):
        if _LIKELY.search(match[0]):
            yield from _chunk(source, match.start(), match[0], before)
        before = fold(match[0]).strip(_LEADING + _TRAILING)


def read(text: str, before: str = "", *, quoted: bool = False) -> Reading | None:
    """What a piece of text is, if it is one of these; ``before`` is the word in front of it."""
    if (address := _address(text)) and not (before in _FILE_WORDS and _NAME.fullmatch(text)):
        return address
    if _is_glob(text):
        return Reading(Kind.GLOB, _spread(text))
    if _is_path(text, before):
        return Reading(Kind.PATH, text if _WINDOWS.match(text) or quoted else _ESCAPE.sub(r"\1", text))
    if _is_name(text, before, quoted=quoted):
        return Reading(Kind.NAME, text)
    if _DOTTED.fullmatch(text) and not quoted:
        ending = text[1:].lower()
        if ending in EXTENSIONS and ending not in {"env", "lock"}:
            return Reading(Kind.FILES, f"*.{ending}")
        return Reading(Kind.NAME, text)
    return None


def extension(value: str) -> str:
    """What a path or name ends in, in small letters, if files end so."""
    _, dot, ending = value.rpartition("/")[2].lower().rpartition(".")
    return ending if dot and ending in EXTENSIONS else ""


def is_text(name: str) -> bool:
    """True for the name of a text file without an extension, such as ``Makefile`` or ``.bashrc``."""
    return name in _TEXTS or _DOT_TEXTS.fullmatch(name) is not None


def _chunk(source: Source, start: int, raw: str, before: str) -> Iterator[Slot]:
    head, core = _trim(raw)
    start += head
    if not core:
        return
    parts = core.split(",")
    if len(parts) > 1 and "{" not in core and all(part and read(part) for part in parts):
        for part in parts:
            yield from _one(source, start, part, before)
            start += len(part) + 1
        return
    yield from _one(source, start, core, before)


def _one(source: Source, start: int, core: str, before: str) -> Iterator[Slot]:
    folder, slash, _ = core.rpartition("/")
    if slash and folder and "*" in core and "://" not in core:
        yield from _wild(source, start, core)
        return
    reading = read(core, before)
    if reading is None and (prefix := re.match(r"\w{1,20}[:=]", core)):
        start += prefix.end()
        core = core[prefix.end() :]
        reading = read(core) if core else None
    if reading is None or (core[0] == "." and source.low[max(0, start - 1) : start] not in _BEFORE_A_DOT):
        return
    end = start + len(core)
    of_a_folder = reading.kind is Kind.PATH and before in _FOLDER_WORDS and not extension(core)
    if of_a_folder and (more := _MORE_OF_A_NAME.match(source.text, end)):  # `the folder ~/Taxes 2026`
        end = more.end()
        reading = Reading(Kind.PATH, reading.value + more[0])
    if reading.kind is Kind.FILES and (noun := _KIND_NOUN.match(source.low[end : end + 12])):
        end += noun.end()
    at_home = reading.kind is Kind.PATH and reading.value.partition("/")[0] in WELL_KNOWN
    yield source.slot(reading.kind, start, end, reading.value, also=(f"~/{reading.value}",) if at_home else ())


def _wild(source: Source, start: int, core: str) -> Iterator[Slot]:
    """A folder and a glob in one word."""
    steps = core.split("/")
    first = next(place for place, step in enumerate(steps) if "*" in step)
    cut = len("/".join(steps[:first])) + 1 if first else 0
    rest = steps[first:]
    pattern = rest[-1] if all(step == "**" for step in rest[:-1]) and rest[-1] else "/".join(rest)
    if _FORMULA.fullmatch(core):
        return
    if cut:
        folder = _ESCAPE.sub(r"\1", core[: cut - 1]) or "/"
        yield source.slot(Kind.PATH, start, start + cut, folder)
    yield source.slot(Kind.GLOB, start + cut, start + len(core), _spread(pattern))


def _trim(raw: str) -> tuple[int, str]:
    """Without the punctuation around it: how much went in front, and what is left."""
    core = raw.lstrip(_LEADING)
    if match := _ELISION.match(core):
        core = core[match.end() :].lstrip(_LEADING)
    head = len(raw) - len(core)
    if core in {".", ".."}:
        return head, core
    end = len(core)
    opened = {closer: core.count(opener) - core.count(closer) for closer, opener in _CLOSERS.items()}
    while end:
        last = core[end - 1]
        if last in _CLOSERS and opened[last] < 0:
            opened[last] += 1
        elif last not in _TRAILING:
            break
        end -= 1
    core = core[:end]
    for ending in ("'s", "\u2019s"):
        core = core.removesuffix(ending)
    return head, core


def _address(text: str) -> Reading | None:
    if match := _EMAIL.fullmatch(text):
        return Reading(Kind.EMAIL, match[1])
    if _URL.fullmatch(text):
        return Reading(Kind.URL, text)
    if text.lower().startswith("file:///"):
        return Reading(Kind.PATH, text[7:])
    if match := _LOCAL.fullmatch(text):
        plain = all(int(part) < 256 for part in re.findall(r"\d+", text.partition(":")[0].partition("/")[0]))
        named = match[0][0].isdigit() or match[1] or match[2]
        return Reading(Kind.URL, f"http://{text}") if plain and named else None
    if match := _HOST.fullmatch(text):
        ending = match[1].lower()
        more = bool(match[2] or match[3]) or text.lower().startswith("www.")
        if ending in (_MORE_ENDINGS if more else _ENDINGS):
            return Reading(Kind.URL, f"{'http' if ending == 'local' else 'https'}://{text}")
    return None


def _is_glob(text: str) -> bool:
    if _NOT_IN_A_GLOB.search(text) or not ("*" in text or ("?" in text and extension(text))):
        return False
    if _FORMULA.fullmatch(text) or " * " in text or text.strip("*") == "":
        return False
    if text.startswith("**") or text.endswith("**"):
        return "." in text
    return bool(re.search(r"[^\W_]", text))


def _spread(pattern: str) -> str:
    """``*.{jpg,png}`` and ``*.jpg,*.png`` as ``*.jpg|*.png``."""
    if match := _BRACES.fullmatch(pattern):
        return "|".join(f"{match[1]}{part.strip()}{match[3]}" for part in match[2].split(",") if part.strip())
    parts = [part.strip() for part in pattern.split(",")]
    return "|".join(parts) if len(parts) > 1 and all("*" in part for part in parts) else pattern


def _is_path(text: str, before: str) -> bool:
    if text in {"~", "/", ".", ".."}:
        return text == "~" or before in _PLACE_WORDS
    if "\n" in text or text.startswith(("//", "/ ", "~ ")):
        return False
    if text.startswith(("/", "~/", "./", "../")) or _WINDOWS.match(text):
        return re.search(r"[\w~]", text) is not None
    if text.startswith("~"):
        return not text[1].isdigit() and "/" in text
    return "/" in text and "://" not in text and _is_relative(text, before)


def _is_relative(text: str, before: str) -> bool:
    steps = text.rstrip("/").split("/")
    if any(not step.strip() or step != step.strip() for step in steps) or not re.search(r"[^\W\d_]", text):
        return False
    if " " in text and not (extension(text) and len(text.split()) <= 6 and "~" not in text):
        return False
    if {step.lower() for step in steps} <= _TEMPLATE or re.search(r"[*+()=<>|]", text):
        return False
    if text.endswith("/") or extension(text) or before in _PLACE_WORDS or steps[0] in WELL_KNOWN:
        return True
    if any(step.isdigit() for step in steps) or any(len(step) < 2 for step in steps):
        return len(steps) > 2
    return len(steps) > 2 or re.search(r"[._\d-]|[a-z][A-Z]", text) is not None


def _is_name(text: str, before: str, *, quoted: bool) -> bool:
    if text in _BARE_NAMES:
        return True
    match = _NAME.fullmatch(text)
    if match is None or not re.search(r"\w", text[: match.start(1) - 1]) or "\n" in text:
        return False
    if quoted and (len(parts := text.split()) > 6 or (len(parts) > 1 and verb_of(fold(parts[0])))):
        return False  # a sentence that ends with a name, such as `delete a.txt`
    ending = match[1].lower()
    if ending in EXTENSIONS and (len(ending) > 1 or match[1].islower()):
        return True
    return before in _FILE_WORDS and ending[0].isalpha() and len(ending) <= 5
