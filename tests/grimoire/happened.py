"""Episodes to test with: turns as they are captured, and observations; arbitrary payloads for what must hold of any."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from hypothesis import strategies as st

from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Episode, Provenance, Verdict
from metnos.grimoire.trace import State

START = datetime(2026, 11, 1, 8, 0, tzinfo=UTC)
_NUMBERS = count(1)


def step(executor: str = "find_files", *, ok: bool = True, kind: str = "", **args: Any) -> dict[str, Any]:
    return {"executor": executor, "args": args, "ok": ok, "kind": kind, "ms": 5.0}


def turn(
    canonical: str = "list the files in {path}",
    *steps: dict[str, Any],
    at: timedelta = timedelta(),
    state: str = "done",
    payload: dict[str, Any] | None = None,
    **changes: Any,
) -> Episode:
    """A turn with its steps; one that went well unless told."""
    number = next(_NUMBERS)
    content = {
        "canonical": canonical,
        "slots": {},
        "state": state,
        "path": "router",
        "steps": list(steps) or [step()],
        "feedback": None,
        "undone": False,
        "repeats": 0,
        "cost_ms": 100.0,
        "usd": 0.0,
        "continues": "",
        "answer": "",
        "language": "en",
        **(payload or {}),
    }
    made: dict[str, Any] = {
        "id": f"E{number:06}",
        "ts": START + at,
        "text": f"{canonical} ({number})",
        "source": f"T{number:06}",
        "session": "talk",
        "domain": "files",
        "payload": content,
        "seq": number,
        "curiosity": 0.3,
        "verdict": Verdict.VERIFIED,
        "importance": 0.5,
    }
    return Episode(**{**made, **changes})


def observed(at: timedelta = timedelta(), *, event: str = "", **measures: float) -> Episode:
    """Something that was measured or noticed, and that nobody asked for."""
    number = next(_NUMBERS)
    content: dict[str, Any] = {"measures": measures}
    if event:
        content["event"] = event
    return Episode(
        id=f"E{number:06}",
        ts=START + at,
        text=event or "measured",
        source=f"O{number:06}",
        kind="observation",
        domain="machine",
        payload=content,
        seq=number,
        verdict=Verdict.VERIFIED,
        importance=0.4,
    )


_ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.lists(st.integers(), max_size=2)
)
_STEPS = st.fixed_dictionaries(
    {},
    optional={
        "executor": st.one_of(st.sampled_from(["find_files", "move_files"]), _ODD),
        "args": st.one_of(st.dictionaries(st.text(max_size=5), _ODD, max_size=3), _ODD),
        "ok": st.one_of(st.booleans(), _ODD),
        "kind": st.one_of(st.sampled_from(["", "not_found"]), _ODD),
        "irreversible": _ODD,
    },
)
PAYLOADS = st.fixed_dictionaries(
    {},
    optional={
        "canonical": _ODD,
        "slots": st.one_of(st.dictionaries(st.text(max_size=4), _ODD, max_size=2), _ODD),
        "state": st.one_of(st.sampled_from([str(each) for each in State]), _ODD),
        "steps": st.one_of(st.lists(_STEPS, max_size=3), _ODD),
        "feedback": _ODD,
        "undone": _ODD,
        "repeats": _ODD,
        "cost_ms": _ODD,
        "usd": _ODD,
        "measures": st.one_of(st.dictionaries(st.text(max_size=4), _ODD, max_size=2), _ODD),
    },
)
_UNIT = st.floats(0, 1)
_SIGNED = st.floats(-1, 1)
PADS = st.builds(Pad, _SIGNED, _SIGNED, _SIGNED)
EPISODES = st.builds(
    Episode,
    id=st.text("0123456789ABCDEF", min_size=8, max_size=8),
    ts=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 -- bounds are naive
    text=st.text(max_size=60),
    source=st.text(max_size=5),
    payload=PAYLOADS,
    domain=st.sampled_from(["", "files", "mail"]),
    tags=st.sampled_from([(), ("remember",)]),
    provenance=st.sampled_from(list(Provenance)),
    curiosity=_UNIT,
    importance=st.one_of(st.none(), _UNIT),
    verdict=st.sampled_from(list(Verdict)),
    replays=st.integers(0, 9),
    pinned=st.booleans(),
    seq=st.integers(1, 10_000),
)

# The same without odd payloads: for what looks at many at once.
PLAIN = st.builds(
    Episode,
    id=st.integers(0, 10**6).map(lambda number: f"{number:08}"),
    ts=st.just(START),
    text=st.just("x"),
    source=st.just(""),
    domain=st.sampled_from(["", "files", "mail"]),
    curiosity=_UNIT,
    importance=st.one_of(st.none(), _UNIT),
    verdict=st.sampled_from(list(Verdict)),
    replays=st.integers(0, 9),
    seq=st.integers(1, 10_000),
)
