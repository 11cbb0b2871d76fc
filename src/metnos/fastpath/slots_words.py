"""Words that several rules share: verbs by what they do with a place, and ways to look at what stands before one."""

import re
from bisect import bisect_left

from metnos.fastpath.slots_source import FILL, NUMBER_FILL, NUMBER_MARK, listed

# Verbs after which *in* says where a thing goes.
PLACING = frozenset(
    listed(
        "put place save store write download export unzip unpack decompress append add insert drop metti mettere"
        " salva salvare scrivi scrivere scarica scaricare esporta"
        " esportare scompatta decomprimi aggiungi inserisci deposita"
    )
)
# Verbs that take a thing from one place to another.
MOVING = frozenset(
    listed(
        "move copy transfer relocate backup send bring sposta spostare copia"
        " copiare trasferisci trasferire porta duplica riordina sistema"
    )
)
# Verbs after which *in* says where a thing goes only when it is clear what the thing is.
CHANGING = frozenset(
    listed(
        "archive zip compress pack rename convert resize turn transform shrink change extract estrai archivia"
        " archiviare comprimi comprimere rinomina rinominare converti convertire trasforma ridimensiona riduci"
        " cambia estrarre zippa impacchetta"
    )
)
OTHER = frozenset(
    listed(
        "find list show read search count open look tell delete remove compare check what which where who how is"
        " are was were make create duplicate grep summarise summarize fetch get give describe measure replace"
        " remind trova elenca mostra leggi cerca conta apri dimmi elimina cancella confronta controlla"
        " quali quale quanti quante dove chi sono riassumi dammi descrivi misura sostituisci ricordami prendi"
        " crea substitute swap rimpiazza translate traduci"
    )
)
DOING = PLACING | MOVING | CHANGING
_VERBS = DOING | OTHER
_ASKED = re.compile(r"(?<!\bi )(?<!\bwe )(?<!\bthey )\b[a-z]+")  # what *I* did is not what is asked for
_TOKEN = re.compile(f"[a-z]+'?|[<>]=?|[≥≤]|[{NUMBER_MARK}\ue000-\ue0f0]|[^a-z {FILL}{NUMBER_FILL}]")
_PRONOUNS = ("li", "le", "lo", "la", "mi", "ci")
_SENTENCE = 400  # characters; a verb further back belongs to something else
_REACH = 56  # characters; as far back as the longest phrase that gives a role


def words_before(low: str, place: int) -> list[str]:
    """The words, signs and marks right before a place, the nearest last."""
    start = max(0, place - _REACH)
    tokens = _TOKEN.findall(low[start:place])
    is_cut = low[start - 1 : start + 1].isalpha() if start else False  # the first word may have lost its beginning
    return tokens[1:] if is_cut else tokens


def words_after(low: str, place: int) -> list[str]:
    """The words right after a place."""
    return _TOKEN.findall(low[place : place + 24])


class Verbs:
    """The verbs of a request, to be asked for the nearest one before a place."""

    def __init__(self, low: str) -> None:
        found = [(match.start(), verb) for match in _ASKED.finditer(low) if (verb := verb_of(match[0]))]
        self._starts = [start for start, _ in found]
        self._words = [verb for _, verb in found]

    def before(self, place: int) -> tuple[str, int]:
        """The verb and where it stands; an empty word if there is none near."""
        index = bisect_left(self._starts, place) - 1
        if index < 0 or place - self._starts[index] > _SENTENCE:
            return "", 0
        return self._words[index], self._starts[index]


def verb_of(word: str) -> str:
    """The verb that a word is, also with an Italian pronoun behind it, as in *salvali*; else nothing."""
    if word in _VERBS:
        return word
    base = word[:-2]
    return base if word.endswith(_PRONOUNS) and base in _VERBS else ""
