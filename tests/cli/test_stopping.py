"""Long work in processes of its own, on a terminal: it shows how far it is, a signal ends it at a safe place, and the
next run goes on to the same end."""

import json
import signal
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.terminal import Program
from copying import copy_folder
from grimoire.happened import step, turn
from metnos.app import App
from metnos.cli import FINE, INTERRUPTED
from metnos.cli.stopping import Stopping
from metnos.core.workspace import Workspace
from metnos.grimoire.capture import note
from metnos.grimoire.episode import Episode, Verdict, Where
from metnos.grimoire.fact import Standing
from metnos.grimoire.reports import Reports
from metnos.law.principal import at_terminal

LEARN, DREAM = ("memory", "learn"), ("memory", "dream")
SIGNALS = [signal.SIGINT, signal.SIGTERM]


def lived() -> list[Episode]:
    """Things that fail again and again, in several domains, and sometimes went well another way."""
    made = []
    for place in range(240):
        domain = f"thing{place % 12}"
        bad = step(f"fetch_{domain}", ok=False, kind="timeout", url=f"{domain}.example")
        good = step(f"fetch_{domain}", url=f"other.{domain}.example")
        steps, state = ((good,), "done") if place % 60 >= 36 else ((bad,), "failed")
        made.append(turn(f"get {domain}", *steps, at=timedelta(minutes=place), state=state, domain=domain))
    return [replace(each, verdict=Verdict.UNJUDGED, importance=None, seq=0) for each in made]


@pytest.fixture(scope="module")
def _full(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = Workspace(tmp_path_factory.mktemp("full") / "workspace")
    copy_folder(_template.root, made.root)
    app = App.open(made)
    app.set_setting("embed.kind", "none", at_terminal())
    app.grimoire.episodes.add(lived(), None, None)
    app.close()
    return made


@pytest.fixture
def spaces(_full: Workspace, tmp_path: Path) -> list[Workspace]:
    """Two of the same."""
    made = [Workspace(tmp_path / name) for name in ("whole", "in parts")]
    for space in made:
        copy_folder(_full.root, space.root)
    return made


def typed(space: Workspace, *line: str, until: str = "", then: signal.Signals = signal.SIGINT) -> tuple[int, str]:
    """Run a command on a terminal; once it shows ``until``, it gets the signal. How it ended, and all it showed."""
    halting = {"program": "cli.halting", "HALT_AT": until, "HALT_BY": str(int(then))} if until else {}
    program = Program("--workspace", str(space.root), *line, **halting)
    if line[:2] == ("memory", "move"):
        program.wait_for("Type yes to go on: ").type("yes\n")
    return program.end(), program.seen


class Known(NamedTuple):
    """All that is known, from what; how often each episode was gone through; how many reports there are."""

    facts: list[tuple[str, str, float, int, tuple[str, ...]]]
    replays: dict[str, int]
    cycles: int
    dreams: int


def known(space: Workspace) -> Known:
    app = App.open(space)
    facts = sorted(
        (str(fact.kind), fact.text, round(fact.confidence, 3), fact.episode_count, tuple(sorted(fact.sources)))
        for fact in app.grimoire.facts.find(standings=tuple(Standing), count=-1)
    )
    replays = {each.id: each.replays for each in app.grimoire.episodes.select(Where(), count=1000)}
    reports = Reports(app.grimoire.db, app.clock)
    counts = [len(reports.latest(kind, 100)) for kind in ("curator", "dream")]
    app.close()
    return Known(facts, replays, *counts)


def test_learning_is_stopped_by_ctrl_c_and_goes_on_to_the_same_end(spaces: list[Workspace]) -> None:
    whole, parts = spaces
    code, said = typed(whole, *LEARN)
    assert (code, "Learnt: " in said) == (FINE, True)
    assert "looked at: 240 of 240" in said
    code, said = typed(parts, *LEARN, until="learning, step: 3 of ")
    assert code == INTERRUPTED
    assert "what is done is kept" in said
    assert "metnos memory learn" in said
    begun, all_of_it = known(parts), known(whole)
    assert 0 < len(begun.facts) < len(all_of_it.facts)
    assert begun.cycles == 0
    assert typed(parts, *LEARN)[0] == FINE
    assert known(parts) == all_of_it


def test_a_job_of_the_night_is_stopped_by_sigterm_counts_as_interrupted_and_goes_on(spaces: list[Workspace]) -> None:
    whole, parts = spaces
    for space in spaces:
        app = App.open(space)
        app.grimoire.curator(1.0).tick(50)
        app.close()
    code, said = typed(parts, "jobs", "run", "curator", until="learning, step: 3 of ", then=signal.SIGTERM)
    assert code == INTERRUPTED
    assert "interrupted" in said
    assert "what is done is kept" in said
    for space in spaces:
        assert typed(space, "jobs", "run", "curator")[0] == FINE
    assert known(parts).facts
    assert known(parts) == known(whole)


def test_a_dream_is_stopped_and_goes_on_and_nothing_is_dreamt_twice(spaces: list[Workspace]) -> None:
    space = spaces[0]
    assert typed(space, *LEARN)[0] == FINE
    before = known(space)
    code, said = typed(space, *DREAM, until="replayed: 1 of ", then=signal.SIGTERM)
    assert code == INTERRUPTED
    assert "metnos memory dream" in said
    assert known(space).dreams == 0
    code, said = typed(space, *DREAM)
    assert (code, "Dreamt: " in said) == (FINE, True)
    after = known(space)
    assert after.dreams == 1
    assert {after.replays[each] - count for each, count in before.replays.items()} == {0, 1}
    assert len({fact[:2] for fact in after.facts}) == len(after.facts) > len(before.facts)


def grown(space: Workspace, count: int, first: int = 0) -> None:
    """As many notes more."""
    app = App.open(space)
    made = [
        note(f"the {number}th jar is on shelf {number % 7}", f"N{number:06}", app.clock.now())
        for number in range(first, first + count)
    ]
    app.grimoire.episodes.add(made, None, None)
    app.close()


def test_an_export_that_is_stopped_leaves_nothing_and_an_import_goes_on(
    spaces: list[Workspace], tmp_path: Path
) -> None:
    full, other = spaces
    grown(full, 1000)
    target = tmp_path / "out"
    code, said = typed(full, "memory", "export", str(target), until="written: 500 of ")
    assert (code, "nothing was written" in said) == (INTERRUPTED, True)
    assert not list(tmp_path.glob("*out*"))
    assert typed(full, "memory", "export", str(target))[0] == FINE
    code, said = typed(other, "memory", "import", str(target), until="taken in: 500 of ", then=signal.SIGTERM)
    assert (code, "goes on" in " ".join(said.split())) == (INTERRUPTED, True)
    assert 240 < len(ids(other)) < 1240
    assert typed(other, "memory", "import", str(target))[0] == FINE
    assert ids(other) == ids(full)


def test_embedding_anew_and_moving_go_on_after_a_signal(spaces: list[Workspace]) -> None:
    space = spaces[0]
    grown(space, 100)
    app = App.open(space)
    app.set_setting("embed.kind", "builtin", at_terminal())
    app.close()
    code, said = typed(space, "memory", "reembed", until="embedded: 256 of ")
    assert (code, "metnos memory reembed" in " ".join(said.split())) == (INTERRUPTED, True)
    app = App.open(space)
    left = len(app.grimoire.episodes.missing_vectors(5000))
    app.close()
    assert 0 < left < 340
    code, said = typed(space, "memory", "reembed")
    assert (code, f"Embedded: {left}." in said) == (FINE, True)
    grown(space, 1000, first=100)
    before = ids(space)
    code, said = typed(space, "memory", "move", "lance", until="moved: 1000 of ", then=signal.SIGTERM)
    assert (code, "metnos memory move lance" in " ".join(said.split())) == (INTERRUPTED, True)
    assert ids(space) == before
    assert typed(space, "memory", "move", "lance")[0] == FINE
    assert ids(space) == before


def ids(space: Workspace) -> list[str]:
    app = App.open(space)
    found = sorted(each.id for each in app.grimoire.episodes.select(Where(), count=5000))
    app.close()
    return found


def test_json_is_nothing_but_json_also_on_a_terminal(spaces: list[Workspace]) -> None:
    for space, line in zip(spaces, (LEARN, ("jobs", "run", "curator")), strict=True):
        code, said = typed(space, *line, "--json")
        assert code == FINE
        assert json.loads(said.replace("\r\x1b[K", ""))


@pytest.fixture
def _unharmed() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_unharmed")
def test_the_first_signal_asks_and_the_second_ends_at_once() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Stopping() as stopping:
        assert not stopping()
        signal.raise_signal(signal.SIGINT)
        assert stopping()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
