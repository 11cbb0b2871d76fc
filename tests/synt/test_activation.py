"""Nothing that Metnos made lives without the yeses it needs; every way around them is tried here."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from executors.samples import SOURCE, sample_files
from metnos.core.canon import sha256_hex
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorError, InboxError, NotTrusted
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.executors.catalog import Catalog
from metnos.executors.schema import MIGRATIONS as EXECUTORS
from metnos.executors.signature import Origin
from metnos.executors.state import State as Living
from metnos.law import founding
from metnos.law.capability import Capability
from metnos.law.grants import Grants
from metnos.law.inbox import ACTIVATION, DIRECTION, Inbox
from metnos.law.inbox import State as Asked
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from metnos.store.db import Database
from metnos.synt.activation import Activation, Lives, consent, direction_digest
from metnos.synt.draft import Check, Draft, Made
from metnos.synt.need import Need, Way
from metnos.synt.proposals import Proposal, Proposals, State
from metnos.synt.schema import MIGRATIONS
from signing import approve
from signing import consent as consents

NIGHT = Principal(Channel.NIGHT, "introspection", Autonomy.READ_ONLY)
NAME = "find_files"
OTHER = SOURCE + "\n\nMORE = 1\n"


def draft(version: str = "1.0.0") -> Draft:
    files = {name: content.decode() for name, content in sample_files(NAME, version=version).items()}
    return Draft(NAME, files["manifest.toml"], files["executor.py"], files["tests.toml"])


class House:
    def __init__(self, root: Path, clock: MovableClock) -> None:
        settings, workspace = Settings(), Workspace(root / "workspace")
        founding.found(workspace, settings, clock)
        seat = founding.take_seat(workspace, settings, clock)
        self.clock = clock
        self.inbox = Inbox(seat.db, seat.audit, clock)
        db = Database(workspace.mnest_db, EXECUTORS, clock=clock)
        self.catalog = Catalog(workspace, db, seat.audit, seat.signer, clock, settings.executors, consent(self.inbox))
        self.proposals = Proposals(Database(workspace.memory / "synt.db", MIGRATIONS, clock=clock), clock)
        self.grants = Grants(seat.db, seat.audit, clock)
        self.births = Activation(self.proposals, self.inbox, self.catalog, self.grants)

    def adopt(self, made: Draft) -> None:
        """The owner's own."""
        consents(self.inbox, NAME, made.digest)
        self.catalog.adopt(NAME, made.contents(), "by hand", Origin.OWNER)

    def proposed(self, way: Way = Way.DIRECT) -> Proposal:
        return self.proposals.take_up(Need("find the files", way, mnest=str(way)), "it recurs")[0]

    def commissioned(self, way: Way = Way.DIRECT) -> Proposal:
        proposal = self.proposed(way)
        if not way.is_internal:
            return proposal
        item = self.births.ask_direction(proposal, ["asked three times"], asked_by=NIGHT)
        return self.births.agreed(approve(self.inbox, item.id, at_terminal()))

    def drafted(self, way: Way = Way.DIRECT, made: Draft | None = None, **shown: str) -> Proposal:
        green = Made(made or draft(), (Check("static gate", ""),))
        return self.births.ask_activation(self.commissioned(way), green, shown, asked_by=NIGHT)

    def live(self, version: str = "1.0.0", **shown: str) -> Lives:
        proposal = self.drafted(Way.OWNER, draft(version), **shown)
        return self.births.activate(approve(self.inbox, proposal.activation, at_terminal()))

    def is_alive(self) -> bool:
        try:
            return self.catalog.get(NAME).usable
        except NotTrusted:
            return False


@pytest.fixture
def house(tmp_path: Path, clock: MovableClock) -> Iterator[House]:
    house = House(tmp_path, clock)
    yield house
    house.catalog.db.close()


class TestWithTheOwnersYes:
    @pytest.mark.parametrize("way", list(Way))
    def test_it_lives_bit_for_bit_as_approved(self, house: House, way: Way) -> None:
        proposal = house.drafted(way)
        item = approve(house.inbox, proposal.activation, at_terminal())
        executor = house.births.activate(item).executor
        assert house.is_alive()
        assert executor.digest == item.digest == draft().digest
        assert executor.origin is Origin.SYNTHESISED
        assert house.proposals.get(proposal.id).state is State.ACTIVE

    def test_a_process_that_died_after_the_yes_was_used_goes_on(self, house: House) -> None:
        proposal = house.drafted()
        item = approve(house.inbox, proposal.activation, at_terminal())
        house.inbox.take(item.digest)
        house.births.activate(item)
        assert house.is_alive()

    def test_the_same_yes_twice_changes_nothing(self, house: House) -> None:
        proposal = house.drafted()
        item = approve(house.inbox, proposal.activation, at_terminal())
        first = house.births.activate(item)
        assert house.births.activate(item).executor.digest == first.executor.digest
        assert len(house.proposals.versions(NAME)) == 1

    def test_an_earlier_version_comes_back_with_one_call_and_no_new_yes(self, house: House) -> None:
        for version in ("1.0.0", "1.1.0"):
            proposal = house.drafted(Way.OWNER, draft(version))
            house.births.activate(approve(house.inbox, proposal.activation, at_terminal()))
        assert house.catalog.get(NAME).version == "1.1.0"
        assert house.births.roll_back(NAME, draft().digest).executor.version == "1.0.0"
        assert house.catalog.get(NAME).version == "1.0.0"
        with pytest.raises(NotTrusted, match="ever lived"):
            house.births.roll_back(NAME, "0" * 64)


class TestWithoutIt:
    @pytest.fixture(autouse=True)
    def _nothing_lives(self, house: House) -> Iterator[None]:
        yield
        assert not house.is_alive()
        assert not house.catalog.usable()

    def test_signing_it_directly_is_refused(self, house: House) -> None:
        with pytest.raises(NotTrusted):
            house.catalog.adopt(NAME, draft().contents(), "mine", Origin.SYNTHESISED)

    def test_writing_the_folder_and_signing_that_is_refused(self, house: House) -> None:
        folder = house.catalog.folder / NAME
        folder.mkdir(parents=True)
        for name, content in draft().contents().items():
            (folder / name).write_bytes(content)
        with pytest.raises(NotTrusted):
            house.catalog.sign(NAME, "mine", Origin.SYNTHESISED)

    def test_signing_it_switched_off_and_switching_it_on_is_refused(self, house: House) -> None:
        folder = house.catalog.folder / NAME
        folder.mkdir(parents=True)
        for name, content in draft().contents().items():
            (folder / name).write_bytes(content)
        with pytest.raises(NotTrusted):
            house.catalog.sign(NAME, "mine", Origin.SYNTHESISED, Living.DISABLED)
        with pytest.raises(ExecutorError):
            house.catalog.change(NAME, Living.ACTIVE, "on")

    def test_a_question_that_waits_is_no_yes(self, house: House) -> None:
        item = house.inbox.find(house.drafted().activation)
        with pytest.raises(InboxError, match="no yes"):
            house.births.activate(item)

    def test_a_refused_one_is_none(self, house: House) -> None:
        proposal = house.drafted()
        item = house.inbox.refuse(proposal.activation, at_terminal(), "no")
        with pytest.raises(InboxError, match="no yes"):
            house.births.activate(item)

    def test_an_approved_one_whose_time_is_over_is_none(self, house: House) -> None:
        item = approve(house.inbox, house.drafted().activation, at_terminal())
        house.clock.move(timedelta(days=31))
        with pytest.raises(InboxError, match="no yes"):
            house.births.activate(item)

    def test_the_night_cannot_say_yes_to_itself(self, house: House) -> None:
        proposal = house.drafted()
        with pytest.raises(InboxError, match="may not answer"):
            house.inbox.approve(proposal.activation, NIGHT)

    def test_a_yes_to_other_files_is_none(self, house: House) -> None:
        proposal = house.drafted()
        item = approve(house.inbox, proposal.activation, at_terminal())
        house.inbox.take(item.digest)
        with pytest.raises(NotTrusted):
            house.catalog.adopt(NAME, draft("1.0.1").contents(), "mine", Origin.SYNTHESISED)

    def test_a_draft_that_was_exchanged_after_the_yes_is_not_signed(self, house: House) -> None:
        proposal = house.drafted()
        item = approve(house.inbox, proposal.activation, at_terminal())
        house.proposals.drafted(proposal, Made(draft("6.6.6")), proposal.activation)
        with pytest.raises(NotTrusted, match="shown"):
            house.births.activate(item)

    def test_metnoss_own_idea_needs_its_direction_even_with_the_other_yes(self, house: House) -> None:
        proposal = house.proposed()
        body = {"name": NAME, "way": "direct", "direction": direction_digest(proposal), "proposal": proposal.id}
        item = house.inbox.ask(ACTIVATION, "please", body, draft().digest, asked_by=NIGHT, hours=1)
        approve(house.inbox, item.id, at_terminal())
        house.inbox.take(item.digest)
        with pytest.raises(NotTrusted, match="direction"):
            house.catalog.adopt(NAME, draft().contents(), "mine", Origin.SYNTHESISED)

    def test_a_direction_that_waits_or_was_refused_commissions_nothing(self, house: House) -> None:
        proposal = house.proposed()
        item = house.births.ask_direction(proposal, [], asked_by=NIGHT)
        with pytest.raises(InboxError, match="no yes"):
            house.births.agreed(item)
        house.inbox.refuse(item.id, at_terminal())
        with pytest.raises(InboxError, match="no yes"):
            house.births.agreed(item)
        assert house.proposals.get(proposal.id).state is State.DIRECTION

    def test_the_direction_of_another_proposal_is_not_its_own(self, house: House) -> None:
        house.commissioned(Way.INDIRECT)
        other = house.proposed(Way.DIRECT)
        body = {"name": NAME, "way": "direct", "direction": direction_digest(other), "proposal": other.id}
        item = house.inbox.ask(ACTIVATION, "please", body, draft().digest, asked_by=NIGHT, hours=1)
        approve(house.inbox, item.id, at_terminal())
        house.inbox.take(item.digest)
        with pytest.raises(NotTrusted, match="direction"):
            house.catalog.adopt(NAME, draft().contents(), "mine", Origin.SYNTHESISED)

    def test_a_question_without_a_way_is_none(self, house: House) -> None:
        item = house.inbox.ask(ACTIVATION, "please", {"name": NAME}, draft().digest, asked_by=NIGHT, hours=1)
        approve(house.inbox, item.id, at_terminal())
        house.inbox.take(item.digest)
        with pytest.raises(NotTrusted, match="how it came about"):
            house.catalog.adopt(NAME, draft().contents(), "mine", Origin.SYNTHESISED)

    def test_a_yes_of_another_kind_to_the_same_digest_is_none(self, house: House) -> None:
        item = house.inbox.ask("act", "please", {"way": "owner"}, draft().digest, asked_by=NIGHT, hours=1)
        approve(house.inbox, item.id, at_terminal())
        house.inbox.take(item.digest)
        with pytest.raises(NotTrusted):
            house.catalog.adopt(NAME, draft().contents(), "mine", Origin.SYNTHESISED)

    def test_a_draft_that_failed_a_gate_is_not_put_before_the_owner(self, house: House) -> None:
        with pytest.raises((NotTrusted, ExecutorError), match="every gate"):
            house.births.ask_activation(
                house.commissioned(), Made(draft(), (Check("static gate", "evil"),)), {}, asked_by=NIGHT
            )


class TestAProcessThatIsKilled:
    """Between a question and its note: they are in two files."""

    def test_after_asking_about_a_draft_leaves_a_question_that_can_be_answered(
        self, house: House, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        commissioned = house.commissioned()
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Proposals, "drafted", killed)
            house.births.ask_activation(commissioned, Made(draft(), (Check("form", ""),)), {}, asked_by=NIGHT)
        assert house.proposals.get(commissioned.id).state is State.COMMISSIONED
        (item,) = house.inbox.open(ACTIVATION)
        house.births.activate(approve(house.inbox, item.id, at_terminal()))
        assert house.is_alive()
        assert house.proposals.get(commissioned.id).state is State.ACTIVE

    def test_is_put_right_by_the_next_one(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        commissioned = house.commissioned()
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Proposals, "drafted", killed)
            house.births.ask_activation(commissioned, Made(draft(), (Check("form", ""),)), {}, asked_by=NIGHT)
        for _ in range(2):
            house.births.settle()
        noted = house.proposals.get(commissioned.id)
        assert (noted.state, noted.digest, noted.checks) == (State.DRAFTED, draft().digest, (Check("form", ""),))
        assert house.births.question(noted) == house.inbox.open(ACTIVATION)[0]

    def test_after_asking_about_a_direction_leaves_one_too(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        proposal = house.proposed()
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Proposals, "ask_direction", killed)
            house.births.ask_direction(proposal, ["why"], asked_by=NIGHT)
        (item,) = house.inbox.open(DIRECTION)
        assert house.births.agreed(approve(house.inbox, item.id, at_terminal())).state is State.COMMISSIONED

    def test_while_the_owner_edits_leaves_what_they_wrote(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        proposal = house.drafted()
        item = house.inbox.find(proposal.activation)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(Proposals, "drafted", killed)
            house.births.ask_again(item, Made(draft("1.1.0")), {}, by=at_terminal())
        house.births.settle()
        noted = house.proposals.get(proposal.id)
        assert (noted.state, noted.digest) == (State.DRAFTED, draft("1.1.0").digest)
        assert house.inbox.find(item.id).state is Asked.EDITED

    def test_a_question_about_nothing_is_left_to_end(self, house: House) -> None:
        digest = sha256_hex(b"nothing")
        forged = house.inbox.ask(ACTIVATION, "x", {"name": NAME, "proposal": "nobody"}, digest, asked_by=NIGHT, hours=1)
        other = house.drafted()
        files = {name: text.decode() for name, text in draft("9.0.0").contents().items()}
        body = {"proposal": other.id, "name": NAME, "files": files}
        late = house.inbox.ask(ACTIVATION, "y", body, draft("9.0.0").digest, asked_by=NIGHT, hours=1)
        house.births.settle()
        assert house.proposals.get(other.id).activation == other.activation, "it waits for another answer"
        for item in (forged, late):
            with pytest.raises(InboxError):
                house.births.activate(approve(house.inbox, item.id, at_terminal()))
        assert not house.is_alive()


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


class TestVersions:
    def test_what_was_granted_to_the_old_one_ends_in_both_directions(self, house: House) -> None:
        house.live()
        for version in ("1.1.0", "1.0.0"):
            given = house.grants.grant(NAME, Capability.FS_READ, "/home/owner", days=7, by=at_terminal())
            back = version == "1.0.0"
            lives = house.births.roll_back(NAME, draft().digest) if back else house.live(version)
            assert (lives.executor.version, [each.id for each in lives.ended]) == (version, [given.id])
            assert house.grants.active() == []

    @pytest.mark.parametrize("state", [Living.QUARANTINE, Living.DISABLED])
    def test_what_was_switched_off_comes_back_so(self, house: House, state: Living) -> None:
        house.live()
        house.catalog.change(NAME, state, "it broke")
        assert house.live("1.1.0").executor.usable, "because the owner said yes to the new one"
        back = house.births.roll_back(NAME, draft().digest).executor
        assert (back.version, back.state, back.reason) == ("1.0.0", state, "it broke")
        assert not house.is_alive()
        house.catalog.change(NAME, Living.ACTIVE, "the owner wants it so")
        assert house.is_alive()

    def test_of_which_nobody_knows_how_it_stood_comes_back_in_quarantine(self, house: House) -> None:
        house.live()
        house.live("1.1.0")
        with house.catalog.db.write() as tx:
            tx.execute("DELETE FROM executors WHERE name = ? AND version = '1.0.0'", (NAME,))
        back = house.births.roll_back(NAME, draft().digest).executor
        assert (back.state, back.reason) == (Living.QUARANTINE, "how it stood when another took its place is not"
                                             " known any more")  # fmt: skip

    def test_what_was_revoked_does_not_come_back(self, house: House) -> None:
        house.live()
        house.catalog.change(NAME, Living.REVOKED, "it lied")
        other = {name: text.decode() for name, text in sample_files(NAME, version="1.1.0", source=OTHER).items()}
        new = Draft(NAME, other["manifest.toml"], other["executor.py"], other["tests.toml"])
        proposal = house.drafted(Way.OWNER, new)
        house.births.activate(approve(house.inbox, proposal.activation, at_terminal()))
        with pytest.raises(NotTrusted, match="revoked"):
            house.births.roll_back(NAME, draft().digest)

    def test_what_the_owner_wrote_is_kept_too_and_comes_back_as_theirs(self, house: House) -> None:
        house.adopt(draft())
        house.live("1.1.0")
        back = house.births.roll_back(NAME, draft().digest).executor
        assert (back.version, back.origin, back.usable) == ("1.0.0", Origin.OWNER, True)

    def test_a_yes_is_to_the_difference_that_was_shown(self, house: House) -> None:
        first = house.live().executor
        proposal = house.drafted(Way.OWNER, draft("1.1.0"), before=first.digest)
        item = approve(house.inbox, proposal.activation, at_terminal())
        house.adopt(draft("1.0.1"))
        with pytest.raises(NotTrusted, match="not the version any more"):
            house.births.activate(item)
        assert house.catalog.get(NAME).version == "1.0.1"
        assert house.inbox.find(item.id).state is Asked.APPROVED, "the yes was not used"

    def test_a_name_that_somebody_took_meanwhile_is_not_overwritten(self, house: House) -> None:
        proposal = house.drafted(Way.OWNER, before="")
        house.adopt(draft("3.0.0"))
        with pytest.raises(NotTrusted, match="not the version any more"):
            house.births.activate(approve(house.inbox, proposal.activation, at_terminal()))
        assert house.catalog.get(NAME).version == "3.0.0"

    def test_one_that_is_put_back_says_so_in_its_history(self, house: House) -> None:
        house.live()
        house.live("1.1.0")
        house.births.roll_back(NAME, draft().digest)
        first = next(each for each in house.proposals.all() if each.digest == draft().digest)
        assert house.proposals.events(first.id)[-1].reason == "version 1.0.0 was put back: active"
