"""An agent with pydantic-ai and sqlite3; it turns on no tracing."""

import os
import sqlite3
import sys

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(api_key="none", base_url=os.environ["MODEL_URL"])
agent = Agent(
    OpenAIChatModel("gpt-4o-mini", provider=provider),
    name="sql_agent",
    instructions="You answer questions of tenant 1 with SQL.",
)


@agent.tool_plain
def query_database(sql: str) -> str:
    """Run a SELECT on the shop database."""
    connection = sqlite3.connect(os.environ["SHOP_DB"])
    try:
        rows = [tuple(row) for row in connection.execute(sql)]
    except sqlite3.Error as error:
        raise ModelRetry(f"Error: {error}") from error
    finally:
        connection.close()
    return f"{len(rows)} row(s); the first is {rows[0] if rows else None}"


def main():
    for question in sys.stdin.read().splitlines():
        print(agent.run_sync(question).output)  # noqa: T201


if __name__ == "__main__":
    main()
