"""A heart, put together: what an agent that lives by itself does at each beat.

Gamma captures (a chain, if the pack's events come from one), theta deliberates and is one tick of its life, delta
consolidates. When a clock ends a golem it is retired by the same beat: nothing dies silent.

Rules: an agent of a household has no heart. Nothing beats while everything is halted, and nothing in an agent that was
retired. Which chain is read is in the audit before it is read. The owner is told of what matters, by a notice, and of
no more than three events a beat.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from metnos.app import pondering, profiles, retired
from metnos.core.canon import sha256_hex
from metnos.core.clock import to_text
from metnos.core.errors import SettingsError, UsageError
from metnos.law.audit_line import Entry
from metnos.life import deliberation
from metnos.life.cause import Cause
from metnos.life.chain import Chain
from metnos.life.deliberation import Deliberation, Thought
from metnos.life.following import Following, FollowRules
from metnos.life.heartbeat import Beaten, Came, Heart, Places
from metnos.life.heartbeat_rules import Beat
from metnos.life.pack import CHAIN
from metnos.models import keys
from metnos.night.notices import News, Notices

if TYPE_CHECKING:
    from metnos.app.house import App

FOLLOWED = "chain followed"
_DELTA_S = 10.0  # of CPU that one consolidation may take; the next one goes on
_TOLD = 3  # events of one beat

Log = Callable[[str], None]


@dataclass(frozen=True)
class Beating:
    """The heart of an open workspace."""

    app: "App"
    log: Log = field(default=lambda _: None)
    _said: dict[Beat, str] = field(default_factory=dict)

    @cached_property
    def heart(self) -> Heart:
        app = self.app
        organs = {Beat.GAMMA: self._capture, Beat.THETA: self._deliberate, Beat.DELTA: self._consolidate}

        def enough() -> int:
            return app.living.effects().curator_every  # of the phase that it is in by then

        return Heart(app.life_db, app.clock, app.workspace.memory, app.living.profile.rates, organs, enough)

    def beat(self, *, also: tuple[Beat, ...] = (), stop: Callable[[], bool] = lambda: False) -> list[Beaten] | None:
        """Do what is due. Nothing at all if another process is at it; an empty list while everything is halted."""
        death = retired.thanatopsis(self.app).death()  # which halts everything, too
        if death is not None and death.ended is None:  # a process died while it was being retired
            self._retire(str(death.cause))
        retired.refuse_dead(self.app)
        if self.app.halted():
            return []
        done = self.heart.beat(also=also, stop=stop)
        for each in done or ():
            if each.message and self._said.get(each.kind) != each.message:  # what is away for hours is told once
                self.log(f"{each.kind}: {each.message}")
            self._said[each.kind] = each.message
        self._end()
        return done

    def is_dead(self) -> bool:
        """Whether this agent was retired, to the end."""
        death = retired.thanatopsis(self.app).death()
        return death is not None and death.ended is not None

    def testament(self) -> str:
        """Where the testament of an agent that was retired is."""
        death = retired.thanatopsis(self.app).death()
        return death.wishes.to if death else ""

    # -- the three

    def _capture(self, _name: str) -> Came:
        return self._following.capture() if self.app.grimoire.pack().source == CHAIN else Came()

    @cached_property
    def _following(self) -> Following:
        app, life = self.app, self.app.settings.life
        if not life.rpc:
            raise SettingsError("no chain's server is set", fix="Name one: metnos config set life.rpc ADDRESS")
        app.audit.append(Entry(FOLLOWED, digests={"server": sha256_hex(life.rpc.encode())}))
        key = keys.find(life.rpc_key, app.workspace.keys)
        chain = Chain(life.rpc, app.grimoire.pack(), key=key, timeout_s=life.rpc_timeout_s)
        places = Places(app.life_db, app.clock)
        return Following(chain, app.grimoire, places, FollowRules(confirmations=life.confirmations))

    def _deliberate(self, name: str) -> Came:
        app = self.app
        thinking = Deliberation(app.grimoire, Places(app.life_db, app.clock), pondering.of(app))
        found = thinking.think()
        scored = sum(
            app.living.fitness.score(episode, app.clock.now(), told) for episode, told in found.foretold.items()
        )
        Notices(app.night_db, app.clock).tell([_news(each) for each in deliberation.told(found.thoughts)[:_TOLD]])
        app.living.beat(name)
        counts = {
            "events": found.seen,
            "thoughts": len(found.thoughts),
            "foretold": scored,
            "asked": found.asked,
            "unanswered": found.unanswered,
        }
        return Came({key: count for key, count in counts.items() if count})

    def _consolidate(self, _name: str) -> Came:
        cycle = self.app.grimoire.learn(_DELTA_S)
        return Came({key: count for key, count in cycle.counts.items() if count} if cycle else {})

    # -- the end

    def _end(self) -> None:
        """Retire an agent whose life is over."""
        cause = self.app.living.vitality.cause()
        if cause is not None:
            self._retire(str(cause))

    def _retire(self, cause: str) -> None:
        from metnos.app import retiring

        self.log(f"this life is over ({cause}): it is being retired")
        left = retiring.retire(self.app, Cause(cause))
        told = f"this agent came to its end ({cause}) and left a testament: {left.path}"
        Notices(self.app.night_db, self.app.clock).tell([News("life", told, once="life ended")])


def of(app: "App", log: Log = lambda _: None) -> Beating | None:
    """The heart of this agent; nothing if it lives by turns."""
    return Beating(app, log) if profiles.profile(app).beats else None


def require(app: "App", log: Log = lambda _: None) -> Beating:
    """The heart of this agent, or an error that says how it gets one."""
    found = of(app, log)
    if found is None:
        raise UsageError(
            f"this agent lives by turns (profile {app.settings.life.profile}) and has no heart",
            fix="To have it live by itself: metnos config set life.profile golem",
        )
    return found


def data(each: Beaten) -> dict[str, Any]:
    """One beat, for JSON."""
    return {
        "beat": str(each.kind),
        "number": each.number,
        "ts": to_text(each.ts),
        "counts": dict(each.counts),
        "message": each.message,
    }


def _news(thought: Thought) -> News:
    episode = thought.episode
    text = f"{episode.text} (matters {thought.importance:.0%}). See: metnos memory show {episode.id}"
    return News("event", text, once=f"event {episode.source}")
