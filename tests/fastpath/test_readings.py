from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fastpath.reading import NOW, slots
from metnos.core.canon import canonical_json
from metnos.fastpath.readings import quality, readings
from tables import try_each


@try_each(
    ("text", "expected"),
    [
        ("read ~/a/Report.final.pdf", {"value": "~/a/Report.final.pdf", "stem": "~/a/Report.final", "parent": "~/a"}),
        ("read a.txt", {"value": "a.txt", "name": "a.txt", "stem": "a"}),
        ("find the CSV files", {"value": "*.csv", "ending": ".csv", "suffix": "csv"}),
        ("what is 12,50 plus", {"value": 12.5, "figures": "12.50", "text": "12,50", "string": "12.5"}),
        ("files changed yesterday", {"value": "2026-11-14", "ago": 1.5, "over": 0.5}),
        ("files changed last month", {"from": "2026-10-01", "from.ago": 45.5, "to.over": 14.5}),
        ("remind me in 2 hours", {"ahead": "2026-11-15 14:00", "day": "2026-11-15"}),
        ("call at 9:30", {"value": "09:30", "next": "2026-11-16 09:30"}),
        ("call at 18:30", {"value": "18:30", "next": "2026-11-15 18:30"}),
    ],
)
def test_what_a_particular_can_mean(text: str, expected: dict[str, Any]) -> None:
    found = readings(slots(text)[0], NOW)
    assert {name: found.get(name) for name in expected} == expected


def test_a_name_without_an_ending_has_no_stem() -> None:
    assert "stem" not in readings(slots("list ~/inbox")[0], NOW)


@try_each(
    ("text", "expected"),
    [
        ("read a.PDF", "pdf-capitals"),
        ("read a.docx", "office"),
        ("read ~/x/a.tar.gz", "archive"),
        ("read a.mp3", "file"),
        ("list ~/inbox", ""),
        ("find the photos", "image"),
        ("say 'one'", ""),
        ("say 'one two'", "phrase"),
        ("list disks over 90%", "percent"),
        ("files changed today", "now"),
        ("files changed yesterday", "past"),
        ("files changed this week", "now"),
        ("files changed last month", "past"),
        ("remind me tomorrow", "coming"),
        ("files over 3 MB", ""),
    ],
)
def test_what_tells_particulars_of_a_kind_apart(text: str, expected: str) -> None:
    assert quality(slots(text)[0], NOW) == expected


@given(st.text(max_size=60))
def test_readings_are_values_that_can_be_kept(text: str) -> None:
    for slot in slots(text):
        quality(slot, NOW)
        for name, value in readings(slot, NOW).items():
            assert name
            assert value not in (None, "")
            canonical_json(_kept(value))


def _kept(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
