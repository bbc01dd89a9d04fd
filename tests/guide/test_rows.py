"""Every row of the checklist is proved by a test or waits for named work, and the page says the same as the rows."""

import shutil
from pathlib import Path

import pytest

from tests.guide import status
from tests.guide.status import Area, Row

HERE = "tests/guide/test_rows.py"
A_TEST = f"{HERE}::test_the_page_says_what_the_rows_say"

# Work that is still to come; what scoring, judges, adapters and runs are about waits for nothing.
TOPICS = {"agents", "watch", "server", "identity", "integrations", "training", "kubernetes", "tracking"}


def area_of(**row: str | None) -> list[Area]:
    fields: dict[str, str | None] = {"test": None, "pending": None, **row}
    made = Row("score", "flag", "evalsi eval --data", "3", fields["test"], fields["pending"])
    return [Area("score", "Score a file", (made,))]


def test_every_row_is_tied_to_a_test_that_exists_or_waits_for_named_work() -> None:
    assert status.faults(status.load()) == []


def test_a_row_waits_only_for_work_that_is_planned() -> None:
    assert {row.pending for row in status.every_row(status.load()) if row.pending} <= TOPICS


def test_the_page_says_what_the_rows_say() -> None:
    assert status.PAGE.read_text(encoding="utf-8") == status.page(status.load())


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({}, "exactly one"),
        ({"test": A_TEST, "pending": "server"}, "exactly one"),
        ({"test": f"{HERE}::test_that_was_never_written"}, "does not exist"),
        ({"test": f"{HERE}::area_of"}, "does not exist"),
        ({"test": "tests/guide/no_such_file.py::test_x"}, "does not exist"),
        ({"test": HERE}, "does not exist"),
    ],
)
def test_a_row_that_proves_nothing_is_a_fault(row: dict[str, str], what: str) -> None:
    (fault,) = status.faults(area_of(**row))
    assert what in fault


@pytest.mark.parametrize("row", [{"test": A_TEST}, {"test": f"{A_TEST}[with-parameters]"}, {"pending": "server"}])
def test_a_row_with_an_existing_test_or_with_named_work_is_no_fault(row: dict[str, str]) -> None:
    assert status.faults(area_of(**row)) == []


def test_a_name_that_is_listed_twice_is_a_fault() -> None:
    (area,) = area_of(pending="server")
    (fault,) = status.faults([area, area])
    assert "twice" in fault


def test_tying_a_row_changes_that_row_and_no_other(tmp_path: Path) -> None:
    rows = shutil.copytree(status.ROWS, tmp_path / "rows")
    before = {(row.kind, row.name): row for row in status.every_row(status.load(rows))}
    wanted = next(row for row in before.values() if row.pending)

    status.tie(A_TEST, [f"{wanted.kind}:{wanted.name}"], folder=rows)

    after = {(row.kind, row.name): row for row in status.every_row(status.load(rows))}
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {(wanted.kind, wanted.name)}
    assert after[wanted.kind, wanted.name].test == A_TEST
    assert after.keys() == before.keys()


def test_tying_a_name_that_is_no_row_is_refused(tmp_path: Path) -> None:
    rows = shutil.copytree(status.ROWS, tmp_path / "rows")
    with pytest.raises(SystemExit, match="0 rows"):
        status.tie(A_TEST, ["evalsi eval --no-such-flag"], folder=rows)


def test_tying_to_a_test_that_is_not_there_is_refused(tmp_path: Path) -> None:
    rows = shutil.copytree(status.ROWS, tmp_path / "rows")
    with pytest.raises(SystemExit, match="does not exist"):
        status.tie(f"{HERE}::test_that_was_never_written", ["evalsi eval --data"], folder=rows)
