"""The catalog: found on a search path, cached in one file, resolved by name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalsi_kernel.errors import ConfigError, PackError
from evalsi_kernel.packs.catalog import Catalog, default_catalog, load_catalog


def write_pack(folder: Path, name: str, *evaluators: str) -> Path:
    """A pack whose evaluators are given as `name` or `name@version`."""
    lines = [f'manifest = 1\nname = "{name}"\nversion = "0.1.0"\nsummary = "A pack."\nprotocol = 1\n']
    lines.append('[run]\nmodule = "some_pack"\n')
    for evaluator in evaluators:
        own, _, version = evaluator.partition("@")
        lines.append(f'[[evaluators]]\nname = "{own}"\nversion = "{version or 1}"\nneeds = ["output"]\n')
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "plugin.toml"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def packs(tmp_path: Path) -> Path:
    """A folder with built-in packs, an adapter and two packs of one publisher."""
    folder = tmp_path / "packs"
    write_pack(folder / "core", "core", "exact-match", "latency@2.1.0")
    write_pack(folder / "ragas", "ragas", "faithfulness")
    write_pack(folder / "acme-readability", "acme/readability", "tone", "length")
    write_pack(folder / "acme-style", "acme/style", "length@3")
    return folder


@pytest.fixture
def catalog(packs: Path, tmp_path: Path) -> Catalog:
    return load_catalog([packs], tmp_path / "cache")


def refused(catalog: Catalog, ref: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        catalog.resolve(ref)
    return caught.value


# -- finding -------------------------------------------------------------------------------------------------------


def test_packs_are_found_in_the_order_of_the_search_path_then_by_folder(packs: Path, tmp_path: Path) -> None:
    write_pack(tmp_path / "mine" / "zeta", "me/zeta", "one")
    catalog = load_catalog([tmp_path / "mine", packs], tmp_path / "cache")
    assert [pack.name for pack in catalog.packs] == ["me/zeta", "acme/readability", "acme/style", "core", "ragas"]
    assert [one.ref for one in catalog.evaluators()][:3] == [
        "me/zeta/one",
        "acme/readability/tone",
        "acme/readability/length",
    ]
    assert catalog.warnings == ()


def test_an_entry_of_the_search_path_may_be_a_pack_itself(packs: Path, tmp_path: Path) -> None:
    catalog = load_catalog([packs / "core"], tmp_path / "cache")
    assert [(pack.name, pack.folder) for pack in catalog.packs] == [("core", packs / "core")]


def test_a_folder_that_is_not_there_and_one_without_packs_hold_none(tmp_path: Path) -> None:
    (tmp_path / "empty" / "not-a-pack").mkdir(parents=True)
    (tmp_path / "empty" / "a-file").write_text("")
    write_pack(tmp_path / "empty" / ".hidden", "hidden", "one")
    assert load_catalog([tmp_path / "nowhere", tmp_path / "empty"], tmp_path / "cache") == Catalog()


def test_a_file_on_the_search_path_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be searched for packs" in load_catalog([tmp_path / "file"], tmp_path / "cache").warnings[0]


def test_one_folder_that_is_reached_twice_is_one_pack(packs: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(packs)
    catalog = load_catalog([packs, tmp_path / "link", packs / "core"], tmp_path / "cache")
    assert len(catalog.packs) == 4
    assert catalog.warnings == ()


def test_the_first_of_two_packs_of_one_name_wins_and_a_warning_names_both(packs: Path, tmp_path: Path) -> None:
    write_pack(tmp_path / "mine" / "core", "core", "own-match")
    catalog = load_catalog([tmp_path / "mine", packs], tmp_path / "cache")
    assert catalog.pack("core").folder == tmp_path / "mine" / "core"
    assert len(catalog.warnings) == 1
    assert str(tmp_path / "mine" / "core") in catalog.warnings[0]
    assert str(packs / "core") in catalog.warnings[0]
    assert refused(catalog, "exact-match").code == "config.unknown_evaluator"


def test_the_catalog_of_this_machine_follows_its_variables(
    packs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", str(packs / "acme-style"))
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    assert default_catalog().packs[0].name == "acme/style"
    assert list((tmp_path / "cache").iterdir())


# -- resolving -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ref", "meant"),
    [
        ("exact-match", "core/exact-match"),
        ("builtin/exact-match", "core/exact-match"),
        ("core/exact-match", "core/exact-match"),
        ("exact-match@1", "core/exact-match"),
        ("core/exact-match@1", "core/exact-match"),
        ("latency@2", "core/latency"),
        ("latency@2.1.0", "core/latency"),
        ("acme/readability/tone", "acme/readability/tone"),
        ("acme/tone", "acme/readability/tone"),
        ("tone", "acme/readability/tone"),
        ("ragas/faithfulness", "ragas/faithfulness"),
        ("length@3", "acme/style/length"),
        ("acme/style/length", "acme/style/length"),
    ],
)
def test_a_name_means_one_evaluator(catalog: Catalog, ref: str, meant: str) -> None:
    assert catalog.resolve(ref).ref == meant


def test_a_short_name_that_two_packs_give_is_an_error_that_lists_them(catalog: Catalog) -> None:
    for ref in ("length", "acme/length"):
        error = refused(catalog, ref)
        assert error.code == "config.ambiguous_evaluator"
        assert "acme/readability/length, acme/style/length" in error.message
        assert error.details["candidates"] == ["acme/readability/length", "acme/style/length"]


def test_a_pack_of_just_the_name_goes_before_the_packs_of_a_publisher(packs: Path, tmp_path: Path) -> None:
    write_pack(packs / "acme", "acme", "tone")
    assert load_catalog([packs], tmp_path / "cache").resolve("acme/tone").ref == "acme/tone"


def test_an_unknown_name_is_answered_with_the_nearest_and_how_to_list(catalog: Catalog) -> None:
    error = refused(catalog, "exact_mach@1")
    assert error.code == "config.unknown_evaluator"
    assert error.message == 'Unknown evaluator "exact_mach".'
    assert error.hint == 'Did you mean "exact-match"? `evalsi catalog` lists every evaluator.'


def test_an_unknown_name_within_a_pack_is_answered_with_what_the_pack_has(catalog: Catalog) -> None:
    assert "core has: exact-match, latency." in refused(catalog, "core/contains").hint


def test_an_unknown_pack_before_a_name_is_answered_with_the_nearest_ref(catalog: Catalog) -> None:
    assert 'Did you mean "core/exact-match"?' in refused(catalog, "cores/exact-match").hint


def test_builtin_means_no_pack_of_a_publisher(catalog: Catalog) -> None:
    assert refused(catalog, "builtin/tone").code == "config.unknown_evaluator"


def test_a_short_name_means_a_framework_s_evaluator_only_where_no_other_pack_has_it(tmp_path: Path) -> None:
    write_pack(tmp_path / "rag", "rag", "faithfulness")
    manifest = write_pack(tmp_path / "ragas", "ragas", "faithfulness", "rubrics-score")
    manifest.write_text(manifest.read_text("utf-8").replace("[run]", 'wraps = "Ragas"\n[run]'), "utf-8")
    catalog = load_catalog([tmp_path], tmp_path / "cache")
    meant = {
        "faithfulness": "rag/faithfulness",
        "builtin/faithfulness": "rag/faithfulness",
        "ragas/faithfulness": "ragas/faithfulness",
        "rubrics-score": "ragas/rubrics-score",
    }
    assert {ref: catalog.resolve(ref).ref for ref in meant} == meant
    again = load_catalog([tmp_path], tmp_path / "cache")
    assert again.packs == catalog.packs


def test_a_version_that_is_not_there_is_answered_with_the_one_that_is(catalog: Catalog) -> None:
    error = refused(catalog, "latency@1")
    assert error.code == "config.evaluator_version"
    assert "core/latency@2.1.0" in error.message
    assert "latency@2.1.0" in error.hint


def test_code_of_the_users_own_is_not_looked_for_in_the_catalog(catalog: Catalog) -> None:
    assert "your own code" in refused(catalog, "./my_evals.py:polite").message


def test_an_unknown_pack_is_answered_with_those_there_are(catalog: Catalog) -> None:
    with pytest.raises(ConfigError, match='Unknown pack "cor"') as caught:
        catalog.pack("cor")
    assert 'Did you mean "core"? Known packs: acme/readability' in caught.value.hint


def test_an_empty_catalog_says_that_there_is_nothing() -> None:
    assert "evalsi catalog" in refused(Catalog(), "exact-match").hint
    with pytest.raises(ConfigError, match="search path has no packs"):
        Catalog().pack("core")


# -- broken manifests ----------------------------------------------------------------------------------------------


@pytest.fixture
def with_broken(packs: Path, tmp_path: Path) -> Catalog:
    path = write_pack(packs / "bad", "acme/bad", "fluency")
    path.write_text(path.read_text().replace("needs", "neds"))
    (packs / "worse").mkdir()
    (packs / "worse" / "plugin.toml").write_text("[run")
    return load_catalog([packs], tmp_path / "cache")


def test_a_broken_manifest_leaves_the_rest_usable_and_is_listed_with_its_problem(with_broken: Catalog) -> None:
    assert with_broken.resolve("exact-match").ref == "core/exact-match"
    assert [(one.name, one.evaluators) for one in with_broken.broken] == [("acme/bad", ("fluency",)), ("worse", ())]
    assert with_broken.broken[0].problems[0]["at"] == "evaluators[0].neds"


@pytest.mark.parametrize("ref", ["fluency", "acme/bad/fluency"])
def test_using_a_pack_with_a_broken_manifest_raises_the_located_error(with_broken: Catalog, ref: str) -> None:
    with pytest.raises(PackError, match=r"evaluators\[0\]\.neds is not a known key") as caught:
        with_broken.resolve(ref)
    assert caught.value.code == "pack.manifest"
    with pytest.raises(PackError, match="is not TOML"):
        with_broken.pack("worse")


def test_an_unknown_name_mentions_the_manifests_that_cannot_be_read(with_broken: Catalog) -> None:
    assert "The manifest of acme/bad, worse is invalid." in refused(with_broken, "perplexity").hint


def test_a_broken_manifest_is_told_the_same_from_the_cache(with_broken: Catalog, packs: Path, tmp_path: Path) -> None:
    assert load_catalog([packs], tmp_path / "cache") == with_broken


# -- the cache -----------------------------------------------------------------------------------------------------

PROBE = """
import sys
from pathlib import Path
from evalsi_kernel.packs.catalog import load_catalog
catalog = load_catalog([Path(sys.argv[1])], Path(sys.argv[2]))
print(len(catalog.packs), sorted({"pydantic", "tomllib", "difflib", "pluggy", "importlib.metadata"} & set(sys.modules)))
"""


def test_a_warm_catalog_reads_no_manifest_and_imports_nothing_to_do_so(packs: Path, tmp_path: Path) -> None:
    def probe() -> str:
        command = [sys.executable, "-c", PROBE, str(packs), str(tmp_path / "cache")]
        # The measurement of coverage imports what is looked for.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")}
        answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, env=environment)
        return answer.stdout.strip()

    assert probe().startswith("4 [")
    assert probe() == "4 []"


def test_the_cache_is_one_file_and_gives_what_was_read(packs: Path, catalog: Catalog, tmp_path: Path) -> None:
    (kept,) = (tmp_path / "cache").iterdir()
    assert kept.suffix == ".json"
    assert load_catalog([packs], tmp_path / "cache") == catalog
    assert list((tmp_path / "cache").iterdir()) == [kept]


@pytest.mark.usefixtures("catalog")
def test_a_changed_an_added_and_a_removed_manifest_are_each_noticed(packs: Path, tmp_path: Path) -> None:
    write_pack(packs / "core", "core", "exact-match@2")
    assert load_catalog([packs], tmp_path / "cache").resolve("exact-match").version == "2"
    write_pack(packs / "text", "text", "bleu")
    assert load_catalog([packs], tmp_path / "cache").resolve("bleu").ref == "text/bleu"
    (packs / "text" / "plugin.toml").unlink()
    assert refused(load_catalog([packs], tmp_path / "cache"), "bleu").code == "config.unknown_evaluator"


@pytest.mark.usefixtures("catalog")
def test_a_manifest_of_the_same_length_that_replaces_another_is_noticed(packs: Path, tmp_path: Path) -> None:
    path = packs / "core" / "plugin.toml"
    before = path.stat()
    new = packs / "core" / "new"
    new.write_text(path.read_text().replace('"exact-match"', '"exact-catch"'))
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    new.replace(path)
    assert path.stat().st_size == before.st_size
    assert load_catalog([packs], tmp_path / "cache").resolve("exact-catch").ref == "core/exact-catch"


@pytest.mark.usefixtures("catalog")
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"key": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_cache_that_cannot_be_read_is_made_again(packs: Path, tmp_path: Path, content: bytes) -> None:
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_bytes(content)
    catalog = load_catalog([packs], tmp_path / "cache")
    assert catalog.warnings == ()
    assert len(catalog.packs) == 4
    assert json.loads(kept.read_bytes())["value"]


def test_a_cache_that_cannot_be_written_is_a_warning_and_leaves_nothing_behind(packs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    catalog = load_catalog([packs], tmp_path / "file" / "cache")
    assert len(catalog.packs) == 4
    assert len(catalog.warnings) == 1
    assert "cannot be written" in catalog.warnings[0]


def test_a_rename_that_fails_leaves_no_half_written_cache(packs: Path, catalog: Catalog, tmp_path: Path) -> None:
    (kept,) = (tmp_path / "cache").iterdir()
    kept.unlink()
    # A folder of its name is what no rename of a file can replace.
    kept.mkdir()
    (kept / "inside").write_text("")
    again = load_catalog([packs], tmp_path / "cache")
    assert again.packs == catalog.packs
    assert len(again.warnings) == 1
    assert list((tmp_path / "cache").iterdir()) == [kept]


def test_two_search_paths_keep_caches_of_their_own(packs: Path, catalog: Catalog, tmp_path: Path) -> None:
    load_catalog([packs / "core"], tmp_path / "cache")
    assert len(list((tmp_path / "cache").iterdir())) == 2
    assert load_catalog([packs], tmp_path / "cache") == catalog
