from pathlib import Path
from typing import Any

from metnos.fastpath.slots import extract
from metnos.turn.plan.coverage import ANY_DAY
from metnos.turn.plan.model_leaks import Request
from metnos.turn.plan.model_mend import mend
from metnos.turn.plan.records import Step
from turn.plan.asking import FILES, HOME, TABLES, tools

MORE = (
    "get_pages",
    "extract_text_url",
    "extract_text_html",
    "convert_units",
    "find_duplicates",
    "make_folders",
    "append_notes",
)
KNOWN = {name: tools()[name] for name in (*FILES, *TABLES, *MORE)}


def mended(text: str, *calls: tuple[str, dict[str, Any]], first: int = 1) -> list[tuple[str, Any]]:
    slots = extract(text, now=ANY_DAY, home=Path(HOME), cwd=Path(HOME))
    request = Request(text, slots, frozenset({"~", "."}))
    return [(step.executor, step.args) for step in mend([Step(*call) for call in calls], KNOWN, request, first)]


def test_a_path_becomes_the_one_that_the_owner_wrote() -> None:
    assert mended("read ~/papers/sales.csv", ("read_tables", {"path": "sales.csv"})) == [
        ("read_tables", {"path": "~/papers/sales.csv"})
    ]
    assert mended("doppi in ~/foto?", ("find_duplicates", {"paths": ["foto"]})) == [
        ("find_duplicates", {"paths": ["~/foto"]})
    ]
    assert mended("crea ~/Tasse 2026", ("make_folders", {"paths": ["Tasse 2026"]})) == [
        ("make_folders", {"paths": ["~/Tasse 2026"]})
    ]
    assert mended("read ~/a/x.txt or ~/b/x.txt", ("read_files", {"paths": ["x.txt"]})) == [
        ("read_files", {"paths": ["x.txt"]})  # which of them is not for code to guess
    ]


def test_the_folder_where_the_owner_is_is_not_the_one_they_named() -> None:
    assert mended("new files in ~/docs", ("find_files", {"path": "~"})) == [("find_files", {"path": "~/docs"})]
    assert mended("the newest files", ("find_files", {"path": "."})) == [("find_files", {"path": "."})]


def test_a_page_of_the_web_is_no_file() -> None:
    asked = "read me the article at http://a.example/bread.html"
    assert mended(asked, ("read_files", {"paths": ["bread.html"]})) == [
        ("get_pages", {"urls": ["http://a.example/bread.html"]})
    ]
    fetched = ("get_pages", {"urls": ["http://a.example/bread.html"]})
    pair = (
        fetched,
        ("extract_text_html", {"paths": ["{{step1.entries.path}}"]}),
        ("append_notes", {"text": "{{step2.entries}}"}),
    )
    assert mended(asked, *pair) == [
        ("extract_text_url", {"urls": ["http://a.example/bread.html"]}),
        ("append_notes", {"text": "{{step1.entries}}"}),
    ]
    both = (*pair, ("append_notes", {"text": "{{step1.entries}}"}))
    assert mended(asked, *both)[0] == fetched  # something else still wants it
    assert mended("read ~/bread.html", ("read_files", {"paths": ["bread.html"]})) == [
        ("read_files", {"paths": ["~/bread.html"]})
    ]


def test_a_pattern_among_paths_becomes_a_step_that_finds() -> None:
    asked = "move the txt files of ~/in to ~/out and list ~/out"
    steps = mended(
        asked,
        ("move_files", {"paths": ["~/in/*.txt"], "to": "~/out"}),
        ("list_folders", {"path": "{{step1.results[0].to}}"}),
        first=3,
    )
    assert steps == [
        ("find_files", {"path": "~/in", "pattern": "*.txt", "depth": 1}),
        ("move_files", {"paths": ["{{step3.entries.path}}"], "to": "~/out"}),
        ("list_folders", {"path": "{{step1.results[0].to}}"}),
    ]
    later = mended(
        "clean up", ("delete_files", {"paths": ["*.log"]}), ("read_files", {"paths": ["{{step1.results.path}}"]})
    )
    assert later[0] == ("find_files", {"path": ".", "pattern": "*.log", "depth": 1})
    assert later[2] == ("read_files", {"paths": ["{{step2.results.path}}"]})


def test_a_table_is_read_where_its_columns_are_wanted() -> None:
    total = {"entries": "{{step1.entries}}", "by": ["amount"], "aggregates": [{"column": "amount", "do": "sum"}]}
    steps = mended("total of amount in ~/s.csv", ("describe_tables", {"path": "~/s.csv"}), ("group_tables", total))
    assert steps == [
        ("read_tables", {"path": "~/s.csv"}),
        ("group_tables", {"entries": "{{step1.entries}}", "aggregates": [{"column": "amount", "do": "sum"}]}),
    ]


def test_a_file_that_is_filtered_is_read_as_a_table() -> None:
    romans = {"entries": "{{step1.entries}}", "conditions": [{"column": "city", "is": "equals", "value": "Rome"}]}
    steps = mended("keep city Rome of ~/p.csv", ("read_files", {"paths": ["~/p.csv"]}), ("filter_tables", romans))
    assert steps == [("read_tables", {"path": "~/p.csv"}), ("filter_tables", romans)]


def test_a_column_that_is_wanted_later_is_read() -> None:
    spent = {"entries": "{{step1.entries}}", "by": ["category"], "aggregates": [{"column": "amount", "do": "sum"}]}
    steps = mended(
        "amount per category", ("read_tables", {"path": "~/s.csv", "columns": ["amount"]}), ("group_tables", spent)
    )
    assert steps == [("read_tables", {"path": "~/s.csv"}), ("group_tables", spent)]


def test_a_step_that_is_right_stays_as_it_is() -> None:
    good = (
        "group_tables",
        {"entries": "{{step1.entries}}", "by": ["city"], "aggregates": [{"column": "a", "do": "sum"}]},
    )
    assert mended("sum a by city of ~/s.csv", ("read_tables", {"path": "~/s.csv"}), good)[1] == good
    unknown = ("nobody_knows", {"x": ["*.txt"]})
    assert mended("x", unknown) == [unknown]
