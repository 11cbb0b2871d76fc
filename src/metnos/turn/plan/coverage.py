"""What a request covers: the places and addresses that the owner's words name, and what lies below them.

The first plan of a turn is made before anything was read in it, and may still go where nobody sent it: a language
model invents a path, or was told of one by a memory. A step that touches what the words do not cover is asked about at
every level, also one that only reads.

* Covered is a path that the owner named in this request or before it in the conversation, and all below it; a path
  that an executor of the turn before gave in a field that is declared to be one; the folder where the owner is, and
  all below it; a reference to what an earlier step of the plan gave, if that step stays within the words.
* Where the owner is at home, or above it, all below would be everything they have. Then only looking at the home as a
  whole is covered, and only if the words ask for that look and name no place for it, and what it looks for is made of
  them; and a file whose name is.
* An address is covered if the owner named its host, the port included.
* No change is covered by words that forbid it (*do not delete*) or that only wonder about it (*should I, what if*).

Rules: pure, and blind to the disk: links are the business of the policy, which sees canonical paths. It only adds
questions. Does not guarantee that what is covered was meant.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from metnos.core.errors import ManifestError
from metnos.executors import refs, vocabulary
from metnos.executors.scope import canonical_host
from metnos.fastpath.slots import Kind, Slot, extract
from metnos.fastpath.slots_paths import WELL_KNOWN
from metnos.turn.plan import lexical
from metnos.turn.plan.model_check import is_address, is_path, is_written
from metnos.turn.plan.model_read import references
from metnos.turn.plan.model_scene import Done
from metnos.turn.plan.records import Step, Tool

ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)  # paths and addresses do not depend on it
URL = re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://[^\s\"'<>|]+", re.IGNORECASE)
PATH_FIELDS = frozenset({"path", "to"})
_REFERENCE = re.compile(r"\{\{\s*(step[1-9]\d{0,2}|last)\.(?:entries|results)(?:\[\d+\])?\.(\w+)\s*\}\}")
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_PORTS = {"http": 80, "https": 443}
# Words of a request that wonders about an act and does not ask for it.
_WONDERS = re.compile(
    r"^\W*(?:(?:and|but|so|e|ma) )?(?:(?:should|shall|must|do|did|how (?:do|can|would|should)) i|why|is it|"
    r"what (?:happens|if|would|will|should)|devo|dovrei|conviene|perch[eé]|(?:che )?cosa succede|che succede|"
    r"come (?:posso|faccio|si))\b",
    re.IGNORECASE,
)
_BREAKS = re.compile(r"[,.;:!?\n]| (?:and|but|then|e|ma|poi|però|pero) ", re.IGNORECASE)
_NEVER = frozenset({"not", "don't", "dont", "never", "non", "mai", "doesn't", "mustn't", "shouldn't", "avoid", "evita"})
_GOALS = frozenset({"to", "as"})  # roles of places where something goes: nothing is looked for there


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the owner's words cover: ``places`` with all below them, ``roots`` only as they are and to look at."""

    request: str
    text: str  # the request, and what the owner said before it
    places: frozenset[str]
    roots: frozenset[str]
    said: frozenset[str]  # stems of the words, and of the kinds of files that they name
    hosts: frozenset[str]
    cwd: str
    home: str

    def covers(self, path: str, *, looks: bool) -> bool:
        """Whether a path that is written out may be touched."""
        there = absolute(path, self.cwd, self.home)
        if is_written(path, self.text) or is_below(there, self.places):
            return True
        return (looks and there in self.roots) or self._is_called(there)

    def reaches(self, address: str) -> bool:
        return host_of(address) in self.hosts

    def _is_called(self, path: str) -> bool:
        """Whether a path in the home is made of the owner's words: `~/Documents/diary.txt` of *my diary*."""
        home = self.home.rstrip("/")
        if not path.startswith(f"{home}/"):
            return False
        *folders, name = path.removeprefix(f"{home}/").split("/")
        named = all(_is_said(each, self.said) for each in folders[1:])
        first = all(each in WELL_KNOWN or _is_said(each, self.said) for each in folders[:1])
        return first and named and _is_said(posixpath.splitext(name)[0], self.said)


def draw(
    text: str,
    said: str,
    *,
    cwd: str,
    home: str,
    before: Sequence[Step] = (),
    done: Sequence[Done] = (),
    known: Mapping[str, Tool],
) -> Coverage:
    """What a request covers. ``said`` is what the owner said before it.

    ``before`` are the steps of the turn before that were covered then, ``done`` is what it gave.
    """
    words = f"{text}\n{said}" if said else text
    slots = extract(words, now=ANY_DAY, home=Path(home or "/"), cwd=Path(cwd or "/"))
    places = {absolute(each, cwd, home) for each in places_of(slots) if each}
    places |= {absolute(each, cwd, home) for one in before for each in named_by(one, known)}
    places |= {absolute(each, cwd, home) for one in done for each in declared(one, known)}
    here, base = absolute(".", cwd, home), absolute("~", cwd, home)
    broad = {each for each in {*places, here} if is_below(base, {each})}
    roots = broad & places if _names_a_source(text, cwd, home) else broad | {here, base}
    kinds = [str(slot.value) for slot in slots if slot.kind in (Kind.FILES, Kind.GLOB)]
    urls = addresses_in(words, slots)
    urls |= {trimmed(each) for one in before for each in _addresses_of(one, known)}
    return Coverage(
        request=text,
        text=words,
        places=frozenset({*places, here} - broad),
        roots=frozenset(roots),
        said=frozenset(lexical.stem(word) for each in (words, *kinds) for word in _WORD.findall(each)),
        hosts=frozenset(host for each in urls if (host := host_of(each))),
        cwd=cwd,
        home=home,
    )


def beyond(steps: Sequence[Step], known: Mapping[str, Tool], coverage: Coverage) -> tuple[int, ...]:
    """The numbers, from 1, of the steps that touch what the words do not cover, or what such a step gave."""
    found: list[int] = []
    sources: dict[str, Tool | None] = {refs.LAST: None}
    for number, step in enumerate(steps, start=1):
        tool = known.get(step.executor)
        loose = any(f"step{each}" in refs.named(step.args) for each in found)
        if tool is None or loose or is_unwanted(tool, coverage.request) or not _stays(step, tool, coverage, sources):
            found.append(number)
        sources[f"step{number}"] = tool
    return tuple(found)


def _stays(step: Step, tool: Tool, coverage: Coverage, sources: Mapping[str, Tool | None]) -> bool:
    looks = _looks_for_what_is_said(step, tool, coverage)
    paths = all(
        gives_path(value, sources) if references(value) else coverage.covers(value, looks=looks)
        for value in values(step, tool, is_path, defaults=True)
    )
    # An address from a step is content: `vouching` asks about it, whoever planned it.
    return paths and all(references(each) or coverage.reaches(each) for each in values(step, tool, is_address))


def is_unwanted(tool: Tool, text: str) -> bool:
    """Whether a tool changes something, and the words forbid that, or only wonder about it.

    A request is looked at in parts: *move the PDFs but do not delete the rest* asks for moving. A *not* behind the verb
    is part of what is asked for: *remind me not to be late*.
    """
    if tool.quiet:
        return False
    parts = [each for each in _BREAKS.split(text) if each.strip()]
    said = [each for each in parts if is_asked_for(tool, each)] or parts
    return bool(said) and all(_WONDERS.search(each) or _denies(tool, each) for each in said)


def _denies(tool: Tool, text: str) -> bool:
    words = text.casefold().replace("\u2019", "'").split()
    first = next((number for number, word in enumerate(words) if word in _NEVER), None)
    return first is not None and not is_asked_for(tool, " ".join(words[:first]))


def is_asked_for(tool: Tool, text: str) -> bool:
    """Whether the owner's words ask for what this tool does: its verb, in any of the ways that people say it."""
    return says_verb(tool.name, text, [each for each in tool.affinity if vocabulary.canonical_object(each) is None])


def says_verb(name: str, text: str, affinity: Sequence[str] = ()) -> bool:
    """Whether the words hold the verb that a name of the vocabulary begins with, or what else it is called."""
    verb = vocabulary.load().verbs.get(name.split("_")[0])
    spoken = [verb.text, *(each for said in verb.synonyms.values() for each in said)] if verb is not None else []
    said = {lexical.stem(word) for word in _LETTERS.findall(text)}
    return any(all(lexical.stem(word) in said for word in _LETTERS.findall(each)) for each in [*spoken, *affinity])


def _looks_for_what_is_said(step: Step, tool: Tool, coverage: Coverage) -> bool:
    """Whether a step only looks, the words ask for it, and what it looks for is made of them: `*.pdf` of *my PDFs*."""
    kinds = {name: tool.properties.get(name, {}) for name in step.args}
    texts = [step.args[name] for name, kind in kinds.items() if not is_path(kind) and "enum" not in kind]
    sought = [each for each in texts if isinstance(each, str) and _WORD.search(each)]
    asked = is_asked_for(tool, coverage.request) or bool(sought)
    return tool.quiet and asked and all(_is_said(each.lstrip("*."), coverage.said) for each in sought)


def _names_a_source(text: str, cwd: str, home: str) -> bool:
    """Whether the words say where to look: a path, a folder or an address that is no goal."""
    slots = extract(text, now=ANY_DAY, home=Path(home or "/"), cwd=Path(cwd or "/"))
    return any(slot.kind in (Kind.PATH, Kind.FOLDER, Kind.URL) and slot.role not in _GOALS for slot in slots)


def _is_said(name: str, said: frozenset[str]) -> bool:
    words = _WORD.findall(name)
    return bool(words) and not name.startswith(".") and all(lexical.stem(word) in said for word in words)


# -- places


def places_of(slots: Sequence[Slot]) -> list[str]:
    """Every place that the particulars of a request may mean."""
    named = [slot for slot in slots if slot.kind in (Kind.PATH, Kind.FOLDER, Kind.NAME)]
    return [each for slot in named for each in (str(slot.value), *map(str, slot.also))]


def absolute(path: str, cwd: str, home: str) -> str:
    """A path as it is written, from the root on."""
    text = path.replace("\0", "")
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        return f"/{text}"  # somebody's home: nowhere that the owner named
    if text == "~" or text.startswith("~/"):
        text = f"{home}/{text[2:]}"
    joined = posixpath.normpath(posixpath.join(cwd or "/", text))
    return "/" + joined.lstrip("/")


def is_below(path: str, places: frozenset[str] | set[str]) -> bool:
    """Whether a path is one of the places or lies below one."""
    return any(path == each or path.startswith(f"{each.rstrip('/')}/") for each in places)


def named_by(step: Step, known: Mapping[str, Tool]) -> Iterator[str]:
    """The paths that a step names itself."""
    tool = known.get(step.executor)
    if tool is not None:
        yield from (value for value in values(step, tool, is_path) if not references(value))


def gives_path(value: str, sources: Mapping[str, Tool | None]) -> bool:
    """Whether a reference stands for paths that an executor declares to be some."""
    found = _REFERENCE.fullmatch(value.strip())
    if found is None or found[1] not in sources or found[2] not in PATH_FIELDS:
        return False
    tool = sources[found[1]]
    return tool is None or found[2] in tool.output.get("properties", {})


def declared(done: Done, known: Mapping[str, Tool]) -> Iterator[str]:
    """Paths that an executor gave in a field that is declared to be one."""
    tool = known.get(done.executor)
    fields = PATH_FIELDS & set(tool.output.get("properties", {})) if tool is not None and done.ok else set()
    listed = done.reply.get(tool.result_key, ()) if tool is not None else ()
    for entry in listed if isinstance(listed, list) else ():
        for field in fields if isinstance(entry, Mapping) else ():
            if isinstance(entry.get(field), str):
                yield entry[field]


# -- addresses


def is_whole_reference(value: str) -> bool:
    """Whether a value is one reference to a field, and nothing beside."""
    return _REFERENCE.fullmatch(value.strip()) is not None


def addresses_in(words: str, slots: Sequence[Slot]) -> set[str]:
    """Every address that a request names, also one without its scheme."""
    found = [*URL.findall(words), *(str(slot.value) for slot in slots if slot.kind is Kind.URL)]
    return {trimmed(each) for each in found}


def trimmed(text: str) -> str:
    """An address without the punctuation of the sentence that it stands in."""
    return text.strip().rstrip(".,;:!?)]}'\"")


def _addresses_of(step: Step, known: Mapping[str, Tool]) -> list[str]:
    tool = known.get(step.executor)
    return [] if tool is None else [each for each in values(step, tool, is_address) if not references(each)]


def host_of(address: str) -> str:
    """Who an address leads to: the host and the port, since another port is somebody else."""
    try:
        parts = urlsplit(address)
        return f"{canonical_host(parts.hostname or '-')}:{parts.port or _PORTS.get(parts.scheme.lower(), 0)}"
    except (ManifestError, ValueError):
        return ""


# -- steps


def values(step: Step, tool: Tool, wanted: Callable[[Mapping[str, Any]], bool], *, defaults: bool = False) -> list[str]:
    """Every text in the arguments of one kind; with ``defaults`` also what an argument is if it is left out."""
    given = dict(step.args)
    if defaults:
        given = {name: inner["default"] for name, inner in tool.properties.items() if "default" in inner} | given
    found: list[str] = []
    for name, value in given.items():
        if wanted(tool.properties.get(name, {})):
            found += [str(each) for each in (value if isinstance(value, list) else [value])]
    return found
