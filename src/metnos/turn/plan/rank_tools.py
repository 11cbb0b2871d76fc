"""The tools as the ranking sees them: their words, vectors and needs, laid out once so that a request is quick.

Rules: every text of a tool is embedded once, when the shelf is made; after that it only reads, so that several threads
may use it. Similarities are measured from the zero of the embedder's own space (what texts score there that have
nothing to do with one another), so that one set of weights serves embedders whose cosines lie elsewhere.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.executors import vocabulary
from metnos.fastpath.slots import extract
from metnos.models.embed import Embedder, require_same
from metnos.turn.plan import lexicon
from metnos.turn.plan.lexical import Index, content, lists, name_parts, stem, weight
from metnos.turn.plan.lexicon import THING, VERB
from metnos.turn.plan.rank_request import WEB, Value, ask
from metnos.turn.plan.records import Tool

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]
    Whole = NDArray[Any]

# Of the index over words. A tool's name is chosen word by word from a closed vocabulary and its affinity is a list of
# what people say, so a word there says more than one of many in a description. Set by hand, not fitted.
FIELDS = {"name": 3.0, "affinity": 2.5, "purpose": 2.0, "examples": 1.0, "arguments": 1.0, "descriptions": 0.4}
_NUMBERS = {"integer", "number", "float"}
_TEXTS = {"string", "any"}
_LISTS = {"array", "tuple"}
_ANY_FILE = {"files", "folders", "paths", "duplicates"}  # objects of the vocabulary that say nothing about the kind
_DEEPEST = 3  # lists of lists of lists
_TIMES = frozenset(stem(each) for each in ("date", "time", "day", "when", "month", "year", "deadline", "moment"))
_URLS = frozenset(stem(each) for each in ("url", "urls", "link", "website", "webpage", "uri"))
_EMAILS = frozenset(stem(each) for each in ("email", "mail", "recipient"))
_PATHS = frozenset(stem(each) for each in ("path", "file", "folder", "directory", "filename"))
_MARKS = ((_URLS, Value.URL), (_EMAILS, Value.EMAIL), (_PATHS, Value.PATH), (_TIMES, Value.TIME))
_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_ANYWHERE = Path("/")
# Words and sentences that have nothing to do with one another: what they score is the zero of a space.
_FAR_WORDS = ("banana", "treaty", "engine", "purple", "divorce", "galaxy", "soup", "password")
_FAR_SENTENCES = (
    "Bake bread in the oven until it is brown.",
    "Calculate the orbit of a comet around the sun.",
    "Book a seat on the night train to the coast.",
    "Explain how a court decides about an appeal.",
)


@dataclass(frozen=True, slots=True)
class Ragged:
    """For each tool some rows of a table, with the share that each has in the tool's mean."""

    rows: "Whole"
    owners: "Whole"
    shares: "Floats"
    tools: int

    def mean(self, values: "Floats") -> "Floats":
        """For each tool the weighted mean of its rows' values; 0 for a tool without rows."""
        import numpy as np

        return np.bincount(self.owners, weights=values[self.rows] * self.shares, minlength=self.tools)

    def most(self, values: "Floats") -> "Floats":
        """For each line of ``values`` and each tool the greatest of the tool's columns; 0 for a tool without any."""
        import numpy as np

        found = np.zeros((values.shape[0], self.tools))
        if len(self.rows):
            starts = np.flatnonzero(np.r_[True, self.owners[1:] != self.owners[:-1]])
            found[:, self.owners[starts]] = np.maximum.reduceat(values[:, self.rows], starts, axis=1)
        return found


@dataclass(frozen=True, slots=True)
class Words:
    """The distinct words of all tools, and where each stands."""

    texts: tuple[str, ...]
    places: Mapping[str, "Whole"]  # stem or word of the vocabulary -> the words that have it
    names: Ragged
    purposes: Ragged
    everything: Ragged


@dataclass(frozen=True, slots=True)
class Vectors:
    """What is compared by meaning: rows of ``texts`` for each tool. ``far_words`` and ``far_texts`` are the zeros."""

    words: "Floats"
    texts: "Floats"
    purposes: Ragged
    names: Ragged
    affinities: Ragged
    examples: Ragged  # as they are said
    masked: Ragged  # the same, with the kind of a value in the place of each value
    far_words: float
    far_texts: float


@dataclass(frozen=True, slots=True)
class Shelf:
    """All that is known about the tools before a request comes."""

    tools: tuple[Tool, ...]
    words: Words
    index: Index
    affinity: tuple[Mapping[tuple[str, ...], float], ...]  # for each tool its phrases, as stems, and what each says
    needs: "Floats"  # tools x values: how many of each must be given
    places: "Floats"  # tools x values: whether there is an argument for it
    kinds: tuple[frozenset[str], ...]  # for each tool the kinds of files it says it is for
    verbs: tuple[frozenset[str], ...]  # for each tool the concepts of what it does
    vectors: Vectors | None


def shelve(tools: Sequence[Tool], embedder: Embedder | None) -> Shelf:
    """Lay the tools out. Embeds their texts. Raises `ModelError`."""
    words = _words(tools)
    index = Index([[(FIELDS[field], said) for field, said in _fields(tool).items()] for tool in tools])
    vectors = _vectors(tools, words, embedder) if embedder is not None and tools else None
    return Shelf(
        tuple(tools),
        words,
        index,
        _affinity(tools),
        _needs(tools),
        _places(tools),
        _kinds(tools),
        _verbs(tools),
        vectors,
    )


def _fields(tool: Tool) -> dict[str, tuple[str, ...]]:
    described = (str(each.get("description", "")) for each in tool.properties.values())
    return {
        "name": name_parts(tool.name),
        "affinity": tuple(word for each in tool.affinity for word in content(each)),
        "purpose": content(tool.purpose),
        "examples": tuple(word for say, _ in tool.examples for word in content(say)),
        "arguments": tuple(word for name in tool.properties for word in name_parts(name)),
        "descriptions": tuple(word for each in described for word in content(each)),
    }


def _affinity(tools: Sequence[Tool]) -> tuple[Mapping[tuple[str, ...], float], ...]:
    """A phrase says the more the fewer tools have it, and a long one more than a short one."""
    phrases = [dict.fromkeys(_phrase(each) for each in tool.affinity) for tool in tools]
    holders = Counter(phrase for each in phrases for phrase in each)
    return tuple({phrase: (1 + 0.5 * (len(phrase) - 1)) / holders[phrase] for phrase in each} for each in phrases)


def _phrase(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in content(text)) or tuple(stem(word) for word in name_parts(text))


def _kinds(tools: Sequence[Tool]) -> tuple[frozenset[str], ...]:
    return tuple(_kinds_of(tool) for tool in tools)


def _kinds_of(tool: Tool) -> frozenset[str]:
    """Empty for a tool that is for any file, whatever kinds it mentions."""
    parts = name_parts(tool.name)
    if _ANY_FILE & set(parts):
        return frozenset()
    said = {stem(word) for word in (*parts, *content(tool.purpose), *tool.affinity)}
    extensions = lists().extensions
    kinds = {*extensions, *extensions.values()} - {"text"}  # nearly every tool speaks of text
    takes = {value_of(name, schema) for name, schema in tool.properties.items()}
    return frozenset(kind for kind in kinds if stem(kind) in said) | ({WEB} if Value.URL in takes else frozenset())


def _verbs(tools: Sequence[Tool]) -> tuple[frozenset[str], ...]:
    """What a tool does: the verb of its name, the first word of its purpose, and its affinity."""
    return tuple(frozenset(concept for said in _said_to_do(tool) for concept in concepts(said, VERB)) for tool in tools)


def _said_to_do(tool: Tool) -> Iterator[str]:
    first = name_parts(tool.name)[:1]
    # In a name of another house's making the first word may be anything; in one of ours it is the verb.
    yield from (part for part in first if part in vocabulary.load().verbs)
    yield from tool.purpose.split()[:1]
    yield from tool.affinity


# -- words


def _words(tools: Sequence[Tool]) -> Words:
    import numpy as np

    fields = [_fields(tool) for tool in tools]
    distinct: dict[str, int] = {}
    for each in fields:
        for field in ("name", "purpose", "arguments", "affinity"):
            for word in each[field]:
                distinct.setdefault(word, len(distinct))
    places: dict[str, list[int]] = {}
    for word, number in distinct.items():
        for key in {stem(word), *known(word)}:
            places.setdefault(key, []).append(number)
    return Words(
        texts=tuple(distinct),
        places={key: np.asarray(rows, dtype=np.int64) for key, rows in places.items()},
        names=_ragged([each["name"] for each in fields], distinct),
        purposes=_ragged([each["purpose"] for each in fields], distinct),
        everything=_ragged(
            [each["name"] + each["purpose"] + each["arguments"] + each["affinity"] for each in fields], distinct
        ),
    )


def known(word: str) -> set[str]:
    """The concepts that a tool's word may stand for, marked so that no stem is mistaken for one."""
    return {f"={concept}" for concept in concepts(word, VERB, THING)}


def concepts(text: str, *kinds: str) -> set[str]:
    """What the words of a text may stand for."""
    found = (word.meanings.items() for word in lexicon.words(text, ()))
    return {concept for each in found for concept, kind in each if concept and kind in kinds}


def _ragged(said: Sequence[Iterable[str]], rows: Mapping[str, int]) -> Ragged:
    import numpy as np

    found: list[tuple[int, int, float]] = []
    for owner, words in enumerate(said):
        distinct = dict.fromkeys(words)
        total = sum(weight(word) or 0.1 for word in distinct)
        found += [(rows[word], owner, (weight(word) or 0.1) / total) for word in distinct]
    columns = list(zip(*found, strict=True)) or [(), (), ()]
    return Ragged(
        np.asarray(columns[0], dtype=np.int64),
        np.asarray(columns[1], dtype=np.int64),
        np.asarray(columns[2]),
        len(said),
    )


# -- vectors


def _vectors(tools: Sequence[Tool], words: Words, embedder: Embedder) -> Vectors:
    import numpy as np

    said: list[tuple[str, int]] = []  # text, tool

    def ragged(texts: Iterable[tuple[str, int]]) -> Ragged:
        first = len(said)
        said.extend(texts)
        owners = np.asarray([owner for _, owner in said[first:]], dtype=np.int64)
        counts = np.bincount(owners, minlength=len(tools))
        return Ragged(np.arange(first, len(said)), owners, 1.0 / counts[owners], len(tools))

    names = [" ".join(name_parts(tool.name)) or tool.name for tool in tools]
    rows = {
        "purposes": ragged((tool.purpose or names[owner], owner) for owner, tool in enumerate(tools)),
        "names": ragged((name, owner) for owner, name in enumerate(names)),
        "affinities": ragged((half, owner) for owner, tool in enumerate(tools) for half in _halves(tool.affinity)),
        "examples": ragged((say, owner) for owner, tool in enumerate(tools) for say, _ in tool.examples),
        "masked": ragged((_masked(say), owner) for owner, tool in enumerate(tools) for say, _ in tool.examples),
    }
    space = embedder.space
    made = embedder.embed([*(text for text, _ in said), *words.texts, *_FAR_WORDS, *_FAR_SENTENCES])
    require_same(space, embedder.space)
    texts, single, far_words, far_texts = np.split(made, np.cumsum([len(said), len(words.texts), len(_FAR_WORDS)]))
    return Vectors(single, texts, **rows, far_words=_mean_between(far_words), far_texts=_mean_between(far_texts))


def _masked(say: str) -> str:
    """An example with the kinds of its values; which day it is and where home lies does not matter for that."""
    return ask(say, extract(say, now=_ANY_DAY, home=_ANYWHERE, cwd=_ANYWHERE)).core


def _halves(affinity: Sequence[str]) -> Iterator[str]:
    """A list of affinity as two texts: the built-ins name English words first and Italian ones after them."""
    middle = (len(affinity) + 1) // 2
    yield from (", ".join(half) for half in (affinity[:middle], affinity[middle:]) if half)


def _mean_between(rows: "Floats") -> float:
    """The mean cosine of each row with each other, but never so high that nothing would be left above it."""
    import numpy as np

    apart = (rows @ rows.T)[np.triu_indices(len(rows), k=1)]
    return float(np.clip(apart.mean(), -0.5, 0.9))


# -- arguments


def value_of(name: str, schema: Mapping[str, Any]) -> Value | None:
    """What kind of value an argument takes from a request; none if it is a choice, a switch or a step's output."""
    path = schema.get("x-path")
    for _ in range(_DEEPEST):  # a list takes what its items are
        items = schema.get("items")
        if _types(schema) & _LISTS and isinstance(items, Mapping):
            schema = items
    listed = _types(schema)
    if listed & _NUMBERS:
        return Value.NUMBER
    if schema.get("enum") or not listed & _TEXTS:
        return None
    if path:
        return Value.PATH
    said = {stem(part) for part in name_parts(name)}
    return next((value for marks, value in _MARKS if said & marks), Value.TEXT)


def _types(schema: Mapping[str, Any]) -> set[str]:
    given = schema.get("type")
    return {given} if isinstance(given, str) else set(given or ())


def _needs(tools: Sequence[Tool]) -> "Floats":
    import numpy as np

    found = np.zeros((len(tools), len(Value)))
    for number, tool in enumerate(tools):
        for name in tool.required:
            value = value_of(name, tool.properties.get(name, {}))
            if value is not None:
                found[number, value] += 1
    return found


def _places(tools: Sequence[Tool]) -> "Floats":
    import numpy as np

    found = np.zeros((len(tools), len(Value)))
    for number, tool in enumerate(tools):
        for name, schema in tool.properties.items():
            value = value_of(name, schema)
            if value is not None:
                found[number, value] = 1
                if {stem(part) for part in name_parts(name)} & _TIMES:  # such as a number of days
                    found[number, Value.TIME] = 1
            elif schema.get("type") == "array":  # entries of a step before: that step may take a path or an address
                found[number, [Value.PATH, Value.URL]] = 1
    return found
