"""What the words around a particular say about it: `to`, `from`, `in`, `as`, `min`, `max`, `after`, `before`, ...

Rules: the nearest preposition decides, over articles and over nouns such as *folder*. The second of two that *and*
joins has the role of the first. *in* means *to* after a verb that puts things somewhere; after one that moves or
changes them, only if nothing behind it says better where they go. Does not guarantee to understand a sentence.
"""

import re
from collections.abc import Sequence

from metnos.fastpath.slots_paths import ARCHIVES, extension
from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import MARKS, NUMBER_MARK, Source, listed, with_role
from metnos.fastpath.slots_words import CHANGING, DOING, MOVING, PLACING, Verbs, words_after, words_before

_PLACES = frozenset({Kind.PATH, Kind.FOLDER, Kind.NAME, Kind.URL, Kind.GLOB, Kind.FILES})
_AMOUNTS = frozenset({Kind.SIZE, Kind.NUMBER})
_DAYS = frozenset({Kind.DATE, Kind.RANGE})
_TO, _IN = "to", "in"
_PREPOSITIONS = {
    **dict.fromkeys(listed("into onto verso"), "into"),
    **dict.fromkeys(listed("to a al alla allo ai agli alle all'"), _TO),
    **dict.fromkeys(
        listed(
"in inside within under below on nel nella nello nei negli nelle nell' su sul sulla sui sulle dentro"
" sotto"
), _IN
    ),
    **dict.fromkeys(listed("of di del della dello dei degli delle dell'"), "of"),
    **dict.fromkeys(listed("from da dal dalla dallo dai dagli dalle dall'"), "from"),
    **dict.fromkeys(listed(
"as called named titled chiamato chiamata chiamati chiamate nome chiami chiama come intitolato"
), "as"),
}  # fmt: skip
_SKIPPED = frozenset(
    listed(
        "the a an my our your this that these those new existing file files folder directory document page site"
        " website il lo la i gli le l' un uno una un' mio mia miei mie questo questa nuovo nuova cartella"
        " documento pagina sito percorso path archive archivio table tabella all every tutti tutte each whole"
    )
)
_ARTICLES = frozenset(listed("the a an il lo la i gli le l' un uno una un' total"))
_BOUNDS = {
    **dict.fromkeys(
        (
            "over", "above", "more than", "at least", "larger than", "bigger than", "greater than", "heavier than",
            "beyond", "exceeding", "exceeds", "exceed", "minimum", "min", "no less than", "not less than", ">", ">=",
            "≥", "oltre", "sopra", "piu di", "almeno", "maggiore di", "maggiori di", "superiore a", "superiori a",
            "superiore ai", "superiori ai", "piu grande di", "piu grandi di", "piu grossi di", "piu grosse di",
            "piu pesanti di", "piu pesante di", "superano", "supera", "minimo", "non meno di", "longer than",
            "higher than", "superiore al", "superiori al", "maggiore del", "maggiori del", "piu del",
            "piu lunghi di", "piu alti di", "between", "at minimum",
        ), "min"
    ),
    **dict.fromkeys(
        (
            "under", "below", "less than", "smaller than", "fewer than", "at most", "up to", "no more than",
            "lighter than", "not more than", "maximum", "max", "<", "<=", "≤", "sotto", "sotto i", "meno di",
            "al massimo", "fino a", "non piu di", "minore di", "minori di", "inferiore a", "inferiori a",
            "inferiore ai", "inferiori ai", "piu piccolo di", "piu piccoli di", "piu piccola di", "piu piccole di",
            "piu leggeri di", "massimo", "not over", "shorter than", "lower than", "inferiore al", "inferiori al",
            "minore del", "minori del", "meno del",
        ), "max"
    ),
}  # fmt: skip
_BOUNDS_AFTER = {
    **dict.fromkeys(
        ["or more", "or larger", "or bigger", "or above", "and up", "and above", "and more", "o piu", "e oltre"], "min"
    ),
    **dict.fromkeys(["in su", "upwards", "or over", "e piu", "minimum", "minimo", "o oltre"], "min"),
    **dict.fromkeys(
        ["or less", "or smaller", "or fewer", "or below", "o meno", "at most", "max", "maximum", "al massimo"], "max"
    ),
    **dict.fromkeys(["or under", "massimo", "in giu"], "max"),
}
_DAY_ROLES = {
    **dict.fromkeys(
        (
            "after", "since", "later than", "newer than", "starting", "starting from", "starting on",
            "more recent than", "dopo", "da", "dal", "dalla", "dall'", "dallo", "a partire da", "a partire dal",
            "successivi a", "successive a", "piu recenti di", "piu recenti del", "piu nuovi di", "piu nuovi del",
            "successivi al", "posteriori al", "piu recenti della",
        ), "after"
    ),
    **dict.fromkeys(
        (
            "before", "until", "till", "by", "up to", "older than", "earlier than", "prima di", "prima del",
            "prima della", "prima dell'", "prima dello", "entro", "fino a", "fino al", "fino alla", "precedenti a",
            "precedenti al", "piu vecchi di", "piu vecchi del", "piu vecchie di", "piu vecchie del",
            "piu vecchi della", "anteriori a", "anteriori al",
        ), "before"
    ),
}  # fmt: skip
_ABOUT = (
    "containing", "contains", "contain", "mentioning", "mention", "mentions", "about", "word", "words", "phrase",
    "text", "say", "says", "saying", "contiene", "contengono", "contenente", "contenenti", "parola", "parole",
    "frase", "testo", "scritto", "menziona", "menzionano", "riguardo", "dice", "dicono", "parla di", "parlano di",
    "che parla di", "contain the",
)  # fmt: skip
_QUOTE_ROLES = {
    **dict.fromkeys(_ABOUT, "about"),
    **dict.fromkeys(
        listed("as called named titled chiamato chiamata chiamati chiamate nome name come intitolato intitolata"), "as"
    ),
    **dict.fromkeys(listed("with by con"), "with"),
    **dict.fromkeys(listed("to into"), "to"),
    **dict.fromkeys(listed("in nel nella"), "in"),
    **dict.fromkeys(listed("from da dal dalla"), "from"),
}
_NEAR = 6  # slots; what stands further away belongs to another thought
_SAME = frozenset({"same", "identical", "uguale", "stesso", "stessa"})
_COPIES = frozenset({"copy", "copies", "backup", "copia", "copie", "doppio", "zip", "archive"})
_JOINS = frozenset({",", "and", "e", "ed", "or", "o", ";"})
_PLUS = re.compile(r"\+(?:$| [a-z]|[,.;?!])")
_REPLACING = frozenset(listed("replace substitute swap change sostituisci rimpiazza cambia"))


def assign(source: Source) -> list[Slot]:
    """The slots in order, each with its role."""
    ordered = sorted(source.slots, key=lambda slot: slot.start)
    verbs = Verbs(source.low)
    done: list[Slot] = []
    for place, slot in enumerate(ordered):
        if slot.role or slot.kind not in _PLACES | _AMOUNTS | _DAYS | {Kind.QUOTED}:
            done.append(slot)
            continue
        words = words_before(source.low, slot.start)
        if slot.kind in _AMOUNTS:
            role = _bound(source, slot, words, done)
        elif slot.kind in _DAYS:
            role = _day_role(source, slot, words)
        elif slot.kind is Kind.QUOTED:
            role = _quote_role(words, done, slot, source, verbs)
        else:
            role = _place_role(source, slot, words, done, ordered[place + 1 : place + 1 + _NEAR], verbs)
        done.append(with_role(slot, role))
    return done


def _phrase(words: Sequence[str], roles: dict[str, str]) -> str:
    """The role that the longest known phrase at the end of these words gives."""
    for count in (3, 2, 1):
        if len(words) >= count and (role := roles.get(" ".join(words[-count:]))):
            return role
    return ""


def _without(words: list[str], skipped: frozenset[str]) -> list[str]:
    kept = list(words)
    while kept and kept[-1] in skipped:
        kept.pop()
    return kept


def _bound(source: Source, slot: Slot, words: list[str], done: Sequence[Slot]) -> str:
    after = words_after(source.low, slot.end)
    for count in (2, 1):
        if role := _BOUNDS_AFTER.get(" ".join(after[:count])):
            return role
    if _PLUS.match(source.low, slot.end):
        return "min"
    if role := _phrase(words, _BOUNDS) or _phrase(_without(words, _ARTICLES), _BOUNDS):
        return role
    if len(words) < 2 or not done or done[-1].kind not in _AMOUNTS:
        return _span_role(words, after)
    last = _without(words, _ARTICLES)
    if len(last) > 1 and last[-1] in {"and", "e", "ed"} and last[-2] in _AMOUNT_MARKS:
        opener = _without(last[:-2], _ARTICLES)[-1:]
        if opener and opener[0] in {"between", "tra", "fra"}:
            return "max"
    return _span_role(words, after)


_AMOUNT_MARKS = frozenset({NUMBER_MARK, MARKS[Kind.SIZE], MARKS[Kind.NUMBER]})


def _span_role(words: list[str], after: list[str]) -> str:
    """`lines 10 to 20`, `pages 1-3`, `da 10 a 20`: where it begins and ends; `tra 10 e 20`: the least and the most."""
    before = words[-1] if words else ""
    joined = len(after) > 1 and after[1] in _AMOUNT_MARKS
    if before in {"tra", "fra"}:
        return "min"
    if joined and (after[0] in {"to", "-"} or (after[0] in {"a", "al"} and before in {"da", "dal", "dalla"})):
        return "from"
    opened = len(words) > 1 and words[-2] in _AMOUNT_MARKS
    if opened and (
        before in {"to", "-"} or (before in {"a", "al", "alla"} and words[-3:-2] in (["da"], ["dal"], ["dalla"]))
    ):
        return "to"
    return ""


def _day_role(source: Source, slot: Slot, words: list[str]) -> str:
    bare = _without(words, _ARTICLES)
    if role := _phrase(words, _DAY_ROLES) or _phrase(bare, _DAY_ROLES):
        return role
    after = words_after(source.low, slot.end)
    onwards = bare[-1:] == ["from"] and after[:1] in (["on"], ["onwards"], ["onward"])
    return "after" if onwards or after[:2] == ["in", "poi"] else _IN


def _quote_role(words: list[str], done: Sequence[Slot], slot: Slot, source: Source, verbs: Verbs) -> str:
    if inherited := _inherited(words, done, slot, source):
        return inherited.role
    verb, _ = verbs.before(slot.start)
    if words and verb in _REPLACING and words[-1] in {"by", "with", "for", "con", "per"}:
        return "with"
    if words and verb in _REPLACING and words[-1] in {"in", "a", "to", "into"}:
        return "to"
    return _phrase(words, _QUOTE_ROLES) or _phrase(_without(words, _ARTICLES), _QUOTE_ROLES)


def _inherited(words: list[str], done: Sequence[Slot], slot: Slot, source: Source) -> Slot | None:
    """The slot that this one stands beside in a list."""
    if not done or not words or words[-1] not in _JOINS:
        return None
    between = words_before(source.low[done[-1].end : slot.start], slot.start - done[-1].end)
    same = done[-1].kind == slot.kind or {done[-1].kind, slot.kind} <= _PLACES - {Kind.FILES}
    return done[-1] if same and between and set(between) <= _JOINS else None


def _place_role(
    source: Source, slot: Slot, words: list[str], done: Sequence[Slot], rest: Sequence[Slot], verbs: Verbs
) -> str:
    if inherited := _inherited(words, done, slot, source):
        return inherited.role
    before = _without(words, _SKIPPED)
    preposition = _PREPOSITIONS.get(before[-1], "") if before else ""
    if not preposition and words:  # the preposition itself may be among what is passed over: Italian *a*
        preposition = next((_PREPOSITIONS[word] for word in words[-2:] if word in _PREPOSITIONS), "")
    if preposition == "as" and _SAME & set(words[-5:]):
        return ""
    if preposition in {"as", "from"}:
        return preposition
    if preposition == "of":
        if len(before) > 1 and before[-2] in _COPIES:
            return ""
        return _IN if slot.kind is Kind.FOLDER or (slot.kind is Kind.PATH and not extension(slot.value)) else ""
    verb, _ = verbs.before(slot.start)
    if preposition == "into" or (preposition == _TO and verb in DOING):
        return _TO
    if preposition != _IN:
        return ""
    return _TO if _goes_there(source, slot, done, rest, verbs) else _IN


def _goes_there(source: Source, slot: Slot, done: Sequence[Slot], rest: Sequence[Slot], verbs: Verbs) -> bool:
    """Whether *in* says where things go."""
    verb, where = verbs.before(slot.start)
    if verb not in DOING or _better_place(source, slot, rest, verbs):
        return False
    if verb in PLACING or verb in MOVING:
        return True
    named = any(one.kind in _PLACES - {Kind.FILES} and one.start > where for one in done[-_NEAR:])
    converted = slot.kind is Kind.FILES and verb in CHANGING
    return named or converted or (extension(str(slot.value)) in ARCHIVES and verb in CHANGING)


def _better_place(source: Source, slot: Slot, rest: Sequence[Slot], verbs: Verbs) -> bool:
    """Whether a slot behind this one, of the same verb, is the place where things go."""
    verb, _ = verbs.before(slot.start)
    for later in rest:
        if later.kind not in _PLACES or verbs.before(later.start)[0] != verb:
            continue
        before = _without(words_before(source.low, later.start), _SKIPPED)
        if before and _PREPOSITIONS.get(before[-1], "") in {"into", _TO, _IN}:
            return slot.end <= later.start
    return False
