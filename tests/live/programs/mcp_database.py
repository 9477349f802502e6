"""An MCP server that runs SQL, in a process of its own; it knows of no tracing."""

import os
import sqlite3
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("shop")


@server.tool()
def read_query(query: str) -> str:
    """Run a SELECT on the shop database."""
    connection = sqlite3.connect(os.environ["SHOP_DB"])
    try:
        rows = connection.execute(query).fetchall()
    except sqlite3.Error as error:
        return f"Database error: {error}"
    finally:
        connection.close()
    return f"{len(rows)} row(s); the first is {rows[0] if rows else None}"


if __name__ == "__main__":
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
