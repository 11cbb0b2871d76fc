"""What the stand-in for the API says of executors, nights, the audit, settings, models, devices and the doctor.

Every text that could come from outside holds markup that must stay text.
"""

from typing import Any
from unittest.mock import patch

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from metnos.web import site
from metnos.web.pages import arena, audit, devices, doctor, executors, night, settings
from web.standin import ANSWERS, EVIL, WHEN, Api, signed_in

MINE = tuple(each.routes for each in (arena, audit, devices, doctor, executors, night, settings))
LATER = "2099-04-21T22:14:00.000Z"


def _executor(name: str, purpose: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "version": "1.0.0", "state": "active", "purpose": purpose, "kind": "sensor", "builtin": True,
            "origin": "builtin", "signed": True, "fitness": 3.25, "uses": 12, "strikes": 0, "last_used": WHEN,
            "hidden": "", "reason": "", "problems": []} | more  # fmt: skip


EXECUTORS = [
    _executor("find_files", "Find files and folders by name, kind, size or age."),
    _executor("move_files", "Move files and folders into a folder.", kind="mutator", fitness=-0.5, uses=3),
    _executor("list_files", "List what is in a folder.", fitness=None, uses=0, last_used=None),
    _executor("read_notes", "Read your notes.", uses=141, fitness=40.1),
    _executor("count_words", f"Count words {EVIL}", builtin=False, origin="synthesised", state="quarantine", strikes=3,
              reason=f"3 strikes within 24 hours {EVIL}", uses=7, fitness=-2.0, hidden="unfit"),
    _executor("translate_texts", "Translate texts with the language model.", builtin=False, origin="synthesised",
              state="seed"),
    _executor("get_prices", "", builtin=False, state="draft", signed=False, fitness=None, uses=0, last_used=None,
              problems=[f"manifest.toml: {EVIL}"]),
]  # fmt: skip
WHOLE = EXECUTORS[4] | {
    "may": [f"read what a call names, within ~/** {EVIL}"],
    "never": ["reach the network"],
    "effect": "changes nothing",
    "manifest": f'name = "count_words"\npurpose = "{EVIL}"',
    "code": f'"""Counts words."""\n\n\ndef run(args, ctx):\n    return {{"entries": [{{"text": "{EVIL}"}}]}}\n',
    "tests": f'[[test]]\nname = "{EVIL}"\n',
    "hidden_words": "it mostly failed lately",
    "signature": "every byte is as it was signed, by this agent's key",
    "digest": "ab" * 32,
    "goals": [{"goal": "count words", "fitness": 2.5, "uses": 4, "signals": 4},
              {"goal": f"{EVIL}", "fitness": -4.5, "uses": 3, "signals": 3},
              {"goal": "", "fitness": 0.0, "uses": 1, "signals": 0}],
    "journal": [{"ts": WHEN, "words": f"failed: {EVIL}", "ok": False},
                {"ts": WHEN, "words": "worked, in 12 ms", "ok": True}],
    "versions": [{"version": "1.0.0", "since": WHEN, "state": "quarantine", "digest": "ab" * 32}],
    "grants": [{"id": "g1", "words": f"count_words may read {EVIL}", "expires": LATER, "reason": EVIL}],
    "neighbours": [{"id": "m1", "source": "find_files", "target": "count_words", "weight": 0.8, "uses": 9,
                    "proto": False},
                   {"id": "m2", "source": "count_words", "target": EVIL, "weight": 0.2, "uses": 1, "proto": True}],
}  # fmt: skip
_FIGHTER = {"version": "1.0.0", "uses": 9, "signals": 8, "strikes": 0, "why": "", "origin": "builtin"}
ARENA = {
    "goal": "move files",
    "executors": [
        _FIGHTER | {"name": "move_files", "state": "fit", "fitness": 6.4},
        _FIGHTER | {"name": "group_files", "state": "fit", "fitness": 1.2, "uses": 2, "signals": 2},
        _FIGHTER | {"name": "copy_files", "state": "neutral", "fitness": 0.0, "uses": 0, "signals": 0},
        _FIGHTER | {"name": "sort_files", "state": "hidden", "fitness": -3.2, "why": "unfit", "strikes": 2},
        _FIGHTER | {"name": "tidy_files", "state": "disabled", "fitness": 0.4, "why": EVIL, "origin": "owner"},
    ],
    "proposals": [{"name": f"merge_files {EVIL}", "state": "waiting"}],
    "also": ["copy files"],
}  # fmt: skip
_RUN = {"id": 7, "job": "ager", "night": "2026-04-21", "by_hand": False, "state": "done", "started": WHEN,
        "ended": WHEN, "message": "", "counts": {"faded": 12, "archived": 1}, "cpu_ms": 84, "pid": 1}  # fmt: skip
_BROKEN = _RUN | {"job": "backup", "state": "failed", "message": f"no space {EVIL}", "counts": {}, "by_hand": True}
_JOB = {"last": None, "next": LATER, "verdict": "done", "takes": None, "running": False, "progress": None}
NIGHT = {
    "reminder": LATER,
    "jobs": [
        _JOB | {"name": "catch_up", "what": "catching up on what turns left to do", "verdict": "due"},
        _JOB | {"name": "ager", "what": "letting the mnestome age", "last": _RUN, "verdict": "done", "takes": 0.12},
        _JOB | {"name": "backup", "what": "backing the workspace up", "last": _BROKEN, "verdict": "paused"},
        _JOB | {"name": "curator", "what": EVIL, "last": _RUN, "running": True,
                "progress": {"what": "judging", "done": 3, "of": 40}},
        _JOB | {"name": "new_one", "what": EVIL, "last": _RUN, "running": True, "verdict": "quiet"},
    ],
    "runs": [_RUN, _BROKEN],
}  # fmt: skip
NOTICES = {"notices": [{"id": 2, "ts": WHEN, "kind": "reminder", "text": f"Pay the rent {EVIL}"},
                       {"id": 1, "ts": WHEN, "kind": "job", "text": "The audit was proven."}]}  # fmt: skip
_LINE = {"seq": 412, "ts": WHEN, "kind": "act done", "names": {"executor": "move_files", "turn": "01TURN"},
         "digests": {"args": "ab" * 32}, "counts": {"ok": 1}, "hash": "cd" * 32, "prev": "ef" * 32,
         "signature": ""}  # fmt: skip
AUDIT = {"lines": [_LINE,
                   _LINE | {"seq": 411, "kind": "checkpoint", "names": {"key": "a" * 64}, "signature": "be" * 64},
                   _LINE | {"seq": 410, "kind": EVIL, "names": {"executor": EVIL}}], "next": 410}  # fmt: skip


def _setting(name: str, kind: str, value: Any, about: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "value": value, "default": value, "source": "default", "choices": [],
            "bounds": "", "description": about, "secret": False, "terminal": False, "variable": ""} | more  # fmt: skip


_LEVELS = ["read_only", "supervised", "full"]
SETTINGS = [
    _setting("policy.autonomy", "choice", "supervised", "What may happen without asking.", choices=_LEVELS),
    _setting("policy.undo_days", "whole number", 60, "For how many days what was changed can be taken back.",
             source="file", default=30),
    _setting("turn.show", "whole number", 20, "How many entries an answer shows.", bounds="at least 1, at most 1,000"),
    _setting("memory.keep_days", "whole number", 90, "For how many days conversations are kept whole."),
    _setting("night.at", "text", "04:00", "When the nightly jobs run, local time."),
    _setting("night.backup", "yes or no", True, "Whether a backup is made every night."),
    _setting("backup.folder", "text", EVIL, "Where backups go when no place is named.", source="file", default=""),
    _setting("web.hosts", "list", ["metnos.home"], "Other names under which a browser may reach it.", default=[],
             source="environment"),
    _setting("web.port", "whole number", 8674, "The port.", terminal=True),
    _setting("executors.cpu_s", "number", 5.0, "CPU seconds that one call may use."),
    _setting("brand_new.thing", "text", "", f"Something that no page knows {EVIL}."),
    *(_setting(f"models.{tier}.{name}", kind, value, about)
      for tier in ("main", "fast", "wise")
      for name, kind, value, about in (("timeout_s", "number", 300.0, "How long one question may take."),
                                       ("provider", "text", "openai", "Which protocol the server speaks."),
                                       ("url", "text", "", "Base address of the server."),
                                       ("name", "text", "", "Which of its models."),
                                       ("key", "text", "", "Where its key is."))),
]  # fmt: skip
_SERVING = {"provider": "openai", "url": None, "where": "", "outside": False, "own": True, "key": False, "ready": True}
MODELS = {"tiers": {
    "main": _SERVING | {"name": f"qwen3:8b {EVIL}", "where": "http://127.0.0.1:11434/v1"},
    "fast": _SERVING | {"name": None, "own": False, "ready": False},
    "wise": _SERVING | {"name": "large", "where": "https://models.example.org/v1", "outside": True, "key": True},
}, "files": [{"name": "qwen2.5-coder-1.5b", "size": 1_117_000_000, "license": "", "about": EVIL, "here": True},
             {"name": "smollm2-135m", "size": 98_000_000, "license": "", "about": "small", "here": False}]}  # fmt: skip
DEVICES = {"devices": [
    {"id": "d1", "channel": "web", "sender": "d1", "name": f"phone {EVIL}", "level": "read_only", "created": WHEN,
     "expires": LATER, "seen": WHEN, "this": False},
    {"id": "d2", "channel": "web", "sender": "d2", "name": "", "level": "supervised", "created": WHEN, "expires": LATER,
     "seen": WHEN, "this": True},
]}  # fmt: skip
GRANTS = {"grants": [
    {"id": "g1", "executor": "move_files", "capability": "fs.write", "target": f"/home/you/{EVIL}", "sending": False,
     "reason": EVIL, "granted_by": "web:owner", "created": WHEN, "expires": LATER},
    {"id": "g2", "executor": "*", "capability": "net.http", "target": "example.org", "sending": True, "reason": "",
     "granted_by": "web:owner", "created": WHEN, "expires": LATER},
]}  # fmt: skip
DOCTOR = {"checks": [
    {"name": "python", "level": "green", "says": "CPython 3.11", "fix": ""},
    {"name": "sandbox", "level": "red", "says": f"no bubblewrap {EVIL}", "fix": "apt install bubblewrap"},
    {"name": "model", "level": "yellow", "says": "no language model is in use", "fix": "metnos model list"},
]}  # fmt: skip
RECORDED: dict[str, Any] = ANSWERS | {
    "/api/executors": {"executors": EXECUTORS, "halted": None},
    "/api/executors/count_words": WHOLE,
    "/api/executors/move_files": WHOLE | EXECUTORS[1],
    "/api/arena": {"goals": [{"goal": EVIL, "turns": 2, "executors": 1},
                             {"goal": "move files", "turns": 9, "executors": 5}]},
    "/api/arena?goal=move+files": ARENA,
    "/api/night": NIGHT,
    "/api/notices": NOTICES,
    "/api/audit": AUDIT,
    "/api/settings": {"settings": SETTINGS},
    "/api/models": MODELS,
    "/api/devices": DEVICES,
    "/api/grants": GRANTS,
    "/api/doctor": DOCTOR,
}  # fmt: skip
REPLIES: dict[str, Any] = {
    "/api/audit/verify": {
        "state": "done",
        "ok": True,
        "lines": 412,
        "files": 2,
        "checkpoints": 6,
        "problems": [],
        "problems_total": 0,
        "notes": [],
    },
    "/api/models/main/test": {"ok": True, "seconds": 1.24, "said": f"Rome. {EVIL}", "error": "", "fix": ""},
    "/api/devices/code": {"code": "METNOS-WEB-7Q4K-9F2M-ABCD"},
    "/api/night/catch_up/run": {"job": "catch_up", "state": "done", "run": {"message": "nothing was left"}},
}


class Records(Api):
    """Also answers by what a query asks for, and says no to a setting that does not fit."""

    def __init__(self) -> None:
        super().__init__(RECORDED)
        self.replies: dict[str, Any] = {}
        self.forget()

    def forget(self) -> None:
        """As if nobody had been here."""
        self.answers, self.replies = dict(RECORDED), dict(REPLIES)
        self.scopes.clear()
        self.posts.clear()

    async def _answer(self, request: Request) -> Response:
        path, query = request.url.path, request.url.query
        if request.method == "GET":
            given = self.answers.get(f"{path}?{query}")
            if given is None and "goal=" in query:
                return JSONResponse({"error": {"type": "Missing", "what": f"no {EVIL}", "fix": ""}}, 404)
            return JSONResponse(given) if given is not None else await super()._answer(request)
        body = await request.json()
        self.posts.append((path, body))
        if path == "/api/settings" and body["value"] == "much":
            return JSONResponse(
                {"error": {"type": "SettingsError", "what": f"that is no number {EVIL}", "fix": "Give one."}}, 400
            )
        return JSONResponse(self.replies.get(path, {}))


def built(api: Api) -> ASGIApp:
    """The pages, these among them, for somebody who is signed in."""
    with patch.object(site, "PAGES", tuple(dict.fromkeys((*site.PAGES, *MINE)))):
        return signed_in(site.build(api), api)
