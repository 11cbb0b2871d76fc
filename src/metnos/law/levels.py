"""The table: for each level of autonomy and each kind of use, what happens. Data, and nothing but data decides here.

Rules: read-only refuses whatever changes something or leaves the home; supervised asks for it, but for the notes and
reminders that Metnos keeps for the owner; full asks only where a Law does: what leaves the home (Law 0), what cannot be
taken back (Law 1, twice), and programs and MCP servers, of which nobody can say what they do. Hidden names are read
only after a question and never changed, unless the owner's own words name them; that, and a change of what something
runs by itself, is *high risk*: asked at every level, whatever was granted. A use that is in no row is refused.
A path counts under every name that a link of a home gives it (`uses_of`, the one answer for policy, grants and broker).
``docs/policy.md`` shows this table, and a test compares the two.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from metnos.law import aliases
from metnos.law.capability import Capability
from metnos.law.guarded import is_hidden, what_runs
from metnos.law.need import CARRIED, HIDDEN, NAMED, OPEN, OWN, PATHS, RUNS, STARTED, Need
from metnos.law.principal import Autonomy


class Verdict(StrEnum):
    """What the policy says, from best to worst."""

    ALLOW = "allow"
    ASK = "ask"
    ASK_TWICE = "ask_twice"
    REFUSE = "refuse"

    @property
    def words(self) -> str:
        return self.replace("_", " ")

    @property
    def yeses(self) -> int:
        """How often the owner has to say yes."""
        return {Verdict.ASK: 1, Verdict.ASK_TWICE: 2}.get(self, 0)


class Use(StrEnum):
    """The kinds of use that the table tells apart."""

    READ = "fs.read"
    WRITE = "fs.write"
    NOTES = "fs.write, notes"
    HIDDEN_READING = "fs.read, hidden"
    HIDDEN_WRITING = "fs.write, hidden"
    NAMED_WRITING = "fs.write, hidden, named"
    RUNNING = "fs.write, what runs"
    HOME_READING = "net.http, home, reading"
    HOME_SENDING = "net.http, home, sending"
    OUTSIDE_READING = "net.http, outside, reading"
    OUTSIDE_SENDING = "net.http, outside, sending"
    SHELL = "shell.exec"
    CALL = "executor.call"
    HOME_CHAT = "model.chat, home"
    OUTSIDE_CHAT = "model.chat, outside"
    SYSTEM = "system.read"
    MCP = "mcp.call"
    IRREVERSIBLE = "anything irreversible"


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of use in words, and its verdict at each level."""

    use: Use
    words: str
    read_only: Verdict
    supervised: Verdict
    full: Verdict

    def at(self, level: Autonomy) -> Verdict:
        return {
            Autonomy.READ_ONLY: self.read_only,
            Autonomy.SUPERVISED: self.supervised,
            Autonomy.FULL: self.full,
        }[level]


_ALLOW, _ASK, _TWICE, _REFUSE = Verdict.ALLOW, Verdict.ASK, Verdict.ASK_TWICE, Verdict.REFUSE

TABLE = (
    Row(Use.READ, "read files", _ALLOW, _ALLOW, _ALLOW),
    Row(Use.WRITE, "change files, with a way back", _REFUSE, _ASK, _ALLOW),
    Row(Use.NOTES, "keep your notes and reminders, with a way back", _REFUSE, _ALLOW, _ALLOW),
    Row(Use.HIDDEN_READING, "read what is hidden: names that begin with a dot", _ASK, _ASK, _ASK),
    Row(Use.HIDDEN_WRITING, "change what is hidden", _REFUSE, _REFUSE, _REFUSE),
    Row(Use.NAMED_WRITING, "change what is hidden and named in your own words (high risk)", _REFUSE, _ASK, _ASK),
    Row(Use.RUNNING, "change what something runs or obeys by itself (high risk)", _REFUSE, _ASK, _ASK),
    Row(Use.HOME_READING, "fetch something within the home network", _ALLOW, _ALLOW, _ALLOW),
    Row(Use.HOME_SENDING, "send something within the home network", _REFUSE, _ASK, _ALLOW),
    Row(Use.OUTSIDE_READING, "fetch something from outside the home", _REFUSE, _ASK, _ASK),
    Row(Use.OUTSIDE_SENDING, "send something outside the home", _REFUSE, _ASK, _ASK),
    Row(Use.SHELL, "start a program", _REFUSE, _ASK, _ASK),
    Row(Use.CALL, "call another executor, which passes this door by itself", _ALLOW, _ALLOW, _ALLOW),
    Row(Use.HOME_CHAT, "ask a language model at home", _ALLOW, _ALLOW, _ALLOW),
    Row(Use.OUTSIDE_CHAT, "ask a language model outside the home", _REFUSE, _ASK, _ASK),
    Row(Use.SYSTEM, "look at this machine", _ALLOW, _ALLOW, _ALLOW),
    Row(Use.MCP, "ask a tool of an MCP server", _REFUSE, _ASK, _ASK),
    Row(Use.IRREVERSIBLE, "anything that cannot be taken back", _REFUSE, _TWICE, _TWICE),
)

HIGH_RISK = frozenset({Use.NAMED_WRITING, Use.RUNNING})  # no grant speaks for these

_HIDDEN = frozenset({Use.HIDDEN_READING, Use.HIDDEN_WRITING, Use.NAMED_WRITING})
_ROWS = {row.use: row for row in TABLE}
_ORDER = tuple(Verdict)
_PLAIN = {
    Capability.SHELL_EXEC: Use.SHELL,
    Capability.EXECUTOR_CALL: Use.CALL,
    Capability.SYSTEM_READ: Use.SYSTEM,
    Capability.MCP_CALL: Use.MCP,
}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The strictest of them; of none, *allow*: who wants nothing may have it."""
    return max(verdicts, key=_ORDER.index, default=Verdict.ALLOW)


def uses_of(need: Need) -> tuple[Use, ...]:
    """Every row that a need belongs to: a path that links lead to counts under each of its names."""
    names = aliases.look().names_of(need.target) if need.capability in PATHS else ()
    return tuple(dict.fromkeys((use_of(need), *(use_of(replace(need, target=name)) for name in names))))


def use_of(need: Need) -> Use:
    """The row that a need belongs to by its letters and its verb."""
    if need.capability is Capability.NET_HTTP:
        if need.sends:
            return Use.OUTSIDE_SENDING if need.leaves else Use.HOME_SENDING
        return Use.OUTSIDE_READING if need.leaves else Use.HOME_READING
    if need.capability in PATHS:
        return _use_of_path(need)
    if need.capability is Capability.MODEL_CHAT:
        return Use.OUTSIDE_CHAT if need.outside else Use.HOME_CHAT
    return _PLAIN[need.capability]


def is_hidden_use(need: Need) -> bool:
    """Whether a need is for something hidden, which is seen only when it was asked for."""
    return not _HIDDEN.isdisjoint(uses_of(need))


def asks_anew(need: Need) -> bool:
    """Whether a need is asked about each time: no *always* is offered for it."""
    return not (_HIDDEN | HIGH_RISK).isdisjoint(uses_of(need))


def _use_of_path(need: Need) -> Use:
    reading = need.capability is Capability.FS_READ
    hidden = need.verb in (CARRIED, HIDDEN, NAMED) or (
        need.verb not in (OWN, OPEN, RUNS) and is_hidden(need.target, reading=reading)
    )
    if reading:
        return Use.HIDDEN_READING if hidden else Use.READ
    if need.verb == OWN:
        return Use.NOTES
    if hidden:
        return Use.NAMED_WRITING if need.verb == NAMED else Use.HIDDEN_WRITING
    runs = need.verb in (RUNS, STARTED) or what_runs(need.target) is not None
    return Use.RUNNING if runs else Use.WRITE


def row(use: Use) -> Row:
    return _ROWS[use]


def rows() -> list[tuple[str, str, str, str, str]]:
    """The table as text, for whoever shows it."""
    return [(each.use, each.words, each.read_only.words, each.supervised.words, each.full.words) for each in TABLE]
