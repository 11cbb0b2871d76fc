"""Tables of cases in one test: thousands of small ones would take longer to be counted than to be tried."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Test = Callable[..., None]


def try_each(names: str | Sequence[str], cases: Iterable[Any], *, ids: object = None) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, in one test: every case is tried, and all that fail are told together.

    For tests that leave everything as it was: what they take of fixtures is one for all cases. A case has no marks.
    """
    named = [each.strip() for each in names.split(",")] if isinstance(names, str) else list(names)
    table = list(cases)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def tried(*self: Any, **fixtures: Any) -> None:
            failed = []
            for case in table:
                values = case.values if hasattr(case, "marks") else (case if len(named) > 1 else (case,))
                try:
                    test(*self, **fixtures, **dict(zip(named, values, strict=True)))
                except Exception as error:
                    error.add_note(f"case: {', '.join(map(repr, values))}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(table)} cases", failed)

        own = [name for name in inspect.signature(test).parameters if name not in named]
        tried.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # pytest asks for these as fixtures
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in own]
        )
        return tried

    return decorate
