"""Settings, sorted and told for somebody who sees them for the first time.

Rules: pure. Groups that matter to everybody come first and are open; the rest is folded away. A section that is not
known here is shown at the end under its own name, so that no setting is ever without a place.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.web import words
from metnos.web.catalog import listed

Facts = Mapping[str, Any]

_GROUPS = (  # sections, title, what it is about, whether it is open
    (("policy",), "What may happen without asking", "How much Metnos does by itself before it asks you.", True),
    (("turn",), "Requests", "How a request is planned and shown.", True),
    (("memory",), "Memory", "What is kept, for how long, and whether it is used.", True),
    (("night", "backup"), "Night and backups", "When it works by itself, and what it saves.", True),
    (("fastpath",), "Short cuts", "Requests that it has learnt to answer without planning.", True),
    (("synt",), "New executors", "What making a new program may cost.", True),
    (("web", "telegram"), "Ways in", "The page that you look at, and Telegram.", False),
    (("executors", "sandbox"), "Limits for executors", "How much one of them may use.", False),
    (("selection", "mnestome"), "Growing and fading", "What is hidden or let go when nobody needs it.", False),
    (("models", "embed", "context"), "Language models, in general", "Limits that hold for all of them.", False),
    (("store", "audit", "disk"), "Storage", "The databases, the audit and the disk.", False),
    (("log", "otel"), "Logs", "What is written down for whoever looks after this machine.", False),
)
_ELSE = "Other"
_UNITS = {"_s": "seconds", "_mb": "MB", "_days": "days", "_hours": "hours", "_usd": "dollars", "_tokens": "tokens"}
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
_LABELS = {  # where the name of a setting says too little
    "policy.autonomy": "How much by itself",
    "policy.approval_hours": "How long a question waits",
    "policy.undo_days": "How long things can be undone",
    "turn.planner": "Who plans",
    "turn.steps": "Most steps of a request",
    "turn.prompt_s": "Patience at the terminal",
    "turn.show": "Entries that an answer shows",
    "memory.keep_days": "How long conversations are kept whole",
    "memory.keep_messages": "Messages that are kept whole",
    "memory.engine": "Where episodes are kept",
    "memory.use": "Use what was learnt",
    "memory.think": "Let a language model think at night",
    "memory.window": "Messages that a language model sees",
    "night.at": "When the night begins",
    "night.backup": "Back up every night",
    "night.keep_backups": "Backups that are kept",
    "backup.folder": "Where backups go",
    "fastpath.use": "Use short cuts",
    "fastpath.wrong_share": "Most that may be wrong",
    "fastpath.check_every": "How often they are checked",
    "synt.tokens": "Most tokens for one",
    "synt.usd": "Most money for one",
    "synt.in_turns": "Offer to make what is missing",
    "mnestome.fading": "How fast connections fade",
    "context.surprisal": "Who shortens long texts",
    "context.scored": "Tokens that are weighed",
    "log.format": "Form of the log",
}
_CHOICES = {
    "policy.autonomy": {
        "read_only": "only look: nothing is changed",
        "supervised": "ask first: changes need your yes",
        "full": "do: only what cannot be undone is asked",
    },
    "turn.planner": {"auto": "rules if they are sure, else a model", "router": "rules only", "model": "a model only"},
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
        mine = tuple(each for each in rest if each.name.split(".")[0] in sections)
        found.append(Group(title, about, is_open, mine))
    placed = {section for sections, *_ in _GROUPS for section in sections}
    found.append(Group(_ELSE, "", False, tuple(each for each in rest if each.name.split(".")[0] not in placed)))
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
        description=str(each.get("description") or "").replace("`", ""),
        kind=kind,
        value=_text(each.get("value"), kind),
        default=_text(each.get("default"), kind),
        choices=tuple(map(str, listed(each.get("choices")))),
        source=word,
        tone=tone,
        changed=source == "file",
        bounds=str(each.get("bounds") or ""),
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
    """What a setting is called; the unit is said beside the field."""
    if name in _LABELS:
        return _LABELS[name]
    parts = name.split(".")[1:] or [name]
    own = parts[-1]
    for ending in ("_s", "_mb", "_usd"):
        own = own.removesuffix(ending)
    inner = [] if parts[0] in TIERS else parts[:-1]
    return " ".join([*inner, own]).replace("_", " ").capitalize()
