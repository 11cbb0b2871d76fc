"""Words that several rules share: verbs by what they do with a place, and a way to look at the words before one."""

import re

from metnos.fastpath.slots_source import FILL, NUMBER_FILL, NUMBER_MARK, words

# Verbs after which *in* says where a thing goes.
PLACING = frozenset(
    words(
        "put place save store write download export unzip unpack decompress append add insert drop metti mettere"
        " mettili mettile mettilo mettila salva salvare salvali salvalo scrivi scrivere scarica scaricare esporta"
        " esportare scompatta decomprimi aggiungi inserisci deposita"
    )
)
# Verbs that take a thing from one place to another.
MOVING = frozenset(
    words(
        "move copy transfer relocate backup send bring sposta spostare spostali spostale spostalo spostala copia"
        " copiare copiali copiale copialo copiala trasferisci trasferire porta duplica riordina sistema"
    )
)
# Verbs after which *in* says where a thing goes only when it is clear what the thing is.
CHANGING = frozenset(
    words(
        "archive zip compress pack rename convert resize turn transform shrink change extract estrai archivia"
        " archiviare comprimi comprimere rinomina rinominare converti convertire trasforma ridimensiona riduci"
        " cambia estrarre zippa impacchetta"
    )
)
OTHER = frozenset(
    words(
        "find list show read search count open look tell delete remove compare check what which where who how is"
        " are was were make create duplicate grep summarise summarize fetch get give describe measure replace"
        " remind trova elenca mostra mostrami leggi cerca conta apri dimmi elimina cancella confronta controlla"
        " quali quale quanti quante dove chi e' sono riassumi dammi descrivi misura sostituisci ricordami prendi"
        " crea"
    )
)
DOING = PLACING | MOVING | CHANGING
_VERBS = DOING | OTHER
_WORD = re.compile(r"[a-z]+")
_TOKEN = re.compile(f"[a-z]+'?|[<>]=?|[≥≤]|[{NUMBER_MARK}\ue000-\ue0f0]|[^a-z {FILL}{NUMBER_FILL}]")
_REACH = 56  # characters; as far back as the longest phrase that gives a role


def words_before(low: str, place: int) -> list[str]:
    """The words, signs and marks right before a place, the nearest last."""
    start = max(0, place - _REACH)
    tokens = _TOKEN.findall(low[start:place])
    return tokens[1:] if start else tokens


def words_after(low: str, place: int) -> list[str]:
    """The words right after a place."""
    return _TOKEN.findall(low[place : place + 24])


def verb_before(low: str, place: int) -> tuple[str, int]:
    """The nearest verb before a place and where it stands; an empty word if there is none."""
    end = place
    while (space := low.rfind(" ", 0, end)) >= 0 or end > 0:
        word = _WORD.search(low, space + 1, end)
        if word is not None and word[0] in _VERBS:
            return word[0], word.start()
        if place - space > 400 or space < 0:
            break
        end = space
    return "", 0
