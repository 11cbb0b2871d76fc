"""The policy: the deciding half of the one choke point. It looks at an `Ask`, decides, and mints the `Permit`.

Rules: the steps stand in one list and run in its order; each sees what was said so far, and the first refusal ends it.
Whatever goes wrong on the way is a refusal: nothing here ends in a permit by accident. An approval counts for exactly
what was asked, to the digest of executor, arguments, working directory and needs, and a permit that rests on one
carries the effects that the owner was shown. Knows nothing of executors: who calls it says what they need. Does not
guarantee anything about what happens after the permit: whoever runs the act checks the permit and holds the act to its
needs.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metnos.core.canon import Json, canonical_json, canonical_path, sha256_file, sha256_hex
from metnos.core.clock import Clock
from metnos.core.errors import ExecutorFailed, MetnosError, Refused, Waiting
from metnos.law import constitution, levels
from metnos.law.capability import Capability
from metnos.law.constitution import Constitution
from metnos.law.forbidden import Access, why_forbidden
from metnos.law.grants import Grants
from metnos.law.halt import Halt
from metnos.law.inbox import ACT, Inbox, Item, State
from metnos.law.levels import Use, Verdict
from metnos.law.need import AGENT, FORBIDDEN, Need, Place, place_of_host
from metnos.law.permit import Effects, Mint, Permit
from metnos.law.principal import OWN_PROGRAMS, PROGRAMS, Autonomy, Principal, lower

MOST_ASKED = 20  # questions of one program that wait at once: a person reads no more of them in a sitting
_RAISE_IT = "Raise the level: metnos config set policy.autonomy"
_ELSEWHERE = "No level helps {} here: it may do no more than that. Ask for it yourself, at a terminal."
_NAME_IT = "Ask for it yourself, with that very path in your own words."
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_ACCESS = {
    Capability.FS_READ: Access.READ,
    Capability.FS_WRITE: Access.WRITE,
    Capability.SHELL_EXEC: Access.READ,
}
_NO_WAY = "No setting, grant or approval lifts this. Do it by hand if it must be done."


@dataclass(frozen=True, slots=True)
class Ask:
    """One act that somebody wants done. ``title`` and ``body`` are what the owner sees if they are asked."""

    principal: Principal
    executor: str
    executor_digest: str
    arguments_digest: str
    cwd: str
    turn: str
    needs: tuple[Need, ...]
    irreversible: bool
    title: str
    body: Mapping[str, Json] = field(default_factory=dict)
    tainted: bool = False  # whoever wants it had seen content from outside: no level and no grant speaks for it
    whole: str = ""  # digest of the larger act that this one is a part of, as far as that came


@dataclass(frozen=True, slots=True)
class Preview:
    """What an act would do: in lines for the owner, and as effects that the act is later held to.

    No effects at all (``None``) when it cannot be tried without doing it: then the needs alone bound it. ``kept`` is
    what whoever carries the act out will need again.
    """

    lines: tuple[str, ...]
    effects: Effects | None
    kept: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, by which rule, and why. ``cause`` is the error that made it a refusal, if one did."""

    verdict: Verdict
    rule: str
    reason: str
    fix: str = ""
    cause: Exception | None = field(default=None, compare=False, repr=False)


Step = Callable[[Ask, Decision], Decision]
Reason = Callable[[], str | None]


@dataclass(frozen=True, slots=True)
class Policy:
    """Decides for one workspace. ``constitution_check``, ``halted`` and ``quotas`` say why not, or nothing."""

    constitution_check: Reason
    grants: Grants
    inbox: Inbox
    mint: Mint
    clock: Clock
    autonomy: Autonomy
    approval_hours: float
    quotas: Callable[[Ask], str | None]
    halted: Callable[[], Halt | None]

    # -- deciding

    def decide(self, ask: Ask) -> Decision:
        """What happens with this act: allowed, asked, asked twice or refused. Changes nothing."""
        *_, (_, last) = self._walk(ask)
        return last

    def explain(self, ask: Ask) -> list[tuple[str, Verdict, str]]:
        """Every step that was reached, what it made of the act, and why. Changes nothing."""
        said: list[tuple[str, Verdict, str]] = []
        before = None
        for name, decision in self._walk(ask):
            said.append((name, decision.verdict, "adds nothing" if decision is before else decision.reason))
            before = decision
        verdict = said[-1][1]
        if verdict is Verdict.REFUSE:
            return said
        if verdict.yeses:
            item = self.inbox.standing(approval_digest(ask), verdict.yeses)
            words = f"question {item.id} is {item.state}" if item else "the owner would be asked"
            said.append(("approval", verdict, words))
        try:
            full = self.quotas(ask)
        except Exception as error:  # noqa: BLE001 -- as in `permit`, this is a no
            full = f"it could not be decided: {_words(error)}"
        said.append(("quotas", verdict if full is None else Verdict.REFUSE, full or "nothing is used up"))
        return said

    # -- permitting

    def permit(self, ask: Ask, preview: Callable[[], Preview]) -> Permit:
        """The permit for this act. Raises `Refused`, or `Waiting` with the question that the owner has to answer."""
        try:
            return self._permit(ask, preview)
        except (Refused, Waiting, ExecutorFailed):
            raise  # what failed in the rehearsal is no permit either, and says itself why
        except Exception as error:  # the border of the choke point: whatever fails here means no
            raise _refused_by(error) from error

    def reask(self, item_id: str, ask: Ask, preview: Callable[[], Preview], by: Principal) -> Item:
        """Put ``ask`` in the place of a question that the owner edited; returns the new question."""
        try:
            decision = self.decide(ask)
            _raise_refusal(decision)
            yeses = max(decision.verdict.yeses, 1)
            body = _body(ask, preview())
            return self.inbox.edit(item_id, by, body, approval_digest(ask), title=ask.title, needs_yes=yeses)
        except MetnosError:
            raise
        except Exception as error:  # as above
            raise _refused_by(error) from error

    def _permit(self, ask: Ask, preview: Callable[[], Preview]) -> Permit:
        decision = self.decide(ask)
        _raise_refusal(decision)
        digest, yeses = approval_digest(ask), decision.verdict.yeses
        if yeses:
            self._require_approval(ask, decision, preview)
        full = self.quotas(ask)
        if full is not None:
            raise Refused(f"{ask.executor} may not do more now: {full}", fix="Wait, or raise the limit.")
        effects = None
        if yeses:
            # Last of all, so that an approval is not used up by a quota.
            taken = self.inbox.take(digest, yeses)
            if taken is None:
                raise Refused("the approval was used by another process meanwhile", fix="Ask for the act again.")
            effects = _effects(taken)
        return self.mint.mint(
            principal=ask.principal,
            executor=ask.executor,
            executor_digest=ask.executor_digest,
            arguments_digest=ask.arguments_digest,
            cwd=ask.cwd,
            turn=ask.turn,
            needs=ask.needs,
            effects=effects,
            irreversible=ask.irreversible,
            because=f"{decision.rule}: {decision.reason}",
        )

    def _require_approval(self, ask: Ask, decision: Decision, preview: Callable[[], Preview]) -> None:
        """Raise `Waiting` unless the owner approved exactly this; the preview is made once for each question."""
        digest, yeses = approval_digest(ask), decision.verdict.yeses
        item = self.inbox.standing(digest, yeses)
        if item is None:
            self._not_too_many(ask.principal)
            body = _body(ask, preview())
            hours = self.approval_hours
            item = self.inbox.ask(ACT, ask.title, body, digest, asked_by=ask.principal, hours=hours, needs_yes=yeses)
        if item.state is State.APPROVED and ask.principal.may_use(item.asked_by):
            return
        what = "This cannot be taken back, so it needs two yeses" if yeses > 1 else "This needs a yes"
        raise Waiting(f"{what}: {decision.reason}", item=item.id, fix=f"metnos inbox show {item.id}")

    def _not_too_many(self, asker: Principal) -> None:
        """A program that asks and asks would bury what the owner has to see."""
        if asker.channel in PROGRAMS | OWN_PROGRAMS:
            mine = sum(each.asked_by == str(asker) for each in self.inbox.waiting())
            if mine >= MOST_ASKED:
                raise Refused(f"{asker} waits for {mine} answers already", fix="Wait until the owner has answered.")

    # -- the steps, in order

    def _walk(self, ask: Ask) -> Iterator[tuple[str, Decision]]:
        """Each step's name and the decision after it, up to the first refusal."""
        steps: tuple[tuple[str, Step], ...] = (
            ("panic", self._not_halted),
            ("constitution", self._constitution_holds),
            ("principal", _known_principal),
            ("request", _well_formed),
            ("forbidden paths", _not_forbidden),
            ("addresses", _not_never),
            ("level", self._level),
            ("grants", self._grants),
            ("origin", _origin),
        )
        decision = Decision(Verdict.ALLOW, "", "")
        for name, step in steps:
            try:
                decision = step(ask, decision)
            except Exception as error:  # noqa: BLE001 -- a step that fails has not said yes
                decision = Decision(Verdict.REFUSE, name, f"it could not be decided: {_words(error)}", cause=error)
            yield name, decision
            if decision.verdict is Verdict.REFUSE:
                return

    def _not_halted(self, _: Ask, so_far: Decision) -> Decision:
        halt = self.halted()
        if halt is None:
            return _pass(so_far, "panic", "nothing is halted")
        return Decision(Verdict.REFUSE, halt.rule, halt.why, halt.fix)

    def _constitution_holds(self, _: Ask, so_far: Decision) -> Decision:
        why = self.constitution_check()
        if why is None:
            return _pass(so_far, "constitution", "the Laws are those upheld at the start")
        return Decision(Verdict.REFUSE, "constitution", why, "Read SOUL.md, then start Metnos again.")

    def _level(self, ask: Ask, _: Decision) -> Decision:
        level = lower(ask.principal.level, self.autonomy)
        found = [(levels.row(use).at(level), use, words) for use, words in _uses(ask)]
        verdict = levels.worst(each for each, _, _ in found)
        words = [words for each, _, words in found if each is verdict]
        if verdict is Verdict.ALLOW:
            return Decision(verdict, f"level {level}", f"at the level {level} this needs no question")
        rule = "; ".join(dict.fromkeys(levels.row(use).words for each, use, _ in found if each is verdict))
        reason = f"at the level {level}, Metnos must {verdict.words}: {', '.join(words)}"
        fix = ""
        if verdict is Verdict.REFUSE and any(levels.row(use).at(Autonomy.FULL) is verdict for _, use, _ in found):
            fix = _NAME_IT  # no level allows it
        elif verdict is Verdict.REFUSE:
            own = any(levels.row(use).at(ask.principal.level) is verdict for _, use, _ in found)
            fix = _ELSEWHERE.format(ask.principal) if own else _RAISE_IT
        return Decision(verdict, f"level {level}: {rule}", reason, fix)

    def _grants(self, ask: Ask, so_far: Decision) -> Decision:
        if so_far.verdict is not Verdict.ASK:
            return so_far
        level, now = lower(ask.principal.level, self.autonomy), self.clock.now()
        uses = {need: levels.uses_of(need) for need in ask.needs}
        asking = [need for need in uses if Verdict.ASK in (levels.row(use).at(level) for use in uses[need])]
        covering = [
            None if levels.HIGH_RISK & set(uses[need]) else self.grants.covers(need, ask.executor, now)
            for need in asking
        ]
        if asking and all(grant is not None for grant in covering):
            ids = ", ".join(dict.fromkeys(grant.id for grant in covering if grant is not None))
            return Decision(Verdict.ALLOW, "grants", f"covered by {ids}")
        left = [need.words for need, grant in zip(asking, covering, strict=True) if grant is None]
        return Decision(Verdict.ASK, so_far.rule, f"the owner must be asked: {', '.join(left)}")


def approval_digest(ask: Ask) -> str:
    """What an approval is bound to: the executor and the arguments to the byte, the folder, everything it needs, and
    what it is a part of."""
    needs = sorted((need.capability, need.target, need.verb, need.outside, need.carries) for need in ask.needs)
    act: list[Json] = [ACT, ask.executor, ask.executor_digest, ask.arguments_digest, ask.cwd, needs, ask.irreversible]
    return sha256_hex(canonical_json([*act, ask.whole] if ask.whole else act))


def unchanged(soul: Path, upheld: Constitution) -> str | None:
    """Why SOUL.md is not the constitution that was upheld at the start; nothing if it is. For `constitution_check`."""
    if soul.is_file() and sha256_file(soul) == upheld.soul:
        return None
    constitution.read(soul)  # says what is wrong with it, if it is no constitution at all
    return "SOUL.md was edited while Metnos runs, and the edit is not recorded yet"


def _known_principal(ask: Ask, so_far: Decision) -> Decision:
    if type(ask.principal) is Principal and ask.principal.known:
        return _pass(so_far, "principal", f"{ask.principal}, level {ask.principal.level}")
    return Decision(Verdict.REFUSE, "principal", "nobody known asks for this", "Use a channel that Metnos has.")


def _well_formed(ask: Ask, so_far: Decision) -> Decision:
    """A digest that is none, or a need of an unknown kind, would make everything behind this meaningless."""
    sound = [
        _NAME.fullmatch(ask.executor) is not None,
        _DIGEST.fullmatch(ask.executor_digest) is not None,
        _DIGEST.fullmatch(ask.arguments_digest) is not None,
        ask.cwd.startswith("/"),
        type(ask.irreversible) is bool,
        type(ask.tainted) is bool,
        type(ask.needs) is tuple,
        all(type(need) is Need for need in ask.needs),
        all(type(need.capability) is Capability for need in ask.needs),
        all(type(need.outside) is bool for need in ask.needs),
        all(type(need.carries) is bool for need in ask.needs),
        all(need.target for need in ask.needs),
    ]
    if all(sound):
        return _pass(so_far, "request", "; ".join(need.words for need in ask.needs) or "it needs nothing from outside")
    return Decision(Verdict.REFUSE, "request", "what is asked for is not well-formed; this is a mistake in Metnos")


def _not_forbidden(ask: Ask, so_far: Decision) -> Decision:
    for need in ask.needs:
        access = _ACCESS.get(need.capability)
        if access is None:
            continue
        path = canonical_path(need.target, cwd=Path("/"), home=Path("/"))
        if str(path) != need.target:
            reason = f"{need.target} is not the real path of what it leads to"
            return Decision(Verdict.REFUSE, "forbidden paths", reason, "Ask for the act again.")
        if need.verb == FORBIDDEN:
            reason = f"{path} was reached by a name that is out of bounds for any {access}"
            return Decision(Verdict.REFUSE, "forbidden paths", reason, _NO_WAY)
        if need.verb == AGENT:
            reason = f"{path} belongs to the agent itself: no executor changes it"
            return Decision(Verdict.REFUSE, "forbidden paths", reason, _NO_WAY)
        what = why_forbidden(path, access)
        if what is not None:
            reason = f"{path} is out of bounds for any {access}: it belongs to {what}"
            return Decision(Verdict.REFUSE, "forbidden paths", reason, _NO_WAY)
    return _pass(so_far, "forbidden paths", "no path of it is out of bounds")


def _not_never(ask: Ask, so_far: Decision) -> Decision:
    for need in ask.needs:
        if need.capability is Capability.NET_HTTP and place_of_host(need.target) is Place.NEVER:
            reason = f"{need.target} is an address that nothing may speak to"
            return Decision(Verdict.REFUSE, "addresses", reason, _NO_WAY)
    return _pass(so_far, "addresses", "no address of it is out of reach for good")


def _uses(ask: Ask) -> Iterator[tuple[Use, str]]:
    """Every row of the table that an act falls under, with what it wants there."""
    for need in ask.needs:
        for use in levels.uses_of(need):
            yield use, need.words
    if ask.irreversible:
        yield Use.IRREVERSIBLE, "do what cannot be taken back"


def _origin(ask: Ask, so_far: Decision) -> Decision:
    """What content from outside may have suggested is for the owner to decide."""
    if not ask.tainted or so_far.verdict is not Verdict.ALLOW:
        return so_far
    why = "you did not name this in your request, or Metnos planned it after reading a file or page"
    return Decision(Verdict.ASK, "origin", why)


def _pass(so_far: Decision, rule: str, reason: str) -> Decision:
    return Decision(so_far.verdict, rule, reason)


def _body(ask: Ask, preview: Preview) -> dict[str, Json]:
    """What the owner is shown, with the preview that their yes will be about."""
    effects: list[Json] | None = None if preview.effects is None else [list(effect) for effect in preview.effects]
    return {**ask.body, **preview.kept, "preview": list(preview.lines), "effects": effects}


def _effects(item: Item) -> Effects | None:
    listed = item.body["effects"]
    return None if listed is None else tuple(tuple(str(word) for word in effect) for effect in listed)


def _raise_refusal(decision: Decision) -> None:
    if decision.verdict is Verdict.REFUSE:
        raise Refused(f"refused ({decision.rule}): {decision.reason}", fix=decision.fix) from decision.cause


def _refused_by(error: Exception) -> Refused:
    fix = error.fix if isinstance(error, MetnosError) else "Nothing was done. If it happens again, report it."
    return Refused(f"refused, because it could not be decided: {_words(error)}", fix=fix)


def _words(error: Exception) -> str:
    """An error in words; a bug's own text may hold content of the owner's, so only its kind is said."""
    return error.what if isinstance(error, MetnosError) else f"a {type(error).__name__} inside Metnos"
