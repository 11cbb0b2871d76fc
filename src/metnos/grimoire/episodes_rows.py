"""Episodes as rows, and conditions as SQL, for both engines.

Rules: what is read is what was written, made storable (see `content`); no value is ever part of a statement's text,
except as a quoted literal where an engine takes no parameters. Pure.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from metnos.core.clock import from_text, to_text
from metnos.grimoire import content
from metnos.grimoire.affect import NEUTRAL, Pad
from metnos.grimoire.episode import Episode, Mark, Provenance, Scope, Verdict, Viewer, Where

PAYLOAD_BYTES = 1024 * 1024  # of one episode: four times what medium memory keeps of a step

COLUMNS = (
    *("seq", "id", "ts", "source", "kind", "sender", "session", "scope", "domain", "tags", "provenance", "curiosity"),
    *("pleasure", "arousal", "dominance", "importance", "verdict", "replays", "used", "used_at", "pinned"),
    *("bloodstain", "text", "payload"),
)
LIST = ", ".join(COLUMNS)
OUTLINE = (
    *("seq", "id", "ts", "sender", "session", "provenance", "curiosity", "pleasure", "arousal", "dominance"),
    *("importance", "used_at", "pinned", "bloodstain", "text"),
)

OUTLINE_LIST = ", ".join(OUTLINE)

Row = tuple[Any, ...]

# By a look instead of a call: a question reads hundreds of rows.
_SCOPES, _VERDICTS = {str(each): each for each in Scope}, {str(each): each for each in Verdict}
_PROVENANCES = {str(each): each for each in Provenance}
_NO_TAGS = "[]"


class Outline(NamedTuple):
    """What of an episode decides whether it is recalled, and in which place: without what may be long, but its text."""

    seq: int
    id: str
    ts: datetime
    sender: str
    session: str
    provenance: Provenance
    curiosity: float
    pad: Pad
    importance: float | None
    used_at: datetime | None
    pinned: bool
    bloodstain: bool
    text: str


class Hit(NamedTuple):
    """An episode that an engine found, and how near it is: a cosine, or a rank by words (higher is nearer)."""

    of: Outline
    score: float

    @property
    def id(self) -> str:
        return self.of.id


class Condition(NamedTuple):
    """A condition with a ``?`` for each value; an empty one holds always."""

    sql: str
    values: tuple[str, ...]

    @property
    def literal(self) -> str:
        """The same with the values in it, for an engine without parameters."""
        parts = self.sql.split("?")
        quoted = [_quoted(each) for each in self.values] + [""]
        return "".join(part + value for part, value in zip(parts, quoted, strict=True))


# -- rows


def to_row(each: Episode, seq: int) -> Row:
    """In the order of `COLUMNS`."""
    pad = each.pad
    return (
        *(seq, storable(each.id), to_text(each.ts), storable(each.source), storable(each.kind)),
        *(storable(each.sender), storable(each.session), str(each.scope), storable(each.domain)),
        json.dumps([storable(tag) for tag in each.tags], ensure_ascii=False),
        *(str(each.provenance), content.number(each.curiosity)),
        *(content.number(pad.pleasure), content.number(pad.arousal), content.number(pad.dominance)),
        None if each.importance is None else content.number(each.importance),
        *(str(each.verdict), each.replays, each.used),
        None if each.used_at is None else to_text(each.used_at),
        *(int(each.pinned), int(each.bloodstain), storable(each.text), content.mapping(each.payload, PAYLOAD_BYTES)),
    )


def from_row(row: Sequence[Any]) -> Episode:
    """The inverse of `to_row`."""
    seq, key, ts, source, kind, sender, session, scope, domain, tags, provenance, curiosity = row[:12]
    pleasure, arousal, dominance, importance, verdict, replays, used, used_at, pinned, bloodstain = row[12:22]
    text, payload = row[22:]
    return Episode(
        id=key,
        ts=from_text(ts),
        text=text,
        source=source,
        kind=kind,
        payload=json.loads(payload),
        sender=sender,
        session=session,
        scope=_SCOPES[scope],
        domain=domain,
        tags=() if tags == _NO_TAGS else tuple(json.loads(tags)),
        provenance=_PROVENANCES[provenance],
        curiosity=curiosity,
        pad=Pad(pleasure, arousal, dominance),
        importance=importance,
        verdict=_VERDICTS[verdict],
        replays=replays,
        used=used,
        used_at=None if used_at is None else from_text(used_at),
        pinned=bool(pinned),
        bloodstain=bool(bloodstain),
        seq=seq,
    )


def outline(row: Sequence[Any]) -> Outline:
    """Of a row in the order of `OUTLINE`."""
    seq, key, ts, sender, session, provenance, curiosity, pleasure, arousal, dominance = row[:10]
    importance, used_at, pinned, bloodstain, text = row[10:]
    return Outline(
        *(seq, key, from_text(ts), sender, session, _PROVENANCES[provenance], curiosity),
        Pad(pleasure, arousal, dominance) if pleasure or arousal or dominance else NEUTRAL,
        *(importance, None if used_at is None else from_text(used_at), bool(pinned), bool(bloodstain), text),
    )


def outline_of(each: Episode) -> Outline:
    return Outline(*(getattr(each, name) for name in Outline._fields))


def changes(mark: Mark) -> dict[str, str | int | float]:
    """What a mark sets, by column; what it adds to is `additions`."""
    pad = mark.pad
    given: Mapping[str, str | int | float | None] = {
        "importance": None if mark.importance is None else content.number(mark.importance),
        "verdict": None if mark.verdict is None else str(mark.verdict),
        "pleasure": None if pad is None else content.number(pad.pleasure),
        "arousal": None if pad is None else content.number(pad.arousal),
        "dominance": None if pad is None else content.number(pad.dominance),
        "pinned": None if mark.pinned is None else int(mark.pinned),
        "bloodstain": None if mark.bloodstain is None else int(mark.bloodstain),
        "used_at": None if mark.used_at is None else to_text(mark.used_at),
    }
    return {name: value for name, value in given.items() if value is not None}


def additions(mark: Mark) -> dict[str, int]:
    return {name: value for name, value in (("replays", mark.replays), ("used", mark.used)) if value}


def storable(text: str) -> str:
    """Text that is no text (half a character) is escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


# -- conditions


def condition(where: Where, *, has_tag: str) -> Condition:
    """``has_tag`` is the engine's way to say that a row has any of some tags, with ``{}`` for their marks."""
    parts: list[str] = []
    values: list[str] = []
    for column, wanted in (
        ("scope", where.scopes),
        ("sender", where.senders),
        ("session", where.sessions),
        ("domain", where.domains),
        ("kind", where.kinds),
        ("verdict", where.verdicts),
    ):
        if wanted:
            parts.append(f"{column} IN ({marks(len(wanted))})")
            values += [storable(str(each)) for each in wanted]
    if where.tags:
        parts.append(has_tag.format(marks(len(where.tags))))
        values += [storable(each) for each in where.tags]
    for sign, moment in ((">=", where.since), ("<", where.until)):
        if moment is not None:
            parts.append(f"ts {sign} ?")
            values.append(to_text(moment))
    if where.visible_to is not None:
        visible = _visible(where.visible_to)
        parts.append(visible.sql)
        values += visible.values
    return Condition(" AND ".join(parts), tuple(values))


def marks(count: int) -> str:
    return ", ".join("?" * count)


def _visible(viewer: Viewer) -> Condition:
    """The owner sees what is not bound to another session or sender; others only what is theirs or shared."""
    free = "scope IN ('owner', 'agent', 'shared')" if viewer.is_owner else "scope = 'shared'"
    bound = "sender = ? AND (scope = 'sender' OR (scope = 'session' AND session = ? AND session <> ''))"
    return Condition(f"({free} OR ({bound}))", (storable(viewer.sender), storable(viewer.session)))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
