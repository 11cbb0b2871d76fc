import pytest

from law.asks import OWNER, Court, others
from metnos.core.errors import AuditError, Refused
from metnos.law.halt import Halts, Running
from metnos.law.principal import Principal
from support import at_once, kinds


def test_it_holds_until_the_owner_lifts_it(court: Court) -> None:
    assert court.halts.halted() is None
    court.halts.halt("smoke")
    court.halts.halt("fire")
    assert "fire" in (court.halts.why() or "")
    assert court.halts.lift(OWNER)
    assert court.halts.halted() is None
    assert not court.halts.lift(OWNER)
    assert kinds(court.opened.workspace)[-3:] == ["everything halted", "everything halted", "halt lifted"]


def test_it_holds_in_every_process(court: Court) -> None:
    at_once([lambda: court.halts.halt("from elsewhere")])
    assert "from elsewhere" in (court.halts.why() or "")


@pytest.mark.parametrize("stranger", others(), ids=str)
def test_nobody_else_lifts_it(court: Court, stranger: Principal) -> None:
    court.halts.halt("x")
    with pytest.raises(Refused):
        court.halts.lift(stranger)
    assert court.halts.halted() is not None


def test_what_is_halted_for_good_nobody_lifts(court: Court) -> None:
    court.halts.halt("it is retired", for_good=True)
    court.halts.halt("fire")
    with pytest.raises(Refused, match="for good: it is retired"):
        court.halts.lift(OWNER)
    assert court.halts.is_for_good()
    halt = court.halts.halted()
    assert halt is not None
    assert "fire" in halt.why
    assert "--lift" not in halt.fix


def test_without_a_reason_it_holds_too(court: Court) -> None:
    court.halts.halt("")
    assert court.halts.halted()


def test_stopping_does_not_wait_for_the_audit_and_lifting_does(court: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise AuditError("the disk is full")

    court.halts.halt("x")
    court.halts.lift(OWNER)
    monkeypatch.setattr(type(court.opened.audit), "append", full)
    with pytest.raises(AuditError):
        court.halts.halt("smoke")
    assert court.halts.halted() is not None
    with pytest.raises(AuditError):
        court.halts.lift(OWNER)
    assert court.halts.halted() is not None


def test_what_runs_is_known_to_every_process(court: Court) -> None:
    court.halts.register(4321, "100")
    court.halts.register(4321, "200")  # the number came back
    court.halts.register(99, "7")
    (found,) = at_once([Halts(court.opened.seat.db, court.opened.audit, court.opened.clock).running])
    assert found == [Running(99, "7"), Running(4321, "200")]
    court.halts.unregister(4321)
    court.halts.unregister(4321)
    assert court.halts.running() == [Running(99, "7")]
