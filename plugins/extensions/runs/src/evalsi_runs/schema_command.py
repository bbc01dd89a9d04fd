"""Owns `evalsi schema`: the JSON Schema of a spec, with the keys of every target that is installed, for editors.

It must not know a file.
"""

from __future__ import annotations

import argparse
from typing import Any

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.extensions.hook_calls import MODEL_TARGET, target_options
from evalsi_kernel.extensions.installed import Extensions, default_extensions
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
    variants, agents = [], {}
    for name in kinds:
        own = target_options(name, extensions).model_json_schema()
        schema["$defs"] |= own.pop("$defs", {})
        properties = {**shared, **own.get("properties", {}), "connector": {"const": name, **_described(shared)}}
        agents[name] = {**own, "additionalProperties": False}
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
    variants.append(_by_agent(agents, shared["max_concurrency"]))
    schema["$defs"]["TargetSpec"] = {"description": target["description"], "oneOf": variants}
    return {"$schema": DIALECT, **schema}


def _by_agent(agents: dict[str, Any], max_concurrency: dict[str, Any]) -> dict[str, Any]:
    """The other way to write a target: `agent: {KIND: {…}}`."""
    one = {"type": "object", "properties": agents, "minProperties": 1, "maxProperties": 1}
    return {
        "type": "object",
        "title": "agent",
        "description": "A target by its kind.",
        "properties": {"agent": {**one, "additionalProperties": False}, "max_concurrency": max_concurrency},
        "required": ["agent"],
        "additionalProperties": False,
    }


def _described(shared: dict[str, Any]) -> dict[str, Any]:
    return {"description": shared["connector"]["description"]}
