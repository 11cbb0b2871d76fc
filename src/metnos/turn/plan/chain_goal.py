"""Where things go: the folder or the new name that an executor makes, and what follows from the request where it is
silent.

Rules: a folder that is not there is made only for what is put into it, and the plan says so. A name that the request
does not give is formed from one it gives (``~/a`` is packed into ``~/a.zip``) and said; where two could be meant, it
is asked.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from metnos.fastpath.slots import Slot
from metnos.turn.plan import fill_files
from metnos.turn.plan.chain_state import Chain
from metnos.turn.plan.clauses import BASE, ENDINGS, Clause, classes
from metnos.turn.plan.fill_small import table_format
from metnos.turn.plan.lexicon import Word
from metnos.turn.plan.records import Tool

_ARTICLES = ("the", "a", "an", "il", "lo", "la", "un", "uno", "una")
_LEADING_TO = ("to", "as", "into", "in", "a", "come")


def aim(tool: Tool, clause: Clause, slots: Sequence[Slot], chain: Chain) -> Slot | None:
    """The slot that says where things go, if the executor puts them anywhere."""
    if "to" not in tool.properties or tool.properties["to"].get("x-path") is None:
        return None
    files = any(classes(slot) & {"file", "files"} for slot in slots)
    found = fill_files.goal(slots, source=files or clause.back or chain.before(clause) is not None)
    places = [slot for slot in slots if "place" in classes(slot) and slot.role != BASE]
    if len(places) == 1 and fill_files.selects(clause, slots) and places[0].role not in ("to", "as"):
        return None  # the one folder is where the files are
    named = [slot for slot in places if "file" in classes(slot)]
    if tool.name == "move_files" and clause.said("rename") and len(named) == len(("old", "new")):
        return named[1]  # *rename a.txt to b.txt in ~/x*
    if found is None and tool.name == "move_files" and len(places) > 1:
        return places[-1]
    if found is None and tool.name == "extract_archives":
        return next((slot for slot in places if "folder" in classes(slot)), None)
    return found if len(places) > 1 or not places or files or chain.before(clause) is not None else None


def made_if_missing(chain: Chain, clause: Clause) -> bool:
    """*Make it if it is not there*, said of the folder that the step before puts things into."""
    step = chain.steps[-1] if chain.steps else None
    if step is None or step.executor not in ("move_files", "copy_files", "write_files") or clause.head is None:
        return False
    if not (clause.head.means("make") and clause.back and clause.said("condition")):
        return False
    name = "make_folders" if step.executor == "write_files" else "make_folder"
    chain.steps[-1] = type(step)(step.executor, dict(step.args) | {name: True})
    return True


def settle(
    chain: Chain, clause: Clause, slots: Sequence[Slot], tool: Tool, args: dict[str, Any], aimed: Slot | None
) -> None:
    """Fill in where things go."""
    if "to" not in tool.properties or tool.properties["to"].get("x-path") is None:
        return
    args.pop("to", None)
    if aimed is not None:
        args["to"] = str(aimed.value)
    paths = args.get("paths")
    one = str(paths[0]) if isinstance(paths, list) and len(paths) == 1 else None
    if tool.name in ("move_files", "copy_files"):
        _place(chain, clause, aimed, args, one)
    elif tool.name == "archive_files":
        _packed(chain, args, one)
    elif tool.name == "extract_archives" and "to" not in args and one:
        args["to"] = _stem(one)
        chain.assume("into", place=args["to"])
    elif tool.name == "convert_images" and "to" not in args and one:
        args["to"] = fill_files.parent(one)
        chain.assume("into", place=args["to"])
    elif tool.name == "convert_tables":
        _converted(chain, clause, slots, args)


def _place(chain: Chain, clause: Clause, aimed: Slot | None, args: dict[str, Any], one: str | None) -> None:
    to = args.get("to")
    if to is None or aimed is None:
        return
    if one is not None:
        to = args["to"] = whole_name(clause, aimed)
    if clause.said("rename") and one is not None and "/" not in to:
        args["to"] = f"{fill_files.parent(one)}/{to}" if "/" in one else to
    folder = "folder" in classes(aimed) or one is None
    # What may be a stick that is not plugged in is not made.
    if folder and not to.startswith(("/media", "/mnt", "/run")) and not chain.scene.ground.there(to):
        args["make_folder"] = True
        chain.note("make_folder", place=to)


def whole_name(clause: Clause, aimed: Slot) -> str:
    """The goal as it was said, if its name is of more words than the last: *to hello there.txt*.

    What a noun such as *file* stands among describes it and is no part of it, and an absolute path is whole.
    """
    words, base = clause.words, clause.words[0].start
    at = next((place for place, word in enumerate(words) if word.slot is not None and word.end == aimed.end), 0)
    start = at
    while start and words[start - 1].raw not in _LEADING_TO and not _is_apart(words[start - 1]):
        start -= 1
    while start < at and words[start].raw in _ARTICLES:
        start += 1
    described = any(word.means("files", "folders", "names") for word in words[start:at])
    is_whole = aimed.kind not in ("name", "path") or words[at].raw.startswith(("~", "/"))
    if start == at or not start or described or is_whole or words[start - 1].slot is not None:
        return str(aimed.value)
    return clause.text[words[start].start - base : aimed.end - base]


def _is_apart(word: Word) -> bool:
    """Whether a slot that stands before a name cannot be its beginning."""
    if word.slot is None or word.slot.kind in ("number", "range", "date", "count"):
        return False
    return not (word.slot.kind in ("path", "folder") and word.slot.role in ("to", "as"))


def _packed(chain: Chain, args: dict[str, Any], one: str | None) -> None:
    """The archive's name: as it was said, else that of the one thing that is packed, or of the folder it was in."""
    to = args.get("to")
    if to is not None and PurePosixPath(to).suffix[1:] in ("zip", "gz", "tgz"):
        return
    found = next((step.args.get("path") for step in reversed(chain.steps) if step.executor == "find_files"), None)
    base = one or (str(found) if found else None)
    if to is not None and base is not None:
        args["to"] = f"{to.rstrip('/')}/{PurePosixPath(base).name}.zip"
    elif base is not None and base not in ("~", "/", "."):
        args["to"] = f"{base.rstrip('/')}.zip" if not PurePosixPath(base).suffix else f"{_stem(base)}.zip"
    if "to" in args:
        chain.assume("into", place=args["to"])


def _converted(chain: Chain, clause: Clause, slots: Sequence[Slot], args: dict[str, Any]) -> None:
    tables = [slot for slot in slots if "table" in classes(slot)]
    if tables:
        args["path"] = str(tables[0].value)
    if len(tables) > 1:
        args["to"] = str(tables[1].value)
    ending = table_format(clause.text)
    if "to" in args and PurePosixPath(args["to"]).suffix[1:] in ENDINGS:
        return
    if ending and tables:
        name = PurePosixPath(_stem(str(tables[0].value)) + f".{ending}")
        args["to"] = f"{str(args['to']).rstrip('/')}/{name.name}" if "to" in args else str(name)
        chain.note("into", place=args["to"])
    else:
        args.pop("to", None)


def _stem(place: str) -> str:
    """A path without its ending; of ``.tar.gz`` without both."""
    for ending in (".tar.gz", ".tar.bz2", ".tar.xz"):
        if place.endswith(ending):
            return place.removesuffix(ending)
    suffix = PurePosixPath(place).suffix
    return place.removesuffix(suffix) if suffix else place
