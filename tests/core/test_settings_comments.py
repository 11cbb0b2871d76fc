"""Whatever a file says beside its settings, writing one of them leaves it as it was."""

from pathlib import Path

import pytest

from metnos.core.settings_file import template, write_value


@pytest.mark.parametrize(
    "text",
    [
        template(),
        "# one\n#0\n\n#1\n  # indented\n[turn] # behind\n#2\n[web]\n# last",
        "note = '''\n#0\n# it ends here'''\n#0\n[turn]\n#1 '''\n",
        'note = """a\\\n#3"""\n#3\n[turn]\n',
        "some = [\n# a\n1,\n#0\n]\n",
    ],
)
def test_every_line_is_still_there(tmp_path: Path, text: str) -> None:
    path = tmp_path / "metnos.toml"
    path.write_text(text, encoding="utf-8")
    write_value(path, "turn.steps", 7)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines.count("steps = 7") == 1
    lines.remove("steps = 7")
    assert [line for line in lines if line and line != "[turn]"] == [
        line for line in text.splitlines() if line and line != "[turn]"
    ]
