"""Where the nodes of a picture stand: pure geometry, and the same answer for the same graph.

Rules: what is joined by much stands close, and what feeds something stands before it (left of it in a wide picture,
above it in a tall one); no two boxes overlap, whatever the graph is like. A box is a circle with its name below it.
Does not guarantee that lines cross as little as they could, nor that no line runs behind a name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

_ROUNDS = 120  # of gathering: the picture moves by less than a pixel after about 80
_FLOW = 1.1  # how much "before" counts against "close": at 0 the picture has no direction, at 5 it is a column
_PUSHES = 400  # rounds of pushing apart before the whole picture is made larger instead
_ROOM = 1.6  # how many times the boxes' own area the picture has, so that lines have somewhere to go
_LOOSEST = 2.2  # how much wider than it came out a picture may be stretched to fit its frame
_APART = 10  # pixels between islands
_HAIR = 0.5  # pixels that stay between two boxes, so that rounding cannot join them
_PAST = 0.1  # pixels: a push goes a little further than it must, or the last of them would never end


@dataclass(frozen=True, slots=True)
class Box:
    """What one node takes of the paper, in pixels."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Link:
    """An arrow between two boxes, by their place in the list. The weight is from 0 to 1."""

    src: int
    dst: int
    weight: float


def place(
    boxes: Sequence[Box], links: Sequence[Link], *, aspect: float, down: bool = False
) -> list[tuple[float, float]]:
    """The middle of each box. ``aspect`` is width by height; ``down`` lets things flow from top to bottom."""
    if not boxes:
        return []
    import numpy as np  # a tenth of a second that only a picture pays

    sizes = np.array([(each.width, each.height) for each in boxes])
    parts = sorted(_islands(len(boxes), links), key=lambda part: (-len(part), part))
    points = np.zeros((len(boxes), 2))
    corners, extents = [], []
    for part in parts:
        own = {index: number for number, index in enumerate(part)}
        within = [Link(own[link.src], own[link.dst], link.weight) for link in links if link.src in own]
        gathered = _gather(len(part), within, axis=1 if down else 0)
        points[part] = _part(_spread(gathered, sizes[part], aspect), sizes[part])
        corners.append((points[part] - sizes[part] / 2).min(axis=0))
        extents.append((points[part] + sizes[part] / 2).max(axis=0) - corners[-1])
    for part, corner, at in zip(parts, corners, _shelves(extents, aspect, down), strict=True):
        points[part] += at - corner
    if not down:  # a tall picture is scrolled, and need not be taller than it is
        points = _fill(points, sizes, aspect)
    low = (points - sizes / 2).min(axis=0)
    return [(round(float(x), 1), round(float(y), 1)) for x, y in points - low]


def _islands(count: int, links: Sequence[Link]) -> list[list[int]]:
    """What hangs together, each in order."""
    home = list(range(count))
    for link in links:
        one, two = home[link.src], home[link.dst]
        if one != two:
            home = [one if each == two else each for each in home]
    found: dict[int, list[int]] = {}
    for index, each in enumerate(home):
        found.setdefault(each, []).append(index)
    return list(found.values())


def _shelves(extents: Sequence["Numbers"], aspect: float, down: bool) -> list["Numbers"]:
    """Where the corner of each island goes: the largest first, the others after it on shelves as long as the frame."""
    import numpy as np

    along, across = (0, 1) if down else (1, 0)
    area = sum(float(np.prod(extent)) for extent in extents)
    length = max(float(extents[0][along]), (area * (aspect if down else 1 / aspect)) ** 0.5)
    at, shelf, deep, corners = np.zeros(2), 0.0, 0.0, []
    for extent in extents:
        if at[along] > 0 and at[along] + extent[along] > length + _HAIR:
            shelf, deep = shelf + deep + _APART, 0.0
            at = np.zeros(2)
        at[across] = shelf
        corners.append(at.copy())
        at[along] += extent[along] + _APART
        deep = max(deep, extent[across])
    return corners


def _gather(count: int, links: Sequence[Link], axis: int) -> "Numbers":
    """Each pair as far apart as it is in the graph (least stress), each arrow one step along ``axis``."""
    import numpy as np

    apart = _distances(count, links)
    pull = 1 / np.square(apart + np.eye(count)) * (1 - np.eye(count))
    still = np.diag(pull.sum(axis=1)) - pull
    flowing, ahead = still.copy(), np.zeros(count)
    for link in links:
        if link.src != link.dst:
            strength = _FLOW * (0.25 + link.weight)
            one, two = link.src, link.dst
            flowing[[one, two], [one, two]] += strength
            flowing[[one, two], [two, one]] -= strength
            ahead[one] -= strength
            ahead[two] += strength
    freely, with_flow = np.linalg.pinv(still), np.linalg.pinv(flowing)
    turns = np.arange(count) * 2.399963  # the golden angle: a start in which no two stand at the same place
    points = np.stack([np.cos(turns), np.sin(turns)], axis=1) * np.sqrt(np.arange(count) + 1.0)[:, None]
    for _ in range(_ROUNDS):
        now = np.linalg.norm(points[:, None] - points[None], axis=2)
        ratio = pull * apart / np.maximum(now, 1e-9)
        wanted = np.diag(ratio.sum(axis=1)) - ratio
        moved = freely @ (wanted @ points)
        moved[:, axis] = with_flow @ (wanted @ points[:, axis] + ahead)
        points = moved
    found: Numbers = points
    return found


def _distances(count: int, links: Sequence[Link]) -> "Numbers":
    """The shortest way between each two, strong arrows being short."""
    import numpy as np

    apart = np.full((count, count), np.inf)
    np.fill_diagonal(apart, 0.0)
    for link in links:
        if link.src != link.dst:
            length = 1.5 - 0.7 * link.weight
            for pair in ((link.src, link.dst), (link.dst, link.src)):
                apart[pair] = min(apart[pair], length)
    for middle in range(count):
        apart = np.minimum(apart, apart[:, middle, None] + apart[None, middle])
    return apart


def _spread(points: "Numbers", sizes: "Numbers", aspect: float) -> "Numbers":
    """From steps to pixels: as large as the boxes need together, in about the shape of the frame."""
    import numpy as np

    spans = np.maximum(np.ptp(points, axis=0), 0.5)  # two in a row have no height of their own
    area = float(np.prod(sizes, axis=1).sum()) * _ROOM
    width = (area * aspect) ** 0.5
    wanted = np.array([width, width / aspect]) / spans
    middle = float(np.sqrt(wanted.prod()))
    scale = np.clip(wanted, middle / _LOOSEST, middle * _LOOSEST)
    spread: Numbers = points * scale
    return spread


def _fill(points: "Numbers", sizes: "Numbers", aspect: float) -> "Numbers":
    """Let the picture out to the shape of its frame; what only grows cannot overlap."""
    import numpy as np

    spans = np.ptp(points, axis=0) + sizes.max(axis=0)
    wider = float(aspect * spans[1] / spans[0])
    grown: Numbers = points * np.clip(np.array([wider, 1 / wider]), 1.0, _LOOSEST)
    return grown


def _part(points: "Numbers", sizes: "Numbers") -> "Numbers":
    """Push overlapping boxes apart, each pair along the way that is shorter, until there is none."""
    import numpy as np

    count = len(sizes)
    reach = (sizes[:, None] + sizes[None]) / 2 + _HAIR
    order = np.sign(np.arange(count)[None] - np.arange(count)[:, None])  # which way, where two coincide
    while True:
        for _ in range(_PUSHES):
            gap = points[None] - points[:, None]
            lapping = reach - np.abs(gap)
            hit = (lapping > 0).all(axis=2) & ~np.eye(count, dtype=bool)
            if not hit.any():
                return points
            side = np.where(gap == 0, order[:, :, None], np.sign(gap))
            flat = lapping[:, :, 0] <= lapping[:, :, 1]
            ways = np.stack([flat, ~flat], axis=2) & hit[:, :, None]
            points = points - np.where(ways, side * (lapping + _PAST), 0.0).sum(axis=1) / 2
        points = points * 1.08
