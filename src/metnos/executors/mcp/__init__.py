"""Tools of MCP servers as executors: what was added, how it is asked, and the folder that is made of each tool."""
