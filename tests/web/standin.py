"""A stand-in for the HTTP API: it answers what the pages ask for, with text that would like to be more than text."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

EVIL = """<script>alert(1)</script>"'><img src=x onerror=alert(1)>{{7*7}}"""
WHEN = "2026-04-21T22:14:00.000Z"
TURN = {
    "id": "01TURN", "conversation": "01TURN", "asked": WHEN, "text": f"find {EVIL}", "state": "done", "path": "router",
    "answer": f"Found 2 files.\n~/a{EVIL}.pdf  685 bytes  2026-04-21\n~/b.pdf   624 bytes  2026-04-20",
    "executors": ["find_files"], "wall_ms": 34.2, "usd": 0.0,
}  # fmt: skip
WHOLE = TURN | {
    "notes": [f"took {EVIL} as a folder"],
    "plan": {"certainty": 0.93, "notes": ["took it as a folder"]},
    "candidates": [{"executor": "find_files", "score": 0.91, "lexical": 0.8}, {"executor": "list_files", "score": 0.5}],
    "steps": [{"number": 1, "executor": "find_files", "version": "1.0.0", "args": {"path": EVIL}, "ok": True,
               "message": "", "count": 2, "wall_ms": 12.5, "cpu_ms": 3.0, "because": "reading needs no question",
               "permit": [["constitution", "allow", "no Law speaks against it"]], "action": "", "undone": False}],
    "memories": [{"kind": "episode", "text": EVIL}],
    "costs": {"calls": 1, "tokens": 412, "usd": 0.0021, "seconds": 1.2},
    "feedback": {"good": True, "note": ""},
}  # fmt: skip
ITEM = {"state": "waiting", "yes_count": 0, "needs_yes": 1, "asked_by": "terminal:owner", "asked_at": WHEN,
        "expires_at": "2099-04-21T22:14:00.000Z", "kind_words": ""}  # fmt: skip
ITEMS: dict[str, dict[str, Any]] = {
    "act": ITEM | {"id": "act", "kind": "act", "title": f"move_files: move {EVIL}", "body": {
        "executor": "move_files", "purpose": "Move files and folders into a folder.", "args": {"to": EVIL},
        "preview": ["make the folder /home/you/archive", "+ new line", "- old line", EVIL],
        "reversal": "moves things; undo moves them back", "needs": ["change what is in /home/you"],
        "why": [["autonomy", "ask", "changing files needs your yes"]], "turn": "01TURN"}},
    "twice": ITEM | {"id": "twice", "kind": "act", "title": "empty the trash", "needs_yes": 2, "yes_count": 1,
                     "body": {"executor": "delete_trash", "args": {}, "preview": ["3 files are gone for good"]}},
    "born": ITEM | {"id": "born", "kind": "activation", "title": "Let count_words live?", "body": {
        "name": "count_words", "way": "direct", "why": ["You asked for it 4 times."], "changes": ["It is new."],
        "may": ["read files below /home/you"], "effect": "changes nothing", "never": ["reach the network"],
        "tests": [{"name": "empty", "given": "no words", "expected": "0", "passed": True},
                  {"name": "two", "given": EVIL, "expected": "2", "passed": False}],
        "checks": ["static gate"], "cost": "2 calls, nothing", "version before": "1.0.0", "state before": "active",
        "difference": f"--- a\n+++ b\n@@ -1 +1 @@\n-return 0\n+return {EVIL}",
        "files": {"executor.py": f"def run(): return '{EVIL}'", "manifest.toml": "name = 'count_words'"}}},
    "learn": ITEM | {"id": "learn", "kind": "direction", "title": "Shall I learn to translate", "body": {
        "proposal": "p", "way": "owner", "need": "translate", "why": ["wished 3 times"], "saved seconds": 3.5}},
    "line": ITEM | {"id": "line", "kind": "memory", "title": "Keep a line in USER.md", "body": {
        "text": "You like tea.", "file": "USER.md", "why": "You said so three times.",
        "diff": "--- USER.md\n+++ USER.md\n+You like tea."}},
    "gone": ITEM | {"id": "gone", "kind": "archival", "title": "Let go that a feeds b", "state": "refused",
                    "reason": EVIL, "answered_by": "terminal:owner", "body": {"from": "a", "to": "b", "uses": 3}},
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
    "/api/runs": {"runs": []},
}


class Api:
    """Answers from a table; remembers who asked for what."""

    def __init__(self, answers: Mapping[str, Any] | None = None) -> None:
        self.answers = dict(ANSWERS if answers is None else answers)
        self.scopes: list[Scope] = []
        self.posts: list[tuple[str, Any]] = []
        self.said: asyncio.Queue[str] = asyncio.Queue()
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
        return _stream(self._story())

    async def _story(self) -> AsyncIterator[str]:
        yield _data({"event": "Started", "turn": "01TURN"})
        yield _data({"event": "Planned", "executors": ["find_files", "move_files"], "path": "router",
                     "notes": [f"{EVIL} is not there yet: it will be made"], "learnt_from": 0})  # fmt: skip
        yield _data({"event": "StepStarted", "number": 1, "of": 2, "executor": "find_files", "title": EVIL})
        yield _data({"event": "StepDone", "number": 1, "executor": "find_files", "ok": True, "message": "", "count": 2,
                     "wall_ms": 12.5, "action": ""})  # fmt: skip
        yield _data({"event": "StepStarted", "number": 2, "of": 2, "executor": "move_files", "title": "to ~/archive"})
        lines = [
            "make the folder /home/you/archive",
            f"move /home/you/{EVIL} to /home/you/archive",
            "+ added",
            "- gone",
        ]
        yield _data({"event": "Wanted", "item": "act", "number": 2, "executor": "move_files", "lines": lines,
                     "title": f"move_files: {EVIL}", "reversal": "moves things; undo moves them back",
                     "why": [["autonomy", "ask", EVIL]], "yes": 0, "needs": 1, "always": f"move_files may: {EVIL}",
                     "expires": WHEN, "language": "en", "about": "act", "question": 1, "seconds": 300})  # fmt: skip
        said = await self.said.get()
        yield _data({"event": "StepDone", "number": 2, "executor": "move_files", "ok": said == "yes", "message": said,
                     "count": 2, "wall_ms": 80, "action": "a1" if said == "yes" else ""})  # fmt: skip
        entries = [{"path": f"/home/you/{EVIL}", "size": 685, "modified": WHEN}, {"path": "/b", "size": 2_000_000}]
        yield _data({"event": "Answered", "turn": "01TURN", "state": "done", "undo": ["a1"], "model_text": False,
                     "text": f"Moved 2 files: {said}.\n/home/you/{EVIL}  685 bytes\n/b  2.0 MB",
                     "steps": [{"reply": {"entries": entries}}]})  # fmt: skip


def signed_in(app: ASGIApp, api: ASGIApp) -> ASGIApp:
    """What the guard does for whoever is signed in, and no more."""

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope |= {"metnos.who": "web:owner", "metnos.token": "the-token"}
            await (api if scope["path"].startswith("/api/") else app)(scope, receive, send)

    return door


def _stream(parts: AsyncIterator[str]) -> Response:
    return StreamingResponse(parts, media_type="text/event-stream")


def _data(event: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(event)}\n\n"


async def _once(event: Mapping[str, Any]) -> AsyncIterator[str]:
    yield _data(event)
    await asyncio.sleep(3600)
