"""Five generations, each a whole life: founded, taught by what happens, retired; the next begins with what it left.

Everything an owner does is said at the terminal; what is asked of the agents runs as real turns in the real sandbox. No
language model, no embedder, no network. Time is moved, two months for a life. Each chapter asserts what an owner would
see, or what could be found in the files.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.bundled import write
from metnos.app import App, inheriting, remembering, whole
from metnos.cli import main
from metnos.core.clock import Clock, MovableClock
from metnos.core.workspace import Workspace
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Kind
from metnos.law.principal import at_terminal
from metnos.life import testament_file
from metnos.life.testament import Entry, Opened
from metnos.night import desktop
from signing import sign
from support import Ran
from synt.specimens import draft

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
LIVES = 5
PRIVATE = "the spare key lies under the third flower pot beside the shed"
RELEASED = (
    "Sorting the papers by date took a whole afternoon.",
    "Sorting the papers by sender was done in an hour.",
    "Sorting the papers by size helped nobody.",
)
LESSON = "read_files fails with not_found"
EXECUTOR = "format_text"

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("typist")]


@dataclass
class Line:
    """One owner and the agents they had, one after the other."""

    root: Path
    clock: MovableClock
    screen: pytest.CaptureFixture[str]
    testaments: list[Opened] = field(default_factory=list)
    born_with: list[dict[str, Any]] = field(default_factory=list)
    generation: int = 0

    @property
    def workspace(self) -> Workspace:
        """Of the one who lives, or died last."""
        return Workspace(self.root / f"agent{self.generation}")

    @property
    def papers(self) -> Path:
        return self.root / "home" / "papers"

    def file(self, generation: int) -> Path:
        return self.root / f"agent{generation}.testament"

    # -- at the terminal

    def say(self, *arguments: str) -> Ran:
        self.screen.readouterr()
        code = main(["--workspace", str(self.workspace.root), *arguments])
        seen = self.screen.readouterr()
        return Ran(code, seen.out, seen.err)

    def read(self, *arguments: str) -> str:
        ran = self.say(*arguments)
        assert ran.code == 0, (arguments, ran.out, ran.err)
        return ran.out

    def json(self, *arguments: str) -> Any:
        return json.loads(self.read(*arguments, "--json"))

    def waiting(self, kind: str) -> list[dict[str, Any]]:
        return [item for item in self.json("inbox", "list") if item["kind"] == kind]

    # -- a life

    def begin(self) -> None:
        self.generation = len(self.testaments)
        if self.generation:
            self.born_with.append(self.json("init", "--from", str(self.file(self.generation - 1))))
        else:
            self.read("init")

    def live(self, *requests: str) -> None:
        """Two months, in which these things are asked for every week; and one night in which it learns."""
        with self.opened() as app:
            for week in range(8):
                for text in requests:
                    request = app.turns.request(text.format(week), principal=at_terminal(), cwd=self.papers)
                    list(app.turns.run(request))
                if week == 4:
                    remembering.curate(app, now=True)
                self.clock.move(timedelta(days=7))

    def end(self, *release: str) -> Opened:
        named = [part for each in release for part in ("--release", each)]
        path = self.file(self.generation)
        self.read("life", "retire", "--to", str(path), *named)
        found = testament_file.unpack(testament_file.read(path))
        self.testaments.append(found)
        self.clock.move(timedelta(days=1))
        return found

    def opened(self) -> "Opening":
        return Opening(App.open(self.workspace))

    def lessons(self) -> list[Entry]:
        """What each testament says of the one thing that happened to everybody."""
        return [
            next(each for each in left.testament.entries if each.kind is Kind.ANTI and LESSON in each.text)
            for left in self.testaments
        ]


@dataclass
class Opening:
    """A workspace for a moment."""

    app: App

    def __enter__(self) -> App:
        return self.app

    def __exit__(self, *_: object) -> None:
        self.app.close()


@pytest.fixture
def line(no_mutants: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Line:
    clock = MovableClock(START)
    really: Callable[..., App] = App.open.__func__  # type: ignore[attr-defined]  # the function behind the class method

    def opened(cls: type[App], workspace: Workspace, _clock: Clock | None = None) -> App:
        app = really(cls, workspace, clock)
        app.__dict__["embedder"] = None
        return app

    monkeypatch.setattr(App, "open", classmethod(opened))
    for module in (inheriting, whole):
        monkeypatch.setattr(module, "SystemClock", lambda: clock)
    monkeypatch.setattr(desktop, "_FOLDERS", ())
    made = Line(tmp_path, clock, capsys)
    made.papers.mkdir(parents=True)
    for number in range(3):
        (made.papers / f"note{number}.txt").write_text("one two three\n")
    return made


def test_five_generations(line: Line) -> None:
    the_first_learns_and_leaves(line)
    the_second_earns_what_it_inherited(line)
    the_third_refuses_the_executor(line)
    the_fourth_is_offered_what_held(line)
    the_fifth_knows_where_it_comes_from(line)
    what_everybody_learnt_held_and_what_one_learnt_is_gone(line)
    nothing_private_ever_crossed(line)


MISSING = "read the file {}/gone{{}}.txt"
WORDS = "how many words in {}/note1.txt"


def the_first_learns_and_leaves(line: Line) -> None:
    line.begin()
    line.read("config", "set", "turn.show", "7")
    with line.opened() as app:
        app.grimoire.add(PRIVATE)
        told = [app.grimoire.add(text).id for text in RELEASED]
        write(app, draft())
        sign(app, EXECUTOR, "a test")
    line.live(MISSING.format(line.papers), WORDS.format(line.papers))
    left = line.end(*told)
    assert left.testament.generation == 0
    assert {each.text for each in left.testament.episodes} == set(RELEASED)
    assert left.executors is not None
    assert [each.name for each in left.executors.drafts] == [EXECUTOR]
    assert left.core_size < 6000
    dead = line.say("ask", "how many words are there")
    assert dead.code == 1
    assert "was retired" in dead.err


def the_second_earns_what_it_inherited(line: Line) -> None:
    line.begin()
    (born,) = line.born_with
    assert born["generation"] == 1
    with line.opened() as app:
        facts = app.grimoire.facts.find(count=-1)
        assert facts
        assert all(fact.confidence <= 0.34 for fact in facts)
        assert {fact.provenance for fact in facts} == {Provenance.TESTAMENT}
        at_birth = inheriting.standing(app)
        assert at_birth.shares.own_share == 0.0
        assert EXECUTOR not in {each.name for each in app.catalog.usable()}
    (item,) = line.waiting("activation")
    assert "predecessor" in str(item["body"]["why"])
    line.read("inbox", "approve", item["id"])
    line.read("config", "set", "turn.show", "7")
    line.live(MISSING.format(line.papers))
    with line.opened() as app:
        assert EXECUTOR in {each.name for each in app.catalog.usable()}
        inherited = app.grimoire.episodes.get(sorted(inheriting.lineage(app).episodes()))
        assert [each.replays for each in inherited] == [1, 1, 1]  # in the one consolidation so far
    line.end()
    told = line.json("life", "lineage")
    assert told["facts"]["earned"] >= 1
    assert 0.0 < told["divergence"] < 1.0
    assert told["own_share"] > 0.0


def the_third_refuses_the_executor(line: Line) -> None:
    line.begin()
    (item,) = line.waiting("activation")
    line.read("inbox", "refuse", item["id"], "--reason", "not any more")
    line.read("config", "set", "turn.show", "7")
    assert line.waiting("default") == []  # two lives are not enough
    line.live(MISSING.format(line.papers))
    assert line.end().executors is None


def the_fourth_is_offered_what_held(line: Line) -> None:
    """Three generations proved the lesson and kept the setting."""
    line.begin()
    assert line.waiting("activation") == []
    (setting,) = line.waiting("default")
    assert setting["title"] == "Work as 3 generations did: turn.show = 7"
    line.read("inbox", "approve", setting["id"])
    (lesson,) = [item for item in line.waiting("memory") if LESSON in item["title"]]
    assert LESSON not in (line.workspace.root / "PLAYBOOK.md").read_text()
    line.read("inbox", "approve", lesson["id"])
    assert LESSON in (line.workspace.root / "PLAYBOOK.md").read_text()
    with line.opened() as app:
        assert app.settings.turn.show == 7
    line.live(MISSING.format(line.papers))
    line.end()


def the_fifth_knows_where_it_comes_from(line: Line) -> None:
    line.begin()
    told = line.json("life", "lineage")
    assert told["generation"] == 4
    assert [each["generation"] for each in told["graveyard"]] == [3, 2, 1, 0]
    keys = [each["key"] for each in told["graveyard"]]
    assert keys == [left.key for left in reversed(line.testaments)]
    assert len({told["key"], *keys}) == LIVES
    assert [each["testament"] for each in told["graveyard"]] == [left.digest for left in reversed(line.testaments)]
    shown = line.read("life", "lineage", "--graveyard", "--heirlooms")
    assert "What worked" in shown
    assert "Divergence" in shown
    (setting,) = line.waiting("default")
    assert "4 generations" in setting["title"]
    line.live(MISSING.format(line.papers))
    line.end()


def what_everybody_learnt_held_and_what_one_learnt_is_gone(line: Line) -> None:
    assert [left.testament.generation for left in line.testaments] == list(range(LIVES))
    lessons = line.lessons()
    assert [each.held for each in lessons] == [1, 2, 3, 4, 5]
    assert {each.generation for each in lessons} == {0}  # each life proved it by itself
    assert {each.origin for each in lessons} == {line.testaments[0].key}
    counted = [
        sum(each.kind is Kind.BASELINE and "text" in each.domain for each in left.testament.entries)
        for left in line.testaments
    ]
    assert counted[0] == 1
    assert counted[-1] == 0


def nothing_private_ever_crossed(line: Line) -> None:
    for generation, left in enumerate(line.testaments):
        raw = line.file(generation).read_text()
        for words in (PRIVATE, "flower pot", str(line.papers), "papers/", "gone3", str(line.root)):
            assert words not in raw, (generation, words)
        assert len(left.testament.entries) <= 2048
