"""Whether a request says more, or something else, than the form that it resembles.

Two requests may be near in meaning and still differ in the one word that matters. What is compared here are canonical
forms, word by word: a word may stand in the place of another, but none may be added that nothing answers to.

Rules: words that deny, except or limit must be the same in both, and so must words for deeds that change things;
particulars must be of kinds and qualities that the form has; no more clauses and no more words of content than the form
has, and where a path has several steps, no fewer either: nothing is done that was not asked for. Where an argument
rests on words that nobody can name (``strict``), the forms must be the same. English and Italian, as in `canonical`.
Does not guarantee that two words that stand for each other mean the same: that is what calibration is for.
"""

import re
from collections import Counter

from metnos.fastpath.canonical import canonical
from metnos.fastpath.slots_source import listed


def _stems(words: str) -> frozenset[str]:
    return frozenset(canonical(word, ()) for word in listed(words)) - {""}


CONNECTORS = _stems("and then also afterwards e ed poi anche inoltre quindi infine dopodiche")
_LIMITS = _stems(
    "not no never none nothing without except excluding but only unless instead don doesn didn isn aren won cannot"
    " non mai nessuno nessuna niente nulla senza tranne eccetto salvo escluso esclusi escluse ma soltanto solo"
    " solamente invece anziche if se"
)
_DEEDS = _stems(
    "delete remove erase trash discard wipe move rename copy duplicate write save store overwrite replace append add"
    " insert create make send mail post upload share install run kill stop zip archive unzip extract convert resize"
    " cancel clear empty print pay buy book set remind elimina cancella rimuovi butta cestina sposta rinomina copia"
    " scrivi salva sovrascrivi sostituisci aggiungi inserisci crea manda invia spedisci carica condividi installa"
    " esegui ferma comprimi archivia estrai converti ridimensiona annulla svuota stampa compra prenota imposta"
    " ricordami eliminare cancellare spostare copiare salvare scrivere inviare creare"
)
_SMALL = CONNECTORS | _stems(
    "of in on at to from for by with into about as be do have what which who that this these those there here it them"
    " its their his her i you we they he she one di a al da su con per tra fra che chi o or e essere avere cosa quale"
    " quali questo questa questi queste quello quella quelli quelle ci ne si lo li se me ti c d l t s re ve ll now ora"
    " adesso tell show give let see want need vorrei voglio dare dire fare mostrare vedere"
)
_PLACE = re.compile(r"^<(?:path|folder|name)\b")


def differs(asked: str, known: str, *, strict: bool = False, steps: int = 1) -> str:
    """Why the form ``asked`` may not be taken for ``known``, the form of a path of so many steps; nothing if it may."""
    if plain(asked) == plain(known):
        return ""
    if strict:
        return "other words may mean other arguments"
    new, old = _words(asked), _words(known)
    for word in sorted(new.keys() | old.keys()):
        if word in _LIMITS and new[word] != old[word]:
            return f"the word {word!r} is not in both"
        if word in _DEEDS and bool(new[word]) != bool(old[word]):
            return f"not both ask for this to be done: {word!r}"
    if other := _particulars(asked) - _particulars(known):
        return f"it was never asked with such a particular: {min(other)}"
    added, gone = set(content(asked)) - set(content(known)), set(content(known)) - set(content(asked))
    if len(added) > len(gone) or _joined(new) > _joined(old):
        return f"it says more: {min(added, default='one part')!r}"
    if steps > 1 and (len(gone) > len(added) or _joined(new) < _joined(old)):
        return f"it says less: {min(gone, default='one part')!r} is missing"
    return ""


def content(form: str) -> list[str]:
    """The words of a canonical form that carry its meaning, in order."""
    return [word for word in form.split() if word[0] != "<" and word not in _SMALL]


def plain(form: str) -> str:
    """A canonical form without the words that join its parts: two requests joined by any of them are one form."""
    return " ".join(word for word in form.split() if word not in CONNECTORS)


def _particulars(form: str) -> set[str]:
    """Kinds and qualities; a path, a name and a folder are one kind."""
    return {_PLACE.sub("<place", word) for word in form.split() if word[0] == "<"}


def _words(form: str) -> Counter[str]:
    return Counter(word for word in form.split() if word[0] != "<")


def _joined(words: Counter[str]) -> int:
    return sum(words[each] for each in CONNECTORS)
