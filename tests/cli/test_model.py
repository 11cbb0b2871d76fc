"""Language models at the terminal: a real workspace, and hand-written servers on loopback."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from cli.terminal import on_a_terminal
from cli.warm import metnos
from metnos.app import App
from metnos.cli import Choice
from metnos.cli import model as commands
from metnos.core.settings import load
from metnos.core.workspace import Workspace
from metnos.law.principal import Principal, at_terminal
from metnos.models import discover, keys, pins
from models.server import Running, fails, lists, says, serving
from support import kinds

KEY = "sk-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_servers_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discover, "PORTS", {})


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    """A server that is found by itself."""
    with serving(lists("qwen3:8b", "odd\x1b[31m")) as running:
        monkeypatch.setattr(discover, "PORTS", {urlsplit(running.url).port or 0: "Ollama"})
        yield running


def type_in(workspace: Workspace, *line: str, typed: str = "") -> Result:
    return CliRunner().invoke(commands.model, line, obj=Choice(str(workspace.root)), input=typed)


def models(workspace: Workspace):  # type: ignore[no-untyped-def]
    return load(workspace.settings).settings.models


# -- list


def test_a_new_workspace_has_none_and_is_told_what_there_is(workspace: Workspace, ollama: Running) -> None:
    said = type_in(workspace, "list")
    assert said.exit_code == 0
    assert "main  none" in said.output
    assert f"Ollama  {ollama.url}  qwen3:8b" in said.output
    assert "\x1b" not in said.output  # what a server calls its models is shown and not obeyed
    for name in pins.pins():
        assert name in said.output
    assert models(workspace).main.url == ""  # found is not used


@pytest.mark.usefixtures("typist")
def test_the_list_as_json(workspace: Workspace, ollama: Running) -> None:
    type_in(workspace, "use", "main", "qwen3:8b")
    type_in(workspace, "use", "wise", "claude", "--anthropic", "--key", "file:claude")
    said = json.loads(type_in(workspace, "list", "--json").output)
    assert [(row["tier"], row["model"], row["outside"]) for row in said["tiers"]] == [
        ("main", "qwen3:8b", False),
        ("fast", "qwen3:8b", False),
        ("wise", "claude", True),
    ]
    assert said["servers"] == [{"kind": "Ollama", "url": ollama.url, "models": ["qwen3:8b", "odd\x1b[31m"]}]
    assert [row["here"] for row in said["files"]] == [False, False, False]


def test_the_list_needs_no_workspace(blank: Workspace) -> None:
    assert type_in(blank, "list").exit_code == 0
    assert not blank.root.exists()


# -- use


def test_a_model_that_was_found(workspace: Workspace, ollama: Running) -> None:
    said = type_in(workspace, "use", "main", "qwen3:8b")
    assert said.exit_code == 0, said.output
    assert "main is now served by qwen3:8b" in said.output
    main = models(workspace).main
    assert (main.provider, main.url, main.name, main.key) == ("openai", ollama.url, "qwen3:8b", "")
    assert "setting changed" in kinds(workspace)


def test_a_model_that_nobody_has_or_several(
    workspace: Workspace, ollama: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = type_in(workspace, "use", "main", "unheard-of")
    assert "no server of this machine has a model" in str(said.exception)
    with serving(lists("qwen3:8b")) as second:
        ports = {urlsplit(each.url).port or 0: "x" for each in (ollama, second)}
        monkeypatch.setattr(discover, "PORTS", ports)
        said = type_in(workspace, "use", "main", "qwen3:8b")
    assert f"--url {ollama.url} or --url {second.url}" in str(said.exception)
    assert models(workspace).main.url == ""


def test_a_pinned_model_must_be_here_first(workspace: Workspace) -> None:
    said = type_in(workspace, "use", "main", "smollm2-135m")
    assert "metnos model get smollm2-135m" in str(said.exception)
    pin = pins.require_pin("smollm2-135m")
    pins.folder().mkdir(parents=True)
    with (pins.folder() / pin.file).open("wb") as file:
        file.truncate(pin.size)
    assert type_in(workspace, "use", "fast", "smollm2-135m").exit_code == 0
    assert (models(workspace).fast.provider, models(workspace).fast.name) == ("local", "smollm2-135m")
    assert "fetched" in type_in(workspace, "list").output


def test_a_file_of_ones_own(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    assert type_in(workspace, "use", "main", "my.gguf").exit_code == 0
    assert models(workspace).main.name == str(tmp_path / "my.gguf")
    assert type_in(workspace, "use", "main", "none.gguf").exit_code == 1


def test_none_ends_it(workspace: Workspace, ollama: Running) -> None:
    type_in(workspace, "use", "main", "qwen3:8b")
    assert "has no model of its own now" in type_in(workspace, "use", "main", "none").output
    assert not models(workspace).main.configured


@pytest.mark.usefixtures("typist")
def test_the_old_key_never_stands_beside_a_new_address(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    type_in(workspace, "use", "main", "gpt", "--url", "https://a.example/v1", "--key", "file:a")
    written: list[tuple[str, str]] = []
    real = App.set_setting

    def note(self: App, name: str, text: str, by: Principal) -> object:
        value = real(self, name, text, by)
        main = models(workspace).main
        written.append((main.url, main.key))
        return value

    monkeypatch.setattr(App, "set_setting", note)
    type_in(workspace, "use", "main", "gpt", "--url", "https://b.example/v1", "--key", "file:b")
    assert ("https://b.example/v1", "file:a") not in written
    assert ("https://a.example/v1", "file:b") not in written
    assert written[-1] == ("https://b.example/v1", "file:b")


@pytest.mark.parametrize(
    "line",
    [
        ["main"],
        ["main", "--anthropic"],
        ["main", "x", "--url", "ftp://x"],
        ["main", "x", "--url", "https://user:secret@example.org/v1"],
        ["main", "x", "--url", "http://127.0.0.1:1/v1", "--key", "sk-secret"],
        ["main", "x" * 400, "--url", "http://127.0.0.1:1/v1"],
        ["tiny", "x"],
    ],
)
def test_what_does_not_fit_changes_nothing(workspace: Workspace, line: list[str]) -> None:
    before = workspace.settings.read_bytes()
    said = type_in(workspace, "use", *line)
    assert said.exit_code != 0
    assert workspace.settings.read_bytes() == before


@pytest.mark.parametrize("more", [[], ["--yes"]])
@pytest.mark.parametrize(
    "chosen",
    [
        ["gpt", "--url", "https://api.example.org/v1"],
        ["gpt", "--url", "http://127.0.0.1:9/v1", "--key", "file:cloud"],
        ["claude", "--anthropic", "--key", "file:cloud"],
        ["claude", "--anthropic"],
    ],
)
def test_no_script_leads_out_of_the_home_or_uses_a_key(
    workspace: Workspace, chosen: list[str], more: list[str]
) -> None:
    before = workspace.settings.read_bytes()
    for typed in ("", "y\nyes\n"):
        ran = metnos("--workspace", str(workspace.root), "model", "use", "main", *chosen, *more, stdin=typed)
        assert ran.code != 0, ran
        assert ("No such option" if more else "only a person may choose that model") in ran.err
    assert workspace.settings.read_bytes() == before


def test_no_script_takes_the_place_of_a_model_that_has_a_key(workspace: Workspace) -> None:
    owner = App.open(workspace)
    for name, value in (("url", "https://api.example.org/v1"), ("name", "gpt"), ("key", "file:cloud")):
        owner.set_setting(f"models.main.{name}", value, at_terminal())
    owner.close()
    before = workspace.settings.read_bytes()
    line = ["--workspace", str(workspace.root), "model", "use", "main"]
    for other in (["mine", "--url", "http://127.0.0.1:9/v1"], ["gpt", "--url", "http://127.0.0.1:9/v1"], ["none"]):
        assert metnos(*line, *other).code == 1
    assert metnos("--workspace", str(workspace.root), "config", "set", "models.main.name", "dearer").code == 1
    assert workspace.settings.read_bytes() == before


def test_a_script_may_use_a_server_at_home_without_a_key(workspace: Workspace) -> None:
    line = ["--workspace", str(workspace.root), "model", "use", "main"]
    assert metnos(*line, "mine", "--url", "http://127.0.0.1:9/v1").code == 0
    assert (models(workspace).main.url, models(workspace).main.key) == ("http://127.0.0.1:9/v1", "")
    assert metnos(*line, "none").code == 0


def test_one_outside_is_asked_about_with_what_leaves(workspace: Workspace, typist: list[str]) -> None:
    said = type_in(workspace, "use", "main", "gpt", "--url", "https://api.example.org/v1")
    assert said.exit_code == 0, said.output
    assert "api.example.org is outside the home" in said.output
    assert "what executors return" in said.output
    assert "Let gpt serve main?" in typist[0]
    assert models(workspace).main.url == "https://api.example.org/v1"
    said = type_in(workspace, "use", "main", "none")
    assert len(typist) == 1  # no key is lost, and nothing leads out


@pytest.mark.slow
def test_one_outside_at_a_terminal(workspace: Workspace) -> None:
    line = ["--workspace", str(workspace.root), "model", "use", "main", "gpt", "--url", "http://box.example/v1"]
    assert "not encrypted" in on_a_terminal(*line, typed=[("Let gpt serve main?", "n")]).out
    assert models(workspace).main.url == ""
    assert on_a_terminal(*line, typed=[("Let gpt serve main?", "yes")]).code == 0
    assert models(workspace).main.url == "http://box.example/v1"


# -- test


def test_two_questions_are_asked_and_measured(workspace: Workspace) -> None:
    with serving(says("Ro", "me.\x1b[2J"), says('{"city": "Rome", "letters": 4}')) as running:
        type_in(workspace, "use", "main", "tiny", "--url", running.url)
        said = type_in(workspace, "test")
    assert said.exit_code == 0, said.output
    assert "Rome." in said.output
    assert '{"city": "Rome", "letters": 4}' in said.output
    assert "\x1b" not in said.output
    assert "11" in said.output
    assert len(running.seen) == 2


def test_a_model_that_fails_the_test_says_why(workspace: Workspace) -> None:
    assert "no language model is in use" in str(type_in(workspace, "test").exception)
    with serving(fails(401)) as running:
        type_in(workspace, "use", "main", "tiny", "--url", running.url)
        said = type_in(workspace, "test", "wise")
    assert "wants a key" in str(said.exception)


# -- get, key


def test_a_model_that_is_here_is_checked_and_not_fetched(workspace: Workspace) -> None:
    assert "no model 'unheard-of' to fetch" in str(type_in(workspace, "get", "unheard-of").exception)


def test_no_key_is_stored_from_a_pipe(workspace: Workspace) -> None:
    ran = metnos("--workspace", str(workspace.root), "model", "key", "cloud", stdin=f"{KEY}\n")
    assert (ran.code, "only a person may store a key" in ran.err) == (1, True), ran
    assert not (workspace.keys / "cloud.token").exists()
    assert "model key stored" not in kinds(workspace)


@pytest.mark.usefixtures("typist")
def test_a_key_is_stored_and_never_shown(workspace: Workspace) -> None:
    said = type_in(workspace, "key", "cloud", typed=f"{KEY}\n")
    assert said.exit_code == 0, said.output
    assert "file:cloud" in said.output
    assert KEY not in said.output
    assert keys.find("file:cloud", workspace.keys) == KEY
    assert "model key stored" in kinds(workspace)
    for path in workspace.audit.iterdir():
        assert KEY not in path.read_text()


@pytest.mark.slow
def test_a_key_typed_at_a_terminal_is_not_seen(workspace: Workspace) -> None:
    ran = on_a_terminal("--workspace", str(workspace.root), "model", "key", "cloud", typed=[("Key for cloud", KEY)])
    assert ran.code == 0
    assert KEY not in ran.out
    assert keys.find("file:cloud", workspace.keys) == KEY


@pytest.mark.usefixtures("typist")
@pytest.mark.parametrize(("name", "typed"), [("cloud", "two words\n"), ("../x", KEY), ("_x", KEY)])
def test_what_is_no_key_is_not_stored(workspace: Workspace, name: str, typed: str) -> None:
    assert type_in(workspace, "key", name, typed=typed).exit_code == 1
    assert sorted(path.name for path in workspace.keys.iterdir()) == ["agent.key", "agent.pub"]
    assert "model key stored" not in kinds(workspace)
