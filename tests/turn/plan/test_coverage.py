"""What a request covers: the router never leaves it, and a plan that does is numbered."""

import posixpath
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.turn.plan import coverage
from metnos.turn.plan.coverage import Coverage
from metnos.turn.plan.model_scene import Done
from metnos.turn.plan.records import Kind, Step
from suite import Repeat
from tables import try_each
from turn.plan.asking import HOME, done, tools
from turn.plan.routing import CWD, NOW, router, table

WORK = str(CWD)
NAMES = st.sampled_from(["inbox", "private", "diary.txt", "a.txt", "Documents", "..", ".", ".ssh", "inbox2", "notes"])


def drawn(
    text: str, said: str = "", cwd: str = HOME, before: tuple[Step, ...] = (), did: tuple[Done, ...] = ()
) -> Coverage:
    return coverage.draw(text, said, cwd=cwd, home=HOME, before=before, done=did, known=tools())


def beyond(named: Coverage, *calls: tuple[str, Mapping[str, Any]]) -> tuple[int, ...]:
    return coverage.beyond([Step(*call) for call in calls], tools(), named)


def reads(text: str, path: str, cwd: str = HOME) -> bool:
    """Whether the first plan of this request may read this without a question."""
    return beyond(drawn(text, cwd=cwd), ("read_files", {"paths": [path]})) == ()


@try_each(
    ("text", "path", "free"),
    [
        ("what is in ~/inbox/letter.txt?", "~/inbox/letter.txt", True),
        ("what is in ~/inbox/letter.txt?", f"{HOME}/inbox/letter.txt", True),
        ("what is in ~/inbox/letter.txt?", "~/inbox/other.txt", False),
        ("what is in ~/inbox/letter.txt?", "~/private/diary.txt", False),
        ("what is in ~/inbox?", "~/inbox/deep/er.txt", True),
        ("what is in ~/inbox?", "~/inbox/../private/diary.txt", False),
        ("what is in ~/inbox?", "~/inbox2/a.txt", False),
        ("what is in ~/inbox?", "~root/inbox/a.txt", False),
        ("what is in ~/inbox?", "/", False),
        ("read what is in my downloads folder", "~/Downloads/a.txt", True),
        ("leggi i file nella cartella Scaricati", "~/Downloads/a.txt", True),
        ("leggi i file nella cartella Scaricati", "~/Documenti/a.txt", False),
        ("read my diary", "~/diary.txt", True),
        ("read my diary", "~/Documents/diary.txt", True),
        ("read my diary", "~/private/diary.txt", False),
        ("read my diary", "/srv/diary.txt", False),
        ("read my diary", "~/.diary", False),
        ("read my diary", "~/Documents/bank.txt", False),
        ("what is my account number?", "~/Documents/bank.txt", False),
        ("what is the weather?", "~/Documents", False),
        ("read everything here", "~/Documents/bank.txt", False),
        ("read everything in ~/Documents", "~/Documents/bank.txt", True),
    ],
)
def test_a_file_that_nobody_named_is_asked_about(text: str, path: str, free: bool) -> None:
    assert reads(text, path) is free


def test_the_folder_where_the_owner_is_covers_what_is_in_it_unless_it_is_their_home() -> None:
    assert reads("what does the contract say?", "b/some.txt", cwd=WORK)
    assert not reads("what does the contract say?", "../private/diary.txt", cwd=WORK)
    assert not reads("what does the contract say?", "private/some.txt", cwd=HOME)
    assert not reads("what does the contract say?", "etc/passwd", cwd="/")


def test_the_home_is_looked_at_as_a_whole_only_where_no_other_place_is_named() -> None:
    anywhere = ("find_files", {"path": "~", "pattern": "*.pdf"})
    assert beyond(drawn("where are my PDFs?"), anywhere) == ()
    assert beyond(drawn("where are my PDFs?", cwd=WORK), anywhere) == ()
    assert beyond(drawn("find my PDFs and move them to ~/archive"), anywhere) == ()
    assert beyond(drawn("where are the PDFs in ~/inbox?"), anywhere) == (1,)
    assert beyond(drawn("thank you, and what else?"), anywhere) == (1,)
    assert beyond(drawn("search for bread"), ("search_text", {"paths": ["~"], "pattern": "bread"})) == ()
    assert beyond(drawn("search for bread"), ("search_text", {"paths": ["~"], "pattern": "secret"})) == (1,)
    assert beyond(drawn("search for bread"), ("search_text", {"paths": ["~"], "pattern": "x", "names": "bread"})) == (
        1,
    )
    assert beyond(drawn("find my photos"), ("find_files", {"path": "~", "pattern": "*.jpg"})) == ()
    assert beyond(drawn("find my photos"), ("find_files", {"path": "~", "pattern": "*.key"})) == (1,)
    assert beyond(drawn("is there any bread?"), ("search_text", {"paths": ["~"], "pattern": "secret"})) == (1,)
    assert beyond(drawn("read http://example.org/a"), anywhere) == (1,)
    assert beyond(drawn("tidy up my files"), ("delete_files", {"paths": ["~"]})) == (1,)


def test_what_a_step_gives_is_covered_as_the_step_is() -> None:
    text = "delete the logs in ~/app"
    found = ("find_files", {"path": "~/app", "pattern": "*.log"})
    gone = ("delete_files", {"paths": ["{{step1.entries.path}}"]})
    assert beyond(drawn(text), found, gone) == ()
    assert beyond(drawn(text), ("find_files", {"path": "~/private"}), gone) == (1, 2)
    assert beyond(drawn(text), found, ("delete_files", {"paths": ["{{step1.entries.name}}"]})) == (2,)
    assert beyond(drawn(text), found, ("delete_files", {"paths": ["{{step1.entries.path}}/../x"]})) == (2,)
    assert beyond(drawn(text), found, gone, ("delete_files", {"paths": ["~/private"]})) == (3,)


@try_each(
    ("url", "free"),
    [
        ("https://example.org/news", True),
        ("https://EXAMPLE.org./a?b=c", True),
        ("https://www.example.org/news", False),
        ("http://example.org/news", False),
        ("https://example.org:8443/news", False),
        ("https://example.org@evil.example/", False),
        ("https://example.org.evil.example/", False),
        ("https://evil.example/?q=example.org", False),
        ("file:///etc/passwd", False),
    ],
)
def test_only_hosts_that_the_words_name_are_spoken_to(url: str, free: bool) -> None:
    assert (beyond(drawn("what is new on example.org?"), ("get_pages", {"urls": [url]})) == ()) is free


def test_words_of_before_and_the_plan_that_they_made_count() -> None:
    assert beyond(drawn("and the second?", "what is in ~/inbox?"), ("read_files", {"paths": ["~/inbox/b.txt"]})) == ()
    agreed = (Step("move_files", {"paths": ["~/inbox/a.txt"], "to": "~/out"}),)
    assert beyond(drawn("yes", before=agreed), ("move_files", {"paths": ["~/inbox/a.txt"], "to": "~/out"})) == ()
    found = (done(1, "find_files", {"path": "~/x"}, {"path": "/srv/found.txt"}),)
    assert beyond(drawn("read it", did=found), ("read_files", {"paths": ["/srv/found.txt"]})) == ()
    cells = (done(1, "read_tables", {"path": "~/t.csv"}, {"path": "/srv/found.txt"}),)
    assert beyond(drawn("read it", did=cells), ("read_files", {"paths": ["/srv/found.txt"]})) == (1,)


@try_each(
    ("text", "free"),
    [
        ("delete ~/inbox/one.txt", True),
        ("can you delete ~/inbox/one.txt?", True),
        ("please delete ~/inbox/one.txt", True),
        ("puoi eliminare ~/inbox/one.txt?", True),
        ("delete ~/inbox/one.txt but do not empty the trash", True),
        ("delete what is not needed in ~/inbox", True),
        ("do not delete ~/inbox/one.txt", False),
        ("don\u2019t delete ~/inbox/one.txt", False),
        ("never delete ~/inbox/one.txt", False),
        ("look at ~/inbox, and do not delete anything", False),
        ("non eliminare ~/inbox/one.txt", False),
        ("non cancellare mai ~/inbox/one.txt", False),
        ("should I delete ~/inbox/one.txt?", False),
        ("what happens if I delete ~/inbox?", False),
        ("how do I delete ~/inbox/one.txt?", False),
        ("cosa succede se elimino ~/inbox?", False),
        ("devo eliminare ~/inbox/one.txt?", False),
    ],
)
def test_no_change_is_covered_by_words_that_forbid_it_or_wonder(text: str, free: bool) -> None:
    assert (beyond(drawn(text), ("delete_files", {"paths": ["~/inbox/one.txt"]})) == ()) is free
    assert beyond(drawn(text), ("read_files", {"paths": ["~/inbox/one.txt"]})) == ()


@pytest.mark.parametrize(
    "text", ["when I am home remind me to call", "quando arrivo ricordami il latte", "add: why not"]
)
def test_a_wish_with_such_words_in_it_is_a_wish(text: str) -> None:
    assert not coverage.is_unwanted(tools()["append_notes"], text)


def test_an_executor_that_is_not_there_is_beyond() -> None:
    assert beyond(drawn("read ~/a.txt"), ("leak_files", {"paths": ["~/a.txt"]})) == (1,)


@pytest.mark.slow
def test_the_router_never_leaves_the_words(repeat: Repeat) -> None:
    """What it plans is made of the words, so that it is never the reason for a question."""
    left, planned = {}, 0
    for part in repeat("fifths of the routes, held within the words", suite=1, soak=5):
        for case in table()[part::5]:
            plan = router().route(case["say"], now=NOW, cwd=CWD.parent)
            numbers = coverage.beyond(plan.steps, tools(), drawn(case["say"]))
            planned += plan.kind is Kind.STEPS
            if numbers:
                left[case["say"]] = numbers
    assert planned > 80
    assert left == {}


paths = st.lists(NAMES, min_size=1, max_size=5).map("/".join)


@given(st.lists(paths, max_size=3), paths)
def test_a_path_is_free_only_below_one_that_was_named_or_by_its_name(named: list[str], path: str) -> None:
    named = [each.rstrip("./") for each in named]  # dots at the end of a name are those of the sentence
    text = "look at " + " and ".join(f"~/{each}" for each in named) if named else "look"
    got = drawn(text).covers(f"~/{path}", looks=False)
    there = posixpath.normpath(f"{HOME}/{path}")
    above = [posixpath.normpath(f"{HOME}/{each}") for each in named]
    narrow = [
        each for each in above if not f"{HOME}/".startswith(f"{each.rstrip('/')}/")
    ]  # the rest holds all they have
    below = any(there == each or there.startswith(f"{each}/") for each in narrow)
    by_name = all(each.split(".")[0] in text or each == "Documents" for each in there.removeprefix(HOME).split("/"))
    assert below <= got
    assert got <= (below or by_name or f"~/{path}" in text)


@given(st.text(max_size=60), st.text(max_size=40), st.text(max_size=40))
def test_no_words_and_no_path_make_it_fail(text: str, path: str, url: str) -> None:
    named = drawn(text)
    named.covers(path, looks=True)
    named.reaches(url)


@given(paths, st.text(alphabet="abcdefg /~.", max_size=30))
def test_more_words_never_take_away(path: str, more: str) -> None:
    text = f"read ~/{path}"
    if drawn(text).covers(f"~/{path}", looks=False):
        assert drawn(text, said=more).covers(f"~/{path}", looks=False)


def test_a_long_word_is_read_in_the_time_of_its_length() -> None:
    began = time.process_time()
    for letters in ("a", "a.", "a+-"):
        assert coverage.URL.findall(letters * 100_000) == []
    assert time.process_time() - began < 5  # a minute and more, if each letter began anew


def test_an_address_is_found_wherever_it_stands() -> None:
    words = "see (HTTPS://one.example/x) or \u770bhttp://two.example, <ftp://three.example>"
    assert [each.partition("://")[2].strip(",)") for each in coverage.URL.findall(words)] == [
        "one.example/x", "two.example", "three.example",
    ]  # fmt: skip
