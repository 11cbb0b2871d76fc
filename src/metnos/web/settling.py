"""Settings, sorted and told for somebody who sees them for the first time.

Rules: pure. Groups that matter to everybody come first and are open; the rest is folded away. A section that is not
known here is shown at the end under its own name, so that no setting is ever without a place.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.web import settling_words, words
from metnos.web.catalog import listed

Facts = Mapping[str, Any]

_GROUPS = (  # beginnings of names, title, what it is about, whether it is open; the first that fits holds
    (("policy.",), "What may happen without asking", "How much Metnos does by itself before it asks you.", True),
    (("turn.",), "Requests", "How a request is planned and shown.", True),
    (("memory.admission.",), "What is worth remembering", "How things that speak for keeping something weigh.", False),
    (("memory.",), "Memory", "What is kept, for how long, and whether it is used.", True),
    (("night.", "backup."), "Night and backups", "When it works by itself, and what it saves.", True),
    (("fastpath.",), "Short cuts", "Requests that it has learnt to answer without planning.", True),
    (("synt.",), "New executors", "What making a new program may cost.", True),
    (("executors.",), "Limits for executors", "How much one of them may use.", False),
    (("selection.", "mnestome."), "Growing and fading", "What is hidden or let go when nobody needs it.", False),
    (("models.", "embed.", "context."), "Language models, in general", "Limits that hold for all of them.", False),
    (("web.",), "This page", "Where it can be reached.", False),
    (("telegram.",), "Telegram", "Whether it listens to your bot.", False),
    (("mcp.",), "Other agents (MCP)", "What programs may do that use Metnos as their tool.", False),
    (("store.", "audit.", "disk.", "sandbox."), "The machine", "Databases, the audit, the disk, the sandbox.", False),
    (("log.", "otel."), "Logs", "What is written down for whoever looks after this machine.", False),
)
_ELSE = "Other"
_UNITS = {
    "_per_s": "a second",
    "_s": "seconds",
    "_mb": "MB",
    "_days": "days",
    "_hours": "hours",
    "_usd": "dollars",
    "_tokens": "tokens",
}
_KINDS = {"choice": "choice", "yes or no": "switch", "whole number": "whole", "number": "number", "list": "list"}
_SOURCES = {
    "file": ("changed by you", "accent"),
    "environment": ("set by the environment", "warn"),
}
_WARNINGS = {  # a value that is worth a question, and the question
    "policy.autonomy": ("full", "With full, your files are changed without asking first. What cannot be undone is"
                        " still asked twice. Is that what you want?"),
    "fastpath.use": ("off", "Without short cuts nothing new is learnt about repeated requests. Switch them off?"),
    "night.backup": ("false", "Without nightly backups, what is lost is lost. Switch them off?"),
}  # fmt: skip
_OF_MODEL = {
    "provider": "Kind of server",
    "url": "Address",
    "name": "Model",
    "key": "Where its key is",
    "timeout_s": "Patience with an answer",
    "silence_s": "Patience with a pause",
    "context": "Tokens that it can see",
    "threads": "Threads of a local model",
    "price_in": "Price of reading",
    "price_out": "Price of writing",
}
_CHOICES = {
    "policy.autonomy": {
        "read_only": "only look: nothing is changed",
        "supervised": "ask first: changes need your yes",
        "full": "do: only what cannot be undone is asked",
    },
    "turn.planner": {"auto": "rules first, else a model", "router": "rules only", "model": "a model only"},
    "memory.think": {"auto": "only one at home"},
    "fastpath.use": {"shadow": "learn, but never answer"},
}  # fmt: skip
TIERS = {
    "main": ("Main", "Plans what the rules alone cannot. The others fall back on it."),
    "fast": ("Fast", "For short questions. Without one of its own, main answers them."),
    "wise": ("Wise", "For the hard ones, such as writing a new program. Without one of its own, main does."),
}
FIRST = ("provider", "url", "name", "key")  # of a model: what one has to say; the rest is limits


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as a field of a form."""

    name: str
    label: str
    unit: str
    description: str
    kind: str  # choice, switch, whole, number, list or text
    value: str
    default: str
    choices: tuple[str, ...]
    source: str
    tone: str
    changed: bool
    bounds: str
    locked: bool  # the environment sets it, and wins
    terminal: bool  # it is changed in a terminal only
    secret: bool
    warn_at: str
    warning: str

    def word(self, value: str) -> str:
        """A value in words, where it is a word of ours."""
        if self.kind == "switch":
            return {"true": "yes", "false": "no"}.get(value, value)
        return _CHOICES.get(self.name, {}).get(value, value.replace("_", " ") if self.kind == "choice" else value)

    @property
    def id(self) -> str:
        return "s-" + self.name.replace(".", "-")

    @property
    def said(self) -> str:
        """What a search looks at."""
        return f"{self.name} {self.label} {self.description}".casefold().replace("_", " ")


@dataclass(frozen=True, slots=True)
class Group:
    """Settings that belong together."""

    title: str
    about: str
    open: bool
    settings: tuple[Setting, ...]


def groups(given: Iterable[Facts]) -> list[Group]:
    """Every setting but those of one model, which have a page of their own."""
    known = [setting(each) for each in given]
    rest = [each for each in known if not is_model(each.name)]
    found = []
    for sections, title, about, is_open in _GROUPS:
        mine = tuple(each for each in rest if each.name.startswith(sections))
        rest = [each for each in rest if not each.name.startswith(sections)]
        found.append(Group(title, about, is_open, mine))
    found.append(Group(_ELSE, "", False, tuple(rest)))
    found.sort(key=lambda group: not group.open)
    return [group for group in found if group.settings]


def of_model(given: Iterable[Facts], tier: str) -> list[Setting]:
    """The settings of one model, those that one has to say first."""
    mine = [setting(each) for each in given if str(each.get("name", "")).startswith(f"models.{tier}.")]
    order = {name: place for place, name in enumerate(FIRST)}
    return sorted(mine, key=lambda each: order.get(each.name.rsplit(".", 1)[-1], len(order)))


def is_model(name: str) -> bool:
    parts = name.split(".")
    return len(parts) > 2 and parts[0] == "models" and parts[1] in TIERS


def setting(each: Facts) -> Setting:
    """One setting of the API's."""
    name, source = str(each.get("name", "")), str(each.get("source") or "")
    kind = _KINDS.get(str(each.get("type")), "text")
    word, tone = _SOURCES.get(source, ("", ""))
    warn_at, warning = _WARNINGS.get(name, ("", ""))
    return Setting(
        name=name,
        label=_label(name),
        unit=next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), ""),
        description=re.sub(r"(?<!\w)\*(\w+)\*(?!\w)", r"\1", str(each.get("description") or "")).replace("`", ""),
        kind=kind,
        value=_text(each.get("value"), kind),
        default=_text(each.get("default"), kind),
        choices=tuple(map(str, listed(each.get("choices")))),
        source=word,
        tone=tone,
        changed=source == "file",
        bounds=re.sub(r"\.0\b", "", str(each.get("bounds") or "")),
        locked=source == "environment",
        terminal=bool(each.get("terminal")),
        secret=bool(each.get("secret")),
        warn_at=warn_at,
        warning=warning,
    )


def _text(value: Any, kind: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if kind == "list":
        return ", ".join(map(str, listed(value)))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return words.plain(value)


def _label(name: str) -> str:
    """What a setting is called."""
    leaf = name.rsplit(".", 1)[-1]
    known = _OF_MODEL.get(leaf) if is_model(name) else settling_words.LABELS.get(name)
    return known or " ".join(name.split(".")[1:] or [name]).replace("_", " ").capitalize()
