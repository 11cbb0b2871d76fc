"""Words reduced to their stems after Porter (1980), as the full text does it, so that both see the same words.

Does not guarantee that a stem is a word, or that it is right for languages other than English: words of another
language are cut too, each always in the same way.
"""

import re
from functools import lru_cache

_KNOWN = 50_000  # words that are remembered: more than one person's vocabulary
_RUN = re.compile("v+c+")
_SECOND = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_THIRD = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_FOURTH = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic", "ou",
)  # fmt: skip


@lru_cache(_KNOWN)
def stem(word: str) -> str:
    """The stem of a word in lower case; what is short or not of the plain alphabet stays as it is."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _SECOND)
    word = _replaced(word, _THIRD)
    return _tidied(_dropped(word))


def _shape(word: str) -> str:
    """A ``c`` for each consonant and a ``v`` for each vowel; y is a vowel after a consonant."""
    made = ""
    for at, letter in enumerate(word):
        is_vowel = letter in "aeiou" or (letter == "y" and at > 0 and made[-1] == "c")
        made += "v" if is_vowel else "c"
    return made


def _measure(word: str) -> int:
    return len(_RUN.findall(_shape(word)))


def _is_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeiou"


def _is_short(word: str) -> bool:
    """Ends as *hop* does: consonant, vowel, consonant."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _plural(word: str) -> str:
    for end in ("sses", "ies"):
        if word.endswith(end) and len(word) > len(end):
            return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed") and len(word) > len("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for end in ("ed", "ing"):
        if word.endswith(end):
            rest = word[: -len(end)]
            return _mended(rest) if "v" in _shape(rest) else word
    return word


def _mended(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _is_double(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _replaced(word: str, ends: tuple[tuple[str, str], ...]) -> str:
    for end, other in ends:
        if word.endswith(end):
            rest = word[: -len(end)]
            return rest + other if _measure(rest) > 0 else word
    return word


def _dropped(word: str) -> str:
    for end in _FOURTH:
        if word.endswith(end):
            rest = word[: -len(end)]
            return rest if _measure(rest) > 1 and (end != "ion" or rest[-1:] in ("s", "t")) else word
    return word


def _tidied(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _is_short(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
