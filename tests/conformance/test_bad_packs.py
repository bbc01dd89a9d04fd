"""A pack that hangs, crashes, prints, lies, scores a failure or reaches out is told by the check that it fails."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from evalsi_conformance.findings import Report
from evalsi_conformance.kit import check_pack
from evalsi_conformance.pack_process import Program
from evalsi_conformance.walls import can_wall
from tests.conformance.packs import checked, faults, first_fault, write_pack

JUDGED = """
reply = ask()
if "error" in reply:
    return ["error", reply["error"]]
return 1.0 if reply["text"] else ["error", {"code": "judge.empty", "message": "An empty reply."}]
"""
# A child or a new file for each of many records would keep a pack that does not read on as it works from its ping.
ONCE = """
if record["id"] == "sample-1":
    {}
return 1.0
"""
LOOKS_BACK = """
before = memory[-1] if memory else ""
memory.append(record["id"])
return 0.5 if before.startswith("sample") and before > record["id"] else 1.0
"""


def statuses(report: Report) -> dict[str, str]:
    return {one.check: one.status for one in report.findings}


def test_a_good_pack_reaches_every_level_that_was_asked_for(tmp_path: Path) -> None:
    report = checked(write_pack(tmp_path / "pack", JUDGED, asks='["judge"]'))
    assert report.conforms, report.failed
    assert report.reached == ("loads", "behaves", "trustworthy")
    unchecked = {check for check, status in statuses(report).items() if status != "passed"}
    assert unchecked == {"aggregate", "replicates"} | (set() if can_wall() else {"network"})


def test_levels_beyond_the_one_asked_for_are_left_alone(tmp_path: Path) -> None:
    report = checked(write_pack(tmp_path / "pack"), level="loads")
    assert {one.level for one in report.findings} == {"loads"}


def test_a_process_that_says_something_else_than_its_manifest_is_told_field_by_field(tmp_path: Path) -> None:
    described = '{"version": "2", "needs": ["input"]}'
    report = checked(write_pack(tmp_path / "pack", described=described))
    assert [one.message for one in report.failed] == [
        "version is '1' in plugin.toml and '2' in its process.",
        "needs is ['output'] in plugin.toml and ['input'] in its process.",
    ]
    assert report.reached == ()


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("print('hello')\nsys.stdout.flush()", "It wrote on stdout what is no frame"),
        ("sys.exit('no licence')", "Its process closed the stream and ended with code 1. Its log ends: no licence"),
        ("import threading\nthreading.Event().wait()", "It did not answer hello within 1 s."),
    ],
    ids=["prints", "crashes", "hangs"],
)
def test_a_pack_that_does_not_come_to_say_hello_is_told_by_what_it_does(start: str, said: str, tmp_path: Path) -> None:
    hangs = "Event" in start
    report = checked(write_pack(tmp_path / "pack", start=start), start_timeout_s=1.0 if hangs else 60.0)
    assert said in first_fault(report, "hello").message


def test_a_pack_of_a_newer_protocol_is_told_which_side_must_move(tmp_path: Path) -> None:
    start = """
    for event in read():
        message = "The kernel supports protocol 1; the pack supports 2."
        machine.fail(event.id, WireError("protocol.version", message, "Upgrade evalsi.", "protocol"))
    send()
    sys.exit()
    """
    fault = first_fault(checked(write_pack(tmp_path / "pack", start=start)), "hello")
    assert (
        fault.message
        == "hello was answered with protocol.version: The kernel supports protocol 1; the pack supports 2."
    )
    assert fault.hint == "Upgrade evalsi."


@pytest.mark.parametrize(
    ("answers", "check", "said"),
    [
        ("return float('nan')", "answers", "value is nan, which is not finite (OUT-3)"),
        ("return '1'", "answers", "which is no number (OUT-3)"),
        (
            'return ["scored", [{"value": 1, "passed": True}]]',
            "answers",
            "a score has passed and value of passed, value",
        ),
        ('return ["perhaps", {}]', "answers", 'the outcome is "perhaps"'),
        ('return ["skipped", {}]', "answers", "skipped has no reason"),
        ('return ["error", {"message": "x"}]', "answers", "the error has no code or no message"),
        ('return ["skipped", {"reason": "no"}]', "scores", "no sample was scored; the first one is skipped."),
        ("os._exit(3) if record['id'].startswith('odd') else 0\nreturn 1.0", "odd-records", "ended with code 3"),
        ("print('x', flush=True) if record['id'] == 'odd-4' else 0\nreturn 1.0", "odd-records", "on stdout"),
        ("memory.append(1)\nreturn 1 / len(memory)", "odd-records", "beside odd records"),
    ],
)
def test_outcomes_that_break_the_rules_are_found(answers: str, check: str, said: str, tmp_path: Path) -> None:
    assert said in first_fault(checked(write_pack(tmp_path / "pack", answers), level="behaves"), check).message


def test_a_pack_may_say_how_long_a_record_took_where_the_kernel_takes_that_and_only_there(tmp_path: Path) -> None:
    told = 'return ["scored", [{"value": 1.0}], *([MS] if "item.durations" in capabilities else [])]'
    good = checked(write_pack(tmp_path / "good", told.replace("MS", "812.5")))
    assert good.conforms, good.failed
    untold = 'return ["scored", [{"value": 1.0}], 812.5]'
    unasked = checked(write_pack(tmp_path / "unasked", untold), level="behaves")
    assert "did not name item.durations (ITM-8)" in first_fault(unasked, "answers").message
    nothing = checked(write_pack(tmp_path / "nothing", told.replace("MS", "-1")))
    assert [one.message for one in nothing.failed if "an item took -1, which is no finite number" in one.message]


def test_a_record_that_lacks_what_is_needed_and_is_scored_zero_is_found(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack")
    program = (pack / "program.py").read_text("utf-8")
    zero = program.replace('"skipped", {"reason": "record has no output"}', '"scored", [{"value": 0.0}]')
    assert zero != program
    (pack / "program.py").write_text(zero, "utf-8")
    fault = first_fault(checked(pack, level="behaves"), "skips")
    assert fault.message == "a record without output is score value 0.0, not skipped (OUT-2)."


def test_a_pack_that_hangs_on_a_record_costs_its_own_checks_and_ends_the_others_soon(tmp_path: Path) -> None:
    hangs = "import threading\nreturn threading.Event().wait()"
    report = checked(write_pack(tmp_path / "pack", hangs), level="behaves", timeout_s=3.0)
    assert first_fault(report, "answers").message == "It did not answer score within 3 s."
    assert "lost 3 times" in report.findings[-1].message


@pytest.mark.parametrize(
    ("answers", "check", "said"),
    [
        ("return 2.0", "range", 'sample-1: the score "polite" is 2.0, outside of 0 to 1.'),
        ('return ["scored", [{"passed": True}]]', "range", 'the score "polite" is a pass, and declared as number.'),
        ('return ["scored", [{"name": "x", "value": 1}]]', "range", 'the score "x" is not among the declared outputs.'),
        ("return os.getpid() % 1000 / 1000", "deterministic", "in a second process."),
        (
            LOOKS_BACK,
            "order",
            "in another order.",
        ),
        (
            ONCE.format("(Path.home() / '.acme').write_text('x')"),
            "writes",
            "it wrote ~/.acme.",
        ),
        (
            ONCE.format("(Path(__file__).parent / 'seen.txt').write_text(str(os.getpid()))"),
            "writes",
            "it changed seen.txt in the pack's folder.",
        ),
    ],
    ids=["range", "kind", "undeclared", "random", "order", "home", "folder"],
)
def test_what_cannot_be_trusted_is_found(answers: str, check: str, said: str, tmp_path: Path) -> None:
    assert said in first_fault(checked(write_pack(tmp_path / "pack", answers)), check).message


@pytest.mark.skipif(not can_wall(), reason="this host allows no namespaces")
@pytest.mark.parametrize(
    "write",
    [
        "open({path!r}, 'a')",
        "subprocess.run(['sh', '-c', 'echo x > {path}'])",
        "can({path!r}) or print('cannot write:', os.strerror(30), file=sys.stderr)",
    ],
    ids=["by itself", "by a child", "swallowed and logged"],
)
def test_a_pack_that_writes_where_it_may_not_is_found(write: str, tmp_path: Path) -> None:
    start = """
    import subprocess, sys
    def can(path):
        try: open(path, 'a')
        except OSError: return False
        return True
    """
    elsewhere = tmp_path / "elsewhere"
    answers = ONCE.format(write.format(path=str(elsewhere)))
    found = faults(checked(write_pack(tmp_path / "pack", answers, start=start)))
    assert "writes" in found, found
    fault = found["writes"]
    assert fault.message.startswith("it tried to write elsewhere: ")
    assert os.strerror(errno.EROFS) in fault.message


@pytest.mark.skipif(not can_wall(), reason="this host allows no network namespaces")
@pytest.mark.parametrize("when", ["while it scores", "at its end"])
@pytest.mark.parametrize(
    "address", ["('192.0.2.1', 9)", "('127.0.0.1', 9)", "('2001:db8::1', 9)"], ids=["far", "near", "IPv6"]
)
def test_a_pack_that_opens_a_connection_is_found_although_it_swallows_the_failure(
    address: str, when: str, tmp_path: Path
) -> None:
    answers = f"""
    import socket
    if record["id"] == "sample-2" and {when == "while it scores"}:
        with socket.socket(socket.AF_INET6 if ":" in {address}[0] else socket.AF_INET) as line:
            line.connect_ex({address})
    return 1.0
    """
    start = f"""
    import socket
    end = os._exit
    def leave(code):
        with socket.socket(socket.AF_INET6 if ":" in {address}[0] else socket.AF_INET) as line:
            line.connect_ex({address})
        end(code)
    os._exit = leave
    """
    report = checked(write_pack(tmp_path / "pack", answers, start=start if when == "at its end" else ""))
    assert [one.check for one in report.failed] == ["network"]
    assert "to reach something by the network" in report.failed[0].message


def test_where_the_host_has_no_walls_the_network_is_said_not_to_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalsi_conformance.trusting.can_wall", lambda: False)
    (found,) = [one for one in checked(write_pack(tmp_path / "pack")).findings if one.check == "network"]
    assert (found.status, found.message.startswith("not checked on this host")) == ("unchecked", True)


def test_a_failed_judge_that_becomes_a_zero_is_found(tmp_path: Path) -> None:
    report = checked(write_pack(tmp_path / "pack", "return 1.0 if ask().get('text') else 0.0", asks='["judge"]'))
    assert {one.check for one in report.failed} == {"failing-judge"}
    manners = {one.message.rpartition("reply is ")[2] for one in report.failed}
    assert manners == {"unparsable.", "refused.", "not bound.", "empty."}
    assert all("is score value 0.0 where" in one.message for one in report.failed)


def test_a_program_that_is_not_there_is_one_fault(tmp_path: Path) -> None:
    report = check_pack(write_pack(tmp_path / "pack"), Program(("no-such-program",)))
    assert [one.message for one in report.failed] == ["no-such-program cannot be started: No such file or directory."]


def test_a_pack_that_asks_for_the_network_in_its_manifest_is_not_held_from_it(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack")
    manifest = (pack / "plugin.toml").read_text("utf-8")
    asks = '\n[permissions]\nnetwork = ["words.example"]\n\n[[evaluators]]'
    (pack / "plugin.toml").write_text(manifest.replace("\n[[evaluators]]", asks), "utf-8")
    (found,) = [one for one in checked(pack).findings if one.check == "network"]
    assert (found.status, found.message) == ("unchecked", "its manifest asks for the network: words.example")
