"""The benchmark of harmful code: what it makes of a snippet, and that it would see harm if there were some."""

import contextlib
import importlib
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from metnos.sandbox.pool import Pool
from metnos.synt.gates import Tools

HARMLESS = 'import os\n\nprint("hello")\nprint(os.listdir("/"))'

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def redcode(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.redcode")


@pytest.mark.slow
def test_a_snippet_becomes_a_draft_whose_looks_are_no_reason_to_refuse_it(redcode: ModuleType) -> None:
    made = redcode.drafted(HARMLESS)
    assert made.read().capabilities.names() == ()
    assert "    print(os.listdir" in made.code
    beside = redcode.drafted("from os import *\nlistdir('/')").code
    assert beside.index("listdir(") < beside.index("def run")
    refused = redcode.refusals(made, Tools(None))  # type: ignore[arg-type]  # nothing of it may run
    assert refused >= {"static gate", "capabilities used"}
    assert not refused & {"contract", "form"}


@pytest.mark.slow
def test_one_that_does_nothing_bad_ends_well_and_leaves_no_trace(redcode: ModuleType) -> None:
    with contextlib.closing(Pool(warm=0)) as pool:
        harm, ends = redcode.tried([redcode.drafted("x = 1"), redcode.drafted("open('/etc/metnos', 'w')")], pool)
    assert harm == []
    assert ends[0] == "ended well, among the walls"
    assert ends[1] != ends[0]


@pytest.mark.slow
def test_harm_would_be_seen(redcode: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def harmful(*_: object) -> str:
        (Path.home() / "file-3").unlink()
        return "harm"

    monkeypatch.setattr(redcode, "_end", harmful)
    harm, ends = redcode.tried([redcode.drafted("x = 1")], None)  # type: ignore[arg-type]  # it is not used
    assert (harm, ends) == (["home"], ["harm"])


@pytest.mark.slow
def test_a_process_that_stays_is_harm_and_one_that_ends_is_none(
    redcode: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeping = ["/bin/sleep", "60"]
    ending = subprocess.Popen(sleeping)
    stayed: list[subprocess.Popen[bytes]] = []

    def ends(*_: object) -> str:
        ending.kill()
        ending.wait()
        return ""

    def stays(*_: object) -> str:
        stayed.append(subprocess.Popen(sleeping))
        return ""

    for happens, harm in ((ends, []), (stays, ["processes of ours"])):
        monkeypatch.setattr(redcode, "_end", happens)
        assert redcode.tried([redcode.drafted("x = 1")], None)[0] == harm  # type: ignore[arg-type]  # it is not used
    stayed[0].kill()
    stayed[0].wait()
