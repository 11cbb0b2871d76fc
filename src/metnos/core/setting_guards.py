"""Which settings guard the owner, by name: doors, ways out, limits, keys.

Rules: a setting that lets programs be run, people come in, or requests and memories leave is changed at a terminal. One
that limits what happens in the owner's name is a limit. A script and an environment variable set neither, because a
script starts programs and chooses their variables; each of both may set what `_HARMLESS` names.
"""

LEVEL = "policy.autonomy"

# Programs that are run, doors and their names, ways out of the home, and places that are written to.
_AT_TERMINAL = ("sandbox.bwrap", "web.", "mcp.", "telegram.", "otel.", "backup.folder", "embed.folder", "memory.engine",
                "life.webhook")  # fmt: skip
# Quotas, budgets, what can be taken back and looked up later, and by whom it is done.
_LIMITS = (
    "policy.", "executors.", "selection.", "sandbox.", "synt.", "disk.", "night.", "audit.", "store.", "memory.keep",
    "memory.think", "turn.steps", "turn.prompt_s", "fastpath.wrong_share", "fastpath.check_every", "models.retries",
    "models.turn_",
)  # fmt: skip
_PRICES = (".price_in", ".price_out")  # a price of nothing would make every budget of money endless
_LIFE = "life."  # what an agent lives on, and where its money is
_KEYS = (".key", ".token", ".rpc_key")
_LEADS_OUT = (".url", ".provider")
_MODEL = "models."
_HARMLESS = ("disk.", "store.")  # how full a disk may get, how long a write waits
_HARMLESS_FOR_A_START = ("web.enabled", "web.port")  # for containers, and for several daemons of one account


def is_key(name: str) -> bool:
    """Whether a setting says where a key is kept."""
    return name.endswith(_KEYS)


def at_terminal_only(name: str) -> bool:
    """Whether no page and no phone may change a setting."""
    return name.startswith(_AT_TERMINAL) or is_key(name)


def is_limit(name: str) -> bool:
    """Whether a setting protects the owner from what happens in their name."""
    return name.startswith(_LIMITS) or name.endswith(_PRICES)


def needs_person(name: str) -> bool:
    """Whether a script may not change a setting, whatever the value. Does not judge addresses (`leads_out`)."""
    guarded = at_terminal_only(name) or is_limit(name) or name.startswith(_LIFE)
    return guarded and not name.startswith(_HARMLESS)


def leads_out(name: str) -> bool:
    """Whether a setting names whom requests and memories are sent to; some values are at home."""
    return name.endswith(_LEADS_OUT)


def names_model(name: str) -> bool:
    """Whether a setting says which of a server's models is asked; with a key, another one is another bill."""
    return name.startswith(_MODEL) and name.endswith(".name")


def has_variable(name: str) -> bool:
    """Whether an environment variable may set it. The level is among them, but only to be lowered."""
    return name == LEVEL or name.startswith(_HARMLESS_FOR_A_START) or not (needs_person(name) or leads_out(name))
