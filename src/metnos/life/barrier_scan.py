"""The scan: whether a text holds a secret, a place on somebody's machine, a way to reach a person, or private words.

Two ways to look. By form (`barrier_forms`): keys and tokens of known shapes, long strings of chance, paths of a home,
addresses, numbers of accounts and telephones. By content: the very secrets of this workspace, and every run of five
words that somebody said here (`Windows`), unless all five are words that say nothing of anybody.

Rules: pure, and in doubt it finds something. Nothing that it reports holds what it found. Private texts are read one
after another and never kept. Does not guarantee to notice what was said here in other words: that is why texts that
quote, or speak of people, are left out before this looks at anything.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from metnos.grimoire.consent import about_people
from metnos.grimoire.stem import stem
from metnos.life import barrier_forms

RUN = 5  # words: shorter runs are common coin, and longer ones let half a sentence through
_SHORTEST = 8  # characters of a secret that can be told from a word
_WORD = re.compile(r"[^\W_]+")
_INNER = re.compile(r"""(?<=[^\s.!?:"'(])[ \t"'(]+([^\W\d_]+)""")  # a word inside of a sentence


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of this workspace: its secrets, and the words that say nothing of anybody."""

    secrets: tuple[str, ...] = ()
    common: frozenset[str] | None = frozenset()  # none: all of them, because nobody said what is looked at

    def all_common(self, text: str) -> bool:
        """Whether every word of it says nothing of anybody. Kinds of particulars in angle brackets are none."""
        return all(map(self.is_common, words(re.sub(r"<[a-z]+>", " ", text))))

    def says_nothing(self, text: str) -> bool:
        """Whether a sentence says nothing of anybody: every word is common in some form, none is spelt as a name."""
        if self.common is None:
            return True
        plain = re.sub(r"<[a-z]+>", " ", text)
        return not _has_name(plain) and all(self.is_common(each) or stem(each) in self.common for each in words(plain))

    def is_common(self, word: str) -> bool:
        return self.common is None or word in self.common or word.isdigit()


def _has_name(text: str) -> bool:
    """Whether a word has a capital though no sentence begins with it."""
    return any(word.istitle() and len(word) > 1 for word in _INNER.findall(text))


def words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


# -- by form


def by_form(text: str, known: Known) -> str:
    """What is wrong with a text, in words that do not repeat it; empty if nothing is."""
    if any(len(secret) >= _SHORTEST and secret in text for secret in known.secrets):
        return "it holds a secret of this workspace"
    seen = barrier_forms.folded(text)
    told = barrier_forms.secret_words(seen) if known.common is not None else ()
    if barrier_forms.is_secret(seen) or not all(map(known.is_common, told)):
        return "it holds what looks like a key or a password"
    if barrier_forms.is_place(seen):
        return "it names a place on this machine"
    if barrier_forms.reaches(seen):
        return "it holds a way to reach a person"
    return ""


def names_file(text: str, known: Known) -> str:
    """Whether it names a file by words of somebody's own."""
    named = any(not known.all_common(stem) for stem in barrier_forms.stems(barrier_forms.folded(text)))
    return "it names a file of this house" if named else ""


def of_people(text: str, *, of_tools: bool = False) -> str:
    return "it speaks of people" if about_people(text, of_tools=of_tools) else ""


# -- by content


class Windows:
    """The runs of words in what is to be told, by which of it: to be held against what must not be told."""

    def __init__(self, texts: Mapping[str, Sequence[str]], known: Known) -> None:
        self._of: dict[tuple[str, ...], set[str]] = {}
        for key, many in texts.items():
            for text in many:
                for run in runs(text):
                    if not all(map(known.is_common, run)):
                        self._of.setdefault(run, set()).add(key)

    def repeating(self, private: Iterable[str]) -> set[str]:
        """Which of it repeats something private."""
        found: set[str] = set()
        if not self._of:
            return found
        for text in private:
            for run in runs(text):
                found |= self._of.get(run, set())
        return found


def runs(text: str, length: int = RUN) -> Iterator[tuple[str, ...]]:
    """Every run of so many words; a text with fewer has none."""
    found = words(text)
    for start in range(len(found) - length + 1):
        yield tuple(found[start : start + length])


# -- proving


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be told, and where. Never holds what it is."""

    where: str
    what: str


def scan(
    texts: Mapping[str, Sequence[str]], private: Iterable[str], known: Known, released: Collection[str]
) -> list[Finding]:
    """Everything wrong with what is to be told; nothing for what is fit. ``released`` are places that the owner let
    go: their words may be private, and their secrets still may not."""
    found = [
        Finding(where, reason)
        for where, many in sorted(texts.items())
        for reason in dict.fromkeys(_wrong(text, known, where in released) for text in many)
        if reason
    ]
    told = {where: many for where, many in texts.items() if where not in released}
    repeating = Windows(told, known).repeating(private)
    return found + [Finding(where, "it repeats what was said here") for where in sorted(repeating)]


def _wrong(text: str, known: Known, released: bool) -> str:
    wrong = by_form(text, known)
    return "" if released and wrong == "it holds a way to reach a person" else wrong
