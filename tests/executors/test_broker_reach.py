"""The broker's ways out beside files: the web, other executors, the language model, the machine's facts."""

from pathlib import Path
from typing import Any

import pytest

from executors.calls import ADDRESS, AT_HOME, ELSEWHERE, Pages, broker, manifest, reach, ready
from metnos.core.errors import ExecutorFailed, NotTrusted, Refused, Waiting
from metnos.executors.broker import Breached, Broker
from metnos.executors.effect_plan import Planning
from metnos.executors.reach import Reach
from metnos.executors.trash import Trash
from metnos.law.forbidden import refuse_forbidden
from metnos.sandbox.web import Web

HOSTS = {"net": {"http": {"hosts": ["a.example", "*.b.example"], "methods": ["GET", "HEAD"]}}}
GET = {"op": "http", "method": "GET", "url": "http://a.example/", "headers": {}, "base64": "", "max_bytes": 1000}


def at(home: Path, capabilities: dict[str, Any], ways: Reach | None = None, **args: Any) -> Broker:
    """The broker of a call with these capabilities; its addresses are those of its argument ``url``."""
    read = manifest({"url": ADDRESS} if "net" in capabilities else {}, capabilities)
    prepared = ready(read, home, **args)
    return broker(read, prepared, Planning(refuse_forbidden, Trash(home / "Trash")), ways)


class TestWeb:
    def test_the_address_that_the_call_named(self, tmp_path: Path) -> None:
        pages = Pages({"http://a.example/": "hello"})
        ask = at(tmp_path, HOSTS, reach(pages), url="http://a.example/")
        answer = ask({**GET, "headers": {"Accept": "text/plain"}}, None)
        assert answer["value"] == {
            "status": 200, "headers": {"Accept": "text/plain"}, "body": b"hello", "url": "http://a.example/",
            "truncated": False,
        }  # fmt: skip
        assert ask({**GET, "max_bytes": 2}, None)["value"]["body"] == b"he"
        assert ask({**GET, "max_bytes": 2}, None)["value"]["truncated"]

    @pytest.mark.parametrize("method", ["get", "Get", "HEAD"])
    def test_a_declared_method_in_any_case(self, tmp_path: Path, method: str) -> None:
        pages = Pages({"http://a.example/": ""})
        assert "value" in at(tmp_path, HOSTS, reach(pages), url="http://a.example/")({**GET, "method": method}, None)
        assert pages.fetched == [(method.upper(), "http://a.example/")]

    @pytest.mark.parametrize(
        "change",
        [
            {"url": "http://c.example/"},
            {"url": "http://b.example/"},  # the pattern is for what lies below it
            {"url": "http://a.example.evil.example/"},
            {"url": "http://evila.example/"},
            {"method": "POST"},
            {"method": "DELETE"},
            {"method": ""},
        ],
    )
    def test_a_host_or_method_that_is_not_declared(self, tmp_path: Path, change: dict[str, str]) -> None:
        pages = Pages()
        with pytest.raises(Breached, match="does not declare"):
            at(tmp_path, HOSTS, reach(pages, undisputed=True), url="http://a.example/")({**GET, **change}, None)
        assert (pages.fetched, pages.looked_up) == ([], []), "a name that is looked up can carry a secret out"
        careless = reach(Pages(careful=False), undisputed=True)
        with pytest.raises(Breached, match="does not declare"):
            at(tmp_path, HOSTS, careless, url="http://a.example/")({**GET, **change}, None)

    def test_the_real_web_looks_nothing_up_that_is_not_declared(self, tmp_path: Path) -> None:
        asked: list[str] = []

        def resolve(host: str, _port: int) -> list[str]:
            asked.append(host)
            return [ELSEWHERE]

        read = manifest({"url": ADDRESS}, HOSTS)
        prepared = ready(read, tmp_path, url="http://a.example/")
        doing = Planning(refuse_forbidden, Trash(tmp_path / "Trash"))
        ask = broker(read, prepared, doing, Reach(Web(resolve), list, lambda _n, _a: None, None, lambda _: True))
        with pytest.raises(Breached):
            ask({**GET, "url": "http://my-secret.evil.example/"}, None)
        assert asked == []

    def test_a_declared_host_that_the_call_did_not_name(self, tmp_path: Path) -> None:
        pages = Pages({"http://x.b.example/": "hello"})
        message = {**GET, "url": "http://x.b.example/"}
        refused = at(tmp_path, HOSTS, reach(pages), url="http://a.example/")(message, None)
        assert (refused["kind"], pages.fetched) == ("not_permitted", [])
        assert "x.b.example" in refused["message"]
        allowed = at(tmp_path, HOSTS, reach(pages, undisputed=True), url="http://a.example/")(message, None)
        assert allowed["value"]["body"] == b"hello"

    def test_every_hop_of_a_redirect_is_asked_about(self, tmp_path: Path) -> None:
        pages = Pages({
            "http://a.example/": "-> http://a.example/2", "http://a.example/2": "hello",
            "http://a.example/out": "-> http://evil.example/", "http://a.example/beside": "-> http://x.b.example/",
        })  # fmt: skip
        ask = at(tmp_path, HOSTS, reach(pages), url="http://a.example/")
        assert ask(GET, None)["value"]["url"] == "http://a.example/2"
        assert ask({**GET, "url": "http://a.example/beside"}, None)["kind"] == "not_permitted"
        assert ask({**GET, "url": "http://a.example/out"}, None)["kind"] == "not_permitted"
        assert not {"http://x.b.example/", "http://evil.example/"} & {url for _, url in pages.fetched}

    @pytest.mark.parametrize("undisputed", [True, False])
    def test_a_name_that_leads_into_the_home_though_it_does_not_say_so(self, tmp_path: Path, undisputed: bool) -> None:
        pages = Pages({"http://a.example/": "router"}, {"a.example": AT_HOME})
        ask = at(tmp_path, HOSTS, reach(pages, undisputed=undisputed), url="http://a.example/")
        assert ask(GET, None)["kind"] == "not_permitted"
        assert pages.fetched == []

    def test_a_name_of_the_home_that_leads_outside(self, tmp_path: Path) -> None:
        can = {"net": {"http": {"hosts": ["*"]}}}
        message = {**GET, "url": "http://nas.local/"}
        for address, fetched in ((ELSEWHERE, []), (AT_HOME, [("GET", "http://nas.local/")])):
            pages = Pages({"http://nas.local/": "files"}, {"nas.local": address})
            at(tmp_path, can, reach(pages), url="http://nas.local/")(message, None)
            assert pages.fetched == fetched

    def test_an_address_that_nothing_may_speak_to(self, tmp_path: Path) -> None:
        pages = Pages({"http://a.example/": "credentials"}, {"a.example": "169.254.169.254"})
        ask = at(tmp_path, HOSTS, reach(pages, undisputed=True), url="http://a.example/")
        assert ask(GET, None)["kind"] == "not_permitted"
        assert pages.fetched == []

    @pytest.mark.parametrize(
        "change",
        [{"headers": None}, {"headers": []}, {"headers": {"a": 1}}, {"headers": {"a": None}}, {"method": None},
         {"url": 5}, {"url": "http://a.example/\0"}, {"base64": "!"}, {"base64": None}],
    )  # fmt: skip
    def test_what_is_no_request(self, tmp_path: Path, change: dict[str, Any]) -> None:
        pages = Pages({"http://a.example/": "hello"})
        ask = at(tmp_path, HOSTS, reach(pages, undisputed=True), url="http://a.example/")
        assert ask({**GET, **change}, None)["kind"] == "invalid"
        assert pages.fetched == []

    @pytest.mark.parametrize("most", [None, 0, -5, "many", 10.0, True])
    def test_an_odd_limit_gives_hardly_anything(self, tmp_path: Path, most: Any) -> None:
        ask = at(tmp_path, HOSTS, reach(Pages({"http://a.example/": "hello"})), url="http://a.example/")
        assert ask({**GET, "max_bytes": most}, None)["value"]["body"] == b"h"


class TestNotDeclared:
    @pytest.mark.parametrize(
        ("message", "said"),
        [
            (GET, "network"),
            ({"op": "call", "name": "find_files", "args": {}}, "call"),
            ({"op": "chat", "prompt": "hello"}, "language model"),
            ({"op": "system", "what": "processes"}, "of this machine"),
            ({"op": "write", "path": "/x", "text": ""}, "change"),
        ],
    )
    def test_nothing_is_declared_so_everything_is_a_breach(
        self, tmp_path: Path, message: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(Breached, match=said):
            at(tmp_path, {}, reach(chat=lambda _prompt, _tokens: "hi"))(message, None)


class TestCalls:
    CAN = {"executor": {"call": ["find_files"]}}  # noqa: RUF012

    def test_a_declared_one_and_no_other(self, tmp_path: Path) -> None:
        ask = at(tmp_path, self.CAN)
        answer = ask({"op": "call", "name": "find_files", "args": {"path": "~"}}, None)
        assert answer == {"value": {"called": "find_files", "args": {"path": "~"}}}
        for name in ("delete_files", "", "find_files ", "../find_files"):
            with pytest.raises(Breached):
                ask({"op": "call", "name": name, "args": {}}, None)
        for message in (
            {"name": 5, "args": {}},
            {"args": {}},
            {"name": "find_files", "args": []},
            {"name": "find_files"},
        ):
            assert ask({"op": "call", **message}, None)["kind"] == "invalid"

    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            (ExecutorFailed("no such folder", kind="not_found"), "not_found"),
            (Refused("the policy says no"), "not_permitted"),
            (NotTrusted("in quarantine"), "failed"),
        ],
    )
    def test_its_failure_is_an_answer(self, tmp_path: Path, error: Exception, kind: str) -> None:
        def call(_name: str, _args: Any) -> Any:
            raise error

        answer = at(tmp_path, self.CAN, reach(call=call))({"op": "call", "name": "find_files", "args": {}}, None)
        assert answer == {"failed": True, "kind": kind, "message": error.args[0]}

    def test_what_must_be_approved_first_ends_the_whole(self, tmp_path: Path) -> None:
        def call(_name: str, _args: Any) -> Any:
            raise Waiting("ask first", item="X")

        with pytest.raises(Waiting):
            at(tmp_path, self.CAN, reach(call=call))({"op": "call", "name": "find_files", "args": {}}, None)


class TestModelAndMachine:
    def test_the_language_model_if_there_is_one(self, tmp_path: Path) -> None:
        can = {"model": {"chat": True}}
        message = {"op": "chat", "prompt": "hello", "max_tokens": 7}
        assert at(tmp_path, can)(message, None)["kind"] == "unavailable"
        ask = at(tmp_path, can, reach(chat=lambda prompt, tokens: f"{prompt} {tokens}"))
        assert ask(message, None) == {"value": "hello 7"}
        for tokens in (None, "7", 7.0, True):
            assert ask({**message, "max_tokens": tokens}, None) == {"value": "hello 512"}
        assert ask({"op": "chat", "prompt": 5}, None)["kind"] == "invalid"

    def test_the_facts_that_are_declared(self, tmp_path: Path) -> None:
        ask = at(tmp_path, {"system": {"read": ["disks"]}})
        assert ask({"op": "system", "what": "disks"}, None) == {"value": [{"of": "disks"}]}
        with pytest.raises(Breached, match="processes"):
            ask({"op": "system", "what": "processes"}, None)
        assert ask({"op": "system", "what": None}, None)["kind"] == "invalid"
