"""Which tables a file holds that several organs share."""

from metnos.store.migrations import Migration


def of_mnestome() -> tuple[Migration, ...]:
    """``.mnestome/mnest.sqlite``: the index of executors, the mnestome, the fast paths' log, and who is worth what."""
    from metnos.executors import schema as executors  # as in `App`: what acts is loaded when it is needed
    from metnos.fastpath import schema as fastpath
    from metnos.mnestome import schema as mnestome

    return (*executors.MIGRATIONS, *mnestome.MIGRATIONS, *fastpath.MIGRATIONS_L1, *executors.FITNESS)
