"""A judge without a model, for trying things out: an OpenAI-compatible server that always grades 4.

It writes its URL into the file `judge-url` in the current folder, and its process id into `judge-pid`.
"""

import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Judge(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        verdict = json.dumps({"reason": "Short and plain.", "score": 4})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": verdict}}
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
Path("judge-pid").write_text(str(os.getpid()))
while True:
    server.handle_request()
