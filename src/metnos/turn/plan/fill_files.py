"""Which files a request is about: where they are, what they are called, how old and how large they are.

Rules: a relative name is read against the working directory, then the home, then the folder that the request names;
if it is in none of them it stays as it is written. A day or a range of days becomes an age, reckoned from now. A
place where things go is never a place to look in. Does not look at the disk but by asking whether something exists.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from metnos.fastpath.slots import Slot
from metnos.turn.plan.clauses import BASE, DETERMINERS, Clause, classes
from metnos.turn.plan.lexicon import Word
from metnos.turn.plan.patterns import pattern

_DAY = 86_400.0
_OF = {"of", "di", "del", "della", "dello", "dei", "delle", "degli", "dell'", "about", "su", "sul", "sulla"}
_THAT = {"that", "which", "who", "with", "che", "con"}
_MAKING = ("make", "write", "append", "resize", "convert", "unpack")
FILTERS = ("age", "size", "order")


@dataclass(frozen=True, slots=True)
class Ground:
    """Where names are looked up."""

    cwd: Path
    home: Path
    exists: Callable[[Path], bool]

    def there(self, place: str) -> bool:
        """Whether something of this name exists."""
        return self.exists(self.path(place))

    def path(self, place: str) -> Path:
        if place == "~" or place.startswith("~/"):
            return self.home / place[2:]
        return self.cwd / place


def grounded(clause: Clause, ground: Ground) -> Clause:
    """The clause with its places as they are to be understood.

    A folder *in* which something that stands right before it is, is where that is to be looked for and nothing else.
    """
    places = list(resolved(clause.slots, ground))
    makes = clause.head is not None and clause.head.means(*_MAKING)
    for at, inner in _within(clause):
        slot = clause.slots[inner]
        place = _plain(f"{str(places[at].value).rstrip('/')}/{slot.value}")
        # *In* may also say where something new is to be: then only the disk tells.
        doubtful = clause.slots[at].role == "in" and (makes or "archive" in classes(slot))
        if not doubtful or ground.there(place):
            places[inner] = replace(slot, value=place, also=())
            places[at] = replace(places[at], role=BASE)
    left = iter(places)
    return replace(clause, words=tuple(replace(word, slot=next(left)) if word.slot else word for word in clause.words))


def _within(clause: Clause) -> Iterator[tuple[int, int]]:
    """Each folder that others are in, and one that is in it: both by their place among the slots."""
    inner: list[int] = []
    at = -1
    for word in clause.words:
        if word.slot is None:
            linked = word.stop or word.mark or word.text in DETERMINERS or word.means("folders", "files", "inside")
            inner = inner if linked else []
            continue
        at += 1
        slot, kinds = word.slot, classes(word.slot)
        if "folder" in kinds and slot.role in ("in", "from") and inner:
            yield from ((at, each) for each in inner)
            inner = []
        elif (
            "place" in kinds and slot.role not in ("to", "as", "in") and not str(slot.value).startswith(("/", "~", "."))
        ):
            inner.append(at)
        else:
            inner = []


def resolved(slots: Sequence[Slot], ground: Ground) -> tuple[Slot, ...]:
    """The slots with their places as they are to be understood."""
    # A place where things go comes last: *in* says both where something is and where it is to be.
    folders = sorted((slot for slot in slots if "folder" in classes(slot)), key=lambda slot: slot.role in ("to", "as"))
    return tuple(_resolved(slot, folders, ground) if "place" in classes(slot) else slot for slot in slots)


def _resolved(slot: Slot, folders: Sequence[Slot], ground: Ground) -> Slot:
    every = [str(slot.value), *slot.also]
    found = next((each for each in every if ground.there(each)), None)
    if found is not None:
        return replace(slot, value=_plain(found), also=())
    said = every[0]
    if said.startswith(("/", "~")):
        return replace(slot, value=_plain(said), also=())
    # What is to be made may be anywhere: only what is to be read is looked for.
    for base in ("~", *(str(each.value) for each in folders if each is not slot)):
        if ground.there(f"{base.rstrip('/')}/{said}"):
            return replace(slot, value=f"{base.rstrip('/')}/{said}", also=())
    return replace(slot, value=_plain(every[-1] if slot.kind == "folder" else said), also=())


def ages(slots: Sequence[Slot], now: datetime) -> dict[str, float]:
    """Days, ranges and durations as how old a file may be."""
    found: dict[str, float] = {}
    for slot in slots:
        if slot.kind == "duration" and slot.role in ("older", "newer"):
            found[f"{slot.role}_than_days"] = slot.value
        elif slot.kind == "range":
            found |= _range(slot.value, slot.role, now)
        elif slot.kind == "date":
            found |= _date(str(slot.value), slot.role, now)
    return found


def filters(clause: Clause, slots: Sequence[Slot], now: datetime) -> dict[str, Any]:
    """What `find_files` is to look for: every argument but the folder."""
    names = _pattern(clause, slots)
    found: dict[str, Any] = {"pattern": names} if names else {}
    for slot in slots:
        if slot.kind == "size":
            found["max_size" if slot.role == "max" else "min_size"] = str(slot.value)
        elif slot.kind == "order":
            found["order"] = slot.value
        elif slot.kind == "count":
            found["limit"] = slot.value
            if slot.role == "last":
                found.setdefault("order", "newest")
    if "order" in found and "limit" not in found and pattern("files.single").search(clause.text):
        found["limit"] = 1
    if "order" not in found and clause.said("each") and clause.said("size"):
        found["order"] = "largest"
    if clause.said("hidden"):
        found["hidden"] = True
    return found | ages([_beyond(slot, clause) for slot in slots], now)


def _beyond(slot: Slot, clause: Clause) -> Slot:
    """*After 2024* begins where that ends, and *since 2024* where it begins."""
    before = [word.text for word in clause.words if word.end <= slot.start and word.text not in DETERMINERS][-1:]
    if slot.kind != "range" or slot.role != "after" or before not in (["after"], ["dopo"]):
        return slot
    following = datetime.fromisoformat(str(slot.value["to"])) + timedelta(days=1)
    return replace(slot, value={"from": f"{following:%Y-%m-%d}", "to": ""})


def _pattern(clause: Clause, slots: Sequence[Slot]) -> str:
    """What the names look like: a kind of files, else a name, else what is quoted, called so, or looked for."""
    patterns = [str(slot.value) for slot in slots if "files" in classes(slot)]
    if patterns:
        return _named("|".join(dict.fromkeys(patterns)), modifiers(clause))
    own = [PurePosixPath(str(slot.value)).name for slot in slots if slot.kind == "name"]
    if own:
        return "|".join(dict.fromkeys(own))
    quoted = [str(slot.value) for slot in slots if slot.kind == "quoted"]
    if quoted and not clause.said("search"):
        return quoted[0]
    called = pattern("files.called").search(clause.text)
    if called is None and not clause.said("replace"):  # *replace spaces with underscores in the names*
        called = pattern("files.in_name").search(clause.text)
    return called["name"] if called else _noun(clause)


def modifiers(clause: Clause) -> list[str]:
    """Words that stand right beside a kind of files and say which: *holiday photos*, *foto delle vacanze*."""
    found: list[str] = []
    for place, word in enumerate(clause.words):
        if word.slot is None or "files" not in classes(word.slot):
            continue
        before = clause.words[place - 1] if place else None
        rest = clause.words[place + 1 : place + 3]
        # After its kind a word says which only if it is tied to it: *photos of Anna*, not *photos taken*.
        after = rest[1] if len(rest) > 1 and rest[0].text in _OF else None
        found += [each.text for each in (before, after) if each is not None and each.unknown]
    return found


def named(clause: Clause) -> list[str]:
    """Words that are looked for in the names of files."""
    return [*modifiers(clause), *(each for each in (_noun(clause),) if each)]


def which(clause: Clause, unknown: Sequence[Word]) -> str:
    """The first of these words that says which files are meant: before their kind, or after *about*, *that*, *with*."""
    for place, word in enumerate(clause.words):
        if word not in unknown:
            continue
        before = clause.words[place - 1].text if place else ""
        after = next((each for each in clause.words[place + 1 :] if not each.stop), None)
        kind = after is not None and (
            after in unknown or after.means("files", "documents", "images") or _of_kind(after)
        )
        if before in _OF or before in _THAT or kind:
            return word.raw
    return ""


def _of_kind(word: Word) -> bool:
    return word.slot is not None and "files" in classes(word.slot)


def _noun(clause: Clause) -> str:
    """The thing to find by its name alone (*find invoices*), without the ending of its plural."""
    head = clause.head
    if head is None or not head.means("find"):
        return ""
    after = clause.words[clause.words.index(head) + 1 :]
    nouns = [word for word in after if word.text not in DETERMINERS and not word.stop and not word.means("files")][:1]
    if nouns and nouns[0].means("documents") and not nouns[0].text.startswith("document"):
        return nouns[0].text  # a report, a letter: no kind of files, but what its name may say
    if not nouns or not nouns[0].unknown or len(nouns[0].text) <= len("xxx"):
        return ""
    if "_" in nouns[0].text:
        return nouns[0].text
    return nouns[0].text.removesuffix("s") if nouns[0].text.endswith("s") else nouns[0].text.rstrip("aeiou")


def _named(pattern_of_kind: str, words: Sequence[str]) -> str:
    """A pattern of endings that asks for these words in the name too."""
    if not words or not all(each.startswith("*.") for each in pattern_of_kind.split("|")):
        return pattern_of_kind
    held = "*".join(words)
    return "|".join(f"*{held}*{each[1:]}" for each in pattern_of_kind.split("|"))


def selects(clause: Clause, slots: Sequence[Slot]) -> bool:
    """Whether the clause chooses files by what they are like, so that they must be found first."""
    if any("files" in classes(slot) for slot in slots):
        return True
    kinds = set().union(*map(classes, slots)) if slots else set()
    return clause.said("files", "documents", "images") and bool(kinds & {*FILTERS, "duration"})


def goal(slots: Sequence[Slot], *, source: bool) -> Slot | None:
    """The place where something is to go. ``source`` says whether something else says what goes there."""
    places = [slot for slot in slots if "place" in classes(slot)]
    told = [slot for slot in places if slot.role in ("to", "as")]
    if told:
        return told[-1]
    inside = [slot for slot in places if slot.role == "in" and "folder" in classes(slot)]
    return inside[-1] if inside and (len(places) > 1 or source) else None


def folder(slots: Sequence[Slot], aim: Slot | None) -> str | None:
    """The folder to look in."""
    places = [slot for slot in slots if "folder" in classes(slot) and slot is not aim and slot.role not in ("to", "as")]
    return str(places[0].value) if places else None


def parent(place: str) -> str:
    """The folder that a path lies in, spelled as the path is."""
    head, slash, _ = place.rstrip("/").rpartition("/")
    return head or ("/" if slash else ".")


def _range(value: dict[str, Any], role: str, now: datetime) -> dict[str, float]:
    """A stretch of days (*in 2025*), what was before it, or what has been since it began."""
    if role in ("before", "after"):
        return {"older_than_days" if role == "before" else "newer_than_days": _ago(str(value["from"]), now)}
    found: dict[str, float] = {}
    if value.get("from"):
        found["newer_than_days"] = _ago(str(value["from"]), now)
    if value.get("to") and (last := _ago(str(value["to"]), now) - (1 if len(str(value["to"])) <= 10 else 0)) > 0:
        found["older_than_days"] = round(last, 2)
    return found


def _date(day: str, role: str, now: datetime) -> dict[str, float]:
    start = _ago(day, now)
    if role in ("older", "before", "max", "to", "until"):
        return {"older_than_days": start}
    if role in ("newer", "after", "since", "min", "from"):
        return {"newer_than_days": start}
    found = {"newer_than_days": start}
    return found | ({"older_than_days": round(start - 1, 2)} if start > 1 else {})


def _ago(day: str, now: datetime) -> float:
    """How many days ago a day began."""
    moment = datetime.fromisoformat(day)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
    return max(0.0, round((now - moment).total_seconds() / _DAY, 2))


def _plain(place: str) -> str:
    return place.rstrip("/") or place
