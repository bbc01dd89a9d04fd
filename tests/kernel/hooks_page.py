"""Writes docs/reference/hooks.md from the hooks' specifications; `--write` does, without it the page is printed.

Knows how a page looks; knows nothing of what a hook is for.
"""

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
that holds an `extension.toml`:

```toml
extension = 1
name = "parquet-lake"
module = "acme_lake.plugin"      # imported when one of the names below is used, and not before
summary = "Reads tables of the lake (lake://)."

[provides]
schemes = ["lake"]               # --data lake://…
suffixes = [".lake"]             # --data x.lake; the longest fitting end of a file's name wins
stdin = false                    # --data -
intervals = []                   # --ci NAME
connectors = []                  # --judge-provider NAME
price_files = false              # reads files of prices
judge_cache = false              # keeps the replies of models from run to run
batches = false                  # answers questions in batches (--judge-batch)
environments = false             # builds the environments of packs
runtimes = []                    # runs packs that are no Python code (runtime = … in a plugin.toml)
conditions = false               # reads conditions (when: in a run)
trial_advice = false             # says how many trials a run would need
commands = { dredge = "clean the bottom of the lake" }   # evalsi dredge, and the line that `evalsi --help` shows
```

Its module implements hooks:

```python
from evalsi_kernel.hooks import hookimpl

@hookimpl
def evalsi_open_source(uri): ...
```

A name that two installed extensions provide is an error that names both. A function that is called `evalsi_…` and is no
hook of this list is an error too.
"""


def specified() -> list[FunctionType]:
    """The hooks, in the order of their source."""
    return [member for name, member in vars(hooks).items() if name.startswith("evalsi_")]


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *map(section, specified())])


def section(hook: FunctionType) -> str:
    """What one hook is asked, takes and gives."""
    options = hook.evalsi_spec  # type: ignore[attr-defined]
    how = "The first answer that is not None counts." if options["firstresult"] else "All answers count."
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
