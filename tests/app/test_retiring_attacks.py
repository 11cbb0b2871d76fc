"""Retiring an agent when things are against it: clocks that were wrong, pipes, long lines, words in odd places."""

import os
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from life.lived import fact, left
from life.willed import a_signer, an_entry, of_generation, opened
from metnos.app import App, dying, inheriting, retired, retiring
from metnos.core.clock import MovableClock
from metnos.core.errors import TestamentError
from metnos.core.workspace import Workspace
from metnos.grimoire.episode import Episode
from metnos.grimoire.fact import Kind
from metnos.law.principal import at_terminal
from metnos.life import reflection
from metnos.life.cause import Cause
from metnos.life.testament import MOST_DEFAULTS, Category, Habit
from metnos.life.thanatopsis import Wishes
from metnos.synt import bundle
from synt.specimens import draft

NAME = "rossi_diagnosi"  # private, and short enough for everything


def test_words_of_the_owner_in_a_setting_stay_behind(lived: App, target: Path) -> None:
    lived.set_setting("mnestome.fading", f"{NAME}=0.01", at_terminal())
    lived.set_setting("turn.steps", "7", at_terminal())
    retiring.retire(lived, to=target)
    assert NAME not in target.read_text(encoding="utf-8")
    assert [each.setting for each in left(target).testament.habits] == ["turn.steps"]


def test_the_name_of_a_profile_of_the_owners_stays_behind(lived: App, target: Path) -> None:
    folder = lived.workspace.root / "profiles"
    folder.mkdir()
    (folder / f"{NAME}.toml").write_text('ticks = "turn"\npack = "home"\n', encoding="utf-8")
    lived.set_setting("life.profile", NAME, at_terminal())
    app = App.open(lived.workspace, lived.clock)
    app.__dict__["embedder"] = None
    retiring.retire(app, Cause.ECONOMIC, to=target)
    assert NAME not in target.read_text(encoding="utf-8")
    assert left(target).testament.profile == "own"


@pytest.mark.parametrize("days", [2, 4000])
def test_a_clock_that_was_ahead_leaves_what_an_heir_can_take(
    lived: App, target: Path, tmp_path: Path, clock: MovableClock, days: int
) -> None:
    """What was learnt while it was wrong is younger than the death by the time it is right again."""
    ahead = clock.now() + timedelta(days=days)
    learnt = fact(50, Kind.INSIGHT, "Small tables are fast to sort.")
    lived.grimoire.facts.put(replace(learnt, created=ahead, reinforced=ahead, applied=ahead))
    lived.grimoire.episodes.add([Episode("P0050", ahead, "Sorting took a moment.", "s50")], None, None)
    retiring.retire(lived, to=target, release=["P0050"])
    texts = [each.text for each in left(target).testament.entries]
    assert "Small tables are fast to sort." in texts
    heir = Workspace(tmp_path / "heir")
    found = inheriting.read(heir, target, clock=clock)[0]
    assert len(found.testament.episodes) == 1


@pytest.mark.parametrize(
    ("text", "tags"), [("   ", ()), ("Sorting took long.", ("", "x" * 400)), ("Sorting took long.", (" ",))]
)
def test_an_odd_episode_does_not_cost_all_the_rest(lived: App, target: Path, text: str, tags: tuple[str, ...]) -> None:
    lived.grimoire.episodes.add([Episode("P0051", lived.clock.now(), text, "s51", tags=tags)], None, None)
    retiring.retire(lived, to=target, release=["P0051"])
    assert len(left(target).testament.entries) == 7


def test_a_long_line_that_has_much_to_say_leaves_all_of_it(equipped: App, target: Path, tmp_path: Path) -> None:
    """As many ancestors, settings and words as there can be: the core still has room for them."""
    lines = reflection.fitted({each: [f"{'à' * 110} {number} {each}" for number in range(4)] for each in Category})
    names = [
        f"{'a' * 39}.{'b' * 36}_{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(MOST_DEFAULTS)
    ]
    habits = tuple(Habit(name, "c" * 40, 33) for name in names)
    signer = a_signer(tmp_path / "signer")
    lived = {"bytes": 2**53, "episodes": 2**53, "facts": 2**53, "mnests": 2**53}
    full = of_generation(32, reflection=lines, habits=habits, lived=lived, entries=(an_entry(0),), links=())
    made, _ = opened(full, signer)
    assert len(made.testament.entries) == 1


def test_executors_that_do_not_fit_cost_no_lesson_and_the_owner_is_told(
    lived: App, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the key was another one by the time it was put together: what was packed before is not its own."""
    packed = bundle.pack([draft()], a_signer(tmp_path / "earlier")).decode()
    monkeypatch.setattr(dying, "_executors", lambda _app, _death: {"bundle": packed, "kept_back": {}})
    done = retiring.retire(lived, to=target)
    assert len(left(target).testament.entries) == 7
    assert left(target).executors is None
    assert (
        done.death.done["compose"]["left_out"]
        == "the executors of the testament were signed by somebody else than the testament"
    )


def test_a_pipe_in_its_way_does_not_hold_it(lived: App, target: Path) -> None:
    retired.thanatopsis(lived).accept(Cause.OWNER, Wishes(str(target)))
    os.mkfifo(target)
    said: list[str] = []

    def retire() -> None:
        try:
            retiring.retire(lived)
        except TestamentError as error:
            said.append(f"{error.what} {error.fix}")

    thread = threading.Thread(target=retire, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert "--resume --to" in said[0]


def test_a_file_without_end_in_its_way(lived: App, target: Path) -> None:
    retired.thanatopsis(lived).accept(Cause.OWNER, Wishes(str(target)))
    target.symlink_to("/dev/zero")
    with pytest.raises(TestamentError, match="is there already") as told:
        retiring.retire(lived)
    assert "--resume --to" in told.value.fix


@pytest.mark.parametrize("number", [10**400, 1.7e308])
def test_no_number_that_was_inherited_keeps_an_heir_from_dying(
    equipped: App, target: Path, tmp_path: Path, number: float
) -> None:
    """Taken in before such a number was refused at the door."""
    equipped.__dict__["embedder"] = None
    data = {"metric": "size", "mean": number, "stddev": 1}
    equipped.grimoire.facts.put(fact(60, Kind.BASELINE, '"files": size is usually about 3.', data=data))
    equipped.grimoire.facts.put(fact(61, Kind.INSIGHT, "Large tables are slow to sort."))
    assert retiring.retire(equipped, to=target).death.failed == {}
    assert [each.text for each in left(target).testament.entries] == ["Large tables are slow to sort."]
