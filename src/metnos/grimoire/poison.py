"""Screening what would become knowledge: text that reads like an instruction to the agent is no fact.

Memories come from files, pages, messages and other agents, and a memory that acts is the most patient of injections. So
every candidate is read in all the ways it can be read (`poison_views`), in English and Italian, and refused with a
reason if it speaks to the agent, plays a role, calls a tool, sets rules aside, claims consent or rights, asks for
secrets to be sent, or hides what it says. What is refused is never admitted in any kind, least of all in one that
steers plans.

Rules: pure, bounded, and about form rather than topic: an observation may speak of instructions, passwords and
deleting. The work is counted and grows with the length of a text only; what can be read in more ways than any honest
text is refused for that. Does not guarantee to recognise every such text. It is one of several walls: facts are fenced
as data wherever a model reads them, strangers' words and dreams never steer, and no fact grants anything, because only
the policy does.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from metnos.grimoire import poison_patterns, poison_views
from metnos.grimoire.fact import Fact
from metnos.grimoire.strings import strings

_STEP = poison_views.MOST - 1000  # long texts are read in pieces that overlap by more than any phrase is long
READINGS = 24  # of a text as it is: the usual have five; a page of codes, tables and markup, decoded, has fifteen
_SHORT = 1000  # a text as short as this may be one code within another, and nothing else
_START, _STYLE = 25, 40  # what beginning on a view costs, and a word that makes one pattern look far; in characters


@dataclass(frozen=True, slots=True)
class Screened:
    """What screening found; ``reason`` is empty for what may pass. ``work`` is what it cost, in characters read. Never
    holds the text itself."""

    reason: str = ""
    work: int = field(default=0, compare=False)

    @property
    def is_poison(self) -> bool:
        return bool(self.reason)


# Read as it stands: the marks of roles stand at the beginning of a line, and folding takes lines away.
# Blanks before a mark are those of its own line: to go over blank lines from each of them is to go over them squared.
_MARKS = re.compile(
    r"<[|\uff5c][^<>|\uff5c]{1,40}[|\uff5c]>|<</?SYS>>|</?(?:start_of_turn|end_of_turn|system|assistant|instructions?)>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
    r"|^[^\S\n]*(?:#+\s*|\*{2}|>+\s*)?(?:assistant|human|developer|assistente)(?:\*{2})?\s*:\s*\S"
    r"|^[^\S\n]*#{2,}\s*(?:instructions?|system|istruzioni|response|new task)\s*(?::\s*)?$",
    re.IGNORECASE | re.MULTILINE,
)


def screen(text: str) -> Screened:
    """Whether a text reads like an instruction, in any of the ways it can be read."""
    work = 0
    for start in range(0, max(1, len(text)), _STEP):
        found = _screen(text[start : start + poison_views.MOST])
        work += found.work
        if found.is_poison:
            return Screened(found.reason, work)
    return Screened("", work)


def most_work(text: str) -> int:
    """What reading a text of at most `poison_views.MOST` characters may cost."""
    return READINGS * max(_SHORT, _work(text))


# Admitting reads one text up to four times: as a candidate, as a row, and as its heuristic. A testament is read three
# times whole, and has up to 2048 entries: with fewer places none would be found again.
@lru_cache(maxsize=4096)
def _screen(text: str) -> Screened:
    unseen = poison_views.hidden(text)
    if unseen:
        return Screened(f"it holds {unseen}")
    if _MARKS.search(text):
        return Screened("it holds the mark of a role")
    seen: set[str] = set()
    work, most = 0, most_work(text)
    for view in poison_views.views(text):
        if view in seen:
            continue
        if work + _work(view) > most:
            return Screened("it can be read in too many ways", work)
        work += _work(view)
        reason = _read(view)
        if reason:
            return Screened(f"{reason}, in disguise" if seen else reason, work)
        seen.add(view)
    return Screened("", work)


def _work(view: str) -> int:
    return _START + len(view) + _STYLE * view.count("style")


def screen_fact(fact: Fact) -> Screened:
    """The same for all that a fact says: its subject, value, data, tags, domain, sender too; and all of it together."""
    texts = texts_of(fact)
    alone = screen(fact.text)
    return alone if alone.is_poison else screen("\n".join(texts))


def texts_of(fact: Fact) -> list[str]:
    """All that a fact says, in words."""
    said = [fact.text, fact.subject, fact.value, fact.domain, fact.sender, *fact.tags]
    return [*said, *strings(fact.data)]


def _read(view: str) -> str:
    return next((reason for reason, pattern in poison_patterns.compiled() if pattern.search(view)), "")
