"""The Weismann barrier: what of a fact may cross a death, and in which words. Pure.

What crosses is the lesson, and not the life that taught it. Exact parameters stay behind: values of arguments go and
their names stay, numbers are told to one digit ("about 30", not 27). Quotations go, unless every word of them says
nothing of anybody, or nobody said it (the agent's own observations). What is about people, was said by somebody else,
or belongs to one conversation does not cross at all unless the owner releases it. Fast paths and unfinished thoughts
have no form here that could cross.

Of somebody's life nothing crosses but in words that this house itself is made of, and none that is spelt as a name.

Rules: anti-knowledge always crosses, if need be as nothing but the executor and the error: a warning without its
circumstances is still one. Everything else that cannot be told cleanly stays behind, with a reason. The same fact and
the same workspace give the same words. Does not guarantee anything by itself: `barrier_scan` looks at the outcome.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from metnos.executors import vocabulary
from metnos.grimoire import bloodstain, poison
from metnos.grimoire.consent import needs_consent
from metnos.grimoire.episode import Provenance, Scope
from metnos.grimoire.extract import figure, quoted
from metnos.grimoire.fact import Fact, Kind
from metnos.grimoire.fact_rules import is_strangers
from metnos.grimoire.streams import HABIT
from metnos.grimoire.strings import strings
from metnos.life import barrier_scan
from metnos.life.barrier_scan import Known
from metnos.life.testament_rules import ANTI

SOMETHING = '"something"'
_QUOTE = re.compile(r'"([^"]*)"')
_EXACT = re.compile(
    r"(?P<before>\b(?:at|above|below|over|under|than|threshold|exactly)\s+|[<>=≥≤]\s*)?(?<![\w.,])(?<![^\W\d_]-)"
    r"(?P<number>[+\N{MINUS SIGN}-]?\d(?:[\d.,]*\d)?)(?P<unit>[^\W\d_]{0,5})(?!\w)"
)
_DAY = re.compile(r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{4}\b")
_SIGNS = "+-\N{MINUS SIGN}"
_ENGLISH = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?")
_ITALIAN = re.compile(r"(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d+))?")
_LARGEST = 1e300  # beyond it no number can be rounded, and none means anything
_LEGIBLE = 1e12  # below it a number is read more easily in full
_LONG = 4  # digits of a whole number that is a parameter wherever it stands: shorter ones are codes and counts
_ERROR = re.compile(r"[a-z][a-z_ ]{0,40}")
_NAMES = 40  # characters of an argument's name
_KEPT = ("cause", "effect", "strategy", "executor", "metric", "error", "pattern")  # data that says what it is about
_WRONG = (bloodstain.DISLIKED, bloodstain.UNDONE, bloodstain.BADLY)
_FAILED = re.compile(r"it failed with [a-z_]{1,40}(, after something that cannot be taken back)?")
_FORMED = ("when", "conditions", "mean")  # data of sentences that are made here, of parts that were looked at
_TEXT = 1000
_NOBODYS = (Scope.AGENT, Scope.SHARED)  # what the agent saw by itself, and what everybody may know


@dataclass(frozen=True, slots=True)
class Crossing:
    """What crosses of a fact; or nothing, and why."""

    fact: Fact | None
    reason: str = ""


def crossing(fact: Fact, known: Known, released: bool = False) -> Crossing:
    """What may be told of this fact."""
    if released:
        return _cleared(fact, replace(fact, data=_plain(fact.data)), known)
    if fact.kind not in ANTI:
        if is_strangers(fact) or fact.scope in (Scope.SENDER, Scope.SESSION):
            return Crossing(None, "it belongs to one person or one conversation")
        if fact.provenance is Provenance.OWNER or HABIT in fact.tags:
            return Crossing(None, "it is the owner's own, and was not released")
    told = _told(fact, known)
    wrong = told if isinstance(told, str) else _tells(fact, told, known)
    found = Crossing(None, wrong) if wrong or isinstance(told, str) else _cleared(fact, told, known)
    if found.fact is not None and not _is_nobodys(fact, found.fact, known):
        found = Crossing(None, "it is told in words of somebody's own")
    return found if found.fact is not None or fact.kind not in ANTI else Crossing(bare(fact, known))


def bare(fact: Fact, known: Known) -> Fact:
    """Anti-knowledge with nothing left of its circumstances: which executor, and which error."""
    executor, error = _executor(fact.data.get("executor")), _error(fact.data.get("error"), known)
    domain = _domain(fact, known) or "something"
    text = f"{executor} fails with {error}." if executor else f"Something that was done with {domain} went badly."
    data = {"warning": text} | ({"executor": executor, "error": error} if executor else {})
    return replace(
        fact,
        text=text,
        domain=domain,
        subject=text,
        value="fails",
        data=data,
        tags=(),
        sources=(),
        sender="owner",
    )


def _tells(fact: Fact, told: Fact, known: Known) -> str:
    """Of whom or of what it would tell; empty if of nobody and nothing."""
    if needs_consent(replace(told, provenance=Provenance.SELF)) or is_strangers(fact):
        return "it speaks of people"
    return next(filter(None, (barrier_scan.names_file(text, known) for text in _said(told))), "")


def _is_nobodys(fact: Fact, told: Fact, known: Known) -> bool:
    """Whether the words are the house's own: it made the sentence, or there is no other word in it.

    What a language model learnt of somebody's life is in the words of that life.
    """
    formed = fact.scope in _NOBODYS or any(name in told.data for name in _FORMED)
    return formed or all(map(known.says_nothing, (told.text, told.subject, told.value)))


def _cleared(fact: Fact, told: Fact, known: Known) -> Crossing:
    """The last look at the words: what holds a secret, a place or a way to reach somebody does not cross."""
    texts = _said(told)
    wrong = next(filter(None, (barrier_scan.by_form(text, known) for text in texts)), "")
    wrong = wrong or poison.screen("\n".join(texts)).reason
    return Crossing(None, wrong) if wrong else Crossing(replace(told, id=fact.id, sources=(), sender="owner"))


def _said(fact: Fact) -> list[str]:
    return [fact.text, fact.subject, fact.value, fact.domain, *fact.tags, *strings(fact.data)]


# -- by kind


def _told(fact: Fact, known: Known) -> Fact | str:
    """The fact in words that may be told, or why there are none."""
    known = replace(known, common=None) if fact.scope in _NOBODYS else known
    domain = _domain(fact, known)
    if fact.domain and not domain and fact.kind not in ANTI:
        return "what it is about is private"
    ways: Mapping[Kind, Callable[[Fact, Known], Fact | str]] = {
        Kind.ANTI: _anti,
        Kind.WARNING: _warning,
        Kind.BASELINE: _baseline,
        Kind.PROCEDURAL: _procedure,
        Kind.HEURISTIC: _procedure,
        Kind.CAUSAL: _causal,
    }
    return ways.get(fact.kind, _free)(replace(fact, domain=domain), known)


def _anti(fact: Fact, known: Known) -> Fact | str:
    data, when = fact.data, fact.data.get("when")
    executor, error = _executor(data.get("executor")), _error(data.get("error"), known)
    if not executor and data.get("executor"):
        return bare(fact, known)  # it was made by a form, of words that are none of ours
    if not executor or not isinstance(when, Mapping):
        return _free(fact, known)
    form = when.get("canonical")
    kept: dict[str, Any] = {}
    if isinstance(form, str) and form and known.all_common(form):
        on, kept = f"requests of the form {quoted(form)}", {"canonical": form}
    elif names := _arguments(when.get("args"), known):
        on, kept = f"some {' and '.join(names)}", {"arguments": names}
    else:
        return bare(fact, known)
    text = f"{executor} fails with {error} on {on}{_often(data)}."
    return replace(
        fact,
        text=text,
        subject=f"{executor} {error}: {on}",
        data={"warning": text, "executor": executor, "error": error, "when": kept},
        tags=(),
    )


def _warning(fact: Fact, known: Known) -> Fact | str:
    """A bloodstain: conditions, decision, and what went wrong."""
    conditions, decision, wrong = (fact.data.get(name) for name in ("conditions", "decision", "wrong"))
    if not isinstance(conditions, Mapping) or not isinstance(decision, list) or not isinstance(wrong, str):
        return _free(fact, known)
    form = conditions.get("canonical")
    form = form if isinstance(form, str) and known.all_common(form) else ""
    steps = [name for name in map(_executor, decision) if name]
    how = wrong if wrong in _WRONG or _FAILED.fullmatch(wrong) else bloodstain.BADLY
    text = bloodstain.told(form, steps, how, fact.domain or "something")
    data = {"warning": text, "conditions": {"canonical": form, "domain": fact.domain}, "decision": steps, "wrong": how}
    subject = f"{bloodstain.TAG}: {form or fact.domain}: {' '.join(steps)}"
    return replace(fact, text=text, subject=subject, value=how, data=data, tags=())


def _baseline(fact: Fact, known: Known) -> Fact | str:
    metric, mean, spread = (fact.data.get(name) for name in ("metric", "mean", "stddev"))
    if not isinstance(metric, str) or not _is_number(mean) or not _is_number(spread):
        return "it is no baseline that can be told"
    if not known.all_common(metric.replace("_", " ")):
        return "what it measures is private"
    about, give = coarse(float(mean)), coarse(float(spread))
    text = f"{quoted(fact.domain)}: {metric} is usually about {figure(about)}, give or take {figure(give)}."
    data = {"metric": metric, "mean": about, "stddev": give, "count": _count(fact.data.get("count"))}
    return replace(fact, text=text, subject=f"{fact.domain}: {metric}", value=figure(about), data=data, tags=())


def _procedure(fact: Fact, known: Known) -> Fact | str:
    when, prefer, instead = (fact.data.get(name) for name in ("when", "prefer", "instead_of"))
    if not isinstance(when, Mapping) or not isinstance(prefer, Mapping):
        return _free(fact, known)
    form, executor = when.get("canonical"), _executor(prefer.get("executor"))
    if not isinstance(form, str) or not executor or not known.all_common(form):
        return "it is about requests in the owner's own words"
    other = _executor(instead.get("executor")) if isinstance(instead, Mapping) else ""
    names = _arguments(prefer.get("args"), known)
    text = f"For requests of the form {quoted(form)}: {executor}"
    text += f", not {other}" if other and other != executor else ""
    text += f"; find out once what {' and '.join(names)} should be, and keep to it." if names else "."
    data: dict[str, Any] = {
        "strategy": executor,
        "observation": text,
        "when": {"canonical": form},
        "prefer": {"executor": executor, "args": {}},
        "instead_of": {"executor": other, "args": {}} if other and other != executor else {},
        "arguments": names,
    }
    subject = " ".join([f"{form}:", executor if names else "which executor", *names])
    return replace(fact, text=text, subject=subject, value="" if names else executor, data=data, tags=())


def _causal(fact: Fact, known: Known) -> Fact | str:
    cause, effect = fact.data.get("cause"), fact.data.get("effect")
    if not isinstance(cause, str) or not isinstance(effect, str):
        return "it names no cause and no effect"
    if not (_may_quote(cause, known) and _may_quote(effect, known)):
        return "its cause or its effect is private"
    lag, lift = (fact.data.get(name) for name in ("lag", "lift"))
    later = f", about {figure(coarse(float(lag)))} s later" if _is_number(lag) else ""
    text = f"After {cause} follows {effect}{later}."
    numbers = {name: coarse(float(each)) for name, each in (("lag", lag), ("lift", lift)) if _is_number(each)}
    data = {"cause": cause, "effect": effect, "count": _count(fact.data.get("count")), **numbers}
    return replace(fact, text=text, subject=f"{cause} -> {effect}", data=data, tags=())


def _free(fact: Fact, known: Known) -> Fact | str:
    """Words that nobody here made from a form: insights, warnings, links that were written down."""
    text, subject, value = (_blurred(each, known) for each in (fact.text, fact.subject, fact.value))
    if SOMETHING in (text + subject) and fact.kind not in ANTI:
        return "it quotes what was said here"
    data = {name: each for name, each in _plain(fact.data).items() if _executor(each) or known.all_common(each)}
    data |= {"warning": text} if fact.kind in ANTI else {}
    return replace(fact, text=text[:_TEXT], subject=subject[:_TEXT], value=value[:_TEXT], data=data, tags=())


# -- small things


def coarse(number: float) -> float:
    """A number to one digit: enough to expect something by, too little to copy it. 27 is about 30."""
    if number == 0 or not abs(number) < _LARGEST:
        return 0.0
    digits = -math.floor(math.log10(abs(number)))
    return float(round(number, digits))


def _blurred(text: str, known: Known) -> str:
    """Without exact numbers, and without what was quoted from somebody."""
    plain = _QUOTE.sub(lambda found: found[0] if known.all_common(found[1]) else SOMETHING, text)
    return _EXACT.sub(_about, _DAY.sub("some day", plain))


def _about(found: re.Match[str]) -> str:
    before, number, unit = found["before"] or "", found["number"], found["unit"]
    exact = _amount(number)
    if exact is None or (not before and number.isdigit() and len(number) < _LONG):
        return found[0]
    rounded = f"{coarse(exact):.0f}" if 1 <= abs(exact) < _LEGIBLE else figure(coarse(exact))
    return found[0] if rounded == number else f"{before}about {rounded}{unit}"


def _amount(number: str) -> float | None:
    """What somebody wrote, with the signs of either language; nothing for what is no one number, such as a version."""
    found = _ENGLISH.fullmatch(number.lstrip(_SIGNS)) or _ITALIAN.fullmatch(number.lstrip(_SIGNS))
    if found is None:
        return None
    amount = float(f"{re.sub('[.,]', '', found[1])}.{found[2] or 0}")
    return -amount if number[0] in _SIGNS[1:] else amount


def _may_quote(text: str, known: Known) -> bool:
    return all(known.all_common(each) for each in _QUOTE.findall(text))


def _arguments(args: Any, known: Known) -> list[str]:
    """The names of arguments, without what they were. An executor made here may have some in words of its owner's."""
    names = [str(name) for name in args] if isinstance(args, Mapping) else []
    fit = (name for name in names if re.fullmatch(r"[a-z][a-z0-9_]*", name) and len(name) <= _NAMES)
    return sorted(filter(known.all_common, fit))[:8]


def _often(data: Mapping[str, Any]) -> str:
    count, of = _count(data.get("count")), _count(data.get("of"))
    return f" ({count} of {of} times)" if 0 < count <= of else ""


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Of what the owner released, too, exact parameters stay behind."""
    return {name: each for name in _KEPT if isinstance(each := data.get(name), str)}


def _executor(value: Any) -> str:
    """A name that an executor can have: other words of that shape could be anybody's name."""
    return value if isinstance(value, str) and vocabulary.is_known(value) else ""


def _error(value: Any, known: Known) -> str:
    return value if isinstance(value, str) and _ERROR.fullmatch(value) and known.all_common(value) else "failed"


def _domain(fact: Fact, known: Known) -> str:
    return fact.domain if known.all_common(fact.domain.replace("_", " ")) else ""


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 1 << 53 else 0


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST
