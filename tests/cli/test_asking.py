"""Asking the owner: what counts as a yes, what is shown, and that nothing waits forever."""

import os
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.scripted import HOSTILE, ITEM, wanted
from cli.terminal import Desk, plain
from metnos.cli import asking
from metnos.cli.asking import ask
from metnos.turn.events import BIRTH, OFFER, Answer, Wanted


def answer(
    monkeypatch: pytest.MonkeyPatch, question: Wanted, *typed: str, seconds: float = 20.0, columns: int = 80
) -> tuple[Answer, str]:
    """What is understood, and what was shown."""
    desk = Desk(monkeypatch, *typed, columns=columns)
    found = ask(question, seconds)
    return found, desk.leave()


@pytest.mark.parametrize(
    ("typed", "found"),
    [("y", Answer.YES), ("YES", Answer.YES), (" yes ", Answer.YES), ("n", Answer.NO), ("No", Answer.NO),
     ("later", Answer.LATER)],
)  # fmt: skip
def test_what_an_answer_is(monkeypatch: pytest.MonkeyPatch, typed: str, found: Answer) -> None:
    assert answer(monkeypatch, wanted(), f"{typed}\n")[0] is found


def test_anything_else_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen = answer(monkeypatch, wanted(), "\n", "yep\n", "always\n", "n\n")
    assert found is Answer.NO
    assert seen.count("Do this? [y/n/why]: ") == 4
    assert seen.count("Nothing happens without your yes") == 3


@given(st.text(max_size=12))
def test_only_a_yes_is_a_yes(typed: str) -> None:
    normal = typed.strip().lower()
    found = asking._understand(wanted(always="all of it"), normal)
    assert (found is Answer.YES) == (normal in ("y", "yes"))
    assert (found is Answer.ALWAYS) == (normal == "always")
    second = asking._understand(wanted(yes=1, needs=2, always="all of it"), normal)
    assert (second is Answer.YES) == (normal == "yes")
    assert second is not Answer.ALWAYS


def test_an_italian_request_is_asked_about_in_italian(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen = answer(monkeypatch, wanted(language="it"), "boh\n", "sì\n")
    assert found is Answer.YES
    assert seen.count("Lo faccio? [s/n/perché]: ") == 2
    assert "Senza il tuo sì non succede niente" in seen
    assert "  dopo    lascia la domanda nella posta" in seen
    for typed in ("s", "si", "SÌ", "yes"):
        assert answer(monkeypatch, wanted(language="it"), f"{typed}\n")[0] is Answer.YES
    second = wanted(yes=1, needs=2, language="it")
    found, seen = answer(monkeypatch, second, "s\n", "sì\n")
    assert found is Answer.YES
    assert seen.count("Non si può annullare. Lo faccio lo stesso? [sì/n/perché]: ") == 2
    assert answer(monkeypatch, wanted(language="fr"), "si\n", "n\n")[0] is Answer.NO, "what is no answer in English"


def test_a_second_yes_is_typed_anew_and_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen = answer(monkeypatch, wanted("move a", yes=1, needs=2), "y\n", "yes\n")
    assert found is Answer.YES
    assert "Yes 1 of 2" in seen
    assert seen.count("This cannot be taken back. Do it all the same? [yes/n/why]: ") == 2


def test_what_was_typed_before_the_question_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(monkeypatch, "n\n")
    os.write(desk._master, b"y\ny\n")
    assert ask(wanted(), 20.0) is Answer.NO
    desk.leave()


def test_always_says_exactly_what_it_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen = answer(monkeypatch, wanted(always="move_files may change what is in /box"), "always\n")
    assert found is Answer.ALWAYS
    assert "If you say always: move_files may change what is in /box" in seen
    assert "[y/n/always/why]" in seen


def test_why_shows_the_rules_and_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen = answer(monkeypatch, wanted(), "why\n", "y\n")
    assert found is Answer.YES
    assert "  level   ask twice  at the level supervised, Metnos must ask" in plain(seen)
    assert seen.count("Do this?") == 2


def test_no_answer_in_time_leaves_it_in_the_inbox(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen = answer(monkeypatch, wanted(), seconds=0.2)
    assert found is Answer.LATER
    assert "the question waits in the inbox" in seen


def test_so_does_the_end_of_input(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer(monkeypatch, wanted(), "\x04")[0] is Answer.LATER


def test_where_nobody_can_answer_nobody_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(wanted("move a"), 20.0) is Answer.LATER
    assert capsys.readouterr() == ("", "")


def test_no_standard_input_at_all_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert not asking.can_answer()


def test_it_says_what_happens_how_it_is_taken_back_and_until_when(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = plain(answer(monkeypatch, wanted("move a to b"), "n\n")[1])
    assert seen.startswith("move_files: Move files.\n  move a to b\nIt moves things; undo moves them back.\n")
    assert "Unanswered for 20.0 s, it waits in the inbox until 2026-11-17 " in seen
    odd = plain(answer(monkeypatch, wanted(expires="soon"), "n\n")[1])
    assert "until soon." in odd
    assert ITEM not in odd


def test_differences_have_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ("overwrite a.txt", "  --- a.txt", "  +++ a.txt", "  @@ -1 +1 @@", "  -old", "  +new", "  same")
    seen = answer(monkeypatch, wanted(*lines), "n\n")[1]
    assert "\x1b[31m    -old\x1b[0m" in seen
    assert "\x1b[32m    +new\x1b[0m" in seen
    assert "\x1b[1m    --- a.txt\x1b[0m" in seen
    assert "\n    same" in plain(seen)
    assert "m    same" not in seen


def test_a_long_preview_is_bounded_and_all_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"move {number}" for number in range(352)]
    seen = plain(answer(monkeypatch, wanted(*lines), "all\n", "n\n")[1])
    before, _, after = seen.partition("Do this?")
    assert "  move 39\n  … 312 more lines; type all to see everything\n" in before
    assert "move 40" not in before
    assert "  move 351\n" in after


def test_a_long_line_is_cut_and_says_how_much_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "x" * 1500 + "END"
    seen = plain(answer(monkeypatch, wanted(line), "all\n", "n\n")[1])
    before, _, after = seen.partition("Do this?")
    assert "x… (1,103 more characters)" in before
    assert "type all to see everything" in before
    assert "END" in after


def test_nothing_in_it_reaches_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = f"{HOSTILE}\nDo this? [y/n/why]: y"
    question = wanted(fake, title=fake, reversal=fake, always=fake, expires=fake)
    seen = answer(monkeypatch, question, "why\n", "all\n", "n\n")[1]
    assert not any(char in plain(seen) for char in "\x1b\x07\x9b\u202e")
    assert not any(code in seen for code in ("\x1b[2J", "\x1b]"))
    assert not any(line.startswith("Do this? [y/n/why]: ") for line in plain(seen).splitlines())


def test_a_narrow_terminal_gets_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = plain(answer(monkeypatch, wanted(always="move_files may change what is in /box"), "n\n", columns=30)[1])
    assert "If you say always:\n  move_files may change what\n  is in /box\n" in seen


def offer(**changed: str) -> Wanted:
    return replace(wanted("It takes some minutes.", about=OFFER, item="", reversal="", expires="", **changed), why=())


def test_an_offer_says_what_a_yes_would_do_and_that_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    found, seen = answer(monkeypatch, offer(), "what\n", "why\n", "always\n", "y\n")
    assert found is Answer.YES
    assert seen.count("Make it? [y/n]: ") == 4
    assert "Unanswered for 20.0 s, nothing is made." in seen
    assert "make it, and ask me again before it runs" in seen
    assert "inbox" not in seen
    found, seen = answer(monkeypatch, offer(), seconds=0.01)
    assert found is Answer.LATER
    assert "No answer: nothing is made." in seen
    assert "Lo faccio? [s/n]: " in answer(monkeypatch, offer(language="it"), "n\n")[1]


def test_whether_an_executor_may_live_is_asked_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    question = replace(wanted("  @@ executor.py", "def run():", about=BIRTH), why=(("mutation", "passed", ""),))
    found, seen = answer(monkeypatch, question, "hm\n", "why\n", "later\n")
    assert found is Answer.LATER
    assert seen.count("Let it live? [y/n/why]: ") == 3
    assert "sign it and use it, now and from now on" in seen
    assert "mutation  passed" in plain(seen)
    assert "it waits in the inbox until" in seen


def test_nobody_there_is_no_yes_to_an_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "can_answer", lambda: False)
    assert ask(offer(), 20.0) is Answer.LATER
