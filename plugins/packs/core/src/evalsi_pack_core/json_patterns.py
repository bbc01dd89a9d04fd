"""The keywords of JSON Schema that match patterns, matched by RE2: in linear time, whatever the schema and the output.

It must not know records. jsonschema's own take these patterns to a matcher that can backtrack for years.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from evalsi import ParamError

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|.)", re.DOTALL)


class LinearPatterns:
    """The patterns of one schema; each is compiled once."""

    def __init__(self) -> None:
        import re2  # Loaded by those who match with it.

        self._re2: Any = re2
        self._options = re2.Options()
        self._options.log_errors = False
        self._compiled: dict[str, Any] = {}

    def compile(self, pattern: str) -> Any:
        """The pattern, compiled.

        Raises:
            ParamError: RE2 does not have it, as look-around and back-references.
        """
        if pattern not in self._compiled:
            try:
                self._compiled[pattern] = self._re2.compile(_ESCAPE.sub(_as_re2_writes, pattern), self._options)
            except self._re2.error as error:
                reason = error.args[0].decode("utf-8", "replace")
                fault = f"its pattern {pattern!r} is no RE2 pattern: {reason}"
                raise ParamError("schema", f"{fault}; RE2 has no look-around and no back-references") from error
        return self._compiled[pattern]

    def found(self, pattern: str, text: str) -> bool:
        """Whether the pattern is found anywhere in the text."""
        # JSON can escape half of a surrogate pair, which UTF-8 has no other form for.
        return self.compile(pattern).search(text.encode("utf-8", "surrogatepass")) is not None

    def keywords(self) -> dict[str, Any]:
        """The keywords, as `jsonschema.validators.extend` takes them."""
        return {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
        }

    def _pattern(self, validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
        if validator.is_type(instance, "string") and not self.found(pattern, instance):
            yield _violation(f"{instance!r} does not match {pattern!r}")

    def _pattern_properties(
        self, validator: Any, patterns: dict[str, Any], instance: Any, _schema: Any
    ) -> Iterator[Any]:
        if not validator.is_type(instance, "object"):
            return
        for pattern, inner in patterns.items():
            for name, value in instance.items():
                if self.found(pattern, name):
                    yield from validator.descend(value, inner, path=name, schema_path=pattern)

    def _additional_properties(self, validator: Any, inner: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not validator.is_type(instance, "object"):
            return
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        extras = [name for name in instance if name not in named and not any(self.found(one, name) for one in patterns)]
        if inner is False and extras:
            yield _violation(f"properties that are not allowed: {', '.join(map(repr, extras))}")
        elif inner is not False:
            for name in extras:
                yield from validator.descend(instance[name], inner, path=name)


def _as_re2_writes(escape: re.Match[str]) -> str:
    return f"\\x{{{escape[1]}}}" if escape[1] else escape[0]


def _violation(message: str) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)
