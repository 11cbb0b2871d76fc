"""The money of a whole life: what was spent on language models, and what may be. The one writer of ``spendings``.

Rules: the most that a call can cost is taken aside before it is begun, in the transaction that looks whether it is
there, so that processes at the same time cannot overdraw together; what it really cost takes its place afterwards. A
process that dies between the two leaves the most standing. The reserve can be drawn on by whoever says *death*, and by
nobody else. What cannot be written down is not spent. Without a balance nothing is refused, and all of it is counted.
Does not see what a model cost that is asked past this (`Models.tier`), nor money that the owner spends elsewhere.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from metnos.core.clock import Clock, to_text
from metnos.core.errors import ModelError, StoreError
from metnos.models.budget import Use, left_of, reserve_of
from metnos.store.db import Database

_SPENT = "SELECT coalesce(sum(usd), 0.0) FROM spendings"


@dataclass(frozen=True, slots=True)
class Account:
    """One agent's money. ``balance`` is all that it was ever given; zero: no bound. Threads may share it."""

    open_db: Callable[[], Database]  # opened when money is first asked for
    balance: float
    clock: Clock

    @property
    def reserve(self) -> float:
        return reserve_of(self.balance)

    def spent(self) -> float:
        """All of it, what is just being spent at its worst."""
        row = self.open_db().first(_SPENT)
        return float(row[0]) if row else 0.0

    def left(self, use: Use = "life") -> float | None:
        """What may still be spent; nothing is said where there is no bound."""
        return left_of(self.balance, self.spent(), use) if self.balance > 0 else None

    def fund(self, use: Use) -> "Purpose":
        return Purpose(self, use)


@dataclass(frozen=True, slots=True)
class Purpose:
    """An account for one use of it: a `metnos.models.budget.Fund`."""

    account: Account
    use: Use

    def hold(self, usd: float) -> int:
        """Take money aside for one call. Raises `ModelError` if it is not there or cannot be counted."""
        account = self.account
        try:
            with account.open_db().write() as tx:
                row = tx.first(_SPENT)
                left = left_of(account.balance, float(row[0]) if row else 0.0, self.use)
                if account.balance > 0 and usd > left:
                    raise _too_little(usd, left, self.use, account.reserve)
                tx.execute(
                    "INSERT INTO spendings (ts, death, usd, settled) VALUES (?, ?, ?, 0)",
                    (to_text(account.clock.now()), int(self.use == "death"), usd),
                )
                made = tx.first("SELECT last_insert_rowid()")
        except StoreError as error:
            raise ModelError(
                f"what asking the language model costs cannot be written down: {error.what}",
                kind="budget",
                fix=error.fix,
            ) from error
        return int(made[0]) if made else 0

    def settle(self, number: int, usd: float) -> None:
        """What it really cost. If that cannot be written, the most that it could cost stands, which is safe."""
        with contextlib.suppress(StoreError), self.account.open_db().write() as tx:
            tx.execute("UPDATE spendings SET usd = ?, settled = 1 WHERE id = ? AND settled = 0", (usd, number))


def _too_little(usd: float, left: float, use: Use, reserve: float) -> ModelError:
    kept = f"; ${reserve:.2f} more are kept for its end and for nothing else" if use == "life" else ""
    return ModelError(
        f"asking the language model could cost ${usd:.4f}, and this agent has ${left:.4f} left to spend{kept}",
        kind="budget",
        fix="Give it more: metnos config set life.balance_usd DOLLARS. What it has spent: metnos life status",
    )
