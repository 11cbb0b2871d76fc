"""What a dream made, on its way to the facts: through admission like everything else, believed as little as can be.

Rules: a product that was dreamt before stays as it is, whatever became of it, because dreaming a thing again does not
make it truer. What a model says about two facts is text from outside: one line, short, screened; if it does not pass,
the plain statement of both stands.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum

from metnos.core.clock import Clock
from metnos.core.embedding import Embedder
from metnos.core.errors import ModelError
from metnos.grimoire import poison
from metnos.grimoire.dream_fate import AS
from metnos.grimoire.dream_rules import Product, Shape
from metnos.grimoire.episode import Provenance, Scope
from metnos.grimoire.fact import Decay, Fact
from metnos.grimoire.fact_rules import OURS
from metnos.grimoire.facts import Facts
from metnos.grimoire.facts_admit import Outcome
from metnos.grimoire.recombine import RecombineRules, chains, pairs

Think = Callable[[Sequence[str]], str]  # says in one line what these statements have to do with one another
# Whose memories are dreamt of: what is bound to one conversation or one stranger must not come out as the owner's.
SCOPES = (Scope.OWNER, Scope.AGENT, Scope.SHARED)
_LONGEST = 300  # characters of what a model says


class Took(StrEnum):
    """What became of a product."""

    ADMITTED = "admitted"
    KNOWN = "known"
    REFUSED = "refused"


_TOOK = {
    Outcome.MERGED: Took.KNOWN,
    Outcome.KNOWN: Took.REFUSED,
    Outcome.REJECTED: Took.REFUSED,
    Outcome.POISONED: Took.REFUSED,
}


class Maker:
    """Makes facts of products."""

    def __init__(
        self, facts: Facts, clock: Clock, embedder: Embedder | None, think: Think | None, rules: RecombineRules
    ) -> None:
        self._facts = facts
        self._clock = clock
        self._embedder = embedder
        self._think = think
        self._rules = rules

    def joined(self, count: int) -> list[Product]:
        """What comes of facts that were never used together: causes first, then meanings, in equal parts."""
        found = self._facts.find(scopes=SCOPES, count=self._rules.most)
        known = [fact for fact in found if fact.sender in OURS]
        linked = self._facts.db.query("SELECT src, dst FROM fact_links WHERE relation = 'used_with'")
        used = {frozenset(pair) for pair in linked}
        vectors = self._facts.vectors_of([fact.id for fact in known])

        def together(one: str, other: str) -> bool:
            return frozenset((one, other)) in used

        def likeness(one: str, other: str) -> float:
            return float(vectors[one] @ vectors[other]) if one in vectors and other in vectors else 0.0

        caused = chains(known, together, self._rules)[: count // 2]
        return [*caused, *pairs(known, likeness, together, self._rules)[: count - len(caused)]]

    def ready(self, product: Product) -> Product:
        """The product as it will be told: a model may put a pair into words, if there is one and it does it well."""
        if self._think is None or product.shape is not Shape.PAIR:
            return product
        try:
            said = self._think([fact.text for fact in self._facts.get(product.facts)])
        except ModelError:
            return product
        line = " ".join(said[: 4 * _LONGEST].split())[:_LONGEST]
        return replace(product, text=line) if line and not poison.screen(said).is_poison else product

    def take(self, product: Product) -> Took:
        """Let a product be admitted, inside the caller's transaction."""
        name = _name(product)
        if self._facts.get([name]):
            return Took.KNOWN
        vector, space = None, None
        if self._embedder is not None and self._facts.space in (self._embedder.space, None):
            vector, space = self._embedder.embed([product.text])[0], self._embedder.space
        return _TOOK.get(self._facts.admit(self._fact(product, name), vector, space).outcome, Took.ADMITTED)

    def was_used(self, dream: Fact) -> bool:
        """Whether two facts that may belong together were used together since."""
        joined = dream.data.get("facts")
        if dream.data.get("shape") != Shape.PAIR or not isinstance(joined, list) or len(joined) != 2:
            return False
        return joined[1] in self._facts.links(str(joined[0]), "used_with")

    def _fact(self, product: Product, name: str) -> Fact:
        now, rules = self._clock.now(), self._facts.rules
        return Fact(
            id=name,
            kind=product.kind,
            text=product.text,
            domain=product.domain,
            confidence=rules.dream,
            quality=0.0,  # admission says it
            provenance=Provenance.DREAM,
            decay=Decay.EPHEMERAL,
            created=now,
            reinforced=now,
            applied=now,
            subject=product.subject,
            value=product.value,
            data={**product.data, AS: str(product.kind), "facts": list(product.facts)},
            sources=product.sources,
            episode_count=len(product.sources),
            confirm_by=now + timedelta(days=rules.confirm_days),
        )


def _name(product: Product) -> str:
    """The same dream has the same id, and it looks like any other."""
    return f"0{product.key[:25].upper()}"
