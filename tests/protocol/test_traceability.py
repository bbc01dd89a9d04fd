"""Every MUST of the specification has a test, and every marker names an existing sentence."""

from __future__ import annotations

import tomllib

from tests.protocol import traceability


def test_every_must_of_the_specification_has_a_test_or_a_vector() -> None:
    held = tomllib.loads(traceability.TABLE.read_text(encoding="utf-8"))
    assert [identity for identity in traceability.musts() if not held.get(identity)] == []


def test_every_id_that_a_test_or_a_vector_names_is_a_sentence() -> None:
    known = traceability.sentences()
    named = [*traceability.marked_tests(), *traceability.marked_vectors(), *traceability.tests_elsewhere()]
    assert [(identity, holder) for identity, holder in named if identity not in known] == []


def test_the_table_of_tests_is_up_to_date() -> None:
    assert traceability.TABLE.read_text(encoding="utf-8") == traceability.table(), (
        "Run: python -m tests.protocol.traceability --write"
    )


def test_the_specification_is_read_whole() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in traceability.SPEC.glob("*.md"))
    assert len(traceability.sentences()) == text.count("\n- **")
    assert len(traceability.musts()) > 60
