"""What a cycle may replay: the new episodes that wait, and some old ones to mix in. Read-only.

Old ones are those that stood out when they were new (`notable`: what is rare must not be lost among what is usual),
what was last known of the domains that are new now, and some from anywhere in the past, so that nothing is out of reach
for good. Rule: reads so many notable ones and about twice as many others as can be chosen, wherever they lie, so its
cost follows what is new and not what is stored. The same cycle offers the same.
"""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from metnos.grimoire.domain import Domain
from metnos.grimoire.episode import Episode, Verdict, Where
from metnos.grimoire.episodes import ANY, Episodes
from metnos.grimoire.learning import audience, may_teach
from metnos.grimoire.replay import Chosen, ReplayRules, choose, priority

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


_ONE_IN = 5  # of the new ones stands out


class Offering:
    """Looks for what can be replayed, and chooses."""

    def __init__(self, episodes: Episodes, domain: Domain, rules: ReplayRules, pools: int) -> None:
        self._episodes = episodes
        self._domain = domain
        self._rules = rules
        self._pools = pools

    def choose(
        self, fresh: Sequence[str], notable: Sequence[str], before: int, cycle: int
    ) -> "tuple[Chosen, Mapping[str, Vector]]":
        """What is replayed in a cycle, of what waits and of what was taken in up to ``before``; with the vectors."""
        new = [each for each in self._episodes.get(fresh) if may_teach(each)]
        wanted = round(min(len(new), self._rules.batch) * (1 - self._rules.recent_share) / self._rules.recent_share)
        known = {each.id for each in new}
        offered = [*self._episodes.get(notable if wanted else ()), *self._past(new, wanted, before, cycle)]
        old = [each for each in offered if may_teach(each) and each.id not in known]
        vectors = self._episodes.vectors_of([each.id for each in (*new, *old)])
        key = {each.id: f"{audience(each)} {self._domain.key_of(each)}" for each in (*new, *old)}
        return choose(new, old, self._nearness(new, old, key, vectors), key, self._rules), vectors

    def _past(self, new: Sequence[Episode], wanted: int, before: int, cycle: int) -> list[Episode]:
        if not wanted or before < 1:
            return []
        domains = Counter(each.domain for each in new if each.domain).most_common(self._pools)
        total = sum(count for _, count in domains)
        found: dict[str, Episode] = {}
        for domain, count in domains:
            where = Where(domains=(domain,), verdicts=(Verdict.VERIFIED,))
            share = math.ceil(wanted * count / total)
            for each in self._episodes.select(where, after=before + 1, count=share, newest_first=True):
                found[each.id] = each
        chance = random.Random(cycle)  # noqa: S311 -- for variety, not for secrecy
        for _ in range(wanted):
            for each in self._episodes.select(ANY, after=chance.randrange(before), count=1):
                if each.seq <= before:
                    found[each.id] = each
        return list(found.values())

    def _nearness(
        self, new: Sequence[Episode], old: Sequence[Episode], key: Mapping[str, str], vectors: "Mapping[str, Vector]"
    ) -> dict[str, float]:
        """How near each old one is to the middle of what is new in its domain."""
        import numpy as np

        middles: dict[str, Vector] = {}
        for each in new:
            if each.id in vectors:
                middles[key[each.id]] = middles.get(key[each.id], np.float32(0)) + vectors[each.id]
        return {
            each.id: float(vectors[each.id] @ middle) / (float(np.linalg.norm(middle)) or 1.0)
            for each in old
            if each.id in vectors and (middle := middles.get(key[each.id])) is not None
        }


def notable(chosen: Chosen, before: Sequence[str], rules: ReplayRules, most: int) -> list[str]:
    """What stands out of what is new, and what did before; the latest of them, the oldest first."""
    best = sorted(chosen.recent, key=lambda each: (-priority(each, rules), each.seq))
    standing_out = {each.id for each in best[: math.ceil(len(best) / _ONE_IN)]}
    kept = [each.id for each in chosen.recent if each.id in standing_out]
    return [*(each for each in before if each not in standing_out), *reversed(kept)][-most:]
