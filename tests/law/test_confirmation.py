import pytest

from metnos import app
from metnos.core import sign
from metnos.core.errors import Refused
from metnos.law.confirmation import CONFIRMED, PURPOSE, WITHDRAWN, Confirmations
from metnos.law.principal import Autonomy, Channel, Principal

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
DIGEST, OTHER = "a" * 64, "b" * 64


def test_a_confirmation_is_for_one_name_with_one_digest(opened: app.App) -> None:
    kept = opened.confirmations
    assert not kept.holds("notes", DIGEST)
    kept.confirm("notes", DIGEST, OWNER)
    assert kept.holds("notes", DIGEST)
    assert not kept.holds("notes", OTHER)
    assert not kept.holds("other", DIGEST)
    kept.confirm("notes", OTHER, OWNER)
    assert (kept.holds("notes", OTHER), kept.holds("notes", DIGEST)) == (True, False)
    assert (kept.withdraw("notes"), kept.withdraw("notes")) == (True, False)
    assert not kept.holds("notes", OTHER)
    assert [line.kind for line in opened.audit.newest()][:3] == [WITHDRAWN, CONFIRMED, CONFIRMED]


@pytest.mark.parametrize("level", Autonomy)
@pytest.mark.parametrize("channel", Channel)
def test_only_a_person_at_a_terminal_confirms(opened: app.App, channel: Channel, level: Autonomy) -> None:
    by = Principal(channel, "owner", level)
    if channel is Channel.TERMINAL and level is not Autonomy.READ_ONLY:
        opened.confirmations.confirm("notes", DIGEST, by)
        return
    with pytest.raises(Refused):
        opened.confirmations.confirm("notes", DIGEST, by)
    assert not opened.confirmations.holds("notes", DIGEST)


def test_what_another_agent_confirmed_is_not_confirmed(opened: app.App) -> None:
    stranger = sign.Signer(sign.Ed25519PrivateKey.generate())
    theirs = Confirmations(opened.seat.db, stranger, opened.clock, opened.audit)
    theirs.confirm("notes", DIGEST, OWNER)
    assert theirs.holds("notes", DIGEST)
    assert not opened.confirmations.holds("notes", DIGEST)


def test_a_signature_of_this_agent_for_something_else_is_none(opened: app.App) -> None:
    for purpose, message in ((PURPOSE, b'["other","%s"]' % DIGEST.encode()), ("executor", b'["notes","x"]')):
        signature = opened.seat.signer.sign(purpose, message)
        with opened.seat.db.write() as tx:
            tx.execute("INSERT OR REPLACE INTO confirmed_servers VALUES ('notes', ?, '', ?)", (DIGEST, signature))
        assert not opened.confirmations.holds("notes", DIGEST)
