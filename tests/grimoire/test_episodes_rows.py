from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire import episodes_rows as rows
from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Episode, Provenance, Scope, Verdict, Viewer, Where

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
unit = st.floats(0, 1)
side = st.floats(-1, 1)
moments = st.integers(0, 10**12).map(lambda ms: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms))
episodes = st.builds(
    Episode,
    id=words,
    ts=moments,
    text=words,
    source=words,
    kind=words,
    payload=st.dictionaries(words, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words, max_size=4),
    sender=words,
    session=words,
    scope=st.sampled_from(Scope),
    domain=words,
    tags=st.lists(words, max_size=4).map(tuple),
    provenance=st.sampled_from(Provenance),
    curiosity=unit,
    pad=st.builds(Pad, side, side, side),
    importance=st.none() | unit,
    verdict=st.sampled_from(Verdict),
    replays=st.integers(0, 99),
    used=st.integers(0, 99),
    used_at=st.none() | moments,
    pinned=st.booleans(),
    bloodstain=st.booleans(),
    seq=st.integers(1, 2**62),
)


@given(episodes)
def test_a_row_is_the_episode_again(episode: Episode) -> None:
    row = rows.to_row(episode, episode.seq)
    assert len(row) == len(rows.COLUMNS)
    assert rows.from_row(row) == episode


@given(st.lists(words, min_size=1, max_size=4), words)
def test_a_value_stays_a_value_where_there_are_no_parameters(senders: list[str], viewer: str) -> None:
    """Reading the literals back gives the values: nothing in them ends a literal before its time."""
    where = Where(senders=tuple(senders), visible_to=Viewer(sender=viewer))
    condition = rows.condition(where, has_tag="has({})")
    found, at = [], 0
    literal = condition.literal
    for value in condition.values:
        quoted = "'" + value.replace("'", "''") + "'"
        at = literal.index(quoted, at) + len(quoted)
        found.append(value)
    assert tuple(found) == condition.values
    assert literal.count("'") - sum(2 * value.count("'") + 2 for value in condition.values) == condition.sql.count("'")


def test_no_condition_holds_always() -> None:
    assert rows.condition(Where(), has_tag="has({})") == rows.Condition("", ())
