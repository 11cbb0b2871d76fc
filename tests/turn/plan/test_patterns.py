"""The router's expressions as data: each compiles, and none takes long."""

import time
import tomllib
from importlib import resources

from metnos.turn.plan.patterns import feasts, pattern, signs, units
from tables import try_each

SECTIONS = ("text", "reckon", "tables", "files", "small", "values")
DATA = tomllib.loads(resources.files("metnos.turn.plan").joinpath("patterns.toml").read_text(encoding="utf-8"))
NAMES = [f"{section}.{name}" for section in SECTIONS for name in DATA[section]]
LONG = 1500
SECONDS = 20.0  # so much that only an explosion takes longer


@try_each("name", NAMES)
def test_none_explodes(name: str) -> None:
    before = time.process_time()
    for piece in ("a ", "1,", "'", "where a ", "the the ", "-", "in ", "A ", "search for "):
        for _ in pattern(name).finditer(piece * (LONG // len(piece))):
            pass
    assert time.process_time() - before < SECONDS


def test_the_rest_of_the_data_is_whole() -> None:
    assert len(signs()) == len(DATA["signs"])
    assert units()["gradi_centigradi"] == "celsius"
    assert feasts()["natale"] == (12, 25)
