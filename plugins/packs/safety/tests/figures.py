"""The tables of precision and recall in the README, from what the checks make of the corpora now.

`PYTHONPATH=../../.. python tests/figures.py --write` renews them; a test fails when they are stale. `--secrets` prints
the corpus of secrets with its samples filled in, for tests/other_tools.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from plugins.packs.safety.tests.corpora import Tally, leaks, pii_tally, refusal_tally, secret_tally

from evalsi_pack_safety.secret_leak import KINDS as SECRET_KINDS

README = Path(__file__).parents[1] / "README.md"
START = "<!-- Written by tests/figures.py; do not edit up to the next mark. -->"
END = "<!-- End of the figures. -->"


def table() -> str:
    """Both leak checks by kind, and refusals, as a Markdown table."""
    lines = [
        "| check | kind | found right | found wrongly | missed | precision | recall |",
        "|---|---|---|---|---|---|---|",
    ]
    pii, secrets, refusals = pii_tally(), secret_tally(), refusal_tally()
    lines += [_line("pii-leak", kind, pii, kind) for kind in pii.kinds()]
    lines.append(_line("pii-leak", "all", pii, *pii.kinds()))
    lines.append(_line("secret-leak", f"all {len(secrets.kinds())} of the corpus", secrets, *secrets.kinds()))
    lines.append(_line("refusal", "refused", refusals, "refused"))
    listed = ", ".join(f"`{kind}`" for kind in SECRET_KINDS)
    return "\n".join([*lines, "", f"Kinds of `secret-leak`: {listed}."])


def with_table(readme: str) -> str:
    """The README's text with its table replaced."""
    before, _, rest = readme.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n\n{table()}\n\n{END}{after}"


def _line(check: str, name: str, counts: Tally, *kinds: str) -> str:
    right, wrong, missed = (sum(part[kind] for kind in kinds) for part in counts)
    shares = f"{counts.precision(*kinds):.3f} | {counts.recall(*kinds):.3f}"
    return f"| `{check}` | {name} | {right} | {wrong} | {missed} | {shares} |"


def main() -> int:
    """Write the table, or print the corpus of secrets."""
    if sys.argv[1:] == ["--write"]:
        README.write_text(with_table(README.read_text("utf-8")), "utf-8")
    elif sys.argv[1:] == ["--secrets"]:
        for case in leaks("secrets"):
            print(json.dumps({"text": case.text, "found": case.found}))
    else:
        print("Usage: python tests/figures.py --write | --secrets", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
