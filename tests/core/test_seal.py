import json

import pytest

from metnos.core import seal as sealing
from metnos.core.seal import seal, unseal


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a guess costs is proved once; the other tests do not pay for it."""
    monkeypatch.setattr(sealing, "_N", 1 << 10)


@pytest.mark.slow
def test_only_the_passphrase_opens_it() -> None:
    """At its real cost."""
    sealed = seal(b"secret", "correct horse")
    assert json.loads(sealed)["n"] == 1 << 17
    assert b"secret" not in sealed
    assert unseal(sealed, "correct horse") == b"secret"
    assert unseal(sealed, "wrong horse") is None


@pytest.mark.usefixtures("cheap")
def test_two_seals_of_one_thing_differ() -> None:
    assert seal(b"secret", "correct horse") != seal(b"secret", "correct horse")


@pytest.mark.usefixtures("cheap")
def test_a_changed_byte_opens_nothing() -> None:
    data = json.loads(seal(b"secret", "correct horse"))
    for name in ("salt", "nonce", "cipher"):
        changed = data | {name: ("B" if data[name][0] == "A" else "A") + data[name][1:]}
        assert unseal(json.dumps(changed).encode(), "correct horse") is None


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b"[]", b"null", b"\xff", b'{"n": 1e300, "salt": "", "nonce": "", "cipher": ""}']
)
def test_nonsense_opens_nothing_and_raises_nothing(raw: bytes) -> None:
    assert unseal(raw, "correct horse") is None


@pytest.mark.usefixtures("cheap")
@pytest.mark.parametrize("cost", [1 << 22, 1 << 40])
def test_a_cost_meant_to_exhaust_the_machine_is_refused(cost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.loads(seal(b"secret", "correct horse")) | {"n": cost}
    monkeypatch.setattr(sealing, "_key", lambda *_: pytest.fail("it was paid"))
    assert unseal(json.dumps(data).encode(), "correct horse") is None
