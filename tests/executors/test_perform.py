"""One call in the real sandbox, judged."""

import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from executors.boxes import Box
from executors.calls import READ, WRITE, executor, manifest, mutating, reach, ready
from metnos.core.sections import ExecutorSettings
from metnos.core.workspace import Workspace
from metnos.executors.manifest import Manifest
from metnos.executors.outcome import Breach, Outcome
from metnos.executors.perform import Setting, When, perform
from metnos.executors.reach import Reach
from metnos.executors.state import State
from metnos.law.principal import at_terminal
from metnos.sandbox.pool import Pool

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
LIMIT = {"type": "integer", "description": "How many."}
FACTS = """
def run(args, ctx):
    facts = {"limit": ctx.limit, "workspace": ctx.workspace, "dry": ctx.dry_run, "now": ctx.now.isoformat()}
    return {"entries": [facts]}
"""
FRAME = """
def run(args, ctx):
    body = b'{"op": "result", "reply": {"entries": [%s]}, "cpu_ms": %s}'
    ctx._talk._socket.send(len(body).to_bytes(4, "big") + body)
    while True:
        pass
"""


class Stage:
    """Everything that a call needs around it."""

    def __init__(self, root: Path, pool: Pool) -> None:
        self.box = Box(root)
        self.pool = pool
        self.workspace = Workspace(self.box.home.parent / "workspace")

    def play(
        self,
        read: Manifest,
        source: str,
        *,
        dry: bool = False,
        shown: Any = None,
        state: State = State.ACTIVE,
        ways: Reach | None = None,
        **args: Any,
    ) -> Outcome:
        setting = Setting(self.pool, ExecutorSettings(), self.workspace, lambda: False)
        when = When("turn", NOW, dry=dry)
        tried = executor(read, textwrap.dedent(source), state=state)
        prepared = ready(read, self.box.home, **args)
        if dry:
            planning = self.box.planning()
            return perform(setting, tried, prepared, planning, ways or reach(), shown, when)
        with self.box.begin() as acting:
            return perform(setting, tried, prepared, acting, ways or reach(), shown, when)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(warm=1)
    yield made
    made.close()


@pytest.fixture
def stage(tmp_path: Path, pool: Pool) -> Iterator[Stage]:
    made = Stage(tmp_path.resolve(), pool)
    yield made
    made.box.close()


WRITING = mutating("restore_content", {"target": WRITE}, {"fs": {"write": ["~/**"]}})


class TestWhatTheExecutorKnows:
    def test_the_time_the_limit_and_nothing_of_the_workspace(self, stage: Stage) -> None:
        (facts,) = stage.play(manifest(), FACTS).reply["entries"]
        assert (facts["limit"], facts["workspace"], facts["dry"]) == (1000, "", False)
        now = datetime.fromisoformat(facts["now"])
        assert (now, now.utcoffset()) == (NOW, NOW.astimezone().utcoffset())

    @pytest.mark.parametrize(("asked", "limit"), [(5, 5), (1000, 1000), (5000, 1000), (0, 1000), (-3, 1000)])
    def test_the_arguments_may_lower_the_limit(self, stage: Stage, asked: int, limit: int) -> None:
        (facts,) = stage.play(manifest({"limit": LIMIT}), FACTS, limit=asked).reply["entries"]
        assert facts["limit"] == limit

    def test_the_workspace_if_a_scope_names_it(self, stage: Stage) -> None:
        read = manifest({}, {"fs": {"read": ["{workspace}/notes/**"]}})
        (facts,) = stage.play(read, FACTS).reply["entries"]
        assert facts["workspace"] == str(stage.workspace.root)

    def test_a_dry_run_says_so(self, stage: Stage) -> None:
        assert stage.play(manifest(), FACTS, dry=True).reply["entries"][0]["dry"] is True


class TestHowItEnds:
    def test_well(self, stage: Stage) -> None:
        (stage.box.home / "a.txt").write_text("text")
        read = manifest({"path": READ}, {"fs": {"read": ["~/**"]}})
        source = """
        def run(args, ctx):
            print("a word to the author")
            with open(args["path"]) as file:
                return {"entries": [{"any": file.read()}], "total": 2}
        """
        ended = stage.play(read, source, path="a.txt")
        assert (ended.ok, ended.turn, ended.kind, ended.message) == (True, "turn", "", "")
        assert (ended.reply["entries"], ended.reply["truncated"]) == ([{"any": "text"}], True)
        assert ended.log == "a word to the author\n"
        assert 0 < ended.wall_ms < 30_000
        assert (ended.action, ended.effects, ended.writes) == ("", (), 0)

    def test_with_a_crash_and_the_line_where(self, stage: Stage) -> None:
        ended = stage.play(manifest(), "def run(args, ctx):\n    print('so far')\n    return 1 / 0\n")
        assert (ended.ok, ended.fault, ended.where, ended.log) == (False, True, ("line 3 in run",), "so far\n")
        assert "ZeroDivisionError" in ended.message

    def test_with_a_dishonest_reply(self, stage: Stage) -> None:
        ended = stage.play(manifest(), "def run(args, ctx):\n    return {'entries': [], 'total': -5}\n")
        assert (ended.ok, ended.fault, ended.reply) == (False, True, {})

    @pytest.mark.slow
    def test_not_in_time(self, stage: Stage) -> None:
        read = manifest(quotas={"wall_s": 0.3})
        ended = stage.play(read, "import time\n\ndef run(args, ctx):\n    time.sleep(20)\n")
        assert (ended.ok, ended.fault) == (False, True)
        assert "0.3 seconds" in ended.message

    def test_with_what_is_no_number(self, stage: Stage) -> None:
        assert not stage.play(manifest(), FRAME % ('{"any": NaN}', "1")).ok

    @pytest.mark.parametrize("cpu_ms", ["NaN", "1e400", "-1", "1e300", "1" + "0" * 400])
    def test_with_a_lie_about_its_time(self, stage: Stage, cpu_ms: str) -> None:
        ended = stage.play(manifest(), FRAME % ("", cpu_ms))
        assert 0 <= ended.cpu_ms < 60_000


class TestChanges:
    SOURCE = """
    def run(args, ctx):
        ctx.write(args["target"], "new", overwrite=True)
        return {"results": [{"any": ctx.dry_run}]}
    """

    def test_are_named_counted_and_can_be_taken_back(self, stage: Stage) -> None:
        path = stage.box.home / "a.txt"
        path.write_text("old")
        ended = stage.play(WRITING, self.SOURCE, target="a.txt")
        assert ended.ok
        assert [effect[:2] for effect in ended.effects] == [("write over", str(path))]
        assert (ended.writes, ended.write_bytes, path.read_text()) == (1, 3, "new")
        stage.box.undo.undo(ended.action, by=at_terminal())
        assert path.read_text() == "old"

    def test_of_a_dry_run_are_only_named(self, stage: Stage) -> None:
        ended = stage.play(WRITING, self.SOURCE, dry=True, target="a.txt")
        assert (ended.ok, ended.action) == (True, "")
        assert [effect[:2] for effect in ended.effects] == [("write", str(stage.box.home / "a.txt"))]
        assert not (stage.box.home / "a.txt").exists()

    def test_before_a_crash_are_counted_too(self, stage: Stage) -> None:
        source = self.SOURCE.replace("return", "return 1 / 0 or")
        ended = stage.play(WRITING, source, target="a.txt")
        assert (ended.ok, ended.writes, bool(ended.action)) == (False, 1, True)

    def test_that_were_not_shown_are_not_made(self, stage: Stage) -> None:
        ended = stage.play(WRITING, self.SOURCE, shown=(), target="a.txt")
        assert (ended.ok, ended.kind, ended.fault) == (False, "not_permitted", False)
        assert not (stage.box.home / "a.txt").exists()


class TestBreaches:
    def test_a_question_out_of_turn_ends_the_call_whatever_it_would_have_said(self, stage: Stage) -> None:
        source = """
        def run(args, ctx):
            try:
                ctx.http("GET", "http://a.example/")
            except BaseException:
                pass
            ctx.write(args["target"], "after")
            return {"results": []}
        """
        ended = stage.play(WRITING, source, target="a.txt")
        assert (ended.ok, ended.breach, ended.fault, ended.kind) == (False, Breach.QUARANTINE, True, "not_permitted")
        assert "network" in ended.message
        assert not (stage.box.home / "a.txt").exists()

    @pytest.mark.parametrize(
        ("path", "breach"),
        [
            ("/etc/hostname", Breach.NONE),  # the machine's own, seen by everybody
            ("/home/somebody/diary", Breach.QUARANTINE),
            ("{home}/secret.txt", Breach.NONE),  # declared, though this call does not show it
            ("{workspace}/.keys/agent.key", Breach.REVOKE),
            ("/proc/self/root/etc/shadow", Breach.REVOKE),
        ],
    )
    def test_reaching_past_the_walls_is_noticed(self, stage: Stage, path: str, breach: Breach) -> None:
        wanted = path.format(home=stage.box.home, workspace=stage.workspace.root)
        source = f"""
        def run(args, ctx):
            try:
                open({wanted!r})
            except OSError:
                pass
            return {{"entries": []}}
        """
        read = manifest({"path": READ}, {"fs": {"read": ["~/**"]}})
        (stage.box.home / "a.txt").write_text("x")
        ended = stage.play(read, source, path="a.txt")
        assert (ended.breach, ended.ok) == (breach, breach is Breach.NONE)

    @pytest.mark.parametrize("name", [".audit", "project/.keys", "project/.law"])
    def test_walking_through_a_folder_past_what_is_hidden_in_it_is_no_attack(self, stage: Stage, name: str) -> None:
        (stage.box.home / name).mkdir(parents=True)
        (stage.box.home / name / "secret").write_text("x")
        source = """
        import os

        def run(args, ctx):
            return {"entries": [{"any": names} for _, _, names in os.walk(args["path"])]}
        """
        ended = stage.play(manifest({"path": READ}, {"fs": {"read": ["~/**"]}}), source, path="~")
        assert (ended.ok, ended.breach) == (True, Breach.NONE)
        assert not any(entry["any"] for entry in ended.reply["entries"])


class TestSandboxes:
    HELLO = "def run(args, ctx):\n    return {'entries': []}\n"

    def started(self, stage: Stage, *plays: dict[str, Any]) -> int:
        """How many sandboxes these calls start."""
        starts: list[int] = []
        stage.pool.on_start = starts.append
        for each in plays:
            read = each.pop("read", manifest())
            assert stage.play(read, each.pop("source", self.HELLO), **each).ok
        stage.pool.on_start = lambda _: None
        return len(starts)

    def test_trusted_calls_share_one(self, stage: Stage) -> None:
        self.started(stage, {})
        assert self.started(stage, {}, {}, {"dry": True}) == 0

    @pytest.mark.slow
    def test_what_nobody_trusts_yet_and_what_cannot_be_taken_back_gets_its_own(self, stage: Stage) -> None:
        irreversible = mutating("irreversible", {}, {"fs": {"write": ["~/box/**"]}})
        done = "def run(args, ctx):\n    return {'results': []}\n"
        assert self.started(stage, {"state": State.DRAFT}, {"state": State.SEED}) == 2
        assert self.started(stage, {"read": irreversible, "source": done}) == 1

    def test_nothing_is_left_over_from_one_call_to_the_next(self, stage: Stage) -> None:
        leave = "def run(args, ctx):\n    open('/tmp/left', 'w').close()\n    return {'entries': []}\n"
        look = "import os\n\ndef run(args, ctx):\n    return {'entries': [{'any': os.listdir('/tmp')}]}\n"
        stage.play(manifest(), leave)
        assert stage.play(manifest(), look).reply["entries"] == [{"any": []}]
