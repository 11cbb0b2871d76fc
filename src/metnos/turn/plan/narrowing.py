"""Words that say which of many files are meant: *the empty files*, *i file nascosti*, *all that is old*.

Rules: such a word stands before a noun for files, or says of one what it is; before a file that is named it only
describes. What `find_files` can tell exactly (nothing in it, a name with a dot) becomes an argument; *large*, *old* and
the like give no measure, so they only say what comes first where something is looked for. Whatever no step heeds is
given back, never dropped: the router refuses where files would be changed, and says so elsewhere.

Does not guarantee to know every adjective: a word that nobody knows is looked after by `fill_files` and `objects`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from metnos.turn.plan.clauses import CONJUNCTIONS, DETERMINERS, Clause, classes
from metnos.turn.plan.intents import Intent
from metnos.turn.plan.lexicon import HINT, LIGHT, STOP, Word
from metnos.turn.plan.objects import WHOLE
from metnos.turn.plan.patterns import qualities
from metnos.turn.plan.records import Step

NOTHING_IN_IT = "0"  # the greatest size of an empty file
ORDERS = ("largest", "smallest", "newest", "oldest")
_NOUNS = ("files", "folders", "documents", "images")
_ONES = {"ones", "everything", "anything", "tutto", "quelli", "quelle", "those"}
_LOOKING = ("find_files", "list_folders", "search_text", "find_duplicates", "measure_folders", "count_text")
_CHANGING = (*WHOLE, "replace_text")
_THAN = {"than", "di", "del", "della", "dell'", "da", "almeno", "at least", "piu", "piu di", "than the"}
_ADVERBS = {"very", "too", "really", "already", "just", "so", "molto", "troppo", "gia", "still", "ancora"}
_WHO = {"i", "we", "you", "ho", "hai", "abbiamo", "have", "has"}  # *the files I downloaded*
_ONE = {"a", "an", "the", "that", "this", "il", "lo", "la", "un", "uno", "una", "quel", "quella", "questo", "questa"}
_SINGULAR = {"file", "folder", "directory", "subfolder", "cartella", "sottocartella"}
_INTO = {"to", "into", "in", "as", "nel", "nella", "alla", "al", "dentro"}
_MEASURES = {"order", "count", "number", "size", "age", "files"}
_BETWEEN = 3  # words that may stand between a quality and its noun: *the big blurry holiday photos*
# What a word before a noun may mean and still not say which are meant.
_HARMLESS = {"all", "it", "what", "count", "howmuch", "where", "inside", "each", "about", "now", *_NOUNS}


def told(clause: Clause) -> list[tuple[Word, str]]:
    """Every word of the clause that narrows, with what it says."""
    known = qualities()
    return [
        (word, known[word.text])
        for at, word in enumerate(clause.words)
        if word.slot is None
        and word.text in known
        and (_before_a_noun(clause.words, at) or _said_of_one(clause.words, at))
        and not _measured(clause, at)
    ]


def narrowed(args: Mapping[str, Any], clause: Clause) -> dict[str, Any]:
    """The arguments of `find_files` with what these words say exactly."""
    made, said = dict(args), {kind for _, kind in told(clause)}
    if "empty" in said and not folders(clause) and "max_size" not in made:
        made["max_size"] = NOTHING_IN_IT
    if "hidden" in said:
        names = str(made.get("pattern", "*")).split("|")
        if all(each.startswith("*") for each in names):
            made |= {"hidden": True, "pattern": "|".join(f".{each}" for each in names)}
    return made


def instead(clause: Clause, intent: Intent) -> Intent:
    """What looks for files in the place of what only lists them, where a word says which of them are meant."""
    said = {kind for _, kind in told(clause)} & {"empty", *ORDERS}
    if intent.executor != "list_folders" or not said:
        return intent
    return replace(intent, executor="find_files", args={"depth": 1} | dict(intent.args))


def heeded(clause: Clause, steps: Sequence[Step]) -> list[str]:
    """The words that narrow and that a step takes into account."""
    return [word.text for word, kind in told(clause) if _heeded(word, kind, clause, steps)]


def folders(clause: Clause) -> list[str]:
    """The words for folders that are meant themselves, and do not only say what a path is."""
    words = clause.words
    return [
        word.text
        for at, word in enumerate(words)
        if set(word.meanings) == {"folders"} and not _is_named(words, at) and not _is_goal(words, at, word)
    ]


def order(clause: Clause) -> str:
    """What comes first where a word gives an order and no measure: of *large* files the largest."""
    said = [kind for _, kind in told(clause) if kind in ORDERS]
    return said[0] if len(set(said)) == 1 else ""


def unheeded(clause: Clause, steps: Sequence[Step], *, changes: bool) -> list[str]:
    """What says which files are meant, as it was said, and no step takes into account."""
    of_files = _CHANGING if changes else _LOOKING
    if not any(step.executor in of_files for step in steps) or _all_named(steps):
        return []
    left = [word for word, kind in told(clause) if not _heeded(word, kind, clause, steps)]
    if changes or steps[0].executor == "find_files":
        left += [word for word in _attributes(clause, steps) if word not in left]
    if not changes:  # whoever asks to see some does not mind more
        return [word.raw for word in left if word.slot is None and qualities().get(word.text) != "some"]
    return [word.raw for word in left] or list(_single(clause, steps))


def _heeded(word: Word, kind: str, clause: Clause, steps: Sequence[Step]) -> bool:
    if word is clause.head:
        return False  # *empty files in ~/x* may ask for them, or to have them emptied
    given: dict[str, Any] = {name: value for step in steps for name, value in step.args.items()}
    if kind == "empty":
        return given.get("max_size") == NOTHING_IN_IT
    if kind == "hidden":
        return bool(given.get("hidden"))
    if kind in ("other", "some"):
        return any(step.executor == "find_duplicates" for step in steps) or "limit" in given
    return "order" in given


def _before_a_noun(words: Sequence[Word], at: int) -> bool:
    """Whether a noun for files that are not named follows, with no more than adjectives between."""
    for place in range(at + 1, min(at + 2 + _BETWEEN, len(words))):
        word = words[place]
        if _is_noun(word):
            return not _is_named(words, place) and not _is_goal(words, at, word)
        joins = word.text in CONJUNCTIONS or word.text == ","
        if word.slot is not None and not classes(word.slot) & {"order", "count", "number", "size", "age"}:
            return False
        if word.text not in qualities() and (word.stop or word.mark) and not joins:
            return word.text in {"of", "dei", "delle", "degli", "the"} and qualities()[words[at].text] == "some"
    return False


def _said_of_one(words: Sequence[Word], at: int) -> bool:
    """Whether the word says of something before it what it is: *i file grandi*, *files that are empty*."""
    place = at - 1
    while place >= 0 and (words[place].text in qualities() or words[place].text in CONJUNCTIONS | _ADVERBS):
        place -= 1
    if place < 0 or not any(map(_is_noun, words[: place + 1])):
        return False
    before = words[place]
    return _is_noun(before) or before.means("be") or before.text in _WHO


def _measured(clause: Clause, at: int) -> bool:
    """Whether a size, an age or an order says how much: *vecchi di 30 giorni*, *downloaded yesterday*."""
    if qualities()[clause.words[at].text] == "dealt" and clause.have("age", "order"):
        return True
    for word in clause.words[at + 1 :]:
        if word.slot is not None:
            return bool(classes(word.slot) & {"size", "age", "duration"})
        if word.text not in _THAN:
            return False
    return False


def _attributes(clause: Clause, steps: Sequence[Step]) -> Iterator[Word]:
    """Words right before a noun for files that speak of anything else: *the weather photos*, *3 files*."""
    taken = str([step.args for step in steps]).casefold()
    for place, noun in enumerate(clause.words):
        if not _is_noun(noun) or _is_named(clause.words, place):
            continue
        for at in range(place - 1, -1, -1):
            word = clause.words[at]
            kinds = classes(word.slot) if word.slot is not None else set()
            if "number" in kinds and "'limit'" not in taken:
                yield word
            if word.text in DETERMINERS and at and clause.words[at - 1].slot is not None:
                continue  # *half the files*
            if word is clause.head or not (kinds & _MEASURES or word.text in qualities() or _is_told(word)):
                break
            if kinds or word.text in qualities() or word.text in taken:
                continue
            if not _is_harmless(word, steps) and not _is_goal(clause.words, at, noun):
                yield word


def _is_told(word: Word) -> bool:
    """Whether a word says something of its own, and so may narrow."""
    said = word.slot is None and not word.mark and word.text not in DETERMINERS and not word.of_kind(LIGHT)
    return said and not (word.of_kind(STOP) and set(word.meanings.values()) <= {STOP, HINT})


def _is_harmless(word: Word, steps: Sequence[Step]) -> bool:
    """Whether a word before a noun does not say which are meant, or a step has seen to it."""
    if word.means("duplicates", "compare", "copy") and any(step.executor == "find_duplicates" for step in steps):
        return True
    if word.means("documents") and not word.text.startswith("doc"):
        return False  # a report, a letter: no kind of files, but what they are about
    return bool(word.meanings.keys() & _HARMLESS)


def _single(clause: Clause, steps: Sequence[Step]) -> Iterator[str]:
    """*The file in ~/x*: one is meant, and nothing says which."""
    found = next((step.args for step in steps if step.executor == "find_files"), {})
    for at, (before, word) in enumerate(pairwise(clause.words), start=1):
        one = word.text in _SINGULAR and before.text in _ONE and not _is_named(clause.words, at)
        if one and found and not {"pattern", "limit"} & found.keys():
            yield f"{before.raw} {word.raw}"


def _is_noun(word: Word) -> bool:
    if word.slot is not None:
        return "files" in classes(word.slot)
    return word.means(*_NOUNS) or word.text in _ONES


def _is_named(words: Sequence[Word], place: int) -> bool:
    """Whether the noun stands before the name of what it means: *the empty folder ~/x*."""
    rest = [word for word in words[place + 1 : place + 3] if not word.means("names")][:1]
    slot = rest[0].slot if rest else None
    return slot is not None and "place" in classes(slot)


def _is_goal(words: Sequence[Word], at: int, noun: Word) -> bool:
    """Whether a folder is where things go: *into a new folder*."""
    led = [word.text for word in words[:at] if word.text not in {*DETERMINERS} - _INTO][-1:]
    return noun.means("folders") and bool(led) and led[0] in _INTO


def _all_named(steps: Sequence[Step]) -> bool:
    """Whether every step works on files that the request names one by one."""
    paths = [each for step in steps for each in (step.args.get("paths"),) if isinstance(each, list)]
    files = all("." in str(place).rpartition("/")[2] for each in paths for place in each)
    return bool(paths) and files and not any(step.executor.startswith(("find_", "list_")) for step in steps)
