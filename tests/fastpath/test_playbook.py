from unittest.mock import Mock

import pytest

from fastpath.pathing import START, hear, pass_times
from metnos.fastpath import playbook
from metnos.fastpath.log import Log
from metnos.fastpath.playbook import Changed, changed, concerns, keep, review, rules_of
from metnos.fastpath.records import FastPath, Form, State

TEXT = """# Playbook

Ask before anything
large is moved.

<!-- - not a rule -->
- Prefer PDF over docx.
- Sort lists
  by date.
1. Never touch ~/private.
"""
RULES = [
    "Ask before anything large is moved.",
    "Prefer PDF over docx.",
    "Sort lists by date.",
    "Never touch ~/private.",
]


def active(log: Log, **other: object) -> str:
    key = pass_times(log, 1, str(other), **other)
    log.move(key, State.ACTIVE, "sure", START)
    return key


def test_rules_are_points_and_paragraphs() -> None:
    assert rules_of(TEXT) == RULES
    assert rules_of("") == rules_of("# only a heading\n<!-- never closed") == []
    assert rules_of("- twice\n- twice") == ["twice"]


def test_the_first_sight_changes_nothing_not_even_of_an_empty_file(log: Log) -> None:
    assert changed(log.db, TEXT) == Changed()
    keep(log.db, "")
    assert changed(log.db, "") == Changed()
    assert changed(log.db, "- one") == Changed(added=("one",))


def test_what_came_and_what_went(log: Log) -> None:
    keep(log.db, "- one\n- two")
    assert changed(log.db, "- two\n- three") == Changed(("three",), ("one",))
    assert changed(log.db, "* two\n\n* one") == Changed()  # another order is no change


def test_a_rule_concerns_a_path_by_name_or_by_two_words() -> None:
    path = FastPath("p", (), (), State.ACTIVE)
    forms = [Form("p", hear("find the PDFs in ~/x about the holiday trip").form, "")]
    assert concerns("Holidays are trips.", path, forms)
    assert not concerns("Holidays are expensive.", path, forms)
    assert not concerns("in the of a", path, forms)


def test_a_rule_concerns_the_executors_that_it_names(log: Log) -> None:
    key = active(log)
    path = log.path(key)
    assert path is not None
    assert concerns("Use list_folders only at home.", path, [])
    assert not concerns("Use list_folders_deep only at home.", path, [])


def test_what_a_new_rule_concerns_goes_back_to_shadow(log: Log, log2: Log) -> None:
    mine, other = active(log), active(log, text="hash ~/x", plan=({"path": "~/x"},), tools=("hash_files",))
    assert review(log.db, (log, log2), "- one", START) == []
    assert review(log.db, (log, log2), "- one\n- list_folders " + "x" * 900, START) == [mine]
    found, untouched = log.path(mine), log.path(other)
    assert found is not None
    assert untouched is not None
    assert (found.state, untouched.state) == (State.SHADOW, State.ACTIVE)
    assert found.reason.startswith("PLAYBOOK.md now says: 'list_folders xxx")
    assert len(found.reason) < 300
    assert review(log.db, (log, log2), "- one\n- list_folders " + "x" * 900, START) == []


def test_a_rule_that_went_away_counts_too(log: Log) -> None:
    key = active(log)
    keep(log.db, "- use list_folders gently")
    assert review(log.db, (log,), "", START) == [key]
    path = log.path(key)
    assert path is not None
    assert "no longer says" in path.reason


def test_a_crash_before_the_rules_are_kept_moves_them_again(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    first = active(log)
    keep(log.db, "")
    with monkeypatch.context() as patch:
        patch.setattr(playbook, "keep", Mock(side_effect=RuntimeError))
        with pytest.raises(RuntimeError):
            review(log.db, (log,), "- list_folders", START)
    log.move(first, State.ACTIVE, "sure", START)
    assert review(log.db, (log,), "- list_folders", START) == [first]
