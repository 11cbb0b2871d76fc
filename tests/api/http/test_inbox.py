"""The inbox over HTTP: what is shown to whoever decides, and what an answer does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.http.served import Client
from app.extended import DRAFT
from app.test_growing import NEED
from executors.hands import mutator, run
from metnos.api.http import runs
from metnos.app import App, keeping
from metnos.app.growing import Growing
from metnos.core.errors import Waiting
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.synt.draft import Made
from metnos.synt.proposals import State as Stand

NIGHT = Principal(Channel.NIGHT, "curator", Autonomy.READ_ONLY)
BURN = """
def run(args, ctx):
    ctx.write(args["target"], "burnt")
    return {"results": [{"any": 1}]}
"""


def waiting(page: Client) -> str:
    """The one question that waits."""
    (item,) = page.get("/api/inbox")["items"]
    return str(item["id"])


def draft(app: App) -> str:
    """A new executor that waits for the owner's yes."""
    return app.growing.put(app.growing.propose(NEED, "you asked for it"), DRAFT).activation


class TestAnAct:
    def test_it_is_shown_as_at_the_terminal_and_in_words(self, page: Client, terminal: Callable[..., Any]) -> None:
        page.ask("create a folder called garden")
        (listed,) = page.get("/api/inbox")["items"]
        (told,) = terminal("inbox", "list")
        assert {name: listed[name] for name in told if name in listed} == {
            name: told[name] for name in told if name in listed
        }
        assert listed["kind_words"] == "something to do"
        whole = page.get(f"/api/inbox/{listed['id']}")
        shown = terminal("inbox", "show", listed["id"])
        assert whole["body"].items() >= shown["body"].items()
        assert whole["body"]["reversal"] == "makes new files; undo removes them"
        assert "ask" in [verdict for _, verdict, _ in whole["body"]["why"]]
        assert (whole["editable"], whole["yeses"]) == ("args", [])
        titles = {part["title"]: part for part in whole["parts"]}
        assert titles["What it would do"]["lines"] == shown["body"]["preview"]
        assert titles["Which rule asks"]["kind"] == "rules"

    def test_a_yes_goes_on_with_the_turn_that_waited_and_counts_once(self, page: Client) -> None:
        page.ask("create a folder called garden")
        item = waiting(page)
        said = page.post(f"/api/inbox/{item}/approve", seen=0)
        assert page.refused("POST", f"/api/inbox/{item}/approve", {"seen": 0})[0] == 409  # the same click again
        last = page.follow(said["run"])[-1]
        assert (last["event"], last["state"]) == ("Answered", "done")
        assert (Path.home() / "garden").is_dir()
        whole = page.get(f"/api/inbox/{item}")
        assert (whole["state"], len(whole["yeses"])) == ("used", 1)
        assert whole["yeses"][0]["by"].startswith("web:")
        (turn, *_) = page.get("/api/turns")["turns"]
        assert (turn["channel"], turn["continues"] != "") == ("web", True)

    def test_what_cannot_be_taken_back_needs_two_clicks_that_are_two(self, page: Client) -> None:
        mutator(page.app, BURN, reversal="irreversible")
        target = Path.home() / "letter.txt"
        with pytest.raises(Waiting) as caught:
            run(page.app, "write_files", target=str(target))
        item = caught.value.item
        first = page.post(f"/api/inbox/{item}/approve", seen=0)
        assert (first["state"], first["run"]) == ("waiting", None)
        assert page.refused("POST", f"/api/inbox/{item}/approve", {"seen": 0})[0] == 409
        assert not target.exists()
        second = page.post(f"/api/inbox/{item}/approve", seen=1)
        assert (second["state"], second["ok"], second["said"]) == ("used", True, "Done.")
        assert target.read_text() == "burnt"

    def test_other_arguments_are_another_question(self, page: Client) -> None:
        page.ask("create a folder called garden")
        item = waiting(page)
        args = page.get(f"/api/inbox/{item}")["body"]["args"]
        other = {name: [str(Path.home() / "orchard")] for name in args}
        new = page.post(f"/api/inbox/{item}/edit", args=other)["id"]
        assert (page.get(f"/api/inbox/{item}")["state"], waiting(page)) == ("edited", new)
        page.post(f"/api/inbox/{new}/approve", seen=0)
        assert ((Path.home() / "orchard").is_dir(), (Path.home() / "garden").exists()) == (True, False)
        for body in ({"text": "x"}, {}, {"args": {}, "text": "x"}, {"args": {"paths": ["/etc/passwd"]}}):
            assert page.refused("POST", f"/api/inbox/{new}/edit", body)[0] in (400, 403), body

    def test_the_old_form_of_a_question_that_was_changed_does_nothing(self, page: Client) -> None:
        page.ask("create a folder called garden")
        item = waiting(page)
        args = page.get(f"/api/inbox/{item}")["body"]["args"]
        other = {name: [str(Path.home() / "orchard")] for name in args}
        new = page.post(f"/api/inbox/{item}/edit", args=other)["id"]
        for seen in (0, 1, 2):
            assert page.refused("POST", f"/api/inbox/{item}/approve", {"seen": seen})[0] in (400, 409)
        page.post(f"/api/inbox/{new}/refuse", reason="")
        assert page.refused("POST", f"/api/inbox/{new}/approve", {"seen": 0})[0] == 409
        assert [(Path.home() / name).exists() for name in ("garden", "orchard")] == [False, False]

    def test_a_no_is_one(self, page: Client) -> None:
        page.ask("create a folder called garden")
        item = waiting(page)
        assert page.post(f"/api/inbox/{item}/refuse", reason="not there")["state"] == "refused"
        assert page.refused("POST", f"/api/inbox/{item}/approve", {"seen": 0})[0] == 409
        assert page.get("/api/inbox")["items"] == []
        (kept,) = page.get("/api/inbox", all=True)["items"]
        assert (kept["reason"], kept["answered_by"].partition(":")[0]) == ("not there", "web")
        assert not (Path.home() / "garden").exists()


class TestANewExecutor:
    def test_it_is_shown_with_all_that_there_is_to_decide_and_lives_after_a_yes(self, page: Client) -> None:
        item = draft(page.app)
        whole = page.get(f"/api/inbox/{item}")
        titles = [part["title"] for part in whole["parts"]]
        for title in ("Why", "What it may do", "What it may never do", "What making it took", "executor.py"):
            assert title in titles
        assert (whole["editable"], whole["kind_words"]) == ("code", "a new executor")
        assert page.refused("GET", "/api/executors/format_text")[0] == 404
        assert whole["word"] == "format_text"
        for typed in ("", "yes", "format"):
            assert page.refused("POST", f"/api/inbox/{item}/approve", {"seen": 0, "typed": typed})[0] == 409
        said = page.post(f"/api/inbox/{item}/approve", seen=0, typed="format_text")
        assert (said["said"], said["run"]) == ("format_text 1.0.0 is signed and active.", None)
        assert page.get("/api/executors/format_text")["state"] == "active"

    def test_refused_with_a_reason_it_is_made_again_and_without_one_it_is_not(self, page: Client) -> None:
        said = page.post(f"/api/inbox/{draft(page.app)}/refuse", reason="no capitals")
        assert "Another is made" in said["said"]
        (proposal,) = page.app.growing.proposals.all()
        assert (proposal.state, proposal.need.refused) == (Stand.COMMISSIONED, ("no capitals",))
        again = page.app.growing.put(proposal, DRAFT).activation
        assert page.post(f"/api/inbox/{again}/refuse")["said"] == "Refused."
        assert not page.app.growing.proposals.all()[0].is_open

    def test_other_code_is_another_question(self, page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = []

        def examined(_growing: Growing, changed: Any, *_: Any, **__: Any) -> Made:
            seen.append(changed.code)
            return Made(changed, DRAFT.checks)

        monkeypatch.setattr(Growing, "examined", examined)  # the gates have tests of their own
        item = draft(page.app)
        code = page.get(f"/api/inbox/{item}")["body"]["files"]["executor.py"] + "\n# mine\n"
        new = page.post(f"/api/inbox/{item}/edit", code=code)["id"]
        assert (seen, waiting(page)) == ([code], new)
        assert "# mine" in page.get(f"/api/inbox/{new}")["body"]["files"]["executor.py"]


def test_a_line_for_long_memory_is_changed_and_kept(page: Client) -> None:
    app = page.app
    asked = keeping.tiers(app).propose("You like tea.", "USER.md", "you said so", ("01T",), asked_by=NIGHT)
    assert asked is not None
    new = page.post(f"/api/inbox/{asked.id}/edit", text=" You like green tea. ")["id"]
    assert page.refused("POST", f"/api/inbox/{new}/edit", {"text": "  "})[0] == 400
    page.post(f"/api/inbox/{new}/approve", seen=0)
    assert "You like green tea." in (app.workspace.root / "USER.md").read_text()


def test_nobody_else_decides(page: Client) -> None:
    page.ask("create a folder called garden")
    item = waiting(page)
    assert page.device("read_only").get(f"/api/inbox/{item}")["title"]
    for other in (page.device("read_only"), page.program("full")):
        for what, body in (("approve", {"seen": 0}), ("refuse", {"reason": ""}), ("edit", {"args": {}})):
            assert other.refused("POST", f"/api/inbox/{item}/{what}", body)[0] == 403
    assert page.get(f"/api/inbox/{item}")["state"] == "waiting"


def test_what_makes_no_sense_is_refused_with_words(page: Client) -> None:
    page.ask("create a folder called garden")
    item = waiting(page)
    assert page.refused("GET", "/api/inbox/01NOSUCHQUESTION")[0] == 404
    assert page.refused("POST", "/api/inbox/01NOSUCHQUESTION/approve", {"seen": 0})[0] == 404
    for what, body in (
        ("approve", b'{"seen": 99999999999999999999999}'), ("approve", b"{}"), ("approve", b'{"seen": -1}'),
        ("refuse", b'{"reason": "\\ud83d"}'), ("refuse", b'{"reason": "\\u0000"}'), ("refuse", b'{"reason": null}'),
        ("edit", b'{"args": {"paths": ["\\ud83d"]}}'), ("edit", b'{"args": {"a\\u0000": 1}}'),
        ("edit", b'{"args": {"paths": ' + b"[" * 100 + b"]" * 100 + b"}}"), ("edit", b'{"args": {"n": 1e999}}'),
        ("edit", b'{"args": {"n": 123456789012345678901234567890}}'), ("edit", b'{"args": []}'),
    ):  # fmt: skip
        assert page.refused("POST", f"/api/inbox/{item}/{what}", body)[0] in (400, 422), (what, body)
    assert page.get(f"/api/inbox/{item}")["state"] == "waiting"


def test_a_yes_that_nothing_could_follow_is_not_given(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    page.ask("create a folder called garden")
    item = waiting(page)
    monkeypatch.setattr(runs, "_MOST_OF_ONE", 0)
    assert page.refused("POST", f"/api/inbox/{item}/approve", {"seen": 0})[0] == 503
    assert page.get(f"/api/inbox/{item}")["state"] == "waiting"
    monkeypatch.undo()
    assert page.post(f"/api/inbox/{item}/approve", seen=0)["run"]


def test_a_program_sees_the_questions_and_the_turns_that_are_its_own(page: Client) -> None:
    page.ask("create a folder called secret garden")
    theirs = waiting(page)
    (turn,) = page.get("/api/turns")["turns"]
    program = page.program("supervised")
    program.ask("create a folder called orchard", conversation="talk")
    (mine,) = program.get("/api/inbox")["items"]
    assert mine["id"] != theirs
    assert program.get(f"/api/inbox/{mine['id']}")["id"] == mine["id"]
    assert [each["text"] for each in program.get("/api/turns")["turns"]] == ["create a folder called orchard"]
    assert len(program.get("/api/turns", conversation="talk")["turns"]) == 1
    for path in (f"/api/inbox/{theirs}", f"/api/turns/{turn['id']}"):
        assert program.refused("GET", path)[0] == 404
    assert program.refused("GET", "/api/undo")[0] == 403
    assert len(page.get("/api/inbox")["items"]) == len(page.get("/api/turns")["turns"]) == 2
