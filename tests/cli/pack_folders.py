"""Create small third-party packs: folders with a manifest, a lock and code."""

from __future__ import annotations

import shutil
from pathlib import Path

CORE = Path(__file__).parents[2] / "plugins" / "packs" / "core"
MANIFEST = """\
manifest = 1
name = "{name}"
version = "1.0"
summary = "A pack of a test."
protocol = 1

[run]
module = "{module}"
workers = "cpu"
memory_mb = {memory_mb}
record_timeout_s = 5

[[evaluators]]
name = "{evaluator}"
version = "1"
summary = "An evaluator of a test."
scope = "record"
needs = ["output"]
asks = []
outputs = [{{ name = "", kind = "pass", higher_is_better = true }}]
params = {{ type = "object", properties = {{}} }}
"""


def write_pack(folder: Path, name: str, evaluator: str, code: str = "return True", *, memory_mb: int = 512) -> Path:
    """A pack of one evaluator, whose body is `code`; with the lock, so in the environment, of the pack core."""
    module = name.replace("/", "_").replace("-", "_")
    pack = folder / module
    (pack / "src").mkdir(parents=True)
    (pack / "plugin.toml").write_text(
        MANIFEST.format(name=name, module=module, evaluator=evaluator, memory_mb=memory_mb)
    )
    function = evaluator.replace("-", "_")
    (pack / "src" / f"{module}.py").write_text(
        f"import os, sys\nfrom evalsi import evaluator\n\n\n@evaluator(name={evaluator!r}, version=1)\n"
        f"def {function}(record) -> bool:\n    {code}\n\n\nEVALUATORS = [{function}]\n"
    )
    for file in ("uv.lock", "pyproject.toml"):
        shutil.copy(CORE / file, pack / file)
    return pack
