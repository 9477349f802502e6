"""An agent whose one tool is that of an MCP server; it knows of no tracing."""

import asyncio
import json
import os
import sys

from mcp import Client
from openai import AsyncOpenAI


async def ask(model, server, question):
    listed = await server.list_tools()
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description or "",
                "parameters": tool.input_schema,
            },
        }
        for tool in listed.tools
    ]
    messages = [
        {"role": "system", "content": "You answer questions of tenant 1 with SQL."},
        {"role": "user", "content": question},
    ]
    while True:
        reply = await model.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=tools
        )
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            result = await server.call_tool(call.function.name, json.loads(call.function.arguments))
            text = "".join(part.text for part in result.content)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


async def main():
    model = AsyncOpenAI(api_key="none", base_url=os.environ["MODEL_URL"])
    async with Client(sys.argv[1]) as server:
        for question in sys.stdin.read().splitlines():
            print(await ask(model, server, question))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
