"""Does the output fit a JSON Schema; what is wrong with a schema is said before any record is read.

Nothing is fetched: a `$ref` reaches into the schema itself or to the published metaschemas. Patterns are RE2's.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from evalsi import ContentError, ContentLimitError, Output, Param, ParamError, Record, Score, evaluator
from evalsi_pack_core.json_distinct import DISTINCT, distinct_items
from evalsi_pack_core.json_multiples import multiples_of
from evalsi_pack_core.json_patterns import LinearPatterns
from evalsi_pack_core.violations import MAX_PHRASE, first_few, shortened

# A dot-atom or a quoted local part (RFC 5321), and a domain of labels or an address in brackets.
_EMAIL = re.compile(
    r"""(?:[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*|"(?:[^"\\\r\n]|\\.)*")"""
    r"@(?:(?=.{1,253}\Z)(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)*[^\W_](?:[\w-]{0,61}[^\W_])?|\[[0-9A-Fa-f.:IPv]+\])"
)


@evaluator(name="json-schema", version=3, needs=("output",), outputs=[Output(kind="pass")])
class JsonSchema:
    """Output is JSON that fits a JSON Schema."""

    def __init__(self, *, schema: Annotated[dict[str, Any] | bool, Param(description="a JSON Schema")]) -> None:
        # Loaded by those who validate with it.
        from jsonschema import exceptions, validators
        from jsonschema_specifications import REGISTRY

        dialect = _dialect(schema)
        # That a pattern is one is for RE2 to say.
        checker: Any = type(dialect.FORMAT_CHECKER)(formats=())
        checker.checkers = {name: one for name, one in dialect.FORMAT_CHECKER.checkers.items() if name != "regex"}
        try:
            dialect.check_schema(schema, format_checker=checker)
        except exceptions.SchemaError as error:
            fault = shortened(error.message, MAX_PHRASE)
            raise ParamError("schema", f"it is no JSON Schema: at {error.json_path}, {fault}") from error
        patterns = LinearPatterns()
        from copy import deepcopy  # Other evaluators of the pack need not wait for it.

        own = deepcopy(schema)
        try:
            _prepare(own, dialect, REGISTRY, patterns)
        except (AttributeError, TypeError) as error:
            # Raised by the library that follows references, for a valid schema of an old draft.
            raise ParamError("schema", f"it uses a form of its draft that is not supported: {error}") from error
        keywords = patterns.keywords() | multiples_of(dialect) | {DISTINCT: distinct_items}
        linear: Any = validators.extend(dialect, keywords)
        formats: Any = type(dialect.FORMAT_CHECKER)(formats=())
        formats.checkers = {**dialect.FORMAT_CHECKER.checkers, **dict.fromkeys(("email", "idn-email"), (_is_email, ()))}
        self._validator = linear(own, registry=REGISTRY, format_checker=formats)
        try:
            self._validator.is_valid(None)
        except RecursionError as error:
            raise ParamError("schema", "its references lead in a circle, so that no output could be checked") from error

    def score(self, record: Record) -> bool | Score:
        """Whether it fits; the explanation names the first violations with their paths."""
        try:
            value = record.output.as_json()
        except ContentLimitError:
            # Whether it fits cannot be told, which is no fail.
            raise
        except ContentError as error:
            return Score(passed=False, explanation=f"The output is {error}.")
        # By their places, $[2] before $[10]; at one place in one value all are names, or all are numbers.
        violations = sorted(self._validator.iter_errors(value), key=lambda violation: list(violation.absolute_path))
        explanation = first_few([f"{violation.json_path}: {violation.message}" for violation in violations])
        return True if explanation is None else Score(passed=False, explanation=explanation)


def _dialect(schema: dict[str, Any] | bool) -> Any:
    from jsonschema import validators

    named = schema.get("$schema") if isinstance(schema, dict) else None
    known: Any = validators.validator_for(schema, default=None) if isinstance(named, str) else None
    if known is None and named is not None:
        raise ParamError("schema", f"its $schema is {named!r}, which is no published dialect")
    return known or validators.Draft202012Validator


def _prepare(schema: dict[str, Any] | bool, dialect: Any, registry: Any, patterns: LinearPatterns) -> None:
    """Make sure that every part of the schema can be followed, and matched in linear time; changes it in place.

    Refused is a reference to nowhere, as is any over the network. `$schema` goes, as it would lead away from the
    linear keywords.
    """
    from referencing.jsonschema import specification_with

    uri = dialect.META_SCHEMA["$schema"]
    specification: Any = specification_with(uri)
    resource = specification.create_resource(schema)
    inside = _maps_in(schema)
    # Of a part that two references lead to, or that is reached by a path no keyword opens, as #/components/a.
    seen: set[int] = set()
    pending = [(resource, registry.resolver_with_root(resource))]
    keywords: set[str] = set()
    while pending:
        part, resolver = pending.pop()
        contents = part.contents
        if not isinstance(contents, dict) or id(contents) in seen or id(contents) not in inside:
            continue
        seen.add(id(contents))
        keywords |= contents.keys()
        _check_part(contents, uri, patterns)
        pending += [
            (specification.create_resource(target.contents), target.resolver) for target in _targets(contents, resolver)
        ]
        pending += [(inner, resolver.in_subresource(inner)) for inner in part.subresources()]
    if {"unevaluatedProperties", "patternProperties"} <= keywords:
        hint = "close the objects with additionalProperties"
        raise ParamError("schema", f"it has unevaluatedProperties beside patternProperties, which is not read; {hint}")


def _is_email(value: object) -> bool:
    """Return whether a value is an address with a plausible local part and domain; jsonschema looks for "@" alone."""
    return not isinstance(value, str) or (len(value) <= 320 and _EMAIL.fullmatch(value) is not None)


def _check_part(contents: dict[str, Any], uri: str, patterns: LinearPatterns) -> None:
    if "draft-03" in uri and isinstance(contents.get("extends"), dict):
        # The library that follows references knows the list alone, which means the same.
        contents["extends"] = [contents["extends"]]
    named = contents.pop("$schema", None)
    if isinstance(named, str) and named.rstrip("#") != uri.rstrip("#"):
        raise ParamError("schema", f"a part of it has a $schema of its own, {named!r}; write all of it in one dialect")
    matched = contents.get("patternProperties")
    texts = [contents.get("pattern"), *(matched if isinstance(matched, dict) else ())]
    for text in texts:
        if isinstance(text, str):
            patterns.compile(text)


def _targets(contents: dict[str, Any], resolver: Any) -> list[Any]:
    from referencing.exceptions import NoInternalID, Unresolvable

    targets = []
    for keyword in ("$ref", "$dynamicRef"):
        reference = contents.get(keyword)
        if not isinstance(reference, str):
            continue
        try:
            targets.append(resolver.lookup(reference))
        except (Unresolvable, NoInternalID) as error:
            raise ParamError(
                "schema",
                f"its {keyword} {reference!r} leads nowhere; nothing is fetched, so put what it names under $defs",
            ) from error
    return targets


def _maps_in(value: Any) -> set[int]:
    """The identities of all maps within: what is the schema's own, and no published metaschema's."""
    found = set()
    pending = [value]
    while pending:
        inner = pending.pop()
        if isinstance(inner, dict):
            found.add(id(inner))
            pending += inner.values()
        elif isinstance(inner, list):
            pending += inner
    return found
