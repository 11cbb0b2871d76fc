from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import Refused
from metnos.law.capability import Capability
from metnos.law.need import Need, Place, fits, host_name, http_need, lies_within, literal, place, place_of_host
from tables import try_each

HOME = """127.0.0.1 127.255.255.254 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.50 169.254.7.7 ::1 fc00::1
    fd12:3456::1 fe80::1"""
OUTSIDE = "8.8.8.8 1.1.1.1 172.32.0.1 100.64.0.1 198.18.0.7 2606:4700::1111 2a00:1450:4001::1 2620:fe::9"
NEVER = """169.254.169.254 fd00:ec2::254 fd20:ce::254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192
    0.0.0.0 0.1.2.3 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 192.0.2.1 198.51.100.1 203.0.113.1
    :: ::7f00:1 ff02::1 2001:db8::1 2001::1 100::1 fec0::1 64:ff9b:1::1 4000::1 3fff::1 ::ffff:0:7f00:1
    nonsense 1.2.3 1.2.3.4.5 256.1.1.1"""

v4 = st.ip_addresses(v=4)
v6 = st.ip_addresses(v=6)


@try_each(
    ("address", "expected"),
    [
        (each, wanted)
        for text, wanted in ((HOME, "home"), (OUTSIDE, "outside"), (NEVER, "never"))
        for each in text.split()
    ],
)
def test_where_an_address_is(address: str, expected: str) -> None:
    assert place(address) == expected


@given(v4)
def test_ipv4_written_inside_ipv6_is_what_it_wraps(inner: IPv4Address) -> None:
    assert place(IPv6Address(f"::ffff:{inner}")) is place(inner)
    nat64 = IPv6Address(f"64:ff9b::{inner}")
    sixtofour = IPv6Address((0x2002 << 112) | (int(inner) << 80) | 7)
    for wrapped in (nat64, sixtofour):
        # A gateway beyond the home unwraps it, so it is never at home, and never better than what is inside.
        assert place(wrapped) is (Place.NEVER if place(inner) is Place.NEVER else Place.OUTSIDE)


@given(st.one_of(v4, v6))
def test_it_is_never_kinder_than_the_registry(address: IPv4Address | IPv6Address) -> None:
    inner = getattr(address, "ipv4_mapped", None) or address
    found = place(address)
    assert found is place(str(address))
    if inner.is_multicast or inner.is_unspecified:
        assert found is Place.NEVER
    if found is Place.HOME:
        assert inner.is_private or inner.is_link_local or inner.is_loopback
    # Handed out by proxies; unwrapped by a gateway outside. Python's list of private blocks differs by version.
    apart = ("198.18.0.0/15",) if inner.version == 4 else ("64:ff9b::/96", "2002::/16")
    if found is Place.OUTSIDE and not any(inner in ip_network(each) for each in apart):
        assert not inner.is_private


@given(v4)
def test_every_spelling_of_ipv4_that_a_resolver_takes_is_seen_through(address: IPv4Address) -> None:
    number = int(address)
    first, rest = number >> 24, number & 0xFF_FFFF
    octets = address.packed
    spellings = [
        str(number), hex(number), f"0{number:o}", f"{first}.{rest}", ".".join(map(hex, octets)),
        ".".join(f"0{octet:o}" for octet in octets), f"{octets[0]}.{octets[1]}.{int.from_bytes(octets[2:])}",
    ]  # fmt: skip
    for spelling in spellings:
        assert literal(spelling) == address
        assert place_of_host(spelling) is place(address)


@pytest.mark.parametrize("host", ["beef", "face.feed", "example.org", "x", "a-b.c_d.e", "127.0.0.1.example.org"])
def test_a_name_is_no_address(host: str) -> None:
    assert literal(host) is None
    assert place_of_host(host) is None


@try_each(
    "host",
    ["", " ", "Example.org", "example.org.", "a..b", "-a.org", "a b", "a/b", "user@host", "host:80", "exämple.org",
     "*.org", "127.0.0.1 x", "x" * 64, "a." * 130 + "a", "metadata.google.internal", "metadata", "[::1]", "a\nb"],
)  # fmt: skip
def test_what_is_no_host_is_nowhere_one_may_go(host: str) -> None:
    assert place_of_host(host) is Place.NEVER


def test_this_machine_by_name_is_home() -> None:
    assert place_of_host("localhost") is Place.HOME
    assert place_of_host("x.localhost") is Place.HOME
    assert place_of_host("notlocalhost") is None


def test_a_host_has_one_spelling() -> None:
    assert host_name(" Example.ORG. ") == "example.org"
    assert host_name("[::1]") == "::1"


class TestHttp:
    def test_at_home_only_if_all_of_its_addresses_are(self) -> None:
        assert not http_need("nas.lan", "get", ["192.168.1.2", "fd00::2"]).outside
        assert http_need("nas.lan", "GET", ["192.168.1.2", "8.8.8.8"]).outside
        assert http_need("nas.lan", "GET", []).outside
        assert http_need("NAS.lan", "get", []) == Need(Capability.NET_HTTP, "nas.lan", "GET", outside=True)

    @pytest.mark.parametrize(
        ("host", "addresses"),
        [
            ("x.org", ["8.8.8.8", "169.254.169.254"]),
            ("169.254.169.254", []),
            ("0xa9fea9fe", []),
            ("metadata", ["8.8.8.8"]),
        ],
    )
    def test_never_is_refused_at_once(self, host: str, addresses: list[str]) -> None:
        with pytest.raises(Refused, match="nothing may speak to"):
            http_need(host, "GET", addresses)

    def test_a_name_that_leads_elsewhere_by_now_does_not_fit(self) -> None:
        outside, at_home = http_need("x.org", "GET", ["8.8.8.8"]), http_need("x.lan", "GET", ["10.0.0.1"])
        assert fits(outside, "1.1.1.1")
        assert not fits(outside, "192.168.1.1")
        assert fits(at_home, "10.0.0.9")
        assert not fits(at_home, "8.8.8.8")
        for need in (outside, at_home):
            assert not fits(need, "169.254.169.254")
            assert not fits(need, "::ffff:169.254.169.254")


class TestWithin:
    @pytest.mark.parametrize(
        ("target", "path", "inside"),
        [("/a", "/a", True), ("/a", "/a/b/c", True), ("/", "/x", True), ("/a", "/ab", False), ("/a/b", "/a", False)],
    )
    def test_a_folder_and_all_below_it(self, target: str, path: str, inside: bool) -> None:
        assert lies_within(Need(Capability.FS_READ, path), Capability.FS_READ, target) is inside

    @try_each(
        ("target", "host", "inside"),
        [("a.org", "a.org", True), ("a.org", "x.a.org", False), ("*.a.org", "x.a.org", True),
         ("*.a.org", "x.y.a.org", True), ("*.a.org", "a.org", False), ("*.a.org", "xa.org", False),
         ("*.a.org", "a.org.evil", False), ("*.1", "10.0.0.1", False)],
    )  # fmt: skip
    def test_a_host_or_all_below_it(self, target: str, host: str, inside: bool) -> None:
        assert lies_within(Need(Capability.NET_HTTP, host, "GET"), Capability.NET_HTTP, target) is inside

    def test_another_capability_is_never_covered(self) -> None:
        assert not lies_within(Need(Capability.FS_WRITE, "/a"), Capability.FS_READ, "/a")
        assert lies_within(Need(Capability.SHELL_EXEC, "/bin/x"), Capability.SHELL_EXEC, "/bin/x")
        assert not lies_within(Need(Capability.SHELL_EXEC, "/bin/x/y"), Capability.SHELL_EXEC, "/bin/x")


def test_every_need_can_be_said() -> None:
    assert len({Need(capability, "x").words for capability in Capability}) == len(Capability)
    assert "outside the home" in Need(Capability.NET_HTTP, "x", "GET").words
