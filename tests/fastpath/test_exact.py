"""Answers to requests in a form that was seen before: a sample of `bench.fastpath_exact`, and what it taught."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from fastpath.pathing import hear
from fastpath.reading import NOW, slots
from metnos.fastpath.heard import Heard, firm
from metnos.fastpath.rules import FACTORY, Rules, upper
from suite import Repeat
from tables import try_each

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("bench.fastpath_exact")


@pytest.mark.slow
@pytest.mark.repeated
def test_no_answer_of_a_sample_differs_from_what_the_router_plans(bench: ModuleType, repeat: Repeat) -> None:
    texts = bench.requests()
    parts = repeat("seventieths of the requests, varied", suite=1, soak=20)
    chosen = [at for part in parts for at in range(part, len(texts), 70)]
    tally = bench.judge(bench.World(), bench.Variants(texts, bench.TUNED_WITH), chosen)
    assert [(each.case.heard.text, each.given) for each in tally.wrong] == []
    assert len(tally.hits) >= 7


@try_each(
    ("one", "other"),
    [
        ("cancel reminders 2 and 14", "cancel reminders 2 and twelve"),
        ("cancel reminder 14", "cancel reminder 12.5"),
        ("convert 2.5 kg to pounds", "convert 1.250 kg to pounds"),
        ("convert 2.5 kg to pounds", "convert 2,5 kg to pounds"),
        ("resize a.jpg to 80 pixels", "resize a.jpg to 8 pixels"),
        ("what date is it in 20 days", "what date is it in 20 minutes"),
        ("what date is it in 20 days", "what date is it in 3 months"),
        ("il più grande in ~/inbox", "i più grandi in ~/inbox"),
        ("zip ~/a into ~/a.zip", "zip ~/a into ~/a.ZIP"),
        ("copy a.txt to ~/b", "copy a.txt to /media/stick"),
        ("zip my thesis folder", "zip my Downloads folder"),
        ("convert a.png to jpeg", "convert a.png to jpeg files"),
    ],
)
def test_what_planners_take_otherwise_is_another_form_but_may_mean_the_same(one: str, other: str) -> None:
    assert hear(one).form != hear(other).form
    assert firm(hear(one).form) == firm(hear(other).form)


def test_a_place_that_is_not_there_makes_another_form_and_is_kept_so() -> None:
    text = "copy a.txt to ~/b"
    there = Heard.of(text, slots(text), NOW, lambda place: True)
    gone = Heard.of(text, slots(text), NOW, lambda place: place != "~/b")
    assert there.form == hear(text).form == "cop <name.text> to <path>"
    assert gone.form == "cop <name.text> to <path.-gone>"
    assert firm(gone.form) == there.form
    for heard in (there, gone):
        assert Heard.from_data(text, heard.data(), NOW) == heard


def test_a_request_that_was_kept_before_places_were_looked_at_is_understood() -> None:
    heard = hear("copy a.txt to ~/b")
    old = [{name: value for name, value in each.items() if name != "gone"} for each in heard.data()]
    assert Heard.from_data(heard.text, old, NOW) == heard


def test_what_was_measured_before_delivery_is_said_for_what_it_is() -> None:
    assert 0 <= FACTORY.wrong <= FACTORY.count
    assert upper(FACTORY.wrong, FACTORY.count, Rules().confidence) <= Rules().delta


def test_a_file_without_an_ending_is_not_of_the_form_of_a_folder() -> None:
    assert hear("find the biggest file in ~/work").form == "find <order> fil in <path>"
    assert hear("find the biggest file in ~/.bashrc").form == "find <order> fil in <path.text>"


def test_a_folder_that_every_home_has_is_not_of_the_form_of_a_file_without_an_ending() -> None:
    assert hear("read ~/Downloads").form != hear("read ~/todo").form


def test_an_hour_of_today_that_is_past_is_not_of_the_form_of_one_to_come() -> None:
    assert f"{NOW:%H:%M}" > "00:01"
    past, coming = (hear(f"remind me today at {hour} to pay the rent").form for hour in ("0:01", "23:59"))
    assert past != coming
    past, coming = (hear(f"remind me at {hour} to pay the rent").form for hour in ("0:01", "23:59"))
    assert past == coming


def test_files_of_several_kinds_are_not_of_the_form_of_one_of_them() -> None:
    assert hear("find the documents in ~/a and read them").form == "find <files.mixed> in <path> and read them"
    assert hear("find the pdfs in ~/a and read them").form != hear("find the documents in ~/a and read them").form


def test_a_greeting_is_dropped_only_where_it_greets() -> None:
    assert hear("hello Metnos, rename a.txt to b.txt").form == hear("rename a.txt to b.txt").form
    assert hear("rename a.txt to hello b.txt").form != hear("rename a.txt to b.txt").form
