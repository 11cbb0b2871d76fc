"""A language model behind a server: OpenAI-compatible (any address, key optional) or Anthropic.

Rules: one question has one time limit, tries included. What may succeed is tried again, with growing pauses, but never
after the first word. A reply by schema is asked for by grammar where the server has one, else in words; it is read and
held against the schema here in any case, and asked for a second time, with what was wrong, before it is given up. Such
a reply is not streamed: nobody reads half a JSON object, and a second try would say it twice. The key is looked up when
the first question is asked, is in no message and no record, and is cut out of what the server says.
"""

import ssl
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from metnos.core.canon import canonical_json
from metnos.core.errors import ModelError
from metnos.core.sections_models import ModelSettings
from metnos.models import answer
from metnos.models.address import ANTHROPIC, at_home, host, shown
from metnos.models.budget import Price, likely_tokens
from metnos.models.chat import Message, OnText, Prompt, Reply, Usage
from metnos.models.listing import NoList, list_models
from metnos.models.patience import Patience

if TYPE_CHECKING:
    from metnos.models.faults import Failed
    from metnos.models.wire import Heard, Target

_NO_GRAMMAR = (400, 415, 422, 501)  # what servers answer that do not know `response_format`
_LIST_S = 5.0
_QUOTED = 4000  # characters of a wrong reply that the model sees again
_MS = 1000.0


def price_of(settings: ModelSettings) -> Price:
    """What tokens cost there. Anthropic's prices for a cached prefix are fixed shares of its price for reading."""
    if settings.provider == "anthropic":
        return Price(settings.price_in, settings.price_out, cache_read=0.1, cache_write=1.25)
    return Price(settings.price_in, settings.price_out)


class Remote:
    """Asks a server."""

    def __init__(
        self,
        settings: ModelSettings,
        key: Callable[[], str] = str,
        *,
        patience: Patience | None = None,
        name: str = "",
        guided: bool = False,
    ) -> None:
        self._settings = settings
        self._find_key = key
        self._patience = patience or Patience()
        self._name = name
        self._guided = guided
        self._price = price_of(settings)
        self._url = settings.url or ANTHROPIC
        self._grammar = settings.provider != "anthropic"  # there it would change the schema, and free objects get lost
        self._target: Target | None = None

    @property
    def name(self) -> str:
        return self._name or f"{self._settings.name or 'a model'} at {host(self._url)}"

    @property
    def outside(self) -> bool:
        return not at_home(self._url)

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        deadline = time.monotonic() + self._settings.timeout_s
        if prompt.schema is not None:
            return self._ask_for_data(prompt, deadline)
        heard, usage = self._try(prompt, deadline, on_text)
        return Reply(heard.text, None, usage, heard.model, heard.cut)

    def close(self) -> None:
        """Nothing stays open between two questions."""

    # -- data by schema

    def _ask_for_data(self, prompt: Prompt, deadline: float) -> Reply:
        heard, usage = self._ask_by_grammar(prompt, deadline)
        try:
            return _data_reply(prompt, heard, usage)
        except answer.NotFitting as error:
            wrong = str(error)
        if heard.cut:
            raise ModelError(
                f"{self.name} did not come to an end within {prompt.max_tokens} tokens",
                kind="rambling",
                fix="Ask for less at once, or use a larger model.",
            )
        heard, more = self._try(_again(prompt, heard.text, wrong), deadline, None, grammar=self._grammar)
        usage += more
        try:
            return _data_reply(prompt, heard, usage)
        except answer.NotFitting as error:
            wrong = str(error)
        raise ModelError(
            f"{self.name} twice gave something else than the data it was asked for: {wrong}",
            kind="broken",
            fix="Try again, or use a larger model: metnos model list",
        )

    def _ask_by_grammar(self, prompt: Prompt, deadline: float) -> "tuple[Heard, Usage]":
        """By grammar where there is one; a server that refuses is asked in words, and from then on always."""
        from metnos.models.faults import Failed

        if not self._grammar:
            return self._try(_in_words(prompt), deadline, None)
        outcome = self._attempts(prompt, deadline, None, grammar=True)
        if not isinstance(outcome, Failed):
            return outcome
        if outcome.status not in _NO_GRAMMAR:
            raise outcome.error
        in_words = self._attempts(_in_words(prompt), deadline, None, grammar=False)
        if isinstance(in_words, Failed):
            raise outcome.error  # it was not the grammar
        self._grammar = False
        return in_words

    # -- attempts

    def _try(
        self, prompt: Prompt, deadline: float, on_text: OnText | None, *, grammar: bool = False
    ) -> "tuple[Heard, Usage]":
        from metnos.models.faults import Failed

        outcome = self._attempts(prompt, deadline, on_text, grammar=grammar)
        if isinstance(outcome, Failed):
            raise outcome.error
        return outcome

    def _attempts(
        self, prompt: Prompt, deadline: float, on_text: OnText | None, *, grammar: bool
    ) -> "tuple[Heard, Usage] | Failed":
        failures = 0
        while True:
            begun = time.monotonic()
            outcome = self._once(prompt, deadline, on_text, grammar)
            if isinstance(outcome, tuple):
                heard, used = outcome
                return heard, replace(used, wall_ms=(time.monotonic() - begun) * _MS)
            failures += 1
            pause = self._patience.pause(failures, outcome.after_s)
            too_late = time.monotonic() + pause >= deadline
            if not outcome.again or failures > self._patience.retries or too_late:
                return _tried(outcome, failures)
            self._patience.sleep(pause)

    def _once(
        self, prompt: Prompt, deadline: float, on_text: OnText | None, grammar: bool
    ) -> "tuple[Heard, Usage] | Failed":
        from metnos.models import faults, wire

        target = self._aim()
        limits = wire.Limits.of(prompt, max(deadline - time.monotonic(), 0.001), self._settings.silence_s)
        try:
            heard = wire.exchange(target, prompt, grammar=grammar, limits=limits, say=on_text)
        except wire.Broken as broken:
            return faults.explain(broken, target, self._settings.timeout_s)
        return self._judge(heard) or (heard, self._usage(prompt, heard))

    def _judge(self, heard: "Heard") -> "Failed | None":
        """What is no reply although nothing broke."""
        from metnos.models.faults import Failed

        if heard.refused:
            return Failed(ModelError(f"{self.name} declines to answer that", kind="refused", fix="Ask in another way."))
        if heard.text.strip():
            return None
        what = "used up its tokens before the first word" if heard.cut else "gave an empty reply"
        return Failed(ModelError(f"{self.name} {what}", kind="empty", fix="Try again, or use another model."))

    def _aim(self) -> "Target":
        """Where the calls go; settled at the first one."""
        from metnos.models.wire import Target

        if self._target is None:
            key = self._find_key()
            if self._settings.provider == "anthropic" and not key:
                fix = "Store one: metnos model key NAME; then metnos config set models.main.key file:NAME"
                raise ModelError(f"{self.name} needs a key", kind="key", fix=fix)
            name = self._settings.name or self._first_listed(key)
            tls = _verifying() if self._url.startswith("https:") else None
            self._target = Target(self._settings.provider, self._url, name, key, tls, self._guided)
        return self._target

    def _first_listed(self, key: str) -> str:
        try:
            listed = list_models(self._url, key, timeout_s=min(_LIST_S, self._settings.timeout_s))
        except NoList as error:
            reason = str(error)
        else:
            if listed:
                return listed[0]
            reason = "it lists no model"
        raise ModelError(
            f"the language model at {shown(self._url)} does not answer: {reason}",
            kind="unreachable",
            fix="Start that server, or choose another: metnos model list",
        )

    def _usage(self, prompt: Prompt, heard: "Heard") -> Usage:
        """What the call used: the server's count, ours where it gives none."""
        texts = [prompt.system, *(message.text for message in prompt.messages)]
        read = heard.input_tokens if heard.input_tokens > 0 else sum(map(likely_tokens, texts))
        wrote = heard.output_tokens if heard.output_tokens > 0 else likely_tokens(heard.text)
        cached = min(max(heard.cached_tokens, 0), read)
        return Usage(1, read, wrote, cached, self._price.usd(read, wrote, cached, heard.cache_written))


def _data_reply(prompt: Prompt, heard: "Heard", usage: Usage) -> Reply:
    return Reply(heard.text, answer.read(heard.text, prompt.schema or {}), usage, heard.model)


def _tried(failed: "Failed", failures: int) -> "Failed":
    if failures > 1:
        error = failed.error
        return replace(failed, error=ModelError(f"{error.what}, {failures} times", kind=error.kind, fix=error.fix))
    return failed


def _in_words(prompt: Prompt) -> Prompt:
    """The prompt with its schema as a sentence, at the end, where it does not disturb the constant prefix."""
    schema = canonical_json(dict(prompt.schema or {})).decode()
    wish = f"Reply with one JSON value and nothing else. It must fit this JSON schema:\n{schema}"
    *earlier, last = prompt.messages or (Message("user", ""),)
    if last.role == "user":
        return replace(prompt, messages=(*earlier, Message("user", f"{last.text}\n\n{wish}".strip())))
    return replace(prompt, messages=(*prompt.messages, Message("user", wish)))


def _again(prompt: Prompt, text: str, wrong: str) -> Prompt:
    """The second question, which shows the first reply and what is wrong with it."""
    said = (Message("assistant", text[:_QUOTED]), Message("user", f"That does not fit: {wrong}."))
    return _in_words(replace(prompt, messages=(*prompt.messages, *said)))


def _verifying() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
