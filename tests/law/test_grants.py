from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from law.asks import FETCH, OWNER, WRITE, Court, others
from metnos.core.clock import MovableClock
from metnos.core.errors import ForbiddenPath, MetnosError, Refused, UsageError
from metnos.law.audit_log import backwards
from metnos.law.capability import Capability
from metnos.law.grants import MAX_DAYS, Grant
from metnos.law.need import Need
from metnos.law.principal import Autonomy, Channel, Principal
from support import kinds

READ, WRITING, HTTP = Capability.FS_READ, Capability.FS_WRITE, Capability.NET_HTTP


def give(court: Court, executor: str, capability: Capability, target: str, **more: Any) -> Grant:
    return court.grants.grant(executor, capability, target, **({"days": 7, "by": OWNER} | more))


def test_it_covers_what_it_is_for_and_no_other_executor(court: Court, clock: MovableClock) -> None:
    made = give(court, "write_files", WRITING, "/home/owner")
    now = clock.now()
    assert court.grants.covers(WRITE, "write_files", now) == made
    assert court.grants.covers(WRITE, "move_files", now) is None
    assert court.grants.covers(Need(READ, WRITE.target), "write_files", now) is None
    assert court.grants.covers(Need(WRITING, "/home/ownership"), "write_files", now) is None
    give(court, "*", WRITING, "/home/owner")
    assert court.grants.covers(WRITE, "move_files", now) is not None


def test_fetching_is_not_sending(court: Court, clock: MovableClock) -> None:
    give(court, "*", HTTP, "Example.ORG")
    post = Need(HTTP, "example.org", "POST")
    assert court.grants.covers(FETCH, "x", clock.now()) is not None
    assert court.grants.covers(post, "x", clock.now()) is None
    carries = [Need(HTTP, "example.org", verb, carries=True) for verb in ("GET", "HEAD", "OPTIONS", "LOOKUP")]
    assert not any(court.grants.covers(each, "x", clock.now()) for each in carries)
    give(court, "*", HTTP, "example.org", sending=True)
    assert all(court.grants.covers(each, "x", clock.now()) for each in (post, *carries))


def test_a_wildcard_for_fetching_does_not_cover_what_was_read(court: Court, clock: MovableClock) -> None:
    """What was read can stand in the name itself."""
    give(court, "*", HTTP, "*.example.org")
    assert court.grants.covers(Need(HTTP, "a.example.org", "GET"), "x", clock.now()) is not None
    assert court.grants.covers(Need(HTTP, "secret.example.org", "GET", carries=True), "x", clock.now()) is None


def test_it_ends_by_itself_and_is_not_there_before_it_was_given(court: Court, clock: MovableClock) -> None:
    give(court, "*", WRITING, "/home/owner", days=1)
    clock.move(timedelta(days=1, milliseconds=-1))
    assert court.grants.covers(WRITE, "x", clock.now()) is not None
    clock.move(timedelta(milliseconds=1))
    assert court.grants.covers(WRITE, "x", clock.now()) is None
    assert court.grants.active() == []
    clock.move(timedelta(days=-9))
    assert court.grants.covers(WRITE, "x", clock.now()) is None


def test_it_can_be_revoked_at_any_moment_by_the_beginning_of_its_id(court: Court) -> None:
    first, second = give(court, "*", READ, "/a"), give(court, "*", READ, "/b")
    with pytest.raises(UsageError, match="more than one"):
        court.grants.revoke(first.id[:5], OWNER)
    for nothing in ("", "nope", "%"):
        with pytest.raises(UsageError):
            court.grants.revoke(nothing, OWNER)
    assert court.grants.revoke(first.id.lower(), OWNER).id == first.id
    assert [grant.id for grant in court.grants.active()] == [second.id]
    with pytest.raises(UsageError, match="no grant"):
        court.grants.revoke(first.id, OWNER)


@pytest.mark.parametrize("days", [0, -1, MAX_DAYS + 1, float("nan"), float("inf")])
def test_a_year_at_most(court: Court, days: float) -> None:
    with pytest.raises(UsageError, match="365"):
        give(court, "*", READ, "/a", days=days)


@pytest.mark.parametrize(
    ("executor", "capability", "target"),
    [
        ("", READ, "/a"), ("Find Files", READ, "/a"), ("**", READ, "/a"),
        ("*", READ, "/a/*.txt"), ("*", READ, "/a/*/b"), ("*", READ, "/a/**/b"), ("*", READ, "/a*"),
        ("*", READ, "/a/***"),
        ("*", READ, ""), ("*", READ, "a"), ("*", READ, "~"), ("*", READ, "/a\0b"),
        ("*", READ, "/home/owner/.ssh"), ("*", WRITING, "/etc/x"), ("*", READ, "/home/owner/.ssh/../.ssh/x"),
        ("*", HTTP, "*"), ("*", HTTP, "*.org"), ("*", HTTP, ""), ("*", HTTP, "a b"), ("*", HTTP, "169.254.169.254"),
        ("*", HTTP, "0xa9fea9fe"), ("*", HTTP, "http://example.org"), ("*", Capability.MODEL_CHAT, " "),
    ],
)  # fmt: skip
def test_what_no_grant_can_be_for(court: Court, executor: str, capability: Capability, target: str) -> None:
    with pytest.raises(MetnosError):
        give(court, executor, capability, target)
    assert court.grants.active() == []


@pytest.mark.parametrize("target", ["/home/owner/**", "/home/owner/*", "/home/owner/", "/home/owner//**"])
def test_stars_behind_a_folder_mean_the_folder(court: Court, clock: MovableClock, target: str) -> None:
    made = give(court, "*", WRITING, target)
    assert made.target == "/home/owner"
    assert court.grants.covers(WRITE, "x", clock.now()) == made
    with pytest.raises(ForbiddenPath):
        give(court, "*", READ, "/home/owner/.ssh/**")


def test_a_link_to_a_forbidden_place_is_seen_through(court: Court, tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    (tmp_path / "innocent").symlink_to(tmp_path / ".ssh")
    with pytest.raises(ForbiddenPath):
        give(court, "*", READ, str(tmp_path / "innocent"))


@pytest.mark.parametrize("stranger", others(), ids=str)
def test_only_the_owner_gives_and_revokes(court: Court, stranger: Principal) -> None:
    made = give(court, "*", READ, "/a")
    with pytest.raises(Refused):
        give(court, "*", READ, "/a", by=stranger)
    if stranger.is_owner:  # a script of theirs: it may take, and never give
        assert court.grants.revoke(made.id, stranger) == made
        return
    with pytest.raises(Refused):
        court.grants.revoke(made.id, stranger)
    assert court.grants.active() == [made]


def test_each_act_leaves_a_line_without_content(court: Court) -> None:
    made = give(court, "*", READ, "/secret-folder", reason="secret-reason")
    court.grants.revoke(made.id, OWNER)
    assert kinds(court.opened.workspace)[-2:] == ["grant given", "grant revoked"]
    for line, _ in zip(backwards(court.opened.workspace.audit), range(2), strict=False):
        assert b"secret" not in line.encode()
        assert line.entry.names["grant"] == made.id


def test_what_was_granted_by_name_ends_with_the_version_that_it_was_for(court: Court) -> None:
    mine, _, others_, everyones = (
        give(court, "write_files", WRITING, "/home/owner"),
        give(court, "write_files", READ, "/home/owner"),
        give(court, "move_files", WRITING, "/home/owner"),
        give(court, "*", READ, "/home/owner"),
    )
    night = Principal(Channel.NIGHT, "synt", Autonomy.READ_ONLY)
    assert mine in court.grants.end_of("write_files", night)
    assert court.grants.active() == [others_, everyones]
    assert court.grants.end_of("write_files", night) == []
    assert kinds(court.opened.workspace).count("grant revoked") == 2
