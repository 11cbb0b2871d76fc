from collections.abc import Sequence

import pytest

from support import ROOT, tool

environment = tool("environment")

NEEDS = {
    "alpha": ["beta[toml]>=1.0", "colour; sys_platform == 'nowhere'"],
    "beta": ["delta", "gamma>=2; extra == 'toml'", "epsilon; extra == 'other'"],
    "gamma": [],
    "delta": [],
}


def requires(name: str) -> Sequence[str]:
    return NEEDS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "dev"])
def test_each_lock_is_complete(name: str) -> None:
    assert environment.check(ROOT / "lock" / f"{name}.txt", ROOT) == []


@pytest.mark.slow
def test_the_environment_holds_nothing_that_is_not_locked() -> None:
    locked = environment.read_lock((ROOT / "lock" / "dev.txt").read_text(encoding="utf-8"))
    assert set(environment.installed_packages()) - set(locked) <= {*environment.KEPT, "metnos"}


def test_a_lock_is_read_for_this_machine() -> None:
    text = (
        "# a comment\nalpha==1.0 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n"
        "Beta_X==2.0 ; sys_platform == 'nowhere' \\\n    --hash=sha256:22\n"
        "Beta_X==3.0 ; sys_platform != 'nowhere' \\\n    --hash=sha256:22\n"
    )
    assert environment.read_lock(text) == {"alpha": "1.0", "beta-x": "3.0"}


def test_missing_and_other_versions_are_found() -> None:
    found = list(environment.find_differences({"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"}))
    assert found == ["b 1 is locked, 2 is installed", "c 1 is locked and not installed"]


@pytest.mark.parametrize(
    ("locked", "gaps"),
    [
        ({"alpha": "1", "beta": "1", "gamma": "2", "delta": "1"}, []),
        ({"alpha": "1", "beta": "1", "delta": "1"}, ['beta requires gamma>=2; extra == "toml", which is not locked']),
        (
            {"alpha": "1", "beta": "1", "gamma": "1", "delta": "1"},
            ['beta requires gamma>=2; extra == "toml", and 1 is locked'],
        ),
        ({"alpha": "1", "beta": "1", "gamma": "2"}, ["beta requires delta, which is not locked"]),
        ({"beta": "1", "delta": "1"}, ["the project requires alpha, which is not locked"]),
    ],
)
def test_requirements_are_followed_with_their_extras(locked: dict[str, str], gaps: list[str]) -> None:
    assert list(environment.find_gaps(["alpha"], locked, requires)) == gaps
