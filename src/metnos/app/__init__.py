"""The one composition root: wires the parts of a workspace together by hand. Importing this does nothing."""

from metnos.app.examine import examine
from metnos.app.house import SETTING_CHANGED, App
from metnos.app.whole import backup, backup_target, found, read_backup, restore, verify_audit

__all__ = [
    "SETTING_CHANGED",
    "App",
    "backup",
    "backup_target",
    "examine",
    "found",
    "read_backup",
    "restore",
    "verify_audit",
]
