"""Episodes that belong together: by domain first, then by meaning inside a domain.

Rules: deterministic, whatever the order of what is given; every episode is in one domain; a cluster has at least three
episodes, because two make no pattern; episodes without a vector are in their domain and in no topic.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metnos.grimoire.domain import Domain
from metnos.grimoire.episode import Episode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ClusterRules:
    """When things belong together."""

    least: int = 3  # seed 003: fewer are not enough to see a pattern
    near: float = 0.6  # a cosine; paraphrases lie above it with the embedders we know, other topics of a home below


RULES = ClusterRules()


@dataclass(frozen=True, slots=True)
class Cluster:
    """Episodes in order of taking in. ``topics`` are the groups of near ones inside it, the oldest first."""

    key: str
    episodes: tuple[Episode, ...]
    topics: tuple[tuple[Episode, ...], ...] = ()


def clusters(
    episodes: Sequence[Episode], vectors: Mapping[str, "Vector"], domain: Domain, rules: ClusterRules = RULES
) -> list[Cluster]:
    """The clusters of these episodes, in order of their keys."""
    grouped: dict[str, list[Episode]] = defaultdict(list)
    for episode in sorted({each.id: each for each in episodes}.values(), key=lambda each: (each.seq, each.id)):
        grouped[domain.key_of(episode)].append(episode)
    return [
        Cluster(key, tuple(group), tuple(topics(group, vectors, rules)))
        for key, group in sorted(grouped.items())
        if len(group) >= rules.least
    ]


def topics(
    group: Sequence[Episode], vectors: Mapping[str, "Vector"], rules: ClusterRules = RULES
) -> list[tuple[Episode, ...]]:
    """Groups of near episodes: each joins the nearest group that is near enough, or begins one."""
    import numpy as np

    members: list[list[Episode]] = []
    sums: list[Vector] = []
    for episode in group:
        vector = vectors.get(episode.id)
        if vector is None:
            continue
        nearness = [float(vector @ total) / (float(np.linalg.norm(total)) or 1.0) for total in sums]
        best = max(range(len(nearness)), key=nearness.__getitem__, default=-1)
        if best >= 0 and nearness[best] >= rules.near:
            members[best].append(episode)
            sums[best] = sums[best] + vector
        else:
            members.append([episode])
            sums.append(np.asarray(vector, dtype=np.float32))
    return [tuple(each) for each in members if len(each) >= rules.least]
