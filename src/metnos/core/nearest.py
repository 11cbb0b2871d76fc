"""Find the known name that a wrong one was meant to be.

Rules: what is longer than any name resembles none, and of many known names only the first are compared: the work is
bounded, whoever chose the words.
"""

import difflib
from collections.abc import Iterable
from itertools import islice

LONGEST = 64  # characters
MOST_KNOWN = 2000


def nearest(word: str, known: Iterable[str], count: int = 1, cutoff: float = 0.6) -> list[str]:
    """The known names that are most like ``word``, the most alike first."""
    if len(word) > LONGEST:
        return []
    names = [name for name in islice(known, MOST_KNOWN) if len(name) <= LONGEST]
    return difflib.get_close_matches(word, names, count, cutoff)
