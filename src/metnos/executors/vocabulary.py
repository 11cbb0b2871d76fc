"""The closed vocabulary of executor names: ``verb_object`` or ``verb_object_qualifier``.

The words, their meanings and their synonyms are data in ``vocabulary.toml``. Every word is one word of small letters,
so that a name splits in one way only; a synonym belongs to one word, so that a request has one reading.

Rules: what is not in the lists is refused with the nearest word that is. Does not guarantee that an executor of a
well-formed name exists.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from metnos.core.errors import ManifestError
from metnos.core.nearest import nearest

LANGUAGES = ("en", "it")
_SHAPE = re.compile(r"[a-z]+(_[a-z]+){1,2}")
_LIST = "docs/executors.md lists the words."


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the vocabulary: what it means and how people say it."""

    text: str
    means: str
    synonyms: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Name:
    """A name taken apart."""

    verb: str
    object: str
    qualifier: str | None = None

    def __str__(self) -> str:
        return "_".join(part for part in (self.verb, self.object, self.qualifier) if part)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Every word, by kind."""

    verbs: Mapping[str, Word]
    objects: Mapping[str, Word]
    qualifiers: Mapping[str, Word]


@cache
def load() -> Vocabulary:
    """The vocabulary as it is shipped."""
    text = resources.files("metnos.executors").joinpath("vocabulary.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return Vocabulary(_words(data["verbs"]), _words(data["objects"]), _words(data["qualifiers"]))


def is_name(text: str) -> bool:
    """Whether ``text`` has the shape of a name; its words may still be unknown."""
    return len(text) <= 64 and _SHAPE.fullmatch(text) is not None


def is_known(text: str) -> bool:
    """Whether ``text`` is a name, and every word of it is known."""
    try:
        parse_name(text)
    except ManifestError:
        return False
    return True


def parse_name(text: str) -> Name:
    """A name taken apart, or an error that names the nearest known word."""
    if not is_name(text):
        raise ManifestError(
            f"{text!r} is not a name: it needs a verb, an object and perhaps a qualifier, such as find_files",
            fix=f"Join them with _ , in small letters. {_LIST}",
        )
    known = load()
    verb, thing, *rest = text.split("_")
    _require(verb, known.verbs, "verb", text)
    _require(thing, known.objects, "object", text)
    if rest:
        _require(rest[0], known.qualifiers, "qualifier", text)
    return Name(verb, thing, rest[0] if rest else None)


def canonical_verb(word: str, language: str | None = None) -> str | None:
    """The verb that a person means by ``word``, or nothing."""
    return _meaning("verbs", language).get(_spelling(word))


def canonical_object(word: str, language: str | None = None) -> str | None:
    """The object that a person means by ``word``, or nothing."""
    return _meaning("objects", language).get(_spelling(word))


def canonical_qualifier(word: str, language: str | None = None) -> str | None:
    """The qualifier that a person means by ``word``, or nothing."""
    return _meaning("qualifiers", language).get(_spelling(word))


@cache
def _meaning(kind: str, language: str | None) -> dict[str, str]:
    words: Mapping[str, Word] = getattr(load(), kind)
    spoken = LANGUAGES if language is None else (language,)
    said = {synonym: word.text for word in words.values() for each in spoken for synonym in word.synonyms.get(each, ())}
    return said | {text: text for text in words}


def _spelling(word: str) -> str:
    return " ".join(word.casefold().split())


def _words(table: Mapping[str, Mapping[str, object]]) -> dict[str, Word]:
    return {text: _word(text, entry) for text, entry in table.items()}


def _word(text: str, entry: Mapping[str, object]) -> Word:
    synonyms = {language: tuple(map(str, _listed(entry.get(language)))) for language in LANGUAGES}
    return Word(text, str(entry["means"]), synonyms)


def _listed(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else ()


def _require(word: str, known: Mapping[str, Word], kind: str, name: str) -> None:
    if word in known:
        return
    meant = _meaning(f"{kind}s", None).get(word)
    close = [meant] if meant else nearest(word, known, cutoff=0.5)
    fix = f"Did you mean {close[0]!r}?" if close else _LIST
    raise ManifestError(f"{name!r}: the vocabulary has no {kind} {word!r}", fix=fix)
