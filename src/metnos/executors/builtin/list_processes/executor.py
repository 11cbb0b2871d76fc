"""Lists running programs, by what they use."""

ORDERS = {
    "memory": lambda each: (-each["memory_mb"], each["pid"]),
    "cpu": lambda each: (-each["cpu_s"], each["pid"]),
    "name": lambda each: (each["name"].casefold(), each["pid"]),
    "oldest": lambda each: (each["started"], each["pid"]),
}


def run(args, ctx):
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    name = args.get("name", "").casefold()
    found = [
        each
        for each in ctx.system("processes")
        if name in each["name"].casefold() and args.get("user", each["user"]) == each["user"]
    ]
    newest = args["sort"] == "newest"
    found.sort(key=ORDERS["oldest" if newest else args["sort"]], reverse=newest)
    return {"entries": found[:limit], "total": len(found)}
