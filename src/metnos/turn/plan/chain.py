"""Steps from clauses: each executor gets its arguments, and the steps that must come before it to give them.

Type-driven: what takes paths is fed by what finds files, what takes rows by what reads tables, what takes a text by
what takes texts out of documents.

Rules: files that are chosen by a pattern, an age or a size are found first, so that the preview shows exactly which;
what nobody named is asked for, never guessed; of duplicates only those beyond the first are ever deleted.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from metnos.fastpath.slots import Slot
from metnos.turn.plan import chain_goal, chain_tables, chain_text, fill_files, narrowing
from metnos.turn.plan.chain_state import Chain, Origin
from metnos.turn.plan.clauses import BASE, PATTERNS, Clause, classes
from metnos.turn.plan.fill import fill, is_place, missing
from metnos.turn.plan.fill_small import READERS, reminder_words
from metnos.turn.plan.fill_values import ARRAY, STRING, kind
from metnos.turn.plan.intents import Intent, known
from metnos.turn.plan.records import Tool

CLASSES = {
    "extract_text_pdf": "*.pdf",
    "extract_text_html": "*.html|*.htm",
    "extract_text_office": "*.docx|*.odt|*.pptx|*.odp",
}
BY_NAME = ("search_text", "find_duplicates")  # they look into folders by themselves, and take a pattern of names


def extend(chain: Chain, clause: Clause, intent: Intent) -> None:
    """Add the steps of one clause to the plan."""
    before = chain.before(clause)
    if intent.executor == "write_tables" and before is not None and not before.rows and "text" in before.fields:
        intent = replace(intent, executor="write_files")  # a page that was fetched is a text, whatever its name
    name = intent.executor
    slots = _sources(clause) if name in ("convert_images", "resize_images", "convert_tables") else clause.slots
    if name in ("move_files", "copy_files") and _placed(chain, clause, slots):
        return
    if name == "join_tables":
        chain_tables.join(clause, slots, chain)
    elif name in chain_tables.ASKED:
        chain_tables.ask(clause, slots, chain, name)
    elif name == "find_files":
        _find(chain, clause, slots, intent)
    elif name == "delete_reminders" and _about_reminders(chain, clause):
        pass
    elif chain_text.fits(chain, clause, slots, name):
        chain_text.build(chain, clause, slots, name, arguments(chain, clause, slots, intent))
    else:
        _one(chain, clause, slots, intent)
    chain.classes |= set().union(*map(classes, slots)) & _FILE_CLASSES


def arguments(chain: Chain, clause: Clause, slots: Sequence[Slot], intent: Intent) -> dict[str, Any]:
    """What the clause itself says for the executor."""
    tool = chain.scene.tools[intent.executor]
    args, _ = fill(tool, clause.text, _moved(slots, clause), exists=chain.scene.ground.there)
    args |= fill_files.ages(slots, chain.scene.now) if "older_than_days" in tool.properties else {}
    if tool.name in known():
        loose = [each for each in args if each not in tool.required and _is_loose(tool, each)]
        reader, own = READERS.get(tool.name, (None, ()))
        args = {each: value for each, value in args.items() if each not in loose and each not in own}
        args |= reader(clause, chain.scene.now) if reader is not None else {}
    return args | dict(intent.args)


def _one(chain: Chain, clause: Clause, slots: Sequence[Slot], intent: Intent) -> None:
    """One executor, with what must come before it."""
    tool = chain.scene.tools[intent.executor]
    args = arguments(chain, clause, slots, intent)
    aim = chain_goal.aim(tool, clause, slots, chain)
    if "paths" in tool.properties and tool.name != "make_folders":
        _paths(chain, clause, slots, tool, args, aim)
    _from_before(chain, clause, tool, args)
    chain_goal.settle(chain, clause, slots, tool, args, aim)
    chain.add(tool.name, args)
    for each in missing(tool, args):
        chain.lack(tool.name, each)


def _find(chain: Chain, clause: Clause, slots: Sequence[Slot], intent: Intent) -> None:
    """Files by what they are like; by their name alone they are looked for at home."""
    args = dict(intent.args) | narrowing.narrowed(fill_files.filters(clause, slots, chain.scene.now), clause)
    if "order" not in args and (first := narrowing.order(clause)):
        args["order"] = first
        chain.note(first)
    where = fill_files.folder(slots, None)
    named = any(slot.kind == "name" for slot in slots) or (clause.said("names") and "pattern" in args)
    named = named or "_" in str(args.get("pattern", ""))
    if where is None and (named or clause.said("host")):
        where = "~"
        chain.note("home")
    if clause.said("count") and "kind" not in args and clause.said("folders") and not clause.said("files"):
        args["kind"] = "folder"
    chain.add("find_files", ({"path": where} if where else {}) | args)
    if where is None:
        chain.lack("find_files", "path")


def _paths(
    chain: Chain, clause: Clause, slots: Sequence[Slot], tool: Tool, args: dict[str, Any], aim: Slot | None
) -> None:
    """The files that an executor works on: named, found, or from the step before."""
    args.pop("paths", None)
    sources = [slot for slot in slots if "place" in classes(slot) and slot is not aim and slot.role != BASE]
    files = [slot for slot in sources if "file" in classes(slot)]
    folders = [slot for slot in sources if slot not in files]
    before = chain.before(clause)
    if tool.name in BY_NAME and not files and folders:
        args["paths"] = [str(slot.value) for slot in folders]
        _names(args, tool, slots)
    elif clause.said("duplicates") and tool.mutates:
        _duplicates(chain, slots, folders, args)
    elif tool.mutates and _one_inside(clause, folders):
        pass  # *the folder in ~/x*: which one is asked for
    elif fill_files.selects(clause, slots) or _everything(clause, tool, folders):
        found = _found(chain, clause, slots, folders, tool)
        args["paths"] = found.ref("path")
    elif files:
        # A folder *in* which the files are is no object of its own.
        args["paths"] = [str(slot.value) for slot in sources if slot in files or slot.role not in _WHERE]
    elif folders and _takes_folders(tool, folders):
        args["paths"] = [str(slot.value) for slot in folders]
    elif folders:
        args["paths"] = _found(chain, clause, slots, folders, tool).ref("path")
    elif before is not None and before.places:
        args["paths"] = _taken(chain, before, tool)
    elif (first := _first_of_last(chain, clause)) is not None:
        args["paths"] = [first]


def _found(chain: Chain, clause: Clause, slots: Sequence[Slot], folders: Sequence[Slot], tool: Tool) -> Origin:
    """A step that finds the files first."""
    args = narrowing.narrowed(fill_files.filters(clause, slots, chain.scene.now), clause)
    if "pattern" not in args and tool.name in CLASSES:
        args["pattern"] = CLASSES[tool.name]
    if "pattern" not in args and tool.mutates:
        args |= {"depth": 1} | _kind(clause)
    where = str(folders[0].value) if folders else None
    origin = chain.add("find_files", ({"path": where} if where else {}) | args)
    if where is None:
        chain.lack("find_files", "path")
    _bounded(chain, tool)
    return origin


def _kind(clause: Clause) -> dict[str, Any]:
    """Whether files, folders or both are meant of what is in a folder."""
    folders, files = narrowing.folders(clause), clause.said("files", "documents")
    return {} if files and not folders else {"kind": "folder" if folders and not files else "any"}


def _bounded(chain: Chain, tool: Tool) -> None:
    """*The largest files* says an order and no number: nothing is changed before it is known how many."""
    step = chain.steps[-1]
    if tool.mutates and step.executor == "find_files" and "order" in step.args and "limit" not in step.args:
        chain.lack("find_files", "limit")


def _names(args: dict[str, Any], tool: Tool, slots: Sequence[Slot]) -> None:
    """The pattern of names for what looks into folders by itself."""
    key = "names" if "names" in tool.properties else "pattern"
    patterns = [str(slot.value) for slot in slots if slot.kind in PATTERNS]
    if patterns:
        args[key] = "|".join(patterns)


def _duplicates(chain: Chain, slots: Sequence[Slot], folders: Sequence[Slot], args: dict[str, Any]) -> None:
    """Duplicates to be changed: those beyond the first of each group only."""
    found: dict[str, Any] = {"paths": [str(slot.value) for slot in folders]} if folders else {}
    patterns = [str(slot.value) for slot in slots if slot.kind in PATTERNS]
    found |= {"pattern": "|".join(patterns)} if patterns else {}
    origin = chain.add("find_duplicates", found | {"only_extra": True})
    chain.note("extra")
    if not folders:
        chain.lack("find_duplicates", "paths")
    args["paths"] = origin.ref("path")


def _taken(chain: Chain, before: Origin, tool: Tool) -> str:
    """The files of the step before. Of duplicates one must stay."""
    if tool.mutates and before.executor == "find_duplicates":
        if before.name == "last":
            origin = chain.add("find_duplicates", {"only_extra": True})
            chain.lack("find_duplicates", "paths")
            chain.note("extra")
            return origin.ref("path")
        step = chain.steps[-1]
        chain.steps[-1] = type(step)(step.executor, dict(step.args) | {"only_extra": True})
        chain.note("extra")
    if before.name != "last":
        _bounded(chain, tool)
    return before.ref(before.places or "path")


def _first_of_last(chain: Chain, clause: Clause) -> str | None:
    """*The first* of what the last turn found, if the clause says nothing else about it."""
    last = chain.scene.last
    told = [word for word in clause.words if word is not clause.head and not (word.stop or word.mark)]
    firsts = [word for word in told if word.means("first") or _is_one(word.slot)]
    said = bool(firsts) and all(word in firsts or word.means("files", "it", "can", "show", "want") for word in told)
    if last is None or not last.count or chain.steps or not said:
        return None
    origin = Origin("last", last.executor, last.result_key, last.fields, rows=False)
    return origin.ref(origin.places, first=True) if origin.places else None


def _is_one(slot: Slot | None) -> bool:
    return slot is not None and slot.kind == "count" and slot.role == "first" and slot.value == 1


def _from_before(chain: Chain, clause: Clause, tool: Tool, args: dict[str, Any]) -> None:
    """Whatever is still required, from a step before that has it: rows, a text, a field of the same name."""
    before = chain.before(clause)
    if before is None:
        return
    for name in missing(tool, args):
        schema = tool.properties.get(name, {})
        if name == "entries" and kind(schema) == ARRAY:
            args[name] = before.ref()
        elif name == "text" and "text" in before.fields and not tool.properties.get("when"):
            args[name] = before.ref("text")
        elif kind(schema) == ARRAY and name.removesuffix("s") in before.fields:
            args[name] = before.ref(name.removesuffix("s"))
        elif kind(schema) == STRING and name in before.fields and not (is_place(name, schema) and tool.mutates):
            args[name] = before.ref(name, first=True)


def _about_reminders(chain: Chain, clause: Clause) -> bool:
    """Reminders that are named by their words: listed, chosen, then deleted."""
    words = reminder_words(clause)
    if any(each.isdigit() for each in clause.text.split()) or not words:
        return False
    if not all(map(chain.has, ("list_reminders", "filter_tables"))):
        return False
    origin = chain.add("list_reminders", {"which": "all"})
    condition = {"column": "text", "is": "contains", "value": words}
    origin = chain.add("filter_tables", {"entries": origin.ref(), "conditions": [condition]})
    chain.add("delete_reminders", {"ids": origin.ref("id")})
    return True


def _placed(chain: Chain, clause: Clause, slots: Sequence[Slot]) -> bool:
    """Whether the clause only says where the things of the step before are to go, which was assumed until now."""
    aimed = fill_files.goal(slots, source=True)
    if aimed is None or not clause.back or not chain.steps:
        return False
    step = chain.steps[-1]
    lacks = chain.missing == f"{step.executor}.to"
    if chain.assumed != len(chain.steps) and not lacks:
        return False
    to = str(aimed.value)
    if step.executor == "archive_files":
        to = f"{to.rstrip('/')}/{PurePosixPath(str(step.args['to'])).name}"
    chain.steps[-1] = type(step)(step.executor, dict(step.args) | {"to": to})
    if lacks:
        chain.missing = ""
    else:
        chain.notes.pop()
    chain.assumed = 0
    return True


def _sources(clause: Clause) -> tuple[Slot, ...]:
    """Without the patterns that say what something becomes (*in png*) where another says what it is."""
    slots = clause.slots
    if clause.said("copy"):  # *a jpg copy of a.png*
        slots = tuple(slot for slot in slots if slot.kind not in PATTERNS or not clause.have("image"))
    objects = [slot for slot in slots if classes(slot) & {"file", "files"}]
    return tuple(slot for slot in slots if not (slot.kind in PATTERNS and slot.role == "in" and slot is not objects[0]))


def _everything(clause: Clause, tool: Tool, folders: Sequence[Slot]) -> bool:
    """Whether what is in a folder is meant, and not the folder."""
    if clause.head is not None and clause.head.means("empty") and folders:
        return True
    inside = any(slot.role in ("in", "from") for slot in folders)
    return tool.mutates and inside and (clause.said("files", "all", "documents") or bool(narrowing.folders(clause)))


def _takes_folders(tool: Tool, folders: Sequence[Slot]) -> bool:
    """Whether what looks like a folder is itself what is worked on; to be read, it is a file without an ending."""
    named = tool.name == "read_files" and not any(slot.role in _WHERE for slot in folders)
    return named or "folder" in str(tool.properties["paths"].get("description", ""))


def _one_inside(clause: Clause, folders: Sequence[Slot]) -> bool:
    """Whether one folder in another is meant, which nobody named."""
    named = narrowing.folders(clause)
    single = bool(named) and all(each in _ONE_FOLDER for each in named)
    return single and bool(folders) and all(slot.role in ("in", "from") for slot in folders)


def _moved(slots: Sequence[Slot], clause: Clause) -> Sequence[Slot]:
    """Slots as they stand in the clause's own text."""
    base = clause.words[0].start
    return [replace(slot, start=slot.start - base, end=slot.end - base) for slot in slots]


def _is_loose(tool: Tool, name: str) -> bool:
    """Whether an optional argument is a free text or number, which nothing but its own reader may guess."""
    schema = tool.properties[name]
    return kind(schema) != "boolean" and "enum" not in schema and not is_place(name, schema) and name not in _MEASURED


_ONE_FOLDER = ("folder", "directory", "dir", "subfolder", "cartella", "sottocartella")
_WHERE = ("in", "from", "to", "as")
_MEASURED = ("pattern", "names", "min_size", "max_size", "newer_than_days", "older_than_days", "limit", "min_bytes")
_FILE_CLASSES = {
    "pdf", "pdfs", "table", "tables", "office", "offices", "html", "htmls", "image", "images", "text", "texts",
    "archive", "archives", "file", "files", "url",
}  # fmt: skip
