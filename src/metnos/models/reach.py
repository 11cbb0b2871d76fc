"""Whether the configured language model answers: the doctor's check.

Rules: a server is asked for its list of models, with a short limit of its own and never with a question; of a local one
the file and the library are looked at, and nothing is started. None configured is fine: Metnos works without.
"""

import importlib.util
from pathlib import Path

from metnos.core.errors import ModelError
from metnos.core.records import Check
from metnos.core.sections_models import ModelSettings
from metnos.models import keys
from metnos.models.address import ANTHROPIC, shown
from metnos.models.listing import NoList, list_models
from metnos.models.pins import find_file

NAME = "model"
_TIMEOUT_S = 3.0


def check(model: ModelSettings, keys_folder: Path | None = None, timeout_s: float = _TIMEOUT_S) -> Check:
    """One line for the doctor. Without ``keys_folder`` the server is asked without a key."""
    if not model.configured:
        return Check.yellow(NAME, "none configured; Metnos works without one, and better with one", "metnos model list")
    try:
        return _check_local(model) if model.provider == "local" else _check_server(model, keys_folder, timeout_s)
    except ModelError as error:
        return Check.red(NAME, error.what, error.fix)


def _check_local(model: ModelSettings) -> Check:
    path = find_file(model.name)
    if importlib.util.find_spec("xllamacpp") is None:
        return Check.red(NAME, "local models need the extra `local`", "Install it: metnos[local]")
    return Check.green(NAME, f"{model.name} (local), {path.stat().st_size // 10**6} MB")


def _check_server(model: ModelSettings, keys_folder: Path | None, timeout_s: float) -> Check:
    anthropic = model.provider == "anthropic"
    url = model.url or ANTHROPIC
    key = keys.find(model.key, keys_folder) if keys_folder is not None else ""
    try:
        listed = list_models(url, key, timeout_s=timeout_s, anthropic=anthropic)
    except NoList as error:
        return Check.red(
            NAME, f"{shown(url)} does not answer: {error}", "Start the server, or choose another: metnos model list"
        )
    if model.name and model.name not in listed and not anthropic:  # there, names have shorter ones that are not listed
        found = ", ".join(listed[:5]) or "no model"
        what = f"{shown(url)} has no model {model.name!r} (it lists {found})"
        return Check.red(NAME, what, "metnos config set models.main.name NAME")
    return Check.green(NAME, f"{shown(url)} answers with {model.name or (listed or ('an empty list',))[0]}")
