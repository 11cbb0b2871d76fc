"""The one composition root: wires the parts of a workspace together by hand.

Importing this does nothing and loads nothing: what is named here is loaded when it is first asked for, so that the
memory can be had without what acts.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metnos.app.examining import examine
    from metnos.app.house import SETTING_CHANGED, App
    from metnos.app.whole import backup, backup_target, found, open_audit, read_backup, restore, take_seat, verify_audit

__all__ = [
    "SETTING_CHANGED",
    "App",
    "backup",
    "backup_target",
    "examine",
    "found",
    "open_audit",
    "read_backup",
    "restore",
    "take_seat",
    "verify_audit",
]

_HOMES = {"SETTING_CHANGED": "house", "App": "house", "examine": "examining"}  # all others: whole


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"metnos.app.{_HOMES.get(name, 'whole')}"), name)
