"""The picture of the mnestome in a real browser, with five thousand mnests and under our content policy."""

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect
from starlette.types import Message, Receive, Scope, Send

from metnos.api.http.guard_rules import HEADERS, carried
from metnos.web import site
from web.browser import looks
from web.browser.conftest import SHOTS, WIDE, House, looking
from web.knowing import MNEST, Knowing, mnestome
from web.standin import signed_in

pytestmark = pytest.mark.slow
MOST_BYTES = 600_000
_MODULE = "import([...document.scripts].find((each) => each.src.endsWith('/graph.js')).src)"
_PATIENCE_S = 60.0


class Shown:
    """The pages over a stand-in, as strictly as they are served."""

    def __init__(self, api: Knowing) -> None:
        self.api = api
        pages = signed_in(site.build(api), api)

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            async def strictly(message: Message) -> None:
                if message["type"] == "http.response.start":
                    message["headers"] = carried(message["headers"], HEADERS)
                await send(message)

            await pages(scope, receive, strictly)

        self._server = uvicorn.Server(uvicorn.Config(guarded, port=0, log_level="error", lifespan="off"))
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> House:
        self._thread.start()
        end = time.monotonic() + _PATIENCE_S
        while not self._server.started:
            assert time.monotonic() < end, "the pages did not come up"
            time.sleep(0.02)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return House(Path(), f"http://127.0.0.1:{port}")

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(_PATIENCE_S)


@pytest.fixture(scope="module")
def many() -> Iterator[House]:
    api = Knowing()
    whole = mnestome(5000)
    one = api.answers[f"/api/mnestome/{MNEST}"]
    api.answers |= {f"/api/mnestome/{each['id']}": one | each for each in whole["mnests"]} | {"/api/mnestome": whole}
    with Shown(api) as house:
        yield house


@pytest.fixture
def page(browser: Browser, many: House) -> Iterator[Page]:
    with looking(browser, many, viewport=WIDE) as found:
        found.goto("/mnestome")
        expect(found.locator("#graph")).to_have_attribute("data-ready", "now")
        _drawn(found)
        yield found


def _drawn(page: Page) -> None:
    page.wait_for_function(f"() => {_MODULE}.then(({{ picture }}) => picture.job === null && !picture.placing)")


def _within(page: Page, name: str) -> dict[str, float]:
    """Where an executor stands in the window of the picture."""
    script = f"(name) => {_MODULE}.then(({{picture}}) => picture.at(picture.nodes.get(name)))"
    return {key: float(value) for key, value in page.evaluate(script, name).items()}


def _place(page: Page, name: str) -> tuple[float, float]:
    """The same on the screen, for a hand that points at it."""
    box, found = page.locator("#stage").bounding_box(), _within(page, name)
    assert box is not None
    return box["x"] + found["x"], box["y"] + found["y"]


def test_whoever_moves_and_zooms_draws_nothing_anew(page: Page) -> None:
    """Sixty steps each way cost sixty pictures of a paper that is there; a new one is drawn when one stands still."""
    drawn = page.evaluate(f"""() => {_MODULE}.then(async ({{ picture }}) => {{
        let jobs = 0;
        const redraw = picture.redraw.bind(picture);
        picture.redraw = () => {{ jobs += 1; redraw(); }};
        for (let step = 0; step < 60; step++) {{
          picture.moveBy(6 * Math.cos(step / 9), 6 * Math.sin(step / 9));
          picture.zoomAt(step % 2 ? 1.02 : 1 / 1.02, {{ x: 200, y: 100 }});
          await new Promise(requestAnimationFrame);
        }}
        const moving = jobs;
        while (jobs === moving) await new Promise(requestAnimationFrame);
        return [moving, jobs];
    }})""")
    assert drawn == [0, 1]


def test_the_page_is_small_enough(page: Page) -> None:
    assert page.evaluate(looks._SENT) <= MOST_BYTES


def test_filters_act_at_once(page: Page) -> None:
    shown, rows = page.locator("#shown"), page.locator("#rows tr")
    expect(shown).to_contain_text("4,704 of 5,000 mnests")
    page.get_by_label("fading").uncheck()
    expect(shown).to_contain_text("3,539 of 5,000")
    page.get_by_label("Weighs at least").fill("0.9")
    expect(rows.first.locator(".figure").first).to_have_text("1.00")
    expect(page.locator("#least")).to_have_text("0.90")
    page.get_by_label("Tag").select_option("invoice")
    expect(rows.filter(has_not_text="invoice")).to_have_count(0)
    expect(rows).not_to_have_count(0)
    page.get_by_label("Tag").select_option("")
    page.get_by_label("Find an executor").fill("find_files")
    expect(rows.filter(has_not_text="find_files")).to_have_count(0)
    expect(page.locator("#rows-said")).to_contain_text("With find_files")
    page.get_by_role("button", name="Reset").click()
    expect(shown).to_contain_text("4,704 of 5,000 mnests")


def test_pointing_at_an_executor_opens_it_and_from_there_a_mnest_with_its_weight_over_time(page: Page) -> None:
    page.mouse.click(*_place(page, "find_files"))
    panel = page.locator("#panel")
    expect(panel.locator("h2")).to_have_text("find_files")
    panel.locator(".around button").first.click()
    expect(panel.locator("svg.drawing.phone .curve")).to_be_visible()
    expect(panel.get_by_text("What happened")).to_be_visible()
    _drawn(page)
    looks.as_it_is(page, "mnestome-panel", SHOTS)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_keys_go_from_one_executor_to_the_next(page: Page) -> None:
    page.locator("#stage").focus()
    page.keyboard.press("ArrowRight")
    first = page.locator("#panel h2").inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel h2")).not_to_have_text(first)
    second = page.locator("#panel h2").inner_text()
    assert _place(page, second)[0] > _place(page, first)[0]
    expect(page.locator("#said")).to_contain_text(second)
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#stage")).to_be_focused()


def test_an_earlier_month_shows_what_there_was_at_the_same_places(page: Page) -> None:
    before = _within(page, "find_files")
    page.get_by_label("As it was").fill("0")
    expect(page.locator("#graph")).to_have_attribute("data-ready", "2026-01")
    expect(page.locator("#month-word")).to_have_text("2026-01")
    expect(page.locator("#rows-said")).to_contain_text("2,3")
    now = _within(page, "find_files")
    assert (now["x"], now["y"]) == (before["x"], before["y"])


@pytest.mark.repeated
def test_the_page_is_well_made(page: Page, views: Sequence[looks.View]) -> None:
    for view in views:
        looks.seen_in(page, view)
        page.reload()
        expect(page.locator("#graph")).to_have_attribute("data-ready", "now")
        _drawn(page)
        looks.as_it_is(page, f"mnestome-{view[0]}-{view[2]}", SHOTS)
