"""The capabilities: everything an executor can want from the world outside its sandbox. The list is closed.

Rules: a manifest declares which of them its executor may ever use, the policy decides on each use, and what has no name
here cannot be had at all.
"""

from enum import StrEnum


class Capability(StrEnum):
    """One kind of reach, and in plain words what it means."""

    FS_READ = "fs.read"
    FS_WRITE = "fs.write"
    NET_HTTP = "net.http"
    SHELL_EXEC = "shell.exec"
    EXECUTOR_CALL = "executor.call"
    MODEL_CHAT = "model.chat"
    SYSTEM_READ = "system.read"
    MCP_CALL = "mcp.call"

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    Capability.FS_READ: "read files in the folders it names",
    Capability.FS_WRITE: "make, change, move and remove files in the folders it names",
    Capability.NET_HTTP: "speak HTTP to the hosts it names",
    Capability.SHELL_EXEC: "start the programs it names",
    Capability.EXECUTOR_CALL: "call the other executors it names, which ask for themselves",
    Capability.MODEL_CHAT: "ask a language model",
    Capability.SYSTEM_READ: "look at this machine: its processes, disks and name",
    Capability.MCP_CALL: "ask the one tool of an MCP server that it names, which runs outside the sandbox",
}
