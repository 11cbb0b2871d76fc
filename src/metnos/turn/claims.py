"""Whether a text claims an act. A language model's words are shown, but never say that something was done that was not.

Rules: a sentence in which the agent says it moved, deleted, wrote or sent something stands only if an act of that kind
succeeded in this turn; else it is left out, and that is said. Knows English and Italian. Does not guarantee to see
through every way of putting it: what was done is listed beside the words by the answer itself, from the audited steps.
"""

import re
from collections.abc import Collection

_ACTS = {
    "move": r"moved|relocated|spostat[oaie]",
    "copy": r"copied|copiat[oaie]",
    "rename": r"renamed|rinominat[oaie]",
    "delete": r"deleted|removed|erased|trashed|cancellat[oaie]|eliminat[oaie]|rimoss[oaie]|cestinat[oaie]",
    "write": r"saved|written|wrote|created|updated|edited|salvat[oaie]|scritt[oaie]|creat[oaie]|aggiornat[oaie]"
    r"|modificat[oaie]",
    "set": r"set (?:up )?a reminder|set the reminder|scheduled|impostat[oaie]|programmat[oaie]",
    "send": r"sent|e-?mailed|posted|uploaded|inviat[oaie]|mandat[oaie]|spedit[oaie]|caricat[oaie]",
    "archive": r"zipped|archived|compressed|archiviat[oaie]|compress[oaie]",
    "run": r"executed|ran|installed|eseguit[oaie]|installat[oaie]",
}
# What may stand for what: a file that is made by packing or copying was also "created".
_ALSO = {"write": {"append", "make", "archive", "copy", "convert", "resize", "replace", "extract"}, "move": {"rename"}}
_ACTOR = (
    r"(?:\bI(?:'ve| have)?\b|\bwe(?: have|'ve)?\b|\bho\b|\babbiamo\b|\b(?:has|have|was|were)(?: \w+)? been\b"
    r"|\b(?:is|are) now\b|\bè stat[oa]\b|\bsono stat[ei]\b|\bsuccessfully\b|\bdone[:,]|\bfatto[:,])"
)
# Without anybody who did it: at the beginning, and of something ("Deleted 3 files"), or with how it went.
_OF = r"\s+(?:the|your|all|both|it|them|this|these|\d|[~/]|i|il|la|le|lo|gli|tutt[oaie])"
_WELL = r"\s+(?:\w+\s+){0,2}(?:successfully|con successo)\b"
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")


def without_false_claims(text: str, done: Collection[str]) -> tuple[str, int]:
    """The text without sentences that claim an act whose verb is not in ``done``; and how many were left out."""
    kept, dropped = [], 0
    for sentence in _SENTENCE.findall(text):
        if any(_claims(sentence, verb) and not _covered(verb, done) for verb in _ACTS):
            dropped += 1
        else:
            kept.append(sentence)
    return "".join(kept).strip(), dropped


def _claims(sentence: str, verb: str) -> bool:
    said = rf"\b(?:{_ACTS[verb]})\b"
    ways = rf"{_ACTOR}.{{0,80}}?{said}|\A\W*{said}{_OF}|{said}{_WELL}"
    return re.search(ways, sentence, re.IGNORECASE | re.DOTALL) is not None


def _covered(verb: str, done: Collection[str]) -> bool:
    return verb in done or bool(_ALSO.get(verb, set()) & set(done))
