"""What repeated requests teach about their arguments."""

from dataclasses import replace
from datetime import timedelta

import pytest

from grimoire.happened import START, step, turn
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.cluster import Cluster
from metnos.grimoire.domain import HOME
from metnos.grimoire.episode import Episode
from metnos.grimoire.extract import Material
from metnos.grimoire.fact import Kind
from metnos.grimoire.preferences import preferences, preferred


def material(episodes: list[Episode]) -> Material:
    fresh = frozenset(each.id for each in episodes)
    return Material(Cluster("files", tuple(episodes), (tuple(episodes),)), fresh, HOME, {})


def asked(to: str, said: str = "", liked: bool | None = None) -> Episode:
    return turn(
        "move the {glob} to {path}",
        step("find_files", pattern="*.pdf"),
        step("move_files", to=to, entries="from step 1"),
        payload={"slots": {"path": said} if said else {}, "feedback": liked},
    )


def test_an_argument_that_the_owner_always_says_is_a_preference() -> None:
    found = list(preferences(material([asked("/papers", said="/papers") for _ in range(4)])))
    (move,) = [each for each in found if each.data["strategy"] == "move_files"]
    assert move.kind is Kind.PROCEDURAL
    assert move.data["when"] == {"canonical": "move the {glob} to {path}"}
    assert move.data["prefer"] == {"executor": "move_files", "args": {"to": "/papers"}}
    assert move.data["instead_of"] == {}


def test_an_argument_that_nobody_chose_is_no_preference_unless_somebody_liked_it() -> None:
    assert list(preferences(material([asked("/papers") for _ in range(4)]))) == []
    liked = [asked("/papers", liked=True), *(asked("/papers") for _ in range(3))]
    assert [each.data["strategy"] for each in preferences(material(liked))] == ["find_files", "move_files"]


def test_what_the_owner_says_of_a_turn_later_counts_as_if_it_had_been_known_at_once() -> None:
    seen = [asked("/papers") for _ in range(4)]
    said = {seen[2].source: Outcome(feedback=True)}
    found = preferences(material(seen), outcome_of=lambda source: said.get(source, Outcome()))
    assert [each.data["strategy"] for each in found] == ["find_files", "move_files"]
    assert preferred(material(seen), outcome_of=lambda _: Outcome(feedback=False)) == []


@pytest.mark.parametrize(("path", "learnt"), [("model", 2), ("react", 2), ("router", 0), ("fast", 0), (None, 0)])
def test_asking_again_speaks_for_what_a_model_chose_and_not_for_how_fixed_rules_work(path: str, learnt: int) -> None:
    seen = [replace(each, payload={**each.payload, "path": path}) for each in (asked("/papers") for _ in range(4))]
    assert len(list(preferences(material(seen), outcome_of=lambda _: Outcome(repeated=1)))) == learnt


def test_what_another_step_found_is_nobodys_choice() -> None:
    found = {**step("extract_text_pdf", paths=["/docs/a.pdf"]), "flowed": ["paths"]}
    seen = [turn("read <files>", found, payload={"feedback": True}) for _ in range(4)]
    assert list(preferences(material(seen))) == []


def test_an_argument_that_varies_is_no_preference() -> None:
    varied = [asked(f"/papers/{place}", said=f"/papers/{place}") for place in range(4)]
    assert [each for each in preferences(material(varied)) if each.data["strategy"] == "move_files"] == []


def test_what_flows_between_steps_is_no_argument() -> None:
    found = preferences(material([asked("/papers", said="/papers", liked=True) for _ in range(4)]))
    assert all("entries" not in each.data["prefer"]["args"] for each in found)


def found_in(folder: str, files: str, day: int) -> Episode:
    """A question that was answered with a folder."""
    return turn(
        "find <files>",
        step("find_files", path=folder, pattern=files),
        ts=START + timedelta(days=day),
        payload={"slots": {"files": files, "path": folder}},
    )


def places(episodes: list[Episode]) -> list[tuple[object, object]]:
    found = [each for each in preferences(material(episodes)) if "path" in each.data["prefer"]["args"]]
    return [(each.data["when"].get("slots"), each.data["prefer"]["args"]["path"]) for each in found]


def test_where_the_form_alone_does_not_say_it_a_particular_may() -> None:
    both = [found_in(*each, day) for day in range(3) for each in (("/papers", "*.pdf"), ("/photos", "*.jpg"))]
    assert places(both) == [({"files": "*.jpg"}, "/photos"), ({"files": "*.pdf"}, "/papers")]


def test_what_used_to_be_otherwise_does_not_speak_for_ever() -> None:
    old = [found_in("/papers", "*.pdf", day) for day in range(8)]
    new = [found_in("/work", "*.pdf", 10 + day) for day in range(4)]
    assert places([*old, *new[:2]]) == [(None, "/papers")]
    assert places([*old[-6:], *new]) == [(None, "/work")]


def test_a_short_list_is_a_choice_too_and_a_long_one_is_content() -> None:
    one = [
        turn("find duplicat fil", step("find_duplicates", paths=["/photos"]), payload={"slots": {"path": "/photos"}})
        for _ in range(3)
    ]
    (only,) = preferences(material(one))
    assert only.data["prefer"]["args"] == {"paths": ["/photos"]}
    many = [
        turn("x", step("count_text", paths=["/a", "/b", "/c", "/d"]), payload={"slots": {}, "feedback": True})
        for _ in range(3)
    ]
    assert list(preferences(material(many))) == []


def test_only_what_something_new_speaks_for_is_told() -> None:
    seen = [asked("/papers", said="/papers") for _ in range(4)]
    old = Material(Cluster("files", tuple(seen), (tuple(seen),)), frozenset(), HOME, {})
    assert preferred(old) == []
    assert preferred(material(seen))
