"""What single executors can be told beyond their schema: lines of a file, pages of a document, numbers of reminders.

Each function reads one clause and gives arguments, nothing if the clause says nothing. Rules: what is read here comes
from the request's own words, never from what is quoted or named in it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from metnos.fastpath.slots import Slot
from metnos.turn.plan import fill_reckon, fill_text
from metnos.turn.plan.clauses import Clause, classes
from metnos.turn.plan.fill_values import COUNTING
from metnos.turn.plan.patterns import pattern, word_list
from metnos.turn.plan.records import Step

Reader = Callable[[Clause, datetime], dict[str, Any]]
FORMATS = {"jpg": "jpeg", "tif": "tiff"}
ENDS = {"excel": "xlsx", "sqlite": "db"}
INSIDE = "inside"  # where a folder is to be made whose name is asked for; no argument, and gone with the answer


def lines(clause: Clause, _: datetime) -> dict[str, Any]:
    text = clause.text
    if found := pattern("small.first_lines").search(text):
        return {"to_line": _count(found["count"])}
    if found := pattern("small.lines").search(text):
        return {"from_line": int(found["from"]), "to_line": int(found["to"])}
    if found := pattern("small.line").search(text):
        return {"from_line": int(found["from"]), "to_line": int(found["from"])}
    return {}


def pages(clause: Clause, _: datetime) -> dict[str, Any]:
    if found := pattern("small.first_pages").search(clause.text):
        count = _count(found["count"]) if found["count"] else 1
        return {"pages": f"1-{count}" if count > 1 else "1"}
    if found := pattern("small.nth_page").search(clause.text):
        return {"pages": str(_nth(found["nth"]))}
    if found := pattern("small.pages").search(clause.text):
        said = re.sub(r"\s*(?:-|to|a)\s*", "-", found["pages"])
        return {"pages": re.sub(r"\s*(?:and|e|,)\s*", ",", said)}
    return {}


def rows(clause: Clause, _: datetime) -> dict[str, Any]:
    """Which sheet, and how many rows."""
    found: dict[str, Any] = {}
    if sheet := pattern("small.sheet").search(clause.text):
        found["table"] = sheet["name"] or sheet["quoted"]
    if (first := pattern("small.rows").search(clause.text)) and (
        count := next((each for each in first.groups() if each), None)
    ):
        found["limit"] = _count(count)
    return found


def sheet(clause: Clause, _: datetime) -> dict[str, Any]:
    return {key: value for key, value in rows(clause, _).items() if key == "table"}


def search(clause: Clause, _: datetime) -> dict[str, Any]:
    found = fill_text.sought(clause, _)
    if around := pattern("small.context").search(clause.text):
        found["context"] = _count(around["count"])
    return found


def frequent(clause: Clause, _: datetime) -> dict[str, Any]:
    found = pattern("small.top").search(clause.text) if clause.said("frequent") else None
    counts = [slot.value for slot in clause.slots if slot.kind == "count" and clause.said("frequent")]
    said = next((each for each in found.groups() if each), None) if found else None
    return {"top": _count(said)} if said else {"top": counts[0]} if counts else {}


def sentences(clause: Clause, _: datetime) -> dict[str, Any]:
    found = pattern("small.sentences").search(clause.text)
    return {"sentences": _count(found["count"])} if found else {}


def disks(clause: Clause, _: datetime) -> dict[str, Any]:
    found = pattern("small.percent").search(clause.text)
    return {"at_least": int(found["value"])} if found else {}


def processes(clause: Clause, _: datetime) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if named := pattern("small.running").search(clause.text):
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


def digest(clause: Clause, _: datetime) -> dict[str, Any]:
    """Which digest, and which one is expected."""
    said = clause.text.casefold().replace("-", "")
    named = next((each for each in ("sha1", "md5", "blake2b") if each in said), None)
    found = {"algorithm": named} if named else {}
    expected = pattern("small.digest").search(clause.text)
    return found | ({"expected": expected.group()} if expected else {})


def picture(clause: Clause, _: datetime) -> dict[str, Any]:
    found = pattern("small.format").search(clause.text) or pattern("small.copied").search(clause.text)
    return {"format": FORMATS.get(found["format"].lower(), found["format"].lower())} if found else {}


def smaller(clause: Clause, _: datetime) -> dict[str, Any]:
    base = clause.words[0].start
    spans = [
        (slot.start - base, slot.end - base) for slot in clause.slots if classes(slot) & {"place", "quoted", "files"}
    ]
    both = pattern("small.sides").search(clause.text)
    if both is not None and not _within(both.start(), spans):
        return {"side": max(int(both["width"]), int(both["height"]))} | picture(clause, _)
    found = next(
        (each for each in pattern("small.side").finditer(clause.text) if not _within(each.start(), spans)), None
    )
    return ({"side": int(re.sub(r"\D", "", found["value"]))} if found else {}) | picture(clause, _)


def no_side(clause: Clause, steps: Sequence[Step]) -> str:
    """A number that is to say how large pictures become, and is none of pixels: *to 50%*, *by half*."""
    asked = any(step.executor == "resize_images" and "side" not in step.args for step in steps)
    return next((slot.text for slot in clause.slots if asked and slot.kind == "number"), "")


def due(clause: Clause, _: datetime) -> dict[str, Any]:
    if clause.said("due"):
        return {"which": "due"}
    ahead = next((slot.value for slot in clause.slots if slot.kind == "duration"), None)
    if ahead is not None:
        return {"within_hours": round(float(ahead) * 24, 2)}
    return {"which": "all"} if clause.said("all") else {}


def reminder_numbers(clause: Clause, _: datetime) -> dict[str, Any]:
    numbers = [int(each) for each in pattern("small.numbers").findall(clause.text)]
    return {"ids": numbers} if numbers else {}


def reminder_words(clause: Clause) -> str:
    """What a reminder is about that is named by its words and not by its number."""
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    found = pattern("small.about").search(clause.text)
    return quoted[0] if quoted else found["words"].strip() if found else ""


def notes(clause: Clause, _: datetime) -> dict[str, Any]:
    counts = [slot.value for slot in clause.slots if slot.kind == "count"]
    said = any(
        slot.value == "newest" or slot.role == "last" for slot in clause.slots if slot.kind in ("order", "count")
    )
    newest = clause.said("last") or said
    return ({"order": "newest"} if newest else {}) | ({"limit": counts[0]} if counts else {})


def folders(clause: Clause, _: datetime) -> dict[str, Any]:
    """The folders to make: places, else what is quoted, else what they are to be called.

    A place that they are to lie in is none of them: where only that is said, it is kept as `INSIDE`, and the name is
    asked for.
    """
    base = clause.words[0].start
    found = [slot for slot in clause.slots if "place" in classes(slot)]
    places = [slot for slot in found if not pattern("small.inside_end").search(f" {slot.text}")]  # *cartella dentro*
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    text = clause.text[: places[-1].start - base] if places else clause.text
    text = pattern("small.inside_end").sub("", text)
    behind = pattern("small.named").search(clause.text[places[-1].end - base :]) if places else None
    ways = (pattern(f"small.{each}").search(text) for each in ("named", "folders", "before_folder"))
    said = behind or next(filter(None, ways), None)
    called = [str(slot.value).rpartition("/")[2] for slot in places if slot.role == "as" or _is_only_named(slot)]
    led = places[-1:] if len(places) < len(found) else []
    inside = led or [slot for slot in places if slot.role == "in"]
    named = quoted or (called if inside else []) or (_split(said["names"]) if said and (inside or not places) else [])
    if named:
        where = f"{str(inside[-1].value).rstrip('/')}/" if inside else ""
        return {"paths": [f"{where}{each}" for each in named]}
    inside = inside or [slot for slot in places if slot.role == "to"]
    if inside:
        return {INSIDE: str(inside[-1].value).rstrip("/")}
    return {"paths": [str(slot.value) for slot in places]} if places else {}


def _is_only_named(slot: Slot) -> bool:
    """True for a folder that the request names without a path, as in *my thesis folder*."""
    return slot.kind == "folder" and slot.role != "in" and "/" not in slot.text


def links(clause: Clause, _: datetime) -> dict[str, Any]:
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    return {"contains": quoted[0]} if quoted else {}


# The reader of each executor, and the arguments that are its alone: nothing else may guess them.
READERS: Mapping[str, tuple[Reader, Sequence[str]]] = {
    "append_notes": (fill_text.note, ("text", "note")),
    "set_reminders": (fill_text.reminder, ("text", "when")),
    "search_text": (search, ("pattern", "context")),
    "find_notes": (fill_text.in_notes, ("words",)),
    "replace_text": (fill_text.replacing, ("pattern", "replacement")),
    "rename_files": (fill_text.renaming, ("pattern", "replacement", "start")),
    "write_files": (fill_text.written, ("text",)),
    "compute_numbers": (fill_reckon.arithmetic, ("expressions",)),
    "convert_units": (fill_reckon.units, ("values", "from", "to")),
    "compute_dates": (fill_reckon.dates, ("dates", "to", "days", "weeks", "months", "years", "working_days")),
    "show_time": (fill_reckon.clock, ("zones", "at", "until")),
    "read_files": (lines, ("from_line", "to_line", "max_chars", "limit")),
    "extract_text_pdf": (pages, ("pages", "limit")),
    "read_tables": (rows, ("table", "limit", "offset", "columns", "format", "delimiter", "query")),
    "describe_tables": (sheet, ("table", "format", "delimiter", "query")),
    "count_text": (frequent, ("top", "least_letters", "text", "limit")),
    "summarise_text": (sentences, ("sentences", "text", "language")),
    "convert_tables": (sheet, ("to_format", "to_delimiter", "format", "delimiter", "table", "header", "query")),
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
    found = pattern("small.table_format").search(text)
    return ENDS.get(found["format"].lower(), found["format"].lower()) if found else None


def _nth(said: str) -> int:
    """An ordinal as a number: of its figures, or by its place in the list of words."""
    figures = re.match(r"\d+", said)
    if figures is not None:
        return int(figures.group())
    plain = said.casefold()
    return next(each.index(plain) for each in map(word_list, ("ordinals", "ordinals_it")) if plain in each) + 1


def _count(said: str) -> int:
    return (
        int(said)
        if said.isdigit()
        else {"twenty": 20, "venti": 20}.get(said.casefold(), COUNTING.get(said.casefold(), 1))
    )


def _split(names: str) -> list[str]:
    return [each.strip(" '\".") for each in pattern("small.split").split(names) if each.strip(" '\".")]


def _within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)
