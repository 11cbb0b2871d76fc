"""When a turn may offer to make what it lacks: only the owner, only for their own words, only what could be made."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.executors import vocabulary
from metnos.grimoire.trace import State
from metnos.law.principal import PEOPLE, Autonomy, Channel, Principal
from metnos.synt.need import Way
from metnos.turn.extend_rules import BEYOND_OBJECTS, BEYOND_VERBS, LONGEST, lacks, need
from metnos.turn.plan.records import REQUEST, Kind, Plan, Wish
from metnos.turn.plan.records import Path as PlanPath
from metnos.turn.request import Request
from metnos.turn.scratch import Scratch
from tables import try_each
from turn.turning import OWNER


def scratch(
    name: str = "format_text", *, text: str = "put 'x'  into\ntitle case", who: Principal = OWNER, **more: Any
) -> Scratch:
    request = Request("T", text, who, Path("/"), datetime(2026, 1, 1, tzinfo=UTC), "c", more.pop("dry_run", False))
    wish = Wish(name, REQUEST, "a summary", ("quoted",), ("text",))
    kind = more.pop("kind", Kind.NOTHING)
    wishes = (wish,) if name else ()
    plan = Plan(kind, PlanPath.MODEL, wishes=wishes, unmet=more.pop("unmet", True))
    made = Scratch(request, plan=plan, state=State.NOTHING)
    for field, value in more.items():
        setattr(made, field, value)
    return made


def test_what_is_missing_and_could_be_made_is_offered() -> None:
    assert lacks(scratch())


@try_each(
    "changed",
    [
        {"unmet": False},
        {"kind": Kind.QUESTION},
        {"kind": Kind.TALK},
        {"kind": Kind.STEPS},
        {"state": State.TALKED},
        {"plan": None},
        {"dry_run": True},
        {"continues": "another turn"},
        {"made": "format_text"},
        {"remembered": ["known: it is blue"]},
        {"text": "x" * (LONGEST + 1)},
    ],
    ids=lambda each: next(iter(each)),
)
def test_whatever_else_a_turn_came_to_is_not(changed: dict[str, Any]) -> None:
    assert not lacks(scratch(**changed))


@given(st.sampled_from(Channel), st.sampled_from(Autonomy))
def test_only_the_owner_is_offered_anything(channel: Channel, level: Autonomy) -> None:
    offered = lacks(scratch(who=Principal(channel, "somebody", level)))
    assert offered == (channel in PEOPLE and level is not Autonomy.READ_ONLY)


@given(st.sampled_from(sorted(vocabulary.load().verbs)), st.sampled_from(sorted(vocabulary.load().objects)))
def test_only_what_reads_and_reckons_is_offered(verb: str, thing: str) -> None:
    name = f"{verb}_{thing}"
    assert lacks(scratch(name, text=f"{verb} it")) == (verb not in BEYOND_VERBS and thing not in BEYOND_OBJECTS)
    assert lacks(scratch(name, text="zzz it")) == (thing not in BEYOND_OBJECTS), "a verb that nobody said"


def test_what_the_vocabulary_has_no_name_for_is_offered_too() -> None:
    assert lacks(scratch(""))
    assert need(scratch("")).name == ""


def test_the_words_that_are_beyond_it_are_words_of_the_vocabulary() -> None:
    known = vocabulary.load()
    assert known.verbs.keys() >= BEYOND_VERBS
    assert known.objects.keys() >= BEYOND_OBJECTS


def test_the_need_is_the_owners_own_words_with_this_turn_as_evidence() -> None:
    found = need(scratch(text="format 'x'  in\ntitle case"))
    assert (found.text, found.way, found.name) == ("format 'x' in title case", Way.EXTERNAL, "format_text")
    assert need(scratch(text="put 'x' into title case")).name == "", "a name is chosen for it where none was said"
    assert (found.inputs, found.outputs) == (("quoted",), ("text",))
    assert found.evidence.turns == ("T",)
    assert not found.way.is_internal, "one yes, to the files"
