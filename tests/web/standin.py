"""A stand-in for the HTTP API: it answers what the pages ask for, with text that would like to be more than text."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from metnos.api.http.guard_rules import HEADERS, carried

EVIL = """<script>alert(1)</script>"'><img src=x onerror=alert(1)>{{7*7}}"""
WHEN = "2026-04-21T22:14:00.000Z"
TURN = {
    "id": "01TURN", "conversation": "01TURN", "channel": "web", "asked": WHEN, "text": f"find {EVIL}", "state": "done",
    "answer": f"Found 2 files.\n~/a{EVIL}.pdf  685 bytes  2026-04-21\n~/b.pdf   624 bytes  2026-04-20",
    "path": "router", "executors": ["find_files"], "wall_ms": 34.2, "usd": 0.0, "good": None, "continues": "",
    "item": "",
}  # fmt: skip
WHOLE = TURN | {
    "state_words": "everything that was asked for was done", "path_words": "", "gone": "", "error": "",
    "how": ["Planned by fixed rules.", f"A fast path knows {EVIL}", "  It only watches."], "made": [],
    "candidates": [{"executor": "find_files", "score": 0.91, "lexical": 0.8}, {"executor": "list_files", "score": 0.5}],
    "steps": [{"number": 1, "executor": "find_files", "version": "1.0.0", "args": {"path": EVIL}, "ok": True,
               "kind": "", "message": "", "found": "2 items", "count": 2, "wall_ms": 12.5, "cpu_ms": 3.0,
               "because": "reading needs no question", "permit": [["constitution", "allow", "no Law against it"]],
               "parts": [{"executor": "b", "ok": True, "because": "named in its manifest", "parts": []}],
               "item": "act", "action": "a1", "undone": False, "audit": 7}],
    "passings": [{"source": "a", "target": "b", "source_step": 1, "target_step": 2, "how": "reference"}],
    "wishes": [{"name": "translate_text", "source": "request", "summary": EVIL}],
    "memories": [{"kind": "episode", "text": EVIL}],
    "calls": [{"purpose": "plan", "model": EVIL, "input_tokens": 400, "output_tokens": 12, "cached_tokens": 0,
               "usd": 0.0021, "wall_ms": 1200, "error": ""}],
    "costs": {"calls": 1, "tokens": 412, "usd": 0.0021, "seconds": 1.2},
    "feedback": {"good": True, "note": "", "ts": WHEN},
}  # fmt: skip


def part(title: str, kind: str, *lines: Any, text: str = "", folded: bool = False) -> dict[str, Any]:
    return {"title": title, "kind": kind, "lines": list(lines), "text": text, "folded": folded}


ITEM: dict[str, Any] = {
    "state": "waiting", "yes_count": 0, "needs_yes": 1, "asked_by": "terminal:owner", "asked_at": WHEN,
    "expires_at": "2099-04-21T22:14:00.000Z", "kind_words": "something", "answered_at": None, "answered_by": None,
    "reason": "", "editable": "", "body": {}, "parts": [],
}  # fmt: skip
ITEMS: dict[str, dict[str, Any]] = {
    "act": ITEM | {"id": "act", "kind": "act", "title": f"move_files: move {EVIL}", "editable": "args",
                   "body": {"args": {"to": EVIL}}, "parts": [
        part("", "lines", "Move files and folders into a folder."),
        part("What it would do", "diff", "make the folder /home/you/archive", "+ new line", "- old line", EVIL),
        part("And afterwards", "lines", "It moves things; undo moves them back."),
        part("What it needs", "lines", "change what is in /home/you"),
        part("What it is given", "pairs", ["to", EVIL]),
        part("Which rule asks", "rules", ["autonomy", "ask", EVIL], folded=True)]},
    "twice": ITEM | {"id": "twice", "kind": "act", "title": "empty the trash", "needs_yes": 2, "yes_count": 1,
                     "parts": [part("What it would do", "diff", "3 files are gone for good")]},
    "born": ITEM | {"id": "born", "kind": "activation", "title": "Let count_words live?", "editable": "code",
                    "word": "count_words",
                    "body": {"files": {"executor.py": f"def run(): return '{EVIL}'"}}, "parts": [
        part("Why", "lines", "You asked for it 4 times."),
        part("What it may do", "lines", "read files below /home/you", "It changes nothing."),
        part("What it may never do", "lines", "reach the network"),
        part("How it was tried: 1 of 2 tests passed", "tests", [True, "empty: no words → 0"], [False, EVIL]),
        part("What changed of its code", "diff", "--- a", "+++ b", "@@ -1 +1 @@", "-return 0", f"+return {EVIL}"),
        part("executor.py", "code", text=f"def run(): return '{EVIL}'"),
        part("manifest.toml", "code", text="name = 'count_words'", folded=True)]},
    "line": ITEM | {"id": "line", "kind": "memory", "title": "Keep a line in USER.md", "editable": "text",
                    "body": {"text": "You like tea."}, "parts": [
        part("", "lines", "You like tea."), part("What changes", "diff", "+You like tea.")]},
    "gone": ITEM | {"id": "gone", "kind": "archival", "title": "Let go that a feeds b", "state": "refused",
                    "reason": EVIL, "answered_by": "terminal:owner", "answered_at": WHEN,
                    "parts": [part("Also", "pairs", ["uses", "3"])]},
}  # fmt: skip
ACTION = {"id": "a1", "turn": "01TURN", "executor": "move_files", "title": f"move_files: {EVIL}", "when": WHEN,
          "state": "done", "can_undo": True, "can_redo": False}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "/api/status": {"version": "1", "waiting": 3, "unseen": 1, "halted": None},
    "/api/turns": {"turns": [TURN], "next": "01OLDER"},
    "/api/turns/01TURN": WHOLE,
    "/api/inbox": {"items": list(ITEMS.values())},
    **{f"/api/inbox/{key}": item for key, item in ITEMS.items()},
    "/api/undo": {"actions": [ACTION]},
    "/api/undo/a1": ACTION | {"lines": [f"move {EVIL} back"]},
    "/api/runs": {"runs": []},
}
WANTED = {
    "event": "Wanted", "item": "act", "number": 2, "executor": "move_files", "title": f"move_files: {EVIL}",
    "lines": ["make the folder /home/you/archive", f"move {EVIL} to /home/you/archive", "+ added", "- gone"],
    "reversal": "moves things; undo moves them back", "why": [["autonomy", "ask", EVIL]], "yes": 0, "needs": 1,
    "always": f"move_files may: {EVIL}", "expires": WHEN, "language": "en", "about": "act", "question": 1,
    "seconds": 300,
}  # fmt: skip
STARTED = {"event": "Started", "turn": "01TURN"}
ANSWERED = {
    "event": "Answered", "turn": "01TURN", "state": "done", "undo": ["a1"], "model_text": False,
    "text": f"Moved 2 files.\n/home/you/{EVIL}  685 bytes\n/b  2.0 MB",
    "steps": [{"reply": {"entries": [{"path": f"/home/you/{EVIL}", "size": 685, "modified": WHEN},
                                     {"path": "/b", "size": 2_000_000}]}}],
}  # fmt: skip
STORY: tuple[dict[str, Any], ...] = (
    STARTED,
    {"event": "Planned", "executors": ["find_files", "move_files"], "path": "router", "learnt_from": 0,
     "notes": [f"{EVIL} is not there yet: it will be made"]},
    {"event": "StepStarted", "number": 1, "of": 2, "executor": "find_files", "title": EVIL},
    {"event": "StepDone", "number": 1, "executor": "find_files", "ok": True, "message": "", "count": 2,
     "wall_ms": 12.5, "action": ""},
    {"event": "StepStarted", "number": 2, "of": 2, "executor": "move_files", "title": "to ~/archive"},
    WANTED,
    {"event": "StepDone", "number": 2, "executor": "move_files", "ok": True, "message": EVIL, "count": 2,
     "wall_ms": 80, "action": "a1"},
    ANSWERED,
)  # fmt: skip


class Api:
    """Answers from a table; remembers who asked for what."""

    def __init__(self, answers: Mapping[str, Any] | None = None) -> None:
        self.answers = dict(ANSWERS if answers is None else answers)
        self.scopes: list[Scope] = []
        self.posts: list[tuple[str, Any]] = []
        self.said: asyncio.Queue[str] = asyncio.Queue()
        self.story = list(STORY)
        self.go_on = threading.Event()
        self._app = Starlette(routes=[
            Route("/api/events", self._events),
            Route("/api/runs/{run}/events", self._run),
            Route("/{path:path}", self._answer, methods=["GET", "POST"]),
        ])  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        await self._app(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        path = request.url.path
        if request.method == "POST":
            body = await request.json()
            self.posts.append((path, body))
            if path.endswith("/answer"):
                self.said.put_nowait(body["answer"])
            return JSONResponse({"run": "r1", "turn": "01TURN", "state": "approved", "said": "", "id": "act"})
        if path not in self.answers:
            return JSONResponse({"error": {"type": "Missing", "what": f"no {EVIL}", "fix": "look again"}}, 404)
        return JSONResponse(self.answers[path])

    async def _events(self, request: Request) -> Response:
        return _stream(_once({"event": "changed", "waiting": 4, "unseen": 0}))

    async def _run(self, request: Request) -> Response:
        return _stream(self._told())

    async def _told(self) -> AsyncIterator[str]:
        """The story; after each question it goes on when that was answered. What is ``held`` waits for the test."""
        for event in self.story:
            while event.get("held") and not self.go_on.is_set():
                await asyncio.sleep(0.01)
            yield _data(event)
            if event["event"] == "Wanted":
                await self.said.get()


def signed_in(app: ASGIApp, api: ASGIApp) -> ASGIApp:
    """What the guard does for whoever is signed in, and no more: who it is, and the headers of every answer."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        async def strictly(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = carried(message.get("headers", ()), HEADERS)
            await send(message)

        if scope["type"] == "http":
            scope |= {"metnos.who": "web:owner", "metnos.token": "the-token"}
            await (api if scope["path"].startswith("/api/") else app)(scope, receive, strictly)

    return door


def _stream(parts: AsyncIterator[str]) -> Response:
    return StreamingResponse(parts, media_type="text/event-stream")


def _data(event: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(event)}\n\n"


async def _once(event: Mapping[str, Any]) -> AsyncIterator[str]:
    yield _data(event)
    await asyncio.sleep(3600)
