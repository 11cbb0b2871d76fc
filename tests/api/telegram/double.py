"""A double of Telegram's Bot API over real HTTP, written from its public documentation (core.telegram.org/bots/api).

What it holds to: ``{"ok": true, "result": …}`` or ``{"ok": false, "error_code", "description"[, "parameters"]}`` with
the same HTTP status; `getUpdates` returns what is not confirmed, waits for ``timeout`` seconds if there is nothing, and
takes an ``offset`` as the confirmation of everything below it; texts are 1 to 4096 UTF-16 units; a button carries at
most 64 bytes; a callback query is answered once.
"""

import json
import threading
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "4242:AAE-a-token-of-the-double-0123456789"
OWNER = 7
Json = dict[str, Any]


class Refusal(Exception):
    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code, self.description, self.parameters = code, description, parameters


@dataclass
class Call:
    """One request that came, and the message that it made or changed."""

    method: str
    params: Json
    message: int = 0

    @property
    def text(self) -> str:
        return str(self.params.get("text", ""))

    @property
    def buttons(self) -> dict[str, str]:
        """What each button says, and what it carries."""
        markup = json.loads(self.params.get("reply_markup", "{}"))
        return {each["text"]: each["callback_data"] for row in markup.get("inline_keyboard", []) for each in row}


@dataclass
class Failure:
    method: str
    refusal: Refusal
    times: int


@dataclass
class Double:
    """The server. Tests write and press through it, and look at what the bot did."""

    now: Callable[[], datetime]
    token: str = TOKEN
    calls: list[Call] = field(default_factory=list)
    updates: list[Json] = field(default_factory=list)
    messages: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)
    queries: set[str] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)
    last_update: int = 1000
    last_message: int = 100
    closed: bool = False

    def __post_init__(self) -> None:
        self.changed = threading.Condition()
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                status, reply = double.reply(self.path, dict(urllib.parse.parse_qsl(body, keep_blank_values=True)))
                raw = json.dumps(reply).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(raw)))
                    self.end_headers()
                    self.wfile.write(raw)
                except OSError:
                    self.close_connection = True  # the bot has gone

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(60)

    # -- what people do

    def say(self, text: str | None, user: int = OWNER, **more: Any) -> int:
        """A message to the bot; ``more`` is put over it as it is. Returns the number of the update."""
        message = {
            "message_id": self._message(),
            "date": int(self.now().timestamp()),
            "chat": {"id": user, "type": "private", "first_name": "A"},
            "from": {"id": user, "is_bot": False, "first_name": "A"},
            "text": text,
            **more,
        }
        return self.deliver("message", {key: value for key, value in message.items() if value is not None})

    def press(self, shown: Call, label: str, user: int = OWNER, carried: str | None = None, **more: Any) -> int:
        """A press of a button under a message of the bot's."""
        query = f"query-{self.last_update}"
        self.queries.add(query)
        chat = int(shown.params["chat_id"])
        pressed = {
            "id": query,
            "from": {"id": user, "is_bot": False, "first_name": "A"},
            "chat_instance": "1",
            "message": {
                "message_id": shown.message,
                "date": int(self.now().timestamp()),
                "chat": {"id": chat, "type": "private", "first_name": "A"},
                "text": shown.text,
            },
            "data": shown.buttons[label] if carried is None else carried,
            **more,
        }
        return self.deliver("callback_query", pressed)

    def deliver(self, kind: str, what: Json, number: int | None = None) -> int:
        with self.changed:
            self.last_update = self.last_update + 1 if number is None else number
            self.updates.append({"update_id": self.last_update, kind: what})
            self.changed.notify_all()
            return self.last_update

    def again(self, update: Json) -> None:
        """Deliver the very same update once more."""
        with self.changed:
            self.updates.append(update)
            self.changed.notify_all()

    def fail(self, method: str, refusal: Refusal, times: int = 1) -> None:
        with self.changed:
            self.failures.append(Failure(method, refusal, times))

    # -- what the bot did

    def made(self, *methods: str) -> list[Call]:
        with self.changed:
            return [call for call in self.calls if call.method in methods]

    @property
    def sent(self) -> list[Call]:
        return self.made("sendMessage")

    @property
    def texts(self) -> list[str]:
        return [call.text for call in self.sent]

    def shows(self, message: int, chat: int = OWNER) -> tuple[str, str]:
        """What a message says now, and its buttons."""
        with self.changed:
            return self.messages[chat, message]

    # -- the API

    def reply(self, path: str, params: Json) -> tuple[int, Json]:
        head, _, method = path.removeprefix("/bot").rpartition("/")
        call = Call(method, params)
        with self.changed:
            self.calls.append(call)
        try:
            if head != self.token:
                raise Refusal(401, "Unauthorized")
            self._fail(method)
            answer = getattr(self, f"on_{method.lower()}", None)
            if answer is None:
                raise Refusal(404, "Not Found")
            return 200, {"ok": True, "result": answer(params, call)}
        except Refusal as error:
            refused: Json = {"ok": False, "error_code": error.code, "description": error.description}
            return error.code, refused | ({"parameters": error.parameters} if error.parameters else {})

    def _fail(self, method: str) -> None:
        with self.changed:
            for failure in self.failures:
                if failure.method == method and failure.times:
                    failure.times -= 1
                    self.changed.notify_all()
                    raise failure.refusal

    def on_getme(self, _params: Json, _call: Call) -> Json:
        return {"id": 4242, "is_bot": True, "first_name": "Metnos", "username": "metnos_bot"}

    def on_getupdates(self, params: Json, _call: Call) -> list[Json]:
        offset, timeout = int(params.get("offset", 0)), float(params.get("timeout", 0))
        with self.changed:
            if offset:
                self.updates = [each for each in self.updates if each["update_id"] >= offset]
            self.changed.wait_for(lambda: self.updates or self.closed, timeout)
            return list(self.updates[:100])

    def on_sendmessage(self, params: Json, call: Call) -> Json:
        _check(params)
        call.message = self._message()
        return self._keep(int(params["chat_id"]), call.message, params)

    def on_editmessagetext(self, params: Json, call: Call) -> Json:
        _check(params)
        chat, call.message = int(params["chat_id"]), int(params["message_id"])
        with self.changed:
            before = self.messages.get((chat, call.message))
        if before is None:
            raise Refusal(400, "Bad Request: message to edit not found")
        if before == (params["text"], params.get("reply_markup", "")):
            raise Refusal(400, "Bad Request: message is not modified")
        return self._keep(chat, call.message, params)

    def on_answercallbackquery(self, params: Json, _call: Call) -> bool:
        if params["callback_query_id"] not in self.queries:
            raise Refusal(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")
        self.queries.discard(params["callback_query_id"])
        return True

    def on_sendchataction(self, _params: Json, _call: Call) -> bool:
        return True

    def _message(self) -> int:
        with self.changed:
            self.last_message += 1
            return self.last_message

    def _keep(self, chat: int, message: int, params: Json) -> Json:
        with self.changed:
            self.messages[chat, message] = (params["text"], params.get("reply_markup", ""))
            self.changed.notify_all()
        kept = {"message_id": message, "date": int(self.now().timestamp()), "text": params["text"]}
        return kept | {"chat": {"id": chat, "type": "private", "first_name": "A"}}


def _check(params: Json) -> None:
    text = params.get("text", "")
    if not text.strip():
        raise Refusal(400, "Bad Request: message text is empty")
    if len(text.encode("utf-16-le")) // 2 > 4096:
        raise Refusal(400, "Bad Request: message is too long")
    for row in json.loads(params.get("reply_markup", "{}")).get("inline_keyboard", []):
        for each in row:
            if not 1 <= len(each["callback_data"].encode()) <= 64:
                raise Refusal(400, "Bad Request: BUTTON_DATA_INVALID")
