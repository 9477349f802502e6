"""An assistant as people write it: the openai client, a loop, sqlite3; it knows of no tracing."""

import json
import os
import sqlite3
import sys

from openai import OpenAI

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "run_sql",
            "description": "Run a SELECT on the shop database.",
            "parameters": {"type": "object", "properties": {"sql": {"type": "string"}}},
        },
    }
]


def ask(client, connection, question):
    messages = [
        {"role": "system", "content": "You answer questions of tenant 1 with SQL."},
        {"role": "user", "content": question},
    ]
    while True:
        reply = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=TOOLS)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            sql = json.loads(call.function.arguments)["sql"]
            try:
                rows = connection.execute(sql).fetchall()
                # The model gets a sentence, not the rows: only the database knows them.
                result = f"{len(rows)} row(s); the first is {rows[0] if rows else None}"
            except sqlite3.Error as error:
                result = f"Error: {error}"
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def main():
    client = OpenAI(api_key="none", base_url=os.environ["MODEL_URL"])
    connection = sqlite3.connect(os.environ["SHOP_DB"])
    for question in sys.stdin.read().splitlines():
        print(ask(client, connection, question))  # noqa: T201


if __name__ == "__main__":
    main()
