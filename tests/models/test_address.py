import pytest

from metnos.models.address import at_home, host, on_this_machine, shown
from tables import try_each


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:11434/v1",
        "http://localhost/v1",
        "http://[::1]:8080/v1",
        "http://127.9.9.9",
        "http://a.localhost",
    ],
)
def test_loopback_is_at_home(url: str) -> None:
    assert at_home(url)
    assert on_this_machine(url) == ("localhost" not in url)


@pytest.mark.parametrize("url", ["http://192.168.1.7:11434/v1", "http://10.0.0.1", "http://[fd00::1]/v1"])
def test_so_are_private_addresses_as_the_policy_has_it(url: str) -> None:
    assert at_home(url)
    assert not on_this_machine(url)


@try_each(
    "url",
    [
        "https://api.openai.com/v1",
        "http://nas.local/v1",
        "http://169.254.169.254/v1",
        "http://localhost.example.org/v1",
        "http://127.0.0.1@example.org/v1",
        "http://127.0.0.1.example.org",
        "http://0.0.0.0",
        "http://[broken",
        "",
    ],
)
def test_everything_else_is_outside(url: str) -> None:
    assert not at_home(url)


def test_an_address_is_shown_without_what_may_be_secret() -> None:
    assert shown("https://me:secret@example.org:8/v1/?key=secret#secret") == "https://example.org:8/v1"
    assert shown("http://[broken") == "that address"
    assert host("https://me:secret@example.org:8/v1") == "example.org:8"
