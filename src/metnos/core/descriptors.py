"""Waiting for a file descriptor.

Rule: by `poll`, because `select` refuses descriptors above 1023, and a long-lived process comes to have them.
"""

import math
import select


def has_input(descriptor: int, timeout_s: float) -> bool:
    """Is there something to read, or its end, before the time is up?"""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(math.ceil(max(0.0, timeout_s) * 1000)))
