"""A manifest in plain words, for whoever has to decide about it."""

from metnos.executors.capabilities import Tool
from metnos.executors.manifest import Manifest, Reversal
from metnos.executors.state import State

NOTHING = "do nothing but compute"
STATES = {
    State.DRAFT: "a draft",
    State.SEED: "on trial",
    State.ACTIVE: "active",
    State.DISABLED: "disabled",
    State.QUARANTINE: "in quarantine",
    State.ARCHIVED: "archived",
    State.REVOKED: "revoked, which is final",
}
_REVERSALS = {
    Reversal.NOTHING: "changes nothing",
    Reversal.MOVE_BACK: "moves things; undo moves them back",
    Reversal.REMOVE_CREATED: "makes new files; undo removes them",
    Reversal.RESTORE_CONTENT: "makes and changes files; undo brings the old content back",
    Reversal.RESTORE_TRASHED: "puts things into the trash; undo takes them out again",
    Reversal.IRREVERSIBLE: "cannot be undone; you are asked twice",
}


def describe(manifest: Manifest) -> list[tuple[str, object]]:
    """What it may do and what that means, line by line."""
    rows: list[tuple[str, object]] = [("may", line) for line in capabilities(manifest)]
    rows.append(("effect", effect(manifest)))
    quotas = manifest.quotas.model_dump(exclude_none=True)
    if quotas:
        rows.append(("quotas", ", ".join(f"{name} {value}" for name, value in quotas.items())))
    if manifest.libraries:
        rows.append(("libraries", ", ".join(manifest.libraries)))
    return rows


def effect(manifest: Manifest) -> str:
    """What a call leaves behind, and how that is taken back."""
    return _REVERSALS[manifest.reversal]


def capabilities(manifest: Manifest) -> list[str]:
    """Everything it may ever do, one sentence each."""
    can = manifest.capabilities
    named = {argument.mode for argument in manifest.paths}
    lines = []
    for mode, verb in (("read", "read"), ("write", "change")):
        scopes = getattr(can.fs, mode)
        if scopes:
            which = "what a call names, within " if mode in named else ""
            lines.append(f"{verb} {which}{', '.join(scopes)}")
    if can.net.http:
        lines.append(f"speak to {', '.join(can.net.http.hosts)} on the web ({', '.join(can.net.http.methods)})")
    if can.shell.exec:
        lines.append(f"run {', '.join(can.shell.exec.allow)}")
    if can.executor.call:
        lines.append(f"call {', '.join(can.executor.call)}")
    if can.model.chat:
        lines.append("ask the language model")
    if can.system.read:
        lines.append(f"look at this machine's {', '.join(can.system.read)}")
    if can.mcp.call:
        lines += _tool(can.mcp.call)
    return lines or [NOTHING]


def _tool(tool: Tool) -> list[str]:
    """What the owner declared of a tool, which nobody can hold it to."""
    said = "may change or send something" if tool.acts else "only reads"
    lines = [f"ask the tool {tool.tool} of the MCP server {tool.server}, outside the sandbox; you declared: it {said}"]
    for words, targets in (("reads", tool.reads), ("changes", tool.changes), ("speaks to", tool.hosts)):
        if targets:
            lines.append(f"you declared: it {words} {', '.join(targets)}")
    return lines
