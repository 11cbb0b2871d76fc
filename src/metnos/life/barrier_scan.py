"""The scan: whether a text holds a secret, a place on somebody's machine, a way to reach a person, or private words.

Two ways to look. By form: keys and tokens of known shapes, long strings of chance, paths of a home, addresses, numbers
of accounts and telephones. By content: the very secrets of this workspace, and every run of five words that somebody
said here (`Windows`), unless all five are words that say nothing of anybody.

Rules: pure, and in doubt it finds something. Nothing that it reports holds what it found. Private texts are read one
after another and never kept. Does not guarantee to notice what was said here in other words: that is why texts that
quote, or speak of people, are left out before this looks at anything.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from metnos.grimoire.consent import about_people

RUN = 5  # words: shorter runs are common coin, and longer ones let half a sentence through
_SHORTEST = 8  # characters of a secret that can be told from a word
_TOKEN = re.compile(r"[A-Za-z0-9+/_=.-]{24,}")
_CHANCE = 4.0  # bits for each character: words and names have about three, keys in base 64 about five
_WORD = re.compile(r"[^\W_]+")
_HEX = re.compile(r"[0-9a-f]+")
_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")

_SECRET = re.compile(
    r"""-----BEGIN [A-Z ]*PRIVATE\ KEY
    | \bAKIA[0-9A-Z]{16}\b | \bgh[pousr]_[A-Za-z0-9]{30,} | \bgithub_pat_\w{30,} | \bglpat-[\w-]{20,}
    | \bsk-[A-Za-z0-9_-]{20,} | \bxox[abprs]-[A-Za-z0-9-]{10,} | \bAIza[\w-]{35} | \bhf_[A-Za-z0-9]{30,}
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,} | \b\d{8,10}:AA[\w-]{30,}
    | (?:https?|ftp|postgres(?:ql)?|mysql|redis|amqp)://[^\s/:@]+:[^\s/@]+@
    | (?i:\b(?:password|passwd|passphrase|secret|api[_\ -]?key|access[_\ -]?token|bearer)\b\s*(?:is|=|:)\s*\S{4,})""",
    re.VERBOSE,
)
_PLACE = re.compile(
    r"(?:^|[\s\"'(=])(?:~[\w.-]*/|/(?:home|Users|root|media|mnt|srv|run|tmp|var|etc|opt)/|[A-Z]:\\|\\\\)\S"
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[a-z]{2,}", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w./:-])\+\d[\d ()./-]{7,}\d|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of this workspace: its secrets, and the words that say nothing of anybody."""

    secrets: tuple[str, ...] = ()
    common: frozenset[str] | None = frozenset()  # none: all of them, because nobody said what is looked at

    def all_common(self, text: str) -> bool:
        """Whether every word of it says nothing of anybody. Kinds of particulars in angle brackets are none."""
        return all(map(self.is_common, words(re.sub(r"<[a-z]+>", " ", text))))

    def is_common(self, word: str) -> bool:
        return self.common is None or word in self.common or word.isdigit()


def words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


# -- by form


def by_form(text: str, known: Known) -> str:
    """What is wrong with a text, in words that do not repeat it; empty if nothing is."""
    if any(len(secret) >= _SHORTEST and secret in text for secret in known.secrets):
        return "it holds a secret of this workspace"
    if _SECRET.search(text) or any(map(_is_chance, _TOKEN.findall(text))):
        return "it holds what looks like a key or a password"
    if _PLACE.search(text):
        return "it names a place on this machine"
    if _MAIL.search(text) or _NUMBER.search(text):
        return "it holds a way to reach a person"
    return ""


def of_people(text: str, *, of_tools: bool = False) -> str:
    return "it speaks of people" if about_people(text, of_tools=of_tools) else ""


def _is_chance(token: str) -> bool:
    """A long string with as much chance in it as a key has. Digests and ids are ours: they say nothing."""
    if _HEX.fullmatch(token) and len(token) in (64, 128):
        return False
    if _ULID.fullmatch(token) or ("_" in token.strip("_") and token.replace("_", "").isalpha()):
        return False  # an id; or names of executors, which are words
    counted = Counter(token)
    chance = -sum(n / len(token) * math.log2(n / len(token)) for n in counted.values())
    mixed = any(char.isdigit() for char in token) and any(char.isalpha() for char in token)
    return mixed and chance >= _CHANCE


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
