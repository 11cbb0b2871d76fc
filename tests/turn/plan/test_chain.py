"""Chains: what must come before an executor so that it gets what it takes."""

from metnos.turn.plan.records import Kind
from tables import try_each
from turn.plan.routing import CWD, NOW, calls, route, router


@try_each(("text", "executors"), [
    ("hash the iso files in ~/inbox", ["find_files", "hash_files"]),
    ("summarise the PDFs in ~/inbox", ["find_files", "extract_text_pdf", "summarise_text"]),
    ("find the PDFs in ~/inbox, extract their text and summarise it", ["find_files", "extract_text_pdf",
    "summarise_text"]),
    ("what do the docx files in ~/inbox say about rent", ["find_files", "extract_text_office", "filter_tables"]),
    ("save the text of a.pdf to a.txt", ["extract_text_pdf", "write_files"]),
    ("read x.csv, keep the rows where amount > 1, sort them by date and save them as y.csv",
     ["read_tables", "filter_tables", "sort_tables", "write_tables"]),
    ("cancella i promemoria del dentista", ["list_reminders", "filter_tables", "delete_reminders"]),
    ("zip the PDFs of ~/inbox into ~/a.zip and move it to ~/Foto", ["find_files", "archive_files", "move_files"]),
])  # fmt: skip
def test_steps_feed_one_another(text: str, executors: list[str]) -> None:
    plan = route(text)
    assert (plan.kind, [executor for executor, _ in calls(plan)]) == (Kind.STEPS, executors)


def test_moved_files_are_where_they_went() -> None:
    plan = route("move the PDFs in ~/inbox to ~/Foto and zip them into ~/a.zip")
    assert plan.steps[2].args == {"paths": "{{step2.results.to}}", "to": "~/a.zip"}


def test_a_folder_is_made_only_where_none_is_and_no_stick_could_be() -> None:
    assert "make_folder" not in route("move a.txt to ~/Foto").steps[0].args
    assert route("move a.txt to ~/Neu").steps[0].args["make_folder"] is True
    assert "make_folder" not in route("move a.txt to /media/usb").steps[0].args


def test_the_files_of_a_folder_are_those_right_in_it() -> None:
    plan = route("delete all the files in ~/inbox")
    assert plan.steps[0].args == {"path": "~/inbox", "depth": 1}
    assert route("delete ~/inbox").steps[0].args == {"paths": ["~/inbox"]}


def test_a_place_that_was_assumed_may_be_said_after_all() -> None:
    plan = route("convert logo.png to jpeg and put it in ~/Web")
    assert calls(plan) == [("convert_images", {"paths": ["logo.png"], "format": "jpeg", "to": "~/Web"})]
    assert plan.notes == ()


def test_a_name_is_formed_from_one_that_is_there_and_said() -> None:
    plan = route("zip ~/inbox")
    assert plan.steps[0].args["to"] == "~/inbox.zip"
    assert "~/inbox.zip" in plan.notes[0]
    assert route("unzip ~/a.tar.gz").steps[0].args["to"] == "~/a"
    assert route("turn x.xlsx into a CSV file").steps[0].args == {"path": "x.xlsx", "to": "x.csv"}


def test_a_chain_needs_its_links() -> None:
    plan = router("filter_tables").route("rows of x.csv where a > 1", now=NOW, cwd=CWD)
    assert "filter_tables" not in [executor for executor, _ in calls(plan)]


def test_renaming_stays_in_the_folder() -> None:
    assert route("rename ~/inbox/a.txt to b.txt").steps[0].args == {"paths": ["~/inbox/a.txt"], "to": "~/inbox/b.txt"}
