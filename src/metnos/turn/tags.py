"""The tags of a turn: what it is about, in words of a closed list, so that nothing private gets into the mnestome.

They come from the things that the request names (in the executors' vocabulary), the kinds of files in it, and a short
list of domains that papers and files of a household belong to. English and Italian. Pure.
"""

import re
from collections.abc import Sequence

from metnos.executors.vocabulary import canonical_object
from metnos.fastpath.slots import Slot, without
from metnos.fastpath.slots_source import fold, listed
from metnos.turn.plan.clauses import ENDINGS, classes

MOST = 8
_WORD = re.compile(r"[^\W\d_]{3,}")
_DOMAINS = {
    "invoice": "invoice invoices bill bills fattura fatture bolletta bollette",
    "receipt": "receipt receipts scontrino scontrini ricevuta ricevute",
    "tax": "tax taxes vat tasse tassa imposte iva",
    "bank": "bank statement statements banca estratto bonifico bonifici",
    "contract": "contract contracts lease contratto contratti",
    "insurance": "insurance policy policies assicurazione polizza polizze",
    "health": "doctor medical prescription dottore medico medica ricetta referto referti",
    "travel": "travel trip flight flights hotel holiday viaggio viaggi volo voli vacanza vacanze",
    "recipe": "recipe recipes cooking ricette cucina",
    "school": "school homework lesson scuola compiti lezione",
    "work": "work meeting project lavoro riunione progetto",
    "music": "music song songs musica canzone canzoni",
    "letter": "letter letters mail lettera lettere posta",
    "report": "report reports relazione relazioni",
}
_MEANT = {word: tag for tag, words in _DOMAINS.items() for word in listed(words)}
_FILES = frozenset(ENDINGS.values()) - {"other"}


def tags(text: str, slots: Sequence[Slot]) -> tuple[str, ...]:
    """What a request is about, each tag once."""
    found: dict[str, None] = {}
    for kind in sorted({each.removesuffix("s") for slot in slots for each in classes(slot)} & _FILES):
        found[canonical_object(kind) or kind] = None
    names = " ".join(str(slot.text) for slot in slots)  # a file that is called invoice.pdf is about one
    for word in _WORD.findall(fold(f"{without(text, slots)} {names}")):
        tag = _MEANT.get(word) or canonical_object(word)
        if tag:
            found[tag] = None
    return tuple(found)[:MOST]
