"""A model server on loopback that speaks OpenAI's chat completions, with a script for a mind.

It looks at the conversation as a model does: the last question of the user, and the results of tools
after it; for each question the script names the steps, SQL to run and the answer at the end.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ModelServer:
    """Serve a script: question to a list of steps, the last of which is the answer.

    A step that is a text among the first ones is SQL for the tool that takes it.
    """

    def __init__(self, script):
        self.script = script
        self.requests = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                reply = json.dumps(outer.reply(body)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def reply(self, body):
        messages = body["messages"]
        asked = max(i for i, message in enumerate(messages) if message["role"] == "user")
        question = _text(messages[asked]["content"])
        done = sum(message["role"] == "tool" for message in messages[asked:])
        *statements, answer = self.script[question]
        if done < len(statements):
            message = _call(body["tools"], statements[done], f"call_{len(self.requests)}")
            reason = "tool_calls"
        else:
            message = {"role": "assistant", "content": answer}
            reason = "stop"
        return {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": 1_770_000_000,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": reason, "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }


def _text(content):
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def _call(tools, sql, call_id):
    function = tools[0]["function"]
    argument = next(iter(function["parameters"]["properties"]))
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": function["name"], "arguments": json.dumps({argument: sql})},
            }
        ],
    }
