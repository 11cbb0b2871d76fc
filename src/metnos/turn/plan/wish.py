"""A wish: the executor that a request would need and that does not exist, named from the closed vocabulary.

The verb comes from the request's verb, the object from its nouns and from what its slots are, the qualifier from the
kind of file. Rules: particulars never enter the name or the summary, so the same wish in other words and with other
files gives the same name and can recur. No word of the vocabulary, no wish. Does not judge whether the executor could
be made.
"""

from collections.abc import Iterable
from itertools import islice
from pathlib import PurePosixPath

from metnos.core.nearest import nearest
from metnos.executors import vocabulary
from metnos.fastpath.slots import Slot
from metnos.turn.plan.clauses import PATTERNS, Clause, classes
from metnos.turn.plan.lexicon import THING, VERB, Word
from metnos.turn.plan.records import REQUEST, Wish

# Concepts of the lexicon that the vocabulary calls otherwise.
VERBS = {
    "note": "append", "cancel": "delete", "unpack": "extract", "mean": "compute", "median": "compute",
    "least": "compute", "greatest": "compute",
}  # fmt: skip
OBJECTS = {
    "article": "pages", "pixels": "images", "thumbnail": "images", "space": "disks", "full": "disks", "cpu": "host",
    "uptime": "host", "due": "reminders", "names": "files", "trash": "files", "characters": "text", "html": "pages",
    "size": "sizes", "until": "dates", "between": "dates", "frequent": "words",
}  # fmt: skip
OF_CLASS = (
    ("image", "images"), ("audio", "audio"), ("video", "videos"), ("table", "tables"), ("pdf", "documents"),
    ("office", "documents"), ("html", "pages"), ("archive", "archives"), ("text", "text"), ("url", "pages"),
    ("email", "mails"), ("folder", "folders"),
    ("file", "files"), ("files", "files"), ("quoted", "text"),
)  # fmt: skip
ABOUT_TEXT = ("translate", "summarise", "search", "replace", "count")
QUESTION_VERB = "get"
ASKED_OF = {"weather": "get", "charts": "draw", "currencies": "convert"}  # whatever the verb of the question is
_CLOSE = 0.82  # how alike a mistyped word must be
_LONGEST = 120
_MOST_WORDS = 32  # unknown ones that are compared with what is known


def wish(
    clause: Clause, source: str, existing: Iterable[str], about: Iterable[str] = (), *, part: bool = False
) -> Wish | None:
    """What the clause would need, or nothing if the vocabulary has no words for it.

    ``about`` are the classes of what came before it, for a clause that speaks of *them*. ``part`` says that it speaks
    of a part of a file: what takes a part away cleans the file, and does not delete it.
    """
    name = name_of(clause, set(existing), set(about), part=part)
    if name is None:
        return None
    inputs = tuple(dict.fromkeys(_input(slot) for slot in clause.slots))
    return Wish(name, source or REQUEST, summary(clause), inputs, (name.split("_")[1],))


def name_of(clause: Clause, existing: set[str], about: set[str], *, part: bool = False) -> str | None:
    """The name, with a qualifier only where one helps: when the plain name is taken, it must say how it differs."""
    verb, thing = _verb(clause), _object(clause, about)
    if verb == "send" and any(slot.kind == "email" for slot in clause.slots):
        thing = "mails"
    if part and verb == "delete" and not _things(clause):
        verb = "clean"
    if thing is None or (verb is None and (clause.stranger or clause.head) is not None):
        return None
    verb = ASKED_OF.get(thing) or verb or QUESTION_VERB
    if verb in ABOUT_TEXT and thing in ("files", "documents", "pages"):
        thing = "text"
    plain = f"{verb}_{thing}"
    for name in (plain, *(f"{plain}_{each}" for each in _qualifiers(clause))):
        if name not in existing and vocabulary.is_known(name):
            return name
    return None


def summary(clause: Clause) -> str:
    """The clause without its particulars: what is asked for, whoever asks and about whatever."""
    parts = []
    for word in clause.words:
        if word.slot is not None:
            parts.append(f"<{_input(word.slot)}>")
        elif word.unknown and word.raw[0].isupper() and parts:
            parts.append("<name>")
        elif not word.mark:
            parts.append(word.raw.casefold())
    return " ".join(parts)[:_LONGEST]


def _verb(clause: Clause) -> str | None:
    known = vocabulary.load().verbs
    if clause.stranger is not None:
        return _nearest([clause.stranger], known)
    heads = [clause.head] if clause.head is not None else []
    for word in (*heads, *clause.words):
        for concept, kind in word.meanings.items():
            if kind == VERB and (found := concept if concept in known else VERBS.get(concept)):
                return found
    return None


def _object(clause: Clause, about: set[str]) -> str | None:
    known = vocabulary.load().objects
    if things := _things(clause):
        return things[0]
    there = set().union(*map(classes, clause.slots)) | (about if clause.back else set())
    for each, thing in OF_CLASS:
        if there & {each, f"{each}s"}:
            return thing
    return _nearest((word for word in clause.words if word.unknown and word is not clause.stranger), known)


def _things(clause: Clause) -> list[str]:
    """The objects that the clause names by words of their own."""
    known = vocabulary.load().objects
    return [
        found
        for word in clause.words
        if word is not clause.head
        for concept, kind in word.meanings.items()
        if kind == THING and (found := concept if concept in known else OBJECTS.get(concept))
    ]


def _qualifiers(clause: Clause) -> list[str]:
    endings = [PurePosixPath(str(slot.value)).suffix[1:].lower() for slot in clause.slots if _is_file(slot)]
    return [each for each in endings if each in vocabulary.load().qualifiers]


def _nearest(words: Iterable[Word], known: Iterable[str]) -> str | None:
    listed = list(known)
    for word in islice(words, _MOST_WORDS):
        for spelled in (word.text, f"{word.text}s"):
            found = nearest(spelled, listed, cutoff=_CLOSE)
            if found:
                return found[0]
    return None


def _is_file(slot: Slot) -> bool:
    return slot.kind in PATTERNS or bool(classes(slot) & {"file"})


def _input(slot: Slot) -> str:
    """What a slot gives, without what it says: ``path (pdf)``."""
    first = str(slot.value).partition("|")[0]
    ending = PurePosixPath(first).suffix[1:].lower() if _is_file(slot) else ""
    kind = "path" if "place" in classes(slot) else str(slot.kind)
    return f"{kind} ({ending})" if ending and ending.isalnum() else kind
