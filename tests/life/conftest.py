"""A testament that is sound, whoever signs it, and the door that it is brought to."""

from pathlib import Path

import pytest

from life.door import Door
from life.willed import a_signer, of_generation
from metnos.core.clock import MovableClock
from metnos.core.sign import Signer
from metnos.core.workspace import Workspace
from metnos.life import testament_file
from metnos.synt import bundle
from synt.specimens import draft


@pytest.fixture(scope="session")
def forger(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    """Somebody with a key of their own."""
    return a_signer(tmp_path_factory.mktemp("forger"))


@pytest.fixture(scope="session")
def sound(forger: Signer) -> bytes:
    return testament_file.pack(of_generation(2), bundle.pack([draft()], forger), forger)


@pytest.fixture
def door(blank: Workspace, tmp_path: Path, clock: MovableClock) -> Door:
    return Door(blank, tmp_path, clock)
