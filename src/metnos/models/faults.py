"""What went wrong with a call, in words for the owner, and whether trying again can help.

Rules: only what may succeed the next time is tried again (no connection, too many requests, a server in trouble), and
never once words have come. What a server says about its own refusal is quoted briefly, except where it may quote a key.
"""

from dataclasses import dataclass

from metnos.core.errors import ModelError
from metnos.models.address import shown
from metnos.models.wire import Broken, Target

_MOST_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed attempt: the error to raise, whether to try again, and how long the server asks us to wait."""

    error: ModelError
    again: bool = False
    after_s: float | None = None
    status: int = 0


def explain(broken: Broken, target: Target, total_s: float) -> Failed:
    """The one reading of a broken exchange."""
    course, place = broken.course, f"the language model at {shown(target.url)}"
    if course.status >= 300:
        return _by_status(broken, target, place)
    if broken.why in ("timeout", "silence"):
        return Failed(_timeout(broken, place, total_s))
    if broken.why in ("flood", "rambling") or course.fault == "flood":
        what = "repeated itself without end" if broken.why == "rambling" else "wrote far more than it was asked for"
        return Failed(ModelError(f"{place} {what} and was stopped", kind="rambling", fix=_ANOTHER))
    if course.spoken:
        return Failed(_cut_off(broken, place))
    return _before_a_word(broken, place)


_ANOTHER = "Try again, or use another model: metnos model list"
_START = "Start that server, or choose another: metnos model list"


def _timeout(broken: Broken, place: str, total_s: float) -> ModelError:
    if broken.why == "silence":
        return ModelError(f"{place} fell silent in the middle of its reply", kind="timeout", fix=_ANOTHER)
    state = "was not finished" if broken.course.spoken else "did not answer"
    return ModelError(
        f"{place} {state} after {total_s:g} seconds", kind="timeout", fix="Try again, or raise models.main.timeout_s."
    )


def _cut_off(broken: Broken, place: str) -> ModelError:
    told = f" ({broken.message})" if broken.message else ""
    return ModelError(f"{place} broke off in the middle of its reply{told}", kind="broken", fix=_ANOTHER)


def _before_a_word(broken: Broken, place: str) -> Failed:
    fault = broken.course.fault
    if fault == "connect":
        return Failed(ModelError(f"{place} is not there", kind="unreachable", fix=_START), again=True)
    if fault == "connect_timeout":
        return Failed(ModelError(f"{place} does not take the connection", kind="timeout", fix=_START), again=True)
    if fault == "gone":
        what = f"{place} ended the connection without a word"
        return Failed(ModelError(what, kind="unreachable", fix=_START), again=True)
    told = f": {broken.message}" if broken.message else ""
    what = f"what is at {place.removeprefix('the language model at ')} does not answer as a model server should{told}"
    return Failed(ModelError(what, kind="broken", fix="Check models.main.url: it often ends in /v1."))


def _by_status(broken: Broken, target: Target, place: str) -> Failed:
    status = broken.course.status
    told = f": {broken.message}" if broken.message else ""
    if status in (401, 403):
        what = f"{place} {'does not accept our key' if target.key else 'wants a key'} (HTTP {status})"
        fix = "Store the right one: metnos model key NAME; then metnos config set models.main.key file:NAME"
        return Failed(ModelError(what, kind="key", fix=fix), status=status)
    if status == 404:
        what = f"{place} knows no model {target.name!r}, or that address is not its own (HTTP 404){told}"
        return Failed(ModelError(what, kind="missing", fix="See what it has: metnos model list"), status=status)
    if status == 429:
        what = f"{place} has had too many requests (HTTP 429)"
        error = ModelError(what, kind="refused", fix="Wait a little, or use another model.")
        return Failed(error, again=True, after_s=_seconds(broken.course.retry_after), status=status)
    if status == 408 or status >= 500:
        error = ModelError(f"{place} is in trouble (HTTP {status}){told}", kind="unreachable", fix=_ANOTHER)
        again = status != 501
        return Failed(error, again=again, after_s=_seconds(broken.course.retry_after), status=status)
    if status < 400:
        what = f"{place} sends us elsewhere (HTTP {status}), and redirects are not followed"
        return Failed(ModelError(what, kind="refused", fix="Set models.main.url to the real address."), status=status)
    what = f"{place} refuses the request (HTTP {status}){told}"
    fix = "If it is too long: shorten it, or set models.main.context to what the model can see."
    return Failed(ModelError(what, kind="refused", fix=fix), status=status)


def _seconds(retry_after: str) -> float | None:
    """What a server asks us to wait, within reason; a date is not read."""
    try:
        wanted = float(retry_after)
    except ValueError:
        return None
    return min(wanted, _MOST_PATIENCE_S) if wanted > 0 else None
