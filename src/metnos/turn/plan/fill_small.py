"""What single executors can be told beyond their schema: lines of a file, pages of a document, numbers of reminders.

Each function reads one clause and gives arguments, nothing if the clause says nothing. Rules: what is read here comes from
the request's own words, never from what is quoted or named in it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from metnos.turn.plan import fill_reckon, fill_text
from metnos.turn.plan.clauses import Clause, classes
from metnos.turn.plan.fill_values import COUNTING

Reader = Callable[[Clause, datetime], dict[str, Any]]
_AMOUNT = rf"(?:\d+|{'|'.join(COUNTING)}|twenty|venti)"
_COUNT = rf"(?P<count>{_AMOUNT})"
_FIRST = r"\b(?:first|top|prim[eiao])\s+"
_FIRST_LINES = re.compile(rf"{_FIRST}{_COUNT}\s+(?:lines?|righe)", re.IGNORECASE)
_LINES = re.compile(r"\b(?:lines?|righe|riga)\s+(?:from\s+|da\s+|dalla\s+)?(?P<from>\d+)\s*(?:-|to|through|until|a|alla)\s*(?P<to>\d+)", re.IGNORECASE)
_LINE = re.compile(r"\b(?:line|riga)\s+(?P<from>\d+)\b", re.IGNORECASE)
_FIRST_PAGES = re.compile(rf"{_FIRST}(?:{_COUNT}\s+)?(?:pages?|pagin[ae])|(?:prima|first)\s+(?:pagina|page)", re.IGNORECASE)
_PAGES = re.compile(r"\b(?:pages?|pagin[ae])\s+(?:from\s+|da\s+)?(?P<pages>\d+(?:\s*(?:-|to|a|and|e|,)\s*\d+)*)", re.IGNORECASE)
_ROWS = re.compile(rf"{_FIRST}({_AMOUNT})\b|\b({_AMOUNT})\s+(?:rows?|righe)", re.IGNORECASE)
_SHEET = re.compile(r"\b(?:sheet|foglio|table|tabella)\s+['\"]?(?P<name>[A-ZÀ-Þ][\w-]*)['\"]?|['\"](?P<quoted>[^'\"]+)['\"]\s+sheet\b")
_PERCENT = re.compile(r"(?P<value>\d{1,3})\s*(?:%|percent|per cento)")
_SENTENCES = re.compile(rf"{_COUNT}\s+(?:sentences?|frasi|lines?|righe)", re.IGNORECASE)
_SIDE = re.compile(r"(?P<value>\d{2,4})\s*(?:px|pixels?|punti)?\b", re.IGNORECASE)
_DIGEST = re.compile(r"\b[0-9a-fA-F]{32,128}\b")
_FORMAT = re.compile(r"\b(?:to|into|in|as|a|come)\s+(?:an?\s+|un\s+|formato\s+|format\s+)?\.?(?P<format>jpe?g|png|webp|gif|tiff?|bmp)\b", re.IGNORECASE)
_TABLE_FORMAT = re.compile(
    r"\b(?:to|into|in|as|a|come)\s+(?:an?\s+|un[ao]?\s+|il\s+|formato\s+|file\s+|foglio\s+|database\s+|tabella\s+)*\.?(?P<format>csv|tsv|jsonl|json|xlsx|excel|sqlite)\b", re.IGNORECASE
)
_NAMED = re.compile(r"\b(?:called|named|di nome|chiamat[aoei])\s+(?P<names>[^,;]+)$", re.IGNORECASE)
_FOLDERS = re.compile(r"\b(?:folders?|directory|directories|cartell[ae])\s+(?P<names>[A-ZÀ-Þ][\w -]*(?:\s*(?:,|\band\b|\be\b)\s*[A-ZÀ-Þ][\w -]*)*)")
_RUNNING = re.compile(
    r"\b(?:is|are)\s+(?P<name>[\w.-]+)\s+running|(?P<it>[\w.-]+)\s+(?:è|e')\s+(?:in\s+esecuzione|attivo|acceso)|(?:sta|stanno)\s+girando\s+(?P<it2>[\w.-]+)|"
    r"\b(?:processes|programs|processi|programmi)\s+(?:called|named|chiamati|di nome)\s+(?P<named>[\w.-]+)",
    re.IGNORECASE,
)
_TOP = re.compile(rf"\b({_AMOUNT})\s+(?:most|words|parole)|{_FIRST}({_AMOUNT})\b", re.IGNORECASE)
_CONTEXT = re.compile(rf"\b(?:with|con)\s+{_COUNT}\s+(?:lines?|righe)\s+(?:around|of context|intorno|di contesto)", re.IGNORECASE)
_NUMBERS = re.compile(r"(?<![\w.])\d{1,9}(?![\w.])")
_ABOUT = re.compile(
    r"\b(?:about|regarding|for|to|of|del(?:la|lo|l['’])?|di|su(?:l|lla|ll['’])?|per)\s+(?:the\s+|my\s+|il\s+|la\s+|lo\s+|l['’])?(?P<words>[\w][\w ]{1,40})$", re.IGNORECASE
)
FORMATS = {"jpg": "jpeg", "tif": "tiff"}
ENDS = {"excel": "xlsx", "sqlite": "db"}


def lines(clause: Clause, now: datetime) -> dict[str, Any]:
    text = clause.text
    if found := _FIRST_LINES.search(text):
        return {"to_line": _count(found["count"])}
    if found := _LINES.search(text):
        return {"from_line": int(found["from"]), "to_line": int(found["to"])}
    if found := _LINE.search(text):
        return {"from_line": int(found["from"]), "to_line": int(found["from"])}
    return {}


def pages(clause: Clause, now: datetime) -> dict[str, Any]:
    if found := _FIRST_PAGES.search(clause.text):
        count = _count(found["count"]) if found["count"] else 1
        return {"pages": f"1-{count}" if count > 1 else "1"}
    if found := _PAGES.search(clause.text):
        said = re.sub(r"\s*(?:-|to|a)\s*", "-", found["pages"])
        return {"pages": re.sub(r"\s*(?:and|e|,)\s*", ",", said)}
    return {}


def rows(clause: Clause, now: datetime) -> dict[str, Any]:
    """Which sheet, and how many rows."""
    found: dict[str, Any] = {}
    if sheet := _SHEET.search(clause.text):
        found["table"] = sheet["name"] or sheet["quoted"]
    if (first := _ROWS.search(clause.text)) and (count := next((each for each in first.groups() if each), None)):
        found["limit"] = _count(count)
    return found


def sheet(clause: Clause, now: datetime) -> dict[str, Any]:
    return {key: value for key, value in rows(clause, now).items() if key == "table"}


def search(clause: Clause, now: datetime) -> dict[str, Any]:
    found = fill_text.sought(clause, now)
    if around := _CONTEXT.search(clause.text):
        found["context"] = _count(around["count"])
    return found


def frequent(clause: Clause, now: datetime) -> dict[str, Any]:
    found = _TOP.search(clause.text) if clause.said("frequent") else None
    counts = [slot.value for slot in clause.slots if slot.kind == "count" and clause.said("frequent")]
    said = next((each for each in found.groups() if each), None) if found else None
    return {"top": _count(said)} if said else {"top": counts[0]} if counts else {}


def sentences(clause: Clause, now: datetime) -> dict[str, Any]:
    found = _SENTENCES.search(clause.text)
    return {"sentences": _count(found["count"])} if found else {}


def disks(clause: Clause, now: datetime) -> dict[str, Any]:
    found = _PERCENT.search(clause.text)
    return {"at_least": int(found["value"])} if found else {}


def processes(clause: Clause, now: datetime) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if named := _RUNNING.search(clause.text):
        name = next(each for each in named.groups() if each)
        if name.casefold() not in ("what", "which", "programs", "processes", "there", "cosa", "che"):
            return {"name": name}
    if clause.said("cpu") or re.search(r"\bprocessor\b", clause.text):
        found["sort"] = "cpu"
    elif clause.said("memory"):
        found["sort"] = "memory"
    elif clause.said("last"):
        found["sort"] = "newest"
    counts = [slot.value for slot in clause.slots if slot.kind == "count"]
    return found | ({"limit": counts[0]} if counts else {})


def digest(clause: Clause, now: datetime) -> dict[str, Any]:
    """Which digest, and which one is expected."""
    said = clause.text.casefold().replace("-", "")
    found = {"algorithm": each for each in ("sha1", "md5", "blake2b") if each in said}
    expected = _DIGEST.search(clause.text)
    return found | ({"expected": expected.group()} if expected else {})


def picture(clause: Clause, now: datetime) -> dict[str, Any]:
    found = _FORMAT.search(clause.text)
    return {"format": FORMATS.get(found["format"].lower(), found["format"].lower())} if found else {}


def smaller(clause: Clause, now: datetime) -> dict[str, Any]:
    base = clause.words[0].start
    spans = [(slot.start - base, slot.end - base) for slot in clause.slots if classes(slot) & {"place", "quoted", "files"}]
    found = next((each for each in _SIDE.finditer(clause.text) if not _within(each.start(), spans)), None)
    return ({"side": int(found["value"])} if found else {}) | picture(clause, now)


def due(clause: Clause, now: datetime) -> dict[str, Any]:
    if clause.said("due"):
        return {"which": "due"}
    ahead = next((slot.value for slot in clause.slots if slot.kind == "duration"), None)
    if ahead is not None:
        return {"within_hours": round(float(ahead) * 24, 2)}
    return {"which": "all"} if clause.said("all") else {}


def reminder_numbers(clause: Clause, now: datetime) -> dict[str, Any]:
    numbers = [int(each) for each in _NUMBERS.findall(clause.text)]
    return {"ids": numbers} if numbers else {}


def reminder_words(clause: Clause) -> str:
    """What a reminder is about that is named by its words and not by its number."""
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    found = _ABOUT.search(clause.text)
    return quoted[0] if quoted else found["words"].strip() if found else ""


def notes(clause: Clause, now: datetime) -> dict[str, Any]:
    counts = [slot.value for slot in clause.slots if slot.kind == "count"]
    newest = clause.said("last") or any(slot.kind == "order" and slot.value == "newest" for slot in clause.slots)
    return ({"order": "newest"} if newest else {}) | ({"limit": counts[0]} if counts else {})


def folders(clause: Clause, now: datetime) -> dict[str, Any]:
    """The folders to make: places, else what is quoted, else what they are to be called."""
    places = [slot for slot in clause.slots if "place" in classes(slot)]
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    base = clause.words[0].start
    text = clause.text[: places[-1].start - base] if places else clause.text
    text = re.sub(r"\s+\b(?:in|inside|within|under|nella|nel|dentro|sotto|in the folder|nella cartella)\s*(?:my\s+|the\s+)?$", "", text)
    said = _NAMED.search(text) or _FOLDERS.search(text)
    named = quoted or (_split(said["names"]) if said else [])
    inside = [slot for slot in places if slot.role == "in"] or (places if named else [])
    if named:
        where = f"{str(inside[-1].value).rstrip('/')}/" if inside else ""
        return {"paths": [f"{where}{each}" for each in named]}
    return {"paths": [str(slot.value) for slot in places]} if places else {}


def links(clause: Clause, now: datetime) -> dict[str, Any]:
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    return {"contains": quoted[0]} if quoted else {}


# The reader of each executor, and the arguments that are its alone: nothing else may guess them.
READERS: Mapping[str, tuple[Reader, Sequence[str]]] = {
    "append_notes": (fill_text.note, ("text", "note")),
    "set_reminders": (fill_text.reminder, ("text", "when")),
    "search_text": (search, ("pattern", "context")),
    "find_notes": (fill_text.in_notes, ("words",)),
    "replace_text": (fill_text.replacing, ("pattern", "replacement")),
    "rename_files": (fill_text.replacing, ("pattern", "replacement", "start")),
    "write_files": (fill_text.written, ("text",)),
    "compute_numbers": (fill_reckon.arithmetic, ("expressions",)),
    "convert_units": (fill_reckon.units, ("values", "from", "to")),
    "compute_dates": (fill_reckon.dates, ("dates", "to", "days", "weeks", "months", "years", "working_days")),
    "show_time": (fill_reckon.clock, ("zones", "at", "until")),
    "read_files": (lines, ("from_line", "to_line", "max_chars")),
    "extract_text_pdf": (pages, ("pages",)),
    "read_tables": (rows, ("table", "limit", "offset", "columns")),
    "describe_tables": (sheet, ("table",)),
    "count_text": (frequent, ("top", "least_letters", "text")),
    "summarise_text": (sentences, ("sentences", "text")),
    "list_disks": (disks, ("at_least", "path")),
    "list_processes": (processes, ("name", "user", "sort", "limit")),
    "hash_files": (digest, ("algorithm", "expected")),
    "convert_images": (picture, ("format", "quality")),
    "resize_images": (smaller, ("side", "format", "quality")),
    "list_reminders": (due, ("which", "within_hours")),
    "delete_reminders": (reminder_numbers, ("ids",)),
    "list_notes": (notes, ("order", "limit")),
    "make_folders": (folders, ("paths",)),
    "find_links": (links, ("contains", "base", "html")),
}


def table_format(text: str) -> str | None:
    """The ending of the file that a table is to become."""
    found = _TABLE_FORMAT.search(text)
    return ENDS.get(found["format"].lower(), found["format"].lower()) if found else None


def _count(said: str) -> int:
    return int(said) if said.isdigit() else {"twenty": 20, "venti": 20}.get(said.casefold(), COUNTING.get(said.casefold(), 1))


def _split(names: str) -> list[str]:
    return [each.strip(" '\".") for each in re.split(r"\s*(?:,|\band\b|\be\b)\s*", names) if each.strip(" '\".")]


def _within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)
