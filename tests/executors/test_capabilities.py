import pytest
from pydantic import ValidationError

from metnos.executors.capabilities import Capabilities


def test_only_what_is_declared_is_named() -> None:
    assert Capabilities().names() == ()
    declared = Capabilities.model_validate(
        {
            "fs": {"read": ["/**"], "write": []},
            "net": {"http": {"hosts": ["BÜCHER.example"], "methods": ["GET", "POST"]}},
            "model": {"chat": True},
            "system": {"read": ["disks"]},
        }
    )
    assert declared.names() == ("fs.read", "net.http", "model.chat", "system.read")
    assert declared.unsafe_methods == ("POST",)
    assert declared.net.http is not None
    assert declared.net.http.hosts == ("xn--bcher-kva.example",)
    assert declared.can_change
    assert not Capabilities.model_validate({"fs": {"read": ["/**"]}}).can_change


@pytest.mark.parametrize("program", ["ls", "/usr/bin/", "/usr/bin/**"])
def test_a_program_is_named_by_its_whole_path(program: str) -> None:
    with pytest.raises(ValidationError):
        Capabilities.model_validate({"shell": {"exec": {"allow": [program]}}})


def test_nothing_can_be_changed_afterwards() -> None:
    with pytest.raises(ValidationError):
        Capabilities().fs.read = ("/**",)  # type: ignore[misc]
