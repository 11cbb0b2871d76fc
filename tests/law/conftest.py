"""A policy over a workspace of its own, for every test of the law."""

import pytest

from law.asks import Court
from metnos import app


@pytest.fixture
def court(opened: app.App) -> Court:
    return Court.over(opened)
