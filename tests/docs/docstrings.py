"""Render docstrings as Markdown: summary, arguments, return value and exceptions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, ForwardRef

TITLES = {
    "Args": "**Arguments**",
    "Attributes": "**Attributes**",
    "Returns": "**Returns**",
    "Raises": "**Raises**",
}
ITEM = re.compile(r"    (?P<name>[\w.]+): (?P<rest>.*)")


def rendered(target: Any) -> Iterator[str]:
    """Yield the Markdown lines of a docstring."""
    for line in (inspect.getdoc(target) or "").splitlines():
        item = ITEM.fullmatch(line)
        if (title := TITLES.get(line.removesuffix(":"))) and line.endswith(":"):
            yield from (title, "")
        elif item:
            yield f"- `{item['name']}`: {item['rest']}"
        elif line.startswith("        "):
            # The continuation of an item.
            yield f"  {line.strip()}"
        elif line.startswith("    "):
            yield line.strip()
        else:
            yield line


def arguments(target: Any) -> dict[str, str]:
    """Return the description of each argument, on one line."""
    said: dict[str, str] = {}
    name = ""
    for line in (inspect.getdoc(target) or "").partition("Args:\n")[2].splitlines():
        if item := ITEM.fullmatch(line):
            name = item["name"]
            said[name] = item["rest"]
        elif line.startswith("        ") and name:
            said[name] += f" {line.strip()}"
        else:
            break
    return said


def signature(function: Callable[..., Any], name: str) -> str:
    """Return the signature of a function: on one line if that fits, else one line for each argument."""
    shown = inspect.signature(function)
    parameters = [one for one in shown.parameters.values() if one.name not in ("self", "cls")]
    words: list[str] = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        starred: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        stars = starred.get(parameter.kind, "")
        words.append(f"{stars}{parameter.name}: {_type(parameter.annotation)}{default}")
    gives = "" if shown.return_annotation in (shown.empty, "None", None) else f" -> {_type(shown.return_annotation)}"
    called = f"await {name}" if inspect.iscoroutinefunction(function) else name
    line = f"{called}({', '.join(words)}){gives}"
    # A member stands in a line of a list.
    if len(line) <= 100 or name.startswith("."):
        return line
    return f"{called}(\n{''.join(f'    {word},{chr(10)}' for word in words)}){gives}"


def _type(annotation: Any) -> str:
    if isinstance(annotation, ForwardRef):
        # The fields of a NamedTuple.
        return annotation.__forward_arg__
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation).replace("typing.", "")
