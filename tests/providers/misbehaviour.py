"""How faults of a connection are committed on a real one, and good bodies are sent. It knows no vendor's form."""

from __future__ import annotations

import asyncio
from typing import Final

from aiohttp import web

from tests.providers.faults import Cut

JSON: Final = "application/json"
FOREVER_S: Final = 3600.0


async def cut_off(http: web.BaseRequest, how: Cut, body: bytes, released: asyncio.Event) -> web.StreamResponse:
    """Commit the fault.

    Args:
        http: The request, whose connection is the one to suffer.
        how: The fault.
        body: The good body, of which a part may be sent.
        released: What a held answer waits for.
    """
    match how.how:
        case "hang":
            await asyncio.sleep(FOREVER_S)
        case "held":
            await released.wait()
            return web.Response(body=body, content_type=JSON)
        case "truncated_json":
            return web.Response(body=body[: len(body) // 2], content_type=JSON)
        case "before_answer":
            _close(http)
        case "mid_body" | "stall_mid_body":
            response = web.StreamResponse(headers={"Content-Type": JSON, "Content-Length": str(len(body))})
            await response.prepare(http)
            await response.write(body[: len(body) // 2])
            if how.how == "stall_mid_body":
                await asyncio.sleep(FOREVER_S)
            _close(http)
            return response
    return web.Response(status=500)


def _close(http: web.BaseRequest) -> None:
    if http.transport is not None:
        http.transport.close()
