"""Folders in words: `my downloads`, `the folder Vacanze`, `la cartella Documenti`, `here`.

Rules: a well-known folder is given as it was said, with its names in the other language beside it, since only the disk
knows which of them exists. A folder that is only named is meant from where the owner stands, or else from home. A word
that may also be a kind of files (`my photos`, `documents`) is a folder only where the words before it make it a place.
"""

import re
from collections.abc import Iterator

from metnos.fastpath.slots_paths import FAMILIES
from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import Source, listed
from metnos.fastpath.slots_words import MOVING, PLACING, Verbs, words_before

# What people say for a well-known folder: the name that the folder then has.
_KNOWN = {
    **{name.lower(): name for family in FAMILIES for name in family},
    "download": "Downloads", "photos": "Pictures", "images": "Pictures", "movies": "Videos", "foto": "Immagini",
    "filmati": "Video",
}  # fmt: skip
_NAMED_ONLY = frozenset({"foto", "photos", "images", "movies", "filmati"})  # `the folder Foto` has that very name
_ARTICLE = re.compile(r"(?:\b(?:the|my|our|a|an|la|le|il|i|gli|una|mi[ao]|mie|miei|nostra|sua|new|nuova) ){1,3}$")
_FOLDER = re.compile(r"\b(?:(?P<one>folder|directory|dir|cartella)|(?P<many>folders|directories|cartelle))\b")
_RIGHT = re.compile(
    r"(?P<called> {1,3}(?:called|named|titled|chiamat[ae]|di nome|detta))?"
    r"(?: {1,3}(?:dei|delle|degli|dello|della|del|dell'|di|of|for)(?= ))? {1,3}(?P<name>[^\W_][\w.&+-]{0,60})"
)
_NEXT_NAME = re.compile(r"(?P<called>(?!))?(?P<name>[\w&+-]+)")
_HERE_RIGHT = re.compile(r" (?:corrente|attuale|presente|di lavoro)\b")
_HOME_RIGHT = re.compile(r" (?:home|personale|utente)\b")
_LEFT = re.compile(r"(?:\b(?P<owner>the|my|our|your)(?: own)? )?(?P<name>[a-z0-9][\w&+-]{0,60}) $")
_HERE_LEFT = frozenset({"this", "current", "present", "working", "questa"})
_NOT_NAMES = frozenset(
    listed(
        "a about above after all also an and another any are as at be been before below but by called can"
        " chiamata che chi come con contain containing contains content contents corrente da dal dalla dei del"
        " dell della delle destination di dopo dove e ed each empty entire every except file files first fino for"
        " from get had has have here hidden i if il in inside instead into is it its la largest larger last le lo"
        " main ma me mi my name named names new newer newest next nel nella nelle no not now nuova o of oggi old"
        " older oldest on only or other our out over own parent per piu please poi previous principale prima quale"
        " quali quella questa qui right same se second shared should single size sizes small smaller smallest so"
        " source sopra sotto sono structure sub su sul sulla take takes target tra tree that the their them then"
        " there these third this those to today tomorrow two under uno un una up use used uses vuota vuote was"
        " were what when where which while who whole whose will with within without wrong yesterday you your ieri"
        " domani biggest big bigger entro contenente contiene altra altre nuove nascosta nascoste grande grandi"
        " vecchia vecchie condivisa stessa sia"
    )
)
_WELL_KNOWN = re.compile(
    r"(?P<owner>\b(?:my|our|miei|mie|mi[ao]) )?\b(?P<name>downloads?|scaricati|desktop|scrivania|documents|documenti"
    r"|pictures|immagini|photos|images|foto|music|musica|videos?|movies|filmati|templates|modelli)\b"
    r"(?! (?:app|apps|application|computer|environment|pc|players?|manager|folders?|director|files?)\b)"
)
_HOME = re.compile(
    r"(?:\b(?:my|la mia|mia)|(?<=\bnella)|(?<=\bdalla)|(?<=\bin)|(?<=\bthe)) ?\bhome\b"
    r"(?! (?:page|office|address|network|screen))"
)
_HERE = re.compile(r"\b(?:here|qui|qua)\b(?!'s|'re| (?:is|are|sotto|sopra|e\b))")
_INTO = frozenset(
    listed(
        "in into inside to from under on of nel nella nelle nei negli a ai alle agli al da dai dalle dagli di"
        " dentro tra fra su sul"
    )
)
_ARTICULATED = frozenset(listed("alla dalla sulla della verso"))
_ITALIAN_PLACE = frozenset(listed("nei dai ai negli dagli agli"))
_ANYWHERE = frozenset({"downloads", "desktop", "scrivania"})
_CAPITAL = re.compile(r"[^\W\d_][\w&+-]{1,60}")
_TARGET = re.compile(r"\b(?:into|inside|dentro|verso|to|in|nella|nel|under|sotto|from|da|dalla) (?=[a-z])")
_STRONG = frozenset({"into", "inside", "dentro", "verso"})
_FILES_BEFORE = re.compile(r"\b(?:files?|pdfs?|foto|photos|pictures|immagini|images|videos?|documents|documenti) $")
_BESIDE = frozenset({"in", "inside", "under", "sotto", "nella"})
_AWAY = frozenset({"from", "da", "dalla"})
_NOT_PLACES = frozenset(
    listed(
        "english italian french german spanish japanese chinese portuguese russian arabic dutch latin greek inglese"
        " italiano francese tedesco spagnolo giapponese cinese portoghese russo arabo olandese latino greco excel word"
        " powerpoint markdown sqlite python json html celsius fahrenheit kelvin linux windows google i it them"
    )
)


def slots(source: Source) -> Iterator[Slot]:
    """Every folder that is told in words."""
    for match in _FOLDER.finditer(source.low):
        yield from _around(source, match)
    for match in _WELL_KNOWN.finditer(source.low):
        if _is_place(source, match):
            yield _known(source, match["name"], match.start(), match.end(), said=False)
    for match in _HOME.finditer(source.low):
        yield source.slot(Kind.FOLDER, *_bare(source, match), "~")
    for match in _HERE.finditer(source.low):
        yield source.slot(Kind.FOLDER, match.start(), match.end(), str(source.cwd))


def targets(source: Source) -> Iterator[Slot]:
    """Capital words where a place is expected: `copy it into Backup`."""
    verbs = Verbs(source.low)
    ends = {slot.end for slot in source.slots if slot.kind in {Kind.NAME, Kind.PATH, Kind.GLOB}}
    for match in _TARGET.finditer(source.low):
        word = _CAPITAL.match(source.text, match.end())
        if word is None or not word[0][0].isupper() or word[0].isupper() or word[0].lower() in _NOT_PLACES:
            continue
        preposition = match[0].strip()
        verb, _ = verbs.before(match.start())
        if (
            preposition in _STRONG
            or verb in MOVING
            or (verb in PLACING and preposition not in _AWAY)
            or (preposition in _BESIDE and (match.start() - 1 in ends or _files_before(source, match.start())))
        ):
            end = _run(source, word.start(), word.end())
            name = source.text[word.start() : end]
            yield source.slot(Kind.FOLDER, word.start(), end, name, also=(f"~/{name}",))


def _files_before(source: Source, place: int) -> bool:
    return _FILES_BEFORE.search(source.low[max(0, place - 12) : place]) is not None


def _around(source: Source, match: re.Match[str]) -> Iterator[Slot]:
    low = source.low
    right = _RIGHT.match(low, match.end())
    start = _with_article(low, match.start())
    if right and right["called"] and _may_be_a_name(source, right):
        yield from _right(source, match, right, start)
        return
    left = _LEFT.search(low[max(0, match.start() - 64) : match.start()])
    begin = match.start() - len(left["name"]) - 1 if left else start
    here = _HERE_RIGHT.match(low, match.end())
    if here or (left and left["name"] in _HERE_LEFT):
        end = here.end() if here else match.end()
        yield source.slot(Kind.FOLDER, start if here else _with_article(low, begin), end, str(source.cwd))
    elif left and left["name"] == "parent":
        yield source.slot(Kind.FOLDER, _with_article(low, begin), match.end(), "..")
    elif left and left["name"] in _KNOWN and match[0] != "cartella":
        yield _known(source, left["name"], _with_article(low, begin), match.end())
    elif left and left["name"] == "home" and match[0] != "cartella":
        yield source.slot(Kind.FOLDER, _with_article(low, begin), match.end(), "~")
    elif home := _HOME_RIGHT.match(low, match.end()):
        yield source.slot(Kind.FOLDER, start, home.end(), "~")
    elif right and _may_be_a_name(source, right):
        yield from _right(source, match, right, start)
    elif left and left["owner"] and match["one"] and match[0] != "cartella" and left["name"] not in _NOT_NAMES:
        name = source.text[begin : match.start() - 1]
        yield source.slot(Kind.FOLDER, _with_article(low, begin), match.end(), name, also=(f"~/{name}",))


def _may_be_a_name(source: Source, right: re.Match[str]) -> bool:
    """A capital word is a name; a small one only if it is no ordinary word."""
    name = right["name"].rstrip(".")
    return name not in _NOT_NAMES or (source.text[right.start("name")].isupper() and name != "i")


def _right(source: Source, match: re.Match[str], right: re.Match[str], start: int) -> Iterator[Slot]:
    """The name behind the word *folder*, or the names behind *folders*."""
    begin = right.start("name")
    placed = words_before(source.low, start)[-1:]
    role = "as" if right["called"] and not (placed and placed[0] in _INTO | _ARTICULATED) else ""
    while True:
        end = _run(source, begin, begin + len(right["name"].rstrip(".-+&")))
        name = source.text[begin:end]
        if name.lower() in _KNOWN and name.lower() not in _NAMED_ONLY and not right["called"] and match["one"]:
            yield _known(source, name.lower(), start, end)
        else:
            yield source.slot(Kind.FOLDER, start, end, name, role, (f"~/{name}",))
        more = re.match(r"(?:, ?(?:and |e )?| and | e | ed )", source.low[end : end + 6])
        following = _CAPITAL.match(source.text, end + more.end()) if more and match["many"] else None
        if following is None or not following[0][0].isupper():
            return
        start = begin = following.start()
        right = _NEXT_NAME.match(source.low, begin) or right


def _run(source: Source, start: int, end: int) -> int:
    """A name goes on over capital words, if it began with one, and over a year."""
    capital = source.text[start].isupper()
    for _ in range(5):
        more = re.match(r" ([\w&+-]{1,60})", source.text[end : end + 62])
        if more is None:
            break
        word = more[1]
        if not (
            re.fullmatch(r"(?:19|20)\d\d", word)
            or (capital and (word[0].isupper() or word[0].isdigit()) and word != "I")
        ):
            break
        end += more.end()
    return end


def _is_place(source: Source, match: re.Match[str]) -> bool:
    name, owner = match["name"], match["owner"]
    before = words_before(source.low, match.start())
    word = before[-1] if before else ""
    if name in _ANYWHERE:
        return True
    if owner:
        return name in {"documents", "documenti", "download"} or any(one in _INTO for one in before[-2:])
    if word in _ITALIAN_PLACE and name in {"documenti", "download", "scaricati"}:
        return True
    capital = source.text[match.start("name")].isupper()
    exact = capital and name not in _NAMED_ONLY and name != "download"
    plain = name in {"documents", "music", "musica"} and word in {"in", "from", "into", "to", "nella", "dalla"}
    return plain or (exact and word in _INTO and source.text[match.start("name") + 1].islower())


def _known(source: Source, word: str, start: int, end: int, *, said: bool = True) -> Slot:
    name = _KNOWN[word]
    if said and word in _NAMED_ONLY:
        name = word.capitalize()
    family = next((family for family in FAMILIES if name in family), (name,))
    others = tuple(f"~/{other}" for other in family if other != name)
    return source.slot(Kind.FOLDER, _with_article(source.low, start), end, f"~/{name}", also=others)


def _with_article(low: str, start: int) -> int:
    article = _ARTICLE.search(low[max(0, start - 24) : start])
    return start - len(article[0]) if article else start


def _bare(source: Source, match: re.Match[str]) -> tuple[int, int]:
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    return _with_article(source.low, start), match.end()
