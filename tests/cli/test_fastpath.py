"""``metnos fastpath``, and what ``metnos why`` says of fast paths, over a real workspace."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from app.turned import close, pdfs, words
from metnos.app import App, learning, paths
from metnos.cli import Choice, fastpath, why
from metnos.core.errors import UsageError
from metnos.fastpath.records import State
from metnos.grimoire.trace import State as Turn
from metnos.law import audit_log
from tables import try_each
from turn.fasting import fill, make_sure, path_of
from turn.scripted import reopened
from turn.turning import take

Type = Callable[..., str]


@pytest.fixture
def app(equipped: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    make_sure(monkeypatch)
    fill(tmp_path / "home")
    opened, _ = reopened(equipped, model=False, turn__planner="router")
    for command in (fastpath, why):
        monkeypatch.setattr(command, "open_app", lambda _: opened)
    yield opened
    opened.close()


@pytest.fixture
def practised(app: App) -> App:
    """One path that answers, and one sequence that was seen once."""
    for number in range(4):
        close(app, number, *pdfs(f"f{number}"))
        learning.catch_up(app)
    close(app, 9, *words("f9"))
    learning.catch_up(app)
    return app


def invoke(command: click.Command, *line: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(command, line, obj=Choice(None), help_option_names=["-h", "--help"], input=typed)


def typed(*line: str) -> str:
    done = invoke(fastpath.fastpath, *line)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


# -- list


def test_an_empty_list_says_how_one_begins(app: App) -> None:
    assert "There are no fast paths yet" in typed("list")
    assert json.loads(typed("list", "--json")) == []
    assert "No fast path is in the state active" in typed("list", "--state", "active")


def test_the_list_says_what_each_does_and_how_it_stands(practised: App) -> None:
    said = typed("list")
    assert "find_files → count_text" in said
    assert "find the pdfs in a folder" in said
    assert "answers (active)" in said
    assert "rare (candidate)" in said
    rows = json.loads(typed("list", "--json"))
    assert [(row["state"], row["passes"]) for row in rows] == [("active", 4), ("candidate", 1)]
    assert [row["state"] for row in json.loads(typed("list", "--json", "--state", "active"))] == ["active"]
    assert invoke(fastpath.fastpath, "list", "--state", "unheard").exit_code == 2


# -- show


def test_one_path_with_its_forms_and_all_that_happened(practised: App) -> None:
    found = path_of(practised, "find_files")
    said = typed("show", found.id[:6].upper())
    for part in (
        f"Fast path {found.id}", "It answers (active): it answers in the place of planning", "Learnt from 4 requests",
        "find the pdfs in a folder  (4 times)", "planned so, and it went well", "metnos why 01T00003",
        "changed its state: it answers (active): asked like this before",
    ):  # fmt: skip
        assert part in said, part
    data = json.loads(typed("show", found.id, "--json"))
    assert [event["kind"] for event in data["events"]].count("pass") == 4
    assert data["plan_ms"] == pytest.approx(40.0)


def test_a_path_of_requests_that_followed_one_another_can_be_shown(app: App) -> None:
    for number in range(3):
        first = close(app, 2 * number, *pdfs(f"f{number}"), conversation=f"c{number}")
        close(
            app, 2 * number + 1, "count the words of them", [("count_text", {"paths": "{{last.entries.path}}"})],
            conversation=f"c{number}", plan={"last": first},
        )  # fmt: skip
    learning.catch_up(app)
    found = path_of(app, "find_files", "count_text")
    assert "the first part of it was done" in typed("show", found.id)


@try_each("part", ["", "nowhere", "zz", "%", "../x"])
def test_what_is_no_path_is_said(practised: App, part: str) -> None:
    for command in (("show", part), ("demote", "--yes", part), ("restore", part)):
        failed = invoke(fastpath.fastpath, *command).exception
        assert isinstance(failed, UsageError)
        assert failed.fix == "See: metnos fastpath list"


# -- demote


def test_a_path_is_switched_off_once_and_the_owner_is_asked(practised: App) -> None:
    found = path_of(practised, "find_files")
    assert invoke(fastpath.fastpath, "demote", found.id).exit_code != 0, "nobody is there to be asked"
    assert path_of(practised, "find_files").state is State.ACTIVE
    assert "Switched off" in typed("demote", found.id, "--yes")
    assert "switched off before" in typed("demote", found.id, "--yes")
    assert json.loads(typed("demote", found.id, "--yes", "--json")) == {"path": found.id, "demoted": False}
    trace = take(practised, "find the PDFs in ~/docs").trace
    assert trace is not None
    assert trace.path == "router"
    assert "you switched it off" in typed("show", found.id)


def test_a_path_that_was_switched_off_watches_again_and_has_to_prove_itself(practised: App) -> None:
    found = path_of(practised, "find_files")
    assert "It is not switched off" in typed("restore", found.id[:8])
    typed("demote", found.id, "--yes")
    assert "It watches again" in typed("restore", found.id[:8])
    assert path_of(practised, "find_files").state is State.SHADOW
    assert json.loads(typed("restore", found.id, "--json")) == {"path": found.id, "restored": False}
    assert "it only watches (shadow): you switched it on again" in typed("show", found.id)
    ways = []
    for folder in ("inbox", "docs", "work", "papers"):
        trace = take(practised, f"find the PDFs in ~/{folder}").trace
        assert trace is not None
        ways.append(trace.path)
    assert ways == ["router", "router", "router", "fast"], "three times more, as everything that answered before"


def test_what_the_owner_switches_is_in_the_audit(practised: App) -> None:
    found = path_of(practised, "find_files")
    typed("demote", found.id, "--yes")
    typed("restore", found.id)
    lines = [line for line in audit_log.backwards(practised.workspace.audit) if line.kind.startswith("fast path")]
    done = [(line.kind, line.entry.names["path"]) for line in lines if line.entry.names["phase"] == "done"]
    assert done == [("fast path restored", found.id), ("fast path demoted", found.id)], "the newest first"


def test_a_sequence_that_an_executor_covers_is_not_brought_back(
    practised: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = path_of(practised, "find_files", "count_text")
    typed("demote", found.id, "--yes")
    monkeypatch.setattr(paths, "covers", lambda _: {"count_files": (("find_files", "count_text"),)})
    refused = invoke(fastpath.fastpath, "restore", found.id).exception
    assert isinstance(refused, UsageError)
    assert "count_files does all of it in one step" in refused.what
    assert path_of(practised, "find_files", "count_text").state is State.DEMOTED


# -- explain


def test_a_request_is_explained_and_nothing_is_done(practised: App) -> None:
    said = typed("explain", "find the PDFs in ~/docs")
    assert said.splitlines()[0] == "Without its details it reads: find the pdfs in a folder"
    assert "A fast path would answer: asked like this before" in said
    assert "which answers (active), knows it in the same words: find the pdfs in a folder" in said
    assert "  1. find_files\n     path: ~/docs\n     pattern: *.pdf\n" in said
    assert "No fast path knows such a request" in typed("explain", "sing a song")
    assert "No fast path" in typed("explain", "find a PDF in ~/docs")
    assert "No fast path would answer" in typed("explain", "find PDFs in ~/docs?")
    data = json.loads(typed("explain", "find the PDFs in ~/docs", "--json"))
    assert data["found"][0]["may"] is True
    assert len(practised.medium.newest(50)) == 5, "no turn was taken"


def test_what_comes_from_a_step_before_is_said_in_words(practised: App) -> None:
    said = typed("explain", "count the words of the PDFs in ~/docs")
    assert "  2. count_text\n     paths: what step 1 gave (entries.path)\n" in said
    assert "{{" not in said


def test_what_a_request_says_cannot_be_obeyed_by_a_terminal(practised: App) -> None:
    assert "\x1b" not in typed("explain", 'find the PDFs in "~/\x1b[2J"')


# -- why


def test_why_names_the_path_that_answered_and_what_it_rests_on(practised: App) -> None:
    take(practised, "find the PDFs in ~/docs")
    said = invoke(why.why).output
    found = path_of(practised, "find_files")
    for part in (
        "A shortcut, learnt from earlier requests of this kind.",
        "A fast path knows such requests in the same words: find the pdfs in a folder",
        "It answers (active), learnt from 4 requests, 99.95% likely to be right.",
        f"metnos fastpath show {found.id[:10]}",
        "It answered: asked like this before; of such answers at most 0.3 % are wrong",
    ):
        assert part in said, part
    data = json.loads(invoke(why.why, "--json").output)
    assert (data["plan"]["fast"]["path"], data["plan"]["fast"]["passes"]) == (found.id, 4)


def test_why_says_why_a_path_did_not_answer(practised: App) -> None:
    found = path_of(practised, "find_files")
    typed("demote", found.id, "--yes")
    take(practised, "find the PDFs in ~/docs")
    said = invoke(why.why).output
    assert "It did not answer: it is demoted: you switched it off" in said
    assert "It would have done the same." in said


def test_why_says_that_a_path_tried(practised: App) -> None:
    (Path.home() / "passing").mkdir()
    take(practised, "find the PDFs in ~/passing", gone=Path.home() / "passing")
    assert "It tried, changed nothing, and it was planned anew" in invoke(why.why).output


def test_what_is_kept_of_a_prediction_may_be_anything(app: App) -> None:
    for number, fast in enumerate(({}, {"path": 7, "passes": "x", "steps": 3}, [], "x", {"form": "\x1b[2J"})):
        close(app, number, *pdfs("x"), plan={"fast": fast}, state=Turn.FAILED)
        done = invoke(why.why)
        assert done.exit_code == 0, done.exception
        assert "\x1b" not in done.output
