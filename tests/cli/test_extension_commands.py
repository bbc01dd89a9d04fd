"""Test commands of extensions: listed without import, imported on use, with shared flags."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evalsi_cli.extension_commands import extension_commands
from evalsi_cli.toolkit import Toolkit
from evalsi_kernel.commands import Toolkit as ToolkitSeam
from evalsi_kernel.results.evaluated import Evaluation
from evalsi_kernel.results.findings import Finding
from evalsi_kernel.status import Status
from tests.cli.running import QA, evalsi
from tests.kernel.extension_site import Site
from tests.own_cache import own_cache

COMMAND = """
import sys
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.evaluation.evaluation import evaluate
from evalsi_kernel.hooks import hookimpl
from evalsi_kernel.request import Request


class Dredge:
    def __init__(self, toolkit):
        self.toolkit = toolkit

    def configure(self, parser):
        parser.add_argument("--depth", type=int, required=True, metavar="M", help="how deep")
        parser.add_argument("--evaluators", action="append", default=[], metavar="A,B", help="with what")
        self.toolkit.add_model_flags(parser)

    def run(self, options):
        if options.depth > 100:
            raise ConfigError("The lake is not so deep.", "Dredge less.")
        models = self.toolkit.models_of(options)
        request = Request({qa!r}, self.toolkit.wanted_evaluators(options.evaluators))
        with self.toolkit.listening(total=6) as listener:
            listener.on_note("dredging")
            evaluation = evaluate(request, default_catalog(), listener=listener, check=self.look)
        print(self.toolkit.as_json({{"depth": options.depth, "judge": models and models.roles["primary"].model}}))
        return self.toolkit.print_findings(evaluation)

    def look(self, instances):
        if [one.name for one in instances] == ["contains"]:
            raise ConfigError("contains is not for lakes.", "Take another.")


@hookimpl
def evalsi_command(name, toolkit):
    return Dredge(toolkit) if name == "dredge" else None
"""
PROVIDES = '[provides.commands]\ndredge = "clean the bottom of the lake"\nsilt = "say nothing"\n'


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """An installed extension that brings two commands, of which it gives only one; in a path that the command sees."""
    site = Site(tmp_path / "site")
    package = site.install("lake", provides="", code=COMMAND.format(qa=str(QA)))
    manifest = site.folder / package / "extension.toml"
    manifest.write_text(manifest.read_text().partition("[provides]")[0] + PROVIDES)
    # What reads data and what builds environments stay installed: what hides the others is taken away.
    for stays in ("evalsi_datasets", "evalsi_provisioning"):
        (site.folder / f"{stays}-0.dist-info" / "METADATA").unlink()
        (site.folder / f"{stays}-0.dist-info").rmdir()
    monkeypatch.setenv("PYTHONPATH", str(site.folder))
    monkeypatch.setenv("EVALSI_CACHE_DIR", own_cache(tmp_path / "cache"))
    return site


# -- listed --------------------------------------------------------------------------------------------------------


def test_help_lists_the_commands_of_extensions_with_their_lines(site: Site) -> None:
    done = evalsi("--help")
    assert done.code == 0, done.err
    assert re.search(r"dredge +clean the bottom of the lake", done.out)
    assert "eval        score existing outputs" in done.out


def test_help_imports_no_extension(site: Site) -> None:
    script = (
        "import sys; from evalsi_cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if 'extension_under_test' in name or name == 'pluggy'])"
    )
    # The first one writes the index, for which alone importlib.metadata is needed.
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert "dredge" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_command_of_its_own_looks_for_no_extension() -> None:
    script = (
        "import sys; from evalsi_cli.main import main\nmain(['version'])\n"
        "print([name for name in sys.modules if 'extension' in name])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def completed(line: str) -> str:
    variables = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_TYPE": "9"}
    variables |= {"_ARGCOMPLETE_STDOUT_FILENAME": "/dev/stdout", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    return evalsi(variables=variables).out


def test_the_shell_completes_commands_of_extensions_and_their_flags(site: Site) -> None:
    assert "dredge" in completed("evalsi dre")
    assert "--depth" in completed("evalsi dredge --de")
    assert "--evaluators" in completed("evalsi eval --eval")


def test_the_shell_completes_other_commands_where_an_extension_is_broken(site: Site) -> None:
    (plugin,) = site.folder.glob("*/plugin.py")
    plugin.write_text("import not_installed_anywhere")
    assert "dredge" in completed("evalsi dre")
    assert "--evaluators" in completed("evalsi eval --eval")


def test_every_command_of_an_installed_extension_is_listed_with_a_line() -> None:
    commands = extension_commands()
    assert commands["calibrate"] == "compare an evaluator with human labels"


# -- used ----------------------------------------------------------------------------------------------------------


def test_a_command_is_lent_flags_of_models_progress_and_json(site: Site) -> None:
    done = evalsi("dredge", "--depth", "7", "--evaluators", "exact-match", "--judge-model", "m")
    assert (done.code, json.loads(done.out)) == (0, {"depth": 7, "judge": "m"}), done.err
    assert "dredging" in done.err.splitlines()


def test_an_error_of_a_command_is_a_sentence_with_its_hint(site: Site) -> None:
    done = evalsi("dredge", "--depth", "101")
    assert (done.code, done.out) == (1, "")
    assert done.err == "error: The lake is not so deep.\n  Dredge less.\n"


def test_a_command_can_refuse_the_evaluators_before_anything_is_scored(site: Site) -> None:
    done = evalsi("dredge", "--depth", "1", "--evaluators", "contains")
    assert (done.code, done.out) == (1, "")
    assert "error: contains is not for lakes.\n  Take another.\n" in done.err


def test_the_findings_of_an_evaluation_are_told_as_eval_tells_them(site: Site) -> None:
    done = evalsi("dredge", "--depth", "1", "--evaluators", "cost")
    told = evalsi("eval", "--data", QA, "--evaluators", "cost")
    assert done.code == told.code == 1
    assert done.err.splitlines()[-1] == told.err.splitlines()[-1]
    assert done.err.splitlines()[-1].startswith("error: cost skipped every record")


def test_a_wrong_flag_is_met_with_the_nearest_one(site: Site) -> None:
    done = evalsi("dredge", "--depht", "7")
    assert done.code == 2
    assert "--depth" in done.err


def test_help_of_a_command_shows_its_flags(site: Site) -> None:
    done = evalsi("dredge", "--help")
    assert "Clean the bottom of the lake." in done.out
    assert "--depth M" in done.out
    assert "--judge-model MODEL" in done.out


# -- not there, or broken ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("word", "meant"), [("dregde", "dredge"), ("evl", "eval"), ("calibrat", "calibrate")])
def test_an_unknown_command_is_met_with_the_nearest_one_of_any_extension(site: Site, word: str, meant: str) -> None:
    variables = {"PYTHONPATH": ""} if meant == "calibrate" else {}
    done = evalsi(word, variables=variables)
    assert (done.code, done.out) == (2, "")
    assert f"there is no {word!r}. Did you mean {meant!r}?" in done.err


def test_a_command_that_nothing_brings_is_met_with_all_there_are(site: Site) -> None:
    done = evalsi("xyzzy")
    assert done.code == 2
    assert "Choose one of eval," in done.err
    assert "dredge" in done.err


def test_a_value_that_a_flag_does_not_take_is_met_with_those_of_this_flag() -> None:
    done = evalsi("plugins", "check", ".", "--level", "xyz")
    assert "there is no 'xyz'. Choose one of loads, behaves, trustworthy.\n" in done.err


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import not_installed_anywhere", "cannot be imported: ModuleNotFoundError: No module named 'not_installed"),
        ("def broken(:", "cannot be imported: SyntaxError"),
        ("def evalsi_command(name, toolkit): ...", "defines evalsi_command without @hookimpl."),
    ],
    ids=range(3),
)
def test_an_extension_that_cannot_be_loaded_is_a_sentence_and_spoils_no_other_command(
    site: Site, code: str, told: str
) -> None:
    (plugin,) = site.folder.glob("*/plugin.py")
    plugin.write_text(code)
    done = evalsi("dredge", "--depth", "7")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: The extension lake of acme-lake 1.2 ")
    assert told in done.err
    assert "Traceback" not in done.err
    assert evalsi("--help").code == 0
    assert evalsi("version").code == 0


def test_a_command_that_is_declared_and_not_given_is_told_with_its_distribution(site: Site) -> None:
    done = evalsi("silt")
    assert done.code == 1
    assert 'acme-lake 1.2 declares "silt" (commands), but its hook evalsi_command returned None.' in done.err


def test_a_command_of_two_extensions_is_an_error_that_names_both(site: Site) -> None:
    head = 'extension = 1\nname = "pond"\nmodule = "pond.plugin"\nsummary = "Some."\n'
    site.install("pond", toml=f"{head}{PROVIDES}")
    done = evalsi("dredge", "--depth", "7")
    assert done.code == 1
    assert '"dredge" (commands) is provided by acme-lake and acme-pond.' in done.err


# -- the toolkit ---------------------------------------------------------------------------------------------------


def test_the_command_line_lends_what_the_seam_promises() -> None:
    lent: ToolkitSeam = Toolkit()
    parser = argparse.ArgumentParser()
    lent.add_model_flags(parser)
    assert lent.models_of(parser.parse_args([])) is None


NOTICE, PROBLEM = Finding("notice", "It is so."), Finding("problem", "It is so.")


@pytest.mark.parametrize(
    ("status", "finding", "quiet", "told"),
    [
        (Status.COMPLETE, NOTICE, False, (0, "note: It is so.\n")),
        (Status.COMPLETE, NOTICE, True, (0, "")),
        (Status.COMPLETE, PROBLEM, True, (1, "error: It is so.\n")),
        (Status.PARTIAL, NOTICE, False, (130, "note: It is so.\n")),
    ],
    ids=range(4),
)
def test_what_was_found_is_told_and_becomes_an_exit_code(
    capsys: pytest.CaptureFixture[str], status: Status, finding: Finding, quiet: bool, told: tuple[int, str]
) -> None:
    evaluation = Evaluation(status, None, 1, (), (), (finding,), {}, None)
    assert (Toolkit().print_findings(evaluation, quiet=quiet), capsys.readouterr().err) == told


def test_the_line_of_progress_is_gone_when_the_results_are_printed(site: Site) -> None:
    script = (
        "import os, pty, sys\n"
        "code = pty.spawn([sys.argv[1], 'dredge', '--depth', '7', '--evaluators', 'exact-match'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(Path(sys.executable).with_name("evalsi"))],
        capture_output=True, text=True, timeout=60, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    screen = done.stdout.partition("{")[0]
    assert screen.rpartition("\x1b[K")[2].strip() in ("", "dredging")
