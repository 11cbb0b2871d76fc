"""What single executors are told beyond their schema."""

from typing import Any

import pytest

from metnos.turn.plan.fill_small import READERS, table_format
from tables import try_each
from turn.plan.asking import tools
from turn.plan.routing import calls, route


def test_readers_own_arguments_that_exist() -> None:
    for name, (_, own) in READERS.items():
        assert set(own) <= set(tools()[name].properties), name


@try_each(("text", "expected"), [
    ("read the first 20 lines of a.txt", {"to_line": 20}),
    ("read lines 5 to 9 of a.txt", {"from_line": 5, "to_line": 9}),
    ("leggi la riga 7 di a.txt", {"from_line": 7, "to_line": 7}), ("read pages 2-4 of a.pdf", {"pages": "2-4"}),
    ("read page 3 of a.pdf", {"pages": "3"}), ("leggi le prime due pagine di a.pdf", {"pages": "1-2"}),
    ("show the first ten rows of x.csv", {"limit": 10}), ("leggi il foglio Spese di x.xlsx", {"table": "Spese"}),
    ("which disks are more than 90% full?", {"at_least": 90}), ("is firefox running?", {"name": "firefox"}),
    ("md5 of a.iso", {"algorithm": "md5"}), ("resize a.png to 200 pixels into ~/b", {"side": 200}),
    ("resize a.png to 10000 pixels into ~/b", {"side": 10000}),
    ("resize a.png to 99999999 pixels into ~/b", {"side": 99999999}),
    ("what reminders are due?", {"which": "due"}), ("summarise a.txt in 3 sentences", {"sentences": 3}),
    ("search 'x' in ~/inbox with 2 lines around", {"context": 2}),
    ("show my last 5 notes", {"order": "newest", "limit": 5}),
    ("links in a.html with 'shop'", {"contains": "shop"}),
])  # fmt: skip
def test_details(text: str, expected: dict[str, Any]) -> None:
    assert expected.items() <= calls(route(text))[-1][1].items()


@pytest.mark.parametrize(
    ("text", "ending"), [("as an Excel file", "xlsx"), ("in un database sqlite", "db"), ("to b.pdf", None)]
)
def test_formats_of_tables(text: str, ending: str | None) -> None:
    assert table_format(text) == ending
