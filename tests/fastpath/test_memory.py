"""What fast paths know at one moment: by words, by meaning, and in whichever process it was learnt."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from fastpath.pathing import START, hear, mark, pass_times, passed
from metnos.fastpath.calibrate import Evidence
from metnos.fastpath.log import Log
from metnos.fastpath.mask import mask
from metnos.fastpath.memory import WORDS_ONLY, Meaning, Memory
from metnos.fastpath.records import State
from metnos.fastpath.rules import Factory
from metnos.fastpath.shape import Unresolved

LIST = "list the files in ~/inbox"
SAID = mask(LIST, hear(LIST).slots)


class Letters:
    """Texts are alike as far as they have the same letters. Counts how often it is asked."""

    def __init__(self, space: str = "letters") -> None:
        self.space = space
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        made = np.array([[text.count(chr(97 + letter)) + 0.1 for letter in range(26)] for text in texts], np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def memory(log: Log, log2: Log, meaning: Meaning | None = None, factory: Factory | None = None) -> Memory:
    return Memory(log.db, (log, log2), lambda: meaning, factory or Factory(1000, 0))


def test_nothing_is_known_in_the_beginning(log: Log, log2: Log) -> None:
    empty = memory(log, log2)
    assert empty.exact(hear(LIST)) is None
    assert empty.alike(hear(LIST)) is None
    assert empty.path("nothing") is None


def test_a_form_is_recognised_with_other_particulars_which_are_read_anew(log: Log, log2: Log) -> None:
    key = pass_times(log, 3, said=SAID)
    found = memory(log, log2).exact(hear("please list the files in ~/elsewhere"))
    assert found is not None
    assert (found.path.id, found.match.exact) == (key, True)
    assert found.filled == ({"path": "~/elsewhere"},)


def test_what_another_process_learnt_counts_at_once(log: Log, log2: Log) -> None:
    known = memory(log, log2)
    assert known.exact(hear(LIST)) is None
    pass_times(log, 1)
    assert known.exact(hear(LIST)) is not None
    log.forget_turn("T0", START)
    assert known.exact(hear(LIST)) is None


def test_one_form_for_two_paths_is_neither_unless_only_one_can_be_filled(log: Log, log2: Log) -> None:
    pass_times(log, 3)
    pass_times(log, 3, prefix="U", tools=("measure_folders",))
    assert memory(log, log2).exact(hear(LIST)) is None
    text = "look at ~/inbox"
    pass_times(log, 3, prefix="V", text=text, tools=("list_folders",), plan=({"path": "~/inbox", "deep": 1},))
    log.record(passed("W0", text, ({"path": "~/inbox", "deep": 2},), ("list_folders",)))
    found = memory(log, log2).exact(hear(text))
    assert found is not None
    assert isinstance(found.filled, Unresolved), "what no word says varied"


def test_a_sequence_is_known_beside_single_calls_and_connectors_do_not_count(log: Log, log2: Log) -> None:
    text = "find the PDFs in ~/a and read them"
    plan = ({"path": "~/a", "pattern": "*.pdf"}, {"paths": "{{step1.entries.path}}"})
    key = pass_times(log2, 3, text=text, plan=plan, tools=("find_files", "read_files"))
    found = memory(log, log2).exact(hear("find the PDFs in ~/b, then read them"))
    assert found is not None
    assert found.path.id == key
    assert found.filled == ({"path": "~/b", "pattern": "*.pdf"}, {"paths": "{{step1.entries.path}}"})
    assert memory(log, log2).path(key) == (log2, found.path)


def test_a_form_that_only_looks_the_same_cannot_be_filled(log: Log, log2: Log) -> None:
    pass_times(log, 3, said=SAID)
    found = memory(log, log2).exact(hear("listed the files in ~/inbox"))
    assert found is not None
    assert isinstance(found.filled, Unresolved)


def test_the_embedder_is_not_asked_as_long_as_meaning_can_tell_nothing(log: Log, log2: Log) -> None:
    pass_times(log, 3)
    letters = Letters()
    known = memory(log, log2, letters)
    assert known.alike(hear("show what is in ~/inbox")) is None
    assert letters.asked == []


def many(log: Log) -> list[str]:
    """Twelve paths, each asked for in several ways."""
    verbs = ("zip", "hug", "find", "jam", "vex", "wok", "qua", "fly", "cod", "bit", "sun", "ply")
    return [
        pass_times(log, 4, prefix=f"{verb}{way}", text=f"{verb} {verb} {verb} {way} ~/inbox", tools=(f"{verb}_files",))
        for verb in verbs
        for way in ("now", "too", "all", "yes")
    ]


@pytest.mark.slow
def test_meaning_recognises_other_words_once_it_is_calibrated_and_in_its_own_space_only(log: Log, log2: Log) -> None:
    many(log)
    letters = Letters()
    known = memory(log, log2, letters)
    fitted = known.calibrate([Evidence(1.0, False, True)] * 2000, 0.2, START)
    assert fitted.threshold is not None, fitted.why
    found = known.alike(hear("vex vex vex here ~/inbox"))
    assert found is not None
    assert found.path.tools == ("vex_files",)
    assert not found.match.exact
    asked = len(letters.asked)
    known.alike(hear("vex vex vex there ~/inbox"))
    assert len(letters.asked) == asked + 1, "what is kept is not computed again"
    assert memory(log, log2, Letters("another")).alike(hear("vex vex vex here ~/inbox")) is None
    assert memory(log, log2, None).alike(hear("vex vex vex here ~/inbox")) is None


@pytest.mark.slow
def test_vectors_are_kept_for_the_next_process(log: Log, log2: Log) -> None:
    many(log)
    memory(log, log2, Letters()).calibrate([Evidence(1.0, False, True)] * 2000, 0.2, START)
    letters = Letters()
    memory(log, log2, letters).alike(hear("vex vex vex here ~/inbox"))
    assert len(letters.asked) == 1


def test_the_newest_calibration_counts_in_every_process(log: Log, log2: Log) -> None:
    pass_times(log, 3)
    one, other = memory(log, log2), memory(log, log2)
    assert one.calibration.exact_count == 1000
    one.calibrate([Evidence(0.0, True, False)] * 5, 0.01, START)
    assert (other.calibration.exact_count, other.calibration.exact_wrong) == (1005, 5)
    other.calibrate([], 0.05, START + timedelta(days=1))
    assert one.calibration.delta == pytest.approx(0.05)
    assert log.db.query("SELECT DISTINCT space FROM calibrations") == [(WORDS_ONLY,)]


def test_states_and_marks_are_those_of_the_moment(log: Log, log2: Log) -> None:
    key = pass_times(log, 3)
    known = memory(log, log2)
    log.move(key, State.ACTIVE, "a test", START)
    found = known.exact(hear(LIST))
    assert found is not None
    assert found.path.state is State.ACTIVE
    assert found.path.marks == (mark("list_folders"),)
