"""How much an executor may still do today."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.calls import manifest, mutating
from executors.samples import START, Shop, open_shop, write_sample
from metnos.core.clock import MovableClock
from metnos.core.sections import ExecutorSettings
from metnos.executors import index, quotas
from metnos.executors.index import Use
from metnos.executors.manifest import Manifest
from metnos.law.policy import Ask
from metnos.law.principal import Autonomy, Channel, Principal

MB = 1 << 20
CHANGES = {"fs": {"write": ["~/**"]}}
SETTINGS = ExecutorSettings(writes=10, write_mb=5)
MUTATOR = """
name = "write_files"
version = "1.0.0"
purpose = "A test's own."
kind = "mutator"
reversal = "restore_content"
[output]
type = "object"
[output.properties.any]
type = "string"
[capabilities]
fs.write = ["~/**"]
[quotas]
writes = 3
[[examples]]
say = "do it"
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return open_shop(tmp_path_factory.mktemp("quotas"))


def use(shop: Shop, hours_ago: float, writes: int, size: int, name: str = "write_files") -> None:
    moment = START - timedelta(hours=hours_ago)
    index.record_use(shop.catalog.db, Use(name, "0" * 64, moment, ok=True, writes=writes, write_bytes=size))


def left(shop: Shop, read: Manifest) -> tuple[int, int]:
    return quotas.left(shop.catalog, read, SETTINGS, MovableClock(START))


def forget(shop: Shop) -> None:
    index.forget_uses(shop.catalog.db, START + timedelta(days=1))


def test_all_of_it_before_the_first_use(shop: Shop) -> None:
    forget(shop)
    assert left(shop, mutating(capabilities=CHANGES)) == (10, 5 * MB)
    assert left(shop, mutating(capabilities=CHANGES, quotas={"writes": 3, "write_mb": 1})) == (3, MB)


def test_what_others_did_does_not_count(shop: Shop) -> None:
    forget(shop)
    use(shop, 1, 4, MB, name="move_files")
    assert left(shop, mutating(capabilities=CHANGES)) == (10, 5 * MB)


USES = st.lists(st.tuples(st.floats(0, 60), st.integers(0, 8), st.integers(0, 3 * MB)), max_size=8)


@given(uses=USES)
def test_what_was_done_within_a_day_is_taken_off_and_never_more_than_there_is(
    shop: Shop, uses: list[tuple[float, int, int]]
) -> None:
    forget(shop)
    for each in uses:
        use(shop, *each)
    # The store keeps milliseconds, so a use just at the edge may fall on either side.
    recent = [each for each in uses if timedelta(hours=each[0]) <= timedelta(days=1)]
    if any(abs(each[0] - 24) < 1e-6 for each in uses):
        return
    writes, size = left(shop, mutating(capabilities=CHANGES))
    assert writes == max(0, 10 - sum(each[1] for each in recent))
    assert size == max(0, 5 * MB - sum(each[2] for each in recent))


class TestUsedUp:
    @pytest.fixture
    def own(self, tmp_path: Path) -> Shop:
        """A shop with one mutator that may make three changes a day, and one producer."""
        made = open_shop(tmp_path)
        write_sample(made.folder, "write_files", manifest=MUTATOR)
        write_sample(made.folder, "find_files")
        for name in ("write_files", "find_files"):
            made.catalog.sign(name, "for a test")
        return made

    def why(self, shop: Shop, name: str, clock: MovableClock | None = None) -> str | None:
        principal = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
        ask = Ask(principal, name, "0" * 64, "0" * 64, "/", "turn", (), False, "title", {})
        return quotas.used_up(shop.catalog, SETTINGS, clock or MovableClock(START))(ask)

    def test_it_says_what_is_used_up(self, own: Shop) -> None:
        assert self.why(own, "write_files") is None
        use(own, 1, 2, 0)
        assert self.why(own, "write_files") is None
        use(own, 1, 1, 0)
        assert self.why(own, "write_files") == "it made all 3 changes that it may make within a day"

    def test_bytes_count_too(self, own: Shop) -> None:
        use(own, 1, 1, 5 * MB)
        assert self.why(own, "write_files") == "it wrote all 5 MB that it may write within a day"

    def test_a_day_later_it_may_again(self, own: Shop) -> None:
        use(own, 0, 3, 5 * MB)
        assert self.why(own, "write_files", MovableClock(START + timedelta(hours=23))) is not None
        assert self.why(own, "write_files", MovableClock(START + timedelta(hours=25))) is None

    def test_what_changes_nothing_is_never_used_up(self, own: Shop) -> None:
        use(own, 1, 100, 100 * MB, name="find_files")
        assert self.why(own, "find_files") is None


def test_an_executor_that_may_change_nothing_today(shop: Shop) -> None:
    forget(shop)
    assert left(shop, mutating(capabilities=CHANGES, quotas={"writes": 0, "write_mb": 0})) == (0, 0)
    assert left(shop, manifest()) == (10, 5 * MB), "of a producer nobody asks"
