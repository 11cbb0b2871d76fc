"""Buttons: bound to one question, one sender, one message and one answer."""

import threading

from metnos.api.telegram.questions import Pressed, Question, Questions


def opened(questions: Questions, sender: str = "tg:7", about: str = "01X 0") -> Question:
    question = questions.ask(sender, about, ("yes", "no"))
    questions.shown(question, 5)
    return question


def test_a_press_is_heard_once() -> None:
    questions = Questions()
    question = opened(questions)
    carried = questions.carried(question, "yes")
    assert len(carried.encode()) <= 64
    assert questions.press("tg:7", 5, carried) is Pressed.TAKEN
    assert questions.press("tg:7", 5, questions.carried(question, "no")) is Pressed.OVER
    assert questions.wait(question, 0) == "yes"


def test_the_same_number_and_answer_in_another_process_carry_something_else() -> None:
    one, other = Questions(), Questions()
    carried = one.carried(opened(one), "yes")
    assert carried.startswith("1.yes.")
    question = opened(other)
    assert other.press("tg:7", 5, carried) is Pressed.OVER
    assert other.wait(question, 0) == ""


def test_what_a_button_carries_depends_on_all_that_it_is_about() -> None:
    questions = Questions()
    question = opened(questions)
    made = {questions.carried(question, code)[-24:] for code in ("yes", "no")}
    for sender, about in (("tg:8", "01X 0"), ("tg:7", "01Y 0"), ("tg:7", "01X 1")):
        made.add(questions.carried(Question(question.number, sender, about, ()), "yes")[-24:])
    assert len(made) == 5


def test_a_new_question_ends_the_one_before() -> None:
    questions = Questions()
    first = opened(questions)
    opened(questions)
    assert questions.press("tg:7", 5, questions.carried(first, "yes")) is Pressed.OVER
    assert questions.wait(first, 30) == ""


def test_an_answer_that_was_taken_away_does_not_count() -> None:
    questions = Questions()
    question = opened(questions)
    questions.narrow(question, ("no",))
    assert questions.press("tg:7", 5, questions.carried(question, "yes")) is Pressed.OVER


def test_a_finger_that_is_quicker_than_the_network_is_heard() -> None:
    questions = Questions()
    question = questions.ask("tg:7", "01X", ("yes",))
    became: list[Pressed] = []
    thread = threading.Thread(
        target=lambda: became.append(questions.press("tg:7", 5, questions.carried(question, "yes")))
    )
    thread.start()
    questions.shown(question, 5)
    thread.join(60)
    assert became == [Pressed.TAKEN]


def test_whoever_waits_is_let_go_at_the_end_and_nobody_asks_any_more() -> None:
    questions = Questions()
    question = opened(questions)
    questions.give_up()
    assert questions.wait(question, 30) == ""
    assert questions.ask("tg:9", "x", ("yes",)).over
    assert not questions.is_open("tg:7")
