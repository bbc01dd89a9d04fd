"""The keys of an HTTP service in a spec.

It must not know how a call is made.
"""

from __future__ import annotations

import re
from typing import Literal, Self
from urllib.parse import parse_qsl, urlsplit

from pydantic import Field, field_validator, model_validator

from evalsi_kernel.checking.toml_tables import FilledLine, Line, Misfit

from .json_template import JsonTemplateText
from .reply_paths import ReplyPath
from .spec_secrets import check_headers, check_query
from .template import PLACE, check_places
from .timed import AsDuration, InSeconds, Timed

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = frozenset({"content-length", "transfer-encoding", "host", "connection"})


class HttpOptions(Timed):
    """A service that is asked over HTTP, once a record."""

    url: FilledLine = Field(
        description="where it answers; {{input}} or {{metadata.key}} in its path or query is encoded"
    )
    method: Literal["POST", "PUT", "PATCH", "GET"] = Field(default="POST", description="of HTTP; GET sends no body")
    headers: dict[str, Line] = Field(default_factory=dict, description="sent with every call; no secrets")
    headers_env: dict[str, FilledLine] = Field(
        default_factory=dict, description="header: the environment variable that holds its value"
    )
    body_template: JsonTemplateText | None = Field(
        default=None, description='JSON with places, such as {"message": "{{input}}"}; else {"input": …}'
    )
    output_path: ReplyPath | None = Field(
        default=None, description="where the output is in the reply's JSON, such as choices[0].text; else all of it"
    )
    usage_path: ReplyPath | None = Field(
        default=None, description="where {input_tokens, output_tokens, cost_usd} are, or OpenAI's names of them"
    )
    trajectory_path: ReplyPath | None = Field(default=None, description="where the list of steps is")
    stop_reason_path: ReplyPath | None = Field(
        default=None, description="where it says why the reply ended; kept as metadata.finish"
    )
    stream: bool = Field(
        default=False, description="the reply comes in pieces: server-sent events, or JSON by the line"
    )
    delta_path: ReplyPath | None = Field(
        default=None, description="with stream, where the text is in each piece, such as choices[0].delta.content"
    )
    timeout_s: InSeconds = 120.0
    timeout: AsDuration = None

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        return check_address(url)

    @field_validator("headers", "headers_env")
    @classmethod
    def _are_headers(cls, headers: dict[str, str]) -> dict[str, str]:
        for name in headers:
            if not _HEADER.fullmatch(name):
                raise Misfit(f'has "{name}", which is no name of a header')
            if name.lower() in _OURS:
                raise Misfit(f"has {name}, which is set by itself", "Leave it out.")
        return headers

    @field_validator("headers")
    @classmethod
    def _are_no_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        check_headers(headers)
        return headers

    @model_validator(mode="after")
    def _streams_or_not(self) -> Self:
        if self.delta_path is not None and not self.stream:
            raise Misfit("has a delta_path, and no stream that it is in", "Add stream: true, or write output_path.")
        if self.stream and self.output_path is not None:
            raise Misfit(
                "has an output_path, and the output of a stream is in many pieces", "Write delta_path instead."
            )
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.method == "GET" and self.body_template is not None:
            raise Misfit(
                "has a body_template, and GET sends no body", "Write method: POST, or put places into the url."
            )
        if self.method == "GET" and not PLACE.search(self.url):
            raise Misfit(
                "asks every record the same: GET sends no body, and the url has no place", "Put {{input}} in it."
            )
        return self


def check_address(url: str) -> str:
    """The address of a server, which may have places behind its host; raises `Misfit`."""
    filled = PLACE.sub("x", check_places(url))
    try:
        parts = urlsplit(filled)
        _ = parts.port  # It is read only when it is asked for, and may be no number.
    except ValueError as cause:
        raise Misfit(f"cannot be read: {cause}", "Write it as https://host/path.") from None
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise Misfit(f'is "{url}", which is no address of a server', "Write it as https://host/path.")
    if parts.username is not None or parts.password is not None:
        raise Misfit("has a user name or a password in it", "Send it in a header, with headers_env.")
    if PLACE.search("/".join(url.split("/")[:3]).split("?")[0]):
        raise Misfit("lets a record say which host is asked", "Put places behind the host only.")
    check_query(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    return url
