"""Where it connects, and whose certificate it takes."""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ExecutorFailed, Refused
from metnos.law.capability import Capability
from metnos.law.need import Need, Place, place, refuse_never
from metnos.sandbox import web_url
from metnos.sandbox.web import Fetched, Web, resolve_host
from sandbox.websites import HERE, NAMES, Certificates, Names, Rules, Site, Town, answer, redirect


@pytest.fixture
def town() -> Iterator[Town]:
    with ExitStack() as stack:
        yield Town(stack)


def test_what_is_refused_is_never_connected_to(town: Town) -> None:
    site = town.site(page=answer(b"x"))
    town.rules.hosts = ("other.example",)
    assert town.failure(f"http://site.example:{site.port}/page").kind == "not_permitted"
    assert site.requests == []


def test_what_is_screened_out_is_not_even_looked_up(town: Town) -> None:
    def screen(host: str, method: str) -> None:
        assert method == "GET"
        raise ExecutorFailed(f"{host} is not in the manifest", kind="not_permitted")

    assert town.failure("http://s3cret.other.example/", screen=screen).kind == "not_permitted"
    assert town.names.asked == []
    assert town.rules.asked == []


def test_a_name_that_turns_is_looked_up_once_for_each_request(town: Town) -> None:
    site = town.site(page=answer(b"first"), again=redirect("/page"))
    assert town.get(f"http://turncoat.example:{site.port}/page").body == b"first"
    assert town.names.asked == ["turncoat.example"]
    with pytest.raises(Refused):  # the second answer is asked about like the first
        town.get(f"http://turncoat.example:{site.port}/page")
    assert len(site.requests) == 1


def test_a_name_that_turns_between_redirects_is_asked_about_again(town: Town) -> None:
    site = town.site(again=redirect("/page"), page=answer(b"x"))
    with pytest.raises(Refused):
        town.get(f"http://turncoat.example:{site.port}/again")
    assert [addresses for _, _, addresses in town.rules.asked] == [HERE, ["169.254.169.254"]]
    assert len(site.requests) == 1


def test_a_permit_for_outside_never_leads_home(town: Town) -> None:
    site = town.site(page=answer(b"x"))
    seen: list[str] = []
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        seen.append(address[0])
        if address[0].startswith("127."):
            return real(self, address)
        raise ConnectionRefusedError(111, "refused")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        assert town.failure(f"http://mixed.example:{site.port}/page").kind == "unavailable"
    assert seen == ["93.184.216.34"]
    assert site.requests == []


def test_a_permit_for_home_never_leads_outside(town: Town) -> None:
    def allow(host: str, method: str, _: list[str]) -> Need:
        return Need(Capability.NET_HTTP, host, method, outside=False)

    town.get(f"http://traveller.example:{town.site().port}/", allow=allow)
    assert "elsewhere" in town.failure("http://traveller.example/", allow=allow).what


def test_one_bad_address_among_good_ones_refuses_the_host(town: Town) -> None:
    with pytest.raises(Refused):
        town.get("http://half.example/")
    with pytest.raises(Refused):
        town.get("http://odd.example/")


@pytest.mark.parametrize(
    "need",
    [
        Need(Capability.NET_HTTP, "other.example", "GET", outside=False),
        Need(Capability.NET_HTTP, "site.example", "POST", outside=False),
        Need(Capability.FS_READ, "site.example", "GET", outside=False),
    ],
)
def test_a_need_for_something_else_opens_nothing(town: Town, need: Need) -> None:
    site = town.site(page=answer(b"x"))
    error = town.failure(f"http://site.example:{site.port}/page", allow=lambda *_: need)
    assert error.kind == "not_permitted"
    assert site.requests == []


@pytest.mark.parametrize(
    ("host", "kind"),
    [("nowhere.example", "unavailable"), ("empty.example", "unavailable"), ("crowd.example", "failed"),
     ("zone.example", "not_permitted")],
)  # fmt: skip
def test_names_that_lead_nowhere(town: Town, host: str, kind: str) -> None:
    assert town.failure(f"http://{host}/").kind == kind


def test_a_closed_port_is_unavailable(town: Town) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    error = town.failure(f"http://site.example:{port}/x?s3cret")
    assert error.kind == "unavailable"
    assert "s3cret" not in str(error)


@given(
    st.lists(st.ip_addresses(v=4).map(str) | st.ip_addresses(v=6).map(str), max_size=5),
    st.booleans(),
    st.sampled_from(["http://name.example/", "http://name.example:8080/x", "http://NAME.example./"]),
)
def test_it_connects_only_to_looked_up_addresses_of_the_allowed_place(
    addresses: list[str], outside: bool, url: str
) -> None:
    tried: list[tuple[Any, ...]] = []

    def connect(_: socket.socket, address: Any) -> None:
        tried.append(address)
        raise ConnectionRefusedError(111, "refused")

    def allow(host: str, method: str, found: list[str]) -> Need:
        assert (host, found) == ("name.example", addresses)
        return Need(Capability.NET_HTTP, host, method, outside=outside)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        with pytest.raises(ExecutorFailed):
            Web(lambda _host, _port: addresses).fetch("GET", url, {}, max_bytes=1, allow=allow, screen=refuse_never)
    wanted = web_url.parse(url)
    fitting = [each for each in addresses if place(each) is (Place.OUTSIDE if outside else Place.HOME)]
    assert [(each[0], each[1]) for each in tried] == [(each, wanted.port) for each in fitting]


def test_no_attempt_waits_longer_than_the_trip(town: Town) -> None:
    town.names = Names({"dead.example": [["127.0.0.1", "127.0.0.2"]]})
    waits: list[float] = []

    def connect(self: socket.socket, _: Any) -> None:
        waits.append(self.gettimeout() or 0)
        raise TimeoutError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        for time_s in (2, 60):
            assert "it took too long" in town.failure("http://dead.example/", timeout_s=time_s).what
    assert len(waits) == 4
    assert all(0 < wait <= 2 for wait in waits[:2])
    assert all(5 < wait < 10 for wait in waits[2:])  # a dead address leaves time for the next


def test_the_systems_resolver_gives_each_address_once() -> None:
    found = resolve_host("127.0.0.1", 80)
    assert found == ["127.0.0.1"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.make(tmp_path_factory.mktemp("tls"))


def fetch(url: str, tls: ssl.SSLContext | None, **options: float) -> Fetched:
    return Web(Names(NAMES), tls=tls, **{"timeout_s": 5, **options}).fetch(
        "GET", url, {}, max_bytes=100, allow=Rules(), screen=refuse_never
    )


def test_the_right_name_is_served_with_sni(authority: Certificates) -> None:
    with Site({"/x": answer(b"safe")}, tls=authority.server("site.example")).open() as site:
        found = fetch(f"https://site.example:{site.port}/x", authority.client())
    assert (found.body, site.names) == (b"safe", ["site.example"])


def test_an_address_is_verified_as_an_address(authority: Certificates) -> None:
    with Site({"/x": answer(b"safe")}, tls=authority.server("127.0.0.1")).open() as site:
        assert fetch(f"https://127.0.0.1:{site.port}/x", authority.client()).body == b"safe"
        with pytest.raises(ExecutorFailed, match="certificate"):
            fetch(f"https://site.example:{site.port}/x", authority.client())


@pytest.mark.parametrize("fault", ["name", "self-signed", "expired", "unknown authority"])
def test_a_certificate_that_does_not_hold_gets_nothing(authority: Certificates, fault: str) -> None:
    server = {
        "name": authority.server("other.example"),
        "self-signed": authority.server("site.example", self_signed=True),
        "expired": authority.server("site.example", expired=True),
        "unknown authority": authority.server("site.example"),
    }[fault]
    client = None if fault == "unknown authority" else authority.client()
    with (
        Site({"/x": answer(b"safe")}, tls=server).open() as site,
        pytest.raises(ExecutorFailed, match=r"certificate of site\.example does not hold") as caught,
    ):
        fetch(f"https://site.example:{site.port}/x", client)
    assert caught.value.kind == "failed"
    assert site.requests == []


def test_a_server_without_encryption_is_unavailable_over_https(authority: Certificates) -> None:
    def plain() -> None:
        with listener.accept()[0] as sock:
            sock.recv(1000)
            sock.sendall(answer(b"", "400 Bad Request"))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=plain)
        thread.start()
        with pytest.raises(ExecutorFailed, match="encrypted") as caught:
            fetch(f"https://site.example:{listener.getsockname()[1]}/x", authority.client())
        thread.join()
    assert caught.value.kind == "unavailable"


@pytest.mark.slow
def test_a_handshake_that_never_ends_is_given_up_on(authority: Certificates) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        started = time.monotonic()
        with pytest.raises(ExecutorFailed, match="too long"):
            fetch(f"https://site.example:{listener.getsockname()[1]}/x", authority.client(), timeout_s=0.3)
    assert time.monotonic() - started < 1


def test_a_body_is_not_redirected_out_of_encryption(authority: Certificates) -> None:
    with (
        Site({"/end": answer(b"")}).open() as plain,
        Site(tls=authority.server("site.example")).open() as site,
    ):
        site.pages = {
            "/307": answer(b"", "307 Temporary", Location=f"http://site.example:{plain.port}/end"),
            "/303": answer(b"", "303 See Other", Location=f"http://site.example:{plain.port}/end"),
        }
        web, rules = Web(Names(NAMES), tls=authority.client()), Rules(methods=("GET", "POST"))
        secret = {"Authorization": "Bearer s3cret"}
        with pytest.raises(ExecutorFailed, match="in the clear"):
            web.fetch(
                "POST",
                f"https://site.example:{site.port}/307",
                secret,
                b"s3cret",
                max_bytes=9,
                allow=rules,
                screen=refuse_never,
            )
        assert plain.requests == []
        web.fetch(
            "POST",
            f"https://site.example:{site.port}/303",
            secret,
            b"s3cret",
            max_bytes=9,
            allow=rules,
            screen=refuse_never,
        )
        assert "s3cret" not in plain.requests[0]


def test_the_systems_authorities_are_used_unless_told(tmp_path: Path) -> None:
    context = Web()._verifying()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
