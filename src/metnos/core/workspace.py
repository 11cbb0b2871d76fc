"""Where things are in a workspace: names only, nothing is read or made here.

Every other module takes its paths from a `Workspace`, so this file is the map of the folder.
"""

from dataclasses import dataclass
from pathlib import Path

LONG_MEMORY = ("SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md", "TELOS.md", "PLAYBOOK.md")


@dataclass(frozen=True, slots=True)
class Workspace:
    """One agent's folder. ``root`` is absolute."""

    root: Path

    @property
    def soul(self) -> Path:
        """The constitution."""
        return self.root / "SOUL.md"

    @property
    def settings(self) -> Path:
        return self.root / "metnos.toml"

    @property
    def mcp_servers(self) -> Path:
        """The MCP servers whose tools became executors."""
        return self.root / "mcp.json"

    @property
    def executors(self) -> Path:
        return self.root / "executors"

    @property
    def memory(self) -> Path:
        return self.root / "memory"

    @property
    def medium_db(self) -> Path:
        """Conversations and the traces of turns."""
        return self.memory / "medium.db"

    @property
    def grimoire_db(self) -> Path:
        """Facts, causal links, affect, the immune memory."""
        return self.memory / "grimoire.db"

    @property
    def episodes(self) -> Path:
        """What happened, verbatim, with its vectors."""
        return self.memory / "episodes"

    @property
    def surprisal(self) -> Path:
        """How telling words are, as hashed counts; can be made anew."""
        return self.memory / "surprisal.bin"

    @property
    def night_db(self) -> Path:
        """What Metnos did by itself, and what it has to tell."""
        return self.memory / "night.db"

    @property
    def telegram_db(self) -> Path:
        """Which messages of the bot were taken up already."""
        return self.memory / "telegram.db"

    @property
    def synt_db(self) -> Path:
        """Proposals of new executors, and every version of those that lived."""
        return self.memory / "synt.db"

    @property
    def life_db(self) -> Path:
        """What was spent, how alive the agent is, what it leaves and whom it comes from."""
        return self.memory / "life.db"

    @property
    def history(self) -> Path:
        """What was typed in the chat, for the arrow keys."""
        return self.memory / "history"

    @property
    def run(self) -> Path:
        """What belongs to the running daemon: its lock and its socket."""
        return self.root / ".run"

    @property
    def mnestome(self) -> Path:
        return self.root / ".mnestome"

    @property
    def audit(self) -> Path:
        """The hash-chained log, one file a month."""
        return self.root / ".audit"

    @property
    def law(self) -> Path:
        """What the Laws' own code remembers."""
        return self.root / ".law"

    @property
    def law_db(self) -> Path:
        """The pinned constitution, the inbox and the grants."""
        return self.law / "law.db"

    @property
    def halt_file(self) -> Path:
        """Says that everything is halted, or that it is not; of a fixed length, so that stopping needs no room."""
        return self.law / "halt"

    @property
    def running_list(self) -> Path:
        """The processes that a panic has to end."""
        return self.law / "running"

    @property
    def latest_time(self) -> Path:
        """The latest time that was seen here."""
        return self.law / "time"

    @property
    def undo_db(self) -> Path:
        """What was changed, and how to take it back."""
        return self.law / "undo.db"

    @property
    def undo_store(self) -> Path:
        """The contents that were replaced or removed, until they are too old to be asked for."""
        return self.law / "undo"

    @property
    def mnest_db(self) -> Path:
        """The index of executors, and the mnestome."""
        return self.mnestome / "mnest.sqlite"

    @property
    def multi_tool_db(self) -> Path:
        """Fast paths of several executors."""
        return self.mnestome / "multi_tool_paths.sqlite"

    @property
    def events_db(self) -> Path:
        """What happened to mnests in past years."""
        return self.mnestome / "events_history.sqlite"

    @property
    def snapshots(self) -> Path:
        """The mnestome as it was, month by month."""
        return self.mnestome / "snapshots"

    @property
    def vectors(self) -> Path:
        """The meaning of what executors say of themselves; can be computed again."""
        return self.mnestome / "vectors.npz"

    @property
    def notes(self) -> Path:
        """The owner's notes and reminders, as the built-in executors keep them."""
        return self.root / "notes"

    @property
    def audit_db(self) -> Path:
        """The audit's head and length, apart from the log itself so that a lost tail shows."""
        return self.law / "audit.db"

    @property
    def keys(self) -> Path:
        return self.root / ".keys"

    @property
    def secret_key(self) -> Path:
        return self.keys / "agent.key"

    @property
    def public_key(self) -> Path:
        return self.keys / "agent.pub"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder that a whole workspace has."""
        return (self.executors, self.memory, self.notes, self.mnestome, self.audit, self.law, self.keys)

    def owns(self, path: Path) -> bool:
        """Whether this belongs to the agent itself: everything in the workspace but the notes."""
        return path.is_relative_to(self.root) and not path.is_relative_to(self.notes)

    def exists(self) -> bool:
        """Whether a workspace was ever made here: its settings or its constitution are there."""
        return self.settings.exists() or self.soul.exists()
