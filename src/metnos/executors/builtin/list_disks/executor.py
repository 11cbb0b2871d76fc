"""Lists the machine's disks with their space."""

UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")


def run(args, ctx):
    disks = [entry(disk) for disk in ctx.system("disks")]
    if "path" in args:
        disks = holding(disks, args["path"])
    wanted = [disk for disk in disks if disk["percent"] >= args["at_least"]]
    wanted.sort(key=lambda disk: (-disk["percent"], disk["mount"]))
    return {"entries": wanted[: ctx.limit], "total": len(wanted)}


def entry(disk):
    # Some space is kept back for the system; what counts for the owner is used against usable.
    usable = disk["used"] + disk["free"]
    percent = round(100 * disk["used"] / usable, 1) if usable else 100.0
    says = f"{disk['mount']}: {size(disk['free'])} free of {size(disk['total'])}, {percent}% used"
    return {**disk, "percent": percent, "says": says}


def holding(disks, path):
    """The disk that is mounted nearest above a path."""
    above = [disk for disk in disks if f"{path.rstrip('/')}/".startswith(f"{disk['mount'].rstrip('/')}/")]
    return sorted(above, key=lambda disk: len(disk["mount"]))[-1:]


def size(number):
    step = 0
    while number >= 1000 and step < len(UNITS) - 1:
        number, step = number / 1000, step + 1
    return f"{number:.1f} {UNITS[step]}" if step else f"{number} {UNITS[step]}"
