"""What was never thought together: pure rules by which a dream joins two facts.

Two ways: causes that link up (A brings B, B brings C), and facts of two domains whose meanings are near one another but
not the same. Rules: only what is believed is joined, and never a dream that nothing confirmed, so that no dream rests
on a dream; facts that were used together once are known to be connected, and are left alone. The same facts give the
same products, the most promising first.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from metnos.grimoire.dream_rules import Product, Shape
from metnos.grimoire.episode import Provenance
from metnos.grimoire.exchange_strangers import is_imported
from metnos.grimoire.fact import Fact, Kind, Standing

Together = Callable[[str, str], bool]  # whether two facts were ever used together


@dataclass(frozen=True, slots=True)
class RecombineRules:
    """Which facts are joined. No source gives a number."""

    known: float = 0.5  # from here on a fact is worth being joined: the lower end of what was learnt by oneself
    near: float = 0.35  # cosines between which two facts have something to do with one another ...
    same: float = 0.85  # ... and are not the same
    most: int = 300  # facts that are looked at, the most believed first: pairs grow with the square


def chains(facts: Sequence[Fact], together: Together, rules: RecombineRules) -> list[Product]:
    """A brings B and B brings C: does A bring C? Only of facts that were never used together."""
    causal = [fact for fact in _worth(facts, rules) if fact.kind is Kind.CAUSAL and _ends(fact) is not None]
    known = {(fact.domain, *(_ends(fact) or ("", ""))) for fact in facts if fact.kind is Kind.CAUSAL}
    found = []
    for one in causal:
        for other in causal:
            (cause, middle), (again, effect) = _ends(one) or ("", ""), _ends(other) or ("", "")
            new = middle == again and cause != effect and (one.domain, cause, effect) not in known
            if not new or one.id == other.id or together(one.id, other.id):
                continue
            data = {
                "shape": str(Shape.CHAIN),
                "cause": cause,
                "effect": effect,
                "through": middle,
                "lag": _number(one.data.get("lag")) + _number(other.data.get("lag")),
                "count": int(min(_number(one.data.get("count")), _number(other.data.get("count")))),
            }
            text = f"{cause} may bring {effect}, because it brings {middle}."
            sources = tuple(dict.fromkeys((*one.sources, *other.sources)))
            subject = f"{one.domain}: {cause} to {effect}"
            made = Product(Shape.CHAIN, Kind.CAUSAL, text, one.domain, subject, "follows", data, sources)
            found.append(replace(made, facts=(one.id, other.id), weight=one.confidence * other.confidence))
    return sorted(found, key=lambda product: (-product.weight, product.key))


def pairs(
    facts: Sequence[Fact], likeness: Callable[[str, str], float], together: Together, rules: RecombineRules
) -> list[Product]:
    """Facts of two domains whose meanings are near one another but not the same."""
    worth = [fact for fact in _worth(facts, rules) if fact.kind not in (Kind.BASELINE, Kind.CAUSAL)]
    found = []
    for place, one in enumerate(worth):
        for other in worth[place + 1 :]:
            near = likeness(one.id, other.id)
            if one.domain == other.domain or not rules.near <= near < rules.same or together(one.id, other.id):
                continue
            first, second = sorted((one, other), key=lambda fact: fact.id)
            found.append(
                Product(
                    *(Shape.PAIR, Kind.INSIGHT, f"These may belong together: {first.text} And: {second.text}"),
                    *(f"{first.domain} and {second.domain}", f"{first.id} with {second.id}", "together"),
                    {"shape": str(Shape.PAIR), "near": round(near, 4)},
                    tuple(dict.fromkeys((*first.sources, *second.sources))),
                    facts=(first.id, second.id),
                    weight=one.confidence * other.confidence * near,
                )
            )
    return sorted(found, key=lambda product: (-product.weight, product.key))


def _worth(facts: Sequence[Fact], rules: RecombineRules) -> list[Fact]:
    """What is believed, counts, and was not itself dreamt and never confirmed: no dream is built on a dream."""
    return [
        fact
        for fact in sorted(facts, key=lambda each: (-each.confidence, each.id))[: rules.most]
        if fact.standing is Standing.ACTIVE
        and not is_imported(fact.sender)
        and fact.confidence >= rules.known
        and (fact.provenance is not Provenance.DREAM or fact.confirm_by is None)
    ]


def _ends(fact: Fact) -> tuple[str, str] | None:
    cause, effect = fact.data.get("cause"), fact.data.get("effect")
    return (cause, effect) if isinstance(cause, str) and isinstance(effect, str) and cause and effect else None


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0
