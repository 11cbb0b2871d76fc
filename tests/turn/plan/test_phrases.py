"""The router's own words: both languages, one question for one thing."""

import string
import tomllib
from importlib import resources

import pytest

from metnos.turn.plan import phrases
from turn.plan.asking import tools

DATA = tomllib.loads(resources.files("metnos.turn.plan").joinpath("phrases.toml").read_text(encoding="utf-8"))


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("section", ["questions", "notes", "says"])
def test_everything_is_said_in_both_languages_with_the_same_blanks(section: str) -> None:
    for words in DATA[section].values():
        assert set(words) == {"en", "it"}
        assert fields(words["en"]) == fields(words["it"])


def test_questions_are_about_arguments_that_exist() -> None:
    for name in DATA["questions"]:
        executor, _, argument = name.rpartition(".")
        assert not executor or argument in tools()[executor].properties, name


def test_every_required_argument_can_be_asked_for() -> None:
    for tool in tools().values():
        for argument in tool.required:
            for language in ("en", "it"):
                assert phrases.question(f"{tool.name}.{argument}", tool, language)


def test_an_argument_nobody_thought_of_is_asked_for_by_its_description() -> None:
    said = phrases.question("show_time.until", tools()["show_time"], "en")
    assert "until" in said
    assert "A moment to measure the time to" in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("undo", "metnos undo"),
        ("Undo the last change!", "metnos undo"),
        ("annulla", "Per annullare"),
        ("forget my car's plate", "metnos memory forget"),
        ("dimentica il wifi di casa", "Per togliere"),
        ("bye", "/quit"),
    ],
)
def test_what_another_command_does_is_said(text: str, says: str) -> None:
    talked = phrases.talk(text, 50)
    assert talked is not None
    assert says in talked[0]


@pytest.mark.parametrize("text", ["undo the zip in ~/a.zip", "forgetful.txt", "don't forget the milk", "exit codes"])
def test_what_only_begins_like_it_is_none(text: str) -> None:
    assert phrases.talk(text, 50) is None
