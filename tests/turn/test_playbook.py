from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire.episode import Provenance
from metnos.turn.playbook import rules_of, written_for

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
LINE = 'For requests of the form "copy the {kind}": copy_files with to "/srv/copies", not copy_files with to "/tmp".'


def test_a_line_that_reads_like_a_learnt_one_steers_like_it() -> None:
    (rule,) = rules_of(f"# Playbook\n\n## By hand\n\n- {LINE}\n- Be kind.\n", (), NOW)
    assert rule.data["prefer"] == {"executor": "copy_files", "args": {"to": "/srv/copies"}}
    assert rule.data["instead_of"] == {"executor": "copy_files", "args": {"to": "/tmp"}}
    assert (rule.provenance, rule.confidence) == (Provenance.OWNER, 1.0)


def test_what_metnos_wrote_itself_is_left_to_the_fact_behind_it() -> None:
    assert rules_of(f"- {LINE}\n", {LINE}, NOW) == []


def test_a_rule_is_about_one_form_of_request() -> None:
    rules = rules_of(LINE, (), NOW)
    assert written_for(rules, "move the {kind}") == []
    (about,) = written_for(rules, "copy  the {kind}")
    assert about.data["when"] == {"canonical": "copy the {kind}"}


@pytest.mark.parametrize(
    ("words", "value"), [("true", True), ("3", 3), ("0.5", 0.5), ("x", "x"), ("[1]", "[1]"), ("null", "null"), ("", "")]
)
def test_numbers_and_truth_values_are_read_as_such(words: str, value: object) -> None:
    (rule,) = rules_of(f'For requests of the form "x": find_files with recursive "{words}"', (), NOW)
    assert rule.data["prefer"]["args"] == {"recursive": value}


def test_several_arguments_and_another_executor() -> None:
    (rule,) = rules_of(
        'For requests of the form "x": list_files with path "/a, b", sort "size", not find_files.', (), NOW
    )
    assert rule.data["prefer"] == {"executor": "list_files", "args": {"path": "/a, b", "sort": "size"}}
    assert rule.data["instead_of"] == {"executor": "find_files", "args": {}}


def test_a_rule_may_be_about_some_particulars_only() -> None:
    line = 'For requests of the form "find <files>" where files "*.pdf": find_files with path "/a".'
    (rule,) = written_for(rules_of(line, (), NOW), "find <files>")
    assert rule.data["when"] == {"canonical": "find <files>", "slots": {"files": "*.pdf"}}


def test_a_list_of_texts_is_read_as_metnos_writes_it() -> None:
    (rule,) = rules_of("""For requests of the form "x": find_duplicates with paths "['/a']".""", (), NOW)
    assert rule.data["prefer"]["args"] == {"paths": ["/a"]}


@given(st.text())
def test_any_other_text_does_nothing_and_breaks_nothing(text: str) -> None:
    assert rules_of(text, (), NOW) == []
