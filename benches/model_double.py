"""A model that agents talk to on this computer, over the protocols of their vendors.

It asks for the tools that it is told, one after the other, if the request lists them. Then it says that it is done. All
requests are kept.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What stands in a request for each answer of a tool: Anthropic, OpenAI (two protocols), Google.
ANSWERS = r'"type": "tool_result"|"type": "function_call_output"|"role": "tool"|"functionResponse": '


class ModelDouble:
    """A server on a free port; `requests` has the bodies that came in, in order."""

    def __init__(self, calls):
        self.calls = calls  # names and arguments of tools, in order
        self.requests = []
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                models = [{"id": "double", "object": "model", "type": "model", "display_name": "double"}]
                self.reply("application/json", json.dumps({"object": "list", "data": models}))

            def do_HEAD(self):
                self.reply("application/json", "")

            def do_POST(self):
                length = int(self.headers.get("content-length") or 0)
                try:
                    body = json.loads(self.rfile.read(length) or "{}")
                except ValueError:
                    body = {}
                if not isinstance(body, dict):
                    body = {}
                kind, text = double.answer(self.path, body)
                self.reply(kind, text)

            def reply(self, kind, text):
                body = text.encode()
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path, body):
        """Returns the type and the text of an answer."""
        path = path.split("?")[0]
        if path.endswith(("count_tokens", ":countTokens")):
            return "application/json", json.dumps({"input_tokens": 9, "totalTokens": 9})
        known = {
            "/messages": messages,
            "/responses": responses,
            "/chat/completions": completions,
            ":streamGenerateContent": contents,
            ":generateContent": contents,
        }
        for end, make in known.items():
            if path.endswith(end):
                self.requests.append(body)
                is_stream = body.get("stream", False) or "stream" in path
                return make(self.call(body), is_stream)
        return "application/json", "{}"

    def call(self, body):
        """Returns the name, the arguments and the number of the next tool to ask for, and `None` for a last word."""
        n_answers = len(re.findall(ANSWERS, json.dumps(body)))
        if n_answers >= len(self.calls):
            return None
        tool, arguments = self.calls[n_answers]
        name = listed_name(tool, body.get("tools") or [])
        return None if name is None else (name, arguments, n_answers)


def listed_name(tool, listed):
    """Returns the name by which the agent lists a tool; for tools in a group, the name and the group."""
    for entry in listed:
        for inner in entry.get("functionDeclarations") or []:
            if inner["name"].endswith(tool):
                return inner["name"]
        for inner in entry.get("tools") or []:
            if inner.get("name", "").endswith(tool):
                return (inner["name"], entry["name"])
        name = entry.get("name") or entry.get("function", {}).get("name") or ""
        if name.endswith(tool):
            return name
    return None


def sse(events):
    return "text/event-stream", "".join(
        (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n" for event in events
    )


def messages(call, is_stream):
    """Anthropic."""
    if call:
        block = {"type": "tool_use", "id": f"toolu_{call[2]}", "name": call[0], "input": call[1]}
        start, delta = block | {"input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    else:
        block = {"type": "text", "text": "done"}
        start, delta = block | {"text": ""}, {"type": "text_delta", "text": "done"}
    reason = "tool_use" if call else "end_turn"
    usage = {"input_tokens": 9, "output_tokens": 9}
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "double",
        "content": [block], "stop_reason": reason, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    if not is_stream:
        return "application/json", json.dumps(message)
    return sse([
        {"type": "message_start", "message": message | {"content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ])


def responses(call, is_stream):
    """OpenAI, as Codex speaks it."""
    if call:
        name, group = call[0] if isinstance(call[0], tuple) else (call[0], None)
        item = {
            "type": "function_call", "id": f"fc_{call[2]}", "call_id": f"call_{call[2]}", "name": name,
            "arguments": json.dumps(call[1]), "status": "completed",
        }  # fmt: skip
        if group:
            item["namespace"] = group
    else:
        content = [{"type": "output_text", "text": "done", "annotations": []}]
        item = {"type": "message", "id": "m_1", "role": "assistant", "status": "completed", "content": content}
    usage = {
        "input_tokens": 9, "output_tokens": 9, "total_tokens": 18,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    if not is_stream:
        return "application/json", json.dumps(response)
    return sse([
        {"type": "response.created", "response": response | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ])


def completions(call, is_stream):
    """OpenAI, the older protocol, which many vendors speak."""
    if call:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        tool_call = {"index": 0, "id": f"call_{call[2]}", "type": "function", "function": function}
        message = {"role": "assistant", "tool_calls": [tool_call]}
    else:
        message = {"role": "assistant", "content": "done"}
    reason = "tool_calls" if call else "stop"
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    head = {"id": "c_1", "created": 1, "model": "double", "usage": usage}
    if not is_stream:
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return "application/json", json.dumps(head | {"object": "chat.completion", "choices": [choice]})
    chunk = head | {"object": "chat.completion.chunk"}
    events = [
        chunk | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]
    return "text/event-stream", "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def contents(call, is_stream):
    """Google."""
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "done"}
    answer = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18},
        "modelVersion": "double",
    }
    return sse([answer]) if is_stream else ("application/json", json.dumps(answer))
