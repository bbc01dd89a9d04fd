"""Generate docs/reference/hooks.md from the hook specifications; `--write` writes it, otherwise it is printed."""

import inspect
import sys
from pathlib import Path
from types import FunctionType

from evalsi_kernel import hooks

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "hooks.md"

HEAD = """\
# Hooks

<!-- Written by `python -m tests.kernel.hooks_page --write` from evalsi_kernel.hooks; do not edit. -->

An extension is an installed distribution with an entry point in the group `evalsi.extensions` whose value is a package
with an `extension.toml`:

```toml
extension = 1
name = "parquet-lake"
module = "acme_lake.plugin"      # imported when one of the names below is first used
summary = "Reads tables of the lake (lake://)."

[provides]
schemes = ["lake"]               # --data lake://…
suffixes = [".lake"]             # --data x.lake; the longest matching suffix wins
stdin = false                    # --data -
intervals = []                   # --ci NAME
connectors = []                  # --judge-provider NAME
targets = []                     # spec.target.connector of a run
price_files = false              # reads price files
judge_cache = false              # caches model replies between runs
batches = false                  # uses the batch API of a provider (--judge-batch)
environments = false             # builds the environments of packs
runtimes = []                    # runs packs that are not Python code (runtime = … in plugin.toml)
admission = false                # admits third-party packs and enforces their permissions
conditions = false               # evaluates conditions (`when` in a run)
baselines = false                # reads the baselines of gates
gate_warnings = false            # warns about weak foundations of gates
early_stopping = false           # ends a run once its gates are decided
trial_advice = false             # estimates how many trials a run needs
commands = { dredge = "clean the bottom of the lake" }   # evalsi dredge, and its line in `evalsi --help`
```

Its module implements hooks:

```python
from evalsi_kernel.hooks import hookimpl

@hookimpl
def evalsi_open_source(uri): ...
```

A name that two installed extensions provide is an error. So is a function named `evalsi_…` that is not in this list.
"""


def specified() -> list[FunctionType]:
    """Return the hooks in source order."""
    return [member for name, member in vars(hooks).items() if name.startswith("evalsi_")]


def page() -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *map(section, specified())])


def section(hook: FunctionType) -> str:
    """Return the section of one hook."""
    options = hook.evalsi_spec  # type: ignore[attr-defined]
    how = "The first result that is not None is used." if options["firstresult"] else "All results are used."
    signature = str(inspect.signature(hook)).replace("'", "")
    lines = [f"## {hook.__name__}", "", "```python", f"{hook.__name__}{signature}", "```", ""]
    for line in (inspect.getdoc(hook) or "").splitlines():
        if line.rstrip(":") in ("Args", "Returns", "Raises"):
            lines += [f"**{line.rstrip(':')}**", ""]
        elif line.startswith("        "):
            lines.append(f"  {line.strip()}")
        elif line.startswith("    "):
            lines.append(f"- {line.strip()}")
        else:
            lines.append(line)
    return "\n".join([*lines, "", how, ""])


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(), "utf-8")
    else:
        print(page(), end="")
