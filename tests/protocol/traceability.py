"""Map the sentences of the specification to tests, and write `protocol/spec/traceability.toml`.

Run `python -m tests.protocol.traceability --write` after a test or a sentence changed. A test names its sentences with
`@pytest.mark.spec(…)`, a vector with its `spec`; tests of other parts that hold a sentence are named in `ELSEWHERE`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.protocol import vectors

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "protocol" / "spec"
TABLE = SPEC / "traceability.toml"
SENTENCE = re.compile(r"^- \*\*([A-Z]{3}-\d+)\*\* (.+(?:\n  .+)*)", re.MULTILINE)

ASKS = "tests/judging/test_asks_on_the_wire.py"
DURATIONS = "tests/kernel/supervision/test_durations.py"
POOL = "tests/kernel/supervision/test_pool.py"
RUNS = "tests/kernel/supervision/test_runs.py"
RECORD = "tests/sdk/test_record.py"
SERVICES = "tests/provisioning/services"
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "EMB-1": (f"{ASKS}::test_vectors_stand_in_the_order_of_the_texts_and_are_not_paid_for_twice",),
    "JDG-1": (f"{ASKS}::test_replies_stand_in_the_order_of_the_questions_and_one_that_fails_fails_no_other",),
    "JDG-2": (f"{ASKS}::test_replies_stand_in_the_order_of_the_questions_and_one_that_fails_fails_no_other",),
    "JDG-3": (f"{ASKS}::test_replies_stand_in_the_order_of_the_questions_and_one_that_fails_fails_no_other",),
    "JDG-4": (f"{ASKS}::test_a_question_that_cannot_be_read_is_an_error_and_asks_nothing",),
    "ITM-2": (f"{POOL}::test_a_pack_that_breaks_the_protocol_costs_errors_and_not_the_run",),
    "ITM-3": (f"{POOL}::test_a_pack_that_breaks_the_protocol_costs_errors_and_not_the_run",),
    "ITM-4": (f"{POOL}::test_a_record_that_the_pack_forgets_is_an_error",),
    "ITM-10": (f"{DURATIONS}::test_what_is_no_duration_is_ignored_and_the_outcome_stands",),
    "ITM-6": (f"{RUNS}::test_runs_mean_their_items_and_so_do_the_faults_in_them",),
    "OUT-6": (
        "tests/kernel/scores/test_tally.py::test_e8_a_score_that_cannot_stand_costs_its_own_metric_only",
        "tests/sdk/test_several_scores.py::test_e8_a_finite_score_stands_beside_one_that_is_nan",
    ),
    "REC-1": (
        f"{RECORD}::test_a_record_says_which_fields_it_has_not_and_null_counts_as_absent",
        f"{RECORD}::test_the_record_of_a_test_is_the_record_that_the_kernel_makes_of_the_same_row",
    ),
    "SUP-8": (f"{SERVICES}/test_serving.py::test_a_record_that_ends_the_process_costs_itself_only",),
    "SUP-9": (
        f"{SERVICES}/test_addresses.py::test_an_address_that_leaves_the_machine_without_tls_is_refused",
        f"{SERVICES}/test_tls.py::test_a_certificate_that_nobody_trusted_has_signed_is_refused",
        f"{SERVICES}/test_tls.py::test_a_certificate_for_another_name_or_of_another_time_is_refused",
    ),
    "SUP-6": (f"{POOL}::test_a_record_that_kills_its_process_ends_as_one_error_with_the_last_words_of_the_process",),
}


def sentences() -> dict[str, str]:
    """Each sentence by its id; raises `ValueError` when an id stands twice."""
    found: dict[str, str] = {}
    for page in sorted(SPEC.glob("*.md")):
        for identity, text in SENTENCE.findall(page.read_text(encoding="utf-8")):
            if identity in found:
                raise ValueError(f"{identity} stands twice; the second is in {page.name}.")
            found[identity] = " ".join(text.split())
    return found


def musts() -> list[str]:
    """The ids of the sentences that bind."""
    return [identity for identity, text in sentences().items() if "MUST" in text]


def marked_tests() -> Iterator[tuple[str, str]]:
    """Each id that a test here is marked with, and the test."""
    for file in sorted(Path(__file__).parent.glob("test_*.py")):
        for function in _tests(file):
            for decorator in function.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.spec":
                    for argument in decorator.args:
                        yield ast.literal_eval(argument), f"{file.relative_to(ROOT)}::{function.name}"


def marked_vectors() -> Iterator[tuple[str, str]]:
    """Each id that a vector names, and the vector."""
    for file, found in (("frames.json", vectors.frames("bad")), ("dialogues.json", vectors.dialogues())):
        for vector in found:
            for identity in vector["spec"]:
                yield identity, f"protocol/vectors/{file}: {vector['name']}"


def tests_elsewhere() -> Iterator[tuple[str, str]]:
    """Each id of `ELSEWHERE`, and the tests; raises `ValueError` for one that does not exist."""
    for identity, names in ELSEWHERE.items():
        for name in names:
            file, _, test = name.partition("::")
            if not (ROOT / file).exists() or test not in [function.name for function in _tests(ROOT / file)]:
                raise ValueError(f"{identity} is held by {name}, which does not exist.")
            yield identity, name


def table() -> str:
    """The text of `traceability.toml`."""
    holders: dict[str, list[str]] = {identity: [] for identity in sentences()}
    for identity, holder in (*marked_tests(), *marked_vectors(), *tests_elsewhere()):
        if holder not in holders[identity]:
            holders[identity].append(holder)
    lines = [
        "# Which tests and vectors hold which sentence. Written by `python -m tests.protocol.traceability --write`.",
        "",
    ]
    for identity, found in holders.items():
        if found:
            lines += [f"{identity} = [", *(f'    "{holder}",' for holder in found), "]"]
    return "\n".join(lines) + "\n"


def _tests(file: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        TABLE.write_text(table(), encoding="utf-8")
    else:
        print(table(), end="")
