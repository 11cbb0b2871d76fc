"""Bloodstains: one episode that ended badly is a warning at once, and once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grimoire.curated import NOW, Memory, open_memory
from grimoire.happened import step, turn
from metnos.grimoire import bloodstain
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.domain import HOME
from metnos.grimoire.fact import Kind

DISLIKED = Outcome(feedback=False)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = open_memory(tmp_path)
    yield made
    made.close()


def test_it_says_conditions_decision_and_what_went_wrong() -> None:
    lived = turn("x", payload={"canonical": "delete <files>", "steps": [step("find_files"), step("delete_files")]})
    found = bloodstain.of(lived, DISLIKED, HOME, NOW)
    assert found.kind is Kind.WARNING
    assert found.bloodstain
    assert found.sources == (lived.id,)
    assert found.data["conditions"]["canonical"] == "delete <files>"
    assert found.data["decision"] == ["find_files", "delete_files"]
    assert found.data["wrong"] == bloodstain.DISLIKED
    assert found.text == (
        'Ended badly: find_files, then delete_files for requests of the form "delete <files>":'
        " it was disliked, and cannot be taken back."
    )


@pytest.mark.parametrize(
    ("outcome", "ok", "wrong"),
    [
        (DISLIKED, True, bloodstain.DISLIKED),
        (Outcome(undone=True), True, bloodstain.UNDONE),
        (Outcome(feedback=False, undone=True), True, bloodstain.UNDONE),  # so it could be taken back
        (Outcome(), False, "it failed with timeout"),
        (Outcome(), True, bloodstain.BADLY),
    ],
)
def test_what_went_wrong(outcome: Outcome, ok: bool, wrong: str) -> None:
    lived = turn("x", payload={"steps": [step("find_files", ok=ok, kind="" if ok else "timeout")]})
    assert bloodstain.went_wrong(lived, outcome) == wrong


def test_the_curator_makes_it_when_the_word_comes_and_only_once(memory: Memory) -> None:
    (lived,) = memory.add(turn(payload={"irreversible": True}))
    memory.curator().run()
    assert memory.known(Kind.WARNING) == []
    memory.outcomes[lived.source] = DISLIKED
    for _ in range(3):
        memory.curator().run()
    (found,) = memory.known(Kind.WARNING)
    assert found.bloodstain
    assert found.sources == (lived.id,)


def test_and_at_once_if_it_is_known_when_it_comes_in(memory: Memory) -> None:
    memory.add(turn(payload={"irreversible": True, "feedback": False}))
    memory.curator().run()
    assert [each.bloodstain for each in memory.known(Kind.WARNING)] == [True]


def test_what_the_owner_took_back_leaves_one_when_it_is_taken_back(memory: Memory) -> None:
    (lived,) = memory.add(turn())
    memory.curator().run()
    assert memory.known(Kind.WARNING) == []
    memory.outcomes[lived.source] = Outcome(undone=True)
    memory.curator().run()
    (found,) = memory.known(Kind.WARNING)
    assert (found.bloodstain, found.value) == (True, bloodstain.UNDONE)


def test_what_failed_after_it_had_done_something_for_good_leaves_one(memory: Memory) -> None:
    sent = {**step("send_messages"), "irreversible": True}
    memory.add(turn("x", sent, step("move_files", ok=False, kind="not_found"), state="failed"))
    memory.curator().run()
    (found,) = memory.known(Kind.WARNING)
    assert found.data["decision"] == ["send_messages", "move_files"]
    assert found.value == "it failed with not_found, after something that cannot be taken back"


def test_what_went_well_or_did_no_harm_leaves_none(memory: Memory) -> None:
    for_good = {**step("send_messages"), "irreversible": True}
    never_done = {**step("send_messages", ok=False, kind="timeout"), "irreversible": True}
    memory.add(
        turn(),
        turn("x", for_good),
        turn("x", never_done, state="failed"),  # nothing was sent: it can be asked again
        turn("x", step(ok=False, kind="not_found"), state="failed"),
        turn(payload={"feedback": False}),  # a word is no wound: it could have been taken back
        turn(payload={"undone": True, "feedback": True}),  # the owner thought better of it, and had liked it
    )
    memory.curator().run()
    assert memory.known(Kind.WARNING) == []
