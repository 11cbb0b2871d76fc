import tomllib
from pathlib import Path

import pytest

from metnos.core import settings, settings_file
from metnos.core.errors import SettingsError, UsageError

ALL_KEYS = list(settings.keys())
DEFAULTS = {key.name: list(key.default) if isinstance(key.default, tuple) else key.default for key in ALL_KEYS}


def test_the_template_sets_nothing_and_explains_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("METNOS_WEB__PORT")  # of all tests
    text = settings_file.template()
    path = tmp_path / "metnos.toml"
    path.write_text(text)
    assert settings.load(path).origins == {}
    for key in ALL_KEYS:
        assert key.description in text


def test_the_template_is_right_when_every_line_is_taken_up() -> None:
    lines = [line.removeprefix("# ") if " = " in line and line.startswith("# ") else line
             for line in settings_file.template().splitlines() if not line.startswith("# An environment")]  # fmt: skip
    data = dict(settings.leaves(tomllib.loads("\n".join(lines))))
    assert data == DEFAULTS


def test_one_key_is_written_and_all_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / "metnos.toml"
    path.write_text("# mine\n[disk]\nwarn_free_mb = 5  # low\n")
    settings_file.write_value(path, "disk.need_free_mb", settings_file.check_value(path, "disk.need_free_mb", "3"))
    settings_file.write_value(path, "models.main.name", settings_file.check_value(path, "models.main.name", "true"))
    text = path.read_text()
    assert text.startswith("# mine\n[disk]\nwarn_free_mb = 5  # low\n")
    loaded = settings.load(path).settings
    assert (loaded.disk.warn_free_mb, loaded.disk.need_free_mb, loaded.models.main.name) == (5, 3, "true")


def set_to_default(path: Path, keys: list[settings.Key]) -> None:
    for key in keys:
        text = ",".join(key.default) if isinstance(key.default, tuple) else str(key.default)
        settings_file.write_value(path, key.name, settings_file.check_value(path, key.name, text))


@pytest.mark.slow
def test_the_template_takes_values_in_its_sections(tmp_path: Path) -> None:
    """Each section by itself, since the whole file is long to read; then a few of them side by side in the whole."""
    parts = settings_file.template().split("\n[")
    for part in parts[1:]:
        table, path = part.partition("]")[0], tmp_path / "part.toml"
        path.write_text(f"[{part}")
        inside = [key for key in ALL_KEYS if key.name.rpartition(".")[0] == table]
        set_to_default(path, inside)
        assert dict(settings.leaves(settings.read_file(path))) == {key.name: DEFAULTS[key.name] for key in inside}
        assert path.read_text().count("[" + table + "]") == 1
    assert len(parts) - 1 == len({key.name.rpartition(".")[0] for key in ALL_KEYS})
    path = tmp_path / "metnos.toml"
    path.write_text(settings_file.template())
    few = ALL_KEYS[:: len(ALL_KEYS) // 5]
    set_to_default(path, few)
    assert dict(settings.leaves(settings.read_file(path))) == {key.name: DEFAULTS[key.name] for key in few}
    assert path.read_text().startswith(settings_file.template().partition("\n#")[0])


def test_a_list_is_said_with_commas(tmp_path: Path) -> None:
    path = tmp_path / "metnos.toml"
    value = settings_file.check_value(path, "web.hosts", "metnos.home, metnos.example.org:8443")
    settings_file.write_value(path, "web.hosts", value)
    assert settings.load(path).settings.web.hosts == ("metnos.home", "metnos.example.org:8443")


def test_a_value_that_does_not_fit_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "metnos.toml"
    path.write_text("")
    for name, text in (("disk.need_free_mb", "lots"), ("disk.need_free", "1"), ("models.main.url", "ftp://x")):
        with pytest.raises(UsageError):
            settings_file.check_value(path, name, text)
    assert path.read_text() == ""


@pytest.mark.parametrize("text", ["models = {main = {name = 'a'}}\n", "[models]\n[disk]\n[models.main]\nname = 'a'\n"])
def test_tables_may_be_written_in_any_way(tmp_path: Path, text: str) -> None:
    path = tmp_path / "metnos.toml"
    path.write_text(text)
    settings_file.write_value(path, "models.main.name", settings_file.check_value(path, "models.main.name", "b"))
    settings_file.write_value(path, "models.main.timeout_s", 2.0)
    assert settings.load(path).settings.models.main.name == "b"
    assert settings.load(path).settings.models.main.timeout_s == 2.0


def test_a_value_where_a_table_should_be_is_named(tmp_path: Path) -> None:
    path = tmp_path / "metnos.toml"
    path.write_text("disk = 3\n")
    with pytest.raises(SettingsError, match="not a table"):
        settings_file.check_value(path, "disk.need_free_mb", "1")
    with pytest.raises(SettingsError, match="not a table"):
        settings_file.write_value(path, "disk.need_free_mb", 1)


def test_a_variable_does_not_hide_what_the_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METNOS_DISK__NEED_FREE_MB", "9")
    assert settings_file.check_value(tmp_path / "metnos.toml", "disk.need_free_mb", "3") == 3
