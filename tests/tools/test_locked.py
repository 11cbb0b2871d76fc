import pytest

from support import ROOT, tool

locked = tool("locked")

LINES = """# a comment
alpha==1.0 \\
    --hash=sha256:{a} \\
    --hash=sha256:{b}
Beta_X==2.0 ; python_full_version < '3.12' \\
    --hash=sha256:{a}
""".format(a="a" * 64, b="b" * 64)


def test_every_line_is_read_whatever_machine_it_is_for() -> None:
    alpha, beta = locked.read_all(LINES)
    assert (alpha.name, alpha.version, alpha.marker, alpha.digests) == ("alpha", "1.0", "", ("a" * 64, "b" * 64))
    assert (beta.name, beta.version, beta.digests) == ("beta-x", "2.0", ("a" * 64,))
    assert "3.12" in beta.marker


@pytest.mark.parametrize(
    "line", ["alpha>=1.0", "alpha", "alpha==1.0,>0.5", "-e .", "alpha @ https://example.org/a.whl"]
)
def test_a_line_that_pins_nothing_is_an_error(line: str) -> None:
    with pytest.raises(ValueError):
        list(locked.read_all(line))


@pytest.mark.parametrize("name", ["run", "dev"])
def test_every_package_of_each_lock_has_its_digests(name: str) -> None:
    found = list(locked.read_all((ROOT / "lock" / f"{name}.txt").read_text(encoding="utf-8")))
    assert len(found) > 50
    assert all(each.digests for each in found)
    assert len({(each.name, each.version) for each in found}) == len(found)
