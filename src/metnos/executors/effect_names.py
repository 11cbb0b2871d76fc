"""Names that the hands use beside the owner's files and in the store, so that what a crash leaves can be found."""

import os

LOCK = ".lock"


def stage_name(key: str) -> str:
    """What is being prepared."""
    return f".metnos-{key}.tmp"


def gone_name(key: str) -> str:
    """What was copied elsewhere and is being removed."""
    return f".metnos-{key}.gone"


def live_name(action: str) -> str:
    """Locked for as long as the action goes on."""
    return f".live-{action}"


def same_disk(one: int, other: int) -> bool:
    """Whether two folders lie on one file system, so that a rename between them is possible."""
    return os.fstat(one).st_dev == os.fstat(other).st_dev
