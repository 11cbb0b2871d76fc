"""Whoever comes in from elsewhere brings a code of ours, once and in time, and gets no more than its maker has."""

import base64
import threading
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from law.asks import OWNER, others
from metnos import app
from metnos.core.clock import MovableClock
from metnos.core.errors import MetnosError, Refused, UsageError
from metnos.core.workspace import Workspace
from metnos.law.audit_log import backwards
from metnos.law.pairing import Device, Pairing
from metnos.law.principal import Autonomy, Channel

WEB, API, TELEGRAM = Channel.WEB, Channel.API, Channel.TELEGRAM
FULL, SUPERVISED, LOOK = Autonomy.FULL, Autonomy.SUPERVISED, Autonomy.READ_ONLY


@pytest.fixture
def pairing(opened: app.App) -> Pairing:
    return opened.pairing


def test_a_code_lets_one_in_once(pairing: Pairing) -> None:
    code = pairing.offer(WEB, SUPERVISED, 10, OWNER, name="phone")
    device, secret = pairing.redeem(code, WEB)
    assert (device.level, device.name, device.channel) == (SUPERVISED, "phone", WEB)
    assert device.principal.may_answer
    assert pairing.by_secret(secret, WEB) == device
    with pytest.raises(Refused, match="not valid"):
        pairing.redeem(code, WEB)
    assert pairing.devices() == [device]


def test_of_many_who_bring_one_code_at_once_one_gets_in(pairing: Pairing) -> None:
    code = pairing.offer(WEB, FULL, 10, OWNER)
    got: list[Device] = []
    refused: list[MetnosError] = []

    def bring() -> None:
        try:
            got.append(pairing.redeem(code, WEB)[0])
        except MetnosError as error:
            refused.append(error)

    threads = [threading.Thread(target=bring) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (len(got), len(refused)) == (1, 7)


def test_a_code_ends_by_itself_and_is_worth_nothing_before_it_was_made(pairing: Pairing, clock: MovableClock) -> None:
    late, early = pairing.offer(WEB, FULL, 10, OWNER), pairing.offer(WEB, FULL, 10, OWNER)
    clock.move(timedelta(minutes=10))
    with pytest.raises(Refused):
        pairing.redeem(late, WEB)
    clock.move(timedelta(minutes=-30))
    with pytest.raises(Refused):
        pairing.redeem(early, WEB)


def test_a_code_is_for_its_channel(pairing: Pairing) -> None:
    code = pairing.offer(TELEGRAM, FULL, 10, OWNER)
    for other in (WEB, API):
        with pytest.raises(Refused):
            pairing.redeem(code, other)
    device, secret = pairing.redeem(code, TELEGRAM, "tg:42")
    assert (secret, device.sender) == ("", "tg:42")
    assert pairing.device(TELEGRAM, "tg:42") == device
    assert pairing.device(TELEGRAM, "tg:43") is None
    assert pairing.device(WEB, "tg:42") is None


@pytest.mark.slow
def test_a_code_of_another_agent_is_worth_nothing(pairing: Pairing, tmp_path: object, clock: MovableClock) -> None:
    elsewhere = Workspace(tmp_path / "elsewhere")  # type: ignore[operator]
    app.found(elsewhere)
    foreign = app.App.open(elsewhere, clock).pairing.offer(WEB, FULL, 10, OWNER)
    with pytest.raises(Refused):
        pairing.redeem(foreign, WEB)


@given(place=st.integers(0, 79), bit=st.integers(0, 7))
def test_no_bit_of_a_code_can_be_changed(place: int, bit: int) -> None:
    pairing, code = _one()
    raw = bytearray(base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)))
    raw[place] ^= 1 << bit
    with pytest.raises(Refused):
        pairing.redeem(base64.urlsafe_b64encode(bytes(raw)).decode(), WEB)


@given(text=st.text(max_size=200))
def test_whatever_is_brought_instead_of_a_code_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        _one()[0].redeem(text, WEB)


_ONE: list[tuple[Pairing, str]] = []


def _one() -> tuple[Pairing, str]:
    """One code for all examples of a property: none of them uses it up."""
    return _ONE[0]


@pytest.fixture(autouse=True)
def _kept(pairing: Pairing) -> None:
    _ONE[:] = [(pairing, pairing.offer(WEB, FULL, 10, OWNER))]


def test_nobody_gives_more_than_they_have_and_strangers_give_nothing(pairing: Pairing) -> None:
    modest = pairing.redeem(pairing.offer(WEB, SUPERVISED, 10, OWNER), WEB)[0].principal
    with pytest.raises(Refused, match="cannot give full"):
        pairing.offer(WEB, FULL, 10, modest)
    assert pairing.offer(WEB, SUPERVISED, 10, modest)
    for stranger in others():
        with pytest.raises(Refused):
            pairing.offer(WEB, LOOK, 10, stranger)
        with pytest.raises(
            UsageError if stranger.is_owner else Refused
        ):  # a script of the owner's may end what is there
            pairing.revoke("x", stranger)


@pytest.mark.parametrize(
    ("channel", "minutes", "days"), [(Channel.NIGHT, 10, 9), (WEB, 0, 9), (WEB, 61, 9), (WEB, 10, 0), (WEB, 10, 366)]
)
def test_what_makes_no_sense_is_refused(pairing: Pairing, channel: Channel, minutes: float, days: float) -> None:
    with pytest.raises(UsageError):
        pairing.offer(channel, FULL, minutes, OWNER, days=days)


def test_a_device_ends_at_its_time_and_whenever_the_owner_says(pairing: Pairing, clock: MovableClock) -> None:
    first, secret = pairing.redeem(pairing.offer(WEB, FULL, 10, OWNER, days=2), WEB)
    second, other = pairing.redeem(pairing.offer(WEB, FULL, 10, OWNER), WEB)
    pairing.revoke(second.id[-6:], OWNER)
    assert pairing.by_secret(other, WEB) is None
    clock.move(timedelta(days=2))
    assert pairing.by_secret(secret, WEB) is None
    assert pairing.devices() == []
    with pytest.raises(UsageError, match="no device"):
        pairing.revoke(first.id, OWNER)
    with pytest.raises(UsageError):
        pairing.revoke("", OWNER)


def test_a_code_is_worth_nothing_without_who_made_it(pairing: Pairing, clock: MovableClock) -> None:
    maker, _ = pairing.redeem(pairing.offer(WEB, SUPERVISED, 10, OWNER), WEB)
    voided = pairing.offer(WEB, SUPERVISED, 60, maker.principal, days=365)
    assert pairing.waits(voided)
    pairing.revoke(maker.id, OWNER)
    assert not pairing.waits(voided)
    with pytest.raises(Refused, match="not valid"):
        pairing.redeem(voided, WEB)
    maker, _ = pairing.redeem(pairing.offer(WEB, SUPERVISED, 10, OWNER, days=0.02), WEB)
    late = pairing.offer(WEB, SUPERVISED, 60, maker.principal, days=365)
    for minutes in (40, -30):  # its own time is over, also when the clock is set back
        clock.move(timedelta(minutes=minutes))
        with pytest.raises(Refused, match="not valid"):
            pairing.redeem(late, WEB)
        with pytest.raises(Refused, match="not let in any more"):
            pairing.offer(WEB, LOOK, 10, maker.principal)


def test_a_maker_that_was_replaced_is_not_let_in_any_more(pairing: Pairing) -> None:
    first, _ = pairing.redeem(pairing.offer(TELEGRAM, FULL, 10, OWNER), TELEGRAM, "tg:42")
    code = pairing.offer(WEB, FULL, 10, first.principal)
    pairing.redeem(pairing.offer(TELEGRAM, LOOK, 10, OWNER), TELEGRAM, "tg:42")
    with pytest.raises(Refused, match="not valid"):
        pairing.redeem(code, WEB)


def test_nobody_lets_others_in_for_longer_than_themselves(pairing: Pairing) -> None:
    maker, _ = pairing.redeem(pairing.offer(WEB, FULL, 10, OWNER, days=2), WEB)
    longer, _ = pairing.redeem(pairing.offer(WEB, FULL, 10, maker.principal, days=365), WEB)
    shorter, _ = pairing.redeem(pairing.offer(WEB, FULL, 10, maker.principal, days=1), WEB)
    assert (longer.expires, shorter.expires < maker.expires) == (maker.expires, True)


def test_who_ends_a_device_has_its_level_or_is_it(pairing: Pairing) -> None:
    high, low, look = (pairing.redeem(pairing.offer(WEB, each, 10, OWNER), WEB)[0] for each in (FULL, SUPERVISED, LOOK))
    with pytest.raises(Refused) as caught:
        pairing.revoke(high.id, low.principal)
    assert "metnos device revoke" in caught.value.fix
    assert len(pairing.devices()) == 3
    pairing.revoke(look.id, low.principal)
    pairing.revoke(low.id, low.principal)
    pairing.revoke(high.id, high.principal)
    assert pairing.devices() == []


def test_who_is_paired_again_has_the_new_level_only(pairing: Pairing) -> None:
    pairing.redeem(pairing.offer(TELEGRAM, FULL, 10, OWNER), TELEGRAM, "tg:42")
    pairing.redeem(pairing.offer(TELEGRAM, LOOK, 10, OWNER), TELEGRAM, "tg:42")
    found = pairing.device(TELEGRAM, "tg:42")
    assert found is not None
    assert found.level is LOOK
    assert len(pairing.devices()) == 1


def test_a_secret_of_one_channel_opens_no_other(pairing: Pairing) -> None:
    _, secret = pairing.redeem(pairing.offer(API, FULL, 10, OWNER), API)
    assert pairing.by_secret(secret, API) is not None
    assert pairing.by_secret(secret, WEB) is None
    assert pairing.by_secret("", API) is None
    assert pairing.by_secret("\udce9", API) is None


def test_neither_code_nor_secret_is_written_anywhere(pairing: Pairing, workspace: Workspace) -> None:
    code = pairing.offer(API, FULL, 10, OWNER)
    _, secret = pairing.redeem(code, API)
    for path in workspace.root.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert code.encode() not in content
            assert secret.encode() not in content
    kinds = [line.kind for line in backwards(workspace.audit)]
    assert "device paired" in kinds
    assert "pairing code made" in kinds


def test_it_is_noted_now_and_then_that_a_device_was_here(pairing: Pairing, clock: MovableClock) -> None:
    device, secret = pairing.redeem(pairing.offer(WEB, FULL, 10, OWNER), WEB)
    assert not pairing.is_stale(device)
    clock.move(timedelta(hours=2))
    assert pairing.is_stale(device)
    pairing.touch(device)
    again = pairing.by_secret(secret, WEB)
    assert again is not None
    assert not pairing.is_stale(again)


def test_a_name_is_one_printable_line_and_a_sender_one_that_the_audit_can_hold(pairing: Pairing) -> None:
    device, _ = pairing.redeem(pairing.offer(WEB, FULL, 10, OWNER, name="a\x1b[31m\nb" + "c" * 99), WEB)
    assert device.name.isprintable()
    assert len(device.name) <= 60
    with pytest.raises(UsageError):
        pairing.redeem(pairing.offer(TELEGRAM, FULL, 10, OWNER), TELEGRAM, "no sender\n")
