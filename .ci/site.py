"""Build the documentation site into build/site: `uv run --group site python .ci/site.py`.

The pages keep their places in the tree, so that a relative link between them, to an example or to a README works as it
does in the repository. A link or an anchor that leads nowhere fails the build.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "site"
PUBLISHED = re.compile(
    r"(docs|examples|protocol/spec|protocol/wasm)/|[A-Z]+\.md$|LICENSE$|changelog\.d/README\.md$"
    r"|(protocol|sdk|plugins|adapters)/.*README\.md$"
)


def stage(folder: Path) -> None:
    """Copy what is published into a folder, at the same paths."""
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in names:
        if PUBLISHED.match(name) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


def main() -> int:
    """Stage the pages and build them; returns the builder's exit code."""
    shutil.rmtree(BUILD, ignore_errors=True)
    stage(BUILD / "pages")
    shutil.copyfile(ROOT / ".ci" / "zensical.toml", BUILD / "zensical.toml")
    done = subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=BUILD, check=False)
    if done.returncode == 0:
        print(f"{(BUILD / 'out').relative_to(ROOT)}/index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
