"""What may go over the line and come back: text that is text, numbers that are numbers.

Names of files need not be text, and what a model or an executor said may hold anything. Rules: whatever cannot be sent
is shown as an escape and never breaks an answer; what comes in with a half of a character or a NUL in it is refused
before anything looks at it.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

_DEEPEST = 64
_LARGEST = 1 << 63
_NO_NUL = r"^[^\x00]*$"


def text(value: object) -> str:
    """Any text, as one that can be sent."""
    return str(value).encode("utf-8", "backslashreplace").decode()


def plain(value: Any) -> Any:
    """Any data, as what can be sent."""
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {text(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return text(value)


def sound(value: Any, deep: int = 0) -> Any:
    """Refuse data that nothing here could keep."""
    if deep > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, str):
        _whole(value)
    elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        raise ValueError("a number is too large")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is none")
    elif isinstance(value, dict):
        for name, each in value.items():
            _whole(name)
            sound(each, deep + 1)
    elif isinstance(value, list):
        for each in value:
            sound(each, deep + 1)
    return value


def _whole(value: str) -> None:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError("a text has half a character in it") from error
    if "\0" in value:
        raise ValueError("a text has a NUL in it")


# Out: text from anywhere. In: a short text, a long one, and data of any shape.
Said = Annotated[str, BeforeValidator(text)]
Told = Annotated[Any, BeforeValidator(plain)]
Short = Annotated[str, Field(max_length=1000, pattern=_NO_NUL)]
Long = Annotated[str, Field(max_length=400_000, pattern=_NO_NUL)]
Given = Annotated[dict[str, Any], AfterValidator(sound)]
