"""Affect: a point in pleasure, arousal and dominance. This file only says what a point is; `appraisal` makes them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pad:
    """Pleasure, arousal, dominance, each from -1 to 1."""

    pleasure: float = 0.0
    arousal: float = 0.0
    dominance: float = 0.0


NEUTRAL = Pad()
