"""The double itself: a turn over HTTP, with a question in the middle of it."""

from pathlib import Path

from api.http.served import Client


def test_a_turn_is_followed_and_its_question_answered(page: Client) -> None:
    asked = []

    def yes(wanted: dict) -> str:
        asked.append(wanted["executor"])
        return "yes"

    last = page.ask("create a folder called garden", yes)
    assert (last["event"], last["state"]) == ("Answered", "done"), last
    assert asked == ["make_folders"]
    assert (Path.home() / "garden").is_dir()


def test_a_program_asks_too(page: Client) -> None:
    assert page.program().ask("what time is it")["state"] == "done"
