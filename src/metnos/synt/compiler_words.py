"""What a compiled executor says of itself: its name, its purpose, how it is asked for, and how it is taken back.

Rules: the name is the last part's verb and the first one's object; where that is taken or is no name, a qualifier of
the vocabulary that the sequence itself speaks of is added, and as a last resort a general one. The purpose says every
step. Examples are requests that were really made, with the arguments that they mean.

How it is taken back: a compiled executor changes nothing itself. What its parts change is one action, each of them held
to its own reverse pattern, and that is what ``metnos undo`` takes. So the whole declares the pattern of its parts: the
one that they share or that covers all of them, ``irreversible`` if one of them is; and where no pattern covers all,
that of the last part that changes something, which is what undo takes back first.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from metnos.core.errors import ManifestError
from metnos.executors import vocabulary
from metnos.executors.broker import PATTERNS
from metnos.executors.manifest import Kind, Reversal
from metnos.fastpath.promote import wished_name
from metnos.synt.compiler_form import Fixed, Form
from metnos.synt.compiler_runs import Run
from metnos.synt.draft import VERSION

_LONGEST = 200  # characters of a purpose and of a request (the manifest's own limits)
_MOST_WORDS = 40  # of a purpose: more is no sentence
_EXAMPLES = 5
_AFFINITY = 12
_GENERAL = ("name", "content", "local", "text")  # from the nearest to the vaguest
_MILDEST = (Reversal.RESTORE_TRASHED, Reversal.MOVE_BACK, Reversal.REMOVE_CREATED, Reversal.RESTORE_CONTENT)


def name_of(form: Form, runs: Sequence[Run], taken: Collection[str]) -> str:
    """A name that is free and in the vocabulary; none is empty."""
    plain = wished_name(form.tools)
    verb, thing = form.tools[-1].split("_")[0], form.tools[0].split("_")[1]
    qualified = (f"{verb}_{thing}_{each}" for each in dict.fromkeys(_qualifiers(form, runs)))
    known = {*taken, *form.tools}
    return next((each for each in (plain, *qualified) if each not in known and _is_name(each)), "")


def _is_name(text: str) -> bool:
    try:
        vocabulary.parse_name(text)
    except ManifestError:
        return False
    return True


def _qualifiers(form: Form, runs: Sequence[Run]) -> Iterator[str]:
    """Those of the parts' names, then those that every run speaks of (as in ``*.pdf``), then general ones."""
    known = vocabulary.load().qualifiers
    yield from (word for tool in reversed(form.tools) for word in reversed(tool.split("_")[1:]) if word in known)
    spoken = [set(_spoken(run)) for run in runs]
    yield from (word for word in known if spoken and all(word in each for each in spoken))
    yield from _GENERAL


def _spoken(run: Run) -> Iterator[str]:
    for text in _texts(run.planned):
        yield from "".join(letter if letter.isalnum() else " " for letter in text.casefold()).split()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


def purpose_of(form: Form, name: str) -> str:
    """What all steps together are for: the parts' own words if they are short enough, else their names."""
    said = [part.manifest.purpose.rstrip(". ") for part in form.parts]
    whole = ", then ".join([said[0], *(f"{each[:1].lower()}{each[1:]}" for each in said[1:])]) + "."
    verb, thing = name.split("_")[:2]
    names = any(word in whole.lower() for word in (verb, thing.rstrip("s")))
    if len(whole) <= _LONGEST and len(whole.split()) <= _MOST_WORDS and ". " not in whole and names:
        return whole
    steps = ", then ".join(tool.replace("_", " ") for tool in form.tools)
    return f"{steps[:1].upper()}{steps[1:]}, in one step."[:_LONGEST]


def reversal_of(form: Form) -> Reversal:
    changing = [part.manifest.reversal for part in form.parts if part.mutates]
    if not changing:
        return Reversal.NOTHING
    if Reversal.IRREVERSIBLE in changing:
        return Reversal.IRREVERSIBLE
    wanted = frozenset[str]().union(*(PATTERNS[each] for each in changing))
    return next((each for each in _MILDEST if wanted <= PATTERNS[each]), changing[-1])


def affinity_of(runs: Sequence[Run]) -> list[str]:
    """The words that at least half of the requests use."""
    counts: dict[str, int] = {}
    for run in runs:
        for word in run.words:
            counts[word] = counts.get(word, 0) + 1
    often = [word for word, count in counts.items() if count * 2 >= len(runs) and len(word) <= 40]
    return sorted(often, key=lambda word: (-counts[word], word))[:_AFFINITY]


def examples_of(form: Form, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Requests that were made, the shortest first, each once."""
    said: dict[str, dict[str, Any]] = {}
    for run in sorted(runs, key=lambda each: (len(each.text), each.text, each.turn)):
        text = " ".join(run.text.split())
        if text and len(text) <= _LONGEST and not has_null(args := form.arguments_of(run)):
            said.setdefault(text, {"say": text, "args": args})
    found = list(said.values())[:_EXAMPLES]
    return found or [{"say": purpose_of(form, wished_name(form.tools)), "args": form.arguments_of(runs[0])}]


def manifest_of(form: Form, runs: Sequence[Run], name: str) -> dict[str, Any]:
    """The manifest as a table."""
    args: dict[str, Any] = {"type": "object"}
    if form.required:
        args["required"] = list(form.required)
    args["properties"] = {own: dict(schema) for own, schema in form.arguments.items()}
    return {
        "name": name,
        "version": VERSION,
        "purpose": purpose_of(form, name),
        "kind": str(Kind.MUTATOR if form.mutates else Kind.PRODUCER),
        "reversal": str(reversal_of(form)),
        "affinity": affinity_of(runs),
        "covers": [list(form.tools)],
        "args": args,
        "output": form.parts[-1].manifest.output,
        "capabilities": {"executor": {"call": sorted(set(form.tools))}},
        "examples": examples_of(form, runs),
    }


def has_null(value: Any) -> bool:
    """Whether a value holds what TOML cannot say."""
    if isinstance(value, Mapping | list | tuple):
        return any(has_null(each) for each in (value.values() if isinstance(value, Mapping) else value))
    return value is None


def constants_of(form: Form) -> Iterator[Any]:
    """Every value that stands in the code."""
    for part in form.parts:
        yield from (source.value for source in part.sources.values() if isinstance(source, Fixed))
