import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.mnestome.export import COLOURS, Graph, Kind, gather, to_dot, to_graphml, to_json
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.rules import State
from support import ROOT

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ATTACKS = (
    "</script><script>alert(1)</script>", '"];"x"->"y"[label="', "<!--", "]]>", "\\N \\G \\", "a\nb", "\x00\x1b[31m",
    "\u2028\u202e\ufffe", "@script@", "é&lt;\U0001f642",
)  # fmt: skip
NAMESPACE = {"g": "http://graphml.graphdrawing.org/xmlns"}


def mnest(src: str, dst: str, weight: float = 0.5, state: State = State.ACTIVE, **other: Any) -> Mnest:
    facts: dict[str, Any] = {
        "id": f"01{src}{dst}".upper()[:26],
        "src": src,
        "src_version": "1.0.0",
        "dst": dst,
        "dst_version": None if state is State.PROTO else "2.0.0",
        "weight": weight,
        "uses": 3,
        "first": NOW - timedelta(days=30),
        "used": NOW - timedelta(days=10),
        "weighed": NOW,
        "decay_lambda": 0.018,
        "state": state,
        "tags": (),
        "signature": {},
    }
    return Mnest(**(facts | other))


def some() -> Graph:
    wish = mnest("read_files", "sign_files", 0.3, State.PROTO, signature={"summary": "Sign a file."})
    return gather(
        [
            mnest("find_files", "read_files", 0.4, tags=("photo", "invoice")),
            mnest("find_files", "read_files", 0.9, id="01OTHER", src_version="1.1.0", weighed=NOW - timedelta(days=10)),
            wish,
            mnest("request", "play_music", 0.2, State.PROTO, src_version=""),
        ],
        NOW,
    )


def attacked(words: Sequence[str] = ATTACKS) -> Graph:
    return gather(
        [mnest(word, f"{word}!", tags=tuple(words), signature={"summary": word}, id=word) for word in words], NOW
    )


# -- the graph


def test_weights_are_those_of_now_and_the_heaviest_comes_first() -> None:
    weights = [edge.weight for edge in some().edges]
    assert weights[0] == pytest.approx(0.9 * 2.718281828 ** (-0.18), abs=1e-6)
    assert weights == sorted(weights, reverse=True)
    assert some().made == "2026-11-15T12:00:00.000Z"


def test_a_node_is_an_executor_with_all_its_versions_or_a_wish() -> None:
    nodes = {node.name: node for node in some().nodes}
    assert nodes["find_files"].versions == ("1.0.0", "1.1.0")
    assert nodes["find_files"].uses == 6
    assert nodes["find_files"].tags == ("invoice", "photo")
    assert nodes["read_files"].traffic == pytest.approx(sum(edge.weight for edge in some().edges[:3]), abs=1e-5)
    kinds = {name: node.kind for name, node in nodes.items()}
    assert kinds == {
        "find_files": Kind.EXECUTOR,
        "read_files": Kind.EXECUTOR,
        "sign_files": Kind.WISHED,
        "play_music": Kind.WISHED,
        "request": Kind.REQUEST,
    }


def test_every_state_has_a_colour() -> None:
    assert set(COLOURS) == set(State)


# -- JSON


def test_the_keys_of_the_json_are_the_documented_ones() -> None:
    data = json.loads(to_json(some()))
    assert list(data) == ["format", "revision", "made", "nodes", "edges"]
    assert list(data["nodes"][0]) == ["name", "kind", "traffic", "uses", "versions", "tags"]
    keys = [
        "id",
        "src",
        "src_version",
        "dst",
        "dst_version",
        "weight",
        "uses",
        "first",
        "used",
        "state",
        "decay_lambda",
    ]
    assert list(data["edges"][0]) == [*keys, "tags", "summary"]
    assert next(each for each in data["edges"] if each["dst"] == "sign_files")["summary"] == "Sign a file."


def test_every_key_and_state_is_on_the_owners_page() -> None:
    page = (ROOT / "docs" / "mnestome.md").read_text(encoding="utf-8")
    data = json.loads(to_json(some()))
    for key in {*data, *data["nodes"][0], *data["edges"][0], *Kind, *State} - {"nodes", "edges"}:
        assert f"`{key}`" in page, key


# -- GraphML


def test_graphml_says_everything_with_its_type() -> None:
    root = ElementTree.fromstring(to_graphml(some()))
    keys = {each.get("id"): each.get("attr.type") for each in root.findall("g:key", NAMESPACE)}
    assert keys["edge_weight"] == "double"
    drawn = root.find("g:graph", NAMESPACE)
    assert drawn is not None
    assert drawn.get("edgedefault") == "directed"
    names = {each.get("id") for each in drawn.findall("g:node", NAMESPACE)}
    edges = drawn.findall("g:edge", NAMESPACE)
    assert len(edges) == 4
    assert {each.get(end) for each in edges for end in ("source", "target")} <= names
    said = {each.get("key"): each.text for each in edges[0].findall("g:data", NAMESPACE)}
    assert set(said) <= set(keys)
    assert float(said["edge_weight"] or 0) == some().edges[0].weight


def test_graphml_holds_whatever_a_model_may_have_said() -> None:
    root = ElementTree.fromstring(to_graphml(attacked()))
    drawn = root.find("g:graph", NAMESPACE)
    assert drawn is not None
    assert len(drawn.findall("g:edge", NAMESPACE)) == len(ATTACKS)
    assert {each.tag.partition("}")[2] for each in root.iter()} == {"graphml", "key", "graph", "node", "edge", "data"}


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True))
def test_any_text_makes_a_graphml_that_parses_and_a_json_that_reads(words: list[str]) -> None:
    graph = attacked(words)
    ElementTree.fromstring(to_graphml(graph))
    assert [each["id"] for each in json.loads(to_json(graph))["edges"]] == [edge.id for edge in graph.edges]


# -- DOT


def unquoted(text: str) -> str:
    """What of it stands outside of quotes, read as Graphviz reads it."""
    outside, inside, escaped = [], False, False
    for char in text:
        if inside and not escaped and char == "\\":
            escaped = True
            continue
        if char == '"' and not escaped:
            inside = not inside
        elif not inside:
            outside.append(char)
        escaped = False
    assert not inside
    return "".join(outside)


def test_dot_draws_wishes_dashed_and_heavy_ones_thick() -> None:
    lines = to_dot(some()).splitlines()
    assert lines[0] == "digraph mnestome {"
    assert '  "sign_files" [style="rounded,dashed"];' in lines
    wish = next(line for line in lines if '-> "sign_files"' in line)
    assert wish.endswith("style=dashed];")
    assert 'label="0.30"' in wish


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4, unique=True))
def test_nothing_that_is_said_gets_out_of_its_quotes_in_dot(words: list[str]) -> None:
    plain = unquoted(to_dot(attacked(words)))
    assert plain.count("->") == len(words)
    assert set(plain.split()) <= {*unquoted(to_dot(attacked(["a", "b", "c", "d"]))).split()}


def test_attacks_stay_in_their_quotes_in_dot() -> None:
    assert unquoted(to_dot(attacked())).count("->") == len(ATTACKS)
    assert all(char.isprintable() or char == "\n" for char in to_dot(attacked()))
