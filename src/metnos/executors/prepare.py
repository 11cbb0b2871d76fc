"""From a request for a call to everything that can be known about it before it runs.

Rules: arguments are checked and their defaults filled in; paths become canonical and must lie within the manifest's
scopes; what the call needs is listed target by target, because that is what the policy decides and the owner approves;
the walls show exactly the paths that were named, and of those nothing that is forbidden or hidden. A path is judged by
its spelling, by every link on its way and by every link of a home that leads to it, too: a need says if one of them is
forbidden, hidden or run. Without arguments
that name paths, the scopes themselves are what is needed. A path for which there is no scope is only handed on, by an
executor that calls others: it becomes canonical, and is no need, because whoever gets it is asked about. A call that
knows anything but pages from beyond the home carries it: every request that it sends there can hold it. Reads the disk;
asks nobody and changes nothing.
"""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from metnos.core.canon import canonical_json, path_ways, sha256_hex
from metnos.core.errors import ExecutorFailed, PathError
from metnos.core.workspace import Workspace
from metnos.executors import scope
from metnos.executors.capabilities import Limits, Tool
from metnos.executors.effect_rules import HIDDEN_ALONG, MOST_CARRIED, RUNS_ALONG, Carried
from metnos.executors.exposure import Exposure
from metnos.executors.manifest import Manifest
from metnos.executors.private import PrivateView
from metnos.executors.scope import Folders, Scope
from metnos.law import aliases, levels
from metnos.law.capability import Capability
from metnos.law.forbidden import Access, TooMany, why_forbidden
from metnos.law.guarded import OPEN_NAMES, is_hidden, is_hidden_entry
from metnos.law.need import (
    AGENT,
    CARRIED,
    FORBIDDEN,
    HIDDEN,
    LOOKUP,
    NAMED,
    OPEN,
    OWN,
    RUNS,
    STARTED,
    Need,
    lookup_tells,
    sounds_like_home,
)  # fmt: skip
from metnos.law.self_running import NOTHING_KNOWN, SelfRunning
from metnos.sandbox import web_url
from metnos.sandbox.profile import Walls

Ways = tuple[Path, ...]  # every name that leads to a path; the last is the canonical one

_MOST_MASKS = 20_000  # each costs a quarter of a millisecond
_LEAST_COARSE = 2  # of a folder that is covered as a whole
_MOST_OPENED = 2_000  # entries of a folder that are shown one by one; of a larger one, none are
_NOTHING = Folders()


@dataclass(frozen=True, slots=True)
class Prepared:
    """One call, ready to be decided about."""

    args: Mapping[str, Any]
    digest: str
    needs: tuple[Need, ...]
    reads: tuple[Path, ...]
    writes: tuple[Path, ...]
    declared: tuple[Scope, ...]
    declared_writes: tuple[Scope, ...]
    carries: bool = False  # whether a request of it can hold what was read
    hidden: frozenset[Path] = frozenset()  # of reads and writes, those with a hidden name
    running: SelfRunning = NOTHING_KNOWN


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call is made: what ``~``, ``{workspace}`` and relative paths mean."""

    home: Path
    cwd: Path
    workspace: Workspace
    model_outside: bool = False  # whether what the language model is told leaves the home
    carries: bool = False  # whether the arguments can hold what was read before
    named: frozenset[Path] = frozenset()  # paths that the owner's own words name
    started: Folders = _NOTHING  # what MCP servers are started from

    @property
    def running(self) -> SelfRunning:
        return SelfRunning.beside(self.workspace.notes, self.started)


@aliases.held()
def prepare(manifest: Manifest, args: Mapping[str, Any], place: Place) -> Prepared:
    """Check a call and list what it needs. Raises `ExecutorFailed` when the call itself is wrong."""
    filled = manifest.validate_args(args)
    can = manifest.capabilities
    readable = scope.resolve_all(can.fs.read, place.home, place.workspace.root)
    writable = scope.resolve_all(can.fs.write, place.home, place.workspace.root)
    named: dict[str, list[Ways]] = {"read": [], "write": []}
    places: list[Ways] = []  # where named files may be put: what is one of many is more likely one of them
    strays: list[Need] = []
    for argument in manifest.paths:
        value = filled.get(argument.name)
        if value is None:
            continue
        texts = value if argument.many else [value]
        found = [_ways(text, place) for text in texts]
        paths = [ways[-1] for ways in found]
        filled[argument.name] = [str(path) for path in paths] if argument.many else str(paths[0])
        scopes = readable if argument.mode == "read" else writable
        if not scopes:
            # Handed on by its last name alone, so the others are judged here.
            needs_of = [_path_need(ways, argument.mode, place) for ways in found]
            strays += [need for need in needs_of if need.verb == FORBIDDEN]
            continue
        for path in paths:
            _refuse_uncovered(path, scopes, argument.name, manifest.name)
            if argument.mode == "read" and not _exists(path):
                raise ExecutorFailed(f"there is no {path}", kind="not_found", fix="Check the spelling of the path.")
        named[argument.mode] += found
        if argument.mode == "write" and not argument.many:
            places += found
    modes = {argument.mode for argument in manifest.paths}
    reads = (
        named["read"] if "read" in modes else [ways for ways in _scope_ways(can.fs.read, place) if _exists(ways[-1])]
    )
    writes = named["write"] if "write" in modes else list(_scope_ways(can.fs.write, place))
    places = places if "write" in modes else writes
    needs = [_path_need(ways, "read", place) for ways in reads]
    if filled.get("hidden") is True:
        needs += _named_inside(reads, place)
    # Only what can change nothing but the notes is trusted with them unasked.
    own = all(each.root.is_relative_to(place.workspace.notes) for each in writable)
    needs += [_path_need(ways, "write", place, own=own) for ways in writes]
    hidden = frozenset(Path(need.target) for need in needs if levels.is_hidden_use(need))
    needs += [*strays, *_landing_needs((*reads, *writes), places, place)]
    needs += _other_needs(manifest, place)
    hosts = hosts_of(manifest, filled)  # what is fetched at home is read, too
    carries = place.carries or bool(needs) or 0 < sum(map(sounds_like_home, hosts)) < len(hosts)
    needs += _web_needs(manifest, hosts, carries=carries)
    return Prepared(
        args=filled,
        digest=sha256_hex(canonical_json(filled)),
        needs=tuple(dict.fromkeys(needs)),
        reads=tuple(dict.fromkeys(ways[-1] for ways in reads)),
        writes=tuple(dict.fromkeys(ways[-1] for ways in writes)),
        declared=readable + writable,
        declared_writes=writable,
        carries=carries,
        hidden=hidden,
        running=place.running,
    )


def _named_inside(reads: Sequence[Ways], place: Place) -> Iterator[Need]:
    """What is hidden in these folders, and named by the owner."""
    for path in sorted(place.named):
        if any(ways[-1] in path.parents for ways in reads) and _exists(path):
            yield _path_need((path,), "read", place)


@aliases.held()
def build_walls(
    manifest: Manifest,
    prepared: Prepared,
    limits: Limits,
    exposure: Exposure,
    landings: frozenset[Path] = frozenset(),
) -> Walls:
    """The walls around a permitted call: looks through every folder that it will see for what must stay hidden.

    ``exposure`` notes what was looked at, so that it can be looked at again while the call runs. What comes new into
    one of the ``landings`` stays out of sight.
    """
    shown = [path for path in (*prepared.reads, *prepared.writes) if _exists(path)]
    visible = [path for path in shown if why_forbidden(path, Access.READ) is None]
    names = set(map(str, visible))
    outermost = [path for path in visible if not any(str(above) in names for above in path.parents)]
    bare: list[Path] = []
    for landing in sorted(landings):
        outermost = [part for path in outermost for part in _opened(path, landing, bare)]
    masks = list(_masks(outermost, exposure, prepared.hidden))
    if len(masks) > _MOST_MASKS:
        masks = _coarsen(masks, outermost, {*visible, *prepared.hidden})
    programs = manifest.capabilities.shell.exec
    return Walls(
        binds=tuple(map(str, outermost)),
        folders=tuple({*map(str, bare), *(str(_existing(path)) for path in prepared.writes if not _exists(path))}),
        masks=tuple(map(str, masks)),
        programs=programs.allow if programs else (),
        cpu_s=limits.cpu_s,
        ram_mb=limits.ram_mb,
        wall_s=limits.wall_s,
        output_bytes=limits.output_mb << 20,
    )


def carried_needs(carried: Iterable[Carried]) -> Iterator[Need]:
    """What it takes to let these go along; of very many, enough to be asked about."""
    for each in carried:
        yield from map(_hidden_along, each.hidden[:MOST_CARRIED])
        yield from running_needs(each.runs)


def running_needs(paths: Iterable[Path]) -> Iterator[Need]:
    """What it takes to change these, which something runs by itself; of very many, enough to be asked about."""
    yield from map(_runs_along, islice(paths, MOST_CARRIED))


def shown_needs(shown: Iterable[Sequence[str]]) -> Iterator[Need]:
    """The same of what a rehearsal has shown, all of it."""
    for operation, path, *_ in shown:
        if operation == HIDDEN_ALONG:
            yield _hidden_along(Path(path))
        elif operation == RUNS_ALONG:
            yield _runs_along(Path(path))


def _hidden_along(path: Path) -> Need:
    return Need(Capability.FS_READ, _standing_for(path, Access.READ), CARRIED)


def _runs_along(path: Path) -> Need:
    return Need(Capability.FS_WRITE, _standing_for(path, Access.WRITE), RUNS)


def _standing_for(path: Path, access: Access) -> str:
    """What a need names for something that goes along: its folder, if it is a link, or may only go along."""
    if path.is_symlink():
        path = path.parent
    while why_forbidden(path, access) is not None and path != path.parent:
        path = path.parent
    return str(path)


def hidden_landings(shown: Iterable[tuple[str, ...]]) -> frozenset[Path]:
    """The folders into which the owner has let whole folders go that hold something hidden."""
    return frozenset(Path(effect[2]) for effect in shown if effect[0] == HIDDEN_ALONG and len(effect) > 2)


def _opened(path: Path, landing: Path, bare: list[Path]) -> Iterator[Path]:
    """What to show instead of a folder, so that what is in it now is seen and what comes to ``landing`` is not."""
    if not landing.is_relative_to(path):
        yield path
        return
    bare.append(path)
    entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    for entry in entries if len(entries) <= _MOST_OPENED else ():
        inner = Path(entry.path)
        if is_hidden_entry(entry) or entry.is_symlink() or why_forbidden(inner, Access.READ) is not None:
            continue
        yield from _opened(inner, landing, bare)


def hosts_of(manifest: Manifest, args: Mapping[str, Any]) -> tuple[str, ...]:
    """The hosts that a call will speak to: those of its web addresses, else those that the manifest names."""
    http = manifest.capabilities.net.http
    if http is None:
        return ()
    found: dict[str, None] = {}
    for name, inner in manifest.args["properties"].items():
        if _is_address(inner):
            value = args.get(name)
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and (host := _host(text)) is not None:
                    found[host] = None
    if found or _takes_address(manifest):
        return tuple(found)
    named = tuple(host for host in http.hosts if not host.startswith("*"))
    if not named:
        raise ExecutorFailed(
            f"{manifest.name} does not say which hosts it speaks to",
            kind="not_permitted",
            fix='Name them in net.http.hosts, or give the argument that holds the address format = "uri".',
        )
    return named


def _is_address(schema: Mapping[str, Any]) -> bool:
    items = schema.get("items")
    return "uri" in (schema.get("format"), items.get("format") if isinstance(items, dict) else None)


def _takes_address(manifest: Manifest) -> bool:
    return any(_is_address(schema) for schema in manifest.args["properties"].values())


def request_needs(manifest: Manifest, host: str, methods: Iterable[str], *, carries: bool) -> Iterator[Need]:
    """What it takes to speak to a host, as far as its name says: to look it up would already tell somebody.

    A name of the home that the call, and not the manifest, has chosen is a need of its own if it carries: whether it
    is looked up at home alone is not known.
    """
    outside = not sounds_like_home(host)
    for method in methods:
        yield Need(Capability.NET_HTTP, host, method, outside=outside, carries=carries and outside)
    http = manifest.capabilities.net.http
    if carries and lookup_tells(host) and (http is None or host not in http.hosts):
        yield Need(Capability.NET_HTTP, host, LOOKUP, carries=True)


def _web_needs(manifest: Manifest, hosts: Iterable[str], *, carries: bool) -> Iterator[Need]:
    http = manifest.capabilities.net.http
    if http is None:
        return
    for host in hosts:
        if not scope.host_matches(http.hosts, host):
            raise ExecutorFailed(f"{manifest.name} may not speak to {host}", kind="not_permitted")
        yield from request_needs(manifest, host, http.methods, carries=carries)


def _other_needs(manifest: Manifest, place: Place) -> Iterator[Need]:
    can = manifest.capabilities
    if can.shell.exec:
        yield from (Need(Capability.SHELL_EXEC, program) for program in can.shell.exec.allow)
    yield from (Need(Capability.EXECUTOR_CALL, name) for name in can.executor.call)
    if can.model.chat:
        yield Need(Capability.MODEL_CHAT, "main", outside=place.model_outside)
    yield from (Need(Capability.SYSTEM_READ, what) for what in can.system.read)
    if can.mcp.call:
        yield from _tool_needs(can.mcp.call, place)


def _tool_needs(tool: Tool, place: Place) -> Iterator[Need]:
    """The tool itself, and everything that the owner declared it touches: the policy decides about all of it."""
    yield Need(Capability.MCP_CALL, tool.target)
    for texts, mode in ((tool.reads, "read"), (tool.changes, "write")):
        yield from (_path_need(ways, mode, place) for ways in _scope_ways(texts, place))
    for host in tool.hosts:
        outside = not sounds_like_home(host)
        yield Need(Capability.NET_HTTP, host, "POST" if tool.acts else "GET", outside=outside, carries=outside)


def _host(text: str) -> str | None:
    """The host of a web address. What is none needs nothing: whoever asks for it is told so."""
    try:
        return web_url.parse(text).host
    except ExecutorFailed:
        return None


def _ways(text: str, place: Place) -> Ways:
    """Every name that leads to where an argument does; the last is the canonical one."""
    try:
        return path_ways(text, cwd=place.cwd, home=place.home)
    except PathError as error:
        raise ExecutorFailed(error.what, kind="invalid", fix=error.fix) from error


def _scope_ways(texts: Sequence[str], place: Place) -> Iterator[Ways]:
    for text in texts:
        yield _ways(scope.spelled(text, place.home, place.workspace.root), place)


def _path_need(ways: Ways, mode: str, place: Place, *, own: bool = False) -> Need:
    """What it takes to read or change a path, with what the names that lead to it say of it."""
    path, writing = ways[-1], mode == "write"
    access, capability = (Access.WRITE, Capability.FS_WRITE) if writing else (Access.READ, Capability.FS_READ)
    if any(why_forbidden(way, access) is not None for way in ways[:-1]):
        return Need(capability, str(path), FORBIDDEN)
    known = aliases.look()
    names = known.all_names(ways)
    if writing and place.workspace.owns(path):
        return Need(capability, str(path), AGENT)
    # The workspace itself may well have a hidden name, and a home may; what is hidden in it is hidden.
    own_names = known.all_names([place.workspace.root, *([place.home] if is_hidden(str(place.home)) else [])])
    within = [_inside(way, own_names) for way in names]
    if any(is_hidden(part, reading=not writing) for part in within) or _is_hidden_folder(path):
        return Need(capability, str(path), NAMED if writing and path in place.named else HIDDEN)
    if writing and place.running.is_started(names):
        return Need(capability, str(path), STARTED)
    if writing and place.running.find(names) is not None:
        return Need(capability, str(path), RUNS)
    if writing and own:
        return Need(capability, str(path), OWN)
    return Need(capability, str(path), OPEN if any(map(path.is_relative_to, own_names)) else "")


def _is_hidden_folder(path: Path) -> bool:
    """Whether a folder has a name that only files have openly."""
    return path.name in OPEN_NAMES and path.is_dir()


def _inside(way: Path, folders: Sequence[Path]) -> str:
    """The part of a path that lies in the first of these folders that it lies in; all of it if it lies elsewhere."""
    return next((str(way.relative_to(folder)) for folder in folders if way.is_relative_to(folder)), str(way))


def _landing_needs(named: Sequence[Ways], places: Sequence[Ways], place: Place) -> Iterator[Need]:
    """Where the named files come to lie if they go to a named folder, where that is more than to change the folder."""
    running, known = place.running, aliases.look()
    names = dict.fromkeys(ways[-1].name for ways in named)
    for folder in (ways[-1] for ways in places if ways[-1].is_dir()):
        if running.find(known.all_names([folder])) is None:
            for landing in (folder / name for name in names if name):
                if running.find(known.all_names([landing])) is not None:
                    yield _path_need((landing,), "write", place)


def _refuse_uncovered(path: Path, scopes: tuple[Scope, ...], argument: str, name: str) -> None:
    if not scope.covers(scopes, path):
        raise ExecutorFailed(
            f"{name} may not touch {path} (argument {argument!r}): it lies outside what its manifest declares",
            kind="not_permitted",
            fix=f"metnos executor show {name}",
        )


def _masks(folders: list[Path], exposure: Exposure, asked: frozenset[Path]) -> Iterator[Path]:
    """What stays out of sight: whatever is forbidden, and what is hidden unless it was asked for."""
    private = PrivateView(asked)
    for folder in folders:
        try:
            yield from exposure.cover([folder], private.below)
        except TooMany as error:
            raise _too_much(folder) from error
    private.run()


def _coarsen(masks: Sequence[Path], roots: Sequence[Path], needed: Collection[Path]) -> list[Path]:
    """Few enough covers for all of these: where there are very many, a whole folder is left out instead.

    Of the folders that a call does not need it is the smallest that suffices, else the one with the most.
    """
    kept = {above for path in needed for above in (path, *path.parents)}
    left = set(masks)
    while (excess := len(left) - _MOST_MASKS) > 0:
        counts = Counter(above for path in left for above in path.parents if above not in kept)
        enough = [(count, str(folder)) for folder, count in counts.items() if count > excess]
        # None is worth it: all that is private lies side by side in what was named.
        if not enough and (not counts or max(counts.values()) < _LEAST_COARSE):
            raise _too_much(roots[0])
        chosen = Path(min(enough)[1]) if enough else max(counts, key=lambda folder: (counts[folder], str(folder)))
        left = {path for path in left if chosen not in path.parents} | {chosen}
    return sorted(left)


def _too_much(folder: Path) -> ExecutorFailed:
    what = f"there is too much below {folder} to keep what is private out of sight"
    return ExecutorFailed(what, kind="too_large", fix="Name a smaller folder.")


def _exists(path: Path) -> bool:
    """Whether it is there for us; below a folder that is closed to us, nothing is."""
    return os.path.exists(path)  # noqa: PTH110 -- `Path.exists` raises where this says no


def _existing(path: Path) -> Path:
    """The deepest folder above ``path`` that is there."""
    return next(parent for parent in path.parents if parent.is_dir())
