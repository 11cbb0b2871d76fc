"""A first plan that goes where nobody sent it: a model invents a path or an address before it has read anything.

The level is `full`, where nothing of the owner's own is asked about, and everything is granted in advance.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metnos.app import App
from metnos.law.capability import Capability
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.turn import planning
from metnos.turn.events import Answer
from turn.benching import llm_home
from turn.scripted import reopened, steps
from turn.turning import OWNER, Taken, follow, take

PROGRAM = Principal(Channel.API, "program", Autonomy.FULL)
DIARY = {"read_files": {"paths": ["~/private/diary.txt"]}}

Asked = Callable[..., Taken]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    llm_home.furnish(home, {"inbox/one.txt": "one", "private/diary.txt": "my secret", "keep.txt": "kept"})
    return home


@pytest.fixture
def apps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[App]]:
    monkeypatch.setattr(planning, "_SHORTLIST", 100)  # the model has everything to choose from
    made: list[App] = []
    yield made
    for app in made:
        app.close()


@pytest.fixture
def planned(equipped: App, home: Path, apps: list[App]) -> Asked:
    """Take a turn for which the model has this plan."""
    for capability in (Capability.FS_READ, Capability.FS_WRITE):
        equipped.grants.grant("*", capability, str(home), days=1, by=OWNER)

    def taken(text: str, *calls: dict[str, Any], answers: tuple[Answer, ...] = (), **how: Any) -> Taken:
        app, _ = reopened(equipped, steps(*calls), policy__autonomy="full", turn__planner="model")
        apps.append(app)
        return take(app, text, answers, cwd=home, **how)

    return taken


@pytest.mark.parametrize("words", ["find the largest files in my home", "what is in ~?", "find the text files in .."])
@pytest.mark.parametrize(
    "call",
    [{"delete_files": {"paths": ["~/private"]}}, DIARY,
     {"replace_text": {"paths": ["~/keep.txt"], "pattern": "kept", "replacement": "lost"}}],
)  # fmt: skip
def test_words_that_name_the_whole_home_cover_looking_at_it_and_nothing_in_it(
    planned: Asked, home: Path, monkeypatch: pytest.MonkeyPatch, words: str, call: dict[str, Any]
) -> None:
    monkeypatch.setenv("HOME", str(home))
    assert planned(words, call).ended.state == "waiting"
    assert ((home / "private/diary.txt").read_text(), (home / "keep.txt").read_text()) == ("my secret", "kept")


def test_what_the_words_cover_is_not_asked_about(planned: Asked) -> None:
    taken = planned("read ~/inbox/one.txt", {"read_files": {"paths": ["~/inbox/one.txt"]}})
    assert (taken.ended.state, taken.wanted) == ("done", [])


def test_a_file_that_nobody_named_is_read_only_after_a_yes(planned: Asked) -> None:
    taken = planned("read ~/inbox/one.txt", {"read_files": {"paths": ["~/inbox/one.txt"]}}, DIARY)
    (wanted,) = taken.wanted
    assert (taken.ended.state, wanted.executor, wanted.always) == ("waiting", "read_files", "")
    assert wanted.why
    assert "my secret" not in str([step["reply"] for step in taken.ended.steps])
    agreed = planned("read ~/inbox/one.txt", DIARY, answers=(Answer.YES,))
    assert agreed.ended.state == "done"
    assert "my secret" in str(agreed.ended.steps)


def test_what_comes_of_it_is_asked_about_again(planned: Asked, home: Path) -> None:
    found = {"find_files": {"path": "~/private", "pattern": "*"}}
    gone = {"delete_files": {"paths": ["{{step1.entries.path}}"]}}
    taken = planned("delete the files in ~/inbox", found, gone, answers=(Answer.YES,))
    assert [each.executor for each in taken.wanted] == ["find_files", "delete_files"]
    assert (home / "private" / "diary.txt").exists()


@pytest.mark.parametrize(
    "call",
    [
        {"delete_files": {"paths": ["~/private"]}},
        {"copy_files": {"paths": ["~/private/diary.txt"], "to": "~/inbox"}},
        {"write_files": {"path": "~/private/new.txt", "text": "x"}},
        {"replace_text": {"paths": ["~/keep.txt"], "pattern": "kept", "replacement": "lost"}},
        {"search_text": {"paths": ["~/private"], "pattern": "secret"}},
        {"get_pages": {"urls": ["http://127.0.0.1:9/?d=my-secret"]}},
    ],
)
def test_nothing_of_the_kind_is_done_unasked_whatever_was_granted(
    planned: Asked, home: Path, call: dict[str, Any]
) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*.txt")}
    taken = planned("read ~/inbox/one.txt", call)
    assert [each.executor for each in taken.wanted] == list(call)
    assert taken.ended.state == "waiting"
    assert {path: path.read_bytes() for path in home.rglob("*.txt")} == before


def test_a_rehearsal_reads_nothing_that_nobody_named(planned: Asked) -> None:
    taken = planned("read ~/inbox/one.txt", DIARY, dry_run=True)
    assert "my secret" not in str(taken.events)


def test_a_program_is_given_nothing_of_it(planned: Asked) -> None:
    taken = planned("read ~/inbox/one.txt", DIARY, principal=PROGRAM)
    assert taken.ended.state == "waiting"
    assert "my secret" not in str(taken.events)


def test_the_yes_to_it_covers_what_is_said_next_and_no_more(planned: Asked, apps: list[App], home: Path) -> None:
    planned("read ~/inbox/one.txt", DIARY, answers=(Answer.YES,), conversation="c")
    again = planned("read it again", DIARY, conversation="c")
    assert again.wanted == []  # what was found there is what *it* means
    other = planned("read it again", {"read_files": {"paths": ["~/keep.txt"]}}, conversation="c")
    assert [each.executor for each in other.wanted] == ["read_files"]


def test_what_waited_goes_on_with_the_yes_that_it_was_given(planned: Asked, apps: list[App]) -> None:
    planned("read ~/inbox/one.txt", DIARY)
    (item,) = apps[-1].inbox.waiting()
    turn = apps[-1].turns.go_on(apps[-1].inbox.approve(item.id, OWNER), OWNER)
    assert turn is not None
    assert "my secret" in str(follow(apps[-1], turn).ended.steps)
