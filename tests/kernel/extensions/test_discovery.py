"""Extensions are found without an import of any, and kept in an index."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalsi_kernel.extensions.info import ExtensionInfo
from evalsi_kernel.extensions.installed import Extensions, load_extensions
from tests.kernel.extension_site import Site


def only(extensions: Extensions) -> ExtensionInfo:
    (info,) = extensions.infos
    return info


# -- discovery -----------------------------------------------------------------------------------------------------


def test_an_extension_is_known_from_its_file_alone(site: Site, cache: Path) -> None:
    package = site.install("lake")
    info = only(load_extensions(cache))
    assert (info.name, info.module, info.distribution, info.version) == (
        "lake",
        f"{package}.plugin",
        "acme-lake",
        "1.2",
    )
    assert info.names("suffixes") == (".lake", ".lake.gz")
    assert info.names("stdin") == ("-",)
    assert info.names("intervals") == ()
    assert package not in sys.modules


def test_kinds_of_a_newer_kernel_are_kept(site: Site, cache: Path) -> None:
    site.install(
        "lake", provides='sinks = ["kafka"]\nmoods = true\nopaque = 3\n[provides.commands]\nserve = "Serve it."\n'
    )
    for _ in range(2):
        extensions = load_extensions(cache)
        assert extensions.warnings == ()
        assert extensions.provider("commands", "serve") == extensions.provider("sinks", "kafka") == only(extensions)
        assert only(extensions).provides["commands"] == {"serve": "Serve it."}
        assert extensions.names("opaque") == []


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("extension = 2\n", "extension is 2, but this version of Evals.si only supports 1. Upgrade Evals.si."),
        ('extension = 1\nname = "x"\n', "module is missing"),
        ('extension = 1\nnam = "x"\n', 'nam is not a known key. Did you mean "name"?'),
        ("[provides", "is not TOML"),
        ('[provides]\nschemes = "lake"\n', "provides.schemes must be a list"),
        ("[provides]\nschemes = [1]\n", "provides.schemes[0] must be text"),
        ('[provides]\nsuffixes = ["lake"]\n', "Use a dot"),
        ('[provides]\nsuffixes = [".LAKE"]\n', "lower-case letters"),
        ('[provides]\nstdin = "yes"\n', "provides.stdin must be true or false"),
        ('[provides]\ncommands = ["dredge"]\n', "provides.commands must be"),
        ('[provides.commands]\ndredge = ""\n', "provides.commands.dredge"),
        ("[provides]\nopaque = 1979-05-27\n", "provides.opaque must be a JSON value"),
    ],
)
def test_an_extension_whose_file_is_broken_is_left_out_and_told(site: Site, cache: Path, toml: str, told: str) -> None:
    site.install("good")
    site.install("bad", toml=toml)
    extensions = load_extensions(cache)
    assert only(extensions).name == "good"
    (warning,) = extensions.warnings
    assert warning.startswith("The extension bad of acme-bad is ignored.")
    assert told in warning


def test_an_extension_without_its_file_or_its_package_is_told(site: Site, cache: Path) -> None:
    package = site.install("bare")
    (site.folder / package / "extension.toml").unlink()
    assert (
        f"{site.folder / package / 'extension.toml'} cannot be read: No such file" in load_extensions(cache).warnings[0]
    )
    (site.folder / "acme_bare-1.2.dist-info" / "entry_points.txt").write_text("[evalsi.extensions]\nbare = gone_away\n")
    assert "There is no package gone_away." in load_extensions(cache.with_name("other")).warnings[0]


# -- the index -----------------------------------------------------------------------------------------------------


def test_the_index_is_used_until_something_is_installed_or_removed(site: Site, cache: Path) -> None:
    site.install("lake")
    first = load_extensions(cache)
    (index,) = cache.iterdir()
    kept = json.loads(index.read_text())
    kept["value"]["extensions"][0]["summary"] = "From the index."
    index.write_text(json.dumps(kept))
    assert only(load_extensions(cache)).summary == "From the index."
    site.install("river", provides='schemes = ["river"]\n')
    assert {info.name for info in load_extensions(cache).infos} == {"lake", "river"}
    (site.folder / "acme_river-1.2.dist-info" / "entry_points.txt").unlink()
    (site.folder / "acme_river-1.2.dist-info" / "METADATA").unlink()
    (site.folder / "acme_river-1.2.dist-info").rmdir()
    assert load_extensions(cache).infos == first.infos


def test_an_edit_of_an_extension_in_development_is_noticed(site: Site, cache: Path) -> None:
    package = site.install("lake")
    load_extensions(cache)
    path = site.folder / package / "extension.toml"
    path.write_text(path.read_text().replace('"lake"]', '"ocean"]'))
    assert load_extensions(cache).names("schemes") == ["ocean"]


def test_a_new_file_in_a_folder_that_holds_no_distribution_does_not_outdate_the_index(
    site: Site, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.install("lake")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    load_extensions(cache)
    (index,) = cache.iterdir()
    before = index.stat().st_ino
    (tmp_path / "results.json").write_text("{}")
    load_extensions(cache)
    assert index.stat().st_ino == before


def test_an_extension_that_was_mended_is_seen_at_once(site: Site, cache: Path) -> None:
    package = site.install("lake", toml="")
    path = site.folder / package / "extension.toml"
    assert "is missing" in load_extensions(cache).warnings[0]
    path.unlink()
    assert "cannot be read" in load_extensions(cache).warnings[0]
    path.write_text('extension = 1\nname = "lake"\nmodule = "m"\nsummary = "s"\n[provides]\n')
    assert only(load_extensions(cache)).name == "lake"


def test_a_package_whose_folder_comes_onto_the_path_later_is_not_kept_as_missing(
    site: Site, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = site.install("lake")
    source = tmp_path / "src"
    source.mkdir()
    (site.folder / package).rename(source / package)
    # So sees it a process that began before an installer, which is done now, had named that folder.
    (warning,) = load_extensions(cache).warnings
    assert f"There is no package {package}." in warning
    monkeypatch.syspath_prepend(source)
    assert only(load_extensions(cache)).name == "lake"


def test_an_index_that_cannot_be_written_is_a_warning(site: Site, tmp_path: Path) -> None:
    site.install("lake")
    (tmp_path / "file").write_text("")
    extensions = load_extensions(tmp_path / "file" / "cache")
    assert only(extensions).name == "lake"
    assert "cannot be written" in extensions.warnings[0]


PROBE = """
import sys
from pathlib import Path
from evalsi_kernel.extensions.installed import load_extensions
names = load_extensions(Path(sys.argv[1])).names("intervals")
heavy = {"pydantic", "pluggy", "importlib.metadata", "numpy", "evalsi_bootstrap", "evalsi_datasets"}
print(names, sorted(heavy & set(sys.modules)))
"""


def test_a_warm_index_imports_no_extension_and_nothing_that_finds_one(cache: Path) -> None:
    def probe() -> str:
        command = [sys.executable, "-c", PROBE, str(cache)]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")}
        answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, env=environment)
        return answer.stdout.strip()

    assert "evalsi_bootstrap" not in probe()
    assert probe() == "['bootstrap'] []"
