"""Tables: what a clause wants of rows, as the steps read, filter, group, sort and write.

Rules: rows come from a file that the clause names, else from the step before. A column is taken as it is written, and
the plan says so, because nobody has looked into the table yet.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from metnos.fastpath.slots import Slot
from metnos.turn.plan import fill_small, fill_tables
from metnos.turn.plan.chain_state import Chain, Origin
from metnos.turn.plan.clauses import DETERMINERS, Clause, classes
from metnos.turn.plan.fill_tables import Wanted
from metnos.turn.plan.lexicon import Word, fold
from metnos.turn.plan.records import Step

VERBS = ("filter", "sort", "group", "sum", "mean", "median", "least", "greatest", "count", "read", "list", "write",
         "compute", "find", "get", "where", "show", "copy", "search")  # fmt: skip
ASKED = {"sort_tables": "by", "filter_tables": "conditions", "group_tables": "by"}
_CHOOSING = {"date", "range", "time", "duration", "number", "count", "quoted", "size"}  # slots that choose rows
NEEDED = ("read_tables", "filter_tables", "sort_tables", "group_tables")


def fits(clause: Clause, slots: Sequence[Slot], chain: Chain) -> bool:
    """Whether the clause works on the rows of a table."""
    head = clause.head
    if not all(map(chain.has, NEEDED)) or (head is not None and not head.means(*VERBS)):
        return False
    source = chain.before(clause)
    if not _files(slots) and (source is None or not (source.rows or clause.said("sort", "filter", "group"))):
        return False
    if source is not None and not _files(slots) and not source.rows:
        named = fill_tables.wanted(clause).named
        return bool(named) and set(named) <= source.fields
    return fill_tables.wanted(clause).anything or _counts(clause)


def build(clause: Clause, slots: Sequence[Slot], chain: Chain) -> None:
    """Add the steps."""
    wanted = fill_tables.wanted(clause)
    files = _files(slots)
    origin = chain.before(clause)
    if files:
        args = {"path": str(files[0].value)} | fill_small.sheet(clause, chain.scene.now)
        origin = chain.add("read_tables", args)
        if wanted.named:
            chain.note("columns", columns=", ".join(wanted.named))
    if origin is None:
        chain.lack("read_tables", "path")
        return
    origin = _worked(clause, wanted, origin, chain)
    goal = next((slot for slot in slots if slot.role in ("to", "as") and "table" in classes(slot)), None)
    if goal is not None and chain.has("write_tables"):
        chain.add("write_tables", {"entries": origin.ref(), "path": str(goal.value)})


def ask(clause: Clause, slots: Sequence[Slot], chain: Chain, name: str) -> None:
    """A table is to be sorted, filtered or grouped, and the request does not say how."""
    files = _files(slots)
    origin = chain.add("read_tables", {"path": str(files[0].value)}) if files else chain.before(clause)
    if origin is None:
        origin = chain.add("read_tables", {})
        chain.lack("read_tables", "path")
    chain.add(name, {"entries": origin.ref()})
    chain.lack(name, ASKED[name])


def join(clause: Clause, slots: Sequence[Slot], chain: Chain) -> None:
    """Read two tables and bring them together."""
    files = _files(slots)
    before = chain.before(clause)
    origins = [chain.add("read_tables", {"path": str(slot.value)}) for slot in files[:2]]
    if before is not None and len(origins) == 1:
        origins.insert(0, before)
    args: dict[str, Any] = {name: origin.ref() for name, origin in zip(("entries", "right"), origins, strict=False)}
    on = fill_tables.joined_on(clause)
    if on:
        args |= {"on": on}
        chain.note("columns", columns=", ".join(each["column"] for each in on))
    chain.add("join_tables", args)
    if len(origins) < len(("entries", "right")):
        chain.lack("join_tables", "entries" if not origins else "right")
    elif not on:
        chain.lack("join_tables", "on")


def unheeded(clause: Clause, steps: Sequence[Step]) -> str:
    """What says which rows are meant and no step takes into account: a figure over all of them would be a wrong one.

    Where nothing is worked out, a word that nobody knows may be anything; a day, a number or a quoted text is not.
    """
    used = {step.executor for step in steps}
    if not used & {"read_tables", "group_tables", "sort_tables"} or "find_files" in used:
        return ""
    taken = fold(str([step.args for step in steps]))
    figures = any(step.executor == "group_tables" for step in steps)
    words = [word for word in clause.words if not word.mark]
    counted = [two for one, two in pairwise(words) if one.means("count")]  # *how many orders*: rows, whatever they are
    for word, after in pairwise((*words, None)):
        if word is None or fold(str(word.slot.value) if word.slot else word.text) in taken or word.text in taken:
            continue
        if word.slot is not None and (classes(word.slot) & _CHOOSING or _is_a_kind(word.slot)):
            return word.raw
        alone = word in counted and not (after is not None and after.unknown)
        if figures and ((word.unknown and not alone) or _is_chosen(words, word)):
            return word.raw
    return ""


def _is_a_kind(slot: Slot) -> bool:
    """Whether a word that may be a kind of files is a word for rows here: *the average for music*."""
    kinds = classes(slot)
    return "files" in kinds and not kinds & {"tables", "format"}


def _is_chosen(words: Sequence[Word], word: Word) -> bool:
    """Whether a word says for what something is worked out: *the average for weather*."""
    led = [each.text for each in words[: words.index(word)] if each.text not in DETERMINERS][-1:]
    return (
        led in (["for"], ["among"]) and word.slot is None and not word.stop and not word.means("each", "all", "columns")
    )


def _worked(clause: Clause, wanted: Wanted, origin: Origin, chain: Chain) -> Origin:
    if wanted.conditions:
        args = {"entries": origin.ref(), "conditions": wanted.conditions}
        args |= {"match": "any"} if wanted.any and len(wanted.conditions) > 1 else {}
        origin = chain.add("filter_tables", args)
    if wanted.aggregates or wanted.by or wanted.unsaid or _counts(clause):
        args = {"entries": origin.ref()}
        args |= {"by": wanted.by} if wanted.by else {}
        args |= {"aggregates": wanted.aggregates} if wanted.aggregates else {}
        origin = chain.add("group_tables", args)
        if not wanted.aggregates and clause.said("howmuch", "sum", "mean"):
            chain.lack("group_tables", "aggregates")
    if wanted.order:
        args = {"entries": origin.ref(), "by": wanted.order}
        counts = [slot.value for slot in clause.slots if slot.kind == "count"]
        limit = fill_small.rows(clause, chain.scene.now).get("limit") or (counts[0] if counts else None)
        origin = chain.add("sort_tables", args | ({"limit": limit} if limit else {}))
    return origin


def _counts(clause: Clause) -> bool:
    return clause.said("count") and clause.said("rows", "each")


def _files(slots: Sequence[Slot]) -> list[Slot]:
    return [slot for slot in slots if {"table", "file"} <= classes(slot) and slot.role not in ("to", "as")]
