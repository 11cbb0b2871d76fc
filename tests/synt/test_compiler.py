"""Sequences that were used become executors that do the same: all of it for real, but for the planner."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from metnos.app import App
from metnos.core.errors import Waiting
from metnos.executors import birth, folder, gate
from metnos.executors.run import Call
from metnos.grimoire.trace import State, Trace
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from metnos.synt import compiler, compiler_runs, gates
from metnos.synt.compiler import Compiled, compile_runs, equal, unify
from metnos.synt.compiler_form import Fixed, Taken, Unfit
from metnos.synt.draft import Draft, Made
from metnos.turn.events import Answer
from signing import approve, sign
from synt.conftest import House
from synt.pipelines import (
    FOUND,
    PIPELINES,
    ROWS,
    Asked,
    Pipeline,
    builtin,
    everything,
    find,
    manifests,
    planned,
    record,
    reply_of,
    table,
    take_back,
    told,
)  # fmt: skip
from tables import try_each
from turn import turning
from turn.turning import OWNER, follow, take

FIRST = 4  # of the sequences that the fast tier tries
ENTRY = {"path": "/home/owner/a/x.txt", "name": "x.txt", "kind": "file", "size": 1, "modified": "2026-11-01"}
COUNTED = {"path": "/home/owner/a/x.txt", "lines": 1, "words": 2, "characters": 3, "bytes": 3, "encoding": "utf-8",
           "every_word": True, "frequent": []}  # fmt: skip
HOME = "/home/owner"


def unified(house: House, pipeline: Pipeline, traces: list[Trace]) -> Made:
    names = house.app.catalog.names()
    return unify(manifests(house.app, pipeline.tools), traces, names, house.bench, home=str(house.home))


def adopted(house: House, draft: Draft) -> None:
    """Sign it, as the owner's yes would."""
    folder.place(house.app.catalog.folder, draft.name, draft.contents())
    sign(house.app, draft.name, "a test says yes", expected=draft.digest)


def actions(house: House, turn: str) -> list[str]:
    """What a call left to be undone, the last first."""
    return [each.id for each in house.app.undo.actions(10) if each.turn == turn]


@pytest.mark.parametrize(
    "pipeline",
    [pytest.param(each, marks=() if place < FIRST else pytest.mark.slow, id=each.id)
     for place, each in enumerate(PIPELINES)],
)  # fmt: skip
def test_a_sequence_becomes_an_executor_that_does_the_same(house: House, pipeline: Pipeline) -> None:
    before = everything(house.home)
    traces, after = [], []
    for asked in pipeline.asked:
        traces.append(record(house.app, house.home, asked))
        assert (traces[-1].state, len(traces[-1].steps)) == (State.DONE, len(pipeline.tools))
        after.append(everything(house.home))
        take_back(house.app, traces[-1])
        assert everything(house.home) == before
    made = unified(house, pipeline, traces)
    assert made.abandoned == ""
    assert made.green
    assert made.draft is not None

    manifest = made.draft.read()
    changes = any(each.kind == "mutator" for each in manifests(house.app, pipeline.tools))
    assert manifest.covers == (pipeline.tools,)
    assert tuple(manifest.args["properties"]) == pipeline.takes
    assert manifest.capabilities.names() == ("executor.call",)
    assert manifest.kind == ("mutator" if changes else "producer")
    assert gate.inspect(made.draft.code, gate.declared(manifest.model_dump(mode="json", exclude_none=True))) == []
    tried = list(birth.attend(gates.executor(made.draft), house.app.pool, house.app.settings.executors))
    assert len(tried) >= 5
    assert [each.problem for each in tried if each.problem] == []

    adopted(house, made.draft)
    example = next(each for each in manifest.examples if each.say == traces[0].text)
    outcome = house.app.runner.run(Call(made.draft.name, example.args, OWNER, house.home))
    assert outcome.message == ""
    key = manifests(house.app, pipeline.tools)[-1].result_key
    assert outcome.reply[manifest.result_key] == traces[0].steps[-1].reply[key]
    assert outcome.reply["total"] == traces[0].steps[-1].reply["total"]
    assert everything(house.home) == after[0]
    for action in actions(house, outcome.turn):
        house.app.undo.undo(action, by=at_terminal())
    assert everything(house.home) == before


def test_what_failed_fails_in_the_same_way(house: House) -> None:
    def asked(folder: str) -> Trace:
        steps = [find(folder, "*.md"), ("hash_files", {"paths": FOUND})]
        return record(house.app, house.home, Asked(f"hash ~/{folder}", steps))

    good, bad, none = asked("docs"), asked("gone"), asked("double")
    assert [each.state for each in (good, bad, none)] == [State.DONE, State.FAILED, State.DONE]
    parts = manifests(house.app, ("find_files", "hash_files"))
    made = unify(parts, [good, bad, none], house.app.catalog.names(), house.bench, home=str(house.home))
    assert made.abandoned == ""
    assert made.draft is not None
    told_apart = {test.name: test for test in birth.parse(made.draft.tests)}
    assert told_apart["hash ~/gone"].expect_error == "not_found"
    assert told_apart["hash ~/double"].expect["count"] == 0


# -- without a turn


def hashed(number: int, path: str, **more: Any) -> Trace:
    steps = [("find_files", {"path": path, "pattern": "*.txt", **more}), ("count_text", {"paths": FOUND, "top": 5})]
    called = [steps[0][1], {"paths": [ENTRY["path"]], "top": 5}]
    replies = [reply_of(builtin("find_files"), ENTRY), reply_of(builtin("count_text"), COUNTED)]
    return told(number, f"count the words in {path}", steps, called, replies)


PARTS = [builtin("find_files"), builtin("count_text")]


def compiled(*traces: Trace, taken: tuple[str, ...] = ()) -> Compiled:
    return compile_runs(PARTS, *compiler_runs.read(traces, PARTS), taken, home=HOME)


def test_where_each_argument_comes_from() -> None:
    form = compiled(hashed(1, "~/a"), hashed(2, "~/b", limit=4)).form
    finding, counting = form.parts
    assert finding.sources["path"] == Taken("path")
    assert finding.sources["pattern"] == Fixed("*.txt")
    assert finding.sources["limit"] == Taken("limit", optional=True)
    assert counting.sources["top"] == Fixed(5)
    assert form.required == ("path",)
    assert form.arguments["path"]["x-path"] == "read"
    assert "default" not in form.arguments["limit"]


def test_what_never_varied_can_be_changed_if_it_was_said_or_is_a_place() -> None:
    said = dataclasses.replace(hashed(1, "/srv/a"), text="count the 5 most frequent words")
    form = compiled(said).form
    assert form.arguments["path"]["default"] == "/srv/a"
    assert form.arguments["top"]["default"] == 5
    assert form.required == ()
    assert form.parts[0].sources["pattern"] == Fixed("*.txt")


def test_the_parts_own_default_stands_for_what_a_run_did_not_give() -> None:
    form = compiled(hashed(1, "~/a"), hashed(2, "~/a", kind="any")).form
    assert form.parts[0].sources["kind"] == Taken("kind")
    assert form.arguments["kind"]["default"] == "file"


def test_two_parts_that_always_took_the_same_share_an_argument() -> None:
    parts = [builtin("read_tables"), builtin("read_tables"), builtin("join_tables")]
    join = ("join_tables", {"entries": ROWS, "right": "{{step2.entries}}", "on": [{"column": "a"}]})

    def traced(number: int, one: str, two: str) -> Trace:
        steps = [table(one, limit=number), table(two, limit=number), join]
        rows = reply_of(parts[0], {"a": number})
        called = [steps[0][1], steps[1][1], {**join[1], "entries": [{"a": number}], "right": [{"a": number}]}]
        return told(number, "join them", steps, called, [rows, rows, reply_of(parts[2], {"a": number})])

    runs, _ = compiler_runs.read([traced(1, "x", "y"), traced(2, "z", "w")], parts)
    assert list(compile_runs(parts, runs, [], [], home=HOME).form.arguments) == ["path", "limit", "read_path"]


@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ((), "count_files"),
        (("count_files",), "count_files_text"),
        (("count_files", "count_files_text"), "count_files_name"),
    ],
)
def test_a_name_that_is_taken_gets_a_qualifier(taken: tuple[str, ...], name: str) -> None:
    assert compiled(hashed(1, "~/a"), taken=taken).draft.name == name


def test_the_same_runs_are_the_same_draft() -> None:
    one, two = compiled(hashed(1, "~/a"), hashed(2, "~/b")), compiled(hashed(1, "~/a"), hashed(2, "~/b"))
    assert one.draft == two.draft


@try_each(
    ("change", "why"),
    [
        ({"state": State.WAITING}, "did not come to an end"),
        ({"state": State.REHEARSED}, "did not come to an end"),
        ({"error": "ValueError"}, "did not come to an end"),
        ({"plan": {"open": True}}, "what a model had read"),
        ({"plan": {"tainted": [2]}}, "what a model had read"),
        ({"plan": {"cut": True}}, "not kept whole"),
        ({"continues": "01OTHER"}, "not kept whole"),
        ({"plan": {"steps": []}}, "another way"),
        ({"steps": {"version": "0.9.0"}}, "others by now"),
        ({"steps": {"reply": {"cut": True}}}, "not kept whole"),
    ],
)  # fmt: skip
def test_a_turn_that_did_not_go_its_way_is_no_run(change: dict[str, Any], why: str) -> None:
    whole = hashed(1, "~/a")
    if "plan" in change:
        change = {"plan": {**whole.plan, **change["plan"]}}
    if "steps" in change:
        change = {"steps": (dataclasses.replace(whole.steps[0], **change["steps"]), *whole.steps[1:])}
    with pytest.raises(Unfit, match=why):
        compiled(dataclasses.replace(whole, **change))


def test_a_turn_that_went_on_after_a_yes_is_one_run_with_what_it_went_on_with() -> None:
    whole = hashed(1, "~/a")
    waiting = dataclasses.replace(whole, id="01FIRST", steps=whole.steps[:1], state=State.WAITING)
    later = dataclasses.replace(whole, id="01LATER", steps=whole.steps[1:], continues="01FIRST", text="")
    (run,), skipped = compiler_runs.read([later], PARTS, {"01FIRST": waiting}.__getitem__)
    assert (len(run.answers), run.text, skipped) == (2, whole.text, [])


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (("count_text", {"paths": "{{last.entries.path}}"}), "turn before"),
        (("write_files", {"path": "~/x", "text": "/srv/{{step1.count}}"}), "put together"),
        (("read_files", {"paths": "{{step1.failures.item}}"}), "content chose"),
        (("get_pages", {"urls": "{{step1.entries.name}}"}), "content chose"),
        (("count_text", {"paths": FOUND, "colour": "red"}), "any more"),
    ],
)
def test_what_would_not_be_honest_is_refused(second: tuple[str, dict[str, Any]], why: str) -> None:
    parts = [builtin("find_files"), builtin(second[0])]
    steps = [find("a", "*"), second]
    replies = [reply_of(parts[0], ENTRY), reply_of(parts[1])]
    runs, _ = compiler_runs.read([told(1, "do it", steps, [steps[0][1], {}], replies)], parts)
    with pytest.raises(Unfit, match=why):
        compile_runs(parts, runs, [], [], home=HOME)


def test_rows_vouch_for_as_much_as_whoever_gave_them() -> None:
    """A path in a table was written by somebody; a path that was found stays one when it was sorted."""

    def refused(first: str) -> str:
        parts = [builtin(first), builtin("sort_tables"), builtin("delete_files")]
        steps = [(first, {"path": "~/a"}), ("sort_tables", {"entries": ROWS, "by": [{"column": "path"}]}),
                 ("delete_files", {"paths": "{{step2.entries.path}}"})]  # fmt: skip
        replies = [reply_of(part) for part in parts]
        runs, _ = compiler_runs.read([told(1, "do it", steps, [args for _, args in steps], replies)], parts)
        try:
            compile_runs(parts, runs, [], [], home=HOME)
        except Unfit as unfit:
            return str(unfit)
        return ""

    assert refused("find_files") == ""
    assert "content chose" in refused("read_tables")


def test_runs_that_were_put_together_in_different_ways_are_not_one_sequence() -> None:
    other = hashed(2, "~/b")
    steps = [dict(each) for each in other.plan["steps"]]
    steps[1]["args"] = {"paths": ["{{step1.entries[0].path}}"], "top": 5}
    with pytest.raises(Unfit, match="differ"):
        compiled(hashed(1, "~/a"), dataclasses.replace(other, plan={**other.plan, "steps": steps}))


class TestEquality:
    def test_code_that_does_something_else_is_not_equal(self, house: House) -> None:
        made = compiled(hashed(1, "~/a"), hashed(2, "~/b"))
        assert equal(made, house.bench) == ""
        for old, new in (('"top": 5', '"top": 6'), ('step2["entries"]', "[]"), ("find_files", "list_folders")):
            assert old in made.draft.code
            broken = dataclasses.replace(made.draft, code=made.draft.code.replace(old, new))
            assert "01T00001" in equal(dataclasses.replace(made, draft=broken), house.bench)

    def test_a_run_that_the_rules_do_not_explain_is_not_equal(self, house: House) -> None:
        strange = hashed(1, "~/a")
        steps = (strange.steps[0], dataclasses.replace(strange.steps[1], args={"paths": ["/elsewhere"], "top": 5}))
        made = unify(PARTS, [dataclasses.replace(strange, steps=steps)], [], house.bench, home=HOME)
        assert made.draft is None
        assert "with other arguments" in made.abandoned
        assert [check.gate for check in made.checks if not check.passed] == ["equality"]

    def test_a_change_that_fell_short_ends_it(self, house: House) -> None:
        parts = [builtin("make_folders"), builtin("write_files")]
        steps = [("make_folders", {"paths": ["~/a", "~/b"]}), ("write_files", {"path": "~/a/x", "text": "hello"})]
        failed = {"item": "~/b", "kind": "exists", "message": "a file is there"}
        reply = reply_of(parts[0], {"path": "/home/owner/a", "made": True}, failures=[failed])
        partly = told(1, "make ~/a and ~/b and write ~/a/x", steps, [steps[0][1]], [reply])
        partly = dataclasses.replace(partly, state=State.PARTLY)
        made = unify(parts, [partly], [], house.bench, home=HOME)
        assert made.abandoned == ""
        assert made.draft is not None
        (test, *_) = birth.parse(made.draft.tests)
        assert [each["item"] for each in test.expect["failures"]] == ["~/b", "write_files"]


def test_nothing_is_made_of_nothing(house: House) -> None:
    made = unify(PARTS, [], [], house.bench, home=str(Path("/")))
    assert made == Made(None, abandoned="no recorded run of it can be used", stage=compiler.STAGE)


class TestAsking:
    """The whole has no leave to change anything, so nothing that it calls borrows any: the owner is asked."""

    CAREFUL = dataclasses.replace(OWNER, level=Autonomy.SUPERVISED)
    PROGRAM = Principal(Channel.API, "a-program", Autonomy.SUPERVISED)

    @pytest.fixture(scope="class")
    @staticmethod
    def made(house: House) -> Draft:
        """Two parts that change something, with one between them that looks."""
        pipeline = next(each for each in PIPELINES if each.id == "make, find, move")
        traces = [record(house.app, house.home, asked) for asked in pipeline.asked]
        for trace in traces:
            take_back(house.app, trace)
        made = unified(house, pipeline, traces).draft
        assert made is not None
        adopted(house, made)
        return made

    def begin(self, house: House, made: Draft, principal: Principal, *answers: Answer) -> turning.Taken:
        step = (made.name, made.read().examples[0].args)
        with planned([step]):
            text = "make ~/old and move the tmp files of ~/scarti there"
            return take(house.app, text, answers, cwd=house.home, principal=principal)

    def test_whoever_is_there_is_asked_about_each_change(self, house: House, made: Draft) -> None:
        before = everything(house.home)
        taken = self.begin(house, made, self.CAREFUL, Answer.YES, Answer.YES)
        assert [each.executor for each in taken.wanted] == ["make_folders", "move_files"]
        assert taken.wanted[1].lines[0].startswith("already done: make_folders")
        assert taken.trace is not None
        (step,) = taken.trace.steps
        assert (taken.trace.state, step.executor, step.item) == (State.DONE, made.name, taken.wanted[1].item)
        assert [each["executor"] for each in taken.trace.permits[0]["parts"]] == list(made.read().covers[0])
        assert everything(house.home) != before
        house.app.undo.undo(step.action, by=at_terminal())
        assert everything(house.home) == before

    def test_a_no_leaves_what_was_done_before_and_says_so(self, house: House, made: Draft) -> None:
        before = everything(house.home)
        taken = self.begin(house, made, self.CAREFUL, Answer.YES, Answer.NO)
        assert taken.trace is not None
        (step,) = taken.trace.steps
        assert (taken.trace.state, bool(step.action)) == (State.REFUSED, True)
        assert f"metnos undo {step.action}" in taken.ended.text
        house.app.undo.undo(step.action, by=at_terminal())
        assert everything(house.home) == before
        first = self.begin(house, made, self.CAREFUL, Answer.NO)
        assert "nothing was done" in first.ended.text
        assert everything(house.home) == before

    def test_who_cannot_answer_leaves_it_to_the_inbox(self, house: House, made: Draft) -> None:
        before = everything(house.home)
        taken = self.begin(house, made, self.PROGRAM)
        assert (taken.wanted, taken.ended.state) == ([], "waiting")
        for left in (2, 1, 0):  # what a program wants is asked about as a whole, too: nobody knows what it has read
            (question,) = house.app.inbox.waiting()
            turn = house.app.turns.go_on(approve(house.app.inbox, question.id, OWNER), self.PROGRAM)
            assert turn is not None
            taken = follow(house.app, turn)
            assert taken.ended.state == ("waiting" if left else "done")
        assert taken.trace is not None
        house.app.undo.undo(taken.trace.steps[-1].action, by=at_terminal())
        assert everything(house.home) == before

    def test_killed_while_it_asks_it_goes_on_from_the_inbox(
        self, house: House, made: Draft, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nothing of the turn is left but its question; what was done is not done again."""
        before = everything(house.home)
        args = made.read().examples[0].args
        with pytest.raises(Waiting) as first:
            house.app.runner.run(Call(made.name, args, self.CAREFUL, house.home))
        with pytest.raises(Waiting) as second:
            house.app.runner.resume(approve(house.app.inbox, first.value.item, OWNER))
        monkeypatch.setenv("HOME", str(house.home))
        other = App.open(house.app.workspace, house.app.clock)
        outcome = other.runner.resume(approve(other.inbox, second.value.item, OWNER))
        other.close()
        assert outcome.ok
        house.app.undo.undo(outcome.action, by=at_terminal())
        assert everything(house.home) == before
