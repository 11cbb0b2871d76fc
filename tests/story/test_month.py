"""A month with Metnos, as its owner lives it: what is missing is made, refused, made better, used, breaks, is mended.

Everything is said at the terminal and seen there. The language model is the real local one, as it was recorded
(`recording`); time is moved, and the nights happen with all their jobs. Each chapter is one function and asserts what
an owner would see; what one chapter brought about is where the next one begins.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import pytest

from story.owner import Owner
from story.recording import Model

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("typist")]

NAME = "convert_numbers"
SAY = "convert each of the numbers {} and {} into its factorial"
MISSING = (SAY.format(5, 7), SAY.format(3, 6), SAY.format(4, 8))
REASON = "refuse numbers that are not whole, such as 2.5"
PLANNED, AT_ONCE = (10, 9, 11), (12, 8)  # asked for while it is still planned, and then
ODD = (10**20,)  # more than the function that was made can reckon with: it breaks, and does not refuse

Questions = list[dict[str, Any]]


def test_a_month_from_something_missing_to_its_second_version(owner: Owner, model: Model) -> None:
    owner.read("config", "set", "turn.planner", "router")  # for now: what a small model plans is a matter of luck
    owner.read("config", "set", "fastpath.check_every", "1000")  # else one hit in twenty is planned all the same
    began = owner.now
    missed = something_is_missing(owner)
    direction = it_is_proposed_with_its_evidence(owner, missed)
    first = it_is_made_after_a_yes(owner, direction, model)
    second = it_is_made_better_after_a_no(owner, first, model)
    it_lives_after_another_yes(owner, second)
    used = it_is_used(owner)
    it_saves_time(owner, model)
    odd, broken = it_breaks_and_is_put_into_quarantine(owner)
    repair = its_repair_is_proposed(owner, broken)
    third = it_is_mended_after_a_yes(owner, repair, odd, model)
    it_lives_again(owner, third, odd)
    assert 28 <= (owner.now - began).days <= 31
    questions = [direction, first, second, repair, third]
    the_story_can_be_read(owner, questions, [missed[0], used, broken[0]])
    the_audit_has_every_step(owner, questions)


# -- a gap


def something_is_missing(owner: Owner) -> list[str]:
    """Three days, three requests that nothing here can do; two of them are not enough for a proposal."""
    turns = []
    for number, text in enumerate(MISSING, start=1):
        asked = owner.ask(text)
        assert asked["state"] == "nothing"
        assert f"What is missing is {NAME}" in asked["text"]
        assert asked["steps"] == []
        turns.append(asked["turn"])
        (wish,) = owner.json("mnestome", "proto")
        assert (wish["name"], wish["uses"], wish["recurring"]) == (NAME, number, number >= 3)
        assert wish["weight"] >= 0.30
        if number < len(MISSING):
            owner.sleep()
            assert owner.waiting() == []
    assert "nothing that Metnos has fits" in owner.why(turns[0])
    return turns


def it_is_proposed_with_its_evidence(owner: Owner, turns: list[str]) -> dict[str, Any]:
    night = owner.sleep()
    assert done(night, "introspection") == {"found": 1, "asked": 1}
    (item,) = owner.waiting()
    body = item["body"]
    assert (item["kind"], item["asked_by"]) == ("direction", "night:introspection")
    assert item["title"].endswith("convert numbers, wished for as “convert each of the numbers ... into its factorial”")
    assert body["turns"] == turns
    assert (body["uses"], body["days"], body["way"]) == (3, 2, "direct")
    spent = sum(owner.json("why", turn)["plan"]["ms"] for turn in turns)
    assert body.get("saved seconds", 0.0) == round(spent / 1000, 1)
    shown = owner.read("inbox", "show", item["id"])
    assert "You asked for this 3 times in 2 days, and nothing here does it." in unwrapped(shown)
    assert "waits for your yes to the direction" in unwrapped(owner.read("synt", "list"))
    return item


# -- made, refused, made better, signed


def it_is_made_after_a_yes(owner: Owner, direction: dict[str, Any], model: Model) -> dict[str, Any]:
    assert done(owner.sleep(), "synt") == {}, "without a yes nothing is made"
    assert owner.waiting() == [direction], "and nobody asks twice"
    said = owner.approve(direction)
    assert "It may be made now" in said
    night = owner.sleep()
    it_was_made(owner, night, model)
    (item,) = owner.waiting()
    assert (item["kind"], item["body"]["name"], item["body"]["version"]) == ("activation", NAME, "1.0.0")
    shown = owner.read("inbox", "show", item["id"])
    for part in (f"def {NAME}", "tests passed, in a sandbox", "What it may never do", "calls of a language model"):
        assert part in shown
    assert owner.ask(MISSING[0])["state"] == "nothing", "what waits for a yes does nothing"
    return item


def it_is_made_better_after_a_no(owner: Owner, first: dict[str, Any], model: Model) -> dict[str, Any]:
    said = owner.refuse(first, REASON)
    assert "It is made again with that in mind" in said
    night = owner.sleep()
    it_was_made(owner, night, model)
    (item,) = owner.waiting()
    assert item["digest"] != first["digest"]
    assert item["body"]["files"]["executor.py"] != first["body"]["files"]["executor.py"]
    assert f"refused because {REASON}" in unwrapped(owner.read("synt", "show", NAME))
    answered = owner.json("inbox", "show", first["id"])
    assert (answered["state"], answered["reason"]) == ("refused", REASON)
    return item


def it_lives_after_another_yes(owner: Owner, item: dict[str, Any]) -> None:
    assert "is signed and active" in owner.approve(item)
    assert owner.waiting() == []
    shown = owner.json("executor", "show", NAME)
    assert (shown["state"], shown["version"], shown["origin"]) == ("active", "1.0.0", "synthesised")
    (version,) = owner.json("synt", "show", NAME)["versions"]
    assert version["digest"] == item["digest"], "what lives is to the bit what was approved"


# -- used


def it_is_used(owner: Owner) -> str:
    """It does what was missing, planned by rules, and heeds what the owner said."""
    asked = owner.ask(MISSING[0])
    done_by_it(asked, 120, 5040)
    told = owner.why(asked["turn"])
    assert "Planned by fixed rules, without a language model." in told
    assert NAME in told
    (step,) = owner.ask(SAY.format(2.5, 4))["steps"]
    alone = [each["kind"] for each in step["reply"].get("failures", ()) if each["item"] == 2.5]
    assert "invalid" in (step["kind"], *alone), "it is refused, alone or with all that was asked for"
    return str(asked["turn"])


def it_saves_time(owner: Owner, model: Model) -> None:
    """Planned by the language model at first; asked again and again in the same way, it needs no planning any more."""
    owner.read("config", "set", "turn.planner", "model")
    turns = []
    for number in PLANNED:
        owner.sleep()
        asked = owner.ask(SAY.format(number, 4))
        assert not model.missing, model.missing
        done_by_it(asked, math.factorial(number), 24)
        turns.append(asked["turn"])
    assert "Planned by a language model" in owner.why(turns[0])
    owner.sleep()
    calls = len(model.asked)
    for number in AT_ONCE:
        asked = owner.ask(SAY.format(number, 4))
        done_by_it(asked, math.factorial(number), 24)
        assert "A shortcut, learnt from earlier requests of this kind." in owner.why(asked["turn"])
        turns.append(asked["turn"])
    assert len(model.asked) == calls
    stats = owner.json("stats")
    took = [owner.json("why", turn)["plan"]["ms"] for turn in turns]
    assert (stats["hits"], stats["wrong"]) == (2, 0)
    assert stats["saved_ms"] == pytest.approx(2 * sum(took[:3]) / 3 - sum(took[3:]), rel=0.01)
    assert "Fast paths answered 2 requests and called no language model for it" in unwrapped(owner.read("stats"))
    owner.read("config", "set", "turn.planner", "router")


# -- broken, and mended


def it_breaks_and_is_put_into_quarantine(owner: Owner) -> tuple[int, list[str]]:
    """Something it was not made for; whoever sees it break tries again, and the third time is one too many."""
    owner.rest(days=10)
    odd, asked = next(found for odd in ODD if is_broken((found := (odd, owner.ask(SAY.format(odd, 4))))[1]))
    turns = [asked["turn"]]
    for state in ("active", "quarantine"):
        assert owner.json("executor", "show", NAME)["state"] == "active"
        asked = owner.ask(SAY.format(odd, 4))
        assert is_broken(asked), asked
        turns.append(asked["turn"])
        shown = owner.json("executor", "show", NAME)
        assert shown["state"] == state
    assert shown["reason"] == "3 faults of its own within a day"
    assert owner.ask(MISSING[0])["state"] == "nothing", "what is in quarantine does nothing"
    assert "it did not succeed" in owner.why(turns[0])
    return odd, turns


def its_repair_is_proposed(owner: Owner, broken: list[str]) -> dict[str, Any]:
    owner.sleep()
    (item,) = owner.waiting("direction")
    assert item["body"]["way"] == "repair"
    assert item["title"].startswith(f"Shall I learn to mend {NAME}")
    assert item["body"]["turns"] == broken
    shown = unwrapped(owner.read("inbox", "show", item["id"]))
    assert f"I failed 3 times to use {NAME}" in shown
    return item


def it_is_mended_after_a_yes(owner: Owner, repair: dict[str, Any], odd: int, model: Model) -> dict[str, Any]:
    owner.approve(repair)
    it_was_made(owner, owner.sleep(), model)
    (item,) = owner.waiting("activation")
    body = item["body"]
    assert (body["version"], body["version before"]) == ("1.1.0", "1.0.0")
    assert body["changes"] == ["no change: it may do what it might do before, and nothing else"]
    assert str(odd) in body["files"]["tests.toml"], "what broke is a birth test now"
    shown = unwrapped(owner.read("inbox", "show", item["id"]))
    for part in (
        "Compared with 1.0.0",
        "3 faults of its own",
        *body["changes"],
        "What broke",
        "What changed of its code",
    ):
        assert part in shown
    return item


def it_lives_again(owner: Owner, item: dict[str, Any], odd: int) -> None:
    """The new version does what the old one did, and does not break where that did."""
    owner.rest(days=8)
    assert f"{NAME} 1.1.0 is signed and active" in owner.approve(item)
    done_by_it(owner.ask(MISSING[0]), 120, 5040)
    for _ in range(3):
        asked = owner.ask(SAY.format(odd, 4))
        assert asked["steps"], asked
        assert not is_broken(asked), asked
    shown = owner.json("executor", "show", NAME)
    assert (shown["state"], shown["version"]) == ("active", "1.1.0")
    assert [each["version"] for each in owner.json("synt", "show", NAME)["versions"]] == ["1.1.0", "1.0.0"]
    gone = owner.json("mnestome", "list", "--state", "superseded")
    assert ("request", NAME, "1.0.0") in {(each["from"], each["to"], each["to_version"]) for each in gone}, gone


# -- looking back


def the_story_can_be_read(owner: Owner, questions: Questions, turns: list[str]) -> None:
    """In the inbox every question with its answer, with each proposal its history, and why each turn went as it did."""
    listed = {item["id"]: item["state"] for item in owner.json("inbox", "list", "--all")}
    assert [listed[each["id"]] for each in questions] == ["used", "refused", "used", "used", "used"]
    direction, repair = questions[0]["body"]["proposal"], questions[3]["body"]["proposal"]
    made = ["weighed", "direction", "commissioned", "drafted"]
    assert states(owner, direction) == [*made, "commissioned", "drafted", "active"]
    assert states(owner, repair) == [*made, "active"]
    for turn, says in zip(turns, ("nothing that Metnos has fits", "was done", "did not succeed"), strict=True):
        assert says in owner.why(turn)


def the_audit_has_every_step(owner: Owner, questions: Questions) -> None:
    """Each question, answer, signature, run and quarantine, in its order; what ran is to the bit what was approved."""
    assert owner.read("audit", "verify").startswith("sound: ")
    lines = owner.json("audit", "tail", "-n", "10000")
    direction, first, second, repair, third = (each["id"] for each in questions)
    agreed = ("question asked", "question approved", "approval used")
    assert [step for step, _ in itertools.groupby(filter(None, map(step_of, lines)))] == [
        *((kind, direction) for kind in agreed),
        *((kind, first) for kind in ("question asked", "question refused")),
        *((kind, second) for kind in agreed),
        ("executor signed", "1.0.0 done"),
        ("executor run", "1.0.0 done"),
        ("executor run", "1.0.0 failed"),
        ("executor quarantined", "done"),
        *((kind, repair) for kind in agreed),
        *((kind, third) for kind in agreed),
        ("executor signed", "1.1.0 done"),
        ("executor run", "1.1.0 done"),
    ]
    approved = {"1.0.0": questions[2]["digest"], "1.1.0": questions[4]["digest"]}
    ours = [line for line in lines if NAME in (line["names"].get("name"), line["names"].get("executor"))]
    assert {line["digests"]["executor"] for line in ours} == set(approved.values())
    assert all(line["digests"]["executor"] == approved[line["names"].get("version", "1.0.0")] for line in ours)


def step_of(line: Mapping[str, Any]) -> tuple[str, str] | None:
    """A line of the audit as a step of the story; nothing if it is about something else."""
    names = line["names"]
    if names.get("about") in ("direction", "activation"):
        return line["kind"], names["item"]
    if NAME in (names.get("name"), names.get("executor")) and names["phase"] != "intent":
        return line["kind"], f"{names.get('version', '')} {names['phase']}".strip()
    return None


def states(owner: Owner, proposal: str) -> list[str]:
    return [each["state"] for each in owner.json("synt", "show", proposal)["history"]]


# -- shared


def it_was_made(owner: Owner, night: list[Mapping[str, Any]], model: Model) -> None:
    """That the night made what was agreed to; why not, if not."""
    came = done(night, "synt")
    assert came.get("made") == 1, model.missing or owner.read("synt", "show", NAME)


def done_by_it(asked: dict[str, Any], *results: int) -> None:
    """That a request was done by the new executor, and rightly."""
    assert (asked["state"], [step["executor"] for step in asked["steps"]]) == ("done", [NAME]), asked
    assert all(str(result) in asked["text"] for result in results), asked["text"]


def is_broken(asked: dict[str, Any]) -> bool:
    """Whether a request failed by the fault of the new executor."""
    return [(step["executor"], step["kind"]) for step in asked["steps"]] in ([(NAME, "failed")], [(NAME, "too_large")])


def done(night: list[Mapping[str, Any]], name: str) -> dict[str, int]:
    """What one job of a night did."""
    (found,) = [job for job in night if job["job"] == name]
    return dict(found["counts"])


def unwrapped(text: str) -> str:
    """What is on the screen, wherever its lines are broken."""
    return " ".join(text.split())
