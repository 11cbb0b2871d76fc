"""Nothing that a test is reminded of comes up on the desktop of whoever runs it."""

import pytest

from metnos.night import desktop


@pytest.fixture(autouse=True)
def _quiet_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desktop, "_FOLDERS", ())
