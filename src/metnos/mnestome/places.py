"""Where the nodes of a large graph stand on a map: pure geometry, and the same answer for the same graph.

Each name has a place of its own to begin with, taken from its letters; what is joined pulls, and everything pushes. Who
is joined to whom is all that counts, not how strongly, so that a graph that only fades stays where it is. Of a very
large graph the middle is computed, and the rest is put beside what it is joined to; so is what is added to a map that
is there already, and nothing that stood on it moves.

Rules: places lie within 1 of the middle; no two are exactly the same. Does not guarantee that names do not overlap:
`metnos.mnestome.layout` does, for small graphs.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

Point = tuple[float, float]
Pair = tuple[str, str]

MOST = 400  # nodes that are computed: the work grows with their square
_ROUNDS = 160  # after about 120 the map moves by less than a hundredth
_PUSH = 0.6  # how strongly things push one another: at a tenth of it hubs lie on top of what they are joined to
_GRAVITY = 0.9  # towards the middle, or islands would drift away
_STEP = 0.12  # how far a node may go in the first round; less and less after it
_BESIDE = 0.05  # how far from its neighbours something is put that was not computed
_DIGITS = 4


def placed(names: Sequence[str], pairs: Iterable[Pair]) -> dict[str, Point]:
    """A place for each name. ``pairs`` says what is joined; how often it says so does not matter."""
    joined = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    ends = Counter(end for pair in joined for end in pair)
    every = sorted(set(names))
    middle = sorted(sorted(every, key=lambda name: (-ends[name], name))[:MOST])
    found = _settled(middle, joined) if middle else {}
    return extended(found, every, joined)


def extended(known: Mapping[str, Point], names: Iterable[str], pairs: Iterable[Pair]) -> dict[str, Point]:
    """A place for each name: where it stands already, else beside what it is joined to, else at the edge."""
    beside: dict[str, list[str]] = {}
    for one, two in pairs:
        beside.setdefault(one, []).append(two)
        beside.setdefault(two, []).append(one)
    wanted = sorted(set(names))
    found = {name: known[name] for name in wanted if name in known}
    left = [name for name in wanted if name not in known]
    while left:
        near = {name: [found[each] for each in sorted(set(beside.get(name, ()))) if each in found] for name in left}
        reached = [name for name in left if near[name]] or left  # what nothing leads to goes to the edge
        found |= {name: _beside(name, near[name]) for name in reached}
        left = [name for name in left if name not in found]
    return _apart(found)


def _beside(name: str, near: Sequence[Point]) -> Point:
    angle, far = _turned(name)
    if not near:
        return _rounded(math.cos(angle), math.sin(angle))
    count = len(near)
    x, y = sum(point[0] for point in near) / count, sum(point[1] for point in near) / count
    reach = _BESIDE * (0.4 + 0.6 * far)
    x, y = x + reach * math.cos(angle), y + reach * math.sin(angle)
    over = max(1.0, math.hypot(x, y))
    return _rounded(x / over, y / over)


def _turned(name: str) -> tuple[float, float]:
    """An angle, and a number from 0 to 1, that a name always has."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4]) / 2**32 * math.tau, int.from_bytes(digest[4:8]) / 2**32


def _settled(names: Sequence[str], joined: Iterable[Pair]) -> dict[str, Point]:
    """Let go, and come to rest."""
    import numpy as np  # a tenth of a second that only a map pays

    count, index = len(names), {name: number for number, name in enumerate(names)}
    pull = np.zeros((count, count))
    for one, two in joined:
        if one in index and two in index:
            pull[index[one], index[two]] = pull[index[two], index[one]] = 1.0
    degree = pull.sum(axis=1)
    # What is joined to much pushes more and is pulled by each of them less, or all would hang on a few.
    pull /= np.sqrt(np.maximum(1.0, np.outer(degree, degree)))
    mass = np.sqrt(1.0 + degree)
    push = _PUSH / count * np.outer(mass, mass)
    turns = [_turned(name) for name in names]
    points = np.array([(math.sqrt(far) * math.cos(turn), math.sqrt(far) * math.sin(turn)) for turn, far in turns])
    still = pull.sum(axis=1)[:, None]
    for number in range(_ROUNDS):
        forces = pull @ points - still * points - _GRAVITY * points * mass[:, None] / mass.max()
        forces += _pushed(points, push)
        length = np.linalg.norm(forces, axis=1, keepdims=True)
        reach = _STEP * (1 - number / _ROUNDS)
        points = points + forces / np.maximum(length, 1e-9) * np.minimum(length * reach, reach)
    points = points - (points.max(axis=0) + points.min(axis=0)) / 2
    points /= max(float(np.linalg.norm(points, axis=1).max()), 1e-9)
    return {name: _rounded(x, y) for name, (x, y) in zip(names, points.tolist(), strict=True)}


def _pushed(points: "Numbers", push: "Numbers") -> "Numbers":
    import numpy as np

    squares = np.square(points).sum(axis=1)
    apart = squares[:, None] + squares[None] - 2 * points @ points.T
    strength = push / np.maximum(apart, 1e-4)
    np.fill_diagonal(strength, 0.0)
    pushed: Numbers = points * strength.sum(axis=1)[:, None] - strength @ points
    return pushed


def _apart(found: dict[str, Point]) -> dict[str, Point]:
    """Two that came to one place are put beside one another; the first stays."""
    taken: set[Point] = set()
    for name, point in found.items():
        while point in taken:
            point = _rounded(point[0], point[1] + 10**-_DIGITS)
        found[name] = point
        taken.add(point)
    return found


def _rounded(x: float, y: float) -> Point:
    return round(x, _DIGITS) + 0.0, round(y, _DIGITS) + 0.0  # no -0.0, which is another text for the same
