"""docs/reference/evaluators.md, from the plugin.toml of every pack and adapter of this repository.

It must not know an evaluator.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalsi_kernel.packs.manifests import load_manifest
from evalsi_kernel.packs.pack_info import EvaluatorInfo, OutputInfo, PackInfo
from tests.docs.markdown import WRITTEN, code, joined, table

ROOT = Path(__file__).resolve().parents[2]
HEAD = """\
# Evaluators

{written}

`evalsi catalog` prints the same of what is installed. A record that lacks what an evaluator *needs* is skipped.
*Params* are set with `--param NAME.KEY=VALUE`. An evaluator's *version* changes whenever a score may.
"""


def packs() -> list[PackInfo]:
    """Every pack and adapter of the repository."""
    paths = sorted([*ROOT.glob("plugins/packs/*/plugin.toml"), *ROOT.glob("adapters/*/plugin.toml")])
    return [load_manifest(path).to_pack(path.parent) for path in paths]


def page() -> str:
    """The whole page."""
    lines = [HEAD.format(written=WRITTEN.format(source="plugins/packs/*/plugin.toml and adapters/*/plugin.toml"))]
    lines += table(("pack", "evaluators"), _contents(packs()))
    for pack in packs():
        lines += ["", f"## {pack.name}", "", pack.summary]
        for evaluator in pack.evaluators:
            lines += _section(evaluator)
    return joined(lines)


def _contents(found: list[PackInfo]) -> Iterator[tuple[str, str]]:
    for pack in found:
        yield _link(pack.name, pack.name), ", ".join(_link(one.name, one.ref) for one in pack.evaluators)


def _link(text: str, heading: str) -> str:
    """A link to a heading of this page; each heading is there once, so that every reader gives it the same anchor."""
    return f"[{text}](#{heading.replace('/', '')})"


def _section(evaluator: EvaluatorInfo) -> Iterator[str]:
    yield from (
        "",
        f"### {evaluator.ref}",
        "",
        evaluator.summary,
        "",
        f"- `{evaluator.ref}`, version {evaluator.version}.",
    )
    needs = ", ".join(map(code, evaluator.needs)) or "nothing"
    yield f"- Needs {needs}." + (" One score for the whole file." if evaluator.scope == "dataset" else "")
    if evaluator.asks:
        yield f"- Asks the kernel for {', '.join(map(code, evaluator.asks))}."
    for output in evaluator.outputs:
        yield f"- Gives {code(output.name or evaluator.name)}: {_kind(output)}."
    properties = evaluator.params.get("properties", {})
    if properties:
        required = evaluator.params.get("required", ())
        rows = [_param(name, schema, name in required) for name, schema in properties.items()]
        yield from ("", *table(("param", "type", "default", "what it does"), rows))


def _kind(output: OutputInfo) -> str:
    parts = [{"pass": "pass or fail", "number": "a number", "label": "a label"}[output.kind]]
    if output.unit:
        parts[0] += f" of {output.unit}"
    if output.minimum is not None and output.maximum is not None:
        parts[0] += f" from {output.minimum:g} to {output.maximum:g}"
    elif output.minimum is not None:
        parts[0] += f", at least {output.minimum:g}"
    elif output.maximum is not None:
        parts[0] += f", at most {output.maximum:g}"
    if output.higher_is_better is not None:
        parts.append("higher is better" if output.higher_is_better else "lower is better")
    return "; ".join(parts)


def _param(name: str, schema: dict[str, Any], is_required: bool) -> tuple[str, str, str, str]:
    default = code(json.dumps(schema["default"], ensure_ascii=False)) if "default" in schema else ""
    return code(name), _type(schema), "required" if is_required else default, schema.get("description", "")


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(code(json.dumps(value, ensure_ascii=False)) for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(filter(None, map(_type, schema["anyOf"])))
    types = schema.get("type", [])
    words = [_word(one, schema) for one in ([types] if isinstance(types, str) else types) if one != "null"]
    bounds = [
        f"{word} {schema[key]:g}" for key, word in (("minimum", "at least"), ("maximum", "at most")) if key in schema
    ]
    return ", ".join([" or ".join(words), *bounds])


def _word(of: str, schema: dict[str, Any]) -> str:
    if of == "array":
        return f"list of {_type(schema['items'])}" if schema.get("items") else "list"
    if of == "object":
        values = schema.get("additionalProperties")
        return f"object, each value a {_type(values)}" if isinstance(values, dict) and values else "object"
    return {"boolean": "true or false", "string": "text"}.get(of, of)
