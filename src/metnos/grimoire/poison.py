"""Screening what would become knowledge: text that reads like an instruction to the agent is no fact.

Memories come from files, pages, messages and other agents, and a memory that acts is the most patient of injections. So
every candidate is read in all the ways it can be read (`poison_views`), in English and Italian, and refused with a
reason if it speaks to the agent, plays a role, calls a tool, sets rules aside, claims consent or rights, asks for
secrets to be sent, or hides what it says. What is refused is never admitted in any kind, least of all in one that
steers plans.

Rules: pure, bounded, and about form rather than topic: an observation may speak of instructions, passwords and
deleting. Does not guarantee to recognise every such text. It is one of several walls: facts are fenced as data wherever
a model reads them, strangers' words and dreams never steer, and no fact grants anything, because only the policy does.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from metnos.grimoire import poison_patterns, poison_views
from metnos.grimoire.fact import Fact
from metnos.grimoire.strings import strings

_STEP = poison_views.MOST - 1000  # long texts are read in pieces that overlap by more than any phrase is long


@dataclass(frozen=True, slots=True)
class Screened:
    """What screening found; ``reason`` is empty for what may pass. Never holds the text itself."""

    reason: str = ""

    @property
    def is_poison(self) -> bool:
        return bool(self.reason)


CLEAN = Screened()

# Read as it stands: the marks of roles stand at the beginning of a line, and folding takes lines away.
_MARKS = re.compile(
    r"<[|\uff5c][^<>|\uff5c]{1,40}[|\uff5c]>|<</?SYS>>|</?(?:start_of_turn|end_of_turn|system|assistant|instructions?)>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
    r"|^\s*(?:#+\s*|\*{2}|>+\s*)?(?:assistant|human|developer|assistente)(?:\*{2})?\s*:\s*\S"
    r"|^\s*#{2,}\s*(?:instructions?|system|istruzioni|response|new task)\s*:?\s*$",
    re.IGNORECASE | re.MULTILINE,
)


def screen(text: str) -> Screened:
    """Whether a text reads like an instruction, in any of the ways it can be read."""
    for start in range(0, max(1, len(text)), _STEP):
        found = _screen(text[start : start + poison_views.MOST])
        if found.is_poison:
            return found
    return CLEAN


# Admitting reads one text up to four times: as a candidate, as a row, and as its heuristic. A testament is read three
# times whole, and has up to 2048 entries: with fewer places none would be found again.
@lru_cache(maxsize=4096)
def _screen(text: str) -> Screened:
    unseen = poison_views.hidden(text)
    if unseen:
        return Screened(f"it holds {unseen}")
    if _MARKS.search(text):
        return Screened("it holds the mark of a role")
    for number, view in enumerate(dict.fromkeys(poison_views.views(text))):
        reason = _read(view)
        if reason:
            return Screened(reason if number == 0 else f"{reason}, in disguise")
    return CLEAN


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
