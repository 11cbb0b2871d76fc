from metnos.law.capability import Capability


def test_every_capability_says_in_one_line_what_it_means() -> None:
    for capability in Capability:
        assert 5 < len(capability.meaning) < 80
        assert "\n" not in capability.meaning


def test_the_list_is_closed() -> None:
    names = "fs.read fs.write net.http shell.exec executor.call model.chat system.read mcp.call"
    assert [str(each) for each in Capability] == names.split()
