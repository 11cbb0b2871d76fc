"""What a request is apart from its particulars: the same for all requests that differ only in them.

Rules: small letters without accents, one space between words; each particular is its kind in angle brackets; articles,
politeness and who is asked are dropped; words are reduced to a light stem, by rules for both languages at once, so that
particulars never change how the rest is read. The canonical form of a canonical form is itself. Two requests of one
meaning in other words, or in another language, are two forms.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import dropwhile

from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import fold, listed

_TOKEN = re.compile(rf"<(?:{'|'.join(Kind)})>|[^\W_]+")
_PHRASES = re.compile(
    r"\b(?:(?:could|can|would|will) you|i(?: would|'d) like(?: you)? to|i (?:want|need)(?: you)? to|be so kind as to"
    r"|if you can|thank you(?: very much)?|per favore|per piacere|per cortesia|(?:mi )?(?:puoi|potresti)"
    r"|vorrei(?: che tu)?|ti prego(?: di)?|se puoi|grazie mille|saresti cosi gentile da|ho bisogno di)\b"
)
_DROPPED = frozenset(
    listed(
        "please kindly thanks pls okay ok metnos grazie prego cortesemente gentilmente just the a an some il lo"
        " la gli le un uno una i l my our mio mia miei mie me us mi ci s"
    )
)
_GREETINGS = frozenset(listed("hey hi hello ciao salve ehi"))  # dropped only at the beginning: *a file called hello*
_LEMMAS = {
    "are": "be", "is": "be", "was": "be", "were": "be", "been": "be", "am": "be", "has": "have", "had": "have",
    "did": "do", "does": "do", "done": "do", "gave": "give", "given": "give", "took": "take", "taken": "take",
    "found": "find", "wrote": "write", "written": "write", "made": "make", "got": "get", "kept": "keep",
    "sent": "send", "said": "say", "not": "non", "sono": "essere", "sia": "essere", "era": "essere",
    "erano": "essere", "ha": "avere", "ho": "avere", "hanno": "avere", "dammi": "dare", "dimmi": "dire",
    "fammi": "fare", "fai": "fare", "del": "di", "dello": "di", "della": "di", "dei": "di", "degli": "di",
    "delle": "di", "dell": "di", "nel": "in", "nello": "in", "nella": "in", "nei": "in", "negli": "in",
    "nelle": "in", "nell": "in", "allo": "al", "alla": "al", "agli": "al", "alle": "al", "ai": "al", "all": "al",
    "dal": "da", "dallo": "da", "dalla": "da", "dai": "da", "dagli": "da", "dalle": "da", "dall": "da", "sul": "su",
    "sullo": "su", "sulla": "su", "sui": "su", "sulle": "su", "sull": "su", "ed": "e",
}  # fmt: skip
_CLITIC = re.compile(r"(?<=[aeir])(?:me|ce)?(?:li|le|lo|la)$|(?<=[ae])(?:mi|ci)$|(?<=[gv]i)mi$")
_INFINITIVE = re.compile(r"(?<=\w{3}[^aeiou])[aei]re$")
_KEPT = frozenset(listed("compare prepare declare software hardware where there"))
_LONGEST = 30  # letters; longer ones are no words
_VOWELS = frozenset("aeiouy")


def canonical(text: str, slots: Sequence[Slot]) -> str:
    """The form of a request; ``slots`` are its particulars, as `extract` found them."""
    low = _PHRASES.sub(" ", fold(unicodedata.normalize("NFC", _replaced(text, slots))))
    tokens = dropwhile(_GREETINGS.__contains__, (token for token in _TOKEN.findall(low) if token not in _DROPPED))
    forms = (token if token[0] == "<" else _stem(token) for token in tokens)
    return " ".join(form for form in forms if form not in _DROPPED)


def _replaced(text: str, slots: Sequence[Slot]) -> str:
    parts: list[str] = []
    at = 0
    for slot in sorted(slots, key=lambda one: one.start):
        parts += (text[at : slot.start], f" <{slot.kind}> ")
        at = max(at, slot.end)
    return "".join((*parts, text[at:]))


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """A stem whose stem is itself: endings are taken off until nothing changes."""
    word = _LEMMAS.get(word, word)
    while (shorter := _shortened(word)) != word and shorter not in _LEMMAS and shorter not in _DROPPED:
        word = shorter
    return word


def _shortened(word: str) -> str:
    """A word without one ending, English or Italian; never below three letters."""
    if not 4 <= len(word) <= _LONGEST or not word.isascii() or not word.isalpha():
        return word
    if len(word) > 5 and word not in _KEPT:
        if _CLITIC.search(word):
            return _CLITIC.sub("", word)
        if _INFINITIVE.search(word):
            return word[:-3]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWELS & set(rest):
            return rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "sl" else rest
    if word[-1] == "s" and word[-2] not in "sui":
        return word[:-1]
    return word[:-1] if word[-1] in _VOWELS else word
