from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from law.asks import ASK, FETCH, OWNER, PREVIEW, WRITE, Court, ask, failing, others
from metnos.core.canon import sha256_hex
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorFailed, InboxError, Refused, Waiting
from metnos.law import levels
from metnos.law.capability import Capability
from metnos.law.inbox import State
from metnos.law.levels import Verdict
from metnos.law.need import AGENT, Need
from metnos.law.policy import Ask, Policy, approval_digest
from metnos.law.principal import Autonomy, Channel, Principal
from support import at_once

READ = Need(Capability.FS_READ, "/home/owner/Downloads")
SEND = Need(Capability.NET_HTTP, "example.org", "POST")
OTHER = sha256_hex(b"other")
SUPERVISED, FULL, READ_ONLY = Autonomy.SUPERVISED, Autonomy.FULL, Autonomy.READ_ONLY


def wait(policy: Policy, court: Court, wanted: Ask = ASK) -> str:
    with pytest.raises(Waiting) as caught:
        policy.permit(wanted, court.preview)
    return caught.value.item


class TestLevels:
    @pytest.mark.parametrize("own", Autonomy)
    @pytest.mark.parametrize("setting", Autonomy)
    @pytest.mark.parametrize("need", [READ, WRITE, FETCH, SEND], ids=lambda need: need.words)
    def test_the_table_at_the_lower_level(self, court: Court, own: Autonomy, setting: Autonomy, need: Need) -> None:
        wanted = ask(principal=replace(OWNER, level=own), needs=(need,))
        level = min(own, setting, key=list(Autonomy).index)
        assert court.policy(setting).decide(wanted).verdict is levels.row(levels.use_of(need)).at(level)

    def test_the_worst_of_all_needs_counts(self, court: Court) -> None:
        policy = court.policy(FULL)
        assert policy.decide(ask(needs=())).verdict is Verdict.ALLOW
        assert policy.decide(ask(needs=(READ, WRITE))).verdict is Verdict.ALLOW
        assert policy.decide(ask(needs=(READ, WRITE, FETCH))).verdict is Verdict.ASK
        assert policy.decide(ask(needs=(READ,), irreversible=True)).verdict is Verdict.ASK_TWICE
        assert court.policy(READ_ONLY).decide(ask(needs=(READ, FETCH))).verdict is Verdict.REFUSE

    def test_in_full_what_can_be_taken_back_needs_no_preview(self, court: Court) -> None:
        permit = court.policy(FULL).permit(ASK, court.preview)
        assert (permit.effects, court.previews, court.inbox.newest(9)) == (None, 0, [])
        court.mint.check(permit, ASK.executor_digest, ASK.arguments_digest)

    def test_a_permit_says_everything_that_was_asked(self, court: Court) -> None:
        permit = court.policy(FULL).permit(ASK, court.preview)
        for name in "principal executor executor_digest arguments_digest cwd turn needs irreversible".split():
            assert getattr(permit, name) == getattr(ASK, name)

    def test_a_refusal_says_why_by_which_rule_and_what_to_do(self, court: Court) -> None:
        with pytest.raises(Refused) as caught:
            court.policy(READ_ONLY).permit(ASK, court.preview)
        assert "change files, with a way back" in caught.value.what
        assert "/home/owner/b.txt" in caught.value.what
        assert "policy.autonomy" in caught.value.fix

    def test_what_no_level_allows_is_no_matter_of_the_level(self, court: Court) -> None:
        hidden = Need(Capability.FS_WRITE, "/home/owner/.config/app/x.toml")
        for level in (READ_ONLY, Autonomy.SUPERVISED, FULL):
            with pytest.raises(Refused) as caught:
                court.policy(level).permit(ask(needs=(hidden, WRITE)), court.preview)
            assert "policy.autonomy" not in caught.value.fix
            assert "your own words" in caught.value.fix

    def test_no_level_is_offered_where_none_helps(self, court: Court) -> None:
        program = ask(principal=replace(OWNER, level=READ_ONLY))
        for setting in (READ_ONLY, FULL):
            decision = court.policy(setting).decide(program)
            assert decision.verdict is Verdict.REFUSE
            assert "policy.autonomy" not in decision.fix
        assert court.policy(SUPERVISED).decide(ask(needs=(WRITE,))).fix == ""  # it is asked about, and a yes is enough

    def test_what_is_the_agents_own_is_out_of_bounds(self, court: Court) -> None:
        own = Need(Capability.FS_WRITE, "/home/owner/.local/share/metnos/MEMORY.md", AGENT)
        decision = court.policy(FULL).decide(ask(needs=(own,)))
        assert (decision.verdict, decision.rule) == (Verdict.REFUSE, "forbidden paths")
        assert "belongs to the agent itself" in decision.reason


class TestApproval:
    def test_asked_approved_once_and_held_to_what_was_shown(self, court: Court) -> None:
        policy = court.policy()
        item = wait(policy, court)
        assert wait(policy, court) == item
        assert court.previews == 1
        body = court.inbox.find(item).body
        assert body["preview"] == list(PREVIEW.lines)
        assert body["args"] == {"path": "b.txt"}
        court.inbox.approve(item, OWNER)
        permit = policy.permit(ASK, court.preview)
        assert permit.effects == PREVIEW.effects
        assert court.inbox.find(item).state is State.USED
        assert wait(policy, court) != item

    @pytest.mark.parametrize(
        "changed",
        [
            {"arguments_digest": OTHER},
            {"executor_digest": OTHER},
            {"executor": "move_files"},
            {"cwd": "/home/other"},
            {"needs": (WRITE, READ)},
            {"needs": (replace(WRITE, target="/home/owner/c.txt"),)},
            {"irreversible": True},
        ],
        ids=str,
    )
    def test_an_approval_is_worth_nothing_for_anything_else(self, court: Court, changed: dict[str, Any]) -> None:
        policy = court.policy()
        item = wait(policy, court)
        court.inbox.approve(item, OWNER)
        assert wait(policy, court, ask(**changed)) != item
        assert court.inbox.find(item).state is State.APPROVED

    def test_who_asked_and_in_which_turn_does_not_matter(self, court: Court) -> None:
        other = ask(principal=replace(OWNER, channel=Channel.WEB), turn="another", title="x")
        assert approval_digest(other) == approval_digest(ASK)

    @given(st.permutations([WRITE, FETCH, READ, SEND]))
    def test_the_order_of_needs_does_not_matter(self, needs: list[Need]) -> None:
        assert approval_digest(ask(needs=tuple(needs))) == approval_digest(ask(needs=(WRITE, FETCH, READ, SEND)))

    def test_what_cannot_be_taken_back_needs_two(self, court: Court) -> None:
        policy, wanted = court.policy(FULL), ask(irreversible=True)
        item = wait(policy, court, wanted)
        court.inbox.approve(item, OWNER)
        assert wait(policy, court, wanted) == item
        court.inbox.approve(item, OWNER)
        assert policy.permit(wanted, court.preview).irreversible
        with pytest.raises(InboxError):
            court.inbox.approve(item, OWNER)

    def test_expired_approvals_and_refusals_are_no_approvals(self, court: Court, clock: MovableClock) -> None:
        policy = court.policy()
        item = wait(policy, court)
        court.inbox.approve(item, OWNER)
        clock.move(timedelta(hours=24))
        again = wait(policy, court)
        court.inbox.refuse(again, OWNER)
        assert len({item, again, wait(policy, court)}) == 3

    def test_a_clock_set_back_brings_no_approval_back(self, court: Court, clock: MovableClock) -> None:
        policy = court.policy()
        item = wait(policy, court)
        court.inbox.approve(item, OWNER)
        clock.move(timedelta(days=-2))
        assert wait(policy, court) != item

    def test_an_approval_does_not_outlive_a_lower_level_a_halt_or_the_laws(self, court: Court) -> None:
        policy = court.policy()
        item = wait(policy, court)
        court.inbox.approve(item, OWNER)
        court.halts.halt("x")
        for each in (policy, court.policy(READ_ONLY)):
            with pytest.raises(Refused):
                each.permit(ASK, court.preview)
            court.halts.lift(OWNER)
        court.opened.workspace.soul.write_text("mine")
        with pytest.raises(Refused, match="constitution"):
            policy.permit(ASK, court.preview)
        assert court.inbox.find(item).state is State.APPROVED

    def test_a_quota_refuses_and_leaves_the_approval(self, court: Court) -> None:
        policy = court.policy(quotas=lambda wanted: f"{wanted.executor} wrote enough today")
        item = wait(policy, court)
        court.inbox.approve(item, OWNER)
        with pytest.raises(Refused, match="wrote enough"):
            policy.permit(ASK, court.preview)
        assert court.inbox.find(item).state is State.APPROVED
        with pytest.raises(Refused):
            court.policy(FULL, quotas=lambda _: "").permit(ASK, court.preview)

    @pytest.mark.slow
    def test_of_many_processes_one_gets_the_permit(self, court: Court) -> None:
        policy = court.policy()
        court.inbox.approve(wait(policy, court), OWNER)

        def attempt() -> bool:
            try:
                policy.permit(ASK, court.preview)
            except (Refused, Waiting):
                return False
            return True

        assert sorted(at_once([attempt] * 5)) == [False] * 4 + [True]

    def test_the_owner_may_change_what_is_asked(self, court: Court) -> None:
        policy = court.policy()
        item = wait(policy, court)
        changed = ask(arguments_digest=OTHER, title="Write c.txt")
        new = policy.reask(item, changed, court.preview, OWNER)
        assert (new.digest, new.title, new.body["preview"]) == (
            approval_digest(changed),
            "Write c.txt",
            list(PREVIEW.lines),
        )
        court.inbox.approve(new.id, OWNER)
        assert policy.permit(changed, court.preview).arguments_digest == OTHER
        assert wait(policy, court) != item

    def test_but_not_into_what_is_forbidden(self, court: Court) -> None:
        policy = court.policy()
        item = wait(policy, court)
        with pytest.raises(Refused, match="out of bounds"):
            policy.reask(item, ask(needs=(Need(Capability.FS_READ, "/home/owner/.ssh/x"),)), court.preview, OWNER)
        with pytest.raises(InboxError):
            policy.reask(item, ask(arguments_digest=OTHER), court.preview, others()[0])
        with pytest.raises(Refused):
            policy.reask(item, ask(arguments_digest=OTHER), failing, OWNER)
        assert court.inbox.find(item).state is State.WAITING


class TestGrants:
    def test_a_grant_turns_ask_into_allow(self, court: Court, clock: MovableClock) -> None:
        policy = court.policy()
        made = court.grants.grant("write_files", Capability.FS_WRITE, "/home/owner", days=1, by=OWNER)
        assert policy.decide(ASK).verdict is Verdict.ALLOW
        assert made.id in policy.decide(ASK).reason
        assert policy.permit(ASK, court.preview).effects is None
        assert policy.decide(ask(executor="move_files")).verdict is Verdict.ASK
        clock.move(timedelta(days=1))
        assert policy.decide(ASK).verdict is Verdict.ASK

    def test_each_need_wants_its_own(self, court: Court) -> None:
        policy, wanted = court.policy(), ask(needs=(READ, WRITE, FETCH))
        court.grants.grant("*", Capability.FS_WRITE, "/home/owner", days=1, by=OWNER)
        decision = policy.decide(wanted)
        assert decision.verdict is Verdict.ASK
        assert "example.org" in decision.reason
        assert "b.txt" not in decision.reason
        court.grants.grant("*", Capability.NET_HTTP, "example.org", days=1, by=OWNER)
        assert policy.decide(wanted).verdict is Verdict.ALLOW

    def test_law_0_holds_in_full_until_the_owner_grants_it(self, court: Court) -> None:
        policy = court.policy(FULL)
        assert policy.decide(ask(needs=(FETCH,))).verdict is Verdict.ASK
        made = court.grants.grant("*", Capability.NET_HTTP, "example.org", days=1, by=OWNER)
        assert policy.decide(ask(needs=(FETCH,))).verdict is Verdict.ALLOW
        assert policy.decide(ask(needs=(SEND,))).verdict is Verdict.ASK
        court.grants.revoke(made.id, OWNER)
        assert policy.decide(ask(needs=(FETCH,))).verdict is Verdict.ASK

    @pytest.mark.parametrize("target", ["/", "/home/owner"])
    def test_no_grant_lifts_a_refusal_a_forbidden_path_or_a_second_yes(self, court: Court, target: str) -> None:
        for capability in (Capability.FS_READ, Capability.FS_WRITE):
            court.grants.grant("*", capability, target, days=1, by=OWNER)
        for level in Autonomy:
            for capability in (Capability.FS_READ, Capability.FS_WRITE):
                keys = ask(needs=(Need(capability, "/home/owner/.ssh/id_ed25519"),))
                decision = court.policy(level).decide(keys)
                assert (decision.verdict, decision.rule) == (Verdict.REFUSE, "forbidden paths")
        assert court.policy(READ_ONLY).decide(ASK).verdict is Verdict.REFUSE
        assert court.policy(FULL).decide(ask(irreversible=True)).verdict is Verdict.ASK_TWICE


class TestNever:
    def test_a_path_that_is_not_its_own_real_path(self, court: Court, tmp_path: Path) -> None:
        (tmp_path / ".ssh").mkdir()
        (tmp_path / "innocent").symlink_to(tmp_path / ".ssh")
        spellings = [
            tmp_path / "innocent" / "x",
            tmp_path / "a" / ".." / "b",
            "~/x",
            "x",
            f"/{tmp_path}/b",
            f"{tmp_path}/",
        ]
        for spelling in spellings:
            decision = court.policy(FULL).decide(ask(needs=(Need(Capability.FS_READ, str(spelling)),)))
            assert (decision.verdict, decision.rule) == (Verdict.REFUSE, "forbidden paths"), spelling

    @pytest.mark.parametrize(
        "host", ["169.254.169.254", "0xa9fea9fe", "::ffff:169.254.169.254", "0.0.0.0", "X.org", "a b"]
    )
    @pytest.mark.parametrize("outside", [True, False])
    def test_an_address_that_is_out_of_reach_for_good(self, court: Court, host: str, outside: bool) -> None:
        wanted = ask(needs=(Need(Capability.NET_HTTP, host, "GET", outside=outside),))
        decision = court.policy(FULL).decide(wanted)
        assert (decision.verdict, decision.rule) == (Verdict.REFUSE, "addresses")

    @pytest.mark.parametrize(
        "nobody",
        [
            Principal("smtp", "x", FULL),  # type: ignore[arg-type]
            Principal(Channel.WEB, "", FULL),
            Principal(Channel.WEB, "x", "root"),  # type: ignore[arg-type]
            None,
            "owner",
        ],
        ids=str,
    )
    def test_nobody_known(self, court: Court, nobody: Any) -> None:
        for level in Autonomy:
            with pytest.raises(Refused, match="nobody known"):
                court.policy(level).permit(ask(principal=nobody, needs=()), court.preview)

    @pytest.mark.parametrize(
        "broken",
        [
            {"executor": "../x"},
            {"executor_digest": ""},
            {"arguments_digest": "x"},
            {"cwd": ""},
            {"needs": None},
            {"needs": [READ]},
            {"needs": ("fs.read",)},
            {"needs": (Need("fs.delete", "/x"),)},  # type: ignore[arg-type]
            {"needs": (Need(Capability.FS_READ, ""),)},
            {"needs": (Need(Capability.NET_HTTP, "x.org", "GET", outside=None),)},  # type: ignore[arg-type]
            {"needs": (Need(Capability.NET_HTTP, "x.org", "GET", carries=None),)},  # type: ignore[arg-type]
            {"irreversible": None},
        ],
        ids=str,
    )
    def test_what_is_not_well_formed(self, court: Court, broken: dict[str, Any]) -> None:
        with pytest.raises(Refused, match=r"refused \(request\)"):
            court.policy(FULL).permit(ask(**broken), court.preview)

    def test_laws_that_changed_while_it_runs(self, court: Court) -> None:
        soul = court.opened.workspace.soul
        soul.write_text(soul.read_text() + "\nMore.\n")
        with pytest.raises(Refused, match=r"SOUL\.md was edited"):
            court.policy(FULL).permit(ask(needs=()), court.preview)
        soul.unlink()
        with pytest.raises(Refused, match="missing"):
            court.policy(FULL).permit(ask(needs=()), court.preview)

    def test_a_halt_comes_before_everything(self, court: Court) -> None:
        court.halts.halt("smoke")
        with pytest.raises(Refused, match="smoke"):
            court.policy(FULL).permit(ask(needs=()), court.preview)


def break_at(monkeypatch: pytest.MonkeyPatch, where: str) -> Callable[[Court], Policy]:
    """A policy one of whose parts fails."""
    if where in ("halted", "constitution_check", "quotas"):
        return lambda court: court.policy(**{where: failing})
    monkeypatch.setattr(where, failing)
    return lambda court: court.policy()


@pytest.mark.parametrize(
    "where",
    [
        "halted", "constitution_check", "quotas", "metnos.law.policy.canonical_path", "metnos.law.policy.why_forbidden",
        "metnos.law.policy.place_of_host", "metnos.law.policy.levels.use_of", "metnos.law.policy.lower",
        "metnos.law.grants.Grants.covers", "metnos.law.inbox.Inbox.standing", "metnos.law.inbox.Inbox.take",
        "metnos.law.inbox.Inbox.ask", "metnos.law.permit.Mint.mint", "metnos.law.policy.approval_digest",
        "metnos.law.principal.Principal.known", "metnos.law.audit.Audit.append",
    ],
)  # fmt: skip
def test_whatever_fails_on_the_way_means_no(court: Court, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    wanted = ask(needs=(WRITE, FETCH))
    if where != "metnos.law.inbox.Inbox.ask":
        court.inbox.approve(wait(court.policy(), court, wanted), OWNER)
    policy = break_at(monkeypatch, where)(court)
    if where == "metnos.law.principal.Principal.known":
        monkeypatch.setattr(where, property(failing))
    with pytest.raises(Refused) as caught:
        policy.permit(wanted, court.preview)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert "secret content" not in str(caught.value)
    assert len(court.mint) == 0


def test_a_preview_that_fails_means_no_and_says_why(court: Court) -> None:
    with pytest.raises(Refused) as caught:
        court.policy().permit(ASK, failing)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)

    def missing() -> Any:
        raise ExecutorFailed("there is no folder /x", kind="not_found", fix="Name another.")

    with pytest.raises(ExecutorFailed, match="there is no folder /x"):
        court.policy().permit(ASK, missing)
    assert court.inbox.newest(9) == []


class TestExplaining:
    def test_every_step_in_order_and_nothing_changes(self, court: Court) -> None:
        policy = court.policy()
        said = policy.explain(ASK)
        assert [name for name, _, _ in said] == [
            "panic", "constitution", "principal", "request", "forbidden paths", "addresses", "level", "grants",
            "origin", "approval", "quotas",
        ]  # fmt: skip
        assert [verdict for _, verdict, _ in said[:6]] == [Verdict.ALLOW] * 6
        assert said[-2][1:] == (Verdict.ASK, "the owner would be asked")
        assert court.inbox.newest(9) == []
        item = wait(policy, court)
        assert f"question {item} is waiting" in policy.explain(ASK)[-2][2]

    def test_what_content_may_have_suggested_is_asked_at_every_level_and_past_every_grant(self, court: Court) -> None:
        tainted = replace(ASK, tainted=True)
        assert court.policy(FULL).decide(ASK).verdict is Verdict.ALLOW
        said = court.policy(FULL).decide(tainted)
        assert (said.verdict, said.rule) == (Verdict.ASK, "origin")
        assert court.policy(READ_ONLY).decide(tainted).verdict is Verdict.REFUSE

    def test_it_ends_at_the_first_refusal(self, court: Court) -> None:
        said = court.policy(READ_ONLY).explain(ASK)
        assert (said[-1][0], said[-1][1]) == ("level", Verdict.REFUSE)
        assert court.policy(FULL, quotas=lambda _: "no more").explain(ASK)[-1] == ("quotas", Verdict.REFUSE, "no more")
        assert court.policy(FULL, quotas=failing).explain(ASK)[-1][:2] == ("quotas", Verdict.REFUSE)
        assert court.policy(FULL).explain(ASK)[-2] == ("origin", Verdict.ALLOW, "adds nothing")
