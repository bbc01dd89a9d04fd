"""Owns `evalsi schema`: the JSON Schema of a spec, with the keys of every target that is installed, for editors.

It must not know a file.
"""

from __future__ import annotations

import argparse
from typing import Any

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.extensions import MODEL_TARGET, Extensions, default_extensions, target_options
from evalsi_kernel.runs.spec import RunDocument

OK = 0
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Schema:
    """The command."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the argument."""
        parser.add_argument("what", choices=("run",), help="the kind of document")

    def run(self, options: argparse.Namespace) -> int:
        """Print it."""
        print(self._toolkit.as_json(run_schema(default_extensions())))
        return OK


def run_schema(extensions: Extensions) -> dict[str, Any]:
    """The schema of an `EvalRun`; a target's own keys are checked by its connector."""
    schema = RunDocument.model_json_schema()
    target = schema["$defs"]["TargetSpec"]
    shared = target["properties"]
    kinds = [*(name for name in extensions.names("targets") if name != MODEL_TARGET), *extensions.names("connectors")]
    variants = []
    for name in kinds:
        own = target_options(name, extensions).model_json_schema()
        schema["$defs"] |= own.pop("$defs", {})
        properties = {**shared, **own.get("properties", {}), "connector": {"const": name, **_described(shared)}}
        variants.append(
            {
                "type": "object",
                "title": name,
                "description": own.get("description", ""),
                "properties": properties,
                "required": ["connector", *own.get("required", [])],
                "additionalProperties": False,
            }
        )
    schema["$defs"]["TargetSpec"] = {"description": target["description"], "oneOf": variants}
    return {"$schema": DIALECT, **schema}


def _described(shared: dict[str, Any]) -> dict[str, Any]:
    return {"description": shared["connector"]["description"]}
