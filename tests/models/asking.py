"""Asking a hand-written server, for tests of what asks."""

from typing import Any

import pytest

from metnos.core.errors import ModelError
from metnos.core.sections_models import ModelSettings
from metnos.models import wire  # noqa: F401 -- heavy: loaded before a test measures anything
from metnos.models.chat import Message, Prompt
from metnos.models.patience import Patience
from metnos.models.remote import Remote
from models.server import Act, serving

KEY = "sk-0123456789abcdef"
QUESTION = Prompt("You are brief.", (Message("user", "hello"),), max_tokens=64)


def remote(url: str, *, retries: int = 2, pauses: list[float] | None = None, key: str = KEY, **values: Any) -> Remote:
    settings = ModelSettings(**{"url": url, "name": "tiny", "timeout_s": 20.0, "silence_s": 10.0, **values})
    paused = pauses if pauses is not None else []
    return Remote(settings, lambda: key, patience=Patience(retries, paused.append, lambda: 0.5))


def failing(*acts: Act, prompt: Prompt = QUESTION, heard: list[str] | None = None, **values: Any) -> ModelError:
    """What asking a server that plays these acts ends with."""
    with serving(*acts) as running, pytest.raises(ModelError) as caught:
        remote(running.url, **values).ask(prompt, (heard if heard is not None else []).append)
    error: ModelError = caught.value
    assert error.fix
    _assert_keyless(error)
    return error


def _assert_keyless(error: BaseException | None) -> None:
    """No key in anything that hangs on the error; and nothing of the library's own errors, which hold requests."""
    while error is not None:
        assert isinstance(error, ModelError)
        assert KEY not in f"{error} {error!r} {error.args} {vars(error)}"
        error = error.__cause__ or error.__context__
