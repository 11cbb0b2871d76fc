import dataclasses
import shutil
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executors.samples import SOURCE, Shop, open_shop, write_sample
from metnos.core.clock import MovableClock, SystemClock
from metnos.core.errors import ExecutorError, ManifestError, NotTrusted
from metnos.executors import folder, index
from metnos.executors.signature import Origin
from metnos.executors.state import USABLE, State, allowed
from support import at_once

NAME = "find_files"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return open_shop(tmp_path)


def adopt(shop: Shop, name: str = NAME, origin: Origin = Origin.OWNER, **changes: str) -> None:
    write_sample(shop.folder, name, **changes)
    shop.catalog.sign(name, "mine", origin)


class TestSigning:
    def test_a_draft_becomes_an_executor_and_the_audit_knows(self, shop: Shop) -> None:
        write_sample(shop.folder)
        found = shop.catalog.sign(NAME, "mine", Origin.SYNTHESISED, State.SEED)
        assert (found.state, found.origin, found.reason) == (State.SEED, Origin.SYNTHESISED, "mine")
        assert found == shop.catalog.get(NAME)
        (line,) = shop.lines("executor signed")
        assert line.entry.names == {
            "name": NAME, "origin": "synthesised", "version": "1.0.0", "state": "seed", "phase": "done",
        }  # fmt: skip
        assert line.entry.digests == {"executor": found.digest, "code": found.code_digest}
        assert shop.audit.unfinished() == []

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"source": "def run(args, ctx:"}, "is not Python"),
            ({"source": "x = 1"}, r"no function run\(args, ctx\)"),
            ({"source": "def run(args): ..."}, r"no function run\(args, ctx\)"),
            ({"manifest": "name ="}, "not valid TOML"),
            ({"source": "def run(args, ctx): ...\0"}, "is not Python"),
        ],
    )
    def test_what_does_not_follow_the_contract(self, shop: Shop, changes: dict[str, str], said: str) -> None:
        home = write_sample(shop.folder, **changes)
        with pytest.raises(ManifestError, match=said):
            shop.catalog.sign(NAME, "mine")
        assert not (home / "signature").exists()
        assert shop.lines("executor signed") == []

    def test_strange_folders_are_not_signed(self, shop: Shop) -> None:
        with pytest.raises(ExecutorError, match="no folder"):
            shop.catalog.sign(NAME, "mine")
        home = write_sample(shop.folder)
        (home / "notes.txt").write_text("x")
        with pytest.raises(ManifestError, match=r"'notes\.txt' does not belong there"):
            shop.catalog.sign(NAME, "mine")
        (home / "notes.txt").unlink()
        (home / "tests.toml").unlink()
        with pytest.raises(ManifestError, match=r"lacks tests\.toml"):
            shop.catalog.sign(NAME, "mine")
        (home / "tests.toml").write_bytes(b"\xff")
        with pytest.raises(ManifestError, match="not UTF-8"):
            shop.catalog.sign(NAME, "mine")
        home.rename(shop.folder / "read_files")
        (shop.folder / "read_files" / "tests.toml").write_text("")
        with pytest.raises(ManifestError, match="holds the manifest of find_files"):
            shop.catalog.sign("read_files", "mine")

    def test_nothing_is_signed_as_draft_or_revoked(self, shop: Shop) -> None:
        write_sample(shop.folder)
        for state in (State.DRAFT, State.REVOKED):
            with pytest.raises(ExecutorError, match="nothing is signed as"):
                shop.catalog.sign(NAME, "mine", state=state)

    def test_quotas_above_the_settings_are_refused(self, tmp_path: Path) -> None:
        shop = open_shop(tmp_path, ram_mb=128)
        home = write_sample(shop.folder)
        (home / "manifest.toml").write_text((home / "manifest.toml").read_text() + "\n[quotas]\nram_mb = 200\n")
        with pytest.raises(ManifestError, match="more than the settings allow"):
            shop.catalog.sign(NAME, "mine")

    def test_an_edited_executor_is_adopted_again_by_hand(self, shop: Shop) -> None:
        adopt(shop)
        before = shop.catalog.get(NAME)
        (shop.folder / NAME / "executor.py").write_text(SOURCE + "# better\n")
        with pytest.raises(NotTrusted):
            shop.catalog.get(NAME)
        after = shop.catalog.sign(NAME, "I changed it")
        assert (after.state, after.serial) == (State.ACTIVE, before.serial + 1)
        assert after.digest != before.digest
        assert shop.catalog.get(NAME) == after

    def test_a_new_version_puts_the_old_one_into_history(self, shop: Shop) -> None:
        adopt(shop)
        adopt(shop, version="1.1.0")
        found = [(entry.version, entry.state) for entry in index.versions(shop.catalog.db, NAME)]
        assert found == [("1.1.0", State.ACTIVE), ("1.0.0", State.ARCHIVED)]
        assert shop.catalog.get(NAME).version == "1.1.0"


class TestCaps:
    def test_births_in_a_day(self, tmp_path: Path) -> None:
        clock = MovableClock(SystemClock().now())
        shop = open_shop(tmp_path, clock, births=2)
        for name in (NAME, "read_files"):
            adopt(shop, name)
        write_sample(shop.folder, "list_files")
        with pytest.raises(ExecutorError, match="2 executors were born within a day"):
            shop.catalog.sign("list_files", "mine")
        shop.catalog.sign(NAME, "the same again, which is no birth")
        shop.catalog.sign("list_files", "switched off is no birth either", state=State.DISABLED)
        shop.catalog.sign("list_files", "built in", Origin.BUILTIN)
        clock.move(timedelta(days=1, seconds=1))
        adopt(shop, "list_folders")

    def test_active_at_once(self, tmp_path: Path) -> None:
        shop = open_shop(tmp_path, active=2, births=9)
        for name in (NAME, "read_files"):
            adopt(shop, name)
        write_sample(shop.folder, "list_files")
        with pytest.raises(ExecutorError, match="2 executors that are not built in are active"):
            shop.catalog.sign("list_files", "mine")
        shop.catalog.sign("list_files", "mine", state=State.DISABLED)
        with pytest.raises(ExecutorError, match="the most allowed"):
            shop.catalog.change("list_files", State.ACTIVE, "on")
        shop.catalog.change(NAME, State.ARCHIVED, "enough")
        shop.catalog.change("list_files", State.ACTIVE, "on")
        assert index.active_synthesised(shop.catalog.db) == ["list_files", "read_files"]


class TestRevoking:
    def test_the_same_code_can_never_be_signed_again(self, shop: Shop) -> None:
        adopt(shop)
        shop.catalog.change(NAME, State.REVOKED, "it misbehaved")
        with pytest.raises(ExecutorError, match="final"):
            shop.catalog.change(NAME, State.ACTIVE, "please")
        write_sample(shop.folder, "read_files")
        for name in (NAME, "read_files"):
            with pytest.raises(NotTrusted, match="revoked"):
                shop.catalog.sign(name, "again")
        write_sample(shop.folder, NAME, source=SOURCE + "# other\n")
        with pytest.raises(NotTrusted, match="revoked"):
            shop.catalog.sign(NAME, "other code, same version")
        write_sample(shop.folder, NAME, source=SOURCE + "# other\n", version="1.0.1")
        assert shop.catalog.sign(NAME, "other code, new version").usable

    def test_a_tampered_one_is_revoked_with_both_its_codes(self, shop: Shop) -> None:
        adopt(shop)
        (shop.folder / NAME / "executor.py").write_text(SOURCE + "# evil\n")
        shop.catalog.change(NAME, State.REVOKED, "it was changed")
        for source in (SOURCE, SOURCE + "# evil\n"):
            write_sample(shop.folder, "read_files", source=source)
            with pytest.raises(NotTrusted, match="revoked"):
                shop.catalog.sign("read_files", "again")
        assert shop.catalog.look(NAME).state is State.REVOKED

    def test_one_whose_folder_is_gone(self, shop: Shop) -> None:
        adopt(shop)
        shutil.rmtree(shop.folder / NAME)
        shop.catalog.change(NAME, State.ARCHIVED, "gone")
        assert shop.catalog.look(NAME).state is State.ARCHIVED
        assert shop.catalog.verify_all() == []
        shop.catalog.change(NAME, State.REVOKED, "for good")
        assert shop.catalog.look(NAME).state is State.REVOKED


class TestChanging:
    @settings(max_examples=settings().max_examples // 2, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(wishes=st.lists(st.sampled_from(sorted(set(State) - {State.REVOKED, State.DRAFT})), max_size=6))
    def test_any_walk_follows_the_table_and_both_places_agree(self, shop: Shop, wishes: list[State]) -> None:
        if not (shop.folder / NAME).exists():
            adopt(shop)
        state = shop.catalog.look(NAME).state
        for wish in wishes:
            serial = shop.catalog.judge(NAME).serial
            if allowed(state, wish):
                assert shop.catalog.change(NAME, wish, "a wish") is state
                state = wish
                assert shop.catalog.judge(NAME).serial == serial + 1
            else:
                with pytest.raises(ExecutorError):
                    shop.catalog.change(NAME, wish, "a wish")
                assert shop.catalog.judge(NAME).serial == serial
            found = shop.catalog.judge(NAME)
            assert found.signed is not None
            assert found.entry is not None
            assert found.signed.state is found.entry.state is found.state is state
            assert found.problems == ()

    def test_a_draft_and_an_unknown_one(self, shop: Shop) -> None:
        write_sample(shop.folder)
        with pytest.raises(NotTrusted, match="draft"):
            shop.catalog.change(NAME, State.ACTIVE, "on")
        with pytest.raises(NotTrusted, match="no executor"):
            shop.catalog.change("read_files", State.ACTIVE, "on")

    def test_an_old_signature_is_never_signed_anew(self, shop: Shop) -> None:
        adopt(shop)
        old = {path.name: path.read_bytes() for path in (shop.folder / NAME).iterdir()}
        adopt(shop, version="1.1.0")
        for name, content in old.items():
            (shop.folder / NAME / name).write_bytes(content)
        shop.catalog.change(NAME, State.ARCHIVED, "away")
        assert (shop.folder / NAME / "signature").read_bytes() == old["signature"]
        with pytest.raises(NotTrusted, match="older signature"):
            shop.catalog.change(NAME, State.ACTIVE, "back")

    def test_a_change_cut_short_leaves_the_worse_state(self, shop: Shop) -> None:
        """The folder is written before the index; a crash between them must not free anything."""
        adopt(shop)
        for state in (State.DISABLED, State.ACTIVE):
            before = index.current(shop.catalog.db, NAME)
            assert before is not None
            shop.catalog.change(NAME, state, "cut short")
            with shop.catalog.db.write() as tx:
                index.put(tx, before)
            found = shop.catalog.judge(NAME)
            assert (found.tampered, found.state) == (False, State.DISABLED)
            if state is State.DISABLED:
                shop.catalog.change(NAME, State.SEED, "settled")
                shop.catalog.change(NAME, State.DISABLED, "settled")
        shop.catalog.change(NAME, State.ACTIVE, "made again")
        assert shop.catalog.get(NAME).usable

    @pytest.mark.parametrize("state", [State.DISABLED, State.ACTIVE])
    def test_switching_off_needs_no_room_on_the_disk(
        self, shop: Shop, monkeypatch: pytest.MonkeyPatch, state: State
    ) -> None:
        def full(*_: object) -> None:
            raise ExecutorError("it cannot be written: no space left")

        adopt(shop)
        if state is State.ACTIVE:
            shop.catalog.change(NAME, State.DISABLED, "off")
        monkeypatch.setattr(folder, "put", full)
        if state in USABLE:
            with pytest.raises(ExecutorError, match="no space"):
                shop.catalog.change(NAME, state, "on")
        else:
            shop.catalog.change(NAME, state, "off")
        assert shop.catalog.look(NAME).state is State.DISABLED
        assert shop.catalog.judge(NAME).problems == ()


def test_panic_switches_off_all_that_is_not_built_in(shop: Shop) -> None:
    adopt(shop)
    adopt(shop, "read_files", Origin.SYNTHESISED)
    adopt(shop, "list_files", Origin.BUILTIN)
    adopt(shop, "list_folders")
    (shop.folder / "list_folders" / "executor.py").write_text("evil")
    assert shop.catalog.panic("stop") == [NAME, "read_files"]
    assert {each.name for each in shop.catalog.usable()} == {"list_files"}
    assert len(shop.lines("executor disabled")) == 2
    assert shop.catalog.panic("stop") == []


def test_panic_goes_on_where_one_cannot_be_switched_off(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    adopt(shop)
    adopt(shop, "read_files", Origin.SYNTHESISED)
    really = shop.catalog.change

    def change(name: str, state: State, reason: str) -> State:
        if name == NAME:
            raise ExecutorError("its folder is in use")
        return really(name, state, reason)

    monkeypatch.setattr(shop.catalog, "change", change)
    with pytest.raises(ExecutorError, match="in use"):
        shop.catalog.panic("stop")
    assert shop.catalog.look("read_files").state is State.DISABLED


class TestRebuilding:
    def lose(self, shop: Shop) -> None:
        with shop.catalog.db.write() as tx:
            for table in ("executors", "executor_revoked", "executor_births"):
                tx.execute(f"DELETE FROM {table}")

    def test_states_come_back_from_the_signatures(self, shop: Shop) -> None:
        for name, state in ((NAME, None), ("read_files", State.DISABLED), ("list_files", State.QUARANTINE)):
            adopt(shop, name)
            if state:
                shop.catalog.change(name, state, "because")
        write_sample(shop.folder, "list_folders")
        before = {row.name: row.state for row in shop.catalog.rows()}
        self.lose(shop)
        assert shop.catalog.rebuild() == [NAME, "list_files", "read_files"]
        assert {row.name: row.state for row in shop.catalog.rows()} == before

    def test_a_lost_index_does_not_free_an_older_signature(self, shop: Shop) -> None:
        adopt(shop)
        old = (shop.folder / NAME / "signature").read_bytes()
        shop.catalog.change(NAME, State.DISABLED, "off")
        (shop.folder / NAME / "signature").write_bytes(old)
        self.lose(shop)
        shop.catalog.rebuild()
        with pytest.raises(NotTrusted, match="older signature"):
            shop.catalog.get(NAME)

    def test_nor_what_was_quarantined_or_revoked_in_the_index_alone(self, shop: Shop) -> None:
        adopt(shop)
        (shop.folder / NAME / "added").touch()
        with pytest.raises(NotTrusted):
            shop.catalog.get(NAME)
        (shop.folder / NAME / "added").unlink()
        self.lose(shop)
        shop.catalog.rebuild()
        assert shop.catalog.look(NAME).state is State.QUARANTINE
        shop.catalog.change(NAME, State.REVOKED, "for good")
        self.lose(shop)
        shop.catalog.rebuild()
        assert shop.catalog.look(NAME).state is State.REVOKED
        write_sample(shop.folder, "read_files")
        with pytest.raises(NotTrusted, match="revoked"):
            shop.catalog.sign("read_files", "the same code")


@pytest.mark.slow
def test_two_processes_changing_at_once_take_turns(tmp_path: Path) -> None:
    shop = open_shop(tmp_path, SystemClock())
    adopt(shop)

    def flip(first: State, second: State) -> int:
        mine = open_shop(tmp_path, SystemClock())
        done = 0
        for number in range(10):
            try:
                mine.catalog.change(NAME, second if number % 2 else first, "to and fro")
                done += 1
            except ExecutorError:
                continue  # the other one was there first
        return done

    done = sum(at_once([partial(flip, State.DISABLED, State.ACTIVE), partial(flip, State.ARCHIVED, State.ACTIVE)]))
    found = shop.catalog.judge(NAME)
    assert found.signed is not None
    assert found.entry is not None
    assert (found.problems, found.signed.serial, found.entry.serial) == ((), done + 1, done + 1)
    assert found.signed.state is found.entry.state
    assert shop.audit.unfinished() == []


@pytest.mark.slow
def test_two_processes_adopting_at_once_leave_one_of_the_two(tmp_path: Path) -> None:
    shop = open_shop(tmp_path, SystemClock())
    write_sample(shop.folder)
    sign = partial(lambda: open_shop(tmp_path, SystemClock()).catalog.sign(NAME, "mine").serial)
    assert sorted(at_once([sign] * 3)) == [1, 2, 3]
    assert shop.catalog.get(NAME).serial == 3


def test_the_record_is_frozen(shop: Shop) -> None:
    adopt(shop)
    with pytest.raises(dataclasses.FrozenInstanceError):
        shop.catalog.get(NAME).state = State.SEED  # type: ignore[misc]
