from pathlib import Path

import pytest

from app.documented import examples
from metnos import Agent
from metnos.app import App, library_agent
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorError, UsageError, WorkspaceError
from metnos.executors import template
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.turn.events import Answered, Event, Started, Wanted

PROGRAM = Principal(Channel.API, "script", Autonomy.FULL)


@pytest.fixture
def agent(equipped: App, clock: MovableClock) -> Agent:
    return Agent(equipped.workspace.root, clock=clock)


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    path = tmp_path / "home" / "letter.txt"
    path.write_text("dear all")
    return path


def test_a_question_is_answered_and_every_event_is_heard(agent: Agent) -> None:
    heard: list[Event] = []
    answer = agent.ask("what is 17 * 23?", on_event=heard.append)
    assert answer.ok
    assert "391" in str(answer)
    assert [step.executor for step in answer.steps] == ["compute_numbers"]
    assert isinstance(heard[0], Started)
    assert isinstance(heard[-1], Answered)
    assert answer.turn == heard[0].turn


def test_without_anybody_to_approve_it_waits_in_the_inbox(agent: Agent, letter: Path) -> None:
    answer = agent.ask(f"delete {letter}")
    assert (answer.state, answer.ok, answer.undo) == ("waiting", False, ())
    assert letter.exists()
    (item,) = answer.waits
    assert agent.app.inbox.find(item).yes_count == 0


def test_what_is_approved_is_done_and_can_be_taken_back(agent: Agent, letter: Path) -> None:
    asked: list[Wanted] = []
    answer = agent.ask(f"delete {letter}", approve=lambda wanted: asked.append(wanted) or True)
    assert answer.state == "done"
    assert answer.waits == ()
    assert any(str(letter) in line for line in asked[0].lines)
    assert not letter.exists()
    assert answer.steps[0].undo == answer.undo[0]
    agent.undo(answer.undo[0])
    assert letter.read_text() == "dear all"


def test_what_is_refused_is_not_done_and_a_strange_answer_is_no_yes(agent: Agent, letter: Path) -> None:
    assert agent.ask(f"delete {letter}", approve=lambda _: False).state == "refused"
    with pytest.raises(UsageError, match="no answer"):
        agent.ask(f"delete {letter}", approve=lambda _: "of course")
    assert letter.exists()


def test_a_program_is_never_asked_and_takes_nothing_back(equipped: App, clock: MovableClock, letter: Path) -> None:
    agent = Agent(equipped.workspace.root, principal=PROGRAM, clock=clock)
    answer = agent.ask(f"delete {letter}", approve=lambda _: pytest.fail("asked"))
    assert answer.state == "waiting"
    assert len(answer.waits) == 1
    assert letter.exists()
    with pytest.raises(UsageError, match="may not take"):
        agent.undo()


def test_requests_of_one_object_are_one_conversation(agent: Agent, letter: Path) -> None:
    assert agent.ask(f"find text files in {letter.parent}").ok
    second = agent.ask("copy them to ~/copies", approve=lambda _: True)
    assert second.ok, second.text
    assert (letter.parent / "copies" / letter.name).exists()
    talks = {glance.conversation for glance in agent.app.medium.newest(10)}
    assert len(talks) == 1


def test_a_stream_that_is_closed_is_a_turn_that_is_cancelled(agent: Agent, letter: Path) -> None:
    stream = agent.stream(f"delete {letter}", approve=lambda _: True)
    first = next(stream)
    assert isinstance(first, Started)
    stream.close()
    assert letter.exists()
    assert str(agent.app.medium.load(first.turn).state) == "cancelled"


def test_a_dry_run_changes_nothing(agent: Agent, letter: Path) -> None:
    assert agent.ask(f"delete {letter}", dry_run=True, approve=lambda _: True).state == "rehearsed"
    assert letter.exists()


def test_its_memory_and_its_graph_are_at_hand(agent: Agent) -> None:
    agent.grimoire.remember("The bins go out on Tuesday.")
    assert agent.grimoire.recall("when do the bins go out?")[0].text == "The bins go out on Tuesday."
    assert "Tuesday" in agent.ask("when do the bins go out?").text
    assert agent.mnestome.top(1)
    agent.grimoire.close()  # which is the agent's to close
    assert agent.ask("what is 2 + 2?").ok


def test_where_there_is_none_one_is_made_only_if_it_may_be(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no workspace"):
        Agent(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


def test_one_executor_is_run_through_the_same_door(agent: Agent, letter: Path) -> None:
    looked = agent.run("read_files", {"paths": [str(letter)]})
    assert looked.ok
    assert looked.undo == ""
    waits = agent.run("delete_files", {"paths": [str(letter)]})
    assert not waits.ok
    assert "metnos inbox approve" in waits.message
    assert letter.exists()
    done = agent.run("delete_files", {"paths": [str(letter)]}, approve=lambda _: True)
    assert done.ok
    assert not letter.exists()
    agent.undo(done.undo)
    assert letter.exists()
    assert not agent.run("compute_numbers", {"nonsense": 1}).ok


def test_what_does_not_pass_is_not_adopted_and_leaves_nothing(agent: Agent, tmp_path: Path) -> None:
    drafts = tmp_path / "count_lines"
    drafts.mkdir()
    with pytest.raises(ExecutorError, match="cannot be read"):
        agent.adopt(drafts)
    for name, content in template.files("count_lines").items():
        (drafts / name).write_bytes(content)
    honest = (drafts / "executor.py").read_text()
    (drafts / "executor.py").write_text(honest.replace("lines}", "lines + 1}"))
    with pytest.raises(ExecutorError, match="does not pass: test: counts lines"):
        agent.adopt(drafts)
    assert not (agent.app.workspace.executors / "count_lines").exists()
    (drafts / "executor.py").write_text(honest)
    assert agent.adopt(drafts)[0] == "static gate"
    (tmp_path / "home" / "diary.txt").write_text("one\ntwo\n")
    assert agent.run("count_lines", {"path": "~/diary.txt"}).reply["entries"][0]["lines"] == 2
    with pytest.raises(UsageError, match="already"):
        agent.adopt(drafts)


@pytest.mark.slow
def test_the_examples_of_its_documentation_hold(tmp_path: Path) -> None:
    assert examples(library_agent, tmp_path) == (2, 0)
