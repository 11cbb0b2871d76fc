"""Executors as faces show them."""

from executors.hands import give, run
from metnos.app import App, cataloguing
from metnos.executors.folder import SIGNED
from metnos.law.capability import Capability
from metnos.law.principal import at_terminal

READS = """
def run(args, ctx):
    return {"entries": [{"any": "read"}]}
"""


def test_one_that_was_used_and_one_that_was_tampered_with(equipped: App) -> None:
    give(equipped, READS, name="read_tables")
    look = equipped.catalog.look("read_tables")
    assert (cataloguing.is_signed(look), cataloguing.is_builtin(look)) == (True, False)
    assert cataloguing.described(equipped, look).may == ("do nothing but compute",)
    assert list(cataloguing.files(equipped, "read_tables")) == list(SIGNED)
    assert run(equipped, "read_tables").ok
    (line,) = cataloguing.uses(equipped, "read_tables")
    assert cataloguing.use_words(line).startswith("went well, ")
    stands = cataloguing.standing(equipped, "read_tables")
    assert (stands.last_used, stands.strikes, stands.fitness) == (equipped.clock.now(), 0, None)
    (equipped.workspace.executors / "read_tables" / "manifest.toml").write_bytes(b"\xff")
    look = equipped.catalog.look("read_tables")
    assert cataloguing.signature_words(look).startswith("it is not as it was signed: ")
    assert cataloguing.described(equipped, look).may == ()
    assert cataloguing.told(equipped, look)["manifest"] is None


def test_what_nobody_knows_stands_nowhere(equipped: App) -> None:
    assert cataloguing.standing(equipped, "nobody_there") == cataloguing.Standing(None, 0, 0, None, "")
    assert cataloguing.neighbours(equipped, "nobody_there") == []


def test_a_grant_in_words(equipped: App) -> None:
    given = equipped.grants.grant("*", Capability.NET_HTTP, "example.org", days=1, by=at_terminal(), sending=True)
    assert cataloguing.grant_words(given) == "any executor may net.http example.org, sending too"
    assert cataloguing.grant_data(given)["id"] == given.id
