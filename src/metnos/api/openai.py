"""The OpenAI-compatible endpoint: any chat client can talk to Metnos.

The model ``metnos`` takes the last message of the user through a turn; ``metnos-dry-run`` only shows what that would
do. The answer is the content; what happens on the way (steps, a language model's first words) streams beside it as
``reasoning_content``, because only the finished answer says nothing that has no line in the audit.

Rules: messages before the last are context only as far as Metnos knows the conversation itself: it takes nobody's word
for what it said. A program cannot approve: what needs the owner's yes waits in the inbox, and the answer says how to
give it. A client that goes away cancels its turn. Everything that goes wrong has OpenAI's shape.

Does not do what the caller's own tools, images, sounds or schemas would need: that is refused, and never ignored.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.routing import APIRoute

from metnos.api import openai_rules as rules
from metnos.api.http.inside import Desk, Missing, TheDesk, Who, status_of
from metnos.api.http.runs import Run
from metnos.api.openai_rules import Asked, Completion, Model, Models, Progress, Wrong
from metnos.api.openai_talks import Talks
from metnos.api.wire import Message, to_error
from metnos.core.errors import MetnosError
from metnos.core.settings import home_folder
from metnos.law.principal import Principal
from metnos.turn.events import Answer

_STREAM = {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
_STREAMING = {"cache-control": "no-store", "x-accel-buffering": "no"}  # the second: a proxy must not hold it back


class _Route(APIRoute):
    """Whatever goes wrong on these addresses is told in OpenAI's shape."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handling(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                return JSONResponse(rules.malformed(error.errors()), 400)
            except MetnosError as error:
                return JSONResponse(rules.wrong(error, status_of(error)), status_of(error))

        return handling


router = APIRouter(
    prefix="/v1",
    tags=["openai"],
    route_class=_Route,
    responses={code: {"model": Wrong} for code in (400, 403, 404, 503)},
)


@router.get("/models", summary="The models that a chat client can choose")
def models(_who: Who) -> Models:
    return Models(data=[_model(name) for name in rules.NAMES])


@router.get("/models/{name}", summary="One of them")
def model(_who: Who, name: Annotated[str, Path(max_length=64)]) -> Model:
    if name not in rules.NAMES:
        raise Missing(f"there is no model {name!r}", fix=f"There are: {', '.join(rules.NAMES)}.")
    return _model(name)


@router.post(
    "/chat/completions", summary="Ask, as a chat client does", response_model=Completion, responses={200: _STREAM}
)
async def completions(request: Request, desk: TheDesk, who: Who, asked: Asked) -> Response:
    if asked.model not in rules.NAMES:
        raise Missing(f"there is no model {asked.model!r}", fix=f"There are: {', '.join(rules.NAMES)}.")
    text = rules.request_of(asked)
    talks = _talks(request)
    conversation = talks.find(who, asked)
    run = desk.runs.ask(text, who, home_folder(), conversation, asked.model == rules.DRY_RUN)
    answering = _Answering(desk, who, asked, run, talks, conversation)
    if asked.stream:
        return StreamingResponse(answering.stream(), media_type="text/event-stream", headers=_STREAMING)
    return await answering.whole(request)


class _Answering:
    """One completion, from the run that it follows."""

    def __init__(self, desk: Desk, who: Principal, asked: Asked, run: Run, talks: Talks, conversation: str) -> None:
        self._desk, self._who, self._asked, self._run = desk, who, asked, run
        self._talks, self._conversation = talks, conversation
        self._created = int(time.time())

    async def whole(self, request: Request) -> Response:
        """The answer in one piece; a client that does not wait for it cancels it."""
        following = asyncio.create_task(self._ended())
        leaving = asyncio.create_task(_gone(request))
        try:
            await asyncio.wait((following, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                return Response(status_code=499)  # nobody reads it
            last, thoughts = following.result()
        finally:
            self._leave()
            for task in (following, leaving):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, MetnosError):
                    await task
        ended = await asyncio.to_thread(self._close, last)
        return JSONResponse(rules.completion(self._run.id, self._created, self._asked, ended, thoughts))

    async def stream(self) -> AsyncIterator[str]:
        """The answer in pieces, with what happens before it."""
        try:
            yield self._chunk({"role": "assistant", "content": ""})
            async for line in self._lines():
                yield line
            yield "data: [DONE]\n\n"
        finally:
            self._leave()

    async def _lines(self) -> AsyncIterator[str]:
        progress = Progress()
        async for _, message in self._run.follow():
            if message is None:
                yield ":\n\n"
                continue
            self._let_wait(message)
            if message["event"] == "Failed":
                error = to_error(message)
                yield _data(rules.wrong(error, status_of(error)))
                return
            if message["event"] == "Answered":
                async for line in self._answer(message):
                    yield line
                return
            if said := progress.told(message):
                yield self._chunk({"reasoning_content": said})

    async def _answer(self, message: Message) -> AsyncIterator[str]:
        ended = await asyncio.to_thread(self._close, message)
        for piece in rules.pieces(ended.text):
            yield self._chunk({"content": piece})
        yield self._chunk({}, "stop", {"metnos": ended.facts})
        if self._asked.wants_usage:
            more = {"usage": ended.usage}
            yield _data(rules.chunk(self._run.id, self._created, self._asked, [], more))

    async def _ended(self) -> tuple[Message, str]:
        """The last event of the run, and what was said on the way."""
        progress, said = Progress(), list[str]()
        async for _, message in self._run.follow():
            if message is None:
                continue
            self._let_wait(message)
            if message["event"] == "Failed":
                raise to_error(message)
            if message["event"] == "Answered":
                return message, "".join(said)
            said.append(progress.told(message))
        raise MetnosError("the turn ended without an answer")

    def _let_wait(self, message: Message) -> None:
        """Nobody is there to be asked: whatever the question is, it waits in the inbox."""
        if message["event"] == "Wanted":
            with contextlib.suppress(MetnosError):  # it was answered elsewhere meanwhile
                self._desk.runs.answer(self._run, message["question"], Answer.LATER)

    def _leave(self) -> None:
        if self._run.ended is None:
            self._desk.runs.cancel(self._run)

    def _close(self, message: Message) -> rules.Ended:
        """The answer with what the record of its turn knows besides."""
        with self._desk.lease() as household:
            trace = household.app.medium.load(str(message["turn"]))
        ended = rules.ended(message, trace)
        self._talks.keep(self._who, self._asked, ended.text, self._conversation)
        return ended

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, more: dict[str, Any] | None = None) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _data(rules.chunk(self._run.id, self._created, self._asked, [choice], more or {}))


def _model(name: str) -> Model:
    return Model(id=name)


def _talks(request: Request) -> Talks:
    state = request.app.state
    if not hasattr(state, "talks"):
        state.talks = Talks()
    talks: Talks = state.talks
    return talks


async def _gone(request: Request) -> None:
    """Returns when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _data(message: dict[str, Any]) -> str:
    return f"data: {json.dumps(message, separators=(',', ':'))}\n\n"
