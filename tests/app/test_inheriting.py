"""A successor in a real workspace: what it begins with, what waits for the owner, and what it makes of it later."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.bundled import HOSTILE
from life.willed import BORN, a_signer, a_testament, of_generation, opened, written
from metnos.app import App, answering, inheriting, learning
from metnos.app.importing import Became
from metnos.app.inheriting import Inherited
from metnos.core.clock import MovableClock
from metnos.core.errors import TestamentError
from metnos.core.sign import Signer
from metnos.core.workspace import Workspace
from metnos.grimoire.episode import Provenance
from metnos.law.principal import at_terminal
from metnos.life.lineage import State
from metnos.life.testament import Bone, Left, Testament
from metnos.mnestome import graph, mnest
from metnos.mnestome.rules import State as Stand
from metnos.synt import bundle, mutants
from signing import approve
from synt.specimens import draft

Take = Callable[..., Inherited]


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return a_signer(tmp_path / "predecessor")


@pytest.fixture
def heir(equipped: App) -> App:
    equipped.__dict__["embedder"] = None  # loading one takes longer than all the rest
    return equipped


@pytest.fixture
def take(heir: App, signer: Signer) -> Take:
    def taken(testament: Testament | None = None, executors: bytes = b"", **changes: Any) -> Inherited:
        return inheriting.take(heir, *opened(testament or a_testament(**changes), signer, executors))

    return taken


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last gate lets pass what comes so far: it takes longer than all the others, and has tests of its own."""
    monkeypatch.setattr(mutants, "prove", lambda *_args: mutants.Proof(1, (), 0, (), empty_lives=False))


class TestBeginning:
    @pytest.mark.slow
    def test_a_workspace_is_made_that_knows_whom_it_comes_from(
        self, blank: Workspace, tmp_path: Path, signer: Signer, clock: MovableClock
    ) -> None:
        path = written(tmp_path / "left", of_generation(1), signer)
        found = inheriting.found_from(blank, path, clock=clock)
        assert found.generation == 2
        assert "SOUL.md" in found.made
        assert found.taken.known + found.taken.entries.get(State.LEFT_OUT, 0) == 6
        app = App.open(blank, clock)
        assert inheriting.lineage(app).ancestors()[0].key == signer.public
        kinds = [line.kind for line in app.audit.newest()]
        assert kinds.count(inheriting.INHERITED) == 2  # before and after
        again = inheriting.found_from(blank, path, key=signer.public[:12], clock=clock)
        assert (again.taken, again.made) == (found.taken, ())

    def test_what_is_refused_leaves_no_workspace(
        self, blank: Workspace, tmp_path: Path, signer: Signer, clock: MovableClock
    ) -> None:
        path = written(tmp_path / "left", a_testament(), signer)
        path.write_bytes(path.read_bytes().replace(b"tables", b"fables"))
        with pytest.raises(TestamentError, match="changed"):
            inheriting.found_from(blank, path, clock=clock)
        assert not blank.root.exists()

    def test_another_key_than_the_one_named_is_refused(
        self, blank: Workspace, tmp_path: Path, signer: Signer, clock: MovableClock
    ) -> None:
        path = written(tmp_path / "left", a_testament(), signer)
        with pytest.raises(TestamentError, match="not by the key that you named"):
            inheriting.found_from(blank, path, key="00" * 32, clock=clock)
        assert not blank.root.exists()

    def test_whoever_has_lived_does_not_begin_again(
        self, heir: App, tmp_path: Path, signer: Signer, clock: MovableClock
    ) -> None:
        heir.grimoire.add("The boiler was mended.")
        path = written(tmp_path / "left", a_testament(), signer)
        with pytest.raises(TestamentError, match="has lived already"):
            inheriting.found_from(heir.workspace, path, clock=clock)
        assert inheriting.lineage(heir).origins() is None

    def test_nobody_succeeds_itself(self, heir: App, tmp_path: Path, clock: MovableClock) -> None:
        path = written(tmp_path / "left", a_testament(), heir.seat.signer)
        with pytest.raises(TestamentError, match="this very agent"):
            inheriting.found_from(heir.workspace, path, clock=clock)

    def test_nobody_descends_from_itself(self, heir: App, tmp_path: Path, signer: Signer, clock: MovableClock) -> None:
        mine = replace(of_generation(1).ancestors[0], key=heir.seat.signer.public)
        path = written(tmp_path / "left", replace(of_generation(1), ancestors=(mine,)), signer)
        with pytest.raises(TestamentError, match="cannot descend from itself"):
            inheriting.found_from(heir.workspace, path, clock=clock)


class TestExecutors:
    @pytest.mark.usefixtures("quick")
    def test_they_wait_for_a_yes_and_nothing_runs_before(self, heir: App, take: Take, signer: Signer) -> None:
        found = take(executors=bundle.pack([draft()], signer))
        (one,) = found.executors
        assert one.became is Became.WAITS
        assert "format_text" not in {each.name for each in heir.catalog.usable()}
        item = heir.inbox.find(one.question)
        assert "predecessor" in str(item.body["why"])
        answering.carry_out(heir, approve(heir.inbox, item.id, at_terminal()), at_terminal())
        assert heir.catalog.get("format_text").usable

    def test_a_gate_refuses_them_as_anybodys(self, take: Take, signer: Signer) -> None:
        found = take(executors=bundle.pack([draft(code=HOSTILE)], signer))
        assert [each.became for each in found.executors] == [Became.REFUSED]
        assert found.taken.known  # and knowledge comes in all the same


class TestSkeleton:
    def test_passings_are_planted_and_weigh_no_more_than_newborn(self, heir: App, take: Take) -> None:
        take(bones=(Bone("find_files", "read_files", 0.9), Bone("read_files", "find_files", 0.1)))
        found = {
            (each.src, each.dst): each
            for each in graph.top(heir.catalog.db, 200, heir.clock.now())
            if each.src in ("find_files", "read_files") and each.dst in ("find_files", "read_files")
        }
        assert found["read_files", "find_files"].state is Stand.SEED
        assert found["read_files", "find_files"].weight == pytest.approx(0.085)
        assert all(each.weight <= 0.30 for each in found.values())

    @pytest.mark.usefixtures("quick")
    def test_those_of_executors_that_come_later_are_planted_then(self, heir: App, take: Take, signer: Signer) -> None:
        found = take(executors=bundle.pack([draft()], signer), bones=(Bone("find_files", "format_text", 0.5),))
        assert not _passings(heir, "format_text")
        item = approve(heir.inbox, found.executors[0].question, at_terminal())
        answering.carry_out(heir, item, at_terminal())
        learning.follow_executors(heir)
        assert [each.src for each in _passings(heir, "format_text")] == ["find_files"]


def _passings(app: App, dst: str) -> list[mnest.Mnest]:
    return [each for each in graph.top(app.catalog.db, 500, app.clock.now()) if each.dst == dst]


class TestLater:
    def test_inherited_episodes_are_replayed_in_the_first_consolidations(
        self, heir: App, take: Take, clock: MovableClock
    ) -> None:
        left = tuple(Left(f"P{n}", BORN, f"Sorting table {n} took long.", "tables") for n in range(3))
        take(episodes=left)
        seen = []
        for _ in range(5):
            heir.grimoire.add("A note of today, so that there is something new.")
            clock.move(timedelta(days=1))
            heir.grimoire.learn(5.0)
            ids = sorted(inheriting.lineage(heir).episodes())
            seen.append([each.replays for each in heir.grimoire.episodes.get(ids)])
        assert seen[0] == [1, 1, 1]
        assert seen[2] == [3, 3, 3]
        assert all(replays <= 5 for replays in seen[4])

    def test_what_proved_itself_is_own_after_the_next_consolidation(self, heir: App, take: Take) -> None:
        take()
        line = inheriting.lineage(heir)
        key = next(each.fact for each in line.heirlooms() if each.fact)
        heir.grimoire.facts.helped([key] * 3)
        heir.grimoire.learn(5.0)
        assert heir.grimoire.facts.get([key])[0].provenance is Provenance.SELF
        standing = inheriting.standing(heir)
        assert standing.shares.earned == 1
        assert inheriting.EARNED in {each.kind for each in heir.audit.newest()}

    def test_divergence_grows_as_an_heir_goes_its_own_way(self, heir: App, take: Take) -> None:
        take()
        at_birth = inheriting.standing(heir)
        assert 0.3 < at_birth.divergence < 1.0
        assert not at_birth.is_copy
        assert at_birth.shares.own_share == 0.0
        own = replace(heir.grimoire.facts.find()[0], id="OWN", text="Own knowledge of 7 things.", subject="own")
        heir.grimoire.facts.put(replace(own, provenance=Provenance.SELF, confidence=0.9))
        later = inheriting.standing(heir)
        assert later.divergence > at_birth.divergence
        assert later.shares.own == 1
