"""What a clause asks for: the executor that its words and slots speak for.

The lines are data in ``intents.toml``. A line fits when all it names is in the clause; the verb that heads the clause
must be one it names, so *translate x.txt* never becomes *read x.txt*. An executor without lines is reached by the
words of its own name, so what grows later is found by the same words that were missing before.

Rules: a better fit names more of the clause and leaves less of it over. Does not fill anything in.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from metnos.executors import vocabulary
from metnos.turn.plan.clauses import BASE, Clause, classes
from metnos.turn.plan.lexicon import HINT, LIGHT, THING, VERB, Word
from metnos.turn.plan.records import Tool

WEIGHTS = {VERB: 3.0, THING: 3.0, HINT: 1.0, LIGHT: 0.5}
SLOT, OPTIONAL, DOUBTFUL = 2.0, 0.6, 1.0
LEFT_THING, LEFT_SLOT, LEFT_WORD = 2.0, 1.0, 0.4  # what a line loses for what it does not explain
LOOSE_SLOTS = {
    "format",
    "number",
    "count",
    "date",
    "range",
    "time",
    "duration",
    "order",
    "size",
}  # any executor may take these


@dataclass(frozen=True, slots=True)
class Line:
    """One way to mean an executor."""

    executor: str
    needs: tuple[frozenset[str], ...]
    may: frozenset[str]
    never: frozenset[str]
    args: Mapping[str, Any]
    names: frozenset[str]  # everything that it needs or may have


@dataclass(frozen=True, slots=True)
class Intent:
    """A line that fits, how well, and how much of the clause it explains (0 to 1)."""

    executor: str
    args: Mapping[str, Any]
    score: float
    covers: float


@cache
def lines() -> tuple[Line, ...]:
    """The lines as they are shipped."""
    text = resources.files("metnos.turn.plan").joinpath("intents.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return tuple(
        _line(executor, bag, entry.get("args", {}))
        for executor, entries in data.items()
        for entry in entries
        for bag in entry["when"]
    )


def intents(clause: Clause, tools: Mapping[str, Tool], *, before: frozenset[str] = frozenset()) -> tuple[Intent, ...]:
    """Every executor that the clause may mean, the best first. ``before`` are the classes of what came before it."""
    if clause.stranger is not None:
        return ()
    there, head = _there(clause, before), clause.head
    best: dict[str, Intent] = {}
    for line in (*lines(), *_grown(frozenset(tools))):
        if line.executor not in tools or line.never & there.keys():
            continue
        if head is not None and not head.meanings.keys() & line.names:
            continue
        if all(need & there.keys() for need in line.needs):
            found = _intent(line, clause, there)
            held = best.get(line.executor)
            if held is None or found.score > held.score:
                best[line.executor] = found
    return tuple(sorted(best.values(), key=lambda each: (-each.score, tools[each.executor].mutates, each.executor)))


@cache
def known() -> frozenset[str]:
    """The executors that have lines of their own."""
    return frozenset(line.executor for line in lines())


@lru_cache(maxsize=4)
def _grown(names: frozenset[str]) -> tuple[Line, ...]:
    """Lines for the executors that have none."""
    return tuple(line for name in sorted(names - known()) for line in of_name(name))


def of_name(name: str) -> Iterator[Line]:
    """The lines that an executor's own name gives: its verb, its object, and its qualifier where there is one."""
    if not vocabulary.is_name(name):
        return
    verb, thing, *rest = name.split("_")
    objects = {thing, *_CLASSES_OF.get(thing, ()), *(f"@{each}{plural}" for each in rest for plural in ("", "s"))}
    may = frozenset({"files", "documents", "text", "all", "@place", "@files", "it", "what", *rest})
    needs = (frozenset({verb}), frozenset(objects))
    yield Line(name, needs, may, frozenset(), {}, may.union(*needs))


_CLASSES_OF = {
    "text": ("@text", "@texts", "@pdf", "@office", "documents", "pages", "@quoted"),
    "files": ("@place", "@files"), "documents": ("@pdf", "@office", "@pdfs", "@offices", "@text"),
    "images": ("@image", "@images"), "tables": ("@table", "@tables"), "pages": ("@url", "@html"),
    "mails": ("@email",), "archives": ("@archive",), "folders": ("@folder",), "paths": ("@place",), "urls": ("@url",),
}  # fmt: skip


def _line(executor: str, bag: str, args: Mapping[str, Any]) -> Line:
    needs: list[frozenset[str]] = []
    may: set[str] = set()
    never: set[str] = set()
    for part in bag.split():
        names = frozenset(part.lstrip("?!").split("|"))
        if part[0] == "?":
            may |= names
        elif part[0] == "!":
            never |= names
        else:
            needs.append(names)
    return Line(executor, tuple(needs), frozenset(may), frozenset(never), args, frozenset(may.union(*needs)))


def _intent(line: Line, clause: Clause, there: Mapping[str, float]) -> Intent:
    """How well a line fits whose needs are met."""
    score = sum(max(there[name] for name in need & there.keys()) for need in line.needs)
    score += OPTIONAL * len(line.may & there.keys())
    content = told = 0
    for word in clause.words:
        loss = _loss(word, line.names)
        score -= loss
        if not word.stop and not word.mark:
            content += 1
            told += loss == 0
    return Intent(line.executor, line.args, score, told / content if content else 0.0)


def _there(clause: Clause, before: frozenset[str]) -> dict[str, float]:
    """Everything a line may name that is in the clause, with its weight."""
    there: dict[str, float] = {}
    opening = _opening(clause)
    for word in clause.words:
        both = word.of_kind(VERB) and word.of_kind(THING)
        for each, kind in word.meanings.items():
            # A word that is a verb and a noun (copy, note, duplicate) is the verb where a clause begins with it.
            doubtful = both and kind in (VERB, THING) and (kind == VERB) != (word is opening)
            there[each] = max(there.get(each, 0.0), DOUBTFUL if doubtful else WEIGHTS.get(kind, 0.0))
    if any(word.unknown and "_" in word.text for word in clause.words):
        there["@bare"] = SLOT
    for slot in clause.slots:
        there |= {f"@{each}": SLOT for each in classes(slot)}
    if sum(1 for slot in clause.slots if "place" in classes(slot) and slot.role != BASE) > 1:
        there["@2"] = SLOT
    if not clause.have("file", "files", "url"):
        there |= {f"@{each}": SLOT for each in before}
    return there


def _opening(clause: Clause) -> Word | None:
    """The word that a clause begins with, if it may be a command: nothing *is* or *are* before it."""
    for word in clause.words:
        if word.means("be"):
            return None
        if not (word.stop or word.mark or word.of_kind(LIGHT)):
            return word
    return None


def _loss(word: Word, names: frozenset[str]) -> float:
    """What a line loses for a word that it does not explain."""
    if word.slot is not None:
        kinds = classes(word.slot)
        two = "@2" in names and "place" in kinds
        return 0.0 if two or {f"@{each}" for each in kinds} & names or kinds & LOOSE_SLOTS else LEFT_SLOT
    if word.meanings.keys() & names or word.stop or word.mark or word.of_kind(LIGHT):
        return 0.0
    if word.of_kind(THING) or word.of_kind(VERB):
        return LEFT_THING
    return LEFT_WORD if word.unknown else 0.0
