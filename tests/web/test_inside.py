"""Asking the API from inside: who asks is passed on, and nothing of the request else."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from metnos.web.inside import Answer, Inside


class Mirror:
    """Answers with what it was asked."""

    scope: Scope

    def __init__(self, answer: Response | None = None) -> None:
        self.answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        request = Request(scope, receive)
        said = {"path": request.url.path, "query": list(request.query_params.multi_items())}
        await (self.answer or JSONResponse(said))(scope, receive, send)


def asked(api: Mirror, path: str, **query: object) -> Response:
    async def page(request: Request) -> Response:
        request.scope["metnos.who"] = "web:owner"
        try:
            return JSONResponse(await Inside(api).get(request, path, **query))
        except Answer as error:
            return JSONResponse({"status": error.status, **error.problem})

    client = TestClient(Starlette(routes=[Route("/page", page)]))
    return client.get("/page?secret=1", headers={"Cookie": "metnos=abc", "Authorization": "Bearer x"})


def test_arguments_arrive_as_a_query_and_those_that_are_nothing_do_not() -> None:
    said = asked(Mirror(), "/api/turns", limit=5, all=True, before=None, tag=["a", "b&c"], text="")
    assert said.json() == {
        "path": "/api/turns",
        "query": [["limit", "5"], ["all", "true"], ["tag", "a"], ["tag", "b&c"]],
    }


def test_only_the_identity_is_passed_on() -> None:
    api = Mirror()
    asked(api, "/api/status")
    assert api.scope["metnos.who"] == "web:owner"
    assert api.scope["metnos.inside"] is True
    assert {name for name, _ in api.scope["headers"]} == {b"host", b"accept"}
    assert api.scope["query_string"] == b""
    assert api.scope["method"] == "GET"


@pytest.mark.parametrize("path", ["/api/inbox/a?all=1", "/api/inbox/%2e%2e", "/api/inbox/ä"])
def test_an_id_stays_in_its_place(path: str) -> None:
    api = Mirror()
    asked(api, path)
    assert api.scope["path"] == path
    assert b"?" not in api.scope["raw_path"]


@pytest.mark.parametrize(
    ("answer", "status", "what"),
    [
        (JSONResponse({"error": {"type": "Missing", "what": "gone", "fix": "look"}}, 404), 404, "gone"),
        (JSONResponse(["odd"], 503), 503, ""),
        (PlainTextResponse("no JSON"), 502, "the API gave no answer that can be read"),
    ],
)
def test_what_is_no_answer_is_raised(answer: Response, status: int, what: str) -> None:
    said = asked(Mirror(answer), "/api/x").json()
    assert (said["status"], said["what"]) == (status, what)


def test_a_mistake_that_the_api_told_is_an_answer_and_one_that_it_did_not_is_none() -> None:
    class Broken(Mirror):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if self.answer is not None:
                await self.answer(scope, receive, send)
            raise RuntimeError("a mistake")

    told = JSONResponse({"error": {"type": "MetnosError", "what": "a mistake in Metnos", "fix": ""}}, 500)
    assert asked(Broken(told), "/api/x").json()["what"] == "a mistake in Metnos"
    with pytest.raises(RuntimeError):
        asked(Broken(), "/api/x")
