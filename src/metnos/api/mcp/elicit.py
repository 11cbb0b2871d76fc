"""Asking a person through the client: in both ways that the protocol knows.

Until 2025-11-25 a server asks while a call goes on; from 2026-07-28 it ends the call with the question, and the client
calls again with the answer and a sealed state. What waits, waits in the inbox either way, so both are the same here: a
tool answers with a `Question`, and goes on from its state.

Rules, all of which must hold or nobody is asked: the owner switched it on (``mcp.elicit``); the client says that it
can; the law lets this client answer this question (`metnos.law.principal`). Only an accepted form with ``approve`` true
is a yes; declined, or accepted with false, is a no; everything else, silence and nonsense included, leaves it in the
inbox. Does not guarantee that a person answered: a client may answer by itself, which is why only what can be taken
back can be approved this way, and only by the client that asked for it.
"""

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitRequest, ElicitRequestFormParams, InputRequiredResult, TextContent
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field

from metnos.api.mcp.desk import Desk, Reply, Visit, cut, principal, settings
from metnos.app import App
from metnos.core.errors import MetnosError

Ctx = Context[Any, Any]
Result = CallToolResult | InputRequiredResult
Begin = Callable[[Visit], Reply]
GoOn = Callable[[Visit, dict[str, Any], bool], Reply]
Got = TypeVar("Got")

_MODERN = "2026-07-28"  # from here on a call ends with its question
_KEY = "answer"
_ROUNDS = 10
_HINT = "\nTo let answers in MCP clients count where it can be taken back: metnos config set mcp.elicit true"


class Approval(BaseModel):
    """What a person is asked to fill in. There is no default: who does not choose has not said yes."""

    approve: bool = Field(description="Yes, do it.")


async def served(ctx: Ctx, desk: Desk, begin: Begin, go_on: GoOn | None = None) -> Result:
    """Do what a tool does, and ask on the way as often as it has to be asked."""
    state = _state(ctx)
    if state is not None and go_on is not None:
        yes = _said(ctx)
        reply, asks, seconds = await _visited(ctx, desk, lambda visit: _after(visit, go_on, state, yes))
    else:
        reply, asks, seconds = await _visited(ctx, desk, begin)
    for _ in range(_ROUNDS):
        question = reply.question
        if question is None or go_on is None:
            break
        if not asks or not _can(ctx):
            reply = reply if asks else replace(reply, text=reply.text + _HINT)
            break
        if is_version_at_least(ctx.protocol_version or "", _MODERN):
            form = ElicitRequestFormParams(message=cut(question.message), requested_schema=_form())
            return InputRequiredResult(
                input_requests={_KEY: ElicitRequest(params=form)}, request_state=json.dumps(dict(question.state))
            )
        answer = await _asked(ctx, question.message, seconds)
        if answer is None:
            break
        stood, said = dict(question.state), answer
        reply, asks, seconds = await _visited(ctx, desk, lambda visit: go_on(visit, stood, said))  # noqa: B023 -- awaited
    return _result(reply)


def _after(visit: Visit, go_on: GoOn, state: dict[str, Any], yes: bool | None) -> Reply:
    """Go on with the answer that a client brought; an owner who switched it off meanwhile is obeyed."""
    if not settings(visit.app).elicit or yes is None:
        left = "It was not answered, and waits." if "item" in state else "It was not answered; nothing was done."
        return Reply(left, {"state": "waiting", **({"item": state["item"]} if "item" in state else {})})
    return go_on(visit, state, yes)


# -- a visit


async def _visited(ctx: Ctx, desk: Desk, work: Begin) -> tuple[Reply, bool, float]:
    """Work for one client, in a thread; whether it may be asked, and for how long its answer is waited for."""
    cancelled = threading.Event()
    request = ctx.request_context.request
    scope = getattr(request, "scope", None)
    told = 0

    def tell(text: str) -> None:
        nonlocal told
        told += 1
        if not cancelled.is_set():
            # Whoever does not want to hear it, or went away, must not stop the work.
            with suppress(MCPError, RuntimeError, anyio.ClosedResourceError, anyio.BrokenResourceError):
                anyio.from_thread.run(ctx.report_progress, float(told), None, cut(text, 300))

    def visit() -> tuple[Reply, bool, float]:
        with desk.lease() as app:
            allowed = settings(app)
            reply = work(Visit(app, principal(scope, allowed), desk.cwd, tell, cancelled))
            return reply, allowed.elicit, app.settings.turn.prompt_s

    try:
        return await _in_thread(visit)
    except MetnosError as error:
        raise ToolError(f"{error.what}\n{error.fix}".strip()) from error
    finally:
        cancelled.set()


async def _in_thread(work: Callable[[], Got]) -> Got:
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


async def looked(desk: Desk, look: Callable[[App], Got]) -> Got:
    """Something that is only read, whoever it is that came in."""

    def visit() -> Got:
        with desk.lease() as app:
            return look(app)

    return await _in_thread(visit)


# -- asking


def _can(ctx: Ctx) -> bool:
    """Whether the client says that it can show a form."""
    told = ctx.client_capabilities
    elicitation = told.elicitation if told else None
    if elicitation is None:
        return False
    return elicitation.form is not None or elicitation.url is None  # older clients say only that they can


async def _asked(ctx: Ctx, message: str, seconds: float) -> bool | None:
    """The answer of a person; nothing if there is none."""
    try:
        with anyio.fail_after(seconds):
            answer = await ctx.elicit(cut(message), Approval)
    except (TimeoutError, MCPError, ValueError):
        return None
    if answer.action == "accept":
        return answer.data.approve
    return False if answer.action == "decline" else None


def _form() -> dict[str, Any]:
    schema = Approval.model_json_schema()
    return {key: schema[key] for key in ("type", "properties", "required")}


def _state(ctx: Ctx) -> dict[str, Any] | None:
    """The state that a client brought back. The library has unsealed it: it is one that we made."""
    if not ctx.request_state:
        return None
    found = json.loads(ctx.request_state)
    return found if isinstance(found, dict) else None


def _said(ctx: Ctx) -> bool | None:
    answer: Any = (ctx.input_responses or {}).get(_KEY)
    action, content = getattr(answer, "action", None), getattr(answer, "content", None)
    if action == "decline":
        return False
    approve = content.get("approve") if isinstance(content, dict) else None
    return approve if action == "accept" and isinstance(approve, bool) else None


def _result(reply: Reply) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=cut(reply.text))],
        structured_content=json.loads(json.dumps(dict(reply.data), default=str)),
        is_error=reply.failed,
    )
