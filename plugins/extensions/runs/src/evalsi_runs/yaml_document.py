"""YAML 1.2 read into plain values, with the line of each: a subset in which a document says what it seems to say.

Anchors, aliases, tags and keys that come twice are refused. It must not know what a document is about.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import yaml

from evalsi_kernel.checking.problems import inside
from evalsi_kernel.errors import ConfigError

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 100
_PLAIN = "tag:yaml.org,2002:str"
# The core schema of YAML 1.2: `yes`, `off`, 012 and 1:30 are text, as they look.
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class Document(NamedTuple):
    """A document, and the line of each of its places, such as `spec.gates[0].min`."""

    value: Any
    lines: dict[str, int]

    def line(self, place: str) -> int | None:
        """The line of a place, or of the nearest one around it that is there."""
        while place and place not in self.lines:
            place = re.sub(r"(\.[^.\[]*|\[\d+\]|[^.\[]+)$", "", place)
        return self.lines.get(place)


def read_yaml(text: str, name: str) -> Document:
    """The one document of a text.

    Args:
        text: YAML, or JSON, which is YAML too.
        name: of the file, for errors.

    Raises:
        ConfigError: `config.yaml_text`; it is no YAML, or uses what is refused. The message names the line.
    """
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        raise _unreadable(error, text, name) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{name} is not YAML: {error}.", "Correct the file.", code="config.yaml_text") from error
    if root is None:
        raise ConfigError(f"{name} is empty.", "Run `evalsi init` for one to start from.", code="config.yaml_text")
    _refuse_references(text, name)
    lines: dict[str, int] = {}
    return Document(_Reader(name, lines).value(root, "", 0), lines)


def _unreadable(error: yaml.MarkedYAMLError, text: str, name: str) -> ConfigError:
    mark = error.problem_mark or error.context_mark
    line = 0 if mark is None else mark.line + 1
    problem = (error.problem or error.context or "it cannot be read").rstrip(".")
    source = text.splitlines()[line - 1] if 0 < line <= len(text.splitlines()) else ""
    if "\t" in source[: len(source) - len(source.lstrip())] or "'\\t'" in problem:
        return ConfigError(f"{name}, line {line}: a tab indents it.", "Use spaces.", code="config.yaml_text")
    if "expected a single document" in str(error):
        return ConfigError(
            f"{name}, line {line}: a second document begins.", "Keep one in a file.", code="config.yaml_text"
        )
    return ConfigError(f"{name}, line {line}: {problem}.", "Fix the syntax there.", code="config.yaml_text")


def _refuse_references(text: str, name: str) -> None:
    for token in yaml.parse(text, Loader=yaml.BaseLoader):
        what = (
            "an alias" if isinstance(token, yaml.AliasEvent) else "an anchor" if getattr(token, "anchor", None) else ""
        )
        if what:
            line = 0 if token.start_mark is None else token.start_mark.line + 1
            raise ConfigError(
                f"{name}, line {line}: {what} is not read.", "Write the value out.", code="config.yaml_text"
            )


class _Reader:
    """Nodes to values."""

    def __init__(self, name: str, lines: dict[str, int]) -> None:
        self._name = name
        self._lines = lines

    def value(self, node: yaml.Node, place: str, depth: int) -> Any:
        """The value of a node."""
        self._lines[place] = node.start_mark.line + 1
        if depth > MAX_DEPTH:
            raise self._refused(node, f"it is nested deeper than {MAX_DEPTH} levels", "Flatten it.")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, inside(place, index), depth + 1) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, place: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._refused(key, "a key is a list or a map", "Use text for every key.")
            if key.value == "<<" and key.style is None:
                raise self._refused(key, "a merge key (<<) is not read", "Write the values out.")
            if key.value in found:
                first = self._lines[inside(place, key.value)]
                raise self._refused(key, f"{key.value!r} stands in line {first} already", "Keep one.")
            found[key.value] = self.value(item, inside(place, key.value), depth + 1)
            self._lines[inside(place, key.value)] = key.start_mark.line + 1
        return found

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        text: str = node.value
        if node.tag not in (_PLAIN, "!"):
            raise self._refused(node, f"the tag {node.tag} is not read", "Leave it out.")
        if node.style is not None:
            return text
        if _NULL.fullmatch(text):
            return None
        if text in _BOOL:
            return _BOOL[text]
        if _INT.fullmatch(text):
            return int(text)
        if _BASED.fullmatch(text):
            return int(text, 0)
        if _NO_NUMBER.fullmatch(text):
            raise self._refused(node, f"{text} is no number that can be used", "Write a finite number.")
        return float(text) if _FLOAT.fullmatch(text) else text

    def _refused(self, node: yaml.Node, what: str, hint: str) -> ConfigError:
        return ConfigError(f"{self._name}, line {node.start_mark.line + 1}: {what}.", hint, code="config.yaml_text")
