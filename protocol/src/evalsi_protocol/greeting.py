"""The `hello` messages of both sides: protocol majors, capabilities and limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evalsi_protocol.errors import WireError
from evalsi_protocol.limits import DEFAULT_WINDOW, MAJORS, MAX_FRAME_BYTES


def kernel_hello(
    name: str, version: str, capabilities: Iterable[str], *, window: int = DEFAULT_WINDOW
) -> dict[str, Any]:
    """Return the body of the kernel's `hello`: majors, name, capabilities and limits."""
    return {
        "majors": list(MAJORS),
        "kernel": {"name": name, "version": version},
        "capabilities": sorted(capabilities),
        "window": window,
        "max_frame_bytes": MAX_FRAME_BYTES,
    }


def pack_hello(
    major: int, name: str, version: str, capabilities: Iterable[str], *, window: int = DEFAULT_WINDOW
) -> dict[str, Any]:
    """Return the body of the pack's answer: chosen major, name, capabilities and limits."""
    return {
        "major": major,
        "pack": {"name": name, "version": version},
        "capabilities": sorted(capabilities),
        "window": window,
        "max_frame_bytes": MAX_FRAME_BYTES,
    }


def choose_major(hello: Mapping[str, Any], spoken: tuple[int, ...] = MAJORS) -> int | WireError:
    """Return the highest major that both sides support, or an error that says which side to upgrade."""
    majors = hello.get("majors")
    offered = [major for major in majors if type(major) is int] if isinstance(majors, list) else []
    common = set(offered) & set(spoken)
    if common:
        return max(common)
    if not offered:
        return WireError("protocol.version", "The hello has no protocol major.", "Send majors: [1].", "protocol")
    if max(offered) < min(spoken):
        hint = f"Upgrade evalsi to a version that supports protocol {min(spoken)}."
    else:
        hint = f"Upgrade the pack to a version that supports protocol {max(offered)}."
    return WireError(
        "protocol.version",
        f"The kernel supports protocol {_list(offered)}; the pack supports {_list(spoken)}.",
        hint,
        "protocol",
    )


def _list(majors: Iterable[int]) -> str:
    return ", ".join(str(major) for major in sorted(majors))
