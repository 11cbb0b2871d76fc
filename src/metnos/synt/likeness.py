"""How alike a draft, or a need that has no draft yet, is to what exists: new, an extension of one, or there already.

A second executor for the same thing is one that planners confuse with the first. Compared are the name (its verb and
object after the vocabulary), the words of the purpose (and, if there is an embedder, its meaning), what is taken and
given, and the code with all names taken out of it. Rules: the same name, or nearly the same code whatever it is called,
exists already; so does a draft of the same words or meaning that takes and gives the same; and a need all of whose
words are those of one executor. What comes near is an extension: it may be made, and whoever makes it is told of what.
Pure but for the embedder; without one, words alone decide. Does not guarantee to see that two programs which share
neither words nor code do the same.
"""

import ast
import builtins
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from metnos.core.embedding import Embedder
from metnos.executors import vocabulary
from metnos.executors.manifest import Manifest
from metnos.executors.verdict import Executor
from metnos.grimoire.stem import stem
from metnos.synt.draft import Draft
from metnos.synt.need import Need
from metnos.synt.rules import LikenessRules

_BUILTINS = frozenset(dir(builtins))
_SHINGLE = 6  # nodes of code in a row
_WORD = re.compile(r"[a-zà-ÿ0-9]+")
_FILLER = frozenset(
    re.findall(
        r"\w+",
        """a an and any are as at be both by can each for from give gives given has have how if in into is it its list
        make of on one or other out over say so some that the their them then there these they this to two up what when
        where which who will with you your use using all many several every more most new same text texts value values
        entry entries result results input inputs output outputs return returns such without""",
    )
)


class Kinship(StrEnum):
    """What a draft is to what exists."""

    NEW = "new"
    EXTENDS = "extends"
    EXISTS = "exists"


@dataclass(frozen=True, slots=True)
class Likeness:
    """The verdict, the executor that it is about, and why, in words."""

    kinship: Kinship = Kinship.NEW
    name: str = ""
    reason: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Profile:
    """What is compared of one executor, draft or need; what a need does not have yet is empty."""

    name: str
    purpose: str
    said: tuple[str, ...] = ()  # how people ask for it
    takes: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset()
    source: str = ""
    kind: str = ""

    @property
    def is_need(self) -> bool:
        return not self.source


def of_executor(executor: Executor) -> Profile:
    return _profile(executor.manifest, executor.source)


def of_draft(draft: Draft) -> Profile:
    """Raises `ManifestError`."""
    return _profile(draft.read(), draft.code)


def of_need(need: Need) -> Profile:
    """A need by what it says; its wished-for name is brought to the words of the vocabulary as far as they go."""
    verb, _, rest = need.name.partition("_")
    thing, _, more = rest.partition("_")
    words = (vocabulary.canonical_verb(verb) or verb, vocabulary.canonical_object(thing) or thing, more)
    return Profile("_".join(filter(None, words)), need.text)


def judge(
    one: Profile, known: Sequence[Profile], rules: LikenessRules | None = None, embedder: Embedder | None = None
) -> Likeness:
    """What ``one`` is to all of ``known``: the verdict about the executor that it is nearest to."""
    rules = rules or LikenessRules()
    if not known:
        return Likeness()
    weights = _weights(known)
    meanings = _meanings(one, known, embedder)
    found = [_beside(one, each, rules, weights, meaning) for each, meaning in zip(known, meanings, strict=True)]
    order = {Kinship.EXISTS: 2, Kinship.EXTENDS: 1, Kinship.NEW: 0}
    return max(found, key=lambda each: (order[each.kinship], each.score))


def code_likeness(one: str, other: str) -> float:
    """The share of what two programs do in the same way, whatever they call things: 0 to 1."""
    mine, theirs = _shingles(one), _shingles(other)
    return len(mine & theirs) / len(mine | theirs) if mine and theirs else 0.0


# -- one against one


def _beside(one: Profile, other: Profile, rules: LikenessRules, weights: dict[str, float], meaning: float) -> Likeness:
    if one.name and one.name == other.name:
        return Likeness(Kinship.EXISTS, other.name, f"there is an executor called {other.name} already", 1.0)
    code = code_likeness(one.source, other.source) if one.source and other.source else 0.0
    if code >= (rules.code_same if _powers(one.source) == _powers(other.source) else rules.code_certain):
        said = f"its code is that of {other.name} ({code:.0%} the same but for names)"
        return Likeness(Kinship.EXISTS, other.name, said, code)
    words = _covered(one, other, weights)
    keys = _overlap(one.takes | one.gives, other.takes | other.gives)
    alike = words >= rules.words_same or meaning >= rules.vectors_same
    score = max(code, words, meaning)
    # A need does not say yet what it takes and gives; a draft that takes and gives something else is something else.
    if alike and (one.is_need or (keys >= rules.keys_same and one.kind == other.kind)):
        return Likeness(Kinship.EXISTS, other.name, f"{other.name} does that: {other.purpose}", score)
    near = code >= rules.code_near or words >= rules.words_near or meaning >= rules.vectors_near
    if near or (_same_words(one, other) and not one.is_need):
        return Likeness(Kinship.EXTENDS, other.name, f"{other.name} does something near: {other.purpose}", score)
    return Likeness(Kinship.NEW, other.name, f"the nearest is {other.name}", score)


def _same_words(one: Profile, other: Profile) -> bool:
    return one.name.split("_")[:2] == other.name.split("_")[:2]


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def _covered(one: Profile, other: Profile, weights: dict[str, float]) -> float:
    """How much of what one says the other says too: of a need in all that is known of the other; of two purposes both
    ways, since a longer one does more."""
    mine = _words(one.purpose)
    theirs = _words(" ".join((other.purpose, *other.said, other.name.replace("_", " "))))
    forth = _share(mine, theirs, weights)
    if one.is_need:
        return forth if len(mine) >= 2 else 0.0
    back = _share(_words(other.purpose), _words(" ".join((one.purpose, *one.said))), weights)
    return min(forth, back)


def _share(mine: frozenset[str], theirs: frozenset[str], weights: dict[str, float]) -> float:
    rarest = max(weights.values(), default=1.0)  # a word that no executor knows is as telling as the rarest
    total = sum(weights.get(word, rarest) for word in mine)
    return sum(weights.get(word, rarest) for word in mine & theirs) / total if total else 0.0


@lru_cache(512)
def _powers(source: str) -> frozenset[str]:
    """What the code asks of Metnos and of its kit: copying and moving may look the same but for this."""
    kit = [
        name for line in re.findall(r"^from metnos_kit import (.+)$", source, re.MULTILINE) for name in line.split(", ")
    ]
    asked = "|".join(map(re.escape, ("ctx", *kit)))
    made = re.findall(rf"\b(\w+) = (?:{asked})\.\w+\(", source)
    return frozenset(re.findall(rf"\b(?:{'|'.join(map(re.escape, ('ctx', *kit, *made)))})\.(\w+)\(", source))


# -- words


def _weights(known: Sequence[Profile]) -> dict[str, float]:
    """How telling each word is: the fewer executors say it, the more."""
    counts = Counter(word for each in known for word in _words(" ".join((each.purpose, *each.said))))
    return {word: math.log(1 + len(known) / count) for word, count in counts.items()}


@lru_cache(4096)
def _words(text: str) -> frozenset[str]:
    """The stems of the words of a text that say something, with the vocabulary's word for its synonyms."""
    found = (word for word in _WORD.findall(text.lower()) if word not in _FILLER)
    return frozenset(
        stem(vocabulary.canonical_verb(word) or vocabulary.canonical_object(word) or word) for word in found
    )


def _meanings(one: Profile, known: Sequence[Profile], embedder: Embedder | None) -> list[float]:
    """The nearness of meaning to each, by its purpose."""
    if embedder is None:
        return [0.0] * len(known)
    rows = embedder.embed([one.purpose, *(each.purpose for each in known)])
    return [float(row @ rows[0]) for row in rows[1:]]


def _profile(manifest: Manifest, source: str) -> Profile:
    said = (*manifest.affinity, *(example.say for example in manifest.examples))
    takes, gives = frozenset(manifest.args["properties"]), frozenset(manifest.output["properties"])
    return Profile(manifest.name, manifest.purpose, said, takes, gives, source, manifest.kind.value)


# -- code


@lru_cache(512)
def _shingles(source: str) -> frozenset[int]:
    """Runs of nodes of the code, without the names that its author chose; nothing for what is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    tokens = [token for statement in tree.body for token in _tokens(statement)]
    return frozenset(hash(tuple(tokens[at : at + _SHINGLE])) for at in range(max(1, len(tokens) - _SHINGLE + 1)))


def _tokens(node: ast.AST) -> Iterator[str]:
    """A node and what is in it, in the order of the text: kinds of nodes, and the names that others gave."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if not isinstance(node, ast.expr_context):
        yield f"{type(node).__name__}:{_name(node)}"
    for child in ast.iter_child_nodes(node):
        yield from _tokens(child)


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id if node.id in _BUILTINS else ""
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    return ""
