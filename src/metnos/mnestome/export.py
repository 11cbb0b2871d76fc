"""The mnestome for other programs: one record of the graph, and the formats it leaves in.

Rules: weights are those of one moment, which the export names. A node is an executor by name, an edge is one mnest, so
two versions of an executor are one node with several edges. Tags and wished names may be a language model's words: they
are escaped as each format demands, and what it cannot hold at all is shown as its number. The JSON keys are documented
(docs/mnestome.md) and only ever added to. Writes no file: it gives text.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from xml.etree import ElementTree

from metnos.core.clock import to_text
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.rules import State

REQUEST = "request"  # the source of a wish whose first step is what is missing
FORMAT = "metnos-mnestome"
REVISION = 1

COLOURS: Mapping[str, str] = {
    State.ACTIVE: "#1f7a8c",
    State.SEED: "#6f8f2f",
    State.DECAYING: "#c07f2b",
    State.PROTO: "#a0478a",
    State.SUPERSEDED: "#8a8f98",
}


class Kind(StrEnum):
    """What a node is."""

    EXECUTOR = "executor"
    WISHED = "wished"  # it does not exist
    REQUEST = "request"


@dataclass(frozen=True, slots=True)
class Edge:
    """One mnest, weighed at the export's moment. ``summary`` says what a wished executor should do."""

    id: str
    src: str
    src_version: str
    dst: str
    dst_version: str | None
    weight: float
    uses: int
    first: str
    used: str
    state: State
    decay_lambda: float
    tags: tuple[str, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One executor. ``traffic`` is what goes in and out of it: the sum of its mnests' weights."""

    name: str
    kind: Kind
    traffic: float = 0.0
    uses: int = 0
    versions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """The mnestome at one moment: nodes by name, the heaviest edge first."""

    made: str
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = field(default=())


def gather(mnests: Iterable[Mnest], now: datetime) -> Graph:
    """The graph of these mnests, with the weights they have now."""
    edges = sorted((_edge(each, now) for each in mnests), key=lambda each: (-each.weight, each.id))
    known: dict[str, list[Edge]] = {}
    for each in edges:
        known.setdefault(each.src, []).append(each)
        known.setdefault(each.dst, []).append(each)
    nodes = tuple(_node(name, touching) for name, touching in sorted(known.items()))
    return Graph(to_text(now), nodes, tuple(edges))


def to_json(graph: Graph) -> str:
    """Every node and every mnest, with documented keys."""
    data = {"format": FORMAT, "revision": REVISION, **asdict(graph)}
    return json.dumps(data, indent=2) + "\n"  # ASCII only: nothing in it can be obeyed by a terminal


def to_graphml(graph: Graph) -> str:
    """For yEd, Gephi, Cytoscape and networkx."""
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for place, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
        for name, kind in keys.items():
            attributes = {"id": f"{place}_{name}", "for": place, "attr.name": name, "attr.type": kind}
            ElementTree.SubElement(root, "key", attributes)
    drawn = ElementTree.SubElement(root, "graph", id="mnestome", edgedefault="directed")
    for node in graph.nodes:
        element = ElementTree.SubElement(drawn, "node", id=_xml(node.name))
        _add_data(element, "node", _NODE_KEYS, asdict(node))
    for edge in graph.edges:
        element = ElementTree.SubElement(drawn, "edge", id=_xml(edge.id), source=_xml(edge.src), target=_xml(edge.dst))
        _add_data(element, "edge", _EDGE_KEYS, asdict(edge))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def to_dot(graph: Graph) -> str:
    """For Graphviz: ``dot -Tsvg``."""
    lines = [
        "digraph mnestome {",
        f"  graph [rankdir=LR, label={_dot(f'The mnestome, {graph.made}')}, fontname=sans];",
        '  node [shape=box, style="rounded", fontname=sans];',
        "  edge [fontname=sans, fontsize=9];",
    ]
    shapes = {Kind.WISHED: ' [style="rounded,dashed"]', Kind.REQUEST: " [shape=diamond]"}
    lines += [f"  {_dot(node.name)}{shapes.get(node.kind, '')};" for node in graph.nodes]
    lines += [f"  {_dot(edge.src)} -> {_dot(edge.dst)} [{_dot_look(edge)}];" for edge in graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


# -- inside

_NODE_KEYS = {"kind": "string", "traffic": "double", "uses": "int", "versions": "string", "tags": "string"}
_EDGE_KEYS = {
    "weight": "double",
    "uses": "int",
    "state": "string",
    "src_version": "string",
    "dst_version": "string",
    "first": "string",
    "used": "string",
    "decay_lambda": "double",
    "tags": "string",
    "summary": "string",
}


def _edge(mnest: Mnest, now: datetime) -> Edge:
    return Edge(
        id=mnest.id,
        src=mnest.src,
        src_version=mnest.src_version,
        dst=mnest.dst,
        dst_version=mnest.dst_version,
        weight=round(mnest.at(now), 6),
        uses=mnest.uses,
        first=to_text(mnest.first),
        used=to_text(mnest.used),
        state=mnest.state,
        decay_lambda=mnest.decay_lambda,
        tags=mnest.tags,
        summary=mnest.summary,
    )


def _node(name: str, touching: list[Edge]) -> Node:
    versions = [each.src_version for each in touching if each.src == name]
    versions += [each.dst_version for each in touching if each.dst == name and each.dst_version is not None]
    ends = [each for each in touching if each.state is not State.PROTO or each.src == name]
    kind = Kind.REQUEST if name == REQUEST else Kind.EXECUTOR if ends else Kind.WISHED
    return Node(
        name=name,
        kind=kind,
        traffic=round(sum(each.weight for each in touching), 6),
        uses=sum(each.uses for each in touching),
        versions=tuple(sorted({each for each in versions if each})),
        tags=tuple(sorted({tag for each in touching for tag in each.tags})),
    )


def _add_data(element: ElementTree.Element, place: str, keys: Mapping[str, str], values: Mapping[str, Any]) -> None:
    for name in keys:
        value = values[name]
        if isinstance(value, tuple):
            value = ", ".join(value)
        if value is not None and value != "":
            ElementTree.SubElement(element, "data", key=f"{place}_{name}").text = _xml(str(value))


def _xml(text: str) -> str:
    """What XML 1.0 can hold at all; the rest as its number. Markup is escaped by who writes it."""
    return "".join(char if char.isprintable() or char in "\t\n" else f"\\u{ord(char):04x}" for char in text)


def _dot(text: str) -> str:
    """A quoted name. A backslash is doubled, because Graphviz reads some of them as instructions."""
    plain = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _dot_look(edge: Edge) -> str:
    about = f"{edge.src} {edge.src_version} → {edge.dst} {edge.dst_version or ''}, {edge.state}, {edge.uses} uses"
    look = {
        "label": _dot(f"{edge.weight:.2f}"),
        "tooltip": _dot(" ".join([about, *edge.tags])),
        "color": _dot(COLOURS[edge.state]),
        "penwidth": f"{0.5 + 4 * edge.weight:.2f}",
        "weight": str(1 + round(10 * edge.weight)),
    }
    if edge.state is State.PROTO:
        look["style"] = "dashed"
    return ", ".join(f"{name}={value}" for name, value in look.items())
