"""From nothing to a link, with one command; the link lets one browser in."""

import json
import socket
import webbrowser
from collections.abc import Iterator
from typing import Any

import httpcore
import pytest

from cli import warm
from cli.terminal import on_a_terminal, plain
from cli.warm import metnos
from metnos.api.client import connect
from metnos.app import App
from metnos.cli import Choice, opening_page
from metnos.cli.faces import WebFace
from metnos.core import files
from metnos.core.clock import MovableClock
from metnos.core.errors import DaemonError
from metnos.core.log import Log
from metnos.core.sections_outward import WebSettings
from metnos.core.workspace import Workspace
from metnos.law.principal import Channel, at_terminal

pytestmark = pytest.mark.slow


@pytest.fixture
def stopped(blank: Workspace) -> Iterator[Workspace]:
    """A place without a workspace. Whatever is started for it is ended."""
    yield blank
    ended(blank)


def ended(workspace: Workspace) -> None:
    if not workspace.exists() or (client := connect(workspace)) is None:
        return
    pid = client.status()["pid"]
    client.stop()
    warm.await_end(pid)


def opened(workspace: Workspace, *more: str) -> str:
    """What a person at a terminal sees who wants a link."""
    line = ("--workspace", str(workspace.root), "open", *more)
    done = on_a_terminal(*line, typed=[("The link signs one browser in", "yes")])
    assert done.code == 0, done.out
    return plain(done.out)


def test_from_nothing_to_a_link_that_works_once_and_again_to_another(stopped: Workspace) -> None:
    said = opened(stopped, "--no-browser")
    link = "".join(said.partition("minutes)")[2].split())  # a terminal breaks it
    assert "The Laws this agent is bound by" in said
    first, second = httpcore.request("GET", link), httpcore.request("GET", link)
    cookie = dict(first.headers)[b"set-cookie"].partition(b";")[0]
    assert b"set-cookie" not in dict(second.headers)
    base = link.partition("/enter")[0]
    page = httpcore.request("GET", f"{base}/", headers={"Cookie": cookie})
    assert (page.status, b"<main" in page.content) == (200, True)
    assert httpcore.request("GET", f"{base}/").status == 401

    again = json.loads(opened(stopped, "--json").partition("to go on: yes")[2])
    assert (again["address"], again["link"] != link) == (base, True)
    piped = metnos("--workspace", str(stopped.root), "open", "--json", stdin="yes\n")
    assert json.loads(piped.out) == {"link": "", "address": base, "minutes": 0}  # a pipe is no person
    status = json.loads(metnos("--workspace", str(stopped.root), "serve", "--status", "--json").out)
    assert status["page"] == again["address"]
    assert (stopped.run / "serve.log").stat().st_mode & 0o077 == 0


def test_without_a_daemon_it_can_be_told_to_start_none(workspace: Workspace) -> None:
    done = metnos("--workspace", str(workspace.root), "open", "--no-start")
    assert done.code == 1
    assert "does not run" in done.err


def test_what_does_not_come_up_says_why(workspace: Workspace) -> None:
    place = ("--workspace", str(workspace.root))
    App.open(workspace).set_setting("web.host", "0.0.0.0", at_terminal())
    done = metnos(*place, "open")
    assert (done.code, "listen in" in done.err) == (1, True)
    ended(workspace)
    workspace.settings.write_text("no settings [")
    done = metnos(*place, "open")
    assert (done.code, "not valid TOML" in done.err) == (1, True)


def test_a_page_that_is_switched_off_is_said(workspace: Workspace) -> None:
    place = ("--workspace", str(workspace.root))
    App.open(workspace).set_setting("web.enabled", "false", at_terminal())
    done = metnos(*place, "open")
    assert (done.code, "web.enabled" in done.err) == (1, True)
    ended(workspace)


def test_a_port_that_another_program_has_meanwhile_is_not_exchanged_for_another(
    workspace: Workspace, clock: MovableClock
) -> None:
    """Whoever has it is sent the browser's cookie: nobody is to be led on as if nothing had happened."""
    told: list[str] = []
    counter: Any = None  # nobody gets that far
    files.private_folder(workspace.run)
    with socket.create_server(("127.0.0.1", 0)) as squatter:
        (workspace.run / "port").write_text(str(squatter.getsockname()[1]))
        face = WebFace(counter, workspace, WebSettings(), clock, Log(told.append, "text", clock))
        with pytest.raises(DaemonError, match=f"{squatter.getsockname()[1]} is taken by a program of the account"):
            face.start()
    assert face.told == {}


def test_the_link_is_in_no_command_line(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    opened_: list[str] = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", lambda url: not opened_.append(url))
    link = "http://127.0.0.1:8674/enter?key=SECRET"
    first = opening_page._show(workspace, link)
    assert first is not None
    assert opened_ == [first.as_uri()]
    assert "SECRET" not in opened_[0]
    assert first.parent == workspace.run
    assert (first.stat().st_mode & 0o077, first.parent.stat().st_mode & 0o077) == (0, 0)
    page = first.read_text()
    assert f'http-equiv="refresh" content="0;url={link}"' in page
    assert 'name="referrer" content="no-referrer"' in page
    second = opening_page._show(workspace, link)
    assert (first.exists(), second is not None and second.exists()) == (False, True)  # the next one sweeps up
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    assert opening_page._show(workspace, link) is None
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert opening_page._show(workspace, link) is None
    assert list(workspace.run.glob("open-*")) == []


def test_a_link_that_was_used_is_known(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening_page, "_USED_S", 0.0)
    choice = Choice(str(workspace.root))
    code = opening_page._code(choice, at_terminal())
    assert not opening_page._is_used(choice, code)
    app = App.open(workspace)
    app.pairing.redeem(code, Channel.WEB)
    app.close()
    assert opening_page._is_used(choice, code)
