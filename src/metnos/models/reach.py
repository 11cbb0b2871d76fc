"""Whether the configured language model answers.

Rules: asks the server for its list of models, with the time limit of the settings, and sends nothing else; a redirect
to another place is not followed. None configured is fine: Metnos works without.
"""

import json
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from metnos.core.records import Check
from metnos.core.sections_models import ModelSettings

NAME = "model"
_MAX_ANSWER = 4 << 20


class _StayPut(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def check(model: ModelSettings) -> Check:
    """One line for the doctor."""
    if not model.url:
        return Check.yellow(
            NAME,
            "none configured; Metnos works without one, and better with one",
            "metnos config set models.main.url http://127.0.0.1:11434/v1",
        )
    try:
        listed = _list_models(model)
    except (URLError, HTTPException, OSError, ValueError, RecursionError) as error:
        return Check.red(
            NAME, f"{model.url} does not answer: {_reason(error)}", "Start the server, or correct models.main.url"
        )
    if model.name and model.name not in listed:
        found = ", ".join(listed[:5]) or "no model"
        return Check.red(
            NAME,
            f"{model.url} has no model {model.name!r} (it lists {found})",
            "metnos config set models.main.name NAME",
        )
    return Check.green(NAME, f"{model.url} answers with {model.name or (listed or ['an empty list'])[0]}")


def _list_models(model: ModelSettings) -> list[str]:
    # Built for each call: no proxy from the environment may carry the request out of the house.
    opener = build_opener(ProxyHandler({}), _StayPut)
    request = Request(f"{model.url.rstrip('/')}/models", headers={"Accept": "application/json"})  # noqa: S310 -- http(s) only: the setting's pattern
    with opener.open(request, timeout=model.timeout_s) as answer:
        data = json.loads(answer.read(_MAX_ANSWER))
    listed = data["data"] if isinstance(data, dict) and isinstance(data.get("data"), list) else None
    if listed is None:
        raise ValueError("no list of models")
    return [str(entry["id"]) for entry in listed if isinstance(entry, dict) and "id" in entry]


def _reason(error: Exception) -> str:
    if isinstance(error, HTTPError):
        return f"HTTP {error.code}"
    if isinstance(error, URLError):
        return str(getattr(error.reason, "strerror", None) or error.reason)
    if isinstance(error, ValueError | RecursionError):
        return "that is not an OpenAI-compatible server"
    return str(error) or type(error).__name__
