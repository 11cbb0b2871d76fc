from metnos.law import constitution
from metnos.law.schema import MIGRATIONS


def test_it_only_ever_grows_at_its_end() -> None:
    assert MIGRATIONS[: len(constitution.MIGRATIONS)] == constitution.MIGRATIONS
    names = [migration.name for migration in MIGRATIONS]
    assert names == sorted(names)
    assert [name[:4] for name in names] == [f"{number + 1:04}" for number in range(len(names))]
