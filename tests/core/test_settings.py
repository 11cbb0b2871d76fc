from pathlib import Path

import pytest

from metnos.core import settings
from metnos.core.errors import SettingsError, UsageError

ALL_KEYS = list(settings.keys())


def test_defaults_need_no_file(tmp_path: Path) -> None:
    loaded = settings.load(tmp_path / "metnos.toml")
    assert loaded.settings.store.busy_timeout_s == 10.0
    assert loaded.origin("store.busy_timeout_s") == "default"


def test_the_environment_wins_over_the_file_and_the_file_over_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "metnos.toml"
    path.write_text('[store]\nbusy_timeout_s = 3\n[disk]\nwarn_free_mb = 7\n[models.main]\nname = "small"\n')
    monkeypatch.setenv("METNOS_STORE__BUSY_TIMEOUT_S", "4")
    monkeypatch.setenv("METNOS_MODELS__MAIN__CONTEXT", "4096")
    loaded = settings.load(path)
    assert loaded.settings.store.busy_timeout_s == 4
    assert loaded.settings.disk.warn_free_mb == 7
    assert (loaded.settings.models.main.name, loaded.settings.models.main.context) == ("small", 4096)
    assert loaded.origin("store.busy_timeout_s") == "environment"
    assert loaded.origin("disk.warn_free_mb") == "file"
    assert loaded.origin("disk.need_free_mb") == "default"


@pytest.mark.parametrize(
    ("text", "says", "fix"),
    [
        ("[store]\nbusy_timeout = 3\n", "store.busy_timeout", "store.busy_timeout_s"),
        ("[stor]\nbusy_timeout_s = 3\n", "stor", "metnos config show"),
        ("[models.main]\nadress = 'x'\n", "models.main.adress", "models.main."),
        ("[store]\nbusy_timeout_s = 'soon'\n", "does not fit", "docs/configuration.md"),
        ("[store]\nbusy_timeout_s = -1\n", "greater than 0", "docs/configuration.md"),
        ("[models.main]\nurl = 'file:///etc/passwd'\n", "models.main.url", "docs/configuration.md"),
        ("[store\n", "not valid TOML", "Mend that line"),
    ],
)
def test_a_wrong_file_is_an_error_that_leads_to_the_right_one(tmp_path: Path, text: str, says: str, fix: str) -> None:
    path = tmp_path / "metnos.toml"
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        settings.load(path)
    assert str(path) in caught.value.what
    assert says in caught.value.what
    assert fix in caught.value.fix
    assert path.read_text() == text


def test_a_file_that_is_not_text_or_not_readable(tmp_path: Path) -> None:
    path = tmp_path / "metnos.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="not valid TOML"):
        settings.load(path)
    with pytest.raises(SettingsError, match="cannot be read"):
        settings.load(tmp_path)


@pytest.mark.parametrize("name", ["METNOS_STORE__BUSY_TIMEOUT", "METNOS_STORE", "METNOS_NONSENSE", "metnos_store"])
def test_a_variable_that_sets_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(SettingsError, match=name):
        settings.load(tmp_path / "metnos.toml")


def test_a_wrong_variable_is_named_and_not_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METNOS_STORE__BUSY_TIMEOUT_S", "soon")
    with pytest.raises(SettingsError) as caught:
        settings.load(tmp_path / "metnos.toml")
    assert "METNOS_STORE__BUSY_TIMEOUT_S" in caught.value.what
    assert str(tmp_path) not in caught.value.what


def test_a_variable_below_what_is_no_table_does_not_hide_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "metnos.toml"
    path.write_text("store = 3\n")
    monkeypatch.setenv("METNOS_STORE__BUSY_TIMEOUT_S", "4")
    with pytest.raises(SettingsError, match="store") as caught:
        settings.load(path)
    assert str(path) in caught.value.what


def test_a_variable_may_be_written_in_any_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("metnos_web__enabled", "false")
    assert settings.load(tmp_path / "metnos.toml").settings.web.enabled is False


def test_every_setting_is_described() -> None:
    for key in ALL_KEYS:
        assert key.description.endswith("."), key.name


def test_the_nearest_key_is_named() -> None:
    with pytest.raises(UsageError) as caught:
        settings.require_key("audit.checkpoint")
    assert "audit.checkpoint_every" in caught.value.fix


class TestWhichWorkspace:
    def test_a_named_one_wins(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("METNOS_HOME", str(tmp_path / "variable"))
        assert settings.find_workspace(str(tmp_path / "named")).root == tmp_path / "named"
        assert settings.find_workspace().root == tmp_path / "variable"

    def test_else_the_xdg_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        home = tmp_path / "home"
        assert settings.find_workspace().root == home / ".local" / "share" / "metnos"
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        assert settings.find_workspace().root == tmp_path / "data" / "metnos"
        monkeypatch.setenv("XDG_DATA_HOME", "relative/is/ignored")
        assert settings.find_workspace().root == home / ".local" / "share" / "metnos"

    def test_an_account_without_a_home_can_name_one(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Path, "home", _no_home)
        assert settings.find_workspace(str(tmp_path)).root == tmp_path
        with pytest.raises(SettingsError) as caught:
            settings.find_workspace()
        assert "--workspace" in caught.value.fix

    def test_relative_and_home_names_are_made_whole(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert settings.find_workspace("here").root == tmp_path / "here"
        assert settings.find_workspace("~/there").root == tmp_path / "home" / "there"


def _no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


class TestWhatNoVariableGives:
    """Whoever starts a program chooses its environment, and need not be a person."""

    @pytest.mark.parametrize("in_file", [None, *settings.LEVELS])
    @pytest.mark.parametrize("in_environment", settings.LEVELS)
    def test_a_variable_lowers_the_level_and_never_raises_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_file: str | None, in_environment: str
    ) -> None:
        path = tmp_path / "metnos.toml"
        path.write_text(f'[policy]\nautonomy = "{in_file}"\n' if in_file else "")
        monkeypatch.setenv("METNOS_POLICY__AUTONOMY", in_environment)
        if settings.LEVELS.index(in_environment) > settings.LEVELS.index(in_file or "supervised"):
            with pytest.raises(SettingsError):
                settings.load(path)
        else:
            assert settings.load(path).settings.policy.autonomy == in_environment

    def test_limits_and_who_answers_are_among_them(self) -> None:
        none = {key.name for key in ALL_KEYS if not key.variable}
        assert {
            "executors.writes", "models.turn_usd", "policy.undo_days", "sandbox.bwrap", "mcp.elicit", "models.main.url",
            "models.main.key", "telegram.api_base", "otel.endpoint", "web.behind_proxy", "web.host", "life.rpc",
        } <= none  # fmt: skip
        assert not none & {"policy.autonomy", "store.busy_timeout_s", "web.port", "web.enabled", "models.main.name"}

    @pytest.mark.parametrize("name", [key.name for key in ALL_KEYS if not key.variable])
    def test_a_limit_and_who_answers_have_no_variable(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        monkeypatch.setenv("metnos_" + name.replace(".", "__"), "true")
        with pytest.raises(SettingsError):
            settings.load(tmp_path / "metnos.toml")
