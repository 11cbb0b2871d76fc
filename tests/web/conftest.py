"""The pages over a stand-in for the API."""

import pytest
from starlette.testclient import TestClient

from metnos.web import site
from web.standin import Api, signed_in


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def page(api: Api) -> TestClient:
    """Somebody who is signed in."""
    return TestClient(signed_in(site.build(api), api))


@pytest.fixture
def stranger(api: Api) -> TestClient:
    """Somebody who is not."""
    return TestClient(site.build(api))
