"""What is read is what was written, whatever it was."""

import dataclasses
import math
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from grimoire.traces import SECRET, secretive, step, trace, traces
from metnos.grimoire import medium_rows as rows
from metnos.grimoire.medium import Medium
from metnos.grimoire.trace import Kept, Trace

together = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=settings().max_examples // 2
)


def kept(medium: Medium, made: Trace) -> Trace:
    """What is left of a trace after it was written; the writing itself is taken back."""

    class Enough(Exception):
        pass

    found: list[Trace | None] = []
    with pytest.raises(Enough), medium.db.write() as tx:
        rows.write(tx, made)
        found.append(rows.read(tx, made.id))
        raise Enough
    assert found[0] is not None
    return found[0]


@together
@given(traces)
def test_what_is_written_is_read(medium: Medium, made: Trace) -> None:
    assert kept(medium, made) == made


def test_everything_of_a_turn(medium: Medium) -> None:
    assert kept(medium, trace()) == trace()


def test_whoever_asked_elsewhere_keeps_their_zone(medium: Medium) -> None:
    there = timezone(timedelta(hours=5, minutes=45))
    asked = trace().asked.astimezone(there)
    assert kept(medium, trace(asked=asked)).asked.utcoffset() == timedelta(hours=5, minutes=45)


def test_what_is_no_text_and_no_number_is_stored_all_the_same(medium: Medium) -> None:
    odd = "\udcff-name"
    made = trace(
        text=odd,
        cwd=odd,
        answer=odd,
        canonical=odd,
        error=odd,
        cpu_ms=math.nan,
        slots=({"text": odd},),
        steps=(step(args={"path": odd}, reply={"entries": [odd], "count": 1}, message=odd, wall_ms=math.inf),),
    )
    found = kept(medium, made)
    assert found.text == "\\udcff-name"
    assert found.steps[0].args == {"path": "\\udcff-name"}
    assert (found.cpu_ms, found.steps[0].wall_ms) == (0.0, 0.0)


@pytest.mark.slow
def test_a_huge_turn_is_bounded(medium: Medium, tmp_path: Path) -> None:
    reply = {"entries": [{"text": "x" * 1000}] * 8000, "count": 8000, "total": 8000}
    big = trace(
        text="x" * 5_000_000,
        answer="y" * 5_000_000,
        steps=tuple(step(number, args={"content": "z" * 5_000_000}, reply=reply) for number in range(1, 5)),
    )
    medium.close(big)
    found = medium.load(big.id)
    assert all(each.reply["cut"] and each.reply["count"] == 8000 and each.args["cut"] for each in found.steps)
    medium.db.close()
    assert sum(path.stat().st_size for path in tmp_path.glob("medium.db*")) < 3_000_000


def test_taking_out_leaves_what_it_was_and_nothing_that_was_said(medium: Medium) -> None:
    made = secretive()
    with medium.db.write() as tx:
        rows.write(tx, made)
        rows.take_out(tx, made, Kept.FORGOTTEN)
        found = rows.read(tx, made.id)
    assert found is not None
    assert SECRET not in repr(found)
    assert found == dataclasses.replace(
        made,
        cwd="",
        text="",
        answer="",
        plan={"kind": "steps", "steps": [{"executor": "find_files"}]},
        canonical="",
        slots=(),
        candidates=({"executor": "find_files", "score": 0.5},),
        steps=(step(args={}, message="", reply={"count": 1, "total": 1, "failed": 0}),),
        desired=(dataclasses.replace(made.desired[0], signature={}),),
        calls=(dataclasses.replace(made.calls[0], error="(forgotten)"),),
        memories=(),
        permits=({"step": 1, "executor": "find_files"},),
        error="(forgotten)",
        tags=(),
        kept=Kept.FORGOTTEN,
    )


@together
@given(traces)
def test_whatever_a_turn_was_its_content_can_be_taken_out(medium: Medium, made: Trace) -> None:
    class Enough(Exception):
        pass

    def left() -> Any:
        with medium.db.write() as tx:
            rows.write(tx, made)
            rows.take_out(tx, made, Kept.SUMMARISED)
            seen.append(rows.read(tx, made.id))
            raise Enough

    seen: list[Trace | None] = []
    with pytest.raises(Enough):
        left()
    (found,) = seen
    assert found is not None
    assert (found.text, found.answer, found.slots, found.memories) == ("", "", (), ())
    assert [each.executor for each in found.steps] == [each.executor for each in made.steps]
    assert (found.state, found.asked, found.passings) == (made.state, made.asked, made.passings)
