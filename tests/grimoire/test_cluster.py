"""What belongs together: by domain, then by meaning."""

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grimoire.happened import PLAIN, turn
from metnos.grimoire.cluster import ClusterRules, clusters, topics
from metnos.grimoire.domain import HOME, Domain
from metnos.grimoire.episode import Episode


def near(axis: int, seed: int, dim: int = 16) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """A vector near one axis."""
    vector = np.random.default_rng(seed).normal(0, 0.05, dim)
    vector[axis] += 1
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def test_episodes_are_grouped_by_domain_and_two_are_no_cluster() -> None:
    files, mail = [turn(domain="files") for _ in range(3)], [turn(domain="mail") for _ in range(2)]
    (found,) = clusters([*mail, *files], {}, HOME)
    assert found.key == "files"
    assert [each.id for each in found.episodes] == [each.id for each in files]


def test_inside_a_domain_episodes_are_grouped_by_meaning() -> None:
    group = [turn() for _ in range(9)]
    vectors = {each.id: near(place % 3, place) for place, each in enumerate(group)}
    (found,) = clusters(group, vectors, HOME)
    assert [len(topic) for topic in found.topics] == [3, 3, 3]
    assert all(len({group.index(each) % 3 for each in topic}) == 1 for topic in found.topics)


def test_what_has_no_vector_is_in_its_domain_and_in_no_topic() -> None:
    group = [turn() for _ in range(4)]
    (found,) = clusters(group, {each.id: near(0, 1) for each in group[:3]}, HOME)
    assert len(found.episodes) == 4
    assert [len(topic) for topic in found.topics] == [3]


def test_the_order_in_which_episodes_are_given_does_not_matter() -> None:
    group = [turn(domain=chr(97 + place % 2)) for place in range(20)]
    vectors = {each.id: near(place % 4, place) for place, each in enumerate(group)}
    shuffled = list(group)
    random.Random(3).shuffle(shuffled)
    assert clusters(shuffled, vectors, HOME) == clusters(group, vectors, HOME)


@given(st.lists(PLAIN, max_size=30, unique_by=lambda each: each.id), st.integers(1, 5))
def test_every_episode_is_in_one_cluster_at_most_and_every_cluster_is_large_enough(
    group: list[Episode], least: int
) -> None:
    found = clusters(group, {}, HOME, ClusterRules(least=least))
    together = [each.id for cluster in found for each in cluster.episodes]
    assert len(together) == len(set(together))
    assert all(len(cluster.episodes) >= least and cluster.key for cluster in found)


def test_a_vector_of_nothing_breaks_nothing() -> None:
    group = [turn() for _ in range(3)]
    assert topics(group, {each.id: np.zeros(4, np.float32) for each in group}) == []


def test_another_walk_of_life_brings_its_own_key() -> None:
    market = Domain("market", ("payload.protocol",))
    group = [turn(payload={"protocol": "lending"}) for _ in range(3)]
    assert [each.key for each in clusters(group, {}, market)] == ["lending"]
