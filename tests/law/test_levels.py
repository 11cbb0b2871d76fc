import re

from hypothesis import given
from hypothesis import strategies as st

from metnos.law import levels
from metnos.law.capability import Capability
from metnos.law.levels import TABLE, Use, Verdict, use_of, worst
from metnos.law.need import HIDDEN, NAMED, OPEN, OWN, READING, Need
from metnos.law.principal import Autonomy
from support import ROOT
from tables import try_each

VERDICTS = st.sampled_from(Verdict)
ORDER = list(Verdict)


def test_the_page_shows_the_table() -> None:
    page = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    shown = [
        tuple(cell.strip().strip("`") for cell in line.strip("|").split("|"))
        for line in page.splitlines()
        if re.match(r"\| `[a-z.]+", line) and line.count("|") == 6
    ]
    assert shown == levels.rows()


def test_every_use_has_one_row_and_every_capability_a_use() -> None:
    assert [row.use for row in TABLE] == list(Use)
    used = {use_of(Need(capability, target, verb, outside)) for capability in Capability
            for target in ("x", "/home/me/.x", "/home/me/Makefile")
            for verb in ("GET", "POST", OWN, NAMED) for outside in (True, False)}  # fmt: skip
    assert used == set(Use) - {Use.IRREVERSIBLE}


@try_each("row", TABLE, ids=lambda row: row.use)
def test_no_level_is_stricter_than_a_lower_one(row: levels.Row) -> None:
    strictness = [ORDER.index(row.at(level)) for level in Autonomy]
    if row.use is not Use.IRREVERSIBLE:
        assert strictness == sorted(strictness, reverse=True)
    if row.use is not Use.HIDDEN_WRITING:
        assert row.at(Autonomy.SUPERVISED) is not Verdict.REFUSE


def test_the_laws_hold_at_every_level() -> None:
    for row in TABLE:
        for level in Autonomy:
            verdict = row.at(level)
            if "outside" in row.use:  # Law 0
                assert verdict in (Verdict.ASK, Verdict.REFUSE)
            if row.use is Use.IRREVERSIBLE:  # Law 1
                assert verdict in (Verdict.ASK_TWICE, Verdict.REFUSE)
    for use in (Use.WRITE, Use.HOME_SENDING, Use.OUTSIDE_READING, Use.OUTSIDE_SENDING, Use.SHELL, Use.IRREVERSIBLE):
        assert levels.row(use).at(Autonomy.READ_ONLY) is Verdict.REFUSE


@try_each(
    "target, verb, reading, writing",
    [
        ("/home/me/x", "", Use.READ, Use.WRITE),
        ("/home/me/.x/y", "", Use.HIDDEN_READING, Use.HIDDEN_WRITING),
        ("/home/me/x", HIDDEN, Use.HIDDEN_READING, Use.HIDDEN_WRITING),
        ("/home/me/.x", NAMED, Use.HIDDEN_READING, Use.NAMED_WRITING),
        ("/home/me/.local/share/metnos/notes/a.md", OPEN, Use.READ, Use.WRITE),
        ("/home/me/.local/share/metnos/notes/a.md", OWN, Use.READ, Use.NOTES),
        ("/home/me/project/.gitignore", "", Use.READ, Use.WRITE),
        ("/home/me/.config/user-dirs.dirs", "", Use.READ, Use.HIDDEN_WRITING),
        ("/home/me/project/Makefile", "", Use.READ, Use.RUNNING),
        ("/home/me/project/Makefile", OPEN, Use.READ, Use.RUNNING),
    ],
)
def test_the_row_of_a_path(target: str, verb: str, reading: Use, writing: Use) -> None:
    assert use_of(Need(Capability.FS_READ, target, verb)) is reading
    assert use_of(Need(Capability.FS_WRITE, target, verb)) is writing


@given(st.lists(VERDICTS))
def test_the_worst_counts(verdicts: list[Verdict]) -> None:
    found = worst(verdicts)
    assert found in (verdicts or [Verdict.ALLOW])
    assert all(ORDER.index(found) >= ORDER.index(each) for each in verdicts)


@try_each("verb", ["", "get", "POST", "PUT", "DELETE", "PATCH", "CONNECT", "GET\n", "BREW"])
def test_a_verb_that_is_not_known_as_reading_is_sending(verb: str) -> None:
    assert use_of(Need(Capability.NET_HTTP, "x.org", verb)) is Use.OUTSIDE_SENDING
    assert use_of(Need(Capability.NET_HTTP, "x.lan", verb, outside=False)) is Use.HOME_SENDING


def test_a_request_that_can_hold_what_was_read_is_sending_beyond_the_home() -> None:
    for verb in READING:
        assert use_of(Need(Capability.NET_HTTP, "a.example", verb, carries=True)) is Use.OUTSIDE_SENDING
        assert use_of(Need(Capability.NET_HTTP, "nas.lan", verb, outside=False, carries=True)) is Use.HOME_READING
        assert use_of(Need(Capability.NET_HTTP, "8.8.8.8", verb, outside=False, carries=True)) is Use.OUTSIDE_SENDING


def test_an_address_outside_is_outside_whatever_is_claimed() -> None:
    for host in ("8.8.8.8", "134744072", "2606:4700::1111"):
        assert use_of(Need(Capability.NET_HTTP, host, "GET", outside=False)) is Use.OUTSIDE_READING


def test_how_often_the_owner_is_asked() -> None:
    assert [verdict.yeses for verdict in Verdict] == [0, 1, 2, 0]
    assert Verdict.ASK_TWICE.words == "ask twice"
