"""The port stays the same, and one that is taken is said."""

import socket
from pathlib import Path

import pytest

from api.http.accounts import foreign_socket
from metnos.api.http.port import bind
from metnos.core.errors import DaemonError
from metnos.core.sections_outward import WebSettings


def unset(port: int) -> WebSettings:
    """Settings in which the owner chose nothing, where this is the usual port."""
    made = WebSettings(port=port)
    made.model_fields_set.discard("port")
    return made


def free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


def bound(settings: WebSettings, kept: Path | None, told: list[str] | None = None) -> int:
    with bind(settings, kept, (told if told is not None else []).append) as door:
        return int(door.getsockname()[1])


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / ".run" / "port"


def test_the_first_start_takes_the_usual_one_and_keeps_it(kept: Path) -> None:
    usual = free()
    assert bound(unset(usual), kept) == usual
    assert kept.stat().st_mode & 0o077 == 0
    assert bound(unset(free()), kept) == usual, "whatever is usual later"


def test_where_that_is_taken_another_one_is_chosen_once_and_said(kept: Path) -> None:
    told: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as squatter:
        usual = squatter.getsockname()[1]
        other = bound(unset(usual), kept, told)
    assert (other != usual, len(told)) == (True, 1)
    assert bound(unset(usual), kept, told) == other, "also when the usual one is free again"
    assert len(told) == 1


def test_later_no_other_one_is_chosen(kept: Path) -> None:
    usual = bound(unset(free()), kept)
    with socket.create_server(("127.0.0.1", usual)):
        with pytest.raises(DaemonError) as caught:
            bound(unset(usual), kept)
        assert "metnos config set web.port" in caught.value.fix
        with pytest.raises(DaemonError):
            bound(WebSettings(port=usual), kept)
    assert bound(unset(usual), kept) == usual


def test_whose_program_has_it_is_said(kept: Path) -> None:
    with foreign_socket() as squatter:
        squatter.bind(("127.0.0.1", 0))
        squatter.listen()
        with pytest.raises(DaemonError, match=r"account (nobody|65534)"):
            bound(WebSettings(port=squatter.getsockname()[1]), kept)


def test_what_the_owner_set_is_not_remembered(kept: Path) -> None:
    assert bound(WebSettings(port=0), kept) > 0
    assert not kept.exists()


@pytest.mark.parametrize("text", ["", "x", "0", "70000", "-1", "١٢٣", "80 81"])
def test_what_is_no_port_is_none(kept: Path, text: str) -> None:
    kept.parent.mkdir()
    kept.write_text(text)
    usual = free()
    assert bound(unset(usual), kept) == usual
    assert kept.read_text() == f"{usual}\n"
