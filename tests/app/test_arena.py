"""The selection arena."""

from datetime import timedelta
from xml.etree import ElementTree

import pytest

from app.headings import NAME, count, counting
from executors.samples import write_sample
from grimoire.traces import step
from metnos.app import App, arena, arena_plot
from metnos.app.arena import Arena, Fighter, Place
from metnos.core.clock import MovableClock
from metnos.core.errors import UsageError
from metnos.executors import fitness, index
from metnos.executors.fitness_rules import Rules
from metnos.executors.selection import Selection
from metnos.executors.signature import Origin
from metnos.executors.state import State
from metnos.synt.need import Need, Way
from metnos.synt.proposals import Proposals
from signing import sign

GOAL = "count headings"


@pytest.fixture
def app(equipped: App) -> App:
    app = counting(equipped, executors__births="10")
    for name in ("count_headings_html", "count_links", "sample_lines"):
        write_sample(app.workspace.executors, name)
        sign(app, name, "a test")
    return app


def use(app: App, name: str, *told: bool) -> None:
    entry = index.current(app.catalog.db, name)
    assert entry is not None
    for number, ok in enumerate(told):
        made = step(
            1, name, digest=entry.digest, ok=ok, kind="" if ok else "failed", gap_after=1 if ok else 2, wall_ms=0
        )
        fitness.record(app.catalog.db, f"{name} {number}", app.clock.now(), GOAL, (made,))


def places(app: App) -> dict[str, tuple[str, float, int]]:
    return {each.name: (each.place, round(each.fitness, 2), each.uses) for each in arena.enter(app, GOAL).fighters}


def test_who_is_fit_who_is_not_and_who_was_never_tried(app: App) -> None:
    use(app, NAME, True, True, False)
    use(app, "count_headings_html", False, False)
    assert places(app) == {
        NAME: ("fit", 1.0, 3),
        "count_links": ("neutral", 0.0, 0),
        "count_headings_html": ("unfit", -2.0, 2),
    }
    assert next(iter(places(app))) == NAME


def test_who_is_out_and_why(app: App, clock: MovableClock) -> None:
    use(app, "count_headings_html", *[False] * 5)
    Selection(app.catalog.db, Rules()).judge(clock.now(), lambda _since: 0)
    app.catalog.change("count_links", State.REVOKED, "a test")
    count(app)
    index.record_use(app.catalog.db, index.Use(NAME, "", clock.now(), ok=False, fault=True))
    found = {each.name: each for each in arena.enter(app, GOAL).fighters}
    assert {name: each.place for name, each in found.items()} == {
        NAME: Place.FIT,
        "count_headings_html": Place.HIDDEN,
        "count_links": Place.EXTINCT,
    }
    assert (found["count_headings_html"].why, found["count_links"].why) == ("unfit", "a test")
    assert found[NAME].strikes == 1
    clock.move(timedelta(hours=25))
    assert {each.strikes for each in arena.enter(app, GOAL).fighters} == {0}


def test_a_proposal_that_waits_stands_by(app: App) -> None:
    need = Need("count headings of pages", Way.DIRECT, name="count_headings_pdf")
    Proposals(app.synt_db, app.clock).take_up(need, "a test")
    assert arena.enter(app, GOAL).proposals == (("count_headings_pdf", "weighed"),)


def test_words_find_a_class_and_what_nobody_did_is_said(app: App) -> None:
    use(app, NAME, True)
    assert arena.find(app, "Count_Headings") == [GOAL]
    assert arena.find(app, "how many titles") == [GOAL]
    with pytest.raises(UsageError):
        arena.find(app, "weather")


# -- the picture


def fighter(name: str, place: Place, value: float = 0.0, uses: int = 0) -> Fighter:
    return Fighter(name, "1.0.0", Origin.OWNER, place, value, uses, uses, 2 if value < 0 else 0, "")


def test_the_picture_has_an_arrow_for_everybody_who_was_used_and_loads_nothing() -> None:
    fighters = (
        fighter("count_headings", Place.FIT, 4.2, 5),
        fighter("count_words", Place.FIT, 1.0, 1),
        fighter("count_lines", Place.NEUTRAL),
        fighter("count_text", Place.UNFIT, -1.2, 2),
        fighter("count_files", Place.EXTINCT, -9.0, 9),
    )
    text = arena_plot.svg(Arena("count <headings> & more", fighters, (("count_pages", "direction"),)))
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    lines = root.findall(f"{space}line")
    assert [each.get("class") for each in lines] == ["fit", "fit", "unfit"]
    assert float(lines[0].get("stroke-width", 0)) > float(lines[1].get("stroke-width", 0))
    assert (lines[0].get("stroke-dasharray"), lines[2].get("stroke-dasharray")) == (None, "7 5")
    words = [each.text for each in root.iter(f"{space}text")]
    assert {"count <headings> & more", "count_pages", "proposal, direction", "fit: +4.20"} <= set(words)
    assert "fit: -1.20, 2 strikes" in words
    assert "href" not in text
    assert "<script" not in text


def test_the_picture_of_many_shows_the_first_and_counts_the_rest() -> None:
    text = arena_plot.svg(Arena("sort rows", tuple(fighter(f"sort_rows_{n}", Place.FIT, 1, 1) for n in range(40))))
    assert "and 26 more" in text
    assert text.count("<g>") == 14
    assert ElementTree.fromstring(arena_plot.svg(Arena("sort rows", ()))) is not None
