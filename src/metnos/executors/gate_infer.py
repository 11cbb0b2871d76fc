"""What a benign reading of some code would have to declare: for reports, and for measuring the gate on honest code.

Rules: a computed path counts as the owner's home; nothing is inferred that no one grants unasked (the system's own
trees, raw addresses, modules that nobody has looked at), and what no manifest can declare is not there to be inferred.
Does not recommend anything: a manifest is written, and its permissions are granted, by the owner.
"""

from metnos.executors.gate_code import Code
from metnos.executors.gate_needs import needs
from metnos.executors.gate_record import SOMEWHERE, Declared, Kind

_HOME = "~/**"


def infer(source: str) -> Declared:
    """The least that covers every inferable need; nothing at all for what cannot be read."""
    try:
        found = [need for need in needs(Code(source)) if need.inferable]
    except Exception:  # noqa: BLE001 -- a named border: what cannot be read needs nothing, and is refused by the gate
        return Declared()

    def of(kind: Kind, instead: str) -> tuple[str, ...]:
        values = {need.value for need in found if need.kind is kind}
        return tuple(sorted(instead if value == SOMEWHERE else value for value in values))

    return Declared(
        read=of(Kind.READ, _HOME),
        write=of(Kind.WRITE, _HOME),
        hosts=of(Kind.HOST, "*"),
        methods=of(Kind.METHOD, "GET"),
        programs=of(Kind.PROGRAM, "*"),
        calls=of(Kind.CALL, "*"),
        model=any(need.kind is Kind.MODEL for need in found),
        system=of(Kind.SYSTEM, "host"),
        libraries=of(Kind.LIBRARY, "*"),
    )
