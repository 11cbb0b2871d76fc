"""The mnestome as a page to look at: one file that needs nothing else.

Rules: the page fetches nothing and may fetch nothing (its content policy allows its own style and script by their
digests and no more); names and tags are data in it, never markup. The places of the nodes are computed here, once for a
wide screen and once for a phone, so that the same graph gives the same picture. Only the heaviest of a very large graph
is drawn, and the page says how much is not.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

from metnos.mnestome.export import Edge, Graph, Node
from metnos.mnestome.layout import Box, Link, place

MOST_NODES = 150  # beyond it nobody reads a picture
_WIDE = 1.5  # width by height: what a desktop leaves for it
_PHONE = 330  # pixels: a phone's picture is as wide as the phone, and scrolls
_LETTER, _LINE = 7.0, 13.5  # pixels of a letter and of a line, at the page's 12 pixels, generously
_LONGEST, _BROKEN = 24, 13  # letters of a name in one line, and where a phone breaks it
_GAP = 14  # pixels between one thing and the next
_SMALL, _LARGE = 5.0, 18.0  # radius


def to_html(graph: Graph) -> str:
    """The whole page."""
    style, script = _part("picture.css"), _part("picture.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}';"
        " base-uri 'none'; form-action 'none'"
    )
    page = _part("picture.html")
    for name, text in (("policy", policy), ("style", style), ("script", script), ("data", _embedded(_data(graph)))):
        before, _, after = page.partition(f"@{name}@")  # the data comes last: nothing in it is looked at again
        page = before + text + after
    return page


def _data(graph: Graph) -> dict[str, Any]:
    nodes, bundles = _bundles(graph)
    index = {node.name: number for number, node in enumerate(nodes)}
    links = [Link(index[each[0].src], index[each[0].dst], each[0].weight) for each in bundles]
    most = max((node.traffic for node in nodes), default=0.0) or 1.0
    radii = [round(_SMALL + (_LARGE - _SMALL) * (node.traffic / most) ** 0.5, 1) for node in nodes]
    wide, wide_size = _laid_out(nodes, radii, links, broken=False)
    tall, tall_size = _laid_out(nodes, radii, links, broken=True)
    drawn = {each.id for bundle in bundles for each in bundle}
    return {
        "made": graph.made,
        "size": {"wide": wide_size, "tall": tall_size},
        "nodes": [
            asdict(node) | {"r": radius, "wide": one, "tall": two}
            for node, radius, one, two in zip(nodes, radii, wide, tall, strict=True)
        ],
        "links": [
            {"src": link.src, "dst": link.dst, "weight": link.weight, "mnests": [asdict(each) for each in bundle]}
            for link, bundle in zip(links, bundles, strict=True)
        ],
        "tags": sorted({tag for bundle in bundles for each in bundle for tag in each.tags}),
        "left_out": sum(each.id not in drawn for each in graph.edges),
    }


def _bundles(graph: Graph) -> tuple[list[Node], list[list[Edge]]]:
    """The nodes that are drawn, and their mnests by pair of names, the heaviest first."""
    kept = sorted(graph.nodes, key=lambda node: (-node.traffic, node.name))[:MOST_NODES]
    names = {node.name for node in kept}
    bundles: dict[tuple[str, str], list[Edge]] = {}
    for edge in graph.edges:
        if edge.src in names and edge.dst in names:
            bundles.setdefault((edge.src, edge.dst), []).append(edge)
    return sorted(kept, key=lambda node: node.name), list(bundles.values())


def _laid_out(
    nodes: Sequence[Node], radii: Sequence[float], links: Sequence[Link], *, broken: bool
) -> tuple[list[dict[str, Any]], tuple[float, float]]:
    """For each node its lines and where its circle stands, and how large the picture is."""
    labels = [_lines(node.name, _BROKEN if broken else _LONGEST) for node in nodes]
    boxes = [_box(lines, radius) for lines, radius in zip(labels, radii, strict=True)]
    tall = _PHONE**2 / max(sum(2 * box.width * box.height for box in boxes), 2 * _PHONE**2)
    points = place(boxes, links, aspect=tall if broken else _WIDE, down=broken)
    placed = [
        {"lines": lines, "at": (x, round(y - box.height / 2 + _GAP / 2 + radius, 1))}
        for lines, box, radius, (x, y) in zip(labels, boxes, radii, points, strict=True)
    ]
    width = max((x + box.width / 2 for box, (x, _) in zip(boxes, points, strict=True)), default=1.0)
    height = max((y + box.height / 2 for box, (_, y) in zip(boxes, points, strict=True)), default=1.0)
    return placed, (round(width, 1), round(height, 1))


def _box(lines: Sequence[str], radius: float) -> Box:
    width = max(2 * radius, max(map(len, lines)) * _LETTER)
    return Box(width + _GAP, 2 * radius + 5 + _LINE * len(lines) + _GAP)


def _lines(name: str, most: int) -> list[str]:
    """A name in one line, or in two where it is broken after a word; what is too long for both is cut."""
    if len(name) <= most:
        return [name]
    breaks = [at + 1 for at, char in enumerate(name) if char == "_" and at < most]
    if not breaks or most == _LONGEST:
        return [name[: most - 1] + "…"]
    first, rest = name[: breaks[-1]], name[breaks[-1] :]
    return [first, rest if len(rest) <= most else rest[: most - 1] + "…"]


def _embedded(data: Any) -> str:
    """JSON that may stand inside a script element: ASCII, and without anything HTML looks for."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _part(name: str) -> str:
    return resources.files("metnos.mnestome").joinpath(name).read_text(encoding="utf-8")
