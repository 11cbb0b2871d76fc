from pathlib import Path

import pytest

from app.documented import examples
from app.extended import MAKING, MISSING, REQUEST, USING
from executors.hands import mutator
from metnos import Agent
from metnos.app import App, answering, library_agent
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorError, UsageError, Waiting, WorkspaceError
from metnos.executors import template
from metnos.executors.call import Call
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.turn.events import Answered, Event, Started, Wanted
from signing import OWNER, approve
from turn.scripted import Only, Scripted

PROGRAM = Principal(Channel.LIBRARY, "script", Autonomy.READ_ONLY)


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


def test_one_that_may_only_read_is_never_asked_and_takes_nothing_back(
    equipped: App, clock: MovableClock, letter: Path
) -> None:
    agent = Agent(equipped.workspace.root, principal=PROGRAM, clock=clock)
    answer = agent.ask(f"delete {letter}", approve=lambda _: pytest.fail("asked"))
    assert not answer.ok
    assert letter.exists()
    with pytest.raises(UsageError, match="may not take"):
        agent.undo()


def test_a_callback_lets_nothing_live_and_allows_nothing_for_good(agent: Agent, letter: Path) -> None:
    agent.app.__dict__["embedder"] = None  # loading one takes longer than all the rest
    agent.app.__dict__["models"] = Only(Scripted([MISSING, *MAKING, USING]))
    asked: list[Wanted] = []
    answer = agent.ask(REQUEST, approve=lambda wanted: asked.append(wanted) or True)
    assert (answer.ok, asked) == (False, [])
    assert agent.app.growing.proposals.all() == []
    assert not any(line.kind == "question approved" for line in agent.app.audit.newest())
    with pytest.raises(UsageError, match="for good"):
        agent.ask(f"write hello to {letter.parent}/new.txt", approve=lambda _: "always")
    assert agent.app.grants.active() == []


def test_what_cannot_be_taken_back_no_callback_approves(agent: Agent) -> None:
    mutator(agent.app, "def run(args, ctx):\n    return {'results': []}\n", reversal="irreversible")
    asked: list[Wanted] = []
    step = agent.run("write_files", {"target": "~/x"}, approve=lambda wanted: asked.append(wanted) or True)
    assert (step.ok, asked) == (False, [])
    (item,) = agent.app.inbox.waiting()
    assert (item.needs_yes, item.yes_count, item.asked_by.partition(":")[0]) == (2, 0, "library")


def test_a_program_answers_no_question_that_somebody_else_put(agent: Agent, letter: Path) -> None:
    call = Call("delete_files", {"paths": [str(letter)]}, OWNER, letter.parent)
    with pytest.raises(Waiting) as waiting:
        agent.app.runner.run(call)
    step = agent.run(
        "delete_files", {"paths": [str(letter)]}, approve=lambda _: pytest.fail("asked"), cwd=letter.parent
    )
    assert not step.ok
    assert agent.app.inbox.find(waiting.value.item).yes_count == 0
    assert letter.exists()


@pytest.mark.parametrize("channel", sorted(set(Channel) - {Channel.LIBRARY}))
def test_a_program_cannot_say_that_it_is_anything_else(equipped: App, channel: Channel) -> None:
    with pytest.raises(UsageError, match="does not speak as"):
        Agent(equipped.workspace.root, principal=Principal(channel, "owner", Autonomy.FULL))


def test_no_program_becomes_the_owner_in_person_later(agent: Agent) -> None:
    with pytest.raises(AttributeError):
        agent.principal = OWNER  # type: ignore[misc]
    assert agent.principal.channel is Channel.LIBRARY


def test_the_audit_says_that_a_program_answered(agent: Agent, letter: Path) -> None:
    assert agent.ask(f"delete {letter}", approve=lambda _: True).ok
    (line,) = [line for line in agent.app.audit.newest() if line.kind == "question approved"]
    assert line.entry.names["channel"] == "library"


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
    question = agent.adopt(drafts)
    (tmp_path / "home" / "diary.txt").write_text("one\ntwo\n")
    assert not agent.run("count_lines", {"path": "~/diary.txt"}).ok
    item = approve(agent.app.inbox, question)
    assert item.word == "count_lines"
    answering.carry_out(agent.app, item, OWNER)
    assert agent.run("count_lines", {"path": "~/diary.txt"}).reply["entries"][0]["lines"] == 2
    with pytest.raises(UsageError, match="already"):
        agent.adopt(drafts)


@pytest.mark.slow
def test_the_examples_of_its_documentation_hold(tmp_path: Path) -> None:
    assert examples(library_agent, tmp_path) == (2, 0)
