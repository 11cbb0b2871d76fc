"""The memory as a whole: forgotten without a trace, out and in again, in another engine, by another embedder."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.remembered import ASKED, Embedder, answer, copied, known, quiet, same_agent, taught, the_folder
from app.turned import close, pdfs, words
from copying import copy_folder
from metnos.app import App, keeping, learning, remembering
from metnos.core import files
from metnos.core.clock import MovableClock
from metnos.core.errors import MetnosError, ModelError, Refused, UsageError
from metnos.core.workspace import Workspace
from metnos.grimoire.episode import Episode, Viewer, Where
from metnos.grimoire.fact import Kind
from metnos.grimoire.forget import Forgotten
from metnos.grimoire.trace import Kept
from metnos.law import audit_log
from metnos.law.inbox import State
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from support import START, kinds
from turn.fasting import fill
from turn.scripted import steps
from turn.turning import OWNER, take

WORD = "xylophone"
STEM = "xyloph"
SAID = f"the {WORD} stands in the cellar"


@pytest.fixture(scope="module")
def _taught(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return taught(_template, tmp_path_factory.mktemp("taught"))


@pytest.fixture
def wise(_taught: Workspace, blank: Workspace, clock: MovableClock, tmp_path: Path) -> Iterator[App]:
    """It has been told three times where PDFs are."""
    yield from copied(_taught, blank, clock, tmp_path / "home")


@pytest.fixture
def app(equipped: App, tmp_path: Path) -> Iterator[App]:
    fill(tmp_path / "home", "docs", WORD)
    (tmp_path / "home" / "papers").mkdir()
    opened, _ = quiet(equipped)
    opened.__dict__["embedder"] = Embedder()
    yield opened
    opened.close()


def holding(workspace: Workspace, word: str = STEM) -> list[str]:
    """Every file of a workspace that holds a word or its stem, whatever its case."""
    paths = (path for path in workspace.root.rglob("*") if path.is_file())
    return sorted(str(path.relative_to(workspace.root)) for path in paths if word.encode() in path.read_bytes().lower())


def forget(app: App, query: str = "", *ids: str) -> Forgotten:
    return keeping.forget(app, keeping.forgetting(app).plan(query, ids), at_terminal())


def every(app: App) -> list[Episode]:
    return app.grimoire.episodes.select(Where(), count=1000)


@pytest.fixture(scope="module")
def _full(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Everything that holds words has held this one."""
    home = tmp_path_factory.mktemp("full")
    made = Workspace(home / "workspace")
    copy_folder(_template.root, made.root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        fill(home, "docs", WORD)
        clock = MovableClock(START - timedelta(days=5))
        first = App.open(made, clock)
        app, _ = quiet(first)
        app.__dict__["embedder"] = Embedder()
        _say_it_everywhere(app, clock)
        first.close()
        app.close()
    return made


def _say_it_everywhere(app: App, clock: MovableClock) -> None:
    app.grimoire.add(SAID, [WORD])
    answer(app, clock, folder=f"~/{WORD}")
    app.grimoire.meant()
    remembering.curate(app, now=True)
    for _ in range(11):
        trace = take(app, ASKED).trace
        assert trace is not None
        app.medium.feedback(trace.id, good=True, note=f"a fine {WORD}")
        clock.move(timedelta(hours=3))
    close(app, 1, f"find the {WORD} PDFs in ~/docs", pdfs("docs")[1])  # planned by a model: a fast path is learnt of it
    close(app, 2, f"count the {WORD} words of the PDFs in ~/docs", words("docs")[1])
    take(app, f"find the PDFs in ~/{WORD}", dry_run=True)
    take(app, f"Where is the {WORD.upper()}?")
    take(app, "What stands in the cellar?")  # says it only in its answer
    remembering.curate(app, now=True)
    keeping.tiers(app).propose(f"The {WORD} is mine.", "MEMORY.md", "I said so", (), asked_by=OWNER)
    files.create(app.workspace.history, f"\n# now\n+where is the {WORD}\n\n# then\n+hello\n".encode())


class TestForgetting:
    @pytest.fixture
    def full(self, _full: Workspace, blank: Workspace, clock: MovableClock, tmp_path: Path) -> Iterator[App]:
        yield from copied(_full, blank, clock, tmp_path / "home")

    def test_nothing_of_it_is_left_that_a_search_of_all_files_finds(self, full: App) -> None:
        before = holding(full.workspace)
        assert {"PLAYBOOK.md", "memory/grimoire.db", "memory/history", "memory/medium.db"} <= {
            name.removesuffix("-wal") for name in before
        }
        assert any(name.startswith("memory/episodes/") for name in before)
        assert any(name.startswith(".law/law.db") for name in before)
        assert any(name.startswith(".mnestome/") for name in before)
        gone = forget(full, f" {WORD.title()} ").counts()
        assert holding(full.workspace) == []
        for name in ("episodes", "vectors", "facts", "recalls", "lines", "versions", "questions", "turns", "typed"):
            assert gone[name] > 0, name
        assert gone["traces"] == 0

    def test_what_it_taught_steers_no_more_and_is_not_learnt_again(self, full: App) -> None:
        assert "What stands in the cellar?" in [each.text for each in every(full)]
        forget(full, WORD)
        ended = take(full, ASKED).ended
        assert ended.state == "question"
        learning.catch_up(full)
        remembering.curate(full, now=True)
        assert [fact for fact in known(full) if WORD in fact.text] == []
        assert holding(full.workspace) == []
        assert "What stands in the cellar?" in [each.text for each in every(full)], "which does not say it"

    def test_the_audit_says_that_it_happened_and_nothing_else(self, full: App) -> None:
        forget(full, WORD)
        newest = next(line for line in audit_log.backwards(full.workspace.audit) if line.kind == keeping.FORGOTTEN)
        assert WORD not in str(newest.entry)
        assert "PLAYBOOK.md" not in keeping.still_says(full, WORD)

    def test_the_rest_is_as_it_was(self, full: App) -> None:
        other = full.grimoire.add("the boiler was serviced in March")
        mine = full.workspace.root / "USER.md"
        mine.write_text(mine.read_text() + f"\nI play the {WORD}.\n")
        plan = keeping.forgetting(full).plan(WORD)
        assert plan.yours == ("USER.md",)
        keeping.forget(full, plan, at_terminal())
        assert keeping.still_says(full, WORD) == ["USER.md"]
        assert [each.text for each in full.grimoire.recall("boiler", Viewer()).episodes] == [other.text]
        assert full.workspace.history.read_text() == "\n# then\n+hello\n"

    def test_again_there_is_nothing_left_to_do(self, full: App) -> None:
        forget(full, WORD)
        assert keeping.forgetting(full).plan(WORD).is_empty

    def test_a_question_that_waits_for_a_yes_is_closed_and_emptied(self, app: App) -> None:
        opened, _ = quiet(app, policy__autonomy="supervised")
        opened.__dict__["embedder"] = None
        taken = take(opened, f"copy the PDFs in ~/{WORD} to ~/elsewhere")
        assert taken.ended.state == "waiting"
        (item,) = opened.inbox.waiting()
        forget(opened, WORD)
        assert opened.inbox.waiting() == []
        closed = opened.inbox.find(item.id)
        assert (closed.state, dict(closed.body)) == (State.EXPIRED, {})
        assert holding(opened.workspace) == []
        opened.close()

    def test_what_a_model_was_shown_goes_too(self, app: App) -> None:
        app.grimoire.add(SAID)
        opened, chat = quiet(app, steps({"answer": {"text": "In the cellar, it seems."}}))
        trace = take(opened, "what is there in the cellar?").trace
        assert WORD in str(chat.asked[0].messages)
        assert trace is not None
        assert WORD not in trace.answer
        forget(opened, WORD)
        assert holding(opened.workspace) == []
        opened.close()

    def test_what_undo_needs_stays_and_is_named(self, app: App) -> None:
        assert take(app, f"move the PDFs in ~/{WORD} to ~/papers").ended.state == "done"
        forget(app, WORD)
        left = keeping.still_says(app, WORD)
        assert left
        assert all(name.startswith(".law/undo") for name in left)

    def test_by_its_id_an_episode_goes_with_its_turn_and_with_what_rests_on_it_alone(self, wise: App) -> None:
        fact = the_folder(wise)
        for number, source in enumerate(fact.sources):
            assert the_folder(wise).confidence <= fact.confidence
            forget(wise, "", source)
            assert wise.medium.load(source).kept is Kept.FORGOTTEN
            assert len(wise.grimoire.episodes.get(list(fact.sources))) == len(fact.sources) - 1 - number
        assert not [each for each in known(wise, Kind.PROCEDURAL) if "path" in each.data["prefer"]["args"]]

    @pytest.mark.parametrize("query", ["xy", " a "])
    def test_too_little_is_refused_and_nothing_is_lost(self, wise: App, query: str) -> None:
        before = every(wise)
        with pytest.raises(UsageError, match="is in too much"):
            keeping.forgetting(wise).plan(query)
        assert every(wise) == before


class TestOutAndInAgain:
    def test_everything_comes_back_in_a_fresh_workspace(self, wise: App, tmp_path: Path, clock: MovableClock) -> None:
        wise.grimoire.add(SAID, ["music"])
        target = tmp_path / "out.jsonl.zst"
        written = keeping.export(wise, target)
        assert written["episode"] == len(every(wise))
        fresh = same_agent(wise, Workspace(tmp_path / "other"))
        fresh.__dict__["embedder"] = None
        taken = keeping.take_in(fresh, target).counts()
        assert taken["episode"] == len(every(wise))
        strip = [(each.id, each.text, each.ts, each.tags, each.payload) for each in every(wise)]
        assert [(each.id, each.text, each.ts, each.tags, each.payload) for each in every(fresh)] == strip
        assert {fact.text for fact in known(fresh)} == {fact.text for fact in known(wise)}
        again = keeping.take_in(fresh, target).counts()
        assert again.get("episode", 0) == again.get("fact", 0) == 0
        assert len(every(fresh)) == len(every(wise))

    @pytest.mark.parametrize(
        "content", [b"", b"nothing of the kind", b'{"kind": "episode"}\n', b"\x28\xb5\x2f\xfd\x00"]
    )
    def test_what_is_no_export_is_refused_and_changes_nothing(self, wise: App, tmp_path: Path, content: bytes) -> None:
        before, source = every(wise), tmp_path / "in.jsonl"
        source.write_bytes(content)
        with pytest.raises(MetnosError) as refused:
            keeping.take_in(wise, source)
        assert refused.value.what
        assert every(wise) == before


class TestOneMemory:
    def test_pinned_and_let_go_again(self, wise: App) -> None:
        episode, fact = every(wise)[0], the_folder(wise)
        for pinned in (True, False):
            keeping.pin(wise, episode, pinned=pinned)
            keeping.pin(wise, the_folder(wise), pinned=pinned)
            assert wise.grimoire.episodes.get([episode.id])[0].pinned is pinned
            assert the_folder(wise).pinned is pinned
        assert the_folder(wise).text == fact.text

    def test_the_figures(self, wise: App) -> None:
        told = keeping.stats(wise)
        assert told["episodes"] == len(every(wise))
        assert told["facts: procedural"] == len(known(wise, Kind.PROCEDURAL))
        assert told["engine"] == "sqlite"
        assert told["last curator"].startswith(f"{START:%Y-%m-%d}")


class TestAnotherEngine:
    @pytest.mark.slow
    def test_to_lance_and_back_everything_is_there(self, wise: App, clock: MovableClock) -> None:
        pytest.importorskip("lancedb")
        wise.__dict__["embedder"] = Embedder()
        wise.grimoire.add(SAID)
        wise.grimoire.meant()
        before = [(each.id, each.text, each.payload) for each in every(wise)]
        vectors = {key: each.tolist() for key, each in wise.grimoire.episodes.vectors_of([before[0][0]]).items()}
        app = wise
        seen: list[tuple[int, int]] = []
        for engine in ("lance", "sqlite"):
            moved = keeping.move(app, engine, at_terminal(), lambda done, of: seen.append((done, of)))
            assert moved.count == len(before)
            app.close()
            app = App.open(app.workspace, clock)
            app.__dict__["embedder"] = Embedder()
            assert app.settings.memory.engine == engine
            assert [(each.id, each.text, each.payload) for each in every(app)] == before
            assert {k: v.tolist() for k, v in app.grimoire.episodes.vectors_of(list(vectors)).items()} == vectors
            assert [each.text for each in app.grimoire.recall(WORD, Viewer()).episodes] == [SAID]
        assert seen
        forget(app, WORD)
        assert holding(app.workspace) == []
        app.close()


class Drifted(Embedder):
    """Says that it is what it was, and is not."""

    def embed(self, texts: Sequence[str]) -> Any:
        return super().embed([text[::-1] for text in texts])


class TestAnotherEmbedder:
    def test_everything_is_embedded_anew_and_until_then_words_alone_are_searched(self, wise: App) -> None:
        wise.__dict__["embedder"] = Embedder("small")
        wise.grimoire.add(SAID)
        wise.grimoire.meant()
        wise.__dict__["embedder"] = Embedder("large")
        before = wise.grimoire.recall(WORD, Viewer())
        assert any("another embedder" in line for line in before.notes)
        assert [each.text for each in before.episodes] == [SAID]
        moved = keeping.embed_anew(wise, lambda _done, _of: None, again=False)
        assert moved.switched
        assert wise.grimoire.episodes.space == Embedder("large").space
        assert wise.grimoire.recall(WORD, Viewer()).notes == ()
        wise.grimoire.add("one more")
        wise.grimoire.meant()
        assert wise.grimoire.episodes.missing_vectors(10) == []
        assert wise.grimoire.facts.missing_vectors(10) == [], "also what was learnt while no embedder was there"

    def test_one_that_drifted_is_not_believed_before_everything_is_embedded_by_it(
        self, wise: App, clock: MovableClock
    ) -> None:
        app = wise
        app.__dict__["embedder"] = Embedder("small")
        app.grimoire.add(SAID)
        app.grimoire.meant()
        remembering.check_embedder(app)
        app.__dict__["embedder"] = Drifted("small")
        clock.move(timedelta(days=8))
        assert remembering.check_embedder(app).news
        late = app.grimoire.add("what comes too late")
        assert any("does not give the vectors" in line for line in app.grimoire.recall(WORD, Viewer()).notes)
        assert [each.id for each in app.grimoire.episodes.missing_vectors(10)] == [late.id]
        moved = keeping.embed_anew(app, lambda _done, _of: None, again=False)
        assert moved.embedded == app.grimoire.episodes.count() + len(known(app))
        assert app.grimoire.health.writable()

    def test_without_an_embedder_it_says_what_to_do(self, wise: App) -> None:
        with pytest.raises(ModelError, match="no embedder") as refused:
            keeping.embed_anew(wise, lambda _done, _of: None, again=False)
        assert "metnos config set" in refused.value.fix


@pytest.mark.parametrize("channel", [Channel.SCRIPT, Channel.LIBRARY, Channel.MCP, Channel.API, Channel.NIGHT])
def test_no_program_forgets_agrees_or_puts_back_for_the_owner(opened: App, channel: Channel) -> None:
    by = Principal(channel, "program", Autonomy.FULL)
    made = opened.grimoire.add("The spare key is under the mat.")
    plan = keeping.forgetting(opened).plan("spare key")
    before = kinds(opened.workspace)
    for act in (
        lambda: keeping.forget(opened, plan, by),
        lambda: keeping.forget(opened, plan, by, told_by="mcp:program"),
        lambda: learning.forget_turn(opened, "01T00000", by),
        lambda: opened.grimoire.facts.agreed("01FACT", by),
        lambda: opened.grimoire.playbook.restore(1, by),
    ):
        with pytest.raises(Refused, match="a person has to") as caught:
            act()
        assert "metnos " in caught.value.fix
    assert opened.grimoire.episodes.get([made.id])
    assert kinds(opened.workspace) == before
    with pytest.raises(Refused):
        keeping.restore_playbook(opened, 1, by)
    line = next(each for each in opened.audit.newest() if each.kind == keeping.RESTORED)
    assert (line.entry.names["phase"], line.entry.names["channel"]) == ("failed", channel)


def test_nobody_forgets_while_everything_is_halted(opened: App) -> None:
    opened.grimoire.add("The spare key is under the mat.")
    plan = keeping.forgetting(opened).plan("spare key")
    opened.halts.halt("smoke")
    with pytest.raises(Refused, match="smoke") as caught:
        keeping.forget(opened, plan, at_terminal())
    assert caught.value.fix.endswith("metnos executor panic --lift")
