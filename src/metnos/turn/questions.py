"""Whether somebody wants to know something, or wants something done: English and Italian, by how a sentence begins.

Rules: pure. A wish in the form of a question (*can you order one?*, *why don't you …?*, *is there a way to …?*) is a
wish. Whoever asks and wants something done in one breath wants something done. In doubt it is no question: a wish that
is taken for one would be answered from memory instead of being refused honestly.

Does not guarantee grammar: what begins otherwise is not recognised.
"""

import re
from collections.abc import Sequence

from metnos.fastpath.slots import Slot
from metnos.turn.plan import fill_text, phrases
from metnos.turn.plan.clauses import DETERMINERS, split

_WHO = (
    r"what|when|where|who|whose|whom|which|why|how|cosa|che|quando|dove|chi|qual|quale|quali|perch[eé]|come|quant[oiae]"
)
_ASKS = re.compile(  # a question, or a request to be reminded; an order that nobody can follow is neither
    rf"\?\s*$|^\W*(?:{_WHO}|did|was|were|is|are|has|have|remember|do you (?:remember|know)"
    r"|ho|ha|hai|ricordi|ti ricordi)\b",
    re.IGNORECASE,
)
_TELL = (
    r"(?:please\s+|per favore\s+)?(?:(?:can|could|will|would)\s+you\s+|(?:mi\s+)?(?:puoi|potresti|sai)\s+)?"
    r"(?:tell|remind)\s+me\s+(?:please\s+)?|(?:per favore\s+)?(?:dimmi|ricordami|mi\s+(?:dici|ricordi)"
    r"|(?:mi\s+)?(?:puoi|potresti|sai)\s+(?:dir(?:e|mi)|ricordar(?:e|mi)))\s+(?:per favore\s+)?"
)
_KNOW = re.compile(
    rf"^\W*(?:(?:{_TELL})(?:{_WHO}|dov')\b"
    rf"|(?:do you|ti|te lo)?\s*(?:remember|know|sai|ricordi)\s+(?:{_WHO}|dov'|if|se)\b"
    rf"|(?:{_WHO})\b|(?:dov|com|cos|quand|c)'|do (?:i|we|they)\b|does\b|did (?:i|we|he|she|they|it|the|my|our)\b"
    r"|(?:was|were|is|are|has)\b|have (?:i|we|they)\b|(?:ho|hai|ha|abbiamo|hanno|era|erano|è|sono)\b)",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"^\W*(?:(?:what|how) about|what if|why (?:not|don'?t|do not|won'?t|can'?t you)|how come you (?:don|won)"
    r"|is (?:it possible|there (?:a|any|some) way)|are you able|perch[eé] non|come mai non|che ne (?:dici|diresti)"
    r"|(?:è|sarebbe) possibile|c'è (?:un )?modo|sei in grado|hai voglia|che cosa ne dici)\b",
    re.IGNORECASE,
)


_SAYS = {"i", "we", "he", "she", "it", "they", "there", "io", "noi", "lui", "lei", "loro", "c'è", "ci", "abbiamo", "ho"}


def asks(text: str) -> bool:
    """Whether somebody may want to be reminded of something."""
    return _ASKS.search(text) is not None or _KNOW.match(_plain(text)) is not None


def wants_to_know(text: str, slots: Sequence[Slot] = ()) -> bool:
    """Whether somebody wants to know something, and wants nothing done."""
    plain = _plain(text)
    if _KNOW.match(plain) is None or _WISH.match(plain) is not None or phrases.talk(text, 0) is not None:
        return False
    if "?" not in text and re.search(r"[,;:]", text):
        return False  # *when the shop closes, remind me*
    clauses = split(text, slots, fill_text.swallows)
    return len(clauses) == 1 and not clauses[0].negated


def is_statement(text: str) -> bool:
    """Whether a sentence says how things are: it begins with what it is about, and asks nothing."""
    first = _plain(text).lower().split()[:1]
    begins = [word for word in first if word in DETERMINERS or word in _SAYS or word.startswith(("l'", "un'", "it's"))]
    return bool(begins) and not asks(text)


def _plain(text: str) -> str:
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
