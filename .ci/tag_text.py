"""Print the text of a release's tag: the section of CHANGELOG.md for the current version."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / ".ci"))
from version import current  # noqa: E402


def main() -> int:
    """Print the section; exit code 1 if the changelog has none for this version."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    version = current()
    section = re.search(rf"^## {re.escape(version)} .*?(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if section is None:
        print(f"CHANGELOG.md has no section for {version}; write it first", file=sys.stderr)
        return 1
    print(f"Evals.si {version}\n\n{section[0].partition(chr(10))[2].strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
