"""What follows from how calls end, and calls that executors make."""

from datetime import timedelta

import pytest

from executors.hands import PATH, give, home, mutator, run
from metnos.app import App
from metnos.core.errors import NotTrusted, Refused, Waiting
from metnos.executors.outcome import Breach
from metnos.executors.state import State


class TestConsequences:
    def test_three_faults_within_a_day_quarantine(self, equipped: App) -> None:
        give(equipped, "def run(args, ctx):\n    return 1 / 0\n")
        for _ in range(3):
            equipped.clock.move(timedelta(minutes=1))
            assert run(equipped).fault
        assert equipped.catalog.look("read_files").state is State.QUARANTINE
        with pytest.raises(NotTrusted, match="3 faults"):
            run(equipped)
        equipped.clock.move(timedelta(minutes=1))
        equipped.catalog.change("read_files", State.ACTIVE, "once more")
        run(equipped)
        assert equipped.catalog.look("read_files").state is State.ACTIVE, "what was forgiven does not count again"

    def test_old_faults_are_forgotten(self, equipped: App) -> None:
        give(equipped, "def run(args, ctx):\n    return 1 / 0\n")
        for _ in range(4):
            run(equipped)
            equipped.clock.move(timedelta(hours=13))
        assert equipped.catalog.look("read_files").state is State.ACTIVE

    def test_a_failure_that_is_not_its_fault_is_no_strike(self, equipped: App) -> None:
        give(equipped, "def run(args, ctx):\n    ctx.fail('not_found', 'no')\n")
        for _ in range(5):
            run(equipped)
        assert equipped.catalog.look("read_files").state is State.ACTIVE

    @pytest.mark.parametrize(
        ("source", "said"),
        [
            ("ctx.http('GET', 'http://127.0.0.1/')", "network"),
            ("ctx.write('/root/x', 'y')", "tried to change"),
            ("ctx.call('delete_files', {})", "tried to call"),
            ("ctx.chat('hello')", "language model"),
            ("ctx.system('processes')", "asked for"),
            ("ctx._ask('shutdown', {})", "out of turn"),
            ("open('/home/somebody/diary')", "reached for"),
        ],
    )
    def test_asking_for_what_it_did_not_declare_quarantines_at_once(
        self, equipped: App, source: str, said: str
    ) -> None:
        code = f"def run(args, ctx):\n    try:\n        {source}\n    except Exception:\n        pass\n"
        give(equipped, code + "    return {'entries': []}\n")
        outcome = run(equipped)
        assert (outcome.ok, outcome.breach) == (False, Breach.QUARANTINE)
        assert said in outcome.message
        assert equipped.catalog.look("read_files").state is State.QUARANTINE

    def test_reaching_for_the_agents_own_records_revokes(self, equipped: App) -> None:
        source = f"""
        def run(args, ctx):
            try:
                open({str(equipped.workspace.audit / "2026-11.jsonl")!r})
            except OSError:
                pass
            return {{"entries": []}}
        """
        give(equipped, source)
        assert run(equipped).breach is Breach.REVOKE
        assert equipped.catalog.look("read_files").state is State.REVOKED
        with pytest.raises(NotTrusted, match="revoked"):
            give(equipped, source, name="read_notes")

    def test_walking_past_the_agents_own_records_is_no_attack(self, equipped: App) -> None:
        above = equipped.workspace.root.parent
        outcome = run(equipped, "measure_folders", path=str(above))
        assert outcome.ok
        assert equipped.catalog.look("measure_folders").state is State.ACTIVE

    def test_opening_what_lies_in_them_is_one_though_it_was_shown_the_folder_above(self, equipped: App) -> None:
        source = """
        def run(args, ctx):
            try:
                open(args["path"] + "/workspace/.keys/agent.key")
            except OSError:
                pass
            return {"entries": []}
        """
        give(equipped, source, args={"path": PATH}, capabilities={"fs": {"read": ["/**"]}})
        assert run(equipped, path=str(equipped.workspace.root.parent)).breach is Breach.REVOKE

    def test_quotas_hold_across_calls(self, full: App) -> None:
        source = """
        def run(args, ctx):
            ctx.write(args["target"], "x")
            return {"results": []}
        """
        mutator(full, source, quotas={"writes": 2})
        assert run(full, "write_files", target="~/a").ok
        assert run(full, "write_files", target="~/b").ok
        with pytest.raises(Refused, match="all 2 changes"):
            run(full, "write_files", target="~/c")

    def test_a_quota_ends_one_call_in_the_middle(self, full: App) -> None:
        source = """
        def run(args, ctx):
            for number in range(10):
                ctx.write(f"{args['target']}/{number}", "x")
            return {"results": []}
        """
        mutator(full, source, quotas={"writes": 3})
        (home() / "box").mkdir()
        assert run(full, "write_files", target="~/box").kind == "not_permitted"
        assert len(list((home() / "box").iterdir())) == 3


class TestCallingOthers:
    CALLER = """
    def run(args, ctx):
        found = ctx.call("find_files", {"path": args["path"], "pattern": "*.txt"})
        return {"entries": [{"any": found["count"]}]}
    """

    def test_one_executor_calls_another_through_the_same_door(self, equipped: App) -> None:
        can = {"fs": {"read": ["~/**"]}, "executor": {"call": ["find_files"]}}
        give(equipped, self.CALLER, args={"path": PATH}, capabilities=can)
        (home() / "box").mkdir()
        (home() / "box/a.txt").write_text("x")
        assert run(equipped, path="~/box").reply["entries"] == [{"any": 1}]
        runs = [line.entry.names for line in equipped.audit.newest() if line.kind == "executor run"]
        assert {(names["executor"], names["channel"]) for names in runs} == {
            ("find_files", "executor"),
            ("read_files", "terminal"),
        }
        assert len({names["turn"] for names in runs}) == 1

    def test_what_the_other_may_not_do_is_not_done_for_the_caller(self, equipped: App) -> None:
        """The owner is asked, whatever the caller would make of a failure."""
        source = """
        def run(args, ctx):
            try:
                ctx.call("delete_files", {"paths": [args["path"]]})
            except ctx.Failure as error:
                return {"entries": [{"any": error.kind}]}
            return {"entries": []}
        """
        can = {"fs": {"read": ["~/**"]}, "executor": {"call": ["delete_files"]}}
        give(equipped, source, args={"path": PATH}, capabilities=can)
        (home() / "a.txt").write_text("x")
        with pytest.raises(Waiting):
            run(equipped, path="~/a.txt")
        assert (home() / "a.txt").exists()
        (item,) = equipped.inbox.waiting()
        assert item.asked_by == "executor:read_files"

    def test_circles_end(self, equipped: App) -> None:
        code = "def run(args, ctx):\n    return {{'entries': [{{'any': ctx.call('{}', {{}})['count']}}]}}\n"
        give(equipped, code.format("read_notes"), capabilities={"executor": {"call": ["read_notes"]}})
        can = {"executor": {"call": ["read_files"]}}
        give(equipped, code.format("read_files"), name="read_notes", capabilities=can)
        outcome = run(equipped)
        assert not outcome.ok
        assert "circle" in outcome.message
