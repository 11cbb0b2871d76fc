"""Words that a request hands on as they are: what to note, to be reminded of, to look for, to write, to replace.

Rules: the words are taken from the request letter by letter; only the words around them are cut off. A reminder's time is
reckoned from the slots, so that *tomorrow at 9* is one moment. Does not guarantee where a text without quotes ends: it
goes to the next place that is named, or to the end.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from metnos.fastpath.slots import Slot
from metnos.turn.plan.clauses import Clause, classes

_POLITE = r"(?:(?:please|can you|could you|would you|will you|hey|puoi|potresti|per favore|per piacere)[ ,]+)*"
REMIND = re.compile(
    rf"^{_POLITE}(?:(?:set|make|create|add|put)\s+(?:me\s+)?(?:a|an|another)\s+(?:reminder|alarm)|remind\s+me|"
    r"don['’]?t\s+let\s+me\s+forget|reminder(?=\s*[:,])|ricorda(?:mi|rmi)|avvisa(?:mi|rmi)|avverti(?:mi|rmi)|"
    r"(?:imposta|metti|crea|aggiungi|fissa)(?:mi)?\s+un(?:a)?\s+(?:promemoria|sveglia)|promemoria(?=\s*[:,]))\b"
    r"(?!\s+(?:what|which|of\s+my|quali|che\s+promemoria))",
    re.IGNORECASE,
)
NOTE = re.compile(
    rf"^{_POLITE}(?:(?:make|take|add|write)\s+a\s+note|note\s+down|take\s+note|jot\s+down|write\s+down|note\s+to\s+self|"
    r"note(?=\s*:|\s+that\b|\s+['\"«“])|jot|prendi\s+nota|prendi\s+un\s+appunto|aggiungi\s+una\s+nota|fai\s+una\s+nota|"
    r"annota(?:ti|mi)?|appunta(?:ti|mi)?|segna(?:ti|mi)?|nota(?=\s*:|\s+che\b))\b",
    re.IGNORECASE,
)
ADD_NOTE = re.compile(
    rf"^{_POLITE}(?:add|append|put|aggiungi|metti|scrivi|write)\s+(?P<text>.+?)\s+(?:to|in|into|on|alla|alle|al|ai|agli|"
    r"sulla|nella|negli|nel|nei)\s+(?:(?:my|the|mia|mio|miei)\s+)?(?:(?P<before>\w+)\s+)?(?:notes?|note|nota|appunti|appunto|diary|"
    r"diario)(?:\s+(?:called|named|chiamat[ao]|su|about)?\s*(?P<note>[\w-]+))?\s*[.!]?$",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^[\s,:;-]*(?:(?:to|that|about|of|di|che|per|circa|d['’])(?:\s+|(?<=['’])))?", re.IGNORECASE)
_CLOSING = re.compile(
    r"[\s,;]*(?:\b(?:at|on|in|by|for|the|alle|all['’]|il|per|tra|fra|next|this|ore|le|lunedì|il giorno)\s*)*$", re.IGNORECASE
)
_WHEN = ("date", "time", "duration", "range")
_SOUGHT = re.compile(
    r"(?:\b(?:search(?:ing)?|look(?:ing)?|grep|find|cerca(?:re|mi)?|ricerca|trova(?:mi)?)\s+(?:for\s+|inside\s+)?(?:the\s+)?(?:words?\s+|text\s+|la\s+parola\s+|le\s+parole\s+|il\s+testo\s+|dove\s+c['’]è\s+)?"
    r"|\b(?:mention(?:s|ing)?|contain(?:s|ing)?|contiene|contengono|contenenti|contenente|menzionano|menziona|about|on the subject of|regarding|say(?:s)? about|"
    r"parla(?:no)? (?:di|del(?:la|lo|l['’])?|dei|degli|delle)|riguardo a|(?:dice|dicono)\s+(?:di|su|del(?:la|lo|l['’])?|sul(?:la|lo|l['’])?|riguardo (?:a|al|alla))|con scritto|circa|su|sul(?:la|lo|l['’])?)\s*(?:the word\s+|la parola\s+|the\s+|il\s+|la\s+|lo\s+|l['’]|i\s+|le\s+|gli\s+)?)"
    r"(?P<words>[^\s,?.!]+(?:\s+[^\s,?.!]+){0,5}?)\s*(?=\s(?:in|inside|within|of|from|nei|nella|nel|nelle|negli|in|dentro|tra|across|dei|delle|negli)\b|[,?.!]|$)",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?:replace|substitute|change|swap|correct|sostituisci|rimpiazza|cambia|correggi)\s+(?:the\s+word\s+|all\s+|ogni\s+|la\s+parola\s+|every\s+|tutti\s+gli\s+|gli\s+|the\s+|le\s+|i\s+)?"
    r"(?P<old>\S+(?:\s+\S+){0,3}?)\s+(?:with|by|to|into|for|con|in)\s+(?:the\s+word\s+|la\s+parola\s+|gli\s+|un\s+|i\s+|an?\s+)?(?P<new>\S+?)(?=[\s,.]|$)",
    re.IGNORECASE,
)
SIGNS = {
    "spaces": " ", "space": " ", "spazi": " ", "spazio": " ", "underscores": "_", "underscore": "_", "trattini bassi": "_",
    "trattino basso": "_", "dashes": "-", "dash": "-", "hyphens": "-", "hyphen": "-", "trattini": "-", "trattino": "-",
    "dots": ".", "dot": ".", "punti": ".", "commas": ",", "comma": ",", "virgole": ",",
}  # fmt: skip
_WRITTEN = re.compile(
    r"\b(?:write|save|put|scrivi|salva|metti)\s+(?P<text>.+?)\s+(?:to|in|into|as|nel file|nel|in un file|sul|come)\s*(?:a |the |un )?(?:file |new file )?$",
    re.IGNORECASE,
)


def swallows(text: str) -> bool:
    """Whether everything after these first words belongs to them, whatever verbs are in it."""
    return bool(REMIND.match(text) or NOTE.match(text) or ADD_NOTE.match(text))


def executor_of(text: str) -> str | None:
    """The executor that the first words alone decide."""
    if REMIND.match(text):
        return "set_reminders"
    return "append_notes" if NOTE.match(text) or ADD_NOTE.match(text) else None


def reminder(clause: Clause, now: datetime) -> dict[str, Any]:
    """What to be reminded of and when; whichever the request says."""
    text, base = clause.text, clause.words[0].start
    head = REMIND.match(text)
    start = head.end() if head else 0
    times = [slot for slot in clause.slots if slot.kind in _WHEN and slot.role not in ("older", "newer")]
    groups = _groups(times, text, base)
    chosen = _chosen(groups, text, base, start)
    due = moment(chosen, now)
    kept = _without(text, [(slot.start - base, slot.end - base) for slot in chosen], start)
    found: dict[str, Any] = {}
    if kept:
        found["text"] = kept
    if due is not None:
        found["when"] = due
    return found


def moment(slots: Sequence[Slot], now: datetime) -> str | None:
    """One moment from a day, a time of day or a time from now on, as the reminders read it."""
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
    return f"{day} {clock}" if clock is not None else day


def note(clause: Clause, now: datetime) -> dict[str, Any]:
    """What to note, and in which note."""
    text = clause.text
    added = ADD_NOTE.match(text)
    if added is not None:
        name = added["note"] or (added["before"] if (added["before"] or "").casefold() not in ("my", "the") else None)
        return {"text": _bare(added["text"])} | ({"note": name} if name else {})
    head = NOTE.match(text)
    rest = _OPENING.sub("", text[head.end() :] if head else text, count=1).strip()
    return {"text": _bare(rest)} if rest else {}


def sought(clause: Clause, now: datetime) -> dict[str, Any]:
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
    found = [match["words"].strip() for match in _SOUGHT.finditer(masked)]
    found = [each for each in found if each and "\0" not in each and each.casefold() not in _EMPTY]
    return found[-1] if found else ""


def in_notes(clause: Clause, now: datetime) -> dict[str, Any]:
    """The words to find in the notes."""
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    if quoted:
        return {"words": quoted[0]} | ({"phrase": True} if " " in quoted[0] else {})
    masked = re.sub(r"\b(?:in|inside|within|negli|nei|nelle|tra|fra|dei|le|my|the|i|gli)?\s*(?:my|miei|mie|the)?\s*\b(?:notes|appunti|note)\b", " in ", _masked(clause))
    found = [match["words"].strip() for match in _SOUGHT.finditer(masked) if match["words"].casefold() not in _EMPTY]
    return {"words": found[-1]} if found else {}


def replacing(clause: Clause, now: datetime) -> dict[str, Any]:
    """What to put in the place of what."""
    quoted = [str(slot.value) for slot in clause.slots if slot.kind == "quoted"]
    if len(quoted) > 1:
        return {"pattern": quoted[0], "replacement": quoted[1]}
    found = _REPLACED.search(clause.text)
    if found is None:
        return {}
    old, new = _sign(found["old"]), _sign(found["new"])
    return {"pattern": old, "replacement": new} if old and "/" not in old else {}


def written(clause: Clause, now: datetime) -> dict[str, Any]:
    """What to write into a file, exactly."""
    for slot in clause.slots:
        if slot.kind == "quoted":
            return {"text": f"{slot.value}\n"}
    base = clause.words[0].start
    place = next((slot.start - base for slot in clause.slots if "place" in classes(slot)), len(clause.text))
    found = _WRITTEN.search(clause.text[:place].rstrip() + " ".rstrip())
    if found is None or clause.back:
        return {}
    text = found["text"].strip()
    return {} if text.casefold() in ("a file", "un file", "the text", "il testo", "file") else {"text": f"{text}\n"}


_EMPTY = {"files", "file", "i file", "text", "the", "words", "lines", "le righe", "in", "notes", "appunti", "all", "che"}


def _sign(word: str) -> str:
    return SIGNS.get(word.casefold().strip("'\""), word.strip("'\"«»“”"))


def _bare(text: str) -> str:
    """A text without the quotes around it."""
    found = re.fullmatch(r"\s*(['\"«“‘])(.*)(['\"»”’])\s*", text, re.DOTALL)
    return found[2] if found else text.strip()


def _masked(clause: Clause) -> str:
    """The clause with its slots blotted out, so that no word of theirs is taken for the request's own."""
    text, base = clause.text, clause.words[0].start
    for slot in clause.slots:
        if slot.kind not in ("count", "order"):
            start, end = slot.start - base, slot.end - base
            text = text[:start] + "\0" * (end - start) + text[end:]
    return text


def _groups(slots: Sequence[Slot], text: str, base: int) -> list[list[Slot]]:
    """Slots of time that stand together."""
    groups: list[list[Slot]] = []
    for slot in sorted(slots, key=lambda each: each.start):
        gap = text[groups[-1][-1].end - base : slot.start - base] if groups else "-"
        if groups and re.fullmatch(r"[\s,]*(?:(?:at|on|alle|all['’]|ore|le|il|the|in|and|e|a)\s*)*", gap, re.IGNORECASE):
            groups[-1].append(slot)
        else:
            groups.append([slot])
    return groups


def _chosen(groups: list[list[Slot]], text: str, base: int, start: int) -> list[Slot]:
    """The time that the reminder is for: right after the first words, else the last one named."""
    if not groups:
        return []
    before = text[start : groups[0][0].start - base]
    return groups[0] if len(before.split()) <= 2 else groups[-1]  # noqa: PLR2004 -- a word or two such as `on the`


def _without(text: str, spans: Iterable[tuple[int, int]], start: int) -> str:
    """The text from ``start`` on without these spans and the small words that led to them."""
    kept, at = "", start
    for begin, end in sorted(spans):
        kept += _CLOSING.sub("", text[at:begin]) + " "
        at = end
    kept = " ".join((kept + text[at:]).split())
    for _ in range(2):
        kept = _OPENING.sub("", kept, count=1).strip()
    return _bare(_CLOSING.sub("", kept).rstrip(".!"))
