"""What a child says is judged, never believed: whatever it puts on its channel, the call ends as an outcome.

An exception out of the runner would be worse than a wrong reply: the use would not be recorded, and an executor that
raises one each time would never collect strikes.
"""

import json
from collections.abc import Iterator

import pytest

from escape.world import Attack, Scene, World, open_world
from metnos.executors import index
from metnos.executors.outcome import Breach, Outcome

SENDS = """
def run(args, ctx):
    ctx._talk._socket.sendall(frame({frame}))
    time.sleep(600)
"""
ASKS = """
def run(args, ctx):
    ctx._talk._socket.sendall(frame({frame}))
    got = ctx._talk.hear()
    return say(got.get("kind"))
"""
SPLIT = """
def run(args, ctx):
    for part in {parts}:
        ctx._talk._socket.sendall(part)
        time.sleep(0.05)  # so that the pieces do not arrive together
    time.sleep(600)
"""
REPLY = '{"op": "result", "reply": {"entries": [{"said": "x"}]}'
WRITES = 'fs.write = ["@box@/**"]'
STRANGE = "a\\ud800b"


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with open_world() as world:
        yield world


def run(world: World, source: str, **more: str) -> tuple[Scene, Outcome]:
    attack = Attack("forgery", "protocol", "", source, **more)  # type: ignore[arg-type]
    scene, outcome, _ = world.attempt(attack, cold=False)
    assert index.strikes_since(world.app.catalog.db, outcome.executor, world.app.clock.now().replace(year=2000)) == int(
        outcome.fault
    )
    return scene, outcome


# -- last words


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param('{"op": "failed", "kind": [], "message": "x"}', id="a kind that is a list"),
        pytest.param('{"op": "failed", "kind": {}, "message": []}', id="a kind that is an object"),
        pytest.param('{"op": "crashed", "error": 1, "message": {}, "where": {"a": 1}}', id="a crash of odd types"),
        pytest.param('{"op": "result"}', id="no reply"),
        pytest.param('{"op": "result", "reply": []}', id="a list"),
        pytest.param('{"op": "result", "reply": {"entries": [1]}}', id="entries that are none"),
        pytest.param('{"op": "result", "reply": {"entries": [], "total": -1}}', id="a negative total"),
        pytest.param('{"op": "result", "reply": {"entries": [], "total": True}}', id="a total that is true"),
        pytest.param('{"op": "result", "reply": {"entries": [], "more": 1}}', id="a strange field"),
        pytest.param(
            '{"op": "result", "reply": {"entries": [], "failures": [{"item": 1, "kind": [], "message": ""}]}}',
            id="a failure whose kind is a list",
        ),
        pytest.param('{"op": "unsafe", "message": "sudo rm -rf /"}', id="walls that could not be built"),
        pytest.param("b'" + '{"op": "result", "reply": {"entries": [{"said": "x", "n": NaN}]}}' + "'", id="NaN"),
        pytest.param("b'" + '{"op": "result", "reply": {"entries": [{"said": "x", "n": 1e999}]}}' + "'", id="infinity"),
        pytest.param("b'{\"op\": \"result\", \"reply\": ' + b'[' * 100000 + b'}'", id="too deep"),
        pytest.param("b'" + '{"op": "result", "reply": {"entries": [{"n": ' + "9" * 5000 + "}]}}'", id="a huge number"),
        pytest.param("b'\\xff\\xfe'", id="no text"),
        pytest.param("b''", id="nothing"),
        pytest.param('["op"]', id="no object"),
        pytest.param('{"op": ["result"]}', id="an op that is no text"),
        pytest.param('{"op": None}', id="no op"),
        pytest.param('b"{}", 0xFFFFFFFF', id="a length beyond everything"),
    ],
)  # fmt: skip
def test_a_dishonest_last_word_is_a_fault(world: World, frame: str) -> None:
    _, outcome = run(world, SENDS.format(frame=frame))
    assert not outcome.ok
    assert len(outcome.message) < 3000
    assert outcome.fault or '"failed"' in frame  # a failure of an odd kind may count as an honest one


@pytest.mark.parametrize("cpu", ["10 ** 400", "-1", "True", "[]", "'x'"])
def test_what_it_says_about_its_cpu_time_is_not_believed(world: World, cpu: str) -> None:
    words = f'{{"op": "result", "reply": {{"entries": []}}, "log": 1, "cpu_ms": {cpu}}}'
    _, outcome = run(world, SENDS.format(frame=words))
    assert 0 <= outcome.cpu_ms < 60_000


@pytest.mark.parametrize("cpu", ["NaN", "1e999", "-1e999"])
def test_nor_a_cpu_time_that_is_no_number(world: World, cpu: str) -> None:
    words = "b'" + f'{{"op": "result", "reply": {{"entries": []}}, "cpu_ms": {cpu}}}' + "'"
    _, outcome = run(world, SENDS.format(frame=words))
    assert 0 <= outcome.cpu_ms < 60_000


def test_what_comes_after_the_reply_is_not_heard(world: World) -> None:
    parts = (
        f'[frame({REPLY}}}) + frame({{"op": "write", "path": "@box@/later", "text": "x"}})'
        ' + frame({"op": "failed", "kind": "failed", "message": "later"})]'
    )
    scene, outcome = run(
        world, SPLIT.format(parts=parts).replace("entries", "results"), capabilities=WRITES, reversal="remove_created"
    )
    assert outcome.ok
    assert not (scene.box / "later").exists()


def test_a_frame_in_pieces_is_one_frame(world: World) -> None:
    parts = f"[frame({REPLY}}})[:2], frame({REPLY}}})[2:9], frame({REPLY}}})[9:]]"
    _, outcome = run(world, SPLIT.format(parts=parts))
    assert outcome.ok


@pytest.mark.parametrize("descriptor", [0, 1, 2])
def test_frames_on_the_standard_streams_lead_nowhere(world: World, descriptor: int) -> None:
    source = f"def run(args, ctx):\n    os.write({descriptor}, frame({REPLY}}}))\n    return say('honest')"
    _, outcome = run(world, source)
    assert [entry["said"] for entry in outcome.reply["entries"]] == ["honest"]
    # The same bytes on the channel are a reply: it is the place that they lack.
    _, control = run(world, source.replace(f"os.write({descriptor}", "os.write(3"))
    assert [entry["said"] for entry in control.reply["entries"]] == ["x"]


def test_a_second_beginning_changes_nothing(world: World) -> None:
    source = 'def run(args, ctx):\n    for _ in range(50):\n        ctx._talk.say({"op": "begun"})\n    return say("x")'
    _, outcome = run(world, source)
    assert outcome.ok


def test_a_closed_channel_ends_the_call(world: World) -> None:
    scene, outcome = run(world, "def run(args, ctx):\n    os.close(3)\n    time.sleep(600)")
    assert not outcome.ok
    assert [ended.timed_out for ended in scene.kept["ended"]] == [False]


# -- questions


@pytest.mark.parametrize("op", ["", "exit", "open", "__class__", "write\\n", "WRITE", "x" * 100_000])
def test_an_unknown_question_is_a_breach(world: World, op: str) -> None:
    _, outcome = run(world, SENDS.format(frame=f'{{"op": "{op}"}}'))
    assert outcome.breach is Breach.QUARANTINE
    assert len(outcome.message) < 3000


FIELDS = {
    "write": ("path", "text", "overwrite", "append"),
    "put": ("path", "overwrite"),
    "make_folder": ("path",),
    "move": ("source", "target"),
    "copy": ("source", "target"),
    "trash": ("path",),
    "http": ("method", "url", "headers", "base64", "max_bytes"),
    "call": ("name", "args"),
    "chat": ("prompt", "max_tokens"),
    "system": ("what",),
}
ODD = ("None", "True", "[]", "{}", "-1", "10 ** 300", "''", "'.'", "'/'", "'/\\0'",
       f"'@box@/{STRANGE}'", f"'@box@/{STRANGE}/x'", "'@box@/' + 'a' * 300", "'/a' * 3000", "'@box@/a\\nb'",
       "'@box@/seen.txt/x'", "'@box@'", "'http://[x'", "'GET\\r\\n'", "'http://' + 'a' * 300",
       "'/' + 'a' * 300", "'//@box@/..'")  # fmt: skip
CAPABILITIES = (
    'fs.write = ["@box@/**"]\nfs.read = ["@box@/**"]\nexecutor.call = ["read_files"]\nmodel.chat = true\n'
    'system.read = ["host"]\nnet.http = { hosts = ["127.0.0.2"], methods = ["GET"] }'
)


@pytest.mark.parametrize("op", FIELDS)
def test_odd_fields_are_answered_and_never_an_exception(world: World, op: str) -> None:
    """Each field of each question with each odd value, the others being sound."""
    sound = {"path": "@box@/new", "source": "@box@/seen.txt", "target": "@box@/new", "text": "x", "method": "GET",
             "url": "http://127.0.0.2:9/", "headers": {}, "base64": "", "max_bytes": 1, "name": "read_files",
             "args": {}, "prompt": "x", "what": "host"}  # fmt: skip
    base = {field: sound[field] for field in FIELDS[op] if field in sound}
    source = f"""
def run(args, ctx):
    base = {base!r}
    odd = [{", ".join(ODD)}]
    said = []
    for field in {FIELDS[op]!r}:
        for value in odd:
            ctx._talk.say({{"op": {op!r}, **base, field: value}})
            got = ctx._talk.hear()
            said.append(str(got.get("kind")))
    return say(*said)
"""
    reversal = {"trash": "restore_trashed", "move": "move_back"}.get(op, "restore_content")
    _, outcome = run(world, source, capabilities=CAPABILITIES, reversal=reversal)
    # A path elsewhere, or a name that is not declared, is a breach; such values come last.
    assert outcome.ok or outcome.breach is Breach.QUARANTINE, outcome


@pytest.mark.parametrize("value", [value for value in ODD if "@box@" in value])
@pytest.mark.parametrize("op", ["write", "make_folder", "trash"])
def test_an_odd_path_in_scope_is_answered(world: World, op: str, value: str) -> None:
    reversal = "restore_trashed" if op == "trash" else "restore_content"
    words = f'{{"op": "{op}", "path": {value}, "text": "x"}}'
    _, outcome = run(world, ASKS.format(frame=words), capabilities=WRITES, reversal=reversal)
    assert outcome.ok or outcome.breach is Breach.QUARANTINE, outcome


@pytest.mark.parametrize("value", ["NaN", "1e999"])
def test_what_is_no_number_ends_the_call(world: World, value: str) -> None:
    words = "b'" + f'{{"op": "call", "name": "read_files", "args": {{"paths": [{value}]}}}}' + "'"
    _, outcome = run(world, ASKS.format(frame=words), capabilities='executor.call = ["read_files"]')
    assert (outcome.ok, outcome.fault) == (False, True)


@pytest.mark.parametrize("value", ["9" * 400, json.dumps("\ud800"), "[" * 200 + "]" * 200])
def test_an_odd_argument_of_a_nested_call_is_answered(world: World, value: str) -> None:
    words = "b'" + f'{{"op": "call", "name": "read_files", "args": {{"paths": [{value}]}}}}' + "'"
    words = words.replace("\\", "\\\\")
    _, outcome = run(world, ASKS.format(frame=words), capabilities='executor.call = ["read_files"]')
    assert outcome.ok, outcome
    assert outcome.reply["entries"] == [{"said": "invalid"}]
