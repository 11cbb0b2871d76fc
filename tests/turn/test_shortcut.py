"""Fast paths in real turns: when one answers, what happens when it cannot, and what takes its trust away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from copying import copy_folder
from metnos.app import App, learning, paths
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.fastpath.records import State
from metnos.grimoire.trace import Trace
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from metnos.turn import planning
from metnos.turn.events import Answer
from metnos.turn.shortcut import Shortcuts
from turn import fasting
from turn.fasting import (
    FILES,
    IS_CHECKED,
    TALK,
    Dear,
    change_tool,
    events,
    every,
    fill,
    make_sure,
    path_of,
    practise,
    there,
)
from turn.scripted import Scripted, reopened, steps
from turn.turning import take

DELETE = ("find_files", "delete_files")
YES, NO = Answer.YES, Answer.NO


@pytest.fixture(autouse=True)
def _sure(monkeypatch: pytest.MonkeyPatch) -> None:
    make_sure(monkeypatch)
    monkeypatch.setattr(planning, "_SHORTLIST", 100)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "done").mkdir()
    fill(home)
    return home


@pytest.fixture(scope="module")
def _practised(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    texts = ("find the PDFs in {}", "delete the PDFs in {}")
    return fasting.practised(_template, tmp_path_factory.mktemp("practised"), *texts)


@pytest.fixture
def full(_practised: Workspace, blank: Workspace, clock: MovableClock, home: Path) -> Iterator[App]:
    """Finding and deleting PDFs was practised; fixed rules plan, and nothing of the owner's own is asked about."""
    copy_folder(_practised.root, blank.root)
    app, _ = reopened(App.open(blank, clock), model=False)
    yield app
    app.close()


@pytest.fixture
def careful(full: App) -> Iterator[App]:
    """The same, and the owner is asked about every change."""
    full.close()
    app, _ = reopened(full, model=False, policy__autonomy="supervised")
    yield app
    app.close()


def ask(app: App, text: str, *answers: Answer, conversation: str = "", gone: Path | None = None) -> Trace:
    found = take(app, text, answers, conversation=conversation, gone=gone).trace
    assert found is not None
    return found


def thinking(app: App) -> tuple[App, Scripted]:
    """The same workspace where a model plans, and fails whoever lets it be asked."""
    app.close()
    return reopened(app, turn__planner="model")


# -- answering


def test_what_was_asked_four_times_is_answered_without_a_model_and_with_its_own_particulars(
    equipped: App, home: Path
) -> None:
    app, chat = reopened(equipped, turn__planner="model")
    for folder in ("inbox", "docs", "work", "papers"):
        chat.replies.append(steps({"find_files": {"path": f"~/{folder}", "pattern": "*.pdf"}}))
        assert ask(app, f"find the PDFs in ~/{folder}").path == "model"
    asked = len(chat.asked)
    (home / "new place").mkdir()
    (home / "new place" / "z.txt").write_text("z")
    (home / "new place" / "z.pdf").write_text("z")
    fifth = ask(app, 'find the PDFs in "~/new place"')
    sixth = ask(app, "please find the PDFs in ~/done")
    assert len(chat.asked) == asked
    assert sixth.path == "fast"
    assert [step.args for step in sixth.steps] == [{"path": "~/done", "pattern": "*.pdf"}]
    if fifth.path == "fast":
        assert [entry["path"] for entry in fifth.steps[0].reply["entries"]] == [str(home / "new place" / "z.pdf")]
    app.close()


def test_the_answer_is_the_one_that_planning_gives(full: App, home: Path) -> None:
    fast = ask(full, "find the PDFs in ~/docs")
    full.close()
    app, _ = reopened(full, model=False, fastpath__use="shadow")
    planned = ask(app, "find the PDFs in ~/docs")
    assert (fast.path, planned.path) == ("fast", "router")
    assert fast.answer == planned.answer
    assert fast.plan["steps"] == planned.plan["steps"]
    app.close()


def test_money_and_time_that_were_saved_are_counted(equipped: App, home: Path) -> None:
    app, chat = reopened(equipped, turn__planner="model")
    app.__dict__["models"] = Dear(chat)
    cost = []
    for folder in ("inbox", "docs", "work", "papers"):
        chat.replies.append(steps({"find_files": {"path": f"~/{folder}", "pattern": "*.txt"}}))
        cost += [call.usd for call in ask(app, f"find the txt files in ~/{folder}").calls]
    found = path_of(app, "find_files")
    assert found.plan_usd == pytest.approx(sum(cost) / 4)
    assert found.plan_usd > 0
    assert ask(app, "find the txt files in ~/done").path == "fast"
    (hit,) = [event for event in app.fast.logs[0].events(found.id) if event.kind == "hit"]
    assert hit.saved_usd == pytest.approx(found.plan_usd)
    assert hit.saved_ms is not None
    assert hit.saved_ms >= 0
    app.close()


# -- falling back within the turn


def test_what_a_path_cannot_be_filled_with_is_planned(full: App) -> None:
    found = path_of(full, "find_files")
    before = events(full, found)
    trace = ask(full, 'find the PDFs in ~/docs that contain "x"')
    assert trace.path == "router"
    assert events(full, found)["hit"] == before["hit"]


@pytest.mark.parametrize("what", ["version", "args"])
def test_another_version_or_other_arguments_of_an_executor_are_planned_and_answered_rightly(
    full: App, home: Path, what: str
) -> None:
    assert path_of(full, *DELETE).state is State.ACTIVE
    args = full.toolbox.kit().tools["delete_files"].args
    more = {"type": "boolean", "description": "whether for good"}
    other = {"version": "9.0.0", "args": {**args, "properties": {**args["properties"], "really": more}}}
    change_tool(full, "delete_files", **{what: other[what]})
    trace = ask(full, "delete the PDFs in ~/docs")
    assert trace.path == "router"
    assert "delete_files" in trace.plan["fast"]["why"]
    assert not trace.plan["fast"]["may"]
    assert there(home) & {"docs/a.pdf", "docs/b.pdf"} == set()
    paths.nightly(full)
    assert path_of(full, *DELETE).state is State.SHADOW


def test_a_step_that_fails_before_anything_was_changed_lets_the_planner_plan(equipped: App, home: Path) -> None:
    """A model took one file for all of them, as long as there was that file."""
    app, chat = reopened(equipped, turn__planner="model")
    for folder in ("inbox", "docs", "work", "papers"):
        chat.replies.append(steps({"read_files": {"paths": [f"~/{folder}/c.txt"]}}))
        ask(app, f"find the txt files in ~/{folder}")
    assert path_of(app, "read_files").state is State.ACTIVE
    app.close()
    app, _ = reopened(app, model=False, turn__planner="router")
    (home / "done" / "e.txt").write_text("e")
    trace = ask(app, "find the txt files in ~/done")
    assert (trace.path, trace.state) == ("router", "done")
    assert [step.executor for step in trace.steps] == ["find_files"], "those of the plan that was followed"
    assert "e.txt" in trace.answer
    assert "c.txt" not in trace.answer
    assert trace.plan["fast"]["fell_back"]
    told = events(app, path_of(app, "read_files"))
    assert (told["fell_back"], told["disagree"], told["hit"]) == (1, 1, 0)
    assert path_of(app, "read_files").state is State.DEMOTED
    app.close()


def test_a_request_that_cannot_be_met_is_no_fault_of_the_path(full: App, home: Path) -> None:
    (home / "passing").mkdir()
    trace = ask(full, "find the PDFs in ~/passing", gone=home / "passing")
    found = path_of(full, "find_files")
    assert trace.state == "failed"
    assert trace.plan["fast"]["fell_back"]
    assert (events(full, found)["disagree"], found.state) == (0, State.ACTIVE)
    assert ask(full, "find the PDFs in ~/docs").path == "fast"


def test_after_something_was_changed_no_second_plan_is_made(full: App, home: Path) -> None:
    """Deletes what it found, then fails: planning anew could do it to something else."""
    text = "delete the PDFs in ~/{0} and then read the file ~/{0}/c.txt"
    for folder in ("inbox", "docs", "work", "papers"):
        fill(home, folder)
        trace = ask(full, text.format(folder))
        assert trace.state == "done", trace.answer
    assert path_of(full, *(step["executor"] for step in trace.plan["steps"])).state is State.ACTIVE
    fill(home)
    trace = ask(full, text.format("docs"), gone=home / "docs" / "c.txt")
    assert trace.path == "fast"
    assert trace.state == "failed"
    assert not trace.plan["fast"]["fell_back"]
    assert [step.executor for step in trace.steps].count("delete_files") == 1
    assert there(home) & {"docs/a.pdf", "docs/b.pdf"} == set()


# -- what changes something is asked about, every time


def test_a_path_that_changes_something_asks_every_time_and_shows_what_it_would_do(careful: App, home: Path) -> None:
    for folder in ("docs", "work"):
        taken = take(careful, f"delete the PDFs in ~/{folder}", [YES])
        assert taken.trace is not None
        assert taken.trace.path == "fast"
        (wanted,) = taken.wanted
        assert any(f"{folder}/a.pdf" in line for line in wanted.lines)
        assert f"{folder}/a.pdf" not in there(home)


def test_a_no_demotes_at_once_and_three_clean_passes_bring_it_back_to_shadow(careful: App, home: Path) -> None:
    trace = ask(careful, "delete the PDFs in ~/docs", NO)
    assert (trace.path, trace.state) == ("fast", "refused")
    assert "docs/a.pdf" in there(home)
    found = path_of(careful, *DELETE)
    assert (found.state, found.wrong) == (State.DEMOTED, 1)
    states = []
    for folder in ("inbox", "docs", "work"):
        fill(home)
        assert ask(careful, f"delete the PDFs in ~/{folder}", YES).path == "router"
        states.append(path_of(careful, *DELETE).state)
    assert states == [State.DEMOTED, State.DEMOTED, State.SHADOW]


def test_an_undo_demotes(full: App, home: Path) -> None:
    trace = ask(full, "delete the PDFs in ~/docs")
    assert trace.path == "fast"
    full.undo.undo(trace.steps[-1].action, by=at_terminal())
    learning.catch_up(full)
    found = path_of(full, *DELETE)
    assert found.state is State.DEMOTED
    assert found.reason == "what it did was undone"
    assert ask(full, "delete the PDFs in ~/docs").path == "router"


def test_a_bad_opinion_demotes_once_and_a_pass_that_was_disliked_is_no_clean_one(full: App) -> None:
    trace = ask(full, "find the PDFs in ~/docs")
    full.medium.feedback(trace.id, good=False)
    learning.catch_up(full)
    learning.catch_up(full)
    found = path_of(full, "find_files")
    assert (found.state, found.wrong, events(full, found)["wrong"]) == (State.DEMOTED, 1, 1)
    for number in range(2):
        ask(full, f"find the PDFs in ~/{('work', 'docs')[number]}")
    full.medium.feedback(ask(full, "find the PDFs in ~/inbox").id, good=False)
    learning.catch_up(full)
    ask(full, "find the PDFs in ~/papers")
    assert events(full, found)["fail"] == 1


def test_a_yes_that_comes_later_is_the_same_answer(careful: App, home: Path) -> None:
    """What was approved in the inbox and then undone speaks against the path, and counts as one hit."""
    waiting = ask(careful, "delete the PDFs in ~/docs")
    assert (waiting.path, waiting.state) == ("fast", "waiting")
    (item,) = careful.inbox.waiting()
    owner = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
    turn = careful.turns.go_on(careful.inbox.approve(item.id, owner), owner)
    assert turn is not None
    list(turn)
    assert "docs/a.pdf" not in there(home)
    found = path_of(careful, *DELETE)
    assert (found.state, found.hits) == (State.ACTIVE, 1)
    went_on = careful.medium.last()
    assert went_on is not None
    careful.undo.undo(went_on.steps[-1].action, by=at_terminal())
    learning.catch_up(careful)
    assert path_of(careful, *DELETE).state is State.DEMOTED


def test_an_answer_that_waits_and_is_refused_later_demotes(careful: App) -> None:
    assert ask(careful, "delete the PDFs in ~/docs").state == "waiting"
    (item,) = careful.inbox.waiting()
    careful.inbox.refuse(item.id, Principal(Channel.TERMINAL, "owner", Autonomy.FULL))
    learning.catch_up(careful)
    assert path_of(careful, *DELETE).state is State.DEMOTED


def test_whoever_may_not_do_it_may_not_do_it_by_a_path(full: App, home: Path) -> None:
    """Others share the paths of a workspace, never the level of whoever made them."""
    stranger = Principal(Channel.API, "program", Autonomy.READ_ONLY)
    taken = take(full, "delete the PDFs in ~/docs", principal=stranger)
    assert taken.trace is not None
    assert taken.trace.state in ("refused", "waiting")
    assert {f"docs/{name}" for name in FILES} <= there(home)


# -- the owner's settings


@pytest.mark.parametrize("use", ["shadow", "off"])
def test_where_they_may_not_answer_they_do_not(full: App, use: str) -> None:
    full.close()
    app, _ = reopened(full, model=False, fastpath__use=use)
    before = path_of(app, "find_files")
    trace = ask(app, "find the PDFs in ~/docs")
    after = path_of(app, "find_files")
    assert trace.path == "router"
    assert after.hits == 0
    assert after.agreed - before.agreed == (1 if use == "shadow" else 0)
    assert after.passes - before.passes == (1 if use == "shadow" else 0)
    app.close()


def test_what_was_done_while_they_were_off_is_not_learnt_afterwards(full: App) -> None:
    full.close()
    before = [path.passes for path in every(full)]
    app, _ = reopened(full, model=False, fastpath__use="off")
    for _ in range(3):
        ask(app, "list the folders in ~")
    app.close()
    app, _ = reopened(app, model=False, fastpath__use="on")
    ask(app, "list the folders in ~/docs")
    assert sorted(path.passes for path in every(app)) == sorted([*before, 1])
    app.close()


def test_a_smaller_share_of_wrong_answers_needs_more_evidence(full: App) -> None:
    full.close()
    app, _ = reopened(full, model=False, fastpath__wrong_share="0.001")
    assert ask(app, "find the PDFs in ~/docs").path == "router"
    paths.nightly(app)
    trace = ask(app, "find the PDFs in ~/docs")
    assert trace.path == "router", "a thousand cannot show that fewer than one in a thousand is wrong"
    app.close()
    app, _ = reopened(app, model=False, fastpath__wrong_share="0.01")
    assert ask(app, "find the PDFs in ~/docs").path == "fast"
    app.close()


def test_without_evidence_nothing_answers(equipped: App, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "FACTORY", paths.FACTORY.__class__(0, 0))
    app, _ = reopened(equipped, model=False, turn__planner="router")
    for _ in range(2):
        practise(app, "find the PDFs in {}")
    found = path_of(app, "find_files")
    assert (found.state, found.hits, found.agreed) == (State.SHADOW, 0, 7)
    app.close()


def test_one_in_so_many_is_planned_all_the_same_and_that_is_recorded(
    full: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Shortcuts, "_is_checked", lambda _self, _turn: True)
    before = path_of(full, "find_files")
    trace = ask(full, "find the PDFs in ~/docs")
    after = path_of(full, "find_files")
    assert trace.path == "router"
    assert "planned all the same" in trace.plan["fast"]["why"]
    assert (after.agreed - before.agreed, after.passes - before.passes) == (1, 1)


def test_about_one_in_so_many_is_checked_and_the_same_turn_always(full: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shortcuts, "_is_checked", IS_CHECKED)
    shortcuts = full.shortcuts
    assert shortcuts is not None
    turns = [f"turn{number}" for number in range(4000)]
    checked = [shortcuts._is_checked(turn) for turn in turns]
    assert sum(checked) == pytest.approx(4000 / full.settings.fastpath.check_every, rel=0.3)
    assert checked == [shortcuts._is_checked(turn) for turn in turns]


def test_planners_that_do_something_else_take_the_trust_away(full: App, home: Path) -> None:
    """The model plans otherwise each time that it is asked all the same."""
    app, chat = thinking(full)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shortcuts, "_is_checked", lambda _self, _turn: True)
        for _ in range(3):
            chat.replies.append(steps({"list_folders": {"path": "~/docs"}}))
            assert ask(app, "find the PDFs in ~/docs").path == "model"
    (found,) = [path for path in every(app) if path.tools == ("find_files",)]
    assert found.state is State.DEMOTED
    assert found.disagreed >= 1
    chat.replies.append(TALK)
    assert ask(app, "find the PDFs in ~/docs").path == "model"
    app.close()
