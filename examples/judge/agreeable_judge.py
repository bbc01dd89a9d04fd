"""A judge without a model, for trying out adapters: it answers every schema with the best possible values.

It writes its URL into the file `judge-url` in the current folder.
"""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any


def filled(form: dict[str, Any]) -> Any:
    """Return the best value that a JSON Schema allows: the first of its texts, the highest of its numbers."""
    if "enum" in form:
        words = form["enum"]
        return words[0] if isinstance(words[0], str) else max(words)
    if "anyOf" in form:
        return filled(form["anyOf"][0])
    kind = str(form.get("type"))
    if kind == "object":
        return {name: filled(part) for name, part in form.get("properties", {}).items()}
    if kind == "array":
        return [filled(form["items"])] * max(1, form.get("minItems", 1))
    return {"integer": form.get("maximum", 1), "number": form.get("maximum", 1), "boolean": True}.get(
        kind, "Well said."
    )


class Judge(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        form = asked.get("response_format", {}).get("json_schema", {}).get("schema")
        verdict = json.dumps(filled(form)) if form else "It is right.\nGRADE: C"
        choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": verdict}}
        usage = {"prompt_tokens": 90, "completion_tokens": 20, "total_tokens": 110}
        reply = {"id": "1", "object": "chat.completion", "model": asked["model"], "choices": [choice], "usage": usage}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    def log_message(self, *about: object) -> None:
        """Suppress the log."""


class Server(HTTPServer):
    timeout = 300.0

    def handle_timeout(self) -> None:
        """Exit after five minutes without a request, so that a forgotten server does not stay."""
        raise SystemExit


server = Server(("127.0.0.1", 0), Judge)
Path("judge-url").write_text(f"http://127.0.0.1:{server.server_port}/v1")
while True:
    server.handle_request()
