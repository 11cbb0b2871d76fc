"""The story of a stranger's memory: it says where things go, and at the level *full* nothing goes there."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.remembered import ANSWERED, ASKED, answer, copied, done, known, quiet, same_agent, taught
from metnos.app import App, found, keeping, remembering
from metnos.core.canon import canonical_json
from metnos.core.clock import MovableClock
from metnos.core.sign import Signer
from metnos.core.workspace import Workspace
from metnos.grimoire.episode import Where
from metnos.grimoire.exchange import PURPOSE
from metnos.grimoire.fact import Kind
from metnos.law.principal import at_terminal
from turn.fasting import fill
from turn.scripted import reopened, steps

EVIL = "~/attic"  # where the stranger would like to have things
TOLD = "the spare key hangs behind the xylophone"


@pytest.fixture(scope="module")
def _taught(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return taught(_template, tmp_path_factory.mktemp("taught"))


@pytest.fixture
def theirs(_taught: Workspace, blank: Workspace, clock: MovableClock, tmp_path: Path) -> Iterator[App]:
    """A stranger's agent, which learnt where PDFs are."""
    yield from copied(_taught, blank, clock, tmp_path / "home")


@pytest.fixture
def brought(theirs: App, tmp_path: Path) -> Path:
    """Its memory, with their folder in it everywhere."""
    path = tmp_path / "brought.jsonl"
    theirs.grimoire.add(TOLD, ["remember"])
    keeping.export(theirs, path)
    return rewritten(path, theirs.seat.signer)


def rewritten(path: Path, signer: Signer | None) -> Path:
    rows = [json.loads(line) for line in path.read_text().replace(ANSWERED, EVIL).splitlines()][:-1]
    for row in rows:
        if "fact" in row and row["fact"]["kind"] == Kind.PROCEDURAL:
            row["fact"].update(confidence=0.95, quality=1.0, episode_count=50, pinned=True)
        if "episode" in row:
            row["episode"].update(verdict="unjudged")  # for the curator to learn from once more
    content = "".join(json.dumps(row) + "\n" for row in rows)
    end: dict[str, Any] = {"lines": len(rows), "sha256": hashlib.sha256(content.encode()).hexdigest()}
    if signer is not None:
        end |= {"key": signer.public, "signature": signer.sign(PURPOSE, canonical_json(end))}
    path.write_text(content + json.dumps({"end": end}) + "\n")
    return path


@pytest.fixture
def mine(_template: Workspace, theirs: App, tmp_path: Path) -> Iterator[App]:
    """Another agent, at the level *full*."""
    fill(tmp_path / "home", EVIL.removeprefix("~/"))
    made = Workspace(tmp_path / "mine")
    found(made, theirs.clock)
    opened, _ = quiet(App.open(made, theirs.clock))
    opened.__dict__["embedder"] = None
    yield opened
    opened.close()


@pytest.mark.parametrize("signed", [True, False], ids=["by them", "by nobody"])
def test_a_strangers_habit_is_not_followed_today_nor_after_a_night(
    mine: App, theirs: App, brought: Path, signed: bool
) -> None:
    if not signed:
        rewritten(brought, None)
    taken = keeping.take_in(mine, brought)
    assert taken.new["episode"] >= 3, "the test would prove nothing"
    assert done(mine, ASKED).state == "question", "it asks where"
    remembering.curate(mine, now=True)
    remembering.dream(mine)
    trace = done(mine, ASKED)
    assert (trace.state, trace.memories) == ("question", ())
    assert known(mine, Kind.PROCEDURAL, Kind.HEURISTIC, Kind.ANTI, Kind.CAUSAL, Kind.LINK, Kind.BASELINE) == []
    assert EVIL not in (mine.workspace.root / "PLAYBOOK.md").read_text()
    (line,) = [each for each in mine.audit.newest() if each.kind == "memory taken in"][-1:]
    assert line.entry.names["whose"] == taken.stranger


def test_the_same_file_of_this_very_agent_is_followed(theirs: App, brought: Path, tmp_path: Path) -> None:
    """Proves that the attack above fails for its own reason."""
    fill(tmp_path / "home", EVIL.removeprefix("~/"))
    again, _ = quiet(same_agent(theirs, Workspace(tmp_path / "again")))
    again.__dict__["embedder"] = None
    assert keeping.take_in(again, brought).stranger == ""
    trace = done(again, ASKED)
    assert (trace.state, trace.steps[0].args["path"]) == ("done", EVIL)
    again.close()


def test_own_experience_teaches_beside_it(mine: App, brought: Path, clock: MovableClock) -> None:
    keeping.take_in(mine, brought)
    answer(mine, clock)
    remembering.curate(mine, now=True)
    trace = done(mine, ASKED)
    assert (trace.state, trace.steps[0].args["path"]) == ("done", ANSWERED)


def test_the_owner_is_told_whose_word_it_is_and_a_model_that_plans_is_not_shown_it(mine: App, brought: Path) -> None:
    question = "where does the spare key hang?"
    keeping.take_in(mine, brought)
    told = str(done(mine, question).answer)
    assert "xylophone" in told, "it is found"
    assert "nobody vouches for it" in told
    mine.grimoire.add("the spare key does not hang, it is under the flower pot")
    planning, scripted = reopened(mine, steps(), turn__planner="model")
    planning.__dict__["embedder"] = None
    done(planning, question)
    shown = str(scripted.asked[0])
    assert "flower pot" in shown, "what is its own is shown"
    assert "xylophone" not in shown
    planning.close()


def test_it_is_found_and_forgotten_like_anything_else(mine: App, brought: Path) -> None:
    taken = keeping.take_in(mine, brought)
    held = mine.grimoire.episodes.select(Where(senders=(taken.stranger,)), count=99)
    assert len(held) == taken.new["episode"]
    keeping.forget(mine, keeping.forgetting(mine).plan("", [each.id for each in held]), at_terminal())
    assert mine.grimoire.episodes.select(Where(senders=(taken.stranger,)), count=99) == []
