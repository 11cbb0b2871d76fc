"""The one exception tree.

::

    MetnosError                 anything Metnos itself reports; the faces print it and exit with 1
    ├── UsageError              the request itself is malformed; exit 2
    ├── SettingsError           metnos.toml or a METNOS_* variable is wrong
    ├── WorkspaceError          no workspace there, or not one that can be trusted
    ├── PathError               a path that has no canonical form
    ├── KeyFileError            a key file is missing, readable by others, or not a key
    ├── StoreError              SQLite could not do it
    │   ├── StoreBusy           another process holds the lock
    │   ├── StoreFull           the disk is full
    │   ├── StoreCorrupt        the file is damaged, or is no database
    │   └── StoreSchema         the file belongs to another version of Metnos
    ├── LawError                the constitution forbids it, or cannot be read
    │   ├── ConstitutionError   SOUL.md does not hold the four Laws
    │   ├── ForbiddenPath       a path that nothing may ever touch
    │   ├── AuditError          the act could not be recorded, so it must not happen
    │   ├── Refused             the policy says no
    │   ├── Waiting             the owner must say yes first; the question is in the inbox
    │   └── InboxError          no such question, or it is answered already
    ├── ExecutorError           an executor cannot be used
    │   ├── ManifestError       its folder does not follow the contract
    │   ├── NotTrusted          its signature does not hold, or its state forbids it
    │   ├── NoRoom              there are as many as there may be, or too many came today
    │   └── ExecutorFailed      it ran and did not succeed
    ├── UndoError               an action cannot be taken back
    ├── SandboxError            no sandbox can be had, or it does not hold
    ├── ModelError              a language model or an embedder did not do what was asked
    ├── TurnError               there is no such turn, or it cannot go on
    ├── DaemonError             the daemon is there already, is not there, or does not answer
    ├── BackupError             an archive is damaged, or cannot be made
    ├── ChainError              a chain cannot be read
    └── TestamentError          a testament is damaged, forged or poisoned, or cannot be made
        └── TestamentTooLarge   it holds more than anybody would read to the end

Rules: a message says what happened and what it means; ``fix`` says what to do about it. Messages never hold the
content of the owner's files. Anything that is not a ``MetnosError`` is a bug and is shown as one.
"""


class MetnosError(Exception):
    """What went wrong, in words for the owner, and what to do about it."""

    def __init__(self, what: str, *, fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.what}\n{self.fix}" if self.fix else self.what


class UsageError(MetnosError):
    """The request itself is malformed."""


class SettingsError(MetnosError):
    """metnos.toml or a METNOS_* variable is wrong."""


class WorkspaceError(MetnosError):
    """No workspace there, or not one that can be trusted."""


class PathError(MetnosError):
    """A path that has no canonical form."""


class KeyFileError(MetnosError):
    """A key file is missing, readable by others, or not a key."""


class StoreError(MetnosError):
    """SQLite could not do it."""


class StoreBusy(StoreError):
    """Another process holds the lock."""


class StoreFull(StoreError):
    """The disk is full."""


class StoreCorrupt(StoreError):
    """The file is damaged, or is no database."""


class StoreSchema(StoreError):
    """The file belongs to another version of Metnos."""


class LawError(MetnosError):
    """The constitution forbids it, or cannot be read."""


class ConstitutionError(LawError):
    """SOUL.md does not hold the four Laws."""


class ForbiddenPath(LawError):
    """A path that nothing may ever touch."""


class AuditError(LawError):
    """The act could not be recorded, so it must not happen."""


class Refused(LawError):
    """The policy says no."""


class Waiting(LawError):
    """The owner must say yes first; the question is in the inbox."""

    def __init__(self, what: str, *, item: str, fix: str = "") -> None:
        super().__init__(what, fix=fix)
        self.item = item


class InboxError(LawError):
    """No such question, or it is answered already."""


class ExecutorError(MetnosError):
    """An executor cannot be used."""


class ManifestError(ExecutorError):
    """Its folder does not follow the contract."""


class NotTrusted(ExecutorError):
    """Its signature does not hold, or its state forbids it."""


class NoRoom(ExecutorError):
    """There are as many executors as there may be, or too many came today."""


class ExecutorFailed(ExecutorError):
    """It ran and did not succeed; ``kind`` is one of the closed error classes."""

    def __init__(self, what: str, *, kind: str = "failed", fix: str = "") -> None:
        super().__init__(what, fix=fix)
        self.kind = kind


class UndoError(MetnosError):
    """An action cannot be taken back."""


class SandboxError(MetnosError):
    """No sandbox can be had, or it does not hold."""


class ModelError(MetnosError):
    """A language model or an embedder did not do what was asked; ``kind`` says in what way.

    Kinds: none, unreachable, timeout, broken, empty, rambling, refused, budget, key, missing, halted.
    """

    def __init__(self, what: str, *, kind: str, fix: str = "") -> None:
        super().__init__(what, fix=fix)
        self.kind = kind


class TurnError(MetnosError):
    """There is no such turn, or it cannot go on."""


class DaemonError(MetnosError):
    """The daemon is there already, is not there, or does not answer."""


class BackupError(MetnosError):
    """An archive is damaged, or cannot be made."""


class ChainError(MetnosError):
    """A chain cannot be read."""


class TestamentError(MetnosError):
    """A testament is damaged, forged or poisoned, or cannot be made."""

    __test__ = False  # pytest takes what begins with Test for a test


class TestamentTooLarge(TestamentError):
    """It holds more than anybody would read to the end."""
