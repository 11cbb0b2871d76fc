"""Metnos as an MCP server: its tools, resources and prompts, for clients that speak the protocol."""
