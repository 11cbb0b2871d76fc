"""Describes this machine and how it does."""


def run(args, ctx):  # noqa: ARG001 -- there are none
    return {"entries": [described(host) for host in ctx.system("host")]}


def described(host):
    total, free = host["memory_total"], host["memory_free"]
    memory = round(100 * (total - free) / total, 1) if total else 0
    load = round(100 * host["load_1"] / max(host["cpus"], 1), 1)
    says = (
        f"{host['system']} with {host['cpus']} processors, up for {span(host['uptime_s'])}; "
        f"{total / 1e9:.1f} GB of memory, {memory}% used; load {load}%"
    )
    return {**host, "memory_percent": memory, "load_percent": load, "says": says}


def span(seconds):
    """The two largest units of a time."""
    parts = []
    for name, length in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        number, seconds = divmod(int(seconds), length)
        if number:
            parts.append(f"{number} {name}{'' if number == 1 else 's'}")
    return " and ".join(parts[:2]) or "0 seconds"
