"""Devices: whoever speaks for the owner from elsewhere than the terminal, and how they came to be trusted.

A device is a browser, a program or an account of a messenger. It comes in by a code that the owner made: signed with
the agent's key, for one channel, with a level, for minutes, and good for one time. The link that the terminal prints is
such a code. A browser or a program then holds a secret, of which only the digest is kept here; a messenger vouches for
its senders itself.

Rules: a code gives no more than its maker has, neither in level nor in time, and is worth nothing when its maker is not
let in any more; of any number who redeem one code at once, one gets in; a device ends at its time, and can be ended at
any moment, by itself or by whoever has no lower level. Only digests of codes and secrets are stored, and neither
reaches the audit. Does not guarantee that whoever a device let in goes with it: the list shows them.
"""

import base64
import binascii
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from metnos.core.canon import sha256_hex
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.errors import Refused, UsageError
from metnos.core.ids import UlidMaker
from metnos.core.sign import Signer, verify
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.principal import Autonomy, Channel, Principal, lower
from metnos.store.db import Database, Row
from metnos.store.migrations import Migration

PAIRED, REVOKED, OFFERED = "device paired", "device revoked", "pairing code made"
CHANNELS = (Channel.WEB, Channel.API, Channel.TELEGRAM)
MAX_MINUTES = 60
MAX_DAYS = 365

MIGRATIONS = (
    Migration(
        "0005_devices",
        (
            """CREATE TABLE pairing_codes (
                digest TEXT PRIMARY KEY CHECK (length(digest) = 64),
                channel TEXT NOT NULL,
                level TEXT NOT NULL,
                name TEXT NOT NULL,
                days REAL NOT NULL,
                created TEXT NOT NULL,
                expires TEXT NOT NULL,
                used TEXT
            ) STRICT""",
            """CREATE TABLE devices (
                id TEXT PRIMARY KEY,
                channel TEXT NOT NULL,
                sender TEXT NOT NULL,
                name TEXT NOT NULL,
                level TEXT NOT NULL,
                secret TEXT UNIQUE,
                created TEXT NOT NULL,
                expires TEXT NOT NULL,
                seen TEXT NOT NULL,
                revoked TEXT
            ) STRICT""",
            "CREATE UNIQUE INDEX devices_one_sender ON devices (channel, sender) WHERE revoked IS NULL",
        ),
    ),
    Migration(
        "0006_makers_of_codes",  # the id of the device that made a code; none if that was the terminal
        ("ALTER TABLE pairing_codes ADD COLUMN maker TEXT",),
    ),
)

_PURPOSE = "pairing code"
_NONCE = 16  # bytes
_SIGNATURE = 64
_SEEN = timedelta(hours=1)  # how exactly it is known when a device was last there: a write for each request is too much
_LONGEST_NAME = 60
_COLUMNS = "id, channel, sender, name, level, created, expires, seen, revoked"
_NO_CODE = "this code is not valid: it was used, is too old, or was never made here"


@dataclass(frozen=True, slots=True)
class Device:
    """One that was let in."""

    id: str
    channel: Channel
    sender: str
    name: str
    level: Autonomy
    created: datetime
    expires: datetime
    seen: datetime
    revoked: datetime | None

    @property
    def principal(self) -> Principal:
        return Principal(self.channel, self.sender, self.level)

    def is_active(self, now: datetime) -> bool:
        return self.revoked is None and self.created - _SEEN <= now < self.expires


class Pairing:
    """All devices of one workspace."""

    def __init__(self, db: Database, signer: Signer, clock: Clock, audit: Audit) -> None:
        self._db = db
        self._signer = signer
        self._clock = clock
        self._audit = audit
        self._ids = UlidMaker(clock)

    # -- letting in

    def offer(
        self,
        channel: Channel,
        level: Autonomy,
        minutes: float,
        by: Principal,
        *,
        name: str = "",
        days: float = MAX_DAYS,
    ) -> str:
        """Make a code. Whoever redeems it in time has that level on that channel, for so many days.

        If a device makes it, then not for longer than that device itself is let in.
        """
        _refuse_wrong(by, channel, level, minutes, days)
        maker = self._maker(by)
        now = self._clock.now()
        nonce = secrets.token_bytes(_NONCE)
        signature = bytes.fromhex(self._signer.sign(_PURPOSE, nonce))
        row = (sha256_hex(nonce), channel, level, _name(name), days, to_text(now))
        with self._db.write() as tx:
            self._audit.append(Entry(OFFERED, {"channel": channel, "level": level, "by": str(by)}))
            # Codes that came to nothing are of no use to anybody.
            tx.execute("DELETE FROM pairing_codes WHERE expires <= ? OR used IS NOT NULL", (to_text(now),))
            tx.execute(
                "INSERT INTO pairing_codes (digest, channel, level, name, days, created, expires, maker)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, to_text(now + timedelta(minutes=minutes)), maker),
            )
        return base64.urlsafe_b64encode(nonce + signature).rstrip(b"=").decode()

    def redeem(self, code: str, channel: Channel, sender: str = "", name: str = "") -> tuple[Device, str]:
        """Let in whoever brings a valid code; returns the device and its secret, which is told this once.

        ``sender`` is for a channel that vouches for its senders, and then there is no secret.
        """
        nonce = self._nonce(code)
        now = self._clock.now()
        with self._db.write() as tx:
            row = tx.first(
                "SELECT level, name, days, maker FROM pairing_codes WHERE digest = ? AND channel = ? AND used IS NULL"
                " AND created <= ? AND expires > ?",
                (sha256_hex(nonce), channel, to_text(now + timedelta(minutes=5)), to_text(now)),
            )
            until = None if row is None else self._until(now, *row[2:])
            if row is None or until is None:
                raise Refused(_NO_CODE, fix="Make another: metnos device pair")
            level, offered, _, _ = row
            tx.execute("UPDATE pairing_codes SET used = ? WHERE digest = ?", (to_text(now), sha256_hex(nonce)))
            key = self._ids()
            secret = "" if sender else secrets.token_urlsafe(32)
            who = sender or f"{channel}-{key[-10:].lower()}"
            if not Principal(channel, who, Autonomy(level)).known:
                raise UsageError("that sender's name cannot be kept", fix="Use letters, digits, dots and dashes.")
            tx.execute(
                "UPDATE devices SET revoked = ? WHERE channel = ? AND sender = ? AND revoked IS NULL",
                (to_text(now), channel, who),
            )
            self._audit.append(Entry(PAIRED, {"device": key, "channel": channel, "sender": who, "level": level}))
            tx.execute(
                "INSERT INTO devices (id, channel, sender, name, level, secret, created, expires, seen)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (key, channel, who, _name(name) or offered, level, sha256_hex(secret.encode()) if secret else None,
                 to_text(now), to_text(until), to_text(now)),
            )  # fmt: skip
            found = tx.first(f"SELECT {_COLUMNS} FROM devices WHERE id = ?", (key,))  # noqa: S608 -- constants
        if found is None:
            raise Refused(_NO_CODE)
        return _device(found), secret

    def waits(self, code: str) -> bool:
        """Whether nobody has brought this code yet."""
        digest = sha256_hex(self._nonce(code))
        return self._db.first("SELECT 1 FROM pairing_codes WHERE digest = ? AND used IS NULL", (digest,)) is not None

    # -- knowing again

    def by_secret(self, secret: str, channel: Channel) -> Device | None:
        """Whose secret this is, if they may still come in."""
        return self._one("secret = ? AND channel = ?", (sha256_hex(secret.encode("utf-8", "replace")), channel))

    def device(self, channel: Channel, sender: str) -> Device | None:
        """The device of a sender, if they may still come in."""
        return self._one("channel = ? AND sender = ? AND revoked IS NULL", (channel, sender))

    def is_stale(self, device: Device) -> bool:
        """Whether it was not noted lately that a device was here."""
        return abs(self._clock.now() - device.seen) > _SEEN

    def touch(self, device: Device) -> None:
        """Note that a device is here."""
        with self._db.write() as tx:
            tx.execute("UPDATE devices SET seen = ? WHERE id = ?", (to_text(self._clock.now()), device.id))

    def devices(self) -> list[Device]:
        """Every one that may come in, the newest first."""
        now = self._clock.now()
        rows = self._db.query(f"SELECT {_COLUMNS} FROM devices ORDER BY id DESC")  # noqa: S608 -- constants
        return [each for each in map(_device, rows) if each.is_active(now)]

    def revoke(self, part: str, by: Principal) -> Device:
        """End a device now, and with it the codes that it made; the last letters of its id are enough."""
        if not by.is_owner:
            raise Refused(f"{by} may not remove a device", fix="Do it at the terminal or on the web page.")
        found = [each for each in self.devices() if part and each.id.endswith(part.upper())]
        if len(found) != 1:
            raise UsageError(
                f"{'more than one' if found else 'no'} device has an id like {part!r}", fix="See: metnos device list"
            )
        _refuse_higher(by, found[0])
        with self._db.write() as tx:
            names = {"device": found[0].id, "channel": found[0].channel, "by": str(by)}
            self._audit.append(Entry(REVOKED, names))
            now = to_text(self._clock.now())
            tx.execute("UPDATE devices SET revoked = ?, secret = NULL WHERE id = ?", (now, found[0].id))
            tx.execute("DELETE FROM pairing_codes WHERE maker = ?", (found[0].id,))
        return found[0]

    # -- inside

    def _nonce(self, code: str) -> bytes:
        """What a code carries, if the agent's key signed it."""
        try:
            raw = base64.urlsafe_b64decode(code.encode("ascii") + b"=" * (-len(code) % 4))
        except (UnicodeEncodeError, binascii.Error, ValueError):
            raw = b""
        nonce, signature = raw[:_NONCE], raw[_NONCE:]
        if len(signature) != _SIGNATURE or not verify(self._signer.public, _PURPOSE, nonce, signature.hex()):
            raise Refused(_NO_CODE, fix="Make one: metnos device pair")
        return nonce

    def _maker(self, by: Principal) -> str | None:
        """The device that makes a code; none for the terminal."""
        if by.channel is Channel.TERMINAL:
            return None
        device = self.device(by.channel, by.sender)
        if device is None:
            raise Refused(f"{by} is not let in any more", fix="Do it at the terminal: metnos device pair")
        return device.id

    def _until(self, now: datetime, days: float, maker: str | None) -> datetime | None:
        """When a device that comes in now has to go; none if it cannot come in."""
        wanted = now + timedelta(days=days)
        if maker is None:
            return wanted
        device = self._one("id = ?", (maker,))
        return None if device is None else min(wanted, device.expires)

    def _one(self, where: str, values: tuple[str, ...]) -> Device | None:
        row = self._db.first(f"SELECT {_COLUMNS} FROM devices WHERE {where}", values)  # noqa: S608 -- constants
        now = self._clock.now()
        found = None if row is None else _device(row)
        if found is None or not found.is_active(now):
            return None
        return found


def _refuse_wrong(by: Principal, channel: Channel, level: Autonomy, minutes: float, days: float) -> None:
    _refuse_stranger(by)
    if channel not in CHANNELS:
        raise UsageError(f"nobody is paired for the channel {channel}", fix=f"There are: {', '.join(CHANNELS)}.")
    if lower(by.level, level) is not level:
        raise Refused(f"{by} has the level {by.level} and cannot give {level}", fix="Do it at the terminal.")
    if not 0 < minutes <= MAX_MINUTES:
        raise UsageError(f"a code is good for more than 0 and at most {MAX_MINUTES} minutes")
    if not 0 < days <= MAX_DAYS:
        raise UsageError(f"a device is let in for more than 0 and at most {MAX_DAYS} days")


def _refuse_stranger(by: Principal) -> None:
    if not by.may_answer:
        raise Refused(f"{by} cannot let a device in: a person has to", fix="Do it at a terminal where you can type.")


def _refuse_higher(by: Principal, device: Device) -> None:
    itself = (by.channel, by.sender) == (device.channel, device.sender)
    if not itself and lower(by.level, device.level) is not device.level:
        raise Refused(
            f"{by} has the level {by.level} and may not remove a device with the level {device.level}",
            fix=f"Do it at the terminal: metnos device revoke {device.id[-6:]}",
        )


def _name(text: str) -> str:
    return "".join(each for each in text if each.isprintable())[:_LONGEST_NAME].strip()


@lru_cache(maxsize=64)
def _device(row: Row) -> Device:
    """A row that is as it was is read once: who is let in is asked before everything else."""
    key, channel, sender, name, level, created, expires, seen, revoked = row
    return Device(
        id=key,
        channel=Channel(channel),
        sender=sender,
        name=name,
        level=Autonomy(level),
        created=from_text(created),
        expires=from_text(expires),
        seen=from_text(seen),
        revoked=from_text(revoked) if revoked else None,
    )
