"""The probe in the real sandbox, and in sandboxes with one wall missing: each missing wall must show."""

import contextlib
import os
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from metnos.core.errors import SandboxError
from metnos.core.records import Level
from metnos.sandbox import probe, seccomp
from metnos.sandbox.pool import Ended, Pool
from metnos.sandbox.profile import Walls

NOTHING = {"file": [], "environment": [], "network": [], "writing": [], "uid": []}


@pytest.mark.slow
def test_the_real_sandbox_holds() -> None:
    assert probe.probe("", 30) == NOTHING
    assert probe.check("", 30).level is Level.GREEN


def without(*walls: str) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(probe, "Pool", partial(Pool, without=frozenset(walls)))


def no_network_walls(patch: pytest.MonkeyPatch) -> None:
    """Namespace, filter and Landlock: one behind the other."""
    without("net", "landlock")(patch)
    patch.setattr(seccomp, "base", lambda *_, **__: b"")
    patch.setattr(seccomp, "seal", lambda *_, **__: b"")


def bound(patch: pytest.MonkeyPatch) -> None:
    """The folder of temporary files is shown."""
    patch.setattr(probe, "Walls", lambda **more: Walls(binds=("/tmp",), **more))


def inherited(patch: pytest.MonkeyPatch) -> None:
    """The owner's environment comes along, and holds the secret."""
    without("environment")(patch)
    patch.setattr(probe.secrets, "token_hex", lambda _: "0123456789abcdef" * 2)
    patch.setenv("LEAK", "0123456789abcdef" * 2)


MISSING = {
    "network": no_network_walls,
    "file": bound,
    "environment": inherited,
    "writing": without("read-only", "landlock", "uid"),
}
if os.getuid() == 0:
    MISSING["uid"] = without("uid")


@pytest.mark.slow
@pytest.mark.parametrize("what", MISSING)
def test_a_missing_wall_shows(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    MISSING[what](monkeypatch)
    assert probe.probe("", 30)[what]
    check = probe.check("", 30)
    assert check.level is Level.RED
    assert "does not hold" in check.found


def test_a_sandbox_that_does_not_start_is_red(script: Callable[[str], Path]) -> None:
    complaint = "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    script(complaint)
    check = probe.check("", 30)
    assert check.level is Level.RED
    assert "No permissions to create new namespace" in check.found
    assert "sysctl" in check.fix


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (None, "no readable answer"),
        ({"op": "result"}, "no readable answer"),
        ({"op": "result", "reply": {"entries": []}}, "no readable answer"),
        ({"op": "result", "reply": {"entries": [1]}}, "no readable answer"),
        ({"op": "result", "reply": {"entries": [{}]}}, "another question"),
    ],
)
def test_a_sandbox_that_answers_nonsense_is_red(message: Any, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pool, "run", lambda *_, **__: Ended(message))
    check = probe.check("", 30)
    assert check.level is Level.RED
    assert says in check.found


def test_a_place_where_the_probe_cannot_be_set_up_is_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 120)  # a socket's name must be shorter than this
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    assert probe.check("", 30).level is Level.RED


@pytest.mark.slow
def test_a_sandbox_that_hangs_is_red(script: Callable[[str], Path]) -> None:
    script("#!/bin/sh\nexec sleep 60\n")
    with pytest.raises(SandboxError, match="did not start in time"):
        probe.probe("", 1)


def test_a_program_that_cannot_run_is_red(script: Callable[[str], Path]) -> None:
    script("not a program")
    assert probe.check("", 30).level is Level.RED


def test_a_bubblewrap_that_is_not_the_systems_is_red(tmp_path: Path) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\n")
    (tmp_path / "bwrap").chmod(0o755)
    check = probe.check(str(tmp_path / "bwrap"), 30)
    assert check.level is Level.RED
    assert "sandbox.bwrap" in check.fix


def test_a_control_that_reaches_nothing_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_ask", lambda *_: NOTHING)
    with pytest.raises(SandboxError, match="proves nothing"):
        probe.probe("", 30)


def test_the_canaries_go_away() -> None:
    with probe._canaries() as asked:
        folder, port = Path(str(asked["folder"])), int(asked["port"])
        assert folder.exists()
    assert not folder.exists()
    with contextlib.closing(socket.socket()) as line:
        assert line.connect_ex(("127.0.0.1", port)) != 0
