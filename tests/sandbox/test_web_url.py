import ipaddress
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metnos.core.errors import ExecutorFailed
from metnos.law.need import Place, host_name, literal, place_of_host
from metnos.sandbox.web_url import Url, follow, parse
from tables import try_each


@try_each(
    ("text", "host", "port", "target"),
    [
        ("http://example.org", "example.org", 80, "/"),
        ("HTTPS://Example.ORG:443/a/b?c=d#e", "example.org", 443, "/a/b?c=d"),
        ("http://example.org.:8080/", "example.org", 8080, "/"),
        ("http://example.org:/x", "example.org", 80, "/x"),
        ("http://[::1]:8080/x", "::1", 8080, "/x"),
        ("http://[0:0:0:0:0:0:0:1]/", "::1", 80, "/"),
        ("http://192.168.1.7/", "192.168.1.7", 80, "/"),
        ("http://münchen.example/straße?q=ä", "xn--mnchen-3ya.example", 80, "/stra%C3%9Fe?q=%C3%A4"),
        ("http://example\u3002org/", "example.org", 80, "/"),
        ("http://\uff45xample.org/", "example.org", 80, "/"),
        ("http://example.org/a%2Fb?x=%20&y[]=1", "example.org", 80, "/a%2Fb?x=%20&y[]=1"),
        ("http://nas/", "nas", 80, "/"),
        ("http://example.org/@evil.example/", "example.org", 80, "/@evil.example/"),
        ("http://example.org?u=http://evil.example", "example.org", 80, "/?u=http://evil.example"),
        ('http://example.org/"<x>', "example.org", 80, "/%22%3Cx%3E"),
    ],
)
def test_an_address_is_read_in_one_way(text: str, host: str, port: int, target: str) -> None:
    url = parse(text)
    assert (url.host, url.port, url.target) == (host, port, target)
    assert parse(url.text) == url


@try_each(
    "text",
    [
        "", "example.org", "//example.org/", "file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)",
        "http:example.org", "http:/example.org", "http:///x", "http://", "http://:80/", "gopher://example.org/",
        "http://good.example@evil.example/", "http://user:pw@example.org/", "http://@example.org/", "http://a@b@c/",
        "http://good.example\\@evil.example/", "http:\\\\example.org\\", "http://example.org\\.evil.example/",
        " http://example.org/", "http://example.org/ ", "http://exa mple.org/", "http://example.org/\r\nX: y",
        "http://example.org/\tx", "http://exam\tple.org/", "http://example.org/\0", "http://example.org\u00a0/",
        "http://exa\u00admple.org/", "http://example.org/\u202e",
        "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1", "http://::1/", "http://[v1.x]/",
        "http://[::ffff:1.2.3.4.5]/", "http://[127.0.0.1]/",
        "http://2130706433/", "http://0x7f000001/", "http://017700000001/", "http://0177.0.0.1/", "http://127.1/",
        "http://127.0.0.1.:80.5/", "http://0x7f.1/", "http://127.0.0.0x1/", "http://1.2.3.4.5/", "http://256.1.1.1/",
        "http://example.123/", "http://example.0x1f/", "http://127%2e0.0.1/", "http://%31%32%37.0.0.1/",
        "http://example..org/", "http://.example.org/", "http://example.org../", "http://-a.example/", "http://a-.example/",
        "http://exa$mple.org/", "http://example.org,evil.example/", "http://example.org;evil.example/",
        "http://fa\u00df.example/", "http://a\u200db.example/",
        "http://example.org:22/", "http://example.org:25/", "http://example.org:6379/", "http://example.org:0/",
        "http://example.org:65536/", "http://example.org:99999/", "http://example.org:-1/", "http://example.org:80x/",
        "http://example.org:٨٠/", "http://example.org:+80/", "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 130 + "example/", "http://example.org/" + "a" * 9000,
    ],
)  # fmt: skip
def test_what_can_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(ExecutorFailed) as caught:
        parse(text)
    assert caught.value.kind == "invalid"
    assert "pw" not in str(caught.value)


AWKWARD = st.text(
    st.one_of(st.sampled_from("@:/\\?#[]%.-_0123456789xae\u3002\uff0e\uff20\uff1a\uff0f \t\r\n\0"), st.characters()),
    max_size=40,
)


@given(st.one_of(AWKWARD, st.builds("http://{}".format, AWKWARD), st.builds("http://a.example{}".format, AWKWARD)))
@example("http://a.example\uff20b/")
@example("http://a\u3002example:80")
@example("http://1.1.1.1 &@2.2.2.2# @3.3.3.3/")
def test_whatever_is_taken_has_one_plain_form(text: str) -> None:
    try:
        url = parse(text)
    except ExecutorFailed:
        return
    assert parse(url.text) == url
    assert url.text.isascii()
    assert url.host == host_name(url.host)
    assert place_of_host(url.host) is not Place.NEVER or literal(url.host) is not None or "metadata" in url.host
    assert url.target.startswith("/")
    assert not set(url.target) & set(' \r\n\t\0#\\"')
    address = literal(url.host)
    assert address is None or str(address) == url.host
    assert url.authority.count("@") == 0


@given(st.ip_addresses(v=4))
def test_only_the_plain_spelling_of_an_ipv4_address_is_taken(address: ipaddress.IPv4Address) -> None:
    assert parse(f"http://{address}/").host == str(address)
    number, parts = int(address), str(address).split(".")
    spellings = {str(number), hex(number), f"0{number:o}", ".".join(f"0{int(part):o}" for part in parts)}
    spellings.add(".".join(hex(int(part)) for part in parts))
    for spelling in spellings - {str(address)}:
        with pytest.raises(ExecutorFailed):
            parse(f"http://{spelling}/")


labels = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
hosts = st.builds("{}.{}.example".format, labels, labels)


@given(hosts, hosts, st.text(string.ascii_letters + string.digits + "/._~%&=@:;,+!$'()*?#", max_size=30))
def test_where_a_redirect_leads_is_the_base_or_what_it_names(base: str, other: str, rest: str) -> None:
    start = parse(f"https://{base}/a/b?c")
    assert follow(start, f"//{other}/{rest}").host == other
    assert follow(start, f"http://{other}/{rest}").host == other
    if not rest.startswith(("/", "#", "?")) and ":" not in rest:
        assert follow(start, f"./{rest}").origin == start.origin


@pytest.mark.parametrize("location", ["file:///etc/passwd", "\\\\evil.example", "http://u:p@x.example/", "http://[::1"])
def test_a_bad_redirect_is_not_permitted(location: str) -> None:
    with pytest.raises(ExecutorFailed, match=r"a\.example redirects") as caught:
        follow(Url("http", "a.example", 80, "/"), location)
    assert caught.value.kind == "not_permitted"
