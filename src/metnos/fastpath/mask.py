"""A request as it is kept and embedded: its particulars are replaced by plain words for what they are.

Rules: the words are of the language of the rest of the request, so that a sentence encoder still reads a sentence
(the Italian ones without an article, since one mostly stands in the preposition before: *nella cartella*); a kind of
files (*songs*, *PDFs*) and an order (*newest*) stay, because they name nothing of the owner's and carry meaning; blanks
are single and every letter is small. Nothing raises.

Does not guarantee that nothing private is left: what `extract` overlooked stays as it was said.
"""

from collections.abc import Sequence

from metnos.fastpath.language import language
from metnos.fastpath.slots import without
from metnos.fastpath.slots_records import Kind, Slot

_KEPT = frozenset({Kind.FILES, Kind.ORDER})
_WORDS = {
    Kind.PATH: ("a file", "file"),
    Kind.FOLDER: ("a folder", "cartella"),
    Kind.NAME: ("a file", "file"),
    Kind.GLOB: ("files", "file"),
    Kind.URL: ("a page", "pagina"),
    Kind.EMAIL: ("an address", "indirizzo"),
    Kind.NUMBER: ("a number", "numero"),
    Kind.SIZE: ("a size", "dimensione"),
    Kind.DATE: ("a date", "data"),
    Kind.RANGE: ("some days", "alcuni giorni"),
    Kind.TIME: ("a time", "orario"),
    Kind.DURATION: ("some time", "un certo tempo"),
    Kind.QUOTED: ("something", "qualcosa"),
    Kind.COUNT: ("some", "alcuni"),
}


def _kind(slot: Slot) -> Kind:
    """A path whose last part has no ending is a folder to whoever reads it."""
    bare = slot.kind is Kind.PATH and "." not in slot.text.rstrip("/").rpartition("/")[2]
    return Kind.FOLDER if bare else slot.kind


def mask(text: str, slots: Sequence[Slot]) -> str:
    """The request without what it names; ``slots`` are its particulars, as `extract` found them."""
    tongue = 1 if language(without(text, slots)) == "it" else 0
    parts: list[str] = []
    at = 0
    for slot in sorted(slots, key=lambda one: one.start):
        shown = text[slot.start : slot.end] if slot.kind in _KEPT else _WORDS[_kind(slot)][tongue]
        parts += (text[at : slot.start], f" {shown} ")
        at = max(at, slot.end)
    return " ".join("".join((*parts, text[at:])).lower().split())
