"""The MCP tools: one file each, with its arguments, its answer and its words."""
