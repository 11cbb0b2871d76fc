"""What a clause does something to, where that is not the file it names: *remove the watermark from a.pdf*.

What changes whole files must never do so when the request speaks of a part of one. Rules: a word that stands right
before a file's name says what the file is (*the draft a.txt*); any other word that no line of the executor explains
is an object of its own, and so is a file that another one is to be taken out of. Where there is such an object, there
is no plan. Does not guarantee to find an object that is called like a kind of files.
"""

from collections.abc import Collection, Sequence
from functools import cache

from metnos.turn.plan.clauses import BASE, DETERMINERS, PATTERNS, Clause, classes
from metnos.turn.plan.intents import lines
from metnos.turn.plan.lexicon import HINT, LIGHT, THING, VERB, Word

# They take files as a whole.
WHOLE = (
    "delete_files", "move_files", "copy_files", "rename_files", "archive_files", "extract_archives", "convert_images",
    "resize_images", "convert_tables",
)  # fmt: skip
OUT_OF = {
    "of", "from", "in", "inside", "within", "on", "off", "at", "with", "for", "di", "del", "della", "dello", "dei",
    "delle", "degli", "dell'", "da", "dal", "dalla", "dallo", "dai", "dagli", "dalle", "dall'", "nel", "nella",
    "nello", "nei", "nelle", "negli", "nell'", "su", "sul", "sulla", "sui", "sulle", "sugli", "sull'", "to", "a",
    "al", "alla", "alle", "ai", "all'", "per", "s", "'",
}  # fmt: skip
_PARTS = ("duplicates", "audio")  # of a file they are parts; of a folder they are found first, and so in ``taken``
_QUOTING = ("rename_files",)  # what is quoted tells them what to do
_PUT_NOWHERE = ("delete_files",)
_TELLING = {"that", "which", "because", "since", "che", "perche", "siccome"}  # what follows says more about the file


def foreign(clause: Clause, executor: str, taken: Collection[str], *, fed: bool) -> Word | None:
    """The object that the executor takes no account of; nothing if there is none.

    ``taken`` are the words that the steps look for in names; ``fed`` says whether the files come from a step before.
    """
    if executor not in WHOLE:
        return None
    words = _told(clause)
    for place, word in enumerate(words):
        if _is_container(words, place, executor) or (
            _speaks(word, executor, taken) and _stands_alone(words, place, executor, fed=fed)
        ):
            return word
    return None


def _told(clause: Clause) -> Sequence[Word]:
    """The words but the verb that heads the clause, up to what only tells more about the file."""
    words = [word for word in clause.words if word is not clause.head]
    for place, word in enumerate(words):
        if word.text in _TELLING and any(_is_anchor(each) for each in words[:place]):
            return words[:place]
    return words


def _stands_alone(words: Sequence[Word], place: int, executor: str, *, fed: bool) -> bool:
    """Whether a word is an object of its own, and not what a file right behind it is called."""
    for after, word in enumerate(words[place + 1 :], start=place + 1):
        if _is_anchor(word):
            goal = word.slot is not None and word.slot.role in ("to", "as") and executor not in _PUT_NOWHERE
            return any(each.text in OUT_OF for each in words[place + 1 : after]) and not goal
    before = [each for each in words[:place] if _is_anchor(each)]
    if not before:
        return fed
    led = [each.text for each in words[:place] if each.text not in DETERMINERS][-1:]
    from_it = before[-1].slot is not None and before[-1].slot.role in ("in", "from")
    return bool(led and led[0] in OUT_OF) or words[place].of_kind(THING) or from_it


def _is_container(words: Sequence[Word], place: int, executor: str) -> bool:
    """Whether a file is where another thing is to be taken out of."""
    slot = words[place].slot
    if slot is None or "file" not in classes(slot) or slot.role in ("to", "as"):
        return False
    for before in range(place - 1, -1, -1):
        if _is_anchor(words[before]):
            kept = words[before].slot
            if kept is None or (kept.kind in PATTERNS and executor.startswith("convert_")):
                return False  # *a jpg copy of a.png*: the kind is what it becomes
            return any(each.text in OUT_OF for each in words[before + 1 : place])
    return False


def _speaks(word: Word, executor: str, taken: Collection[str]) -> bool:
    """Whether a word names something that no line of the executor explains."""
    if word.slot is not None:
        return word.slot.kind == "quoted" and executor not in _QUOTING
    if word.text in taken or word.mark or word.stop:
        return False
    if not word.means(*_PARTS) and word.meanings.keys() & _explained(executor):
        return False
    kinds = set(word.meanings.values())
    return word.unknown or (bool(kinds & {THING, VERB}) and not kinds & {LIGHT, HINT})


def _is_anchor(word: Word) -> bool:
    if word.slot is None:
        return word.means("it") and word.text not in DETERMINERS
    kinds = classes(word.slot)
    return bool(kinds & {"place", "files"}) and word.slot.role != BASE


@cache
def _explained(executor: str) -> frozenset[str]:
    return frozenset().union(*(line.names for line in lines() if line.executor == executor))
