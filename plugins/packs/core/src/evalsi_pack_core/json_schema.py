"""Does the output fit a JSON Schema; what is wrong with a schema is said before any record is read.

Nothing is fetched: a `$ref` reaches into the schema itself or to the published metaschemas.
"""

from __future__ import annotations

from typing import Annotated, Any

from evalsi import ContentError, Output, Param, ParamError, Record, Score, evaluator
from evalsi_pack_core.violations import MAX_PHRASE, first_few, shortened


@evaluator(name="json-schema", version=1, needs=("output",), outputs=[Output(kind="pass")])
class JsonSchema:
    """Output is JSON that fits a JSON Schema."""

    def __init__(self, *, schema: Annotated[dict[str, Any], Param(description="a JSON Schema")]) -> None:
        # Loaded by those who validate with it.
        from jsonschema import exceptions, validators
        from jsonschema_specifications import REGISTRY

        named = schema.get("$schema")
        known: Any = validators.validator_for(schema, default=None) if isinstance(named, str) else None
        if known is None and named is not None:
            raise ParamError("schema", f"its $schema is {named!r}, which is no published dialect")
        dialect = known or validators.Draft202012Validator
        try:
            dialect.check_schema(schema)
        except exceptions.SchemaError as error:
            fault = shortened(error.message, MAX_PHRASE)
            raise ParamError("schema", f"it is no JSON Schema: at {error.json_path}, {fault}") from error
        _check_references(schema, dialect, REGISTRY)
        self._validator = dialect(schema, registry=REGISTRY, format_checker=dialect.FORMAT_CHECKER)
        try:
            self._validator.is_valid(None)
        except RecursionError as error:
            raise ParamError("schema", "its references lead in a circle, so that no output could be checked") from error

    def score(self, record: Record) -> bool | Score:
        """Whether it fits; the explanation names the first violations with their paths."""
        try:
            value = record.output.as_json()
        except ContentError as error:
            return Score(passed=False, explanation=f"The output is {error}.")
        violations = sorted(self._validator.iter_errors(value), key=lambda violation: violation.json_path)
        explanation = first_few([f"{violation.json_path}: {violation.message}" for violation in violations])
        return True if explanation is None else Score(passed=False, explanation=explanation)


def _check_references(schema: dict[str, Any], dialect: Any, registry: Any) -> None:
    """Refuse a schema with a reference to nowhere, as is any over the network: it could never be followed."""
    from referencing.exceptions import NoInternalID, Unresolvable
    from referencing.jsonschema import specification_with

    specification = specification_with(dialect.META_SCHEMA["$schema"])
    resource = specification.create_resource(schema)
    pending = [(resource, registry.resolver_with_root(resource))]
    while pending:
        part, resolver = pending.pop()
        for keyword in ("$ref", "$dynamicRef"):
            reference = part.contents.get(keyword) if isinstance(part.contents, dict) else None
            if not isinstance(reference, str):
                continue
            try:
                resolver.lookup(reference)
            except (Unresolvable, NoInternalID) as error:
                raise ParamError(
                    "schema",
                    f"its {keyword} {reference!r} leads nowhere; nothing is fetched, so put what it names under $defs",
                ) from error
        pending += [(inner, resolver.in_subresource(inner)) for inner in part.subresources()]
