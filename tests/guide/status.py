"""The checklist of the guide: its rows, what makes a row valid, and the page that is written from it.

Run it: `--write` writes docs/guide-status.md, `--check` fails when the page is stale, and `--tie TEST NAME…` ties rows
to a test that now runs them. Knows nothing of what the product does.
"""

import argparse
import ast
import json
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = Path(__file__).resolve().parent / "rows"
PAGE = ROOT / "docs" / "guide-status.md"

ORDER = (
    "score", "judge", "adapters", "run", "agents", "watch", "server", "identity",
    "integrations", "reports", "training", "kubernetes", "pull_request", "tracking",
)  # fmt: skip

ROW = "    {{ {} }},\n"

HEAD = """\
# Guide status

<!-- Written by `python tests/guide/status.py --write` from tests/guide/rows; do not edit. -->

Every command, flag, file, key, evaluator, exit code and variable that the guide names. A row is done when a test runs
it; else it waits for the work that its last column names. {done} of {total} are done.
"""


@dataclass(frozen=True)
class Row:
    """One thing that the guide names; exactly one of `test` (a pytest node id) and `pending` (a topic) is set."""

    area: str
    kind: str
    name: str
    where: str
    test: str | None
    pending: str | None


@dataclass(frozen=True)
class Area:
    """The rows of one file, under the title of their section."""

    area: str
    title: str
    rows: tuple[Row, ...]


def load(folder: Path = ROWS) -> list[Area]:
    """Read every row file, in the order of the guide. Raises ValueError when a row has a key that is not known."""
    areas = []
    for path in folder.glob("*.toml"):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        rows = []
        for row in content["rows"]:
            if strange := set(row) - {"kind", "name", "where", "test", "pending"}:
                raise ValueError(f"{path.name}: the row {row.get('name')!r} has {sorted(strange)}, which no row has.")
            fields = {key: row.get(key) for key in ("kind", "name", "where", "test", "pending")}
            rows.append(Row(area=content["area"], **fields))
        areas.append(Area(content["area"], content["title"], tuple(rows)))
    return sorted(areas, key=lambda area: ORDER.index(area.area))


def every_row(areas: Iterable[Area]) -> list[Row]:
    return [row for area in areas for row in area.rows]


def node_exists(node_id: str, root: Path = ROOT) -> bool:
    """Whether a pytest node id names a test function that stands in its file; parameters in brackets are set aside."""
    file, *path = node_id.partition("[")[0].split("::")
    if not path or not (root / file).is_file():
        return False
    body: Sequence[ast.stmt] = ast.parse((root / file).read_text(encoding="utf-8")).body
    for step in path:
        match = [
            node
            for node in body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == step
        ]
        if not match:
            return False
        body = match[-1].body
    return path[-1].startswith("test")


def faults(areas: Iterable[Area], root: Path = ROOT) -> list[str]:
    """One sentence for each row that proves nothing: tied to no test and no work, to both, or to a test that is not."""
    found = []
    seen = set[tuple[str, str]]()
    for row in every_row(areas):
        label = f"{row.area}: {row.kind} {row.name!r}"
        if (row.kind, row.name) in seen:
            found.append(f"{label} is listed twice; keep one row.")
        seen.add((row.kind, row.name))
        if bool(row.test) == bool(row.pending):
            found.append(f"{label} needs exactly one of `test` and `pending`.")
        if row.test and not node_exists(row.test, root):
            found.append(f"{label} is tied to {row.test}, which does not exist; name a test that runs it.")
    return found


def page(areas: Sequence[Area]) -> str:
    rows = every_row(areas)
    text = [HEAD.format(done=sum(bool(row.test) for row in rows), total=len(rows))]
    text += ["| area | done | waiting |", "|---|---|---|"]
    for area in areas:
        done = sum(bool(row.test) for row in area.rows)
        text.append(f"| [{area.title}](#{area.title.lower().replace(' ', '-')}) | {done} | {len(area.rows) - done} |")
    for area in areas:
        text += ["", f"## {area.title}", "", "| kind | name | section | run by, or waits for |", "|---|---|---|---|"]
        for row in area.rows:
            name = row.name.replace("|", "\\|")
            state = f"`{row.test}`" if row.test else f"waits: {row.pending}"
            text.append(f"| {row.kind} | `{name}` | {row.where} | {state} |")
    return "\n".join(text) + "\n"


def tie(test: str, names: Iterable[str], folder: Path = ROWS, root: Path = ROOT) -> None:
    """Make rows done in place: the row of each name gets the test that runs it.

    A name that two kinds share is written `kind:name`. Nothing is written when the test does not exist or a name is not
    that of exactly one row; SystemExit says which.
    """
    if not node_exists(test, root):
        raise SystemExit(f"{test} does not exist; write the test first.")
    files = {path: path.read_text(encoding="utf-8").splitlines(keepends=True) for path in folder.glob("*.toml")}
    for name in names:
        places = [
            (path, number, row)
            for path, lines in files.items()
            for number, line in enumerate(lines)
            if (row := row_of(line)) and name in {row["name"], f"{row['kind']}:{row['name']}"}
        ]
        if len(places) != 1:
            raise SystemExit(
                f"{name!r} is the name of {len(places)} rows, not of one; write kind:name to tell rows apart."
            )
        ((path, number, row),) = places
        fields = {"kind": row["kind"], "name": row["name"], "where": row["where"], "test": test}
        files[path][number] = ROW.format(
            ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items())
        )
    for path, lines in files.items():
        path.write_text("".join(lines), encoding="utf-8")


def row_of(line: str) -> dict[str, str] | None:
    """The row that a line of a row file holds: each row has a line of its own, so that it can be changed in place."""
    if not line.lstrip().startswith("{"):
        return None
    row: dict[str, str] = tomllib.loads(f"row = {line.strip().rstrip(',')}")["row"]
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the page, or tie rows to a test; prints faults to stderr and returns 1 when there is one."""
    parser = argparse.ArgumentParser(description="The guide as a checklist.")
    parser.add_argument("--write", action="store_true", help="write docs/guide-status.md")
    parser.add_argument("--check", action="store_true", help="fail when docs/guide-status.md is stale")
    parser.add_argument(
        "--tie", nargs="+", metavar=("TEST", "NAME"), help="tie rows to the test that runs them, then write"
    )
    given = parser.parse_args(arguments)
    if given.tie:
        tie(given.tie[0], given.tie[1:])
    areas = load()
    found = faults(areas)
    text = page(areas)
    if given.write or given.tie:
        PAGE.write_text(text, encoding="utf-8")
    elif given.check and PAGE.read_text(encoding="utf-8") != text:
        found.append("docs/guide-status.md is stale; run `python tests/guide/status.py --write`.")
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
