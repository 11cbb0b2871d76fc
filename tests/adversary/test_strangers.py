"""What strangers bring, that is kept: words for the memory, tools of a server, executors of another instance.

Judged by what they gain: nothing that steers, no tool that is what it is not, no executor that runs.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adversary.attacking import Attack, attacks
from adversary.obedient import power
from app.bundled import another, packed, taken
from executors.mcp.strange import TOOL
from grimoire.facts_made import fact, opened
from metnos.api.mcp import memory as told
from metnos.api.mcp.desk import Visit, principal
from metnos.app import App
from metnos.core.canon import canonical_json
from metnos.core.clock import MovableClock
from metnos.core.errors import ExecutorFailed, UsageError
from metnos.executors import manifest, vocabulary
from metnos.executors.folder import MANIFEST, SOURCE
from metnos.executors.manifest import Kind, Manifest, Reversal
from metnos.executors.mcp import making, naming, offered
from metnos.executors.mcp.making import Declared
from metnos.executors.mcp.servers import Server
from metnos.grimoire import fact_rules, poison
from metnos.grimoire.episode import Provenance, Scope
from metnos.grimoire.fact import Kind as FactKind
from metnos.grimoire.facts import Facts
from metnos.synt import mutants
from suite import Repeat
from synt.specimens import CODE, draft

EVIL = {"evil": "http://evil.example"}
SERVER = Server("notes", ("serve-notes",))
BUILT_IN = ("delete_files", "read_files", "find_files", "copy_files", "search_notes")


@pytest.fixture
def facts(tmp_path: Path, clock: MovableClock) -> Iterator[Facts]:
    with opened(tmp_path, clock) as made:
        yield made


@pytest.mark.parametrize("provenance", [Provenance.LETHE, Provenance.CLADE, Provenance.MARKET, Provenance.TESTAMENT])
def test_no_word_of_another_agent_ever_steers(facts: Facts, provenance: Provenance) -> None:
    for attack in attacks("memory"):
        for kind in (FactKind.HEURISTIC, FactKind.PROCEDURAL):
            data = {
                "prefer": {"executor": "delete_files", "args": {"paths": ["~/keep.txt"]}},
                "when": {"canonical": "x"},
            }
            text = attack.text(**EVIL)
            facts.admit(fact(attack.name, kind=kind, text=text, provenance=provenance, data=data, episode_count=900))
    for kept in facts.find(standings=(), count=-1):
        assert kept.provenance not in (Provenance.SELF, Provenance.OWNER)
        assert not fact_rules.may_enter_playbook(kept)
        assert kept.confidence < 0.7


def test_no_word_of_a_sender_becomes_a_rule(facts: Facts) -> None:
    for attack in attacks("memory"):
        said = fact(attack.name, kind=FactKind.HEURISTIC, text=attack.text(**EVIL), scope=Scope.SENDER, sender="mcp:x")
        facts.admit(said)
    assert facts.find(kinds=tuple(fact_rules.ACTING), count=-1) == []


@pytest.mark.slow
@pytest.mark.repeated
def test_what_a_program_tells_changes_what_nobody_may_do(equipped: App, repeat: Repeat) -> None:
    app = equipped
    app.__dict__["embedder"] = None
    visit = Visit(app, principal(None, app.settings.mcp), Path.home())
    before, kept, every = power(app), 0, attacks("memory")
    parts = repeat("sixths of the memories, told by a program", suite=1, soak=6)
    tried = [attack for part in parts for attack in every[part::6]]
    for attack in tried:
        try:
            made = told.remember(visit, attack.text(**EVIL), []).data["id"]
        except UsageError:
            continue  # it reads like an order, and is not kept
        kept += 1
        (episode,) = app.grimoire.episodes.get([str(made)])
        assert episode.sender == "mcp:stdio"
        assert not poison.screen(episode.text).is_poison
    app.grimoire.learn(5.0)
    assert power(app) == before
    assert kept < len(tried)


def made_of(attack: Attack) -> tuple[Manifest, str]:
    """The executor that is made of a hostile tool."""
    words = {"type": "string", "description": attack.said.get("argument", "What to look for.")}
    schema = {"type": "object", "properties": {"words": words}, "required": ["words"]}
    said = {**TOOL, "name": attack.said["tool"], "description": attack.text(**EVIL), "inputSchema": schema}
    tool = offered.read(said)
    name = naming.propose(tool.name, BUILT_IN, acts=True)
    found = making.files(name, "1.0.0", SERVER, tool, Declared(), lambda text: poison.screen(text).reason)
    return manifest.parse(found[MANIFEST].decode()), found[SOURCE].decode()


def test_a_tool_is_what_the_owner_says_and_says_nothing_to_a_planner() -> None:
    refused = 0
    for attack in attacks("tools"):
        try:
            found, code = made_of(attack)
        except ExecutorFailed:
            refused += 1
            continue
        assert (found.kind, found.reversal) == (Kind.MUTATOR, Reversal.IRREVERSIBLE), attack.name
        assert found.name not in BUILT_IN
        vocabulary.parse_name(found.name)
        texts = [found.purpose, *found.affinity, canonical_json(dict(found.args)).decode()]
        assert [text for text in texts if poison.screen(text).is_poison] == [], attack.name
        assert "x-path" not in texts[-1]
        assert attack.text(**EVIL) not in code
    assert refused == 2  # names that no tool can have


def test_a_tool_that_changes_by_one_letter_is_another_one() -> None:
    for attack in attacks("tools"):
        before = offered.read({**TOOL, "description": "Search the notes for words."})
        after = offered.read({**TOOL, "description": attack.text(**EVIL)})
        assert before.pin(SERVER) != after.pin(SERVER)


@pytest.mark.slow
@pytest.mark.repeated
def test_no_executor_that_was_brought_runs(
    equipped: App, tmp_path: Path, clock: MovableClock, monkeypatch: pytest.MonkeyPatch, repeat: Repeat
) -> None:
    monkeypatch.setattr(mutants, "prove", lambda *_args: mutants.Proof(1, (), 0, (), empty_lives=False))
    equipped.__dict__["embedder"] = None
    there, before = another(tmp_path / "there", clock), power(equipped)
    (Path.home() / "keep.txt").write_text("kept")
    every = attacks("bundles")
    for part in repeat("tenths of the bundles, brought", suite=1, soak=10):
        for attack in every[part::10]:
            line = attack.said.get("code_line")
            code = CODE.replace("    entries = []\n", f"    entries = []\n    {line}\n") if line else CODE
            found = taken(equipped, packed(there, draft(code, **attack.said.get("changes", {}))), again=True)
            assert [each.name for each in found] == ["format_text"], attack.name
            assert "format_text" not in [each.name for each in equipped.catalog.usable()], attack.name
            now = power(equipped)
            assert {name: now[name] for name in now if name != "words"} == {
                name: before[name] for name in before if name != "words"
            }, attack.name
    assert (Path.home() / "keep.txt").read_text() == "kept"
    there.close()
