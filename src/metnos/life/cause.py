"""Why a life ended. In a file of its own: the clocks decide it, and a testament tells it."""

from enum import StrEnum


class Cause(StrEnum):
    """Why a life is over. The owner's word is none of the clocks': only retiring gives it."""

    OWNER = "owner"  # retired
    ECONOMIC = "economic"  # nothing is left to live on
    EPISTEMIC = "epistemic"  # what it knows is more often wrong than right: senescence
    STOCHASTIC = "stochastic"  # the dice, or the limit of age
