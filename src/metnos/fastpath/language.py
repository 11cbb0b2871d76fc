"""Whether a request is English or Italian.

Rules: words that belong to one language only are counted; where they say nothing, how the words end does, since Italian
ones end in a vowel. Without any sign it is English. Does not know any other language.
"""

import re
from typing import Literal

from metnos.fastpath.slots_source import fold, listed

_WORD = re.compile(r"[a-z]{2,}|\be(?![\w.])|[cdl](?=')")  # single letters only where they are words: c.txt says nothing
_ENGLISH = frozenset(
    listed(
        "the an and or of to from with without for by on at is are was were be been do does did have has had my"
        " your our their its this that these those which what who where when why how many much all any each every"
        " into than then there here not you me them it we they he she can could would should will please thanks"
        " show find list read move copy delete make give get put save open search count tell remind about over"
        " under older newer larger smaller biggest largest last first next week month year day days today"
        " yesterday tomorrow hour hours minute files folder directory named called using between after before"
        " since until more less most least size name names content text photos pictures documents downloads words"
        " lines rows column write add remove rename convert total sum page download run start stop zip unzip take"
        " out up only also just but if so i'm let one two three four five six seven eight nine ten"
    )
)
_ITALIAN = frozenset(
    listed(
        "il lo gli la le un uno una di del dello della dei degli delle al allo alla ai agli alle dal dallo dalla"
        " dai dagli dalle nel nello nella nei negli nelle sul sulla sui sulle con per tra fra che chi cosa dove"
        " quando perche quanto quanta quanti quante quale quali sono ho hai ha abbiamo hanno mio mia miei mie tuo"
        " tua questo questa questi queste quello quella quelli quelle tutti tutte tutto tutta ogni piu meno non si"
        " mi ti ci ed e trova trovami cerca cercami elenca mostra mostrami leggi sposta copia cancella elimina"
        " crea dammi dimmi fammi salva apri conta ricordami scarica scrivi aggiungi rinomina converti comprimi"
        " estrai unisci confronta riassumi calcola quant oggi ieri domani settimana mese anno giorno giorni ore"
        " minuti cartella cartelle documenti immagini foto righe colonna parole testo pagina nome dopo prima entro"
        " oltre sotto dentro verso scorso scorsa ultimi ultime ultimo primi prime grandi vecchi recenti grazie"
        " favore puoi vorrei potresti l dell all nell sull dall quell c d sia stata stato essere fare come da tre"
        " quattro cinque sette otto nove dieci venti cento"
    )
)
_VOWEL_END = frozenset("aeio")


def language(text: str) -> Literal["en", "it"]:
    """The language of a request."""
    words = _WORD.findall(fold(text))
    english = sum(word in _ENGLISH for word in words)
    italian = sum(word in _ITALIAN for word in words)
    if english != italian:
        return "en" if english > italian else "it"
    long = [word for word in words if len(word) > 3]
    open_ends = sum(word[-1] in _VOWEL_END for word in long)
    return "it" if long and open_ends * 3 > len(long) * 2 else "en"
