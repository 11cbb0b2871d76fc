"""Another program in the place of bubblewrap."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from metnos.sandbox import profile


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Put this text in the place of bubblewrap, which no setting can."""

    def put(text: str) -> Path:
        path = tmp_path / "bwrap"
        path.write_text(text)
        path.chmod(stat.S_IRWXU)
        monkeypatch.setattr(profile, "find_bwrap", lambda _: path)
        return path

    return put
