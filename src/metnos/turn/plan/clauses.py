"""A request taken apart into clauses: one clause, one thing to do.

Rules: a clause ends where a conjunction or a mark is followed by a verb; what is to be noted or reminded of reaches
to the end, whatever verbs are in it. What is quoted or named is a slot and never splits. A clause knows whether it is
negated and whether it speaks of what came before (*them*, *li*).

Does not guarantee grammar: a noun that is also a verb is told by the word before it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from metnos.fastpath.slots import Slot
from metnos.fastpath.slots_paths import WELL_KNOWN, is_text
from metnos.turn.plan.lexicon import HINT, LIGHT, VERB, Word, words

CONJUNCTIONS = {"and", "then", "e", "ed", "poi", "quindi", "but", "ma", "pero", "dopodiche", "infine", "finally"}
ADVERBS = {"then", "also", "poi", "anche", "please", "infine", "finally", "me", "mi", "just", "now", "subito", "dopo"}
DETERMINERS = {
    "a", "an", "the", "my", "your", "our", "his", "her", "this", "that", "these", "those", "their", "its", "all",
    "every", "il", "lo", "la", "i", "gli", "le", "l'", "un", "uno", "una", "un'", "mio", "mia", "miei", "mie",
    "tutti", "tutte",
    "tutto", "tutta", "ogni", "quel", "quella", "quei", "questo", "questa", "questi", "queste", "del", "della", "dei",
    "delle", "degli", "dello", "nel", "nella", "nei", "nelle", "dell'", "nell'", "each", "any", "some",
}  # fmt: skip
PARTICLES = {"down", "up", "off", "out", "away", "on", "back", "over", "via", "giu", "su"}
NOUNISH = {"count", "sum", "mean", "median", "least", "greatest", "hash", "note", "list", "check", "compare", "remind"}
NEGATIONS = {"not", "don't", "do not", "dont", "never", "non", "mai", "without", "senza", "doesn't"}
DENIALS = {"not", "don't", "do not", "dont", "never", "non", "mai", "no"}
BASE = "base"  # the role of a folder that only says where another thing is
PLACES = ("path", "folder", "name")
PATTERNS = ("files", "glob")
# What the ending of a file's name says about it.
ENDINGS = {
    "pdf": "pdf",
    "csv": "table", "tsv": "table", "json": "table", "jsonl": "table", "xlsx": "table", "xls": "table",
    "db": "table", "sqlite": "table", "sqlite3": "table",
    "docx": "office", "doc": "office", "odt": "office", "pptx": "office", "odp": "office",
    "ods": "office", "ppt": "office",
    "html": "html", "htm": "html",
    "jpg": "image", "jpeg": "image", "png": "image", "webp": "image", "gif": "image", "tiff": "image",
    "bmp": "image",
    "heic": "image", "tif": "image",
    "zip": "archive", "tar": "archive", "gz": "archive", "tgz": "archive", "bz2": "archive", "xz": "archive",
    "txt": "text", "md": "text", "log": "text", "py": "text", "ini": "text", "toml": "text", "yaml": "text",
    "yml": "text",
    "mp3": "audio", "flac": "audio", "wav": "audio", "ogg": "audio", "m4a": "audio", "opus": "audio", "aac": "audio",
    "mp4": "video", "mkv": "video", "mov": "video", "avi": "video", "webm": "video",
    "rst": "text", "js": "text", "css": "text", "sh": "text", "conf": "text", "xml": "text", "tex": "text",
    "srt": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing to do, or the part of a request that has no verb of its own."""

    text: str
    words: tuple[Word, ...]
    negated: bool = False
    slots: tuple[Slot, ...] = field(init=False, compare=False)
    head: Word | None = field(init=False, compare=False)  # the verb that says what to do

    def __post_init__(self) -> None:
        # Both are asked for again and again, and a request may be long.
        object.__setattr__(self, "slots", tuple(word.slot for word in self.words if word.slot is not None))
        object.__setattr__(self, "head", _head(self.words))

    @property
    def back(self) -> bool:
        """Whether it speaks of what came before."""
        return any(word.means("it") for word in self.words)

    @property
    def stranger(self) -> Word | None:
        """A first word that looks like a verb and that nobody knows: *frobnicate the files*."""
        told = [word for word in self.words if not (word.stop or word.mark or word.of_kind(LIGHT))]
        if not told:
            return None
        return told[0] if _is_stranger(self.words[self.words.index(told[0]) :]) else None

    def hedge(self, *, mutates: bool) -> str:
        """A word that leaves something out or sets a condition, so that doing the rest would do too much."""
        for word in self.words:
            if word.slot is None and (word.means("except") or word.text in DENIALS):
                return word.raw
            if mutates and word.slot is None and (word.means("condition") or word.text in NEGATIONS):
                return word.raw
        return ""

    def said(self, *concepts: str) -> bool:
        return any(word.means(*concepts) for word in self.words)

    def have(self, *kinds: str) -> bool:
        """Whether there is a slot of one of these classes."""
        return any(kinds_of & set(kinds) for kinds_of in map(classes, self.slots))


def _head(every: Sequence[Word]) -> Word | None:
    """The first verb that no determiner makes a noun."""
    for before, word in zip((None, *every), every, strict=False):
        if word.means("where", "what"):
            continue
        if word.of_kind(VERB) and not (before is not None and before.text in DETERMINERS):
            return word
    return None


def split(text: str, slots: Sequence[Slot], swallows: Callable[[str], bool]) -> tuple[Clause, ...]:
    """The clauses of a request. ``swallows`` says whether a text takes everything after it, as a note does."""
    every = words(text, slots)
    starts = [0]
    whole = swallows(text)
    for at in range(1, len(every)):
        if whole:
            break
        if _breaks(every, at, starts[-1]):
            starts.append(at)
            whole = swallows(_between(text, _trimmed(every[at:])))
    parts = [every[start:end] for start, end in zip(starts, [*starts[1:], len(every)], strict=True)]
    return tuple(_clause(text, part) for part in map(_trimmed, parts) if part)


def classes(slot: Slot) -> set[str]:
    """What a slot can stand for: its kind, and what its ending says; of patterns in the plural (``pdfs``)."""
    found = {str(slot.kind)}
    if slot.kind in PATTERNS and slot.role in ("to", "as"):
        return {"format"}  # what something is to become
    if slot.kind in PATTERNS:
        found |= pattern_classes(str(slot.value))
    elif slot.kind == "folder":
        found |= {"place"}
    elif slot.kind in PLACES:
        name = PurePosixPath(str(slot.value))
        ending = name.suffix[1:].lower()
        if ending or slot.kind == "name":
            found |= {"place", "file", ENDINGS.get(ending, "other")}
        elif is_text(name.name):
            found |= {"place", "file", "text"}
        else:
            found |= {"place", "folder"} | ({"shelf"} if name.name in {*WELL_KNOWN, "~", ""} else set())
    elif (slot.kind == "duration" and slot.role in ("older", "newer")) or slot.kind in ("range", "date"):
        found |= {"age"}
    return found


def pattern_classes(pattern: str) -> set[str]:
    """What a pattern of names stands for."""
    return {"files"} | {f"{ENDINGS.get(each.rpartition('.')[2].lower(), 'other')}s" for each in pattern.split("|")}


def _breaks(every: Sequence[Word], at: int, start: int) -> bool:
    """Whether a new clause begins at this word: it joins, and a verb follows."""
    word = every[at]
    joins = (word.raw.casefold().split() or [""])[0] in CONJUNCTIONS or word.text in {",", ";", ".", ":", "!", "?"}
    if not joins or word.raw in ("è", "È"):
        return False
    rest = list(every[at + 1 :])
    while rest and (
        rest[0].text in CONJUNCTIONS | ADVERBS | {","} or rest[0].text in NEGATIONS or rest[0].means("can")
    ):
        rest.pop(0)
    if not rest:
        return False
    if not rest[0].of_kind(VERB) and not rest[0].means("show"):
        return _is_stranger(rest)
    return _is_verb(rest) and any(each.slot or each.of_kind(VERB) or each.unknown for each in every[start:at])


def _is_stranger(rest: Sequence[Word]) -> bool:
    """Whether an unknown word is used as a verb: something follows that it is done to."""
    if not rest[0].unknown:
        return False
    after = rest[2:] if len(rest) > 1 and rest[1].text in PARTICLES else rest[1:]
    return bool(after) and (after[0].text in DETERMINERS or after[0].slot is not None or after[0].means("it"))


def _is_verb(rest: Sequence[Word]) -> bool:
    """Whether a word that may be a verb or a noun is a verb here: something follows that it is done to."""
    verb = rest[0]
    if verb.means("it"):
        return True
    after = rest[1] if len(rest) > 1 else None
    nounish = any(verb.means(each) for each in NOUNISH) or verb.of_kind("thing")
    if after is None:
        return not nounish
    if nounish:
        return after.text in DETERMINERS or after.means("it") or after.slot is not None
    return True


def _settled(part: Sequence[Word]) -> Sequence[Word]:
    """The words of a clause, with *empty* as a verb only where it is a command: not in *which files are empty?*"""
    told = [word for word in part if not (word.stop or word.mark or word.means("can", "want"))]
    asked = any(word.text == "there" for word in part)
    return [
        replace(word, meanings={"vacant": HINT}) if word.text == "empty" and (word is not told[0] or asked) else word
        for word in part
    ]


def _clause(text: str, part: Sequence[Word]) -> Clause:
    part = _settled(part)
    own = Clause(_between(text, part), tuple(part))
    head = own.head
    before = part[: part.index(head)] if head in part else ()
    return Clause(own.text, own.words, any(word.text in NEGATIONS for word in before))


def _trimmed(part: Sequence[Word]) -> Sequence[Word]:
    """Without conjunctions and marks at either end."""
    joining = CONJUNCTIONS | {",", ";", ".", "!", "?", ":"}
    start, end = 0, len(part)
    while (
        start < end and part[start].text in joining and part[start].slot is None and part[start].raw not in ("è", "È")
    ):
        start += 1
    while end > start and part[end - 1].mark:
        end -= 1
    return part[start:end]


def _between(text: str, part: Sequence[Word]) -> str:
    return text[part[0].start : part[-1].end] if part else ""
