"""The table of evaluators in a pack's README, from its plugin.toml.

`python tests/packs/readme_tables.py --write` renews the tables; a test fails when one is stale.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

PACKS = Path(__file__).parents[2] / "plugins/packs"
NAMES = ("core", "text", "rag", "judge", "safety")
ADAPTERS = Path(__file__).parents[2] / "adapters"
START = "<!-- Written from plugin.toml by tests/packs/readme_tables.py; do not edit up to the next mark. -->"
END = "<!-- End of what is written. -->"


def table(tables: dict[str, Any]) -> str:
    """The evaluators of a manifest as a Markdown table."""
    rows = ["| evaluator | params (default) | gives | what it says |", "|---|---|---|---|"]
    for evaluator in tables["evaluators"]:
        cells = (f"`{evaluator['name']}`", _params(evaluator), _outputs(evaluator), evaluator["summary"])
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def with_table(readme: str, tables: dict[str, Any]) -> str:
    """The README's text with its table replaced."""
    before, _, rest = readme.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{table(tables)}\n\n{END}{after}"


def _params(evaluator: dict[str, Any]) -> str:
    required = evaluator["params"].get("required", [])
    shown = []
    for name, schema in evaluator["params"]["properties"].items():
        value = "required" if name in required else json.dumps(schema["default"]) if "default" in schema else "none"
        about = f": {schema['description']}" if "description" in schema else ""
        shown.append(f"`{name}` ({value}){about}")
    return "<br>".join(shown) or "–"


def _outputs(evaluator: dict[str, Any]) -> str:
    shown = []
    for output in evaluator["outputs"]:
        if output["kind"] != "number":
            what = output["kind"]
        elif "maximum" in output:
            what = f"{output['minimum']:g} to {output['maximum']:g}"
        else:
            what = output.get("unit", "number")
        shown.append(f"`{output['name']}`: {what}" if output["name"] else what)
    if not evaluator["outputs"]:
        shown = ["pass or a number, by its params"]
    per_run = " for the whole of the data" if evaluator["scope"] == "dataset" else ""
    return "<br>".join(shown) + per_run


def main() -> int:
    """Write all tables."""
    if sys.argv[1:] != ["--write"]:
        print("Usage: python tests/packs/readme_tables.py --write", file=sys.stderr)
        return 1
    marked = [path for path in sorted(ADAPTERS.glob("*/README.md")) if START in path.read_text("utf-8")]
    for path in [*(PACKS / name / "README.md" for name in NAMES), *marked]:
        tables = tomllib.loads(path.with_name("plugin.toml").read_text("utf-8"))
        path.write_text(with_table(path.read_text("utf-8"), tables), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
