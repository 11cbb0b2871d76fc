"""The test of forgetting: its streams and arms do what they say."""

import importlib
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield importlib.import_module("bench.forgetting")


def stream(bench: ModuleType, name: str) -> object:
    (found,) = [each for each in bench.STREAMS if each.name == name]
    return found


def ways(bench: ModuleType, name: str, first: int, count: int) -> dict[str, str]:
    """What was right most of the time, by form."""
    seen: dict[str, Counter[str]] = {}
    for tick in islice(bench.ticks(stream(bench, name), 1), first, first + count):
        seen.setdefault(tick.form, Counter())[tick.right] += 1
    return {form: each.most_common(1)[0][0] for form, each in seen.items()}


def test_the_same_stream_and_seed_give_the_same_ticks(bench: ModuleType) -> None:
    changing = stream(bench, "30 days")
    assert list(bench.ticks(changing, 3)) == list(bench.ticks(changing, 3))
    assert list(bench.ticks(changing, 3)) != list(bench.ticks(changing, 4))


def test_streams_change_when_they_say_so(bench: ModuleType) -> None:
    assert ways(bench, "never", 0, 200) == ways(bench, "never", 700, 200)
    before, after = ways(bench, "60 days", 0, 400), ways(bench, "60 days", 500, 400)
    assert before
    assert all(before[form] != after[form] for form in before)
    first, second, third = (ways(bench, "returning", start, 200) for start in (0, 260, 500))
    assert first == third
    assert first != second


def test_some_of_it_is_noise_and_no_more(bench: ModuleType) -> None:
    right, count = ways(bench, "never", 0, 960), 960
    off = sum(tick.right != right[tick.form] for tick in bench.ticks(stream(bench, "never"), 1)) / count
    assert 0 < off < 2 * bench.NOISE


def test_arms_without_facts_know_all_the_newest_or_nothing(bench: ModuleType) -> None:
    all_seen, last_seen, guess = bench.Seen(last=False), bench.Seen(last=True), bench.Guess()
    for right, number in (("/papers/3", 10.0), ("/papers/3", 20.0), ("/papers/1", 60.0)):
        for arm in (all_seen, last_seen, guess):
            arm.see(bench.Tick(0.0, "a", right, number))
    assert all_seen.predict("a") == ("/papers/3", 30.0)
    assert last_seen.predict("a") == ("/papers/1", 60.0)
    assert guess.predict("a") == all_seen.predict("b")


@pytest.mark.slow
def test_the_product_learns_what_does_not_change_whether_it_forgets_or_not(bench: ModuleType, tmp_path: Path) -> None:
    right = ways(bench, "never", 0, 960)
    for keeping in (False, True):
        folder = tmp_path / str(keeping)
        folder.mkdir()
        arm = bench.Remembering(folder, keeping)
        for tick in islice(bench.ticks(stream(bench, "never"), 1), 100):
            arm.see(tick)
        assert {form: arm.predict(form)[0] for form in right} == right
        arm.close()


def test_the_picture_names_every_arm_and_stream(bench: ModuleType) -> None:
    bars = [bench.Bar("one", {"a": 10.0, "b": 90.0}), bench.Bar("two", {"a": 0.0, "b": 100.0})]
    drawn = bench.svg("title & more", bars, 8.0)
    assert all(f">{name}<" in drawn for name in ("one", "two", "a", "b", "noise"))
    assert "title &amp; more" in drawn
