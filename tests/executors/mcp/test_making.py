"""The folder that is made of a tool."""

import pytest

from executors.mcp.strange import ORDERS, TOOL
from metnos.core.errors import ExecutorFailed, ManifestError
from metnos.executors import gate, manifest, words
from metnos.executors.folder import MANIFEST, SOURCE, TESTS
from metnos.executors.manifest import Kind, Reversal
from metnos.executors.mcp.making import Declared, files
from metnos.executors.mcp.offered import read
from metnos.executors.mcp.servers import Server

SERVER = Server("notes", ("serve-notes",))


def made(declared: Declared, tool: dict[str, object] | None = None) -> tuple[manifest.Manifest, str]:
    found = files(
        "search_notes_remote", "1.0.0", SERVER, read(tool or TOOL), declared, lambda text: "order" * (text == ORDERS)
    )
    assert set(found) == {MANIFEST, SOURCE, TESTS}
    return manifest.parse(found[MANIFEST].decode()), found[SOURCE].decode()


def test_unless_the_owner_says_otherwise_it_cannot_be_taken_back() -> None:
    read_, _ = made(Declared())
    assert read_.kind is Kind.MUTATOR
    assert read_.reversal is Reversal.IRREVERSIBLE
    assert not read_.is_quiet


def test_what_only_reads_is_a_producer_and_still_not_quiet() -> None:
    read_, _ = made(Declared(acts=False, hosts=("example.org",), reads=("~/notes/**",)))
    assert read_.kind is Kind.PRODUCER
    assert not read_.is_quiet
    said = "\n".join(words.capabilities(read_))
    assert "outside the sandbox" in said
    assert "example.org" in said
    assert "~/notes/**" in said


def test_the_code_is_ours_and_passes_the_gate() -> None:
    read_, code = made(Declared())
    assert not gate.inspect(code, gate.declared(read_.model_dump(mode="json", exclude_none=True)))
    assert gate.inspect(code, gate.declared({}))[0].rule == "undeclared-mcp"


def test_words_of_the_server_stand_in_the_purpose_only_if_they_are_no_orders() -> None:
    assert "Search the notes for words." in made(Declared())[0].purpose
    assert ORDERS not in made(Declared(), {**TOOL, "description": ORDERS})[0].purpose


def test_a_name_that_would_be_code_is_refused() -> None:
    with pytest.raises(ExecutorFailed, match="name of the tool"):
        made(Declared(), {**TOOL, "name": 'x"""\nimport os'})


def test_a_manifest_cannot_claim_that_acting_elsewhere_can_be_taken_back() -> None:
    found = files("search_notes_remote", "1.0.0", SERVER, read(TOOL), Declared(), lambda _: "")[MANIFEST].decode()
    with pytest.raises(ManifestError, match="cannot be taken back"):
        manifest.parse(found.replace('"irreversible"', '"move_back"'))
    with pytest.raises(ManifestError, match="changes nothing"):
        manifest.parse(found.replace('"irreversible"', '"nothing"').replace('"mutator"', '"producer"'))
