"""The vaglio judges findings against the owner's ends: the best first, a few a night, and nothing without an end."""

import pytest

from metnos.core.errors import ModelError
from metnos.night import telos
from metnos.night.introspect_rules import Finding, Kind
from metnos.night.vaglio import Judged, Vaglio
from metnos.night.vaglio_rules import Standing, Verdict
from metnos.synt.need import Evidence, Need, Way

NAMES = (
    "find_files_pdf",
    "describe_urls",
    "translate_text",
    "get_weather",
    "compare_images",
    "count_words",
    "draw_charts",
)
TIME = "- 0.7 Save me time on what I do again and again"


def finding(name: str, uses: int = 3, text: str = "") -> Finding:
    need = Need(text or name.replace("_", " "), Way.DIRECT, name=name, evidence=Evidence(uses=uses), mnest=name)
    return Finding(Kind.RECEPTOR, "You asked for this.", need)


def judge(ends: str, *found: Finding, most: int = 6, standing: Standing | None = None) -> list[Judged]:
    return Vaglio(telos.parse(ends)).judge(found, lambda _: standing or Standing(), most)


def test_without_an_end_nothing_is_asked() -> None:
    (judged,) = judge("# Telos\n", finding("describe_urls", uses=9999))
    assert (judged.score.verdict, judged.score.reason) == (Verdict.NOT_NOW, telos.NONE)


def test_what_serves_an_end_best_comes_first_and_names_it() -> None:
    first, second = judge(
        "- 1.0 Find my pdf files\n- 0.3 Speak Italian", finding("get_weather"), finding("find_files_pdf")
    )
    assert first.finding.need is not None
    assert (first.finding.need.name, first.score.end) == ("find_files_pdf", "Find my pdf files")
    assert first.is_asked
    assert (second.is_asked, second.score.reason) == (False, "it serves none of your ends")


def test_at_most_so_many_a_night_and_each_makes_the_next_less_welcome() -> None:
    judged = judge(TIME, *(finding(name, uses=90) for name in NAMES))
    assert [each.score.verdict for each in judged] == [*[Verdict.ASK] * 6, Verdict.NOT_NOW]
    bothers = [each.score.bother for each in judged[:6]]
    assert bothers == sorted(bothers)
    assert bothers[0] < bothers[5]
    few = judge(TIME, *(finding(name, uses=90) for name in NAMES), most=2)
    assert [each.is_asked for each in few] == [True] * 2 + [False] * 5
    assert few[2].score.reason == "there are better ones tonight"


def test_what_a_filter_held_back_keeps_its_reason_and_is_not_scored() -> None:
    held = Finding(Kind.RECEPTOR, "Something.", dropped="its name is not in the vocabulary")
    (judged,) = judge(TIME, held)
    assert (judged.is_asked, judged.score.reason, judged.score.score) == (False, held.dropped, 0.0)


class _Space:
    """Two meanings: what speaks of animals, and everything else."""

    def __init__(self, broken: bool = False) -> None:
        self.broken, self.space = broken, None

    def embed(self, texts: object) -> object:
        import numpy as np

        if self.broken:
            raise ModelError("it is away", kind="unavailable")
        assert isinstance(texts, list)
        return np.array([[1.0, 0.0] if "dog" in each or "cat" in each else [0.0, 1.0] for each in texts], "float32")


def test_an_embedder_sees_what_words_do_not_say_and_is_done_without_if_it_fails() -> None:
    ends, found = telos.parse("- 1.0 My dog is well"), finding("get_weather", uses=9, text="look after the cat")
    for broken, worth in ((False, 0.5), (True, 0.0)):
        vaglio = Vaglio(ends, _Space(broken))  # type: ignore[arg-type]
        (judged,) = vaglio.judge([found], lambda _: Standing(), 6)
        assert judged.score.worth == pytest.approx(worth), "a text is worth half of what a name says"


def test_a_question_that_serves_no_end_must_at_least_be_welcome() -> None:
    vaglio = Vaglio(telos.parse(TIME))
    assert vaglio.welcome(Standing())
    assert not vaglio.welcome(Standing(waiting=6))
    assert not vaglio.welcome(Standing(lately=(0.0,) * 8))
    assert not Vaglio(telos.parse("")).welcome(Standing())
