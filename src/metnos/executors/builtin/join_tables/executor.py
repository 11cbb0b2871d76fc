"""Joins two tables on columns with equal values."""

MOST_TOGETHER = 1_000_000  # characters of the whole reply


def run(args, ctx):
    left_keys = [each["column"] for each in args["on"]]
    right_keys = [each.get("right") or each["column"] for each in args["on"]]
    left_names = columns_of(args["entries"], left_keys, "first", ctx)
    right_names = columns_of(args["right"], right_keys, "second", ctx)
    renamed = new_names(left_names, right_names, right_keys)
    partners = find_partners(args["entries"], args["right"], left_keys, right_keys)
    alone = [] if args["how"] != "outer" else lonely(args["right"], partners)
    total = sum(len(places) or args["how"] != "inner" for places in partners) + len(alone)
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries, room = [], MOST_TOGETHER
    for left, right in pairs(args, partners, alone):
        if len(entries) >= limit or room <= 0:
            break  # not counted one by one: two tables that repeat one key have endless pairs
        entry = joined(left, right, left_names, renamed, dict(zip(left_keys, right_keys, strict=True)))
        room -= sum(len(name) + len(str(value)) for name, value in entry.items())
        entries.append(entry)
    return {"entries": entries, "total": total}


def columns_of(rows, keys, which, ctx):
    """The columns of a table, in the order of their first appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    for key in keys if rows else ():
        if key not in names:
            ctx.fail("not_found", f"the {which} table has no column {key!r}; it has: {', '.join(names)[:500]}")
    return names


def new_names(left_names, right_names, right_keys):
    """What each column of the second table is called in the answer; its keys are the first table's."""
    made = {}
    for name in right_names:
        if name in right_keys:
            continue
        new = name
        while new in left_names or new in made.values():
            new += "_right"
        made[name] = new
    return made


def find_partners(rows, others, left_keys, right_keys):
    """For each row of the first table, the places of its partners in the second."""
    found = {}
    for place, row in enumerate(others):
        key = key_of(row, right_keys)
        if key is not None:
            found.setdefault(key, []).append(place)
    return [found.get(key_of(row, left_keys), ()) for row in rows]


def lonely(others, partners):
    """The rows of the second table that nobody in the first belongs to. Equal keys share one list of places."""
    used = {place for places in {id(each): each for each in partners}.values() for place in places}
    return [row for place, row in enumerate(others) if place not in used]


def pairs(args, partners, alone):
    """Every pair of rows that belong together; nothing (None) stands for a partner that is missing."""
    for left, places in zip(args["entries"], partners, strict=True):
        yield from ((left, args["right"][place]) for place in places)
        if not places and args["how"] != "inner":
            yield left, None
    yield from ((None, row) for row in alone)


def key_of(row, keys):
    """What is compared: 5, 5.0 and the text 5 are the same, a missing value is like no other."""
    values = [row.get(key) for key in keys]
    if any(value is None or (isinstance(value, str) and not value.strip()) for value in values):
        return None
    return tuple(text_of(value) for value in values)


def text_of(value):
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).strip().casefold()


def joined(left, right, left_names, renamed, keys):
    entry = {name: None if left is None else left.get(name) for name in left_names}
    if left is None:
        entry.update((name, right.get(other)) for name, other in keys.items())
    entry.update((new, None if right is None else right.get(name)) for name, new in renamed.items())
    return entry
