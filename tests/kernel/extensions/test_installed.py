"""Extensions are loaded on use only, and answer for the names that they provide."""

import argparse
import sys
from pathlib import Path
from typing import cast

import pytest

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions.hook_calls import command, interval_method, open_source
from evalsi_kernel.extensions.info import ExtensionInfo
from evalsi_kernel.extensions.installed import Extensions, load_extensions
from tests.kernel.extension_site import Site

# -- providers -----------------------------------------------------------------------------------------------------


def test_a_name_that_two_extensions_provide_is_an_error_that_names_both(site: Site, cache: Path) -> None:
    site.install("lake")
    site.install("pond")
    extensions = load_extensions(cache)
    with pytest.raises(ConfigError, match=r'"lake" \(schemes\) is provided by acme-lake and acme-pond') as caught:
        extensions.provider("schemes", "lake")
    assert "pip uninstall acme-pond" in caught.value.hint


def test_a_name_that_none_provides_has_no_provider(site: Site, cache: Path) -> None:
    site.install("lake")
    assert load_extensions(cache).provider("schemes", "sea") is None


# -- loading -------------------------------------------------------------------------------------------------------


def test_an_extension_is_imported_when_it_is_used_and_only_once(site: Site, cache: Path) -> None:
    package = site.install("lake")
    extensions = load_extensions(cache)
    assert f"{package}.plugin" not in sys.modules
    manager = extensions.plugin_manager_for("schemes", "lake")
    assert f"{package}.plugin" in sys.modules
    assert extensions.plugin_manager_for("suffixes", ".lake") is manager


def test_only_the_provider_is_asked(site: Site, cache: Path) -> None:
    site.install("greedy", provides='schemes = ["greedy"]\n')
    site.install("lake", provides='schemes = ["lake"]\n')
    extensions = load_extensions(cache)
    extensions.load(extensions.infos[0])
    assert [name for name, _ in extensions.plugin_manager_for("schemes", "lake").list_name_plugin()] == ["lake"]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import not_installed_anywhere", "ModuleNotFoundError: No module named 'not_installed_anywhere'"),
        ("1 / 0", "ZeroDivisionError"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_an_extension_that_cannot_be_imported_is_told_with_its_distribution_and_the_cause(
    site: Site, cache: Path, code: str, told: str
) -> None:
    site.install("lake", code=code)
    with pytest.raises(ConfigError) as caught:
        open_source("lake://x", load_extensions(cache))
    assert caught.value.code == "config.extension"
    assert caught.value.message.startswith("The extension lake of acme-lake 1.2 cannot be imported: ")
    assert told in caught.value.message
    assert "pip uninstall acme-lake" in caught.value.hint
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("@hookimpl\ndef evalsi_open_sauce(uri): ...", 'not a hook. Did you mean "evalsi_open_source"?'),
        ("def evalsi_open_source(uri): ...", "without @hookimpl. Decorate it with @hookimpl."),
        ("@hookimpl\ndef evalsi_open_source(url): ...", "is incompatible"),
        ('@hookimpl(specname="evalsi_nothing")\ndef open(uri): ...', "is incompatible"),
    ],
)
def test_a_hook_that_would_be_passed_over_in_silence_is_an_error(site: Site, cache: Path, code: str, told: str) -> None:
    site.install("lake", code=f"from evalsi_kernel.hooks import hookimpl\n{code}\n")
    with pytest.raises(ConfigError) as caught:
        open_source("lake://x", load_extensions(cache))
    assert caught.value.code == "config.extension"
    assert told in str(caught.value)
    assert "acme-lake" in caught.value.message


# -- data ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "uri", ["lake://bucket/x", "LAKE://bucket/x", "-", "x.lake", "folder/x.LAKE", "/a/x.y.lake.gz"]
)
def test_data_is_opened_by_scheme_as_standard_input_or_by_the_end_of_its_name(
    site: Site, cache: Path, uri: str
) -> None:
    site.install("lake")
    assert open_source(uri, load_extensions(cache)).name == uri


def test_the_longest_end_of_a_name_that_is_provided_wins(site: Site, cache: Path) -> None:
    site.install("zip", provides='suffixes = [".gz"]\n', code="raise RuntimeError")
    site.install("lake")
    assert open_source("x.lake.gz", load_extensions(cache)).name == "x.lake.gz"


def test_an_unknown_scheme_is_answered_with_those_there_are(site: Site, cache: Path) -> None:
    site.install("lake")
    with pytest.raises(ConfigError, match='Unrecognized URI scheme: "lak://"') as caught:
        open_source("lak://x", load_extensions(cache))
    assert caught.value.hint == 'Did you mean "lake"? Known names: lake.'


def test_a_scheme_of_a_known_extension_is_answered_with_what_to_install(site: Site, cache: Path) -> None:
    site.install("lake")
    with pytest.raises(ConfigError) as caught:
        open_source("hf://org/set", load_extensions(cache))
    assert "pip install 'evalsi-datasets[hf]'" in caught.value.hint


def test_what_is_left_out_is_told_before_what_could_be_installed() -> None:
    extensions = Extensions(warnings=["The extension datasets is left out."])
    with pytest.raises(ConfigError) as caught:
        open_source("-", extensions)
    assert caught.value.hint == "The extension datasets is left out."


@pytest.mark.parametrize(
    ("uri", "told"),
    [("x.jsonl", 'Unrecognized file extension: ".jsonl".'), ("-", "No installed extension reads standard input.")],
)
def test_without_any_reader_the_hint_says_what_brings_one(tmp_path: Path, uri: str, told: str) -> None:
    path = tmp_path / uri
    path.write_text("{}")
    with pytest.raises(ConfigError) as caught:
        open_source(uri if uri == "-" else str(path), Extensions())
    assert caught.value.message == told
    assert "pip install 'evalsi-datasets'" in caught.value.hint


def test_a_file_of_an_unknown_kind_is_answered_with_the_kinds_there_are(
    site: Site, cache: Path, tmp_path: Path
) -> None:
    site.install("lake")
    (tmp_path / "x.xyz").write_text("")
    with pytest.raises(ConfigError) as caught:
        open_source(str(tmp_path / "x.xyz"), load_extensions(cache))
    assert caught.value.message == 'Unrecognized file extension: ".xyz".'
    assert (
        caught.value.hint == "Convert the file, or rename it to a known extension: .lake, optionally followed by .gz."
    )


def test_a_file_that_is_not_there_is_not_a_question_of_its_kind(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        open_source(str(tmp_path / "x.xyz"), Extensions())


def test_a_reader_that_declines_what_it_provides_is_named(site: Site, cache: Path) -> None:
    site.install("lake")
    with pytest.raises(ConfigError, match=r'acme-lake 1\.2 declares "lake"') as caught:
        open_source("lake://declined", load_extensions(cache))
    assert caught.value.code == "config.extension"


# -- intervals -----------------------------------------------------------------------------------------------------


def test_an_interval_method_that_is_declared_and_not_given_is_told_with_its_distribution(
    site: Site, cache: Path
) -> None:
    site.install("lake", provides='intervals = ["lake"]\n')
    with pytest.raises(ConfigError, match=r"acme-lake 1\.2 declares .* evalsi_interval_method returned None"):
        interval_method("lake", load_extensions(cache))


def test_an_unknown_interval_method_is_answered_with_what_to_install() -> None:
    with pytest.raises(ConfigError, match='Unknown interval method "bootstrap"') as caught:
        interval_method("bootstrap", Extensions())
    assert "pip install 'evalsi-bootstrap'" in caught.value.hint


def test_an_unknown_interval_method_is_answered_with_the_nearest() -> None:
    info = ExtensionInfo("b", "b", "B.", "acme-b", "1", "/b/extension.toml", {"intervals": ["bootstrap"]})
    with pytest.raises(ConfigError) as caught:
        interval_method("bootstrp", Extensions([info, info._replace(provides={}, manifest="/c")]))
    assert caught.value.hint == 'Did you mean "bootstrap"? Known names: bootstrap.'


# -- commands ------------------------------------------------------------------------------------------------------

COMMAND = """
from evalsi_kernel.hooks import hookimpl


class Dredge:
    def __init__(self, toolkit):
        self.toolkit = toolkit

    def configure(self, parser): ...

    def run(self, options):
        return 0


@hookimpl
def evalsi_command(name, toolkit):
    return Dredge(toolkit) if name == "dredge" else None
"""
COMMANDS = '[provides.commands]\ndredge = "clean the bottom"\nsilt = "say nothing"\n'


def test_a_command_is_given_what_it_is_lent(site: Site, cache: Path) -> None:
    site.install("lake", provides=COMMANDS, code=COMMAND)
    toolkit = cast(Toolkit, object())
    made = command("dredge", toolkit, load_extensions(cache))
    assert vars(made) == {"toolkit": toolkit}
    assert made.run(argparse.Namespace()) == 0


def test_commands_are_known_with_their_lines_before_any_is_imported(site: Site, cache: Path) -> None:
    package = site.install("lake", provides=COMMANDS, code="raise RuntimeError")
    (info,) = load_extensions(cache).infos
    assert info.provides["commands"] == {"dredge": "clean the bottom", "silt": "say nothing"}
    assert info.names("commands") == ("dredge", "silt")
    assert package not in sys.modules


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("silt", 'acme-lake 1.2 declares "silt" (commands), but its hook evalsi_command returned None.'),
        ("dregde", 'Unknown command "dregde". Did you mean "dredge"? Known names: dredge, silt.'),
    ],
)
def test_a_command_that_is_not_given_is_told(site: Site, cache: Path, name: str, told: str) -> None:
    site.install("lake", provides=COMMANDS, code=COMMAND)
    with pytest.raises(ConfigError) as caught:
        command(name, cast(Toolkit, object()), load_extensions(cache))
    assert told in str(caught.value)


# -- the extensions that are installed here ------------------------------------------------------------------------


def test_the_interval_method_of_the_installed_bootstrap_makes_intervals(cache: Path) -> None:
    assert interval_method("bootstrap", load_extensions(cache)).name == "bootstrap"


def test_the_installed_readers_open_a_file(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "qa.jsonl").write_text('{"input": "q", "output": "a"}\n')
    source = open_source(str(tmp_path / "qa.jsonl"), load_extensions(cache))
    assert list(source.chunks()) == [[(1, {"input": "q", "output": "a"})]]
