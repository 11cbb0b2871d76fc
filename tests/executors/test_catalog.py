import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from executors.samples import SOURCE, Shop, open_shop, sample_files, write_sample
from metnos.core.clock import MovableClock
from metnos.core.errors import ManifestError, NotTrusted
from metnos.executors import folder, index
from metnos.executors.signature import Origin
from metnos.executors.state import State

NAME = "find_files"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A catalog with one signed executor."""
    shop = open_shop(tmp_path)
    write_sample(shop.folder)
    shop.catalog.sign(NAME, "mine")
    return shop


def state(shop: Shop, name: str = NAME) -> State:
    entry = index.current(shop.catalog.db, name)
    assert entry is not None
    return entry.state


class TestGet:
    def test_what_is_as_it_was_signed(self, shop: Shop) -> None:
        found = shop.catalog.get(NAME)
        assert (found.name, found.version, found.state, found.origin) == (NAME, "1.0.0", State.ACTIVE, Origin.OWNER)
        assert found.source == SOURCE
        assert found.tests_text == sample_files()["tests.toml"].decode()
        assert found.manifest.purpose == "Find files below a folder."
        assert (found.usable, found.serial, found.reason) == (True, 1, "mine")
        assert shop.catalog.get(NAME).digest == found.digest
        assert shop.catalog.get(NAME).manifest is found.manifest, "it was read twice"

    def test_a_draft_is_not_handed_out(self, shop: Shop) -> None:
        write_sample(shop.folder, "read_files")
        with pytest.raises(NotTrusted, match=r"draft.*\nmetnos executor sign read_files"):
            shop.catalog.get("read_files")
        look = shop.catalog.look("read_files")
        assert look.state is State.DRAFT
        assert look.executor is not None
        assert look.executor.digest

    @pytest.mark.parametrize(
        "name", ["find_file", "../find_files", "", "FIND_FILES", "find_files/../find_files", "a\0_b"]
    )
    def test_what_there_is_none_of(self, shop: Shop, name: str) -> None:
        with pytest.raises(NotTrusted, match="there is no executor"):
            shop.catalog.get(name)
        with pytest.raises(NotTrusted, match="there is no executor"):
            shop.catalog.look(name)

    def test_the_nearest_is_named(self, shop: Shop) -> None:
        with pytest.raises(NotTrusted, match="Did you mean 'find_files'"):
            shop.catalog.get("find_file")

    @pytest.mark.parametrize("off", [State.DISABLED, State.QUARANTINE, State.ARCHIVED, State.REVOKED])
    def test_a_state_that_forbids_it(self, shop: Shop, off: State) -> None:
        shop.catalog.change(NAME, off, "because")
        with pytest.raises(NotTrusted, match="because"):
            shop.catalog.get(NAME)
        assert shop.catalog.look(NAME).state is off

    def test_the_worse_of_index_and_signature_holds(self, shop: Shop) -> None:
        old = (shop.folder / NAME / "signature").read_bytes()
        shop.catalog.change(NAME, State.DISABLED, "off")
        with shop.catalog.db.write() as tx:  # an index that somebody edited
            tx.execute("UPDATE executors SET state = 'active'")
        with pytest.raises(NotTrusted, match="disabled"):
            shop.catalog.get(NAME)
        (shop.folder / NAME / "signature").write_bytes(old)
        with pytest.raises(NotTrusted, match="an older signature was put back"):
            shop.catalog.get(NAME)

    def test_one_of_another_key(self, shop: Shop, tmp_path: Path) -> None:
        other = open_shop(tmp_path / "other")
        write_sample(other.folder)
        other.catalog.sign(NAME, "mine")
        shutil.copy(other.folder / NAME / "signature", shop.folder / NAME / "signature")
        with pytest.raises(NotTrusted, match="another key"):
            shop.catalog.get(NAME)
        assert state(shop) is State.QUARANTINE

    def test_a_renamed_folder(self, shop: Shop) -> None:
        (shop.folder / NAME).rename(shop.folder / "read_files")
        with pytest.raises(NotTrusted, match="its signature is that of find_files"):
            shop.catalog.get("read_files")
        with pytest.raises(NotTrusted, match="its folder is gone"):
            shop.catalog.get(NAME)
        assert state(shop) is state(shop, "read_files") is State.QUARANTINE
        assert len(shop.lines("executor quarantined")) == 2

    def test_looking_changes_nothing(self, shop: Shop) -> None:
        (shop.folder / NAME / "executor.py").write_text("changed")
        look = shop.catalog.look(NAME)
        assert (look.state, look.problems) == (State.QUARANTINE, ("executor.py was changed since it was signed",))
        assert state(shop) is State.ACTIVE
        assert shop.lines("executor quarantined") == []

    def test_quarantine_is_recorded_once(self, shop: Shop) -> None:
        (shop.folder / NAME / "executor.py").write_text("changed")
        for _ in range(3):
            with pytest.raises(NotTrusted):
                shop.catalog.get(NAME)
        (line,) = shop.lines("executor quarantined")
        assert dict(line.entry.names) == {"name": NAME, "wrong": "changed:executor.py"}

    def test_what_was_put_right_can_be_switched_on_again(self, shop: Shop) -> None:
        code = shop.folder / NAME / "executor.py"
        code.write_text("changed")
        with pytest.raises(NotTrusted):
            shop.catalog.get(NAME)
        with pytest.raises(NotTrusted, match="not as it was signed"):
            shop.catalog.change(NAME, State.ACTIVE, "trust me")
        code.write_text(SOURCE)
        with pytest.raises(NotTrusted, match="in quarantine"):
            shop.catalog.get(NAME)
        assert shop.catalog.change(NAME, State.ACTIVE, "put right") is State.QUARANTINE
        assert shop.catalog.get(NAME).usable

    def test_a_lost_index_is_rebuilt(self, shop: Shop) -> None:
        with shop.catalog.db.write() as tx:
            tx.execute("DELETE FROM executors")
        with pytest.raises(NotTrusted, match="not in the index"):
            shop.catalog.get(NAME)
        assert shop.catalog.look(NAME).problems == ("it is signed, but not in the index",)
        assert shop.catalog.rebuild() == [NAME]
        assert shop.catalog.get(NAME).usable
        assert shop.catalog.rebuild() == []
        assert len(shop.lines("executor index rebuilt")) == 1


class TestLists:
    def test_rows_show_everything_and_verify_all_what_is_wrong(self, shop: Shop) -> None:
        write_sample(shop.folder, "read_files")
        write_sample(shop.folder, "list_files", version="2.0.0")
        shop.catalog.sign("list_files", "mine", Origin.SYNTHESISED, State.SEED)
        (shop.folder / "not-one").mkdir()
        assert shop.catalog.names() == [NAME, "list_files", "read_files"]
        rows = {row.name: (row.state, row.version, row.origin) for row in shop.catalog.rows()}
        assert rows == {
            NAME: (State.ACTIVE, "1.0.0", Origin.OWNER),
            "list_files": (State.SEED, "2.0.0", Origin.SYNTHESISED),
            "read_files": (State.DRAFT, "1.0.0", Origin.OWNER),
        }
        assert [each.name for each in shop.catalog.usable()] == [NAME, "list_files"]
        assert shop.catalog.verify_all() == []
        (shop.folder / "list_files" / "added").write_text("x")
        (found,) = shop.catalog.verify_all()
        assert (found.name, found.problems) == ("list_files", ("'added' does not belong there",))
        assert state(shop, "list_files") is State.QUARANTINE

    def test_a_draft_that_is_no_manifest_is_shown_with_its_problem(self, shop: Shop) -> None:
        write_sample(shop.folder, "read_files", manifest="name =")
        look = shop.catalog.look("read_files")
        assert look.executor is None
        assert "not valid TOML" in look.problems[0]


@pytest.mark.slow
def test_many_readers_never_raise_a_false_alarm_while_states_change(shop: Shop) -> None:
    """A reader in another process, and a writer that goes on and off."""
    child = os.fork()
    if child == 0:
        try:
            for round_ in range(40):
                shop.catalog.change(NAME, State.ACTIVE if round_ % 2 else State.DISABLED, "to and fro")
            os._exit(0)
        finally:
            os._exit(1)
    seen = set()
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        try:
            seen.add(shop.catalog.get(NAME).state)
        except NotTrusted:
            seen.add(shop.catalog.look(NAME).state)
    assert shop.lines("executor quarantined") == []
    assert len(shop.lines("executor active")) == 20
    assert seen <= {State.ACTIVE, State.DISABLED}


def test_a_manifest_signed_under_other_rules_is_refused_without_quarantine(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ManifestError("it is out of date", fix="Write it anew.")

    monkeypatch.setattr("metnos.executors.verdict._signed_manifest", refuse)
    with pytest.raises(NotTrusted, match="out of date"):
        shop.catalog.get(NAME)
    assert state(shop) is State.ACTIVE


def test_clock_and_folder(shop: Shop) -> None:
    assert isinstance(shop.clock, MovableClock)
    shop.clock.move(timedelta(hours=1))
    shop.catalog.change(NAME, State.DISABLED, "later")
    found = shop.catalog.look(NAME).executor
    assert found is not None
    assert found.since == shop.clock.now()
    assert shop.catalog.folder_of(NAME) == shop.folder / NAME
    with pytest.raises(NotTrusted):
        shop.catalog.folder_of("../x")
    assert folder.names(shop.folder) == [NAME]
