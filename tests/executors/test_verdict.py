import dataclasses

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from executors.samples import START, manifest_text, sample_files
from metnos.core.canon import sha256_hex
from metnos.core.errors import ManifestError
from metnos.core.sign import Signer
from metnos.executors import index, manifest, signature, verdict
from metnos.executors.folder import Content
from metnos.executors.signature import Origin, Signed
from metnos.executors.state import State, severity

NAME = "find_files"
SIGNER = Signer(Ed25519PrivateKey.generate())
FILES = sample_files()
CANONICAL = sha256_hex(manifest.parse(manifest_text()).canonical())
DIGESTS = signature.file_digests(FILES)
SIGNED = Signed(
    NAME, "1.0.0", signature.identity(CANONICAL, DIGESTS), DIGESTS, CANONICAL, Origin.OWNER, State.ACTIVE, "mine",
    START, 2,
)  # fmt: skip
ENTRY = index.from_signed(SIGNED, START)
KEPT = st.sampled_from(sorted(set(State) - {State.DRAFT}))


def content(signed: Signed = SIGNED, **changes: bytes) -> Content:
    return Content(NAME, {**FILES, "signature": signed.encode(SIGNER), **changes}, ())


def judge(entry: index.Entry | None, found: Content | None) -> verdict.Verdict:
    return verdict.judge(NAME, entry, found, SIGNER.public)


@given(KEPT, KEPT, st.integers(1, 3))
def test_nothing_is_freer_than_either_place_says(listed: State, signed: State, serial: int) -> None:
    found = judge(
        dataclasses.replace(ENTRY, state=listed), content(dataclasses.replace(SIGNED, state=signed, serial=serial))
    )
    stale = serial < ENTRY.serial
    assert severity(found.state) >= max(severity(listed), 0 if stale else severity(signed))
    assert found.tampered is stale
    assert found.serial == max(serial, ENTRY.serial)


def test_what_was_revoked_does_not_become_less_by_being_changed() -> None:
    revoked = dataclasses.replace(SIGNED, state=State.REVOKED, serial=3)
    found = judge(ENTRY, content(revoked, **{"executor.py": b"changed"}))
    assert (found.state, found.tampered) == (State.REVOKED, True)


def test_the_same_serial_on_other_content_is_an_older_signature() -> None:
    found = judge(dataclasses.replace(ENTRY, digest="0" * 64), content())
    assert [problem.wrong for problem in found.problems] == ["old-signature"]


def test_a_draft_an_unlisted_one_and_nothing_at_all() -> None:
    draft = judge(None, Content(NAME, FILES, ()))
    assert (draft.state, draft.tampered, draft.unlisted, draft.exists) == (State.DRAFT, False, False, True)
    unlisted = judge(None, content())
    assert (unlisted.state, unlisted.tampered, unlisted.unlisted) == (State.DRAFT, False, True)
    nothing = judge(None, None)
    assert (nothing.exists, nothing.tampered) == (False, False)


def test_a_bad_signature_without_an_entry_is_no_draft() -> None:
    found = judge(None, Content(NAME, {**FILES, "signature": b"{}"}, ()))
    assert (found.state, found.tampered) == (State.QUARANTINE, True)


def test_the_record_of_a_draft_has_the_digest_that_signing_will_give_it() -> None:
    assert verdict.record(judge(None, Content(NAME, FILES, ()))).digest == SIGNED.digest
    assert verdict.record(judge(ENTRY, content())).digest == SIGNED.digest


def test_no_record_without_files_text_and_its_own_manifest() -> None:
    with pytest.raises(ManifestError, match="lacks manifest"):
        verdict.record(judge(None, Content(NAME, {}, ())))
    with pytest.raises(ManifestError, match="not UTF-8"):
        verdict.record(judge(None, Content(NAME, {**FILES, "executor.py": b"\xff"}, ())))
    with pytest.raises(ManifestError, match="holds the manifest of read_files"):
        verdict.record(judge(None, Content(NAME, sample_files("read_files"), ())))
