"""Every endpoint against its own description: whatever is sent, right or wrong, the answer is one that is described.

What is sent comes from schemathesis, which reads the description; where an address names something, half of it names
something that is really there. Streams are left out: they end when what they tell of does.
"""

import traceback
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.schemas import APIOperation
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.served import Client
from app.turned import close, pdfs
from metnos.api.http.inside import WHO
from metnos.app import learning
from metnos.law.capability import Capability
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from suite import Repeat

OWNER = Principal(Channel.WEB, "fuzzer", Autonomy.FULL)
FEW = {"GET /api/doctor": 1, "POST /api/turns": 4}  # each of these takes its time
CHECKS = [content_type_conformance, response_schema_conformance, status_code_conformance]
UNAVAILABLE = 503  # something that it needs cannot be had: no mistake of ours

Known = dict[str, dict[str, str]]


def signed_in(api: ASGIApp) -> ASGIApp:
    """What the guard does for the owner's browser, and no more."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        await api({**scope, WHO: OWNER} if scope["type"] == "http" else scope, receive, send)

    return door


def furnished(page: Client) -> Known:
    """Something of each kind; what the addresses call it."""
    app = page.app
    page.ask("find the PDFs in ~")
    page.ask("create a folder called garden", lambda _: "yes")
    page.ask("create a folder called orchard")
    for number in range(3):
        turn = close(app, number, *pdfs(f"folder{number}"))
    learning.catch_up(app)
    app.grants.grant("find_files", Capability.FS_READ, "/srv", days=3, by=at_terminal())
    (item,) = page.get("/api/inbox")["items"]
    (action,) = page.get("/api/undo")["actions"]
    path, *_ = page.get("/api/fastpaths")["paths"]
    device, *_ = page.get("/api/devices")["devices"]
    (grant,) = page.get("/api/grants")["grants"]
    return {
        "/api/turns/": {"id": turn},
        "/api/inbox/": {"id": item["id"]},
        "/api/undo/": {"id": action["id"]},
        "/api/redo/": {"id": action["id"]},
        "/api/executors/": {"name": "find_files"},
        "/api/fastpaths/": {"id": path["id"]},
        "/api/grants/": {"id": grant["id"]},
        "/api/mnestome/": {"id": next((each["id"] for each in page.get("/api/mnestome")["mnests"]), "none")},
        "/api/devices/": {"id": device["id"]},
        "/api/audit/": {"seq": "1"},
        "/api/context/": {"id": turn},
        "/api/night/": {"job": "ager"},
        "/api/models/": {"tier": "main"},
    }


def streams(operation: APIOperation) -> bool:
    found = operation.definition.raw["responses"].get("200", {})
    return "text/event-stream" in found.get("content", {})


def tried(operation: APIOperation, known: Known, examples: int) -> None:
    """Send one endpoint all kinds of things, right ones and wrong ones."""
    real = next((names for prefix, names in known.items() if operation.path.startswith(prefix)), {})
    cases = operation.as_strategy(generation_mode=GenerationMode.POSITIVE) | operation.as_strategy(
        generation_mode=GenerationMode.NEGATIVE
    )

    @hypothesis.seed(8674)
    @hypothesis.settings(
        max_examples=min(examples, FEW.get(operation.label, examples)),
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=cases, there=st.booleans())
    def send(case: Any, there: bool) -> None:
        if there:
            case.path_parameters.update({name: value for name, value in real.items() if name in case.path_parameters})
        answer = case.call()
        assert answer.status_code < 500 or answer.status_code == UNAVAILABLE, answer.text
        case.validate_response(answer, checks=CHECKS)

    send()


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.filterwarnings("ignore")  # of the tool itself
def test_every_endpoint_answers_as_it_is_described(page: Client, repeat: Repeat) -> None:
    known = furnished(page)
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", signed_in(page.served.api))
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 25
    wrong = []
    for operation in operations:
        if not streams(operation):
            try:
                tried(operation, known, len(repeat("requests to an endpoint", suite=2, soak=30)))
            except BaseException as error:  # all of them are told at once
                wrong.append(f"{operation.label}: {''.join(traceback.format_exception(error))[-4000:]}")
    assert not wrong, "\n\n".join(wrong)
