"""Texts: what works on a text, when the text is in a document, on a page, or among many files.

Rules: a document's text is taken out first, by the executor of its kind; looking for words in such texts keeps the
entries that hold them. Several texts for one argument are given as a list, and joined where they are handed over.
"""

from collections.abc import Sequence
from typing import Any

from metnos.fastpath.slots import Slot
from metnos.turn.plan import fill_files, narrowing
from metnos.turn.plan.chain_state import Chain, Origin
from metnos.turn.plan.clauses import PATTERNS, Clause, classes
from metnos.turn.plan.fill_text import wanted_words

EXTRACTORS = {"pdf": "extract_text_pdf", "office": "extract_text_office", "html": "extract_text_html"}
WORKERS = ("summarise_text", "count_text", "search_text", "write_files", "find_links", "append_notes")


def fits(chain: Chain, clause: Clause, slots: Sequence[Slot], name: str) -> bool:
    """Whether a text must be taken out of something before this executor can work on it."""
    if name not in WORKERS:
        return False
    if name == "find_links":
        return (_urls(slots) != [] or _page(chain)) and chain.has("get_pages")
    sources = [slot for slot in slots if slot.role not in ("to", "as")]
    if any(_extractor(slot) for slot in sources) or (_urls(slots) and name != "append_notes"):
        return name != "append_notes"
    before = chain.before(clause)
    return before is not None and not _own(slots, name) and ("text" in before.fields or _kept(chain) is not None)


def build(chain: Chain, clause: Clause, slots: Sequence[Slot], name: str, args: dict[str, Any]) -> None:
    """Add the steps."""
    if name == "find_links":
        _links(chain, clause, slots, args)
        return
    origin = _texts(chain, clause, slots)
    if origin is None:
        return
    if name == "search_text":
        words = wanted_words(clause)
        condition = {"column": "text", "is": "contains"} | ({"value": words} if words else {})
        held = chain.add("filter_tables", {"entries": origin.ref(), "conditions": [condition]})
        if _asks_which(clause) and "path" in origin.fields and chain.has("group_tables"):
            chain.add("group_tables", {"entries": held.ref(), "by": ["path"]})
        if not words:
            chain.lack("search_text", "pattern")
        return
    kept = {key: value for key, value in args.items() if key not in ("paths", "text")}
    if name == "write_files":
        goal = fill_files.goal(slots, source=True) or next((slot for slot in slots if "file" in classes(slot)), None)
        kept = {key: value for key, value in kept.items() if key != "path"} | (
            {"path": str(goal.value)} if goal else {}
        )
        if goal is None:
            chain.lack(name, "path")
    chain.add(name, kept | {"text": origin.ref("text", first=_single(chain, origin))})


def _asks_which(clause: Clause) -> bool:
    """Whether the files are asked for that hold the words, and not what they say: *which PDFs mention rent?*"""
    asked = next((word for word in clause.words if not (word.stop or word.mark)), None)
    return asked is not None and asked.means("what") and clause.said("search") and not clause.said("say")


def _links(chain: Chain, clause: Clause, slots: Sequence[Slot], args: dict[str, Any]) -> None:
    """Links of a page that is fetched first, or was fetched by the step before."""
    urls = _urls(slots)
    page = chain.add("get_pages", {"urls": urls[:1]}) if urls else chain.before(clause)
    if page is not None:
        links = {key: value for key, value in args.items() if key not in ("paths", "html")}
        base = chain.steps[-1].args["urls"][0]
        chain.add("find_links", links | {"html": page.ref("text", first=True), "base": base})


def _page(chain: Chain) -> bool:
    return bool(chain.steps) and chain.steps[-1].executor == "get_pages"


def _texts(chain: Chain, clause: Clause, slots: Sequence[Slot]) -> Origin | None:
    """The step that gives the texts."""
    sources = [slot for slot in slots if slot.role not in ("to", "as")]
    if urls := _urls(sources):
        return chain.add("extract_text_url", {"urls": urls})
    files = [slot for slot in sources if "file" in classes(slot) and _extractor(slot)]
    patterns = [slot for slot in sources if slot.kind in PATTERNS and _extractor(slot)]
    if files:
        return chain.add(str(_extractor(files[0])), {"paths": [str(slot.value) for slot in files]})
    if patterns:
        where = fill_files.folder(slots, None)
        args = fill_files.filters(clause, [slot for slot in slots if slot.kind != "quoted"], chain.scene.now)
        found = chain.add("find_files", ({"path": where} if where else {}) | narrowing.narrowed(args, clause))
        if where is None:
            chain.lack("find_files", "path")
        return chain.add(str(_extractor(patterns[0])), {"paths": found.ref("path")})
    before = chain.before(clause)
    if before is not None and "text" not in before.fields and (extractor := _kept(chain)) and before.places:
        return chain.add(extractor, {"paths": before.ref(before.places)})
    return before


def _extractor(slot: Slot) -> str | None:
    found = classes(slot)
    return next((name for each, name in EXTRACTORS.items() if found & {each, f"{each}s"}), None)


def _kept(chain: Chain) -> str | None:
    """The extractor for the files that the plan is about."""
    return next((name for each, name in EXTRACTORS.items() if chain.classes & {each, f"{each}s"}), None)


def _own(slots: Sequence[Slot], name: str) -> bool:
    """Whether the clause names its own files to work on."""
    places = [slot for slot in slots if "place" in classes(slot) and slot.role not in ("to", "as")]
    quoted = any(slot.kind == "quoted" for slot in slots)
    return (bool(places) and name != "write_files") or (name in ("write_files", "append_notes") and quoted)


def _urls(slots: Sequence[Slot]) -> list[str]:
    return [str(slot.value) for slot in slots if slot.kind == "url"]


def _single(chain: Chain, origin: Origin) -> bool:
    """Whether the texts are one: those of one page of the web."""
    return origin.name != "last" and len(chain.steps[-1].args.get("urls", ())) == 1
