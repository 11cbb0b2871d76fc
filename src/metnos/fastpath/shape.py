"""The shape of a plan's arguments: where each value comes from, so that another request can be filled into it.

`learn` looks at a plan that a planner made and at the request it was made for; `fill` makes the arguments for another
request. An argument comes from a particular of the request (by kind, role and place, in one of its `readings`), from an
earlier step, from words of the request, or it was always the same though no word says so.

Rules: particulars are read anew, always, in the spelling of the new request. A value that stood in the request is used
again only where the new request has the same words; one that did not, only after `CONSTANT` passes in which it was the
same, whatever the form, and never if it was taken from where or when it was asked. A particular that no argument takes
must be the same word for word. Whatever the new request says beyond that, or lacks, makes it `Unresolved`: then a
planner plans. Pure; what is read from a request is never taken for a reference. A shape may not be the only one that
fits: passes tell.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metnos.core.canon import canonical_json
from metnos.fastpath.address import address, pin, placed
from metnos.fastpath.canonical import canonical
from metnos.fastpath.heard import Heard, apart, firm
from metnos.fastpath.readings import ALONE, PLACES, TEMPORAL, readings
from metnos.fastpath.saying import differs
from metnos.fastpath.slots_records import Slot

CONSTANT = 3  # passes in which a value must have been the same before it is used unsaid; as many as a path needs
_REF = re.compile(r"\{\{\s*(?:step[1-9]\d{0,2}|last)(?:\.[A-Za-z_]\w{0,63}|\[\d{1,6}\])*\s*\}\}")
_LAST = re.compile(r"\{\{\s*last\b")
_EDGES = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)
_GLUE = frozenset({"", " ", "\n", "*", "/", ".", ", "})  # between values, and with no meaning of its own
_DEEPEST, _MOST, _LONGEST = 8, 200, 2000  # levels, values and characters of one plan: more is no habit

Node = Mapping[str, Any]
Filled = tuple[dict[str, Any], ...]  # the arguments of each step
Shape = tuple[Node, ...]  # one for each step: `args`, and in the first `pinned`


@dataclass(frozen=True, slots=True)
class Learnt:
    """A shape, and the values in the plan that nothing in the request explains, by their place in it."""

    shape: Shape
    constants: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """A value that no word says, and in how many passes it was the same."""

    value: Any
    passes: int


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why there is no shape, or why it cannot be filled; ``arg`` may be empty."""

    arg: str
    why: str


class _Stuck(Exception):
    def __init__(self, arg: str, why: str) -> None:
        super().__init__(why)
        self.found = Unresolved(arg, why)


def learn(plan: Sequence[Mapping[str, Any]], heard: Heard, here: str = "") -> Learnt | Unresolved:
    """The shape of a plan: the arguments of each step, with references as planned. It was asked in folder ``here``."""
    learner = _Learner(heard, here)
    try:
        steps = [
            {name: learner.node(value, f"{number}/{_key(name)}") for name, value in args.items()}
            for number, args in enumerate(plan)
        ]
        pinned = learner.pinned()
    except _Stuck as stuck:
        return stuck.found
    first: dict[str, Any] = {"pinned": pinned} if pinned else {}
    return Learnt(
        tuple({"args": args, **(first if not at else {})} for at, args in enumerate(steps)), learner.constants
    )


def fill(
    shape: Shape, observed: Mapping[str, Seen], heard: Heard, form: str
) -> tuple[dict[str, Any], ...] | Unresolved:
    """The arguments of each step for another request; ``form`` is the canonical form that it was matched with."""
    beyond = differs(firm(heard.form), firm(form), strict=not _explained(shape), steps=len(shape))
    if beyond:
        return Unresolved("", beyond)
    filler = _Filler(heard, observed)
    try:
        made = tuple(
            {name: filler.value(node, f"{number}/{_key(name)}") for name, node in step["args"].items()}
            for number, step in enumerate(shape)
        )
        filler.settle(shape[0].get("pinned", ()) if shape else ())
    except _Stuck as stuck:
        return stuck.found
    return made


def observe(known: Mapping[str, Any], constants: Mapping[str, Any], *, first: bool) -> dict[str, Any]:
    """What was observed of unsaid values, with one pass more: ``[value, passes]``, or nothing once it varied."""
    if first:
        return {place: [value, 1] for place, value in constants.items()}
    merged: dict[str, Any] = dict.fromkeys({*known, *constants})
    for place in merged:
        before = known.get(place)
        if before is not None and place in constants and _same(before[0], constants[place]):
            merged[place] = [before[0], before[1] + 1]
    return merged


def takes(shape: Shape) -> tuple[str, ...]:
    """The kinds of particulars that a shape is filled with, each once."""
    nodes = (each for step in shape for each in _walk(step["args"]))
    return tuple(dict.fromkeys(str(node["slot"]) for node in nodes if "slot" in node))


def refers_back(shape: Shape) -> bool:
    """Whether a step takes something of the turn before."""
    nodes = (each for step in shape for each in _walk(step["args"]))
    return any(_LAST.search(node.get("ref", "")) for node in nodes)


# -- learning


@dataclass(slots=True)
class _Learner:
    heard: Heard
    here: str = ""
    constants: dict[str, Any] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    count: int = 0
    read: list[dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.read = [readings(slot, self.heard.now) for slot in self.heard.slots]
        if sum(slot.kind in TEMPORAL for slot in self.heard.slots) > 1:  # together they say when, and none does alone
            self.read = [{name: read for name, read in each.items() if name not in ALONE} for each in self.read]

    def node(self, value: Any, at: str, depth: int = 0) -> Node:
        self.count += 1
        if depth > _DEEPEST or self.count > _MOST or (isinstance(value, str) and len(value) > _LONGEST):
            raise _Stuck(at, "it is too much to remember")
        if isinstance(value, Mapping):
            return {"table": {str(k): self.node(v, f"{at}/{_key(str(k))}", depth + 1) for k, v in value.items()}}
        if isinstance(value, list | tuple):
            return {"list": [self.node(each, f"{at}/{place}", depth + 1) for place, each in enumerate(value)]}
        return self._scalar(value, at)

    def pinned(self) -> list[Node]:
        """The particulars that no argument takes: what they do is unknown, so they have to stay as they are."""
        left = [slot for place, slot in enumerate(self.heard.slots) if place not in self.taken]
        if self.constants and any(slot.kind in TEMPORAL for slot in left):
            raise _Stuck(min(self.constants), "it may be reckoned from a time in the request, in a way not understood")
        inside = [str(self.heard.slots[place].value) for place in self.taken]
        return [
            {"kind": kind, "role": role} | ({"holds": True} if _holds(slot, inside) else {"text": text})
            for slot in left
            for kind, role, text in (pin(slot),)
        ]

    def _scalar(self, value: Any, at: str) -> Node:
        found = None if value is None or isinstance(value, bool) else self._whole(value, at)
        if found is not None:
            return found
        if isinstance(value, str):
            node = self._text(value, at)
            if node is not None:
                return node
        if isinstance(value, str):
            self._refuse_circumstance(value, at)
        self.constants[at] = value
        return {"const": True}

    def _refuse_circumstance(self, value: str, at: str) -> None:
        if self.heard.is_circumstance(value, self.here):
            raise _Stuck(at, "it was taken from where or when it was asked")

    def _whole(self, value: Any, at: str) -> Node | None:
        """The particular that a value is, by the plainest reading that gives it."""
        found = [
            (rank, place, name)
            for place, each in enumerate(self.read)
            for rank, (name, read) in enumerate(each.items())
            if _same(read, value)
        ]
        return self._chosen(found, at) if found else None

    def _chosen(self, found: Sequence[tuple[int, int, str]], at: str) -> Node:
        best = min(rank for rank, _, _ in found)
        places = {place: name for rank, place, name in reversed(found) if rank == best}
        if len(places) > 1:
            raise _Stuck(at, "two particulars of the request say the same, so it is not clear which one it is")
        ((place, name),) = places.items()
        if _refers(str(self.read[place][name])):
            raise _Stuck(at, "a particular of the request is written like a reference")
        self.taken.add(place)
        return {**address(self.heard.slots, place), "read": name}

    def _text(self, value: str, at: str) -> Node | None:
        """A text made of references, particulars and words of the request."""
        parts: list[Node] = []
        for piece, node in self._pieces(value, at):
            parts += [node] if node is not None else self._words(piece)
        if all("glue" in part for part in parts):
            return None
        if len(parts) == 1:
            return parts[0]
        return {"parts": parts, "verbatim": self.heard.says(value.strip())}

    def _pieces(self, value: str, at: str) -> Iterator[tuple[str, Node | None]]:
        start = place = 0
        while place < len(value):
            end, node = self._piece(value, place, at)
            if node is None:
                place += 1
                continue
            if start < place:
                yield value[start:place], None
            yield value[place:end], node
            start = place = end
        if start < len(value):
            yield value[start:], None

    def _piece(self, value: str, place: int, at: str) -> tuple[int, Node | None]:
        """The longest thing that begins here: a reference, or a reading of a particular as a word of its own."""
        reference = _REF.match(value, place)
        if reference:
            return reference.end(), {"ref": reference[0]}
        found = [
            (-len(text), rank, slot, name)
            for slot, each in enumerate(self.read)
            for rank, (name, read) in enumerate(each.items())
            if (text := _piece_text(read)) and value.startswith(text, place) and apart(value, place, place + len(text))
        ]
        if not found:
            return place, None
        longest = min(found)[0]
        return place - longest, self._chosen([each[1:] for each in found if each[0] == longest], at)

    def _words(self, piece: str) -> list[Node]:
        """What lies between particulars: words of the request, words like them, or something of the planner's own."""
        edges = _EDGES.match(piece)
        before, core, after = edges.groups() if edges else ("", piece, "")
        if not core:
            return [{"glue": piece}]
        if self.heard.says(core):
            nodes: tuple[Node, ...] = ({"glue": before}, {"said": core}, {"glue": after})
            return [node for node in nodes if node.get("glue") != ""]
        stems = canonical(core, ()).split()
        if stems and set(stems) <= set(self.heard.form.split()):
            return [{"words": stems, "is": piece}]
        self._refuse_circumstance(core, "")
        return [{"glue": piece}]


# -- filling


@dataclass(slots=True)
class _Filler:
    heard: Heard
    observed: Mapping[str, Seen]
    taken: set[int] = field(default_factory=set)

    def value(self, node: Node, at: str) -> Any:
        for kind, make in _MAKERS.items():
            if kind in node:
                return make(self, node, at)
        raise _Stuck(at, "it was remembered in a way that is not known here")

    def settle(self, pinned: Sequence[Node]) -> None:
        """See to it that nothing was said that no argument takes."""
        slots = self.heard.slots
        left = [place for place in range(len(slots)) if place not in self.taken]
        inside = [str(slots[place].value) for place in self.taken]
        for kept in pinned:
            same = [place for place in left if _kept(slots[place], kept, inside)]
            if not same:
                raise _Stuck("", f"it was always asked with {kept.get('text', 'a folder that has it in it')!r}")
            left.remove(same[0])
        if left:
            raise _Stuck("", f"nothing takes {slots[left[0]].text!r}")

    def _slot(self, node: Node, at: str) -> Any:
        place = placed(self.heard.slots, node)
        if place is None:
            raise _Stuck(at, f"the request has another number of particulars of the kind {node['slot']!r}")
        slot = self.heard.slots[place]
        read = readings(slot, self.heard.now)
        if node["read"] not in read:
            raise _Stuck(at, f"{slot.text!r} cannot be read so")
        found = read[node["read"]]
        if _refers(str(found)):
            raise _Stuck(at, "a particular of the request is written like a reference")
        self.taken.add(place)
        return found

    def _said(self, node: Node, at: str) -> str:
        if not self.heard.says(node["said"]):
            raise _Stuck(at, f"the request does not say {node['said']!r}")
        return str(node["said"])

    def _words(self, node: Node, at: str) -> Any:
        if not set(node["words"]) <= set(self.heard.form.split()):
            raise _Stuck(at, f"the request does not say {node['is']!r}")
        return node["is"]

    def _constant(self, _: Node, at: str) -> Any:
        seen = self.observed.get(at)
        if seen is None or seen.passes < CONSTANT:
            raise _Stuck(at, f"nothing in the request says it, and it was not the same in {CONSTANT} passes")
        return seen.value

    def _parts(self, node: Node, at: str) -> str:
        made = "".join(_written(self.value(part, at)) for part in node["parts"])
        if node["verbatim"] and not self.heard.says(made.strip()):
            raise _Stuck(at, "the request says it in another order")
        return made

    def _list(self, node: Node, at: str) -> list[Any]:
        return [self.value(each, f"{at}/{place}") for place, each in enumerate(node["list"])]

    def _table(self, node: Node, at: str) -> dict[str, Any]:
        return {name: self.value(each, f"{at}/{_key(name)}") for name, each in node["table"].items()}


_MAKERS: dict[str, Callable[[_Filler, Node, str], Any]] = {
    "read": _Filler._slot,
    "said": _Filler._said,
    "words": _Filler._words,
    "const": _Filler._constant,
    "parts": _Filler._parts,
    "list": _Filler._list,
    "table": _Filler._table,
    "ref": lambda _, node, __: node["ref"],
    "glue": lambda _, node, __: node["glue"],
}


# -- both


def _explained(shape: Shape) -> bool:
    """Whether every value comes from something that the request says."""
    nodes = (each for step in shape for each in _walk(step["args"]))
    return not any("const" in node or node.get("glue", "") not in _GLUE for node in nodes)


def _walk(nodes: Mapping[str, Node] | Sequence[Node]) -> Iterator[Node]:
    for node in nodes.values() if isinstance(nodes, Mapping) else nodes:
        yield node
        for inner in ("parts", "list", "table"):
            if inner in node:
                yield from _walk(node[inner])


def _same(one: Any, other: Any) -> bool:
    """The same JSON value: 1, 1.0 and true are three."""
    try:
        return canonical_json(one) == canonical_json(other)
    except (TypeError, ValueError):
        return False


def _piece_text(read: Any) -> str:
    return read if isinstance(read, str) and any(map(str.isalnum, read)) else ""


def _refers(text: str) -> bool:
    return "{{" in text


def _written(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _holds(slot: Slot, inside: Sequence[str]) -> bool:
    """Whether a folder was said only to tell where a file is."""
    return slot.kind in PLACES and any(each.startswith(f"{str(slot.value).rstrip('/')}/") for each in inside)


def _kept(slot: Slot, wanted: Node, inside: Sequence[str]) -> bool:
    kind, role, text = pin(slot)
    if (kind, role) != (wanted["kind"], wanted["role"]):
        return False
    return _holds(slot, inside) if "holds" in wanted else text == wanted["text"]


def _key(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
