"""Reads what a provider says when it refuses a request: the words, and the parameter that they are about.

Servers put it in many forms: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": […]}`, or plain text.
It must not know what follows from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .bodies import read_json

_UNSUPPORTED = re.compile(
    r"(?i)unsupported|not\s+(?:be\s+)?supported|(?:does|do)(?:n't|\s+not)\s+(?:support|accept|take|allow)|"
    r"unknown|unrecogni[sz]ed|unexpected|extra\s+(?:inputs?|fields?)|not\s+(?:permitted|allowed|available|implemented|known)|"
    r"unavailable|only\s+the\s+default|deprecated|extra_forbidden"
)


class Refusal(NamedTuple):
    """What a provider says.

    Args:
        message: in its words; "" where it says nothing.
        param: the parameter that it names; "" where it names none.
        code: its code and its kind, such as "insufficient_quota", joined by a space.
    """

    message: str
    param: str = ""
    code: str = ""

    def names(self, parameter: str) -> bool:
        """It is about this parameter."""
        if self.param:
            return re.split(r"[.\[]", self.param)[0] == parameter
        # `max_tokens` is not named by "max_tokens_per_minute", nor "seed" by "seedling".
        # Nor is `output_config` named by "output_config.format", which is about a part of it.
        return re.search(rf"(?<![\w-]){re.escape(parameter)}(?![\w-]|\.\w)", self.message) is not None

    @property
    def is_unsupported(self) -> bool:
        """It says that something cannot be asked for at all, rather than that its value is off."""
        return _UNSUPPORTED.search(f"{self.message} {self.code}") is not None


def read_refusal(content: bytes) -> Refusal:
    """What the body of a failed answer says."""
    value, _ = read_json(content)
    if isinstance(value, list) and len(value) == 1:
        # Google's servers put the object in an array.
        value = value[0]
    if isinstance(value, Mapping):
        return refusal_of(value)
    return Refusal(content[:10_000].decode("utf-8", "replace").strip() if value is None else str(value))


def refusal_of(body: Mapping[str, Any]) -> Refusal:
    """What a parsed body says."""
    error = body.get("error")
    if isinstance(error, Mapping):
        return _from_object(error)
    if isinstance(error, str) and error:
        return Refusal(error, _text(body.get("param")), _text(body.get("code")))
    if isinstance(body.get("detail"), list | Mapping):
        return _from_validation(body["detail"])
    return _from_object(body)


def _from_object(error: Mapping[str, Any]) -> Refusal:
    message = next((text for name in ("message", "detail", "msg", "error") if (text := _text(error.get(name)))), "")
    details = error.get("details")
    codes = [error.get("code"), error.get("type"), details.get("error_code") if isinstance(details, Mapping) else None]
    code = " ".join(text for one in codes if (text := _text(one)))
    return Refusal(message, _text(error.get("param")), code)


def _from_validation(detail: Any) -> Refusal:
    """FastAPI's form: a list of places and messages."""
    entries = [one for one in (detail if isinstance(detail, list) else [detail]) if isinstance(one, Mapping)]
    said = []
    for one in entries:
        steps = one.get("loc")
        place = ".".join(str(step) for step in steps if step != "body") if isinstance(steps, list) else ""
        said.append(f"{place}: {_text(one.get('msg'))}" if place else _text(one.get("msg") or one.get("message")))
    codes = " ".join(dict.fromkeys(_text(one.get("type")) for one in entries))
    return Refusal("; ".join(said), "", codes)


def _text(value: object) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
