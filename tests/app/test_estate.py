"""What is gathered from the stores of a workspace at its end: secrets, private words, habits, counts."""

import pytest

from life.lived import SECRET, WORDS, live
from metnos.app import App, estate
from metnos.core.errors import UsageError
from metnos.grimoire.episode import Episode
from metnos.law.principal import at_terminal
from support import START


@pytest.fixture
def lived(equipped: App) -> App:
    return live(equipped)


class TestKnown:
    def test_the_keys_of_the_workspace_are_secrets_and_its_public_one_is_none(self, lived: App) -> None:
        found = estate.known(lived).secrets
        assert SECRET in found
        assert lived.seat.signer.public not in found
        pem = lived.workspace.secret_key.read_text(encoding="ascii").split()
        assert any(len(line) > 30 and line in found for line in pem)

    @pytest.mark.parametrize("form", ["find <files>", "count <files> in <folder>", "trova <files>"])
    def test_forms_of_the_houses_own_words_say_nothing_of_anybody(self, lived: App, form: str) -> None:
        assert estate.known(lived).all_common(form)

    @pytest.mark.parametrize("form", ["write to carla", "find the letters of the notary", "ravenna"])
    def test_other_words_do(self, lived: App, form: str) -> None:
        assert not estate.known(lived).all_common(form)


class TestPrivate:
    def test_everything_that_was_said_here(self, lived: App) -> None:
        (lived.workspace.root / "USER.md").write_text("I was born by the sea.", encoding="utf-8")
        (lived.workspace.notes / "one.md").write_text("The key is under the stone.", encoding="utf-8")
        found = list(estate.private(lived, frozenset()))
        assert {WORDS, "I was born by the sea.", "The key is under the stone."} <= set(found)

    def test_but_for_what_is_let_go_and_what_the_agent_saw_by_itself(self, lived: App) -> None:
        found = list(estate.private(lived, frozenset({"P0001"})))
        assert WORDS not in found
        assert "Sorting took ten minutes." not in found


class TestReleased:
    def test_episodes_and_facts(self, lived: App) -> None:
        episodes, chosen = estate.released(lived, ["P0001", "F0007"])
        assert [each.id for each in episodes] == ["P0001"]
        assert chosen == {"P0001", "F0007"}

    def test_no_more_than_a_successor_may_be_given(self, lived: App) -> None:
        many = [Episode(f"M{n}", START, f"number {n}", f"m{n}") for n in range(33)]
        lived.grimoire.episodes.add(many, None, None)
        with pytest.raises(UsageError, match="at most 32"):
            estate.released(lived, [each.id for each in many])


def test_a_life_is_counted(lived: App) -> None:
    found = estate.lived(lived, START)
    assert (found.episodes, found.facts, found.ticks, found.born) == (2, 11, 0, START)
    assert found.bytes_ > len(WORDS)


def test_habits_are_how_it_worked_and_never_what_it_may_do(lived: App) -> None:
    for name, value in (("turn.steps", "7"), ("policy.autonomy", "full"), ("web.port", "1234")):
        lived.set_setting(name, value, at_terminal())
    assert [each.setting for each in estate.habits(lived)] == ["turn.steps"]
