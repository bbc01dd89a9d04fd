"""P2 and P3: what the kit once certified although it is wrong. Each bad pack differs from a good one in one point."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalsi_conformance.author_file import read_author_file
from evalsi_conformance.bench import Settings
from evalsi_conformance.kit import CHECKS, check_pack
from evalsi_conformance.pack_process import Program
from tests.conformance.packs import checked, write_pack

BOUND = "\n[permissions]\nasks_per_record = { polite = 1 }\n"
ASKS_ONCE = 'return 1.0 if ask().get("text") else ["error", {"code": "judge.empty", "message": "Empty."}]'
ASKS_TEN_TIMES = f"for _ in range(9):\n    ask()\n{ASKS_ONCE}"
ASKS_AGAIN = """
for _ in range(3):
    reply = ask()
    if "text" in reply and reply["text"]:
        return 1.0
return ["error", reply.get("error") or {"code": "judge.empty", "message": "Empty."}]
"""
ASKS_FOR_EACH_WORD = (
    f'for _ in range(len(record["output"]) // 200 if isinstance(record["output"], str) else 0):\n    ask()\n{ASKS_ONCE}'
)
SETS_A_MODULE = """
return 1.0 if memory and memory[-1].get("strict") else 0.5
"""
OPENS_INTO_MODULE = """
def accepts(params):
    if set(params) - {"strict"} or not isinstance(params.get("strict", True), bool):
        return False
    memory.append(params)
    return True
"""
FIRST_WINS = OPENS_INTO_MODULE.replace("memory.append(params)", "memory or memory.append(params)")
LENGTH = "return float(len(record['id']) + len(str(record['output'])))"
OLD_STATES = """
old = []
def aggregate_all(states, session):
    old.extend(states)
    return sum(old) / len(old)
"""
OLD_STATES_OF_THE_SESSION = """
old = {}
def aggregate_all(states, session):
    own = old.setdefault(session, [])
    own.extend(states)
    return sum(own) / len(own)
"""
ONE_SEED = """
def resample(states, count, seed):
    return [random.Random(number).choice(states) for number in range(count)]
"""
WORK = "for _ in range(20_000):\n    pass\nreturn 1.0"


def failed_checks(pack: Path) -> set[str]:
    return {one.check for one in checked(pack).failed}


@pytest.mark.parametrize("overrides", [OPENS_INTO_MODULE, FIRST_WINS], ids=["the last one wins", "the first one wins"])
def test_p2_sessions_that_share_state_of_a_module_are_found(overrides: str, tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", SETS_A_MODULE, overrides=overrides)
    assert failed_checks(pack) == {"sessions"}


def test_p2_a_session_that_keeps_its_own_params_passes(tmp_path: Path) -> None:
    report = checked(write_pack(tmp_path / "pack", "return 1.0 if params.get('strict') else 0.5"))
    assert {one.check: one.status for one in report.findings}["sessions"] == "passed"
    assert report.conforms


def test_p2_the_author_names_other_params_where_none_can_be_made_up(tmp_path: Path) -> None:
    path = tmp_path / "conformance.toml"
    path.write_text('[[variants.polite]]\nlang = "pl"\n\n[[variants.polite]]\nlang = "cs"\n')
    author, problems = read_author_file(tmp_path, CHECKS)
    assert (problems, author.variants) == ([], {"polite": ({"lang": "pl"}, {"lang": "cs"})})
    path.write_text('[variants]\npolite = "pl"\n')
    assert read_author_file(tmp_path, CHECKS)[1]


@pytest.mark.parametrize("answers", [ASKS_TEN_TIMES, ASKS_AGAIN, ASKS_FOR_EACH_WORD], ids=["ten", "again", "long"])
def test_p3_more_questions_than_declared_are_found(answers: str, tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", answers, asks='["judge"]', permissions=BOUND)
    assert failed_checks(pack) == {"questions"}


def test_p3_as_many_questions_as_declared_pass(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", ASKS_ONCE, asks='["judge"]', permissions=BOUND)
    assert failed_checks(pack) == set()


@pytest.mark.parametrize(
    ("asks", "permissions"), [("[]", ""), ('["judge"]', '\n[permissions]\njudge = ["strict"]\n')], ids=["asks", "role"]
)
def test_p3_a_question_that_is_not_declared_is_found(asks: str, permissions: str, tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", ASKS_ONCE, asks=asks, permissions=permissions)
    assert "questions" in failed_checks(pack)


@pytest.mark.parametrize(
    ("check", "overrides"),
    [
        ("aggregate", OLD_STATES),
        ("aggregate", OLD_STATES_OF_THE_SESSION),
        ("aggregate", "def close(session):\n    opened.pop(session, None)"),
        ("replicates", ONE_SEED),
        ("replicates", "def resample(states, count, seed):\n    return [sum(states) / len(states)] * count"),
        ("replicates", "def resample(states, count, seed):\n    return [random.random() for _ in range(count)]"),
        ("replicates", "def resample(states, count, seed):\n    return [float('nan')] * count"),
    ],
    ids=[
        "old states", "old states of the session", "states of a closed session", "one seed", "no resamples",
        "any seed", "no numbers",
    ],
)  # fmt: skip
def test_p3_a_wrong_aggregate_is_found(check: str, overrides: str, tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", LENGTH, scope="dataset", overrides=overrides)
    wide = (pack / "plugin.toml").read_text("utf-8").replace("minimum = 0, maximum = 1", "minimum = 0")
    (pack / "plugin.toml").write_text(wide, "utf-8")
    assert failed_checks(pack) == {check}


def test_p3_a_right_aggregate_passes(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", LENGTH, scope="dataset")
    wide = (pack / "plugin.toml").read_text("utf-8").replace("minimum = 0, maximum = 1", "minimum = 0")
    (pack / "plugin.toml").write_text(wide, "utf-8")
    report = checked(pack)
    assert report.conforms, report.failed
    assert "replicates" in {one.check for one in report.findings if one.status == "passed"}


def test_p3_a_close_that_frees_nothing_is_found(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", overrides="def close(session):\n    pass")
    assert "close" in failed_checks(pack)


@pytest.mark.parametrize("kind", ["str", "int", "list", "type(None)"])
def test_p3_an_unknown_param_is_found_whatever_its_value(kind: str, tmp_path: Path) -> None:
    overrides = f"""
    def accepts(params):
        strange = set(params) - {{"strict"}}
        return isinstance(params.get("strict", True), bool) and all(type(params[one]) is {kind} for one in strange)
    """
    assert failed_checks(write_pack(tmp_path / "pack", overrides=overrides)) == {"params"}


def test_p3_an_unknown_param_is_found_where_the_schema_does_not_speak_of_others(tmp_path: Path) -> None:
    overrides = "def accepts(params):\n    return isinstance(params.get('strict', True), bool)"
    pack = write_pack(tmp_path / "pack", overrides=overrides)
    silent = (pack / "plugin.toml").read_text("utf-8").replace("additionalProperties = false, ", "")
    (pack / "plugin.toml").write_text(silent, "utf-8")
    assert failed_checks(pack) == {"params"}


@pytest.mark.parametrize("said", ["[]", "[{'request': 0, 'index': 0, 'session': 1, 'ms': 1}]", "None"])
def test_p3_a_ping_that_says_idle_or_nonsense_is_found(said: str, tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", ASKS_ONCE, asks='["judge"]', overrides=f"def running():\n    return {said}")
    assert failed_checks(pack) & {"running", "ping"}


def test_p3_a_ping_that_says_idle_is_found_of_a_pack_that_asks_nobody(tmp_path: Path) -> None:
    overrides = """
    def running():
        return []

    def is_due(since):
        # Pings are answered between two records, as a second thread would.
        if current and time.monotonic() - since > HOLD_S:
            os.set_blocking(0, False)
            try:
                for event in machine.receive(os.read(0, 65536)):
                    take(event)
            except BlockingIOError:
                pass
            os.set_blocking(0, True)
        return time.monotonic() - since > HOLD_S
    """
    assert failed_checks(write_pack(tmp_path / "pack", WORK, overrides=overrides)) == {"running"}


@pytest.mark.parametrize(("answers", "asks"), [(WORK, "[]"), (ASKS_ONCE, '["judge"]')], ids=["computes", "asks"])
def test_p3_items_that_are_held_until_the_end_are_found(answers: str, asks: str, tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", answers, asks=asks, overrides="def is_due(since):\n    return False")
    assert failed_checks(pack) == {"items"}


def test_p11_what_a_packs_processes_print_is_in_the_log_that_is_named(tmp_path: Path) -> None:
    start = "for number in range(100):\n    print('line', number, file=sys.stderr)"
    pack, log = write_pack(tmp_path / "pack", start=start), tmp_path / "check.log"
    program = Program((sys.executable, str(pack / "program.py")))
    check_pack(pack, program, level="loads", settings=Settings(log=log))
    assert log.read_text("utf-8").splitlines() == [f"line {number}" for number in range(100)]
