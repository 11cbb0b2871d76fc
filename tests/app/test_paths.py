"""What turns teach fast paths, and what the night makes of it. Turns are real where it matters that they are."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.turned import close, pdfs
from executors.samples import manifest_text, write_sample
from grimoire.traces import step
from metnos.app import App, learning, paths
from metnos.core.clock import MovableClock
from metnos.fastpath.promote import USES
from metnos.fastpath.records import State
from metnos.grimoire.trace import State as Turn
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.mnestome import proto
from signing import sign
from turn.fasting import events, every, fill, make_sure, path_of, practise, there
from turn.scripted import reopened
from turn.turning import take

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
BOTH = ("find_files", "delete_files")


@pytest.fixture(autouse=True)
def _sure(monkeypatch: pytest.MonkeyPatch) -> None:
    make_sure(monkeypatch)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture
def app(equipped: App, home: Path) -> Iterator[App]:
    opened, _ = reopened(equipped, model=False, policy__autonomy="full", turn__planner="router")
    yield opened
    opened.close()


# -- what is learnt, and what is not


def test_three_turns_make_a_path(app: App) -> None:
    for number, folder in enumerate("abc"):
        close(app, number, *pdfs(folder))
        assert learning.catch_up(app) == 1
    found = path_of(app, "find_files")
    assert (found.state, found.passes, found.plan_ms) == (State.SHADOW, 3, pytest.approx(40.0))
    assert "~" not in json.dumps([form.canonical for form in app.fast.logs[0].forms()])


@pytest.mark.parametrize(
    "other",
    [
        {"plan": {"open": True}},
        {"plan": {"tainted": [1]}},
        {"plan": {"notes": ["that is assumed"]}},
        {"plan": {"cut": True}},
        {"plan": {"kind": "question"}},
        {"state": Turn.PARTLY},
        {"state": Turn.FAILED},
        {"state": Turn.REHEARSED},
        {"state": Turn.CANCELLED},
        {"path": "fast"},
        {"steps": (step(1, "find_files", version="0.0.1"),)},
        {"steps": (step(1, "find_files", version="1.0.0", ok=False),)},
    ],
)
def test_what_went_otherwise_than_well_or_rests_on_more_than_the_request_is_not_learnt(
    app: App, other: dict[str, Any]
) -> None:
    for number, folder in enumerate("abcd"):
        close(app, number, *pdfs(folder), **other)
    assert learning.catch_up(app) == 4
    assert every(app) == []
    assert learning.catch_up(app) == 0, "it is not asked about again"


def test_an_answer_to_a_question_is_no_request_of_its_own(app: App) -> None:
    asked = close(app, 0, *pdfs("x"), state=Turn.QUESTION)
    for number, folder in enumerate("abcd", start=1):
        close(app, number, *pdfs(folder), plan={"last": asked})
    learning.catch_up(app)
    assert every(app) == []


def test_a_turn_that_went_on_after_a_yes_is_learnt_from_what_was_asked_in_the_first(app: App) -> None:
    """Its own trace has no particulars: read without them, the words of the request would be a form."""
    text, plan = "delete the PDFs in ~/secret", [
        ("find_files", {"path": "~/secret", "pattern": "*.pdf"}),
        ("delete_files", {"paths": "{{step1.entries.path}}"}),
    ]  # fmt: skip
    waited = close(app, 0, text, plan, state=Turn.WAITING, steps=())
    version = app.toolbox.kit().tools["delete_files"].version
    close(app, 1, text, plan, continues=waited, slots=(), steps=(step(1, "delete_files", version=version),))
    learning.catch_up(app)
    found = path_of(app, *BOTH)
    assert found.passes == 1
    (form,) = app.fast.logs[1].forms(found.id)
    assert "secret" not in form.canonical + form.said + json.dumps(found.shape)


def test_whoever_asks_all_teach_the_same_paths(app: App) -> None:
    """A path is what a planner made of words, and every step of it still needs a permit of whoever asks."""
    for number, (folder, channel) in enumerate(zip("abc", ("terminal", "telegram", "api"), strict=True)):
        close(app, number, *pdfs(folder), channel=channel, sender=f"somebody {number}")
    learning.catch_up(app)
    assert path_of(app, "find_files").passes == 3


def test_a_prediction_is_held_against_what_was_planned(app: App) -> None:
    for number, folder in enumerate("abcd"):
        close(app, number, *pdfs(folder))
    learning.catch_up(app)
    found = path_of(app, "find_files")
    (form,) = app.fast.logs[0].forms(found.id)
    said = {"path": found.id, "form": form.canonical, "probability": 0.9, "score": 0.0, "exact": True}
    same = [{"executor": "find_files", "args": {"path": "~/e", "pattern": "*.pdf"}}]
    close(app, 5, *pdfs("e"), plan={"fast": {**said, "steps": same}})
    close(app, 6, *pdfs("f"), plan={"fast": {**said, "steps": same}})
    close(app, 7, *pdfs("g"), plan={"fast": {**said, "steps": same}}, state=Turn.CANCELLED)
    close(app, 8, *pdfs("h"), plan={"fast": {**said, "steps": []}})
    close(app, 9, *pdfs("i"), plan={"fast": {**said, "path": "gone", "steps": same}})
    learning.catch_up(app)
    told = events(app, found)
    assert (told["agree"], told["disagree"]) == (1, 1)
    assert path_of(app, "find_files").state is State.DEMOTED


def test_a_guess_by_which_it_would_not_have_answered_is_evidence_and_speaks_against_nothing(app: App) -> None:
    """Else every request that nobody knows would switch off whatever resembles it most."""
    for number, folder in enumerate("abcd"):
        close(app, number, *pdfs(folder))
    learning.catch_up(app)
    found = path_of(app, "find_files")
    (form,) = app.fast.logs[0].forms(found.id)
    other = [{"executor": "find_files", "args": {"path": "~/x", "pattern": "*.pdf"}}]
    said = {"path": found.id, "form": form.canonical, "probability": 0.01, "score": 0.02, "exact": False, "sure": False}
    close(app, 5, *pdfs("e"), plan={"fast": {**said, "steps": other}})
    unknown = {"kind": "nothing", "steps": [], "path": "router", "fast": {**said, "sure": True, "steps": other}}
    close(app, 6, "order a pizza", [], path="router", plan=unknown, state=Turn.NOTHING)
    learning.catch_up(app)
    after = path_of(app, "find_files")
    assert (after.state, after.agreed, after.disagreed) == (State.ACTIVE, 0, 0)
    assert [(each.right, each.score) for each in app.fast.logs[0].judged()] == [(False, 0.02)]
    close(app, 7, *pdfs("f"), plan={"fast": {**said, "sure": True, "steps": other}})
    learning.catch_up(app)
    assert path_of(app, "find_files").state is State.DEMOTED, "what it would have answered is held against it"


# -- requests that follow one another


def test_three_chains_of_two_requests_make_a_path_for_the_joint_request_only(app: App, home: Path) -> None:
    for folder in ("inbox", "docs", "work"):
        take(app, f"find the PDFs in ~/{folder}", conversation=folder)
        take(app, "delete them", conversation=folder)
    found = path_of(app, *BOTH)
    assert (found.passes, found.state) == (3, State.SHADOW)
    take(app, "find the PDFs in ~/papers", conversation="papers")
    take(app, "delete them", conversation="papers")
    assert path_of(app, *BOTH).state is State.ACTIVE
    fill(home)
    alone = take(app, "find the PDFs in ~/docs").trace
    assert alone is not None
    assert [one.executor for one in alone.steps] == ["find_files"]
    assert "docs/a.pdf" in there(home)
    joint = take(app, "find the PDFs in ~/docs and then delete them").trace
    assert joint is not None
    assert joint.path == "fast"
    assert {"docs/a.pdf", "docs/b.pdf"} & there(home) == set()
    assert {"docs/c.txt", "inbox/a.pdf"} <= there(home)


def test_a_chain_whose_parts_are_of_two_conversations_is_none(app: App) -> None:
    for folder in ("inbox", "docs", "work"):
        take(app, f"find the PDFs in ~/{folder}", conversation=folder)
        take(app, "delete them", conversation="another")
    assert [path.tools for path in every(app)] == [("find_files",)]


# -- what one executor does


def cover(app: App) -> None:
    """An executor that says that it does both in one step."""
    manifest = manifest_text("find_archives").replace("reversal =", f"covers = [{json.dumps(BOTH)}]\nreversal =")
    write_sample(app.workspace.executors, "find_archives", manifest=manifest)
    sign(app, "find_archives", "a test")


def test_a_sequence_that_an_executor_covers_is_demoted_at_once_and_not_learnt_again(app: App, home: Path) -> None:
    practise(app, "delete the PDFs in {}")
    assert path_of(app, *BOTH).state is State.ACTIVE
    cover(app)
    trace = take(app, "delete the PDFs in ~/docs").trace
    assert trace is not None
    assert trace.path == "router", "not even the first time"
    found = path_of(app, *BOTH)
    assert (found.state, found.reason) == (State.DEMOTED, "find_archives does all of it in one step")
    assert found.hits == 0
    practise(app, "delete the PDFs in {}")
    after = path_of(app, *BOTH)
    assert (after.state, after.passes) == (State.DEMOTED, found.passes)


def test_an_executor_that_covers_a_sequence_demotes_it_before_anybody_asks(app: App, home: Path) -> None:
    practise(app, "delete the PDFs in {}")
    cover(app)
    learning.catch_up(app)
    assert path_of(app, *BOTH).state is State.DEMOTED


# -- at night


def test_a_rule_of_the_playbook_that_concerns_a_path_puts_it_back_to_shadow(app: App) -> None:
    for number, folder in enumerate("abcd"):
        close(app, number, *pdfs(folder))
        learning.catch_up(app)
    book = app.workspace.root / "PLAYBOOK.md"
    book.write_text("# Playbook\n\n- Be brief.\n")
    paths.nightly(app)
    assert path_of(app, "find_files").state is State.ACTIVE, "the first sight of it changes nothing"
    book.write_text("# Playbook\n\n- Be brief.\n- Use find_files only after asking.\n")
    paths.nightly(app)
    found = path_of(app, "find_files")
    assert found.state is State.SHADOW
    assert "PLAYBOOK.md" in found.reason
    paths.nightly(app)
    assert path_of(app, "find_files").state is State.SHADOW, "it has to pass three times first"


def test_a_sequence_that_is_used_often_is_wished_for_once(app: App, clock: MovableClock) -> None:
    plan = [("find_files", {"path": "~/x", "pattern": "*.pdf"}), ("count_text", {"paths": "{{step1.entries.path}}"})]
    for number in range(USES):
        assert paths.promote_pipelines(app).counts == {"offered": 0}
        close(app, number, "count the words of the PDFs in ~/x", plan)
        learning.catch_up(app)
    (found,) = every(app)
    assert found.passes == USES
    assert paths.promote_pipelines(app).counts == {"offered": 1}
    (wish,) = proto.protos(app.catalog.db)
    assert (wish.dst, wish.uses) == ("count_files", 1)
    clock.move(timedelta(days=1))
    assert paths.promote_pipelines(app).counts == {"offered": 0}
    assert [each.uses for each in proto.protos(app.catalog.db)] == [1]
    assert events(app, found)["offered"] == 1


def test_the_night_counts_and_says_what_it_can_recognise(app: App) -> None:
    assert paths.nightly(app).counts["paths"] == 0
    for number, folder in enumerate("abcd"):
        close(app, number, *pdfs(folder))
        learning.catch_up(app)
    done = paths.nightly(app)
    assert done.counts["paths"] == 1
    assert done.message
