"""A good answer in pieces, as server-sent events in either API's form. It knows no request and no fault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

EVENTS: Final = "text/event-stream"
PIECE_CHARACTERS: Final = 3


def openai_stream(body: dict[str, Any], *, tells_usage: bool) -> bytes:
    """A completion in chunks; the last one tells the usage where that was asked for."""
    shared = {"id": body["id"], "object": "chat.completion.chunk", "created": body["created"], "model": body["model"]}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    chunks = []
    for choice in body.get("choices", ()):
        chunks.append(chunk({"role": "assistant", "content": ""}))
        for name in ("content", "refusal"):
            chunks += [chunk({name: piece}) for piece in _pieces(choice["message"][name] or "")]
        chunks.append(chunk({}, choice["finish_reason"]))
    if tells_usage and "usage" in body:
        chunks.append({**shared, "choices": [], "usage": body["usage"]})
    return b"".join(f"data: {_dump(one)}\n\n".encode() for one in chunks) + b"data: [DONE]\n\n"


def anthropic_stream(body: dict[str, Any]) -> bytes:
    """A message in events; the usage stands at its beginning, that of the output at its end."""
    usage = body.get("usage", {})
    start = {**body, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(body.get("content", ())):
        events += _block(index, block)
    came = {name: usage[name] for name in ("output_tokens", "output_tokens_details") if name in usage}
    events.append({"type": "message_delta", "delta": {"stop_reason": body["stop_reason"]}, "usage": came})
    events.append({"type": "message_stop"})
    return b"".join(f"event: {one['type']}\ndata: {_dump(one)}\n\n".encode() for one in events)


def _block(index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]]
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": "Hm."}, {"type": "signature_delta", "signature": "c2lnbmVk"}]
        empty = {**block, "thinking": "", "signature": ""}
    else:
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        empty = {**block, "text": ""}
    told = [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
    start = {"type": "content_block_start", "index": index, "content_block": empty}
    return [start, *told, {"type": "content_block_stop", "index": index}]


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE_CHARACTERS):
        yield text[start : start + PIECE_CHARACTERS]


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
