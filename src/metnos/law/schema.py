"""The whole schema of law.db, in the order in which it grew. New steps go to the end; see `metnos.store.migrations`."""

from metnos.law import confirmation, constitution, grants, halt, inbox, law_store, own_pin, pairing

MIGRATIONS = (
    *constitution.MIGRATIONS,
    *grants.MIGRATIONS,
    *inbox.MIGRATIONS,
    *halt.MIGRATIONS,
    *pairing.MIGRATIONS,
    halt.FOR_GOOD,
    halt.RUNNING_LISTED,
    *confirmation.MIGRATIONS,
    *own_pin.MIGRATIONS,
    *law_store.MIGRATIONS,
)
