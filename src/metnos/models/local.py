"""A GGUF model in this very process: llama.cpp (`xllamacpp`, the extra ``local``) behind its own server on loopback.

Rules: starts when it is first asked and stays until it is closed; the server takes a random key that nobody else has,
so no other program of the machine can use it; one question at a time, because there is one slot, whose cache keeps the
constant prefix. As many threads as the settings say: by default one, since two that share a busy core wait for each
other. Does not guarantee to end at once: `close` lets the running question end first, within limits.
"""

import importlib
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from metnos.core.errors import ModelError
from metnos.core.sections_models import ModelSettings
from metnos.models.chat import OnText, Prompt, Reply
from metnos.models.patience import Patience
from metnos.models.pins import find_file
from metnos.models.remote import Remote
from metnos.models.scoring import Token, score

_MAGIC = b"GGUF"
_CLOSE_S = 10.0
_SILENT = -1


class Local:
    """Runs a model file."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._server: Any = None
        self._remote: Remote | None = None
        self._key = ""

    @property
    def name(self) -> str:
        return f"{Path(self._settings.name).name.removesuffix('.gguf')} (local)"

    @property
    def outside(self) -> bool:
        return False

    @property
    def file(self) -> Path:
        """The model's file. Raises `ModelError` if it is not there."""
        return find_file(self._settings.name)

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        with self._held(self._settings.timeout_s):
            # By our name: the server would say where the file lies.
            return replace(self._started().ask(prompt, on_text), model=self.name)

    def score(self, text: str, most: int, seconds: float) -> tuple[Token, ...]:
        """How likely it finds each token of a text, of at most so many. Raises `ModelError`."""
        with self._held(seconds):
            self._started()
            return score(self._server.listening_address, self._key, text, most=most, seconds=seconds)

    def close(self) -> None:
        """End the server. While a question runs it cannot end: then it stays, and ends with the process."""
        if self._lock.acquire(timeout=_CLOSE_S):
            self._server = self._remote = None
            self._lock.release()

    @contextmanager
    def _held(self, wait_s: float) -> Iterator[None]:
        if not self._lock.acquire(timeout=wait_s):
            raise ModelError(f"{self.name} is busy with another question", kind="timeout", fix="Try again later.")
        try:
            yield
        finally:
            self._lock.release()

    def _started(self) -> Remote:
        if self._remote is None:
            key = self._key = secrets.token_urlsafe(32)
            self._server = _start(self._settings, self.file, key)
            address = f"{self._server.listening_address}/v1"
            asked = self._settings.model_copy(update={"provider": "openai", "url": address, "name": "local"})
            guided = _library().json_schema_to_grammar({}).startswith("%llguidance")
            self._remote = Remote(asked, partial(str, key), patience=Patience(0), name=self.name, guided=guided)
        return self._remote


def _start(settings: ModelSettings, path: Path, key: str) -> Any:
    _require_gguf(path)
    library = _library()
    try:
        return library.Server(_parameters(library, settings, path, key))
    except (RuntimeError, ValueError) as error:
        raise ModelError(
            f"the model in {path} could not be started",
            kind="broken",
            fix="Is it a whole GGUF file, and is there memory enough? A smaller models.main.context needs less.",
        ) from error


def _library() -> Any:
    try:
        return importlib.import_module("xllamacpp")  # an optional native library of 30 MB, without types
    except ModuleNotFoundError as error:
        raise ModelError(
            "local models need one more package, which is not installed",
            kind="missing",
            fix="Install Metnos with its extra `local`: metnos[local]",
        ) from error
    except ImportError as error:  # it is there, and a library of the system is not
        raise ModelError(
            f"the package for local models cannot be loaded: {error}",
            kind="missing",
            fix="Install the system's library that it names; on Debian libgomp.so.1 is in the package libgomp1.",
        ) from error


def _parameters(library: Any, settings: ModelSettings, path: Path, key: str) -> Any:
    params = library.CommonParams()
    params.model.path = str(path)
    params.n_ctx = settings.context
    params.n_parallel = 1
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = settings.threads
        cpu.poll = 0  # wait asleep: two threads that spin against each other are forty times slower
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    params.cache_prompt = True
    params.cache_ram_mib = 0  # the slot's own cache is enough for one conversation
    params.n_threads_http = 2
    params.verbosity = _SILENT
    params.offline = True
    params.ui = False
    params.endpoint_slots = False
    params.warmup = False
    return params


def _require_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            begins = file.read(len(_MAGIC))
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}", kind="missing") from error
    if begins != _MAGIC:
        raise ModelError(f"{path} is no GGUF file", kind="broken", fix="See what can be fetched: metnos model list")
