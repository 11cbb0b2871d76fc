"""When a turn may offer to make the executor that it lacks, and for what.

Rules: pure. Only where planning came to nothing because an executor is missing: not after a greeting, an order not to
do something, a sentence that nobody understood, a model's broken reply. Only to the owner, on a channel of theirs, for
words of their own. What `metnos.synt` could never make is not offered, as far as that can be told from the words: it
makes what reads and reckons.

Does not guarantee that what is offered can be made: that shows when it is tried.
"""

import re

from metnos.executors import vocabulary
from metnos.grimoire.trace import State
from metnos.synt.need import Evidence, Need, Way
from metnos.turn.plan.records import Kind
from metnos.turn.scratch import Scratch

LONGEST = 500  # characters: a need is one or two sentences, and whoever writes more hands over content
# Verbs that mean a change, somebody else's answer, or something that goes on: no function that only reckons does them.
BEYOND_VERBS = frozenset(
    (
        "append", "archive", "ask", "complete", "copy", "delete", "draw", "make", "move", "play", "remind", "rename",
        "resize", "restore", "rotate", "run", "schedule", "send", "set", "stop", "translate", "watch", "write",
    )
)  # fmt: skip
# Objects that are not in a file or in the request: on the web, in this machine, in the agent itself.
BEYOND_OBJECTS = frozenset(
    ("audio", "currencies", "executors", "feeds", "memory", "network", "processes", "videos", "weather")
)
_SAYS = "You asked for it, and nothing that is there does it."


def lacks(scratch: Scratch) -> bool:
    """Whether this turn came to nothing because an executor is missing that could be made for whoever asks."""
    request, plan = scratch.request, scratch.plan
    if plan is None or plan.kind is not Kind.NOTHING or scratch.state is not State.NOTHING or not plan.unmet:
        return False
    if not request.principal.may_answer or request.dry_run or scratch.continues or scratch.made:
        return False
    if scratch.remembered or scratch.taken or len(request.text) > LONGEST:
        return False
    return not any(_is_beyond(wish.name, request.text) for wish in plan.wishes)


def need(scratch: Scratch) -> Need:
    """What is to be made, in the owner's own words. It keeps the name of the wish if they said that verb."""
    text = " ".join(scratch.request.text.split())
    wish = scratch.plan.wishes[0] if scratch.plan and scratch.plan.wishes else None
    return Need(
        text,
        Way.EXTERNAL,
        name=wish.name if wish and _says(wish.name, text) else "",
        inputs=wish.inputs if wish else (),
        outputs=wish.outputs if wish else (),
        errors=wish.errors if wish else (),
        evidence=Evidence(turns=(scratch.request.id,), uses=1, says=_SAYS),
    )


def _is_beyond(name: str, text: str) -> bool:
    """Whether that is out of reach. A verb counts if it was said: wishes are often named by what sounds alike."""
    verb, thing, *_ = name.split("_")
    return thing in BEYOND_OBJECTS or (verb in BEYOND_VERBS and _says(name, text))


def _says(name: str, text: str) -> bool:
    """Whether a request says the verb of a name."""
    verb = name.partition("_")[0]
    return any(vocabulary.canonical_verb(word) == verb for word in re.findall(r"[^\W\d_]+", text))
