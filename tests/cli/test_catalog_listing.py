"""Test `evalsi catalog`: publishers, judge calls, filters, and that no pack is started."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from evalsi_cli.environment_states import environment_states
from evalsi_cli.listing import trusts_of
from evalsi_kernel.packs.catalog import load_catalog
from evalsi_kernel.planning.environments import pack_state
from tests.cli.pack_folders import write_pack
from tests.cli.running import EVALSI, Done, evalsi


def packs_of(*words: str | Path, variables: dict[str, str] | None = None) -> dict[str, dict[str, Any]]:
    done = evalsi("catalog", *words, "--format", "json", variables=variables)
    assert done.code == 0, done.err
    return {pack["name"]: pack for pack in json.loads(done.out)["packs"]}


def refs_of(*words: str) -> list[str]:
    return [one["ref"] for pack in packs_of(*words).values() for one in pack["evaluators"]]


def test_json_says_whose_a_pack_is_and_how_far_to_trust_it(tmp_path: Path) -> None:
    write_pack(tmp_path, "acme/style", "polite")
    write_pack(tmp_path, "homemade", "rough")
    packs = packs_of(variables={"EVALSI_PLUGIN_PATH": str(tmp_path)})
    trust = {name: (pack["publisher"], pack["trust"]) for name, pack in packs.items()}
    assert trust["core"] == ("evalsi", "native")
    assert trust["ragas"] == ("evalsi", "wrapped")
    assert trust["acme/style"] == ("acme", "community")
    # A plain name makes nobody's pack one of Evals.si.
    assert trust["homemade"] == ("", "community")
    assert packs["acme/style"]["folder"] == str(tmp_path / "acme_style")


def test_it_says_how_many_questions_to_a_model_a_record_costs() -> None:
    packs = packs_of()
    calls = {one["ref"]: one["judge_calls"] for pack in packs.values() for one in pack["evaluators"]}
    assert calls["core/exact-match"] == 0
    assert calls["judge/llm-judge"] == 1
    assert calls["judge/pairwise"] == 2
    assert calls["rag/faithfulness"] is None
    text = evalsi("catalog", "--pack", "judge").out
    assert "asks: judge (at most 2 a record)" in text
    assert "asks: judge (any number of questions a record)" in text


@pytest.mark.parametrize(
    ("words", "there", "not_there"),
    [
        (["--judge"], "rag/faithfulness", "core/exact-match"),
        (["--no-judge"], "core/exact-match", "rag/faithfulness"),
        (["--needs", "context"], "rag/faithfulness", "core/exact-match"),
        (["--needs", "context", "--needs", "reference"], "rag/context-recall", "rag/faithfulness"),
        (["--needs", "usage"], "core/latency", "core/exact-match"),
        (["--needs", "usage.latency_ms"], "core/latency", "core/tokens"),
        (["regular", "expression"], "core/regex-match", "core/exact-match"),
        (["RAGAS", "faithfulness"], "ragas/faithfulness", "rag/faithfulness"),
        (["--pack", "judge", "pairwise"], "judge/pairwise", "judge/llm-judge"),
    ],
)
def test_a_filter_leaves_what_fits_it(words: list[str], there: str, not_there: str) -> None:
    found = refs_of(*words)
    assert there in found
    assert not_there not in found


def test_filters_that_leave_nothing_print_nothing_and_say_so() -> None:
    done = evalsi("catalog", "--needs", "metadata.no-such-key")
    assert (done.code, done.out, done.err) == (0, "", "no evaluator matches\n")
    assert packs_of("--needs", "metadata.no-such-key") == {}
    near = evalsi("catalog", "--needs", "usage.latency")
    assert (near.code, near.err) == (0, 'no evaluator matches. Did you mean "usage.latency_ms"?\n')
    assert evalsi("catalog", "--judge", "--no-judge").code == 2


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    ("field", "told"), [("outptu", 'Did you mean "output"? Use: input, output,'), ("foo.bar", "Use: input, output,")]
)
def test_a_field_that_no_record_has_is_refused_with_those_there_are(form: str, field: str, told: str) -> None:
    done = evalsi("catalog", "--needs", "output", "--needs", field, "--format", form)
    assert (done.code, done.out) == (2, "")
    assert f"--needs {field} is not a field that evaluators can need." in done.err
    assert told in done.err


@pytest.mark.parametrize("words", [[], ["--format", "json"]])
def test_a_hundred_packs_are_listed_without_a_process_and_when_warm_without_a_lock_being_read(
    tmp_path: Path, words: list[str]
) -> None:
    for number in range(100):
        write_pack(tmp_path / "packs", f"acme/p{number}", f"e{number}")
    variables = os.environ | {
        "EVALSI_PLUGIN_PATH": str(tmp_path / "packs"),
        "EVALSI_CACHE_DIR": str(tmp_path / "cache"),
    }
    script = (
        "import sys; told = []\n"
        "sys.addaudithook(lambda event, args: told.append((event, str(args[0]))) if event in "
        "('open', 'subprocess.Popen', 'os.exec', 'os.fork', 'os.posix_spawn') else None)\n"
        "from evalsi_cli.main import main\n"
        "code = main(['catalog', *sys.argv[1:]])\n"
        "print(len([one for one in told if one[0] != 'open']), "
        "len([path for event, path in told if path.endswith('uv.lock')]), "
        "len([path for event, path in told if '/catalog-' in path]), code, file=sys.stderr)"
    )
    for is_cold in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            env=variables,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        started, locks, catalogs, code = done.stderr.splitlines()[-1].split()
        assert (started, code) == ("0", "0")
        assert int(locks) >= 100 if is_cold else locks == "0"
        assert (catalogs != "0") == is_cold, "what did not change is neither read nor formatted again"
        assert len({*re.findall(r"acme/p\d+", done.stdout)}) == 100


def test_a_listing_that_was_kept_reads_as_one_that_is_made_anew_and_goes_with_any_change(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "packs", "acme/style", "polite")
    variables = {"EVALSI_PLUGIN_PATH": str(tmp_path / "packs"), "EVALSI_CACHE_DIR": str(tmp_path / "cache")}

    def listed(*words: str) -> Done:
        return evalsi("catalog", *words, variables=variables)

    def of_the_pack(out: str) -> str:
        return next(part for part in out.split("\n\n") if part.startswith("acme/style"))

    first, again = listed(), listed()
    assert list((tmp_path / "cache").glob("listing-*.json"))
    assert first == again
    assert of_the_pack(first.out) == evalsi("catalog", "--pack", "acme/style", variables=variables).out.rstrip("\n")
    assert "(community, by acme; environment not built yet): A pack of a test." in first.out
    as_json, kept = listed("--format", "json"), listed("--format", "json")
    assert as_json == kept
    table = json.loads(kept.out)
    assert kept.out == json.dumps(table, ensure_ascii=False, indent=2) + "\n"
    assert {one["name"]: one["environment"] for one in table["packs"]}["acme/style"] == "missing"
    (of_one,) = json.loads(evalsi("catalog", "--pack", "acme/style", "--format", "json", variables=variables).out)[
        "packs"
    ]
    assert of_one in table["packs"]
    in_ascii = evalsi("catalog", "--format", "json", variables={**variables, "PYTHONIOENCODING": "ascii"}).out
    assert (json.loads(in_ascii), in_ascii.isascii(), kept.out.isascii()) == (table, True, False)
    (folder / "uv.lock").unlink()
    assert "(community, by acme; no uv.lock): A pack of a test." in listed().out
    states = {one["name"]: one["environment"] for one in json.loads(listed("--format", "json").out)["packs"]}
    assert states["acme/style"] == "no lock"
    manifest = (folder / "plugin.toml").read_text("utf-8")
    (folder / "plugin.toml").write_text(manifest.replace("An evaluator of a test.", "Another one."), "utf-8")
    assert "  polite@1  Another one.\n" in listed().out
    (folder / "plugin.toml").write_text(manifest.replace("protocol = 1", ""), "utf-8")
    assert ["protocol is missing" in listed().err for _ in range(2)] == [True, True], "a note is told each time"


def test_a_terminal_gets_lines_that_fit_it_and_a_pipe_gets_them_whole(tmp_path: Path) -> None:
    write_pack(tmp_path / "packs", "acme/style", "polite")
    text = (tmp_path / "packs" / "acme_style" / "plugin.toml").read_text("utf-8")
    words = " ".join(f"word{number}" for number in range(40))
    manifest = text.replace("An evaluator of a test.", words).replace("A pack of a test.", words)
    (tmp_path / "packs" / "acme_style" / "plugin.toml").write_text(manifest, "utf-8")
    variables = {"EVALSI_PLUGIN_PATH": str(tmp_path / "packs"), "TERM": "dumb"}
    whole = evalsi("catalog", "--pack", "acme/style", variables=variables).out
    assert f"  polite@1  {words}\n" in whole
    for command in (["catalog"], ["catalog", "--pack", "acme/style"], ["doctor"]):
        for width in (80, 40):
            shown = in_a_terminal(width, *command, variables=variables)
            longest = max(shown.splitlines(), key=len)
            assert len(longest) <= width or " " not in longest.strip(), longest
            assert command == ["doctor"] or f"word{39}\n  polite@1  word0 word1" in shown
    again = in_a_terminal(80, "catalog", "--pack", "acme/style", variables=variables)
    assert again.split() == whole.split(), "broken, and nothing lost"


def in_a_terminal(width: int, *words: str, variables: dict[str, str]) -> str:
    """What the command writes into a terminal of so many columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = os.environ | variables
    process = subprocess.Popen([EVALSI, *words], stdin=its, stdout=its, stderr=its, env=environment)
    os.close(its)
    written = bytearray()
    # Linux ends a terminal that nobody writes to any more with an error.
    with suppress(OSError), open(ours, "rb", buffering=0) as terminal:
        while data := terminal.read(65536):
            written += data
    assert process.wait(60) == 0, written.decode()
    return written.decode().replace("\r\n", "\n")


def test_states_are_those_that_a_run_would_find_also_after_a_lock_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_pack(tmp_path / "packs", "acme/style", "polite")
    (write_pack(tmp_path / "packs", "acme/bare", "bare") / "uv.lock").unlink()
    packs = load_catalog([tmp_path / "packs"], tmp_path / "cache").packs
    assert environment_states(packs) == [pack_state(pack) for pack in packs]
    assert set(environment_states(packs)) <= {"ready", "missing", "no lock"}
    with (folder / "uv.lock").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert environment_states(packs) == [pack_state(pack) for pack in packs] == ["no lock", "missing"]
    (tmp_path / "file").write_text("where a folder should be")
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "file"))
    assert environment_states(packs) == ["no lock", "missing"]


def test_trust_is_of_the_place_and_not_of_the_name(tmp_path: Path) -> None:
    write_pack(tmp_path / "packs", "core", "sneaky")
    (pack,) = load_catalog([tmp_path / "packs"], tmp_path / "cache").packs
    assert trusts_of([pack]) == {pack.folder: "community"}
