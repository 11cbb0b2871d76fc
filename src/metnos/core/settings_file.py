"""Writing ``metnos.toml``: a new one with every setting explained, or one changed key.

Rules: what the owner wrote, comments and order included, stays as it is; a value is checked against all of the file
before anything is written; the file is replaced whole.
"""

import re
from collections.abc import Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit

from metnos.core import files
from metnos.core.errors import SettingsError, UsageError
from metnos.core.settings import keys, leaves, read_file, require_key, validate

_HEADER = """\
# Metnos settings. Every line is optional: remove the `#` before a line to change it, or type
#   metnos config set KEY VALUE
# An environment variable wins over this file: METNOS_STORE__BUSY_TIMEOUT_S sets store.busy_timeout_s.
"""
# Lines of comments, one after the other. What holds three quotes may be the end of a text of many lines.
_REMARK = r"#(?![^\r\n]*(?:'''|\"\"\"))[^\r\n]*"
_REMARKS = re.compile(rf"^{_REMARK}(?:\r?\n{_REMARK})*", re.MULTILINE)
_STAND_IN = re.compile(r"^#(\d+)(?=\r?$)", re.MULTILINE)


def template() -> str:
    """A settings file that sets nothing and explains everything."""
    lines = [_HEADER]
    section = ""
    for key in keys():
        table, _, name = key.name.rpartition(".")
        if table != section:
            lines.append(f"\n[{table}]")
            section = table
        lines.append(f"# {key.description}")
        lines.append(f"# {name} = {tomlkit.item(key.default).as_string()}")
    return "\n".join(lines) + "\n"


def check_value(path: Path, name: str, text: str) -> Any:
    """What ``text`` means as the value of the setting ``name``; of a list, with commas between. Raises if it does not
    fit."""
    listed = isinstance(require_key(name).default, tuple)
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):  # what an argument holds that is no UTF-8
        raise UsageError(f"the value for `{name}` is not valid UTF-8", fix="Type it as text.")
    data = read_file(path)
    table = data
    *sections, leaf = name.split(".")
    for section in sections:
        table = table.setdefault(section, {})
        if not isinstance(table, dict):
            raise SettingsError(f"{path}: `{section}` is not a table", fix=f"Make it one: [{'.'.join(sections)}]")
    table[leaf] = [part.strip() for part in text.split(",") if part.strip()] if listed else text
    try:
        # The file by itself: a variable that is set just now must not hide what the file would say.
        value: Any = validate(data, path)
    except SettingsError as error:
        raise UsageError(error.what, fix=error.fix) from error
    for part in name.split("."):
        value = getattr(value, part)
    return value


def write_value(path: Path, name: str, value: Any) -> None:
    """Set one key in the file and leave all the rest as it stands."""

    def change(document: MutableMapping[str, Any]) -> None:
        *sections, leaf = name.split(".")
        table = document
        for section in sections:
            if section not in table:
                table[section] = tomlkit.table()
            inner = table[section]
            if not isinstance(inner, MutableMapping):
                raise SettingsError(f"{path}: `{section}` is not a table", fix=f"Make it one: [{'.'.join(sections)}]")
            table = inner
        table[leaf] = list(value) if isinstance(value, tuple) else value

    _rewrite(path, change)


def keep_values(path: Path, keep: Callable[[str, Any], bool]) -> dict[str, Any]:
    """Take every key out of the file that is not to be kept; returns what was taken out.

    A file of which that cannot be done for certain is replaced by a new one, and all its values were taken out.
    """
    data: dict[str, Any] = {}
    try:
        data = dict(leaves(read_file(path)))
        gone = {name: value for name, value in data.items() if not keep(name, value)}
        if gone:
            _rewrite(path, lambda document: _drop(document, gone))
        left = read_file(path)
        validate(left, path)
        if dict(leaves(left)) == {name: value for name, value in data.items() if name not in gone}:
            return gone
    except (SettingsError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass  # as if nothing of it could be had
    files.replace(path, template().encode(), mode=files.PRIVATE_FILE)
    return data


def _drop(document: MutableMapping[str, Any], names: Iterable[str]) -> None:
    for name in names:
        *sections, leaf = name.split(".")
        table = document
        for section in sections:
            table = table[section]
        del table[leaf]


def _rewrite(path: Path, change: Callable[[MutableMapping[str, Any]], None]) -> None:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    # Almost all of a file is comments, and reading them takes long: numbers stand in for them.
    remarks: list[str] = _REMARKS.findall(text)
    numbers = iter(range(len(remarks)))
    document = tomlkit.parse(_REMARKS.sub(lambda _: f"#{next(numbers)}", text))
    change(document)
    written = _STAND_IN.sub(lambda found: remarks[int(found[1])], tomlkit.dumps(document))
    files.replace(path, written.encode(), mode=files.PRIVATE_FILE)
