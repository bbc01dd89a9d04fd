"""Replace command-line flags in the kernel's messages with the arguments of the Python API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_ARGUMENTS = {
    "map": "mapping",
    "param": "params",
    "data": "data",
    "evaluators": "evaluators",
    "limit": "limit",
    "concurrency": "concurrency",
    "record-timeout": "record_timeout_s",
    "cluster-by": "cluster_by",
    "confidence": "confidence",
    "ci": "ci",
    "output": "output",
    "quiet": "quiet",
    "prices": "prices",
    "no-cache": "cache=False",
    "judge-prices": "prices",
    "judge-batch": "batch",
    "judge-budget-usd": 'budget["usd"]',
    "judge-budget-tokens": 'budget["tokens"]',
}
_KEYS = {"timeout": "timeout_s"}
_COMMAND = re.compile(r"(`[^`]*`)")
_MAP = re.compile(r"--map ([\w.-]+)=([\w-]+(?:\.[\w-]+)*)")
_PARAM = re.compile(r"--param ([\w./:-]+)\.([\w-]+)=(.+?)(?=[.,;]?(?:\s|$))")
_MODEL = re.compile(r"--(judge|embed)-model MODEL")
_OF_MODEL = re.compile(r"--(judge|embed)-([a-z-]+)")
_FLAG = re.compile(rf"--({'|'.join(sorted(_ARGUMENTS, key=len, reverse=True))})(?![\w-])")


def in_python(text: str, judge: str = "judge") -> str:
    """Return a message with Python arguments in place of flags. `evalsi` commands in backticks are kept.

    Args:
        text: the message.
        judge: name of the argument for the judge.
    """
    if "--" not in text and "name=evaluator" not in text:
        return text
    return "".join(
        part if part.startswith("`evalsi") else _translated(part, judge) for part in _COMMAND.split(text) if part
    )


def result_in_python(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with the flags in its error messages replaced."""
    if result.get("outcome") == "error":
        reason = in_python(str(result.get("reason", "")))
        return result | {"reason": reason, "error": _error(result["error"])}
    if "score_errors" in result:
        return result | {"score_errors": [_error(one) for one in result["score_errors"]]}
    return result


def _error(error: Mapping[str, Any]) -> dict[str, Any]:
    return {**error, "message": in_python(error["message"]), "hint": in_python(error["hint"])}


def _translated(text: str, judge: str) -> str:
    def named(role: str) -> str:
        return judge if role == "judge" else role

    def key(match: re.Match[str]) -> str:
        role, word = match[1], match[2]
        if word == "model":
            return named(role)
        return f'{named(role)}["{_KEYS.get(word, word.replace("-", "_"))}"]'

    text = _MAP.sub(r'mapping={"\1": "\2"}', text)
    text = _PARAM.sub(r'params={"\1": {"\2": \3}}', text)
    text = _MODEL.sub(lambda match: f'{named(match[1])}="MODEL"', text)
    text = _FLAG.sub(lambda match: _ARGUMENTS[match[1]], text)
    text = _OF_MODEL.sub(key, text)
    return text.replace("name=evaluator", '{"ref": evaluator, "name": name}')
