"""Words that a request hands on as they are: what to note, to be reminded of, to look for, to write, to replace.

Rules: the words are taken from the request letter by letter; only the words around them are cut off. A reminder's
time is reckoned from the slots, so that *tomorrow at 9* is one moment. Does not guarantee where a text without quotes
ends: it goes to the next place that is named, or to the end.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from metnos.fastpath.slots import Slot
from metnos.fastpath.slots_calendar import PARTS
from metnos.turn.plan.clauses import DETERMINERS, Clause, classes
from metnos.turn.plan.lexicon import fold
from metnos.turn.plan.patterns import pattern

_WHEN = ("date", "time", "duration", "range")
_LEADING = 2  # words between the command and its time, such as `on the`
_LONGEST = 2000  # characters of what is looked through; what a note holds may be longer
# What words mean that say where something is to be replaced.
_PLACES = (
    "inside", "files", "folders", "names", "text", "lines", "words", "documents", "images", "notes", "pages", "it",
    "all", "about", "can", "where", "columns", "rows", "tables", "signs",
)  # fmt: skip
_EVERYWHERE = ("everywhere", "throughout", "ovunque", "dappertutto")
SIGNS = {
    "spaces": " ", "space": " ", "spazi": " ", "spazio": " ", "underscores": "_", "underscore": "_", "dashes": "-",
    "dash": "-", "hyphens": "-", "hyphen": "-", "trattini": "-", "trattino": "-", "dots": ".", "dot": ".", "punti": ".",
    "commas": ",", "comma": ",", "virgole": ",",
}  # fmt: skip


def swallows(text: str) -> bool:
    """Whether everything after these first words belongs to them, whatever verbs are in it."""
    return executor_of(text) is not None


def executor_of(text: str) -> str | None:
    """The executor that the first words alone decide."""
    if pattern("text.remind").match(text):
        return "set_reminders"
    if _written_with(text) is not None:
        return "write_files"
    return "append_notes" if pattern("text.note").match(text) or _added(text) else None


def _added(text: str) -> re.Match[str] | None:
    """*Add this to that note*, which can be told only when it has ended."""
    return pattern("text.add_note").match(text) if len(text) <= _LONGEST else None


def _written_with(text: str) -> re.Match[str] | None:
    """*Create a.txt with the text ...*: whatever follows is text."""
    return pattern("text.written_with").match(text) if len(text) <= _LONGEST else None


def reminder(clause: Clause, now: datetime) -> dict[str, Any]:
    """What to be reminded of and when; whichever the request says."""
    text, base = clause.text, clause.words[0].start
    head = pattern("text.remind").match(text)
    start = head.end() if head else 0
    times = [slot for slot in clause.slots if slot.kind in _WHEN and slot.role not in ("older", "newer")]
    groups = _groups(times, text, base)
    chosen = _chosen(groups, text, base, start)
    due = moment(chosen, now)
    day = next((str(slot.value)[:10] for slot in chosen if slot.kind == "date"), None)
    timed = any(slot.kind in ("time", "duration") for slot in chosen)
    kept = _without(text, [(slot.start - base, slot.end - base) for slot in chosen], start)
    hour = pattern("text.at_hour").match(kept)
    if hour is not None and day is not None and not timed:
        due, kept = _coming(f"{day} {_clock(hour)}", now), pattern("text.opening").sub("", kept[hour.end() :], count=1)
    found: dict[str, Any] = {}
    if kept:
        found["text"] = kept
    if due is not None:
        found["when"] = due
    return found


def repeats(text: str, slots: Sequence[Slot]) -> str:
    """What asks for a reminder again and again, unless a day is named: then it is what to be reminded of."""
    found = pattern("text.repeats").search(text)
    once = any(slot.kind in ("date", "range") or (slot.kind == "duration" and slot.role == "in") for slot in slots)
    return found.group() if found is not None and not once else ""


def _clock(found: re.Match[str]) -> str:
    hour = int(found["hour"]) % 24
    hour = hour % 12 + 12 * (found["half"].lower() == "pm") if found["half"] else hour
    return f"{hour:02}:{found['minute'] or '00'}"


def moment(slots: Sequence[Slot], now: datetime) -> str | None:
    """One moment from a day, a time of day or a time from now on, as the reminders read it; none that has passed."""
    day = next((str(slot.value)[:10] for slot in slots if slot.kind == "date"), None)
    clock = next((str(slot.value)[:5] for slot in slots if slot.kind == "time"), None)
    ahead = next((slot.value for slot in slots if slot.kind == "duration"), None)
    if ahead is not None and clock is None:
        # Days are rounded: half a minute more and it is the minute that was meant.
        return f"{now + timedelta(days=float(ahead), seconds=30):%Y-%m-%d %H:%M}"
    if ahead is not None:
        return f"{now + timedelta(days=float(ahead)):%Y-%m-%d} {clock}"
    if day is None and clock is not None:
        later = clock > f"{now:%H:%M}"
        day = f"{now if later else now + timedelta(days=1):%Y-%m-%d}"
    if day is None:
        return None
    return _coming(f"{day} {clock or _part(slots)}".strip(), now)


def _part(slots: Sequence[Slot]) -> str:
    """When the part of the day begins that is named with a day: *tomorrow evening*, *stasera*."""
    said = next((fold(slot.text).split()[-1] for slot in slots if slot.kind == "date"), "")
    return PARTS.get(said, "")


def _coming(due: str, now: datetime) -> str | None:
    """The moment, unless it has passed; a day alone means its morning."""
    day, _, clock = due.partition(" ")
    return due if f"{day} {clock or PARTS['morning']}" > f"{now:%Y-%m-%d %H:%M}" else None


def note(clause: Clause, _: datetime) -> dict[str, Any]:
    """What to note, and in which note."""
    text = clause.text
    added = _added(text)
    if added is not None:
        name = added["note"] or (added["before"] if (added["before"] or "").casefold() not in ("my", "the") else None)
        return {"text": _bare(added["text"])} | ({"note": name} if name else {})
    head = pattern("text.note").match(text)
    rest = pattern("text.opening").sub("", text[head.end() :] if head else text, count=1).strip()
    return {"text": _bare(rest)} if rest else {}


def sought(clause: Clause, _: datetime) -> dict[str, Any]:
    """The words to look for."""
    words = wanted_words(clause)
    return {"pattern": words} if words else {}


def wanted_words(clause: Clause) -> str:
    """What a clause wants to find in a text: what is quoted, else what follows the word that asks."""
    for slot in clause.slots:
        if slot.kind == "quoted":
            return str(slot.value)
    masked = _masked(clause)
    # The last one that asks: in *search the files that mention rent* it is `mention`.
    found = [match["words"].strip() for match in pattern("text.sought").finditer(masked)]
    found = [each for each in found if each and "\0" not in each and each.casefold() not in _EMPTY]
    return found[-1] if found else ""


def in_notes(clause: Clause, _: datetime) -> dict[str, Any]:
    """The words to find in the notes."""
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    if quoted:
        return {"words": quoted[0]} | ({"phrase": True} if " " in quoted[0] else {})
    masked = pattern("text.of_notes").sub(" in ", _masked(clause))
    found = [
        match["words"].strip()
        for match in pattern("text.sought").finditer(masked)
        if match["words"].casefold() not in _EMPTY
    ]
    words = pattern("text.leading_words").sub("", " ".join(found[-1].split()) + " ").strip() if found else ""
    return {"words": words} if words else {}


def replacing(clause: Clause, _: datetime) -> dict[str, Any]:
    """What to put in the place of what."""
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    if len(quoted) > 1:
        return {"pattern": quoted[0], "replacement": quoted[1]}
    masked = _masked(clause, ("path", "name", "folder", "url"))
    found = pattern("text.replaced").search(masked)
    parted = _parted(found["rest"]) if found is not None else None
    if found is None or parted is None:
        return {}
    old, given = parted
    ends = pattern("text.where_it_is").search(given)
    new = given[: ends.start()] if ends else given.rstrip(" ,.!")
    # What stands beside a file's name is a property of the file, and no text in it.
    if not new or "\0" in old + new or (ends and not _is_place(clause, len(masked) - len(given) + ends.start())):
        return {}
    old, new = (pattern("text.the_word").sub("", each.strip()) for each in (old, new))
    both = all(map(pattern("text.an_article").match, (old, new)))
    return {"pattern": _sign(_bared(old, both)), "replacement": _sign(_bared(new, both or _bare_sign(new) is None))}


def _parted(rest: str) -> tuple[str, str] | None:
    """What is to be replaced and what comes after it; nothing where that could be read in two ways."""
    every = list(pattern("text.instead").finditer(rest))
    for name in ("sure", "by", "in"):
        found = [match for match in every if match[name]]
        if found:
            # Of *in* the last one says where.
            return (rest[: found[0].start()], rest[found[0].end() :]) if len(found) == 1 or name == "in" else None
    return None


def _is_place(clause: Clause, start: int) -> bool:
    """Whether all words from there on say where, so that none of them may be of the new text."""
    base = clause.words[0].start
    after = [word for word in clause.words if word.start - base >= start and word.slot is None and not word.mark]
    return all(word.stop or word.text in {*DETERMINERS, *_EVERYWHERE} or word.means(*_PLACES) for word in after)


def _bare_sign(text: str) -> str | None:
    """The sign that a word stands for, with or without its article."""
    return SIGNS.get(pattern("text.an_article").sub("", text).casefold().strip("'\""))


def _bared(text: str, keep: bool) -> str:
    return text if keep else pattern("text.an_article").sub("", text)


def renaming(clause: Clause, now: datetime) -> dict[str, Any]:
    """What to put in the place of what in names; of one file that is named its whole name."""
    files = [slot for slot in clause.slots if "file" in classes(slot)]
    found = replacing(clause, now)
    if found or len(files) != 1 or not clause.said("rename") or clause.said("replace", "names"):
        return found
    name = PurePosixPath(str(files[0].value))
    called = pattern("text.new_name").search(_masked(clause))
    if called is None:
        return {"pattern": name.name}
    new = called["name"]
    return {"pattern": name.name, "replacement": new if "." in new else f"{new}{name.suffix}"}


def written(clause: Clause, _: datetime) -> dict[str, Any]:
    """What to write into a file, exactly."""
    told = _written_with(clause.text)
    if told is not None:
        return {"text": f"{_bare(told['text'])}\n"}
    for slot in clause.slots:
        if slot.kind == "quoted":
            return {"text": f"{slot.value}\n"}
    base = clause.words[0].start
    place = next((slot.start - base for slot in clause.slots if "place" in classes(slot)), len(clause.text))
    found = pattern("text.written").search(clause.text[:place].rstrip())
    if found is None or clause.back:
        return {}
    text = found["text"].strip()
    return {} if text.casefold() in ("a file", "un file", "the text", "il testo", "file") else {"text": f"{text}\n"}


_EMPTY = {
    "files",
    "file",
    "i file",
    "text",
    "the",
    "words",
    "lines",
    "le righe",
    "in",
    "notes",
    "appunti",
    "all",
    "che",
}


def _sign(word: str) -> str:
    return SIGNS.get(word.casefold().strip("'\""), word.strip("'\"«»“”"))


def _bare(text: str) -> str:
    """A text without the quotes around it."""
    found = re.fullmatch(r"\s*(['\"«“\u2018])(.*)(['\"»”\u2019])\s*", text, re.DOTALL)
    return found[2] if found else text.strip()


def _masked(clause: Clause, kinds: Sequence[str] = ()) -> str:
    """The clause with its slots, or those of some kinds, blotted out: no word of theirs is the request's own."""
    text, base = clause.text, clause.words[0].start
    for slot in clause.slots:
        if slot.kind in kinds or (not kinds and slot.kind not in ("count", "order")):
            start, end = slot.start - base, slot.end - base
            text = text[:start] + "\0" * (end - start) + text[end:]
    return text


def _groups(slots: Sequence[Slot], text: str, base: int) -> list[list[Slot]]:
    """Slots of time that stand together."""
    groups: list[list[Slot]] = []
    for slot in sorted(slots, key=lambda each: each.start):
        gap = text[groups[-1][-1].end - base : slot.start - base] if groups else "-"
        if groups and pattern("text.gap").fullmatch(gap):
            groups[-1].append(slot)
        else:
            groups.append([slot])
    return groups


def _chosen(groups: list[list[Slot]], text: str, base: int, start: int) -> list[Slot]:
    """The time that the reminder is for: right after the first words, else the last one named."""
    if not groups:
        return []
    before = text[start : groups[0][0].start - base]
    return groups[0] if len(before.split()) <= _LEADING else groups[-1]


def _without(text: str, spans: Iterable[tuple[int, int]], start: int) -> str:
    """The text from ``start`` on without these spans and the small words that led to them."""
    kept, at = "", start
    for begin, end in sorted(spans):
        kept += pattern("text.closing").sub("", text[at:begin]) + " "
        at = end
    kept = " ".join((kept + text[at:]).split())
    for _ in range(2):
        kept = pattern("text.opening").sub("", kept, count=1).strip()
    return _bare(pattern("text.closing").sub("", kept).rstrip(".!"))
