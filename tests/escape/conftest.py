"""The escape suite takes a minute: it belongs to the whole suite and not to the fast tier."""

from pathlib import Path

import pytest

HERE = f"{Path(__file__).parent.relative_to(Path(__file__).parents[2])}/"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(HERE):
            item.add_marker(pytest.mark.slow)
