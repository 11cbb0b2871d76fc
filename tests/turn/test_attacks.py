"""Attacks on the owner's yes: an approval for one thing that does another, a grant wider than its words, a level that
is borrowed. Real executors, real sandbox, real stores; the model, where there is one, plans what hurts most."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.core.errors import InboxError
from metnos.executors.run import Call
from metnos.law.capability import Capability
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.turn import planning
from metnos.turn.act import act
from metnos.turn.events import Answer, Wanted
from metnos.turn.loop import Turn
from signing import approve
from turn.benching import llm_home
from turn.scripted import reopened, steps
from turn.turning import OWNER, Taken, follow, take

PROGRAM = Principal(Channel.API, "program", Autonomy.SUPERVISED)


@pytest.fixture(autouse=True)
def _every_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model has everything to choose from."""
    monkeypatch.setattr(planning, "_SHORTLIST", 100)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    (home / "inbox").mkdir()
    for name in ("one.txt", "two.txt", "three.pdf"):
        (home / "inbox" / name).write_text(f"this is {name}\n")
    return home


@pytest.fixture
def full(equipped: App, home: Path) -> Iterator[App]:
    """Nothing of the owner's own is asked about."""
    app, _ = reopened(equipped, model=False, policy__autonomy="full")
    yield app
    app.close()


def approved(app: App, answers: tuple[Answer, ...] = ()) -> Taken:
    """Say yes to the one question that waits, as `metnos inbox approve` does, and go on."""
    (item,) = app.inbox.waiting()
    turn = app.turns.go_on(approve(app.inbox, item.id, OWNER), OWNER)
    assert turn is not None
    return follow(app, turn, answers)


def until_asked(turn: Turn) -> Wanted:
    return next(event for event in turn if isinstance(event, Wanted))


def rest(turn: Turn, answer: Answer) -> str:
    """Give the answer; returns how the turn ended."""
    events = [turn.send(answer), *turn]
    return str(events[-1].state)  # type: ignore[union-attr]  # the last one is `Answered`


def there(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file() and ".local" not in path.parts}


# -- a yes that comes later


def test_a_yes_to_a_repaired_step_does_that_step(equipped: App, home: Path) -> None:
    """The plan before the repair holds another step in its place, which nobody asked about."""
    app, _ = reopened(
        equipped,
        steps(
            {"read_files": {"paths": ["~/nowhere.txt"]}},
            {"move_files": {"paths": ["~/inbox/one.txt"], "to": "~/second", "make_folder": True}},
        ),
        steps({"copy_files": {"paths": ["~/inbox/two.txt"], "to": "~/first", "make_folder": True}}),
        policy__autonomy="full",
        turn__planner="model",
    )
    asked = "read ~/nowhere.txt and move ~/inbox/one.txt to ~/second; or copy ~/inbox/two.txt to ~/first"
    assert take(app, asked).ended.state == "waiting"
    (item,) = app.inbox.waiting()
    assert item.body["executor"] == "copy_files"
    (home / "nowhere.txt").write_text("there now")
    assert approved(app).ended.state == "done"
    assert there(home) == {"inbox/one.txt", "inbox/two.txt", "inbox/three.pdf", "nowhere.txt", "first/two.txt"}
    app.close()


def test_a_yes_to_a_step_of_reasoning_does_that_step(equipped: App, home: Path) -> None:
    """What a model adds while it reasons is in no plan; the yes to it is not lost, and does not do the plan again."""
    with llm_home.serving() as web:
        web.pages |= {"/a": "page a", "/b": "page b"}
        app, _ = reopened(
            equipped,
            steps({"read_files": {"paths": ["~/inbox/one.txt"]}}, {"answer": {"text": ""}}),
            steps({"get_pages": {"urls": [f"{web.url}/b"]}}),
            policy__autonomy="full",
            turn__planner="model",
        )
        first = take(app, f"read ~/inbox/one.txt and compare it with the page {web.url}/a")
        assert (first.ended.state, web.asked) == ("waiting", [])  # the address is not the owner's
        second = approved(app)
        assert (second.ended.state, web.asked) == ("done", ["/b"])
        assert second.trace is not None
        assert [step.executor for step in second.trace.steps] == ["get_pages"]
    app.close()


def test_them_are_still_the_same_files_when_the_yes_comes(equipped: App, home: Path) -> None:
    take(equipped, "find the txt files in ~/inbox", conversation="c")
    assert take(equipped, "move them to ~/done", conversation="c").ended.state == "waiting"
    take(equipped, "find the pdf files in ~/inbox", conversation="c")
    assert approved(equipped).ended.state == "done"
    assert there(home) == {"inbox/three.pdf", "done/one.txt", "done/two.txt"}


def test_them_in_a_later_step_are_still_the_same_files(equipped: App, home: Path) -> None:
    """The step behind the one that is approved refers to the turn before, too, and is looked up only then."""
    them = ["{{last.entries.path}}"]
    (home / "done").mkdir()
    app, _ = reopened(
        equipped,
        steps({"find_files": {"path": "~/inbox", "pattern": "*.txt"}}),
        steps({"copy_files": {"paths": them, "to": "~/done"}}, {"delete_files": {"paths": them}}),
        steps({"find_files": {"path": "~/inbox", "pattern": "*.pdf"}}),
        turn__planner="model",
    )
    take(app, "find the txt files in ~/inbox", conversation="c")
    assert take(app, "copy them to ~/done and delete the old ones", conversation="c").ended.state == "waiting"
    take(app, "find the pdf files in ~/inbox", conversation="c")
    assert approved(app, (Answer.YES,)).ended.state == "done"
    assert there(home) == {"inbox/three.pdf", "done/one.txt", "done/two.txt"}
    app.close()


def test_a_yes_lends_its_level_to_nothing_else(full: App, home: Path) -> None:
    """A program at the level `supervised` wants two things. Yes to the one is not yes to the other."""
    wants = "copy ~/inbox/one.txt to ~/done and delete ~/inbox/two.txt"
    assert take(full, wants, principal=PROGRAM).ended.state == "waiting"
    second = approved(full)
    assert second.ended.state == "waiting"
    assert (home / "inbox" / "two.txt").exists()
    assert (home / "done" / "one.txt").exists()


def test_a_plan_that_waits_twice_goes_on_twice(equipped: App, home: Path) -> None:
    wants = "find the txt files in ~/inbox, copy them to ~/done and delete ~/inbox/three.pdf"
    first = take(equipped, wants)
    assert first.ended.state == "waiting", first.ended
    assert approved(equipped).ended.state == "waiting"
    assert approved(equipped).ended.state == "done"
    assert there(home) == {"inbox/one.txt", "inbox/two.txt", "done/one.txt", "done/two.txt"}


def test_what_is_approved_later_is_done_as_it_was_shown(equipped: App, home: Path, clock: MovableClock) -> None:
    """A note has its time in it; an hour later the same call would write something else than was shown."""
    app, _ = reopened(
        equipped,
        steps({"find_files": {"path": "~/inbox"}}),
        steps({"find_files": {"path": "~/inbox"}}, {"append_notes": {"text": "seen"}}),
        turn__planner="model",
    )
    take(app, "find the files in ~/inbox", conversation="c")
    assert take(app, "find the files in ~/inbox again", conversation="c").ended.state == "waiting"
    clock.move(timedelta(hours=1, minutes=1))
    assert approved(app).ended.state == "done"
    (note,) = app.workspace.notes.glob("*.md")
    assert "12:00" in note.read_text()
    app.close()


def test_an_edited_question_takes_the_old_yes_along_to_nowhere(equipped: App, home: Path) -> None:
    take(equipped, "delete ~/inbox/one.txt")
    (old,) = equipped.inbox.waiting()
    new = equipped.runner.edit(old, {"paths": ["~/inbox/two.txt"]}, OWNER)
    with pytest.raises(InboxError):
        approve(equipped.inbox, old.id, OWNER)
    assert equipped.turns.go_on(approve(equipped.inbox, new.id, OWNER), OWNER) is None  # no turn wanted that
    assert len(there(home)) == 3


@pytest.mark.parametrize("how", ["refused", "expired"])
def test_a_yes_that_comes_too_late_gives_nothing_at_all(
    equipped: App, home: Path, clock: MovableClock, how: str
) -> None:
    """Not even a grant: the owner said no somewhere else, or the question ended while it stood on the screen."""
    (home / "done").mkdir()
    request = equipped.turns.request("copy ~/inbox/one.txt to ~/done", principal=OWNER, cwd=home)
    turn = equipped.turns.run(request)
    wanted = until_asked(turn)
    if how == "refused":
        equipped.inbox.refuse(wanted.item, OWNER, "no")
    else:
        clock.move(timedelta(hours=25))
    assert rest(turn, Answer.ALWAYS) == "refused"
    assert equipped.grants.active() == []
    assert there(home) == {"inbox/one.txt", "inbox/two.txt", "inbox/three.pdf"}


def test_two_who_are_asked_the_same_do_it_once(equipped: App, home: Path) -> None:
    (home / "done").mkdir()
    asked = [
        equipped.turns.run(equipped.turns.request("move ~/inbox/one.txt to ~/done", principal=OWNER, cwd=home))
        for _ in range(2)
    ]
    assert len({until_asked(turn).item for turn in asked}) == 1
    assert [rest(turn, Answer.YES) for turn in asked] == ["done", "refused"]


def test_a_link_that_turns_between_the_question_and_the_yes_leads_nowhere(equipped: App, home: Path) -> None:
    (home / "mine").mkdir()
    (home / "theirs").mkdir()
    (home / "link").symlink_to(home / "mine")
    turn = equipped.turns.run(equipped.turns.request("copy ~/inbox/one.txt to ~/link", principal=OWNER, cwd=home))
    assert str(home / "mine") in " ".join(until_asked(turn).lines)
    (home / "link").unlink()
    (home / "link").symlink_to(home / "theirs")
    assert rest(turn, Answer.YES) == "waiting"  # that is another question
    assert there(home) == {"inbox/one.txt", "inbox/two.txt", "inbox/three.pdf"}


def test_notes_are_kept_without_a_question_and_not_thrown_away_without_one(equipped: App) -> None:
    """At `supervised` Metnos may write its notes. That a program has them all deleted is something else."""
    notes = equipped.workspace.notes
    (notes / "diary.md").write_text("mine")
    taken = take(equipped, f"delete {notes}/diary.md", principal=PROGRAM)
    assert taken.ended.state == "waiting"
    assert (notes / "diary.md").exists()


# -- always


def test_always_is_for_what_was_shown_and_not_for_what_is_there_when_it_is_said(equipped: App, home: Path) -> None:
    """A file that does not exist is its own target; once it does, its folder would be: here, the whole home."""
    turn = equipped.turns.run(equipped.turns.request('write "x" to ~/new.txt', principal=OWNER, cwd=home))
    wanted = until_asked(turn)
    assert wanted.always.endswith(f"change what is in {home}/new.txt")
    (home / "new.txt").write_text("from somewhere else")
    rest(turn, Answer.ALWAYS)
    assert [(grant.capability, grant.target) for grant in equipped.grants.active()] == [
        (Capability.FS_WRITE, f"{home}/new.txt")
    ]


@pytest.mark.parametrize("carries", [True, False])
def test_always_is_for_sending_only_where_that_was_asked(
    equipped: App, home: Path, monkeypatch: pytest.MonkeyPatch, carries: bool
) -> None:
    """To fetch a page with what was read in its address is to send it."""
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [])
    call = Call("get_pages", {"urls": ["http://a.example/x"]}, OWNER, home, carries=carries)
    acting = act(equipped.door, call, 1, 1, dry_run=False)
    wanted = next(each for each in acting if isinstance(each, Wanted))
    assert wanted.always.endswith(f"{'send to' if carries else 'fetch from'} a.example")
    with pytest.raises(StopIteration):
        acting.send(Answer.ALWAYS)
    assert {(grant.target, grant.sending) for grant in equipped.grants.active()} == {("a.example", carries)}


def test_always_never_opens_the_home_by_another_name(
    equipped: App, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alias = home.parent / "alias"
    alias.symlink_to(home)
    monkeypatch.setenv("HOME", str(alias))
    (home / "list.txt").write_text("old\n")
    app = App.open(equipped.workspace, equipped.clock)
    turn = app.turns.run(app.turns.request('replace "old" with "new" in ~/list.txt', principal=OWNER, cwd=home))
    assert until_asked(turn).always == ""
    assert rest(turn, Answer.ALWAYS) == "done"  # a yes, and no more than that
    assert app.grants.active() == []
    app.close()


@pytest.mark.parametrize("level", ["supervised", "full"])
@pytest.mark.parametrize("name", [".hid", "Makefile"])
def test_always_is_not_offered_for_what_goes_along_and_why_says_who_asks(
    equipped: App, home: Path, level: str, name: str
) -> None:
    app, _ = reopened(equipped, model=False, policy__autonomy=level)
    for folder in ("proj", "Old"):
        (home / folder).mkdir()
    (home / "proj" / name).touch()
    call = Call("move_files", {"paths": [str(home / "proj")], "to": str(home / "Old")}, OWNER, home)
    acting = act(app.door, call, 1, 1, dry_run=False)
    wanted = next(each for each in acting if isinstance(each, Wanted))
    assert any(name in line for line in wanted.lines)
    assert wanted.always == ""
    said = {step: (verdict, words) for step, verdict, words in wanted.why}
    assert said["level"][0] == "ask"
    assert wanted.item in said["approval"][1]
    with pytest.raises(StopIteration) as ended:
        acting.send(Answer.ALWAYS)
    assert (ended.value.value.state, app.grants.active()) == ("done", [])
    app.close()


def test_a_grant_does_not_speak_for_what_content_may_have_wanted(equipped: App, home: Path) -> None:
    equipped.grants.grant("*", Capability.FS_WRITE, str(home), days=1, by=OWNER)
    app, _ = reopened(
        equipped,
        steps({"read_files": {"paths": ["~/inbox/one.txt"]}}),
        steps({"read_files": {"paths": ["~/inbox/one.txt"]}}, {"delete_files": {"paths": ["~/inbox/two.txt"]}}),
        policy__autonomy="full",
        turn__planner="model",
    )
    take(app, "read ~/inbox/one.txt", conversation="c")
    second = take(app, "read ~/inbox/one.txt and ~/inbox/two.txt", conversation="c")
    (wanted,) = second.wanted
    assert (wanted.executor, wanted.always) == ("delete_files", "")
    assert (home / "inbox" / "two.txt").exists()
    app.close()


# -- a rehearsal


def test_a_rehearsal_is_never_gone_on_with(equipped: App, home: Path) -> None:
    """It must not leave a question whose yes would do in earnest what was only to be shown."""
    app, _ = reopened(
        equipped,
        steps({"read_files": {"paths": ["~/inbox/one.txt"]}}),
        steps(
            {"get_pages": {"urls": ["http://127.0.0.1:9/x"]}},
            {"move_files": {"paths": ["~/inbox/two.txt"], "to": "~/done", "make_folder": True}},
        ),
        policy__autonomy="full",
        turn__planner="model",
    )
    take(app, "read ~/inbox/one.txt", conversation="c")
    taken = take(app, "show ~/inbox/two.txt and move it to ~/done", conversation="c", dry_run=True)
    assert taken.ended.state in ("rehearsed", "failed")
    assert (app.inbox.waiting(), taken.wanted) == ([], [])
    assert len(there(home)) == 3
    app.close()
