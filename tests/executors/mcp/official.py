"""A server made with the official library: the other side as most people will have it."""

import sys
from pathlib import Path

from mcp.server import MCPServer


def command(box: Path) -> tuple[str, ...]:
    """How it is started; it keeps its list in that folder."""
    return (sys.executable, __file__, str(box))


def main(box: Path) -> None:
    server = MCPServer("shopping", log_level="CRITICAL")
    shopping = box / "shopping.txt"

    @server.tool()
    def list_shopping(shop: str = "any") -> list[str]:
        """List what is to be bought."""
        return [line for line in shopping.read_text().splitlines() if shop in ("any", line.partition(":")[0])]

    @server.tool()
    def add_shopping(item: str, amount: int = 1) -> str:
        """Put something on the list."""
        with shopping.open("a") as file:
            file.write(f"any: {amount} {item}\n")
        return f"{amount} {item} added"

    server.run("stdio")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
