"""How many tokens each block may have: seed 003's table for a task and a phase, scaled to the model's real window.

The seed's three tasks are those of its own trade; a home's have their shapes: a plan needs what is at hand (as a trade
needs the positions), an answer needs what happened (as an anomaly does), a summary needs what is to be summarised, and
a reflection has the general table. The numbers are for a window of 8,192; greater windows get more, but not without
end, because more that is not needed makes answers worse.

Rules (property-tested): blocks and the reserve for the reply together never exceed the window; a later phase never gets
more than an earlier one; what is learnt about a block (`metnos.context.quality`) moves its share and never the sum.
The phase is an input: Thriving until a life says otherwise. Pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from metnos.context.blocks import ESSENTIAL, Kind


class Phase(StrEnum):
    THRIVING = "thriving"
    STABLE = "stable"
    CONSERVATION = "conservation"
    DECLINING = "declining"
    TERMINAL = "terminal"


class Task(StrEnum):
    """What the model is asked to do."""

    PLAN = "plan"
    ANSWER = "answer"
    SUMMARISE = "summarise"
    REFLECT = "reflect"


@dataclass(frozen=True, slots=True)
class Shape:
    """Tokens of each block in the seed's window; ``great`` gets the share ``part`` of all instead; then the reserve."""

    tokens: Mapping[Kind, int]
    great: Kind
    part: float
    reserve: int


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers."""

    window: int = 8192  # the seed's window
    total: int = 3200  # its total for that window, the reserve included
    greatest: float = 4.0  # times the seed's total, however great the window: a full one is read worse, and costs more
    learnt: float = 0.5  # how far what is learnt may move a share, down or up


DEFAULT = Rules()
# Seed 003, with Conservation settled at 0.7.
FACTORS = {
    Phase.THRIVING: 1.0,
    Phase.STABLE: 0.8,
    Phase.CONSERVATION: 0.7,
    Phase.DECLINING: 0.6,
    Phase.TERMINAL: 0.4,
}
SHAPES = {
    # Seed: trade evaluation. What is at hand: the tools; positions' 200 otherwise go to the situation.
    Task.PLAN: Shape(
        {
            Kind.HEAD: 400,
            Kind.REQUEST: 200,
            Kind.SITUATION: 100,
            Kind.MOOD: 100,
            Kind.CONVERSATION: 200,
            Kind.RESULTS: 400,
            Kind.EPISODES: 400,
            Kind.FACTS: 200,
            Kind.PLAYBOOK: 100,
            Kind.GRAPH: 150,
            Kind.INSTRUCTION: 250,
        },
        Kind.TOOLS,
        1 / 4,
        600,
    ),
    # Seed: anomaly investigation. A third is for what happened.
    Task.ANSWER: Shape(
        {
            Kind.HEAD: 400,
            Kind.REQUEST: 300,
            Kind.SITUATION: 100,
            Kind.MOOD: 100,
            Kind.TOOLS: 200,
            Kind.CONVERSATION: 200,
            Kind.RESULTS: 600,
            Kind.FACTS: 200,
            Kind.PLAYBOOK: 100,
            Kind.GRAPH: 200,
            Kind.INSTRUCTION: 200,
        },
        Kind.EPISODES,
        1 / 3,
        500,
    ),
    # Seed: routine monitoring. The great share is for what is to be summarised.
    Task.SUMMARISE: Shape(
        {
            Kind.HEAD: 400,
            Kind.REQUEST: 150,
            Kind.SITUATION: 100,
            Kind.MOOD: 80,
            Kind.CONVERSATION: 100,
            Kind.EPISODES: 400,
            Kind.FACTS: 300,
            Kind.PLAYBOOK: 100,
            Kind.GRAPH: 100,
            Kind.INSTRUCTION: 150,
        },
        Kind.RESULTS,
        1 / 3,
        400,
    ),
    # Seed: the general table.
    Task.REFLECT: Shape(
        {
            Kind.HEAD: 500,
            Kind.REQUEST: 200,
            Kind.SITUATION: 300,
            Kind.MOOD: 100,
            Kind.RESULTS: 200,
            Kind.FACTS: 400,
            Kind.PLAYBOOK: 200,
            Kind.GRAPH: 200,
            Kind.INSTRUCTION: 200,
        },
        Kind.EPISODES,
        1 / 4,
        500,
    ),
}


@dataclass(frozen=True, slots=True)
class Allocation:
    """What each block may have, what is kept for the reply, and how many tokens there are for all blocks together."""

    task: Task
    phase: Phase
    blocks: Mapping[Kind, int]
    reserve: int
    room: int
    window: int


def allocate(
    task: Task,
    window: int,
    *,
    phase: Phase = Phase.THRIVING,
    learnt: Mapping[Kind, float] | None = None,
    reserve: int = 0,
    rules: Rules = DEFAULT,
    shapes: Mapping[Task, Shape] = SHAPES,
) -> Allocation:
    """The budget of one call. ``learnt``: factors by kind; ``reserve``: tokens that the reply is asked for with;
    ``shapes``: those of the walk of life."""
    shape = shapes[task]
    scale = min(window / rules.window, rules.greatest)
    total = int(min(rules.total * scale * FACTORS[phase], window))
    kept = min(max(reserve, int(shape.reserve * scale * FACTORS[phase])), window // 2)
    room = max(min(total, window - kept), 0)
    asked = {kind: tokens * scale * FACTORS[phase] for kind, tokens in shape.tokens.items()}
    asked[shape.great] = total * shape.part
    moved = {kind: tokens * _factor(learnt, kind, rules) for kind, tokens in asked.items()}
    shrink = min(room / max(sum(moved.values()), 1.0), 1.0)
    blocks = {kind: int(tokens * shrink) for kind, tokens in moved.items()}
    return Allocation(task, phase, blocks, kept, room, window)


def _factor(learnt: Mapping[Kind, float] | None, kind: Kind, rules: Rules) -> float:
    """What is learnt about a block, within bounds; about what can not be left out nothing is."""
    if learnt is None or kind in ESSENTIAL:
        return 1.0
    return min(max(learnt.get(kind, 1.0), 1 - rules.learnt), 1 + rules.learnt)
