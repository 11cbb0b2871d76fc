"""A yes that was given for one thing, brought again for another: it counts for what was shown, once."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metnos.app import App
from metnos.core.errors import ExecutorError, LawError, Waiting
from metnos.executors.run import Call
from turn.turning import OWNER


def asked(app: App, call: Call) -> str:
    """The question that this call raises."""
    with pytest.raises(Waiting) as caught:
        app.runner.run(call)
    return caught.value.item


@pytest.mark.slow
def test_a_yes_is_good_for_these_arguments_this_folder_and_this_executor_once(equipped: App, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("one.txt", "two.txt", "keep.txt"):
        (home / name).write_text(name)
    first = Call("move_files", {"paths": [f"{home}/one.txt"], "to": f"{home}/new.txt"}, OWNER, home)
    item = asked(equipped, first)
    equipped.inbox.approve(item, OWNER)
    others: list[dict[str, Any]] = [
        {"args": {"paths": [f"{home}/two.txt"], "to": f"{home}/new.txt"}},
        {"args": {"paths": [f"{home}/one.txt"], "to": f"{home}/keep.txt"}},
        {"args": {"paths": [f"{home}/one.txt", f"{home}/two.txt"], "to": home.as_posix()}},
        {"args": {**first.args, "keep_both": True}},
        {"name": "copy_files"},
    ]
    for change in others:
        again = replace(first, **change, resumes=item)
        with pytest.raises((Waiting, LawError, ExecutorError)) as caught:
            equipped.runner.run(again)
        assert getattr(caught.value, "item", "") != item
        assert sorted(path.name for path in home.iterdir() if path.is_file()) == ["keep.txt", "one.txt", "two.txt"]
        assert (home / "keep.txt").read_text() == "keep.txt"
    assert equipped.runner.run(replace(first, resumes=item)).ok
    (home / "new.txt").rename(home / "one.txt")
    with pytest.raises(LawError):
        equipped.runner.run(replace(first, resumes=item))
    assert (home / "one.txt").exists()
