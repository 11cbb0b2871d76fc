"""A call that consists of others stops where one of them needs a yes, and goes on from there without doing it twice."""

from collections import Counter
from typing import Any

import pytest

from executors.hands import OWNER, PATH, TARGET, give, home, run
from metnos.app import App
from metnos.core.errors import ExecutorFailed, InboxError, Waiting
from metnos.executors.outcome import Outcome
from metnos.executors.run import Call
from metnos.executors.undo_rules import State
from metnos.executors.whole import MOST, Whole
from metnos.law.inbox import Item
from metnos.law.principal import at_terminal
from signing import approve

PARTS = ["make_folders", "find_files", "move_files"]
TIDY = """
def run(args, ctx):
    ctx.call("make_folders", {"paths": [args["to"]]})
    found = ctx.call("find_files", {"path": args["path"], "pattern": "*.txt"})
    moved = ctx.call("move_files", {"paths": [each["path"] for each in found["entries"]], "to": args["to"]})
    return {"results": moved["results"]}
"""


def tidy(app: App, source: str = TIDY, **fields: Any) -> None:
    """An executor that can do nothing but call others, two of which change something."""
    can = {"executor": {"call": PARTS}}
    args = {"path": PATH, "to": TARGET}
    fields = {"capabilities": can, "args": args, "kind": "mutator", "reversal": "move_back", **fields}
    give(app, source, name="clean_files", **fields)
    (home() / "box").mkdir(exist_ok=True)
    for name in "ab":
        (home() / f"box/{name}.txt").write_text(name)


def there() -> set[str]:
    return {str(path.relative_to(home())) for path in home().rglob("*") if path.is_file() and "box" in str(path)}


def stops(app: App, call: Call | None = None) -> Item:
    with pytest.raises(Waiting) as waiting:
        app.runner.run(call or Call("clean_files", {"path": "~/box", "to": "~/box/old"}, OWNER, home()))
    return app.inbox.find(waiting.value.item)


def approved(app: App, item: Item) -> Item:
    return approve(app.inbox, item.id, OWNER)


def goes_on(app: App, item: Item) -> Item:
    """Say yes to a question, and get to the next."""
    with pytest.raises(Waiting) as waiting:
        app.runner.resume(approved(app, item))
    return app.inbox.find(waiting.value.item)


def ran(app: App) -> Counter[str]:
    """How often each executor was begun, by the audit."""
    lines = [line for line in app.audit.newest() if line.kind == "executor run"]
    return Counter(line.entry.names["executor"] for line in lines if line.entry.names.get("phase") == "intent")


class TestAsking:
    def test_the_owner_is_asked_before_anything_is_done(self, equipped: App) -> None:
        tidy(equipped)
        item = stops(equipped)
        assert item.title.startswith("clean_files, make_folders:")
        assert item.body["preview"] == [f"make the folder {home() / 'box/old'}"]
        assert not (home() / "box/old").exists()
        assert equipped.undo.actions() == []

    def test_each_part_is_asked_about_and_done_once(self, equipped: App) -> None:
        tidy(equipped)
        first = stops(equipped)
        second = goes_on(equipped, first)
        assert second.title.startswith("clean_files, move_files:")
        (action,) = equipped.undo.actions()
        assert second.body["preview"][0] == f"already done: make_folders; to take that back: metnos undo {action.id}"
        assert there() == {"box/a.txt", "box/b.txt"}
        outcome = equipped.runner.resume(approved(equipped, second))
        assert (outcome.ok, outcome.reply["count"]) == (True, 2)
        assert there() == {"box/old/a.txt", "box/old/b.txt"}
        assert [each.executor for each in outcome.inner] == PARTS
        assert {name: ran(equipped)[name] for name in PARTS} == dict.fromkeys(PARTS, 1)

    def test_the_same_question_is_put_once(self, equipped: App) -> None:
        tidy(equipped)
        assert stops(equipped).id == stops(equipped).id
        assert len(equipped.inbox.waiting()) == 1

    def test_a_yes_to_a_part_is_no_yes_to_the_same_call_by_itself(self, equipped: App) -> None:
        tidy(equipped)
        approved(equipped, stops(equipped))
        with pytest.raises(Waiting):
            run(equipped, "make_folders", paths=["~/box/old"])

    def test_what_it_found_before_the_question_is_what_the_yes_was_for(self, equipped: App) -> None:
        tidy(equipped)
        second = goes_on(equipped, stops(equipped))
        (home() / "box/c.txt").write_text("came later")
        assert equipped.runner.resume(approved(equipped, second)).ok
        assert there() == {"box/old/a.txt", "box/old/b.txt", "box/c.txt"}

    def test_parts_of_parts(self, equipped: App) -> None:
        tidy(equipped)
        source = """
        def run(args, ctx):
            found = ctx.call("find_files", {"path": args["path"]})
            done = ctx.call("clean_files", {"path": args["path"], "to": args["to"]})
            return {"results": [{"any": found["count"]}, *done["results"]]}
        """
        can = {"executor": {"call": ["find_files", "clean_files"]}}
        args = {"path": PATH, "to": TARGET}
        give(equipped, source, name="clean_folders", capabilities=can, args=args, kind="mutator", reversal="move_back")
        call = Call("clean_folders", {"path": "~/box", "to": "~/box/old"}, OWNER, home())
        outcome = equipped.runner.resume(approved(equipped, goes_on(equipped, stops(equipped, call))))
        assert (outcome.executor, outcome.reply["count"], outcome.reply["results"][0]) == (
            "clean_folders",
            3,
            {"any": 2},
        )
        assert {name: ran(equipped)[name] for name in PARTS} == {"make_folders": 1, "find_files": 2, "move_files": 1}
        equipped.undo.undo(outcome.action, by=at_terminal())
        assert there() == {"box/a.txt", "box/b.txt"}

    def test_what_content_suggested_is_asked_about_part_by_part(self, full: App) -> None:
        tidy(full)
        call = Call("clean_files", {"path": "~/box", "to": "~/box/old"}, OWNER, home(), tainted=True)
        first = stops(full, call)
        second = goes_on(full, first)
        third = goes_on(full, second)
        assert [each.body["executor"] for each in (first, second, third)] == PARTS
        assert full.runner.resume(approved(full, third)).ok

    def test_where_the_level_lets_it_nobody_is_asked(self, full: App) -> None:
        tidy(full)
        outcome = run(full, "clean_files", path="~/box", to="~/box/old")
        assert (outcome.ok, full.inbox.waiting()) == (True, [])
        assert outcome.action == full.undo.actions()[0].id


class TestUndoing:
    def test_all_parts_are_taken_back_together(self, equipped: App) -> None:
        tidy(equipped)
        outcome = equipped.runner.resume(approved(equipped, goes_on(equipped, stops(equipped))))
        (action,) = equipped.undo.actions()
        assert (action.id, action.state, len(action.effects)) == (outcome.action, State.DONE, 3)
        equipped.undo.undo(by=at_terminal())
        assert there() == {"box/a.txt", "box/b.txt"}
        assert not (home() / "box/old").exists()
        equipped.undo.redo(by=at_terminal())
        assert there() == {"box/old/a.txt", "box/old/b.txt"}

    def test_a_no_leaves_what_was_done_before_to_be_taken_back(self, equipped: App) -> None:
        tidy(equipped)
        item = goes_on(equipped, stops(equipped))
        equipped.inbox.refuse(item.id, OWNER, "not these")
        assert (home() / "box/old").is_dir()
        before = equipped.runner.so_far(item)
        assert before is not None
        equipped.undo.undo(before.action, by=at_terminal())
        assert not (home() / "box/old").exists()

    def test_what_a_part_did_before_another_failed_is_known(self, full: App) -> None:
        tidy(full, TIDY.replace('"pattern": "*.txt"', '"pattern": "*.txt", "order": "sideways"'))
        outcome = run(full, "clean_files", path="~/box", to="~/box/old")
        assert (outcome.ok, outcome.kind) == (False, "invalid")
        assert [each.ok for each in outcome.inner] == [True, False]
        full.undo.undo(outcome.action, by=at_terminal())
        assert not (home() / "box/old").exists()

    def test_what_was_taken_back_is_not_built_upon(self, equipped: App) -> None:
        tidy(equipped)
        item = goes_on(equipped, stops(equipped))
        equipped.undo.undo(by=at_terminal())
        with pytest.raises(ExecutorFailed, match="taken back"):
            equipped.runner.resume(approved(equipped, item))
        assert there() == {"box/a.txt", "box/b.txt"}


class TestGoingOn:
    def test_after_its_process_has_died(self, equipped: App) -> None:
        tidy(equipped)
        item = goes_on(equipped, stops(equipped))
        equipped.close()
        again = App.open(equipped.workspace, equipped.clock)
        assert again.runner.resume(approved(again, again.inbox.find(item.id))).ok
        assert there() == {"box/old/a.txt", "box/old/b.txt"}
        assert ran(again)["make_folders"] == 1
        again.close()

    def test_another_executor_of_that_name_does_not_go_on_with_it(self, equipped: App) -> None:
        tidy(equipped)
        item = goes_on(equipped, stops(equipped))
        tidy(equipped, TIDY.replace("move_files", "find_files"))
        with pytest.raises(ExecutorFailed, match="not what it was"):
            equipped.runner.resume(approved(equipped, item))
        assert ran(equipped)["make_folders"] == 1

    def test_what_changes_something_itself_cannot_begin_anew(self, full: App) -> None:
        """It is told that a part was not permitted, and may go on without it."""
        source = """
        def run(args, ctx):
            ctx.make_folder(args["to"])
            ctx.call("move_files", {"paths": [args["path"] + "/a.txt"], "to": args["to"]})
            return {"results": []}
        """
        can = {"executor": {"call": PARTS}, "fs": {"read": ["~/**"], "write": ["~/**"]}}
        tidy(full, source, capabilities=can)
        call = Call("clean_files", {"path": "~/box", "to": "~/box/old"}, OWNER, home(), tainted=True)
        item = stops(full, call)
        assert item.body["executor"] == "clean_files"
        outcome = full.runner.resume(approved(full, item))
        assert (outcome.ok, outcome.kind) == (False, "not_permitted")

    def test_a_part_is_not_edited(self, equipped: App) -> None:
        tidy(equipped)
        with pytest.raises(InboxError, match="part of something"):
            equipped.runner.edit(stops(equipped), {"paths": ["~/elsewhere"]}, OWNER)


class TestPreviews:
    def test_a_rehearsal_tells_what_the_parts_would_do(self, equipped: App) -> None:
        tidy(
            equipped, TIDY.replace("make_folders", "find_files").replace('"paths": [args["to"]]', '"path": args["to"]')
        )
        (home() / "box/old").mkdir()
        call = Call("clean_files", {"path": "~/box", "to": "~/box/old"}, OWNER, home())
        outcome, preview = equipped.runner.preview(call)
        assert (outcome.ok, outcome.message) == (True, "")
        assert preview.lines == tuple(
            f"move {home()}/box/{name} to {home()}/box/old/{name}" for name in ("a.txt", "b.txt")
        )
        assert equipped.inbox.waiting() == []
        assert there() == {"box/a.txt", "box/b.txt"}


class TestAnswers:
    OUTER = ("clean_files",)

    def ended(self, name: str, **reply: Any) -> Outcome:
        return Outcome(name, "0" * 64, "01T", ok=True, reply=reply)

    def begun(self, *made: tuple[tuple[str, ...], str, dict[str, Any]]) -> Whole:
        """A whole that stopped after these calls, begun anew."""
        stopped = Whole({"executor": "clean_files"}, "d")
        for above, name, args in made:
            stopped.add(above, args, self.ended(name, of=name))
        return Whole({}, "d", before=stopped._made)

    def test_in_their_order_and_to_the_letter(self) -> None:
        whole = self.begun((self.OUTER, "a_b", {"x": 1}), (self.OUTER, "c_d", {}))
        with pytest.raises(ExecutorFailed, match="something else"):
            whole.answer(self.OUTER, "a_b", {"x": 2})
        with pytest.raises(ExecutorFailed, match="something else"):
            whole.answer(self.OUTER, "c_d", {})
        assert [whole.answer(self.OUTER, *call) for call in (("a_b", {"x": 1}), ("c_d", {}), ("e_f", {}))] == [
            self.ended("a_b", of="a_b"), self.ended("c_d", of="c_d"), None,
        ]  # fmt: skip

    def test_the_parts_of_a_part_that_ended_are_in_its_answer(self) -> None:
        inner = (*self.OUTER, "m_n")
        whole = self.begun((inner, "a_b", {}), (self.OUTER, "m_n", {}), (inner, "a_b", {}))
        assert whole.answer(self.OUTER, "m_n", {}) == self.ended("m_n", of="m_n")
        assert whole.answer(self.OUTER, "m_n", {}) is None, "the second was in the middle"
        assert whole.answer(inner, "a_b", {}) == self.ended("a_b", of="a_b")

    def test_wholes_that_came_another_way_are_told_apart(self) -> None:
        def digest(*names: str) -> str:
            whole = Whole({}, "d")
            for name in names:
                whole.add(self.OUTER, {}, self.ended(name))
            return whole.digest

        assert len({digest(), digest("a"), digest("b"), digest("a", "b"), digest("b", "a")}) == 5
        assert digest("a") == digest("a")

    def test_too_much_is_not_kept(self) -> None:
        whole = Whole({"executor": "clean_files"}, "d")
        whole.add(self.OUTER, {}, self.ended("a_b", text="x" * MOST))
        with pytest.raises(ExecutorFailed, match="too much"):
            whole.data()
