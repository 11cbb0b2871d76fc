"""One contract, two engines: every test here runs on both, as they are, with nothing in their place."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grimoire.episodes_made import OTHER, SPACE, START, episode, unit, vectors
from metnos.core.clock import MovableClock
from metnos.core.embedding import Space
from metnos.core.errors import SettingsError, StoreError
from metnos.grimoire.affect import Pad
from metnos.grimoire.episode import Mark, Provenance, Scope, Verdict, Viewer, Where
from metnos.grimoire.episodes import ENGINES, Engine, open_episodes
from metnos.grimoire.episodes_rows import outline_of
from metnos.grimoire.episodes_sqlite import SqliteEpisodes


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def store(tmp_path: Path, clock: MovableClock, engine: str) -> Iterator[Engine]:
    made = open_episodes(tmp_path / "episodes", engine, clock)
    yield made
    made.close()


def ids(found: object) -> list[str]:
    return [each.id for each in found]  # type: ignore[attr-defined]  # hits and episodes both have one


# -- taking in and reading


def test_what_is_added_is_read_as_it_was(store: Engine) -> None:
    whole = episode(
        1,
        "Grüße 🌍 'quoted' \0 end",
        kind="note",
        payload={"steps": [{"executor": "find_files", "count": 3}], "ok": True, "share": 0.5, "none": None},
        sender="guest",
        session="S1",
        scope=Scope.SENDER,
        domain="files",
        tags=("a", "it's", 'q"q'),
        provenance=Provenance.DREAM,
        curiosity=0.25,
        pad=Pad(0.5, -0.25, 0.125),
        importance=0.75,
        verdict=Verdict.VERIFIED,
        replays=2,
        used=3,
        used_at=START + timedelta(days=1),
        pinned=True,
        bloodstain=True,
    )
    plain = episode(2)
    assert store.add([whole, plain]) == [whole.id, plain.id]
    assert store.get([plain.id, "missing", whole.id]) == [replace(plain, seq=2), replace(whole, seq=1)]
    assert store.count() == 2


def test_the_same_id_or_source_is_taken_in_once(store: Engine) -> None:
    store.add([episode(1)])
    again = [episode(1), replace(episode(2), source="turn:1"), episode(3), replace(episode(4), source="turn:3")]
    assert store.add(again, vectors(4), SPACE) == ["E00003"]
    without = [replace(episode(5), source=""), replace(episode(6), source="")]
    assert store.add(without) == ["E00005", "E00006"]
    assert ids(store.select(Where())) == ["E00001", "E00003", "E00005", "E00006"]
    assert list(store.vectors_of(["E00001", "E00003", "E00005"])) == ["E00003"]


def test_adding_nothing_does_nothing(store: Engine) -> None:
    assert store.add([]) == []
    assert store.get([]) == []
    assert store.nearest(vectors(1)[0], 3) == []
    assert store.remove([]) == store.remove(["missing"]) == 0


def test_text_and_payload_that_cannot_be_stored_are_made_storable(store: Engine) -> None:
    broken = episode(1, "half \ud83d a character", payload={"nan": float("nan"), "half": "\udc00"})
    store.add([broken])
    (found,) = store.get([broken.id])
    assert found.text == "half \\ud83d a character"
    assert found.payload["nan"] is None
    assert store.matching("character", 5)


def test_select_goes_by_seq_in_both_directions(store: Engine) -> None:
    store.add([episode(number) for number in range(1, 8)])
    assert [each.seq for each in store.select(Where(), after=2, count=3)] == [3, 4, 5]
    assert [each.seq for each in store.select(Where(), count=2, newest_first=True)] == [7, 6]
    assert [each.seq for each in store.select(Where(), after=4, count=10, newest_first=True)] == [3, 2, 1]


def test_numbers_are_never_given_twice(store: Engine) -> None:
    store.add([episode(1), episode(2), episode(3)])
    store.remove(["E00003"])
    store.add([episode(4)])
    assert [each.seq for each in store.select(Where())] == [1, 2, 4]


def test_neighbours_are_those_of_the_session(store: Engine) -> None:
    store.add([episode(number, session="AB"[number % 2]) for number in range(10)])
    found = store.around(["E00004", "E00000"], 1, 2)
    assert {key: [(far, each.id) for far, each in beside] for key, beside in found.items()} == {
        "E00004": [(-1, "E00002"), (1, "E00006"), (2, "E00008")],
        "E00000": [(1, "E00002"), (2, "E00004")],
    }
    store.add([episode(20), episode(21), episode(22, session="C")])
    assert store.around(["E00020", "E00022", "missing"], 5, 5) == {}  # no conversation, or nobody else in it
    assert store.around([], 1, 1) == {}


def test_a_neighbour_that_may_not_be_found_is_left_out_and_counts(store: Engine) -> None:
    scopes = (Scope.OWNER, Scope.SENDER, Scope.OWNER, Scope.OWNER, Scope.SENDER)
    store.add([episode(number, session="A", sender="guest", scope=each) for number, each in enumerate(scopes)])
    seen = Where(visible_to=Viewer())
    beside = store.around(["E00002", "E00003"], 2, 2, seen)
    assert [(far, each.id) for far, each in beside["E00002"]] == [(-2, "E00000"), (1, "E00003")]
    assert [(far, each.id) for far, each in beside["E00003"]] == [(-1, "E00002")]
    assert store.around(["E00004"], 0, 2, seen) == {}


@settings(max_examples=settings().max_examples // 3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    asked=st.lists(st.integers(0, 26), max_size=8),
    before=st.integers(0, 4),
    after=st.integers(0, 4),
    domains=st.sampled_from([(), ("x",), ("x", "y")]),
    lives=st.lists(st.tuples(st.sampled_from(["", "A", "it's"]), st.sampled_from("xyz")), min_size=25, max_size=40),
)
def test_the_neighbours_of_many_are_those_of_each(
    store: Engine, asked: list[int], before: int, after: int, domains: tuple[str, ...], lives: list[tuple[str, str]]
) -> None:
    if not store.count():  # the first are asked about by all
        store.add([episode(number, session=one, domain=other) for number, (one, other) in enumerate(lives)])
    keys = [f"E{number:05}" for number in asked]
    expected = {}
    for one in store.get(keys):
        members = store.select(Where(sessions=(one.session,))) if one.session else []
        places = enumerate(members, -sum(each.seq < one.seq for each in members))
        near = [(far, each) for far, each in places if -before <= far <= after and far]
        fit = [(far, each.id) for far, each in near if not domains or each.domain in domains]
        if fit:
            expected[one.id] = fit
    where = Where(domains=domains)
    together = store.around(keys, before, after, where)
    assert {key: [(far, each.id) for far, each in beside] for key, beside in together.items()} == expected
    assert {key: each for one in keys for key, each in store.around([one], before, after, where).items()} == together


def test_an_outline_says_what_the_episode_says(store: Engine) -> None:
    whole = episode(
        1, session="S", sender="guest", payload={"n": 1}, importance=0.5, pad=Pad(0.5, -0.25, 0.0), curiosity=0.25,
        provenance=Provenance.DREAM, used_at=START + timedelta(days=1), pinned=True, bloodstain=True,
    )  # fmt: skip
    store.add([whole, episode(2, session="S")], vectors(2), SPACE)
    (kept,) = store.get(["E00001"])
    hits = (*store.matching(whole.text, 2), *store.nearest(vectors(2)[0], 2))
    ((_, beside),) = store.around(["E00002"], 1, 0)["E00002"]
    for outline in (*(hit.of for hit in hits if hit.id == "E00001"), beside, outline_of(kept)):
        assert outline._asdict() == {name: getattr(kept, name) for name in outline._fields}


def test_marks_change_what_is_thought_and_nothing_else(store: Engine) -> None:
    store.add([episode(1), episode(2)], vectors(2), SPACE)
    store.mark([Mark("E00001", importance=0.5, verdict=Verdict.VERIFIED, replays=1), Mark("missing", used=1)])
    store.mark([Mark("E00001", pad=Pad(1, 0, -1), used=2, used_at=START, pinned=True), Mark("E00001", replays=2)])
    first, second = store.get(["E00001", "E00002"])
    assert first == replace(
        episode(1),
        seq=1,
        importance=0.5,
        verdict=Verdict.VERIFIED,
        replays=3,
        pad=Pad(1, 0, -1),
        used=2,
        used_at=START,
        pinned=True,
    )
    assert second == replace(episode(2), seq=2)
    assert store.matching("number", 5, Where(verdicts=(Verdict.VERIFIED,)))[0].id == "E00001"
    assert store.nearest(vectors(2)[0], 1)[0].id == "E00001"


# -- conditions


def test_conditions_choose_the_same_for_every_way_of_reading(store: Engine) -> None:
    made = [
        episode(1, "word", sender="guest", scope=Scope.SENDER, session="S1", domain="files", tags=("x", "y")),
        episode(2, "word", scope=Scope.SESSION, session="S1", kind="note", tags=("it's",)),
        episode(3, "word", scope=Scope.SHARED, verdict=Verdict.VERIFIED, domain="o'clock"),
        episode(4, "word", scope=Scope.AGENT),
        episode(5, "word"),
    ]
    rows = unit(np.ones((5, SPACE.dim)) + np.eye(5, SPACE.dim))
    store.add(made, rows, SPACE)
    cases = {
        Where(): "12345",
        Where(scopes=(Scope.SHARED, Scope.AGENT)): "34",
        Where(senders=("guest",)): "1",
        Where(sessions=("S1",), kinds=("note",)): "2",
        Where(domains=("o'clock", "files")): "13",
        Where(tags=("it's", "y")): "12",
        Where(tags=(",",)): "",
        Where(verdicts=(Verdict.VERIFIED,)): "3",
        Where(since=START + timedelta(minutes=2), until=START + timedelta(minutes=4)): "23",
        Where(visible_to=Viewer()): "345",
        Where(visible_to=Viewer(session="S1")): "2345",
        Where(visible_to=Viewer(sender="guest", is_owner=False)): "13",
        Where(visible_to=Viewer(sender="stranger", session="S1", is_owner=False)): "3",
    }
    for where, expected in cases.items():
        wanted = [f"E0000{each}" for each in expected]
        assert ids(store.select(where)) == wanted
        assert sorted(ids(store.matching("word", 9, where))) == wanted
        assert sorted(ids(store.nearest(rows[0], 9, where))) == wanted
        assert store.count(where) == len(wanted)


def test_a_condition_never_costs_results(store: Engine) -> None:
    """The nearest thousand are of another session; the few that are asked for lie far away."""
    near, far = unit(np.eye(SPACE.dim)[0] + 0.01 * vectors(600)), unit(np.eye(SPACE.dim)[1] + 0.01 * vectors(40, 1))
    many = [episode(number, "common word", session="near") for number in range(600)]
    few = [episode(1000 + number, "common word rare", session="far") for number in range(40)]
    store.add([*many, *few], np.concatenate([near, far]), SPACE)
    where = Where(sessions=("far",))
    assert len(store.nearest(np.eye(SPACE.dim, dtype=np.float32)[0], 30, where)) == 30
    assert len(store.matching("common", 30, where)) == 30
    assert {each.id[2] for each in store.nearest(np.eye(SPACE.dim, dtype=np.float32)[0], 30)} == {"0"}


# -- searching


def test_the_nearest_are_those_of_an_exact_search(store: Engine) -> None:
    rows = vectors(300)
    store.add([episode(number) for number in range(300)], rows, SPACE)
    for query in vectors(5, seed=9):
        cosines = rows @ query
        hits = store.nearest(query, 10)
        assert [each.score for each in hits] == pytest.approx(sorted(cosines)[::-1][:10], abs=2e-3)
        assert [cosines[int(each.id[1:])] for each in hits] == pytest.approx([each.score for each in hits], abs=2e-3)


def test_what_was_written_a_moment_ago_is_found_a_moment_later(store: Engine) -> None:
    rows = vectors(30)
    for number in range(30):
        store.add([episode(number, f"unique{number}")], rows[number : number + 1], SPACE)
        assert store.nearest(rows[number], 1)[0].id == store.matching(f"unique{number}", 1)[0].id == f"E{number:05}"


def test_words_are_found_without_their_accents_case_and_ending(store: Engine) -> None:
    store.add([episode(1, "The CAFÉ's tables were printed"), episode(2, "Nothing of that kind")])
    for query in ("cafe", "café", "Table", "printing", "xyz tables"):
        assert ids(store.matching(query, 5)) == ["E00001"]
    assert store.matching("absent", 5) == []


def test_more_and_rarer_words_come_first(store: Engine) -> None:
    store.add([episode(number, "the common word") for number in range(20)])
    store.add([episode(30, "the common zebra"), episode(31, "the zebra")])
    hits = store.matching("the zebra", 5)
    assert set(ids(hits[:2])) == {"E00030", "E00031"}
    assert [each.score for each in hits] == sorted((each.score for each in hits), reverse=True)
    assert hits[0].score > hits[-1].score


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(max_size=40) | st.sampled_from(['"', "a OR", "(", "text:x", "NEAR(a b)", "a*", "\0", "-a", "^", "'; --"])
)
def test_any_text_is_a_safe_query(store: Engine, text: str) -> None:
    if not store.count():
        store.add([episode(1, "plain words")])
    assert len(store.matching(text, 3)) <= 1
    assert ids(store.matching(f"{text} plain", 3)) == ["E00001"] or len(text.split()) > 60


def test_counts_of_nothing_find_nothing(store: Engine) -> None:
    store.add([episode(1)], vectors(1), SPACE)
    assert store.nearest(vectors(1)[0], 0) == store.matching("episode", 0) == []


# -- spaces


def test_vectors_of_another_space_are_refused_with_what_to_do(store: Engine) -> None:
    assert store.space is None
    store.add([episode(1)], vectors(1), SPACE)
    assert store.space == SPACE
    with pytest.raises(StoreError, match=r"test 1.*other 7") as refused:
        store.add([episode(2)], vectors(1, dim=OTHER.dim), OTHER)
    assert "reembed" in refused.value.fix
    with pytest.raises(StoreError, match="cannot be compared"):
        store.nearest(vectors(1)[0], 1, space=Space("test", "2", "plain", SPACE.dim))
    with pytest.raises(StoreError, match="32 numbers"):
        store.nearest(vectors(1, dim=OTHER.dim)[0], 1)
    assert store.count() == 1


@pytest.mark.parametrize("bad", [np.zeros((1, 32)), np.full((1, 32), np.nan), np.ones((1, 31)), np.ones((2, 32))])
def test_what_is_no_vector_is_refused(store: Engine, bad: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> None:
    with pytest.raises(StoreError):
        store.add([episode(1)], bad.astype(np.float32), SPACE)
    assert store.count() == 0


def test_vectors_may_come_later(store: Engine) -> None:
    rows = vectors(3)
    store.add([episode(1), episode(2), episode(3)])
    assert ids(store.missing_vectors(2)) == ["E00001", "E00002"]
    store.put_vectors(["E00002", "missing"], rows[1:3], SPACE)
    store.put_vectors(["E00002", "E00003"], rows[[0, 2]], SPACE)  # the first has one already
    assert ids(store.missing_vectors(9)) == ["E00001"]
    assert [each.id for each in store.nearest(rows[1], 5)] == ["E00002", "E00003"]
    assert store.vectors_of(["E00002"])["E00002"] == pytest.approx(rows[1], abs=1e-3)


def test_another_space_takes_the_place_of_all_vectors_at_once(store: Engine) -> None:
    store.add([episode(number) for number in range(6)], vectors(6), SPACE)
    fresh = vectors(5, 3, OTHER.dim)
    seen = []

    def batches() -> Iterator[tuple[list[str], object]]:
        for start in (0, 2, 4):
            chosen = [f"E{number:05}" for number in range(start, min(start + 2, 5))]
            yield chosen, fresh[start : start + 2]
            seen.append((store.space, ids(store.nearest(vectors(6)[0], 1))))
            store.add([episode(50 + start)], vectors(1, start), SPACE)

    store.replace_vectors(batches(), OTHER)  # type: ignore[arg-type]  # an iterator of lists and arrays
    assert seen == [(SPACE, ["E00000"])] * 3
    assert store.space == OTHER
    assert ids(store.nearest(fresh[4], 1, space=OTHER)) == ["E00004"]
    assert ids(store.missing_vectors(9)) == ["E00005", "E00050", "E00052", "E00054"]


def test_a_replacement_that_fails_changes_nothing(store: Engine) -> None:
    rows = vectors(4)
    store.add([episode(number) for number in range(4)], rows, SPACE)

    def failing() -> Iterator[tuple[list[str], object]]:
        yield ["E00000"], vectors(1, 0, OTHER.dim)
        raise RuntimeError("the embedder is gone")

    with pytest.raises(RuntimeError):
        store.replace_vectors(failing(), OTHER)  # type: ignore[arg-type]  # as above
    assert store.space == SPACE
    assert ids(store.nearest(rows[2], 1)) == ["E00002"]
    store.replace_vectors(iter([(["E00001"], vectors(1, 1, OTHER.dim))]), OTHER)
    assert ids(store.nearest(vectors(1, 1, OTHER.dim)[0], 9)) == ["E00001"]


# -- the rest


def test_tending_changes_no_answer(store: Engine) -> None:
    rows = vectors(50)
    store.add([episode(number) for number in range(50)], rows, SPACE)
    before = store.nearest(rows[7], 10), store.matching("number", 10)
    store.tend()
    assert (store.nearest(rows[7], 10), store.matching("number", 10)) == before
    store.add([episode(60, "later")], vectors(1, 60), SPACE)
    assert ids(store.nearest(vectors(1, 60)[0], 1)) == ids(store.matching("later", 1)) == ["E00060"]


def test_it_is_there_again_when_opened_anew(engine: str, store: Engine, tmp_path: Path, clock: MovableClock) -> None:
    store.add([episode(1, "kept")], vectors(1), SPACE)
    store.close()
    again = open_episodes(tmp_path / "episodes", engine, clock)
    assert again.space == SPACE
    assert ids(again.nearest(vectors(1)[0], 1)) == ids(again.matching("kept", 1)) == ["E00001"]
    again.close()


def test_an_unknown_engine_is_named(tmp_path: Path, clock: MovableClock) -> None:
    with pytest.raises(SettingsError, match="postgres"):
        open_episodes(tmp_path, "postgres", clock)


def test_what_happened_does_not_change(tmp_path: Path, clock: MovableClock) -> None:
    """In SQLite even a mistake in Metnos cannot change it."""
    store = SqliteEpisodes(tmp_path, clock)
    store.add([episode(1)])
    with pytest.raises(Exception, match="does not change"), store._db.write() as tx:
        tx.execute("UPDATE episodes SET text = 'other'")
    store.close()
