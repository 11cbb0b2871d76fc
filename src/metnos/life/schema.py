"""The schema of ``memory/life.db``.

A step that ran must never change or move (`metnos.store.migrations`): once this is released, new steps of any part are
named one by one at the very end, whichever file they are written in.
"""

from metnos.life import heartbeat_schema, lineage_schema, thanatopsis_schema, vitality_schema
from metnos.models import account_schema

MIGRATIONS = (
    *account_schema.MIGRATIONS,
    *vitality_schema.MIGRATIONS,
    *thanatopsis_schema.MIGRATIONS,
    *lineage_schema.MIGRATIONS,
    *heartbeat_schema.MIGRATIONS,
    vitality_schema.HAYFLICK,
)
