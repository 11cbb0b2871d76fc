"""A real browser on a real Metnos: the daemon as `metnos open` starts it, on a workspace and a home of the tests' own.

``page`` is signed in and fails the test for anything that the browser complains about: a script that broke, a request
that failed, something that the content security policy forbids. With METNOS_SHOTS set to a folder, pictures go there.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from cli.warm import metnos
from copying import copy_folder
from metnos.app import App
from metnos.core.workspace import Workspace
from metnos.law.principal import Autonomy, Channel, at_terminal
from suite import Repeat
from support import tool
from web.browser import looks

_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")  # the first takes half the CPU of the others
CHROMIUM = next(filter(None, map(shutil.which, _BROWSERS)), None)
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
PATIENCE_MS = 60_000
SHOTS = os.environ.get("METNOS_SHOTS")


@dataclass(frozen=True, slots=True)
class House:
    """A Metnos that runs."""

    home: Path
    address: str

    def metnos(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        """What a command of ours prints."""
        done = metnos("--workspace", str(self.home / "ws"), *words, HOME=str(self.home))
        assert done.code in codes, (words, done)
        return done.out

    def link(self) -> str:
        """A new one-time link, as a person at the terminal gets it."""
        opened = App.open(Workspace(self.home / "ws"))
        try:
            code = opened.pairing.offer(Channel.WEB, Autonomy.FULL, 10, at_terminal())
        finally:
            opened.close()
        return f"{self.address}/enter?key={code}"


@pytest.fixture(scope="session")
def house(_template: Workspace, loaded_program: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Metnos, with a folder to play with."""
    home = tmp_path_factory.mktemp("home")
    tool("playground").make(home / "play")
    copy_folder(_template.root, home / "ws")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        opened = App.open(Workspace(home / "ws"))
        opened.set_setting("web.port", "0", at_terminal())
        opened.close()
    made = House(home, "")
    try:
        yield House(home, json.loads(made.metnos("open", "--json", "--no-browser"))["address"])
    finally:
        made.metnos("serve", "--stop")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Gone before other modules run: while it is there, this thread counts as one that runs an event loop."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; on Debian: apt install chromium-headless-shell")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


@pytest.fixture(scope="session")
def _kept() -> list[dict[str, object]]:
    """What the first browser was given, for those that come later."""
    return []


@pytest.fixture
def cookie(house: House, browser: Browser, _kept: list[dict[str, object]]) -> list[dict[str, object]]:
    """What a browser has that followed a link."""
    if not _kept:
        with looking(browser, house) as page:
            page.goto(house.link())
            _kept.extend(dict(each) for each in page.context.cookies())
    assert _kept, "the link signed nobody in"
    return _kept


@contextmanager
def looking(browser: Browser, house: House, **options: object) -> Iterator[Page]:
    """A page; whatever the browser complains about in it is a fault."""
    context: BrowserContext = browser.new_context(base_url=house.address, **options)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda said: faults.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    try:
        yield page
    finally:
        context.close()
    assert faults == []


@pytest.fixture
def page(browser: Browser, house: House, cookie: list[dict[str, object]]) -> Iterator[Page]:
    """The owner's browser, on a desk."""
    with looking(browser, house, viewport=WIDE) as found:
        found.context.add_cookies(cookie)  # type: ignore[arg-type]
        yield found


@pytest.fixture
def stranger(browser: Browser, house: House) -> Iterator[Page]:
    """Somebody who is not signed in."""
    with looking(browser, house, viewport=WIDE) as found:
        yield found


@pytest.fixture
def views(repeat: Repeat) -> Sequence[looks.View]:
    """The sizes and themes in which a page is looked at."""
    return [looks.VIEWS[number] for number in repeat("views of a page", suite=2, soak=4)]


@pytest.fixture
def inspect(page: Page, views: Sequence[looks.View]) -> Callable[[str, str], None]:
    """Looks at an address as a careful person would: `looks.whole` in both themes and both sizes."""
    return lambda path, name: looks.whole(page, path, name, SHOTS, views)
