from pathlib import Path
from typing import Any

from metnos.fastpath.slots import extract
from metnos.turn.plan.coverage import ANY_DAY
from metnos.turn.plan.model_leaks import Request, without_leaks
from metnos.turn.plan.records import Step
from turn.plan.asking import HOME, tools

NOW = "2026-11-16 Monday 04:33 +0000"


def left(text: str, executor: str, args: dict[str, Any]) -> dict[str, Any]:
    slots = extract(text, now=ANY_DAY, home=Path(HOME), cwd=Path(HOME))
    return dict(without_leaks(Step(executor, args), tools(), Request(text, slots, now=NOW)).args)


def test_what_was_copied_from_the_example_is_left_out() -> None:
    asked = "which files in ~/inbox are larger than 1 MB?"
    given = {"path": "~/inbox", "pattern": "*.pdf", "min_size": "1 MB"}
    assert left(asked, "find_files", given) == {"path": "~/inbox", "min_size": "1 MB"}
    assert left("find pdf files in ~/inbox", "find_files", {"path": "~/inbox", "pattern": "*.pdf"}) == {
        "path": "~/inbox",
        "pattern": "*.pdf",
    }
    assert left("the largest in ~/x", "find_files", {"path": "~/x", "limit": 10}) == {"path": "~/x"}
    assert left("the ten largest in ~/x", "find_files", {"path": "~/x", "limit": 10})["limit"] == 10
    assert left("find the PDFs", "find_files", {"path": "Downloads", "pattern": "*.pdf"}) == {"pattern": "*.pdf"}
    units = {"values": [26.2], "from": "miles", "to": "km"}
    assert left("how many kilometres are 26.2 miles?", "convert_units", units) == units


def test_a_switch_is_only_turned_if_the_request_says_so() -> None:
    taken = {"paths": ["~/foto.zip"], "to": "~/immagini", "own_folder": True}
    plain = {"paths": ["~/foto.zip"], "to": "~/immagini"}
    assert left("estrai l'archivio ~/foto.zip nella cartella ~/immagini", "extract_archives", taken) == plain
    kept = "estrai ~/foto.zip in ~/immagini, ognuno nella sua cartella"
    assert left(kept, "extract_archives", taken) == taken
    write = {"path": "~/a.txt", "text": "x", "overwrite": True}
    assert "overwrite" not in left("scrivi 'x' nel file ~/a.txt", "write_files", write)
    assert "overwrite" in left("write 'x' to ~/a.txt, replace it", "write_files", write)


def test_all_of_an_example_is_no_reading_of_the_request() -> None:
    copied = {"paths": ["~/draft.txt"], "pattern": " ", "replacement": "_"}
    assert left("rename ~/draft.txt to ~/final.txt", "rename_files", copied) == {"paths": ["~/draft.txt"]}
    asked = "replace the spaces in the names of ~/draft.txt by underscores"
    assert left(asked, "rename_files", copied) == copied


def test_the_time_that_was_told_is_not_what_was_asked_for() -> None:
    note = {"text": "serviced", "note": "2026-11-16 04:33"}
    assert left("note that it was serviced", "append_notes", note) == {"text": "serviced"}
    assert left("note 'serviced' in 2026-11-16 04:33", "append_notes", note) == note
    diary = {"text": "serviced", "note": "diary 2026"}
    assert left("note that it was serviced in the diary", "append_notes", diary) == diary


def test_references_choices_and_tools_that_nobody_has_are_left_alone() -> None:
    rows = {"entries": "{{step1.entries}}", "by": [{"column": "x"}]}
    assert left("sort by x", "sort_tables", rows) == rows
    assert left("largest in ~/a", "find_files", {"path": "~/a", "order": "largest"})["order"] == "largest"
    assert without_leaks(Step("nobody", {"a": 1}), tools(), Request("x", ())).args == {"a": 1}
