"""How much of a table one reply holds, and how much work a call takes on."""

import json
from pathlib import Path

import pytest

from metnos.sandbox import message_json
from metnos.sandbox.kit import patterns, table_reading, tables
from sandbox.kit.kit_context import ENDLESS, Failure, context
from tables import try_each

OUTPUT = 8 << 20  # bytes of one message, as the settings have it


@try_each("cell", [1, 12345.5, None, True, "x", "è" * 11, "𝄞" * 5, "𝄞" * 90])
@pytest.mark.parametrize("width", [1, 3, 40, 300, 1000])
def test_as_many_rows_as_one_reply_holds_cost_no_more_than_a_message_may(cell: object, width: int) -> None:
    row = {f"c{number}": cell for number in range(width)}
    shown = list(tables.fitting([row] * 1000))
    body = json.dumps({"op": "result", "reply": {"entries": shown}}, separators=(",", ":")).encode()
    assert shown
    assert message_json.judge(body, 2 * OUTPUT)[0] + len(body) <= 2 * OUTPUT


def test_a_table_that_is_too_large_is_refused_and_not_cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * 10)
    ctx = context()
    monkeypatch.setattr(tables, "CPU_S", ENDLESS)
    work = tables.Work(ctx, table_reading.Reader, patterns.guarded)
    args = {"recipe": {"entries": {"do": "read_tables", "source": 0}}, "sources": [str(tmp_path / "a.csv")]}
    assert len(work.rows(args)) == 10
    for bound in ("MOST_ROWS", "MOST_CELLS"):
        with monkeypatch.context() as patched:
            patched.setattr(tables, bound, 9)
            with pytest.raises(Failure, match="SQLite"):
                work.rows(args)
