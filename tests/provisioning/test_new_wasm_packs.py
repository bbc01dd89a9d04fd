"""`evalsi plugins new --wasm` writes a whole pack in a language's kit, without any of the language's tools."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import uv

from evalsi_kernel.packs.manifests import load_manifest
from evalsi_provisioning.authoring import LANGUAGES
from evalsi_provisioning.new_pack import write_pack
from evalsi_provisioning.new_wasm_pack import KITS, texts_of
from tests.architecture.distributions import ROOT
from tests.cli.running import evalsi
from tests.wasm.hosting import EXAMPLES

PROVISIONING = ROOT / "plugins" / "extensions" / "provisioning"
KIT_FILES = PROVISIONING / "src" / "evalsi_provisioning" / "kits"
EVERYWHERE = {"README.md", "plugin.toml", "samples.jsonl", ".gitignore"}


def files_below(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def evaluators_of(folder: Path) -> Any:
    return tomllib.loads((folder / "plugin.toml").read_text("utf-8"))["evaluators"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_pack_is_written_whole_and_its_author_is_told_how_to_build_it(language: str, tmp_path: Path) -> None:
    done = evalsi("plugins", "new", "acme/readability", "--wasm", language, cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.startswith("wrote the pack acme/readability into readability/\n")
    build = KITS[language].commands[0][0]
    assert done.out.endswith(f"next: cd readability && {build}\nthen: evalsi plugins check .\n")
    assert files_below(tmp_path / "readability") == EVERYWHERE | {path for path, _ in KITS[language].files}


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_evaluators_are_those_of_a_new_pack_in_python(language: str, tmp_path: Path) -> None:
    write_pack("acme/tone", tmp_path / "python")
    write_pack("acme/tone", tmp_path / language, language)
    assert evaluators_of(tmp_path / language) == evaluators_of(tmp_path / "python")
    samples = [(tmp_path / kind / "samples.jsonl").read_bytes() for kind in ("python", language)]
    assert samples[0] == samples[1]
    pack = load_manifest(tmp_path / language / "plugin.toml").to_pack(tmp_path / language)
    assert (pack.runtime, pack.module) == ("wasm", "tone.wasm")


def test_the_kits_that_there_are_can_be_named_and_each_is_written_with_all_its_files() -> None:
    assert set(LANGUAGES) == set(KITS)
    for language, kit in KITS.items():
        assert files_below(KIT_FILES / language) == {path for path, _ in kit.files}


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_to_be_filled_in(language: str) -> None:
    page = texts_of("3m/long-words", language)["README.md"]
    assert "$" not in page
    assert "long-words.wasm" in page
    assert "tar -czf long-words-0.1.0.tar.gz plugin.toml long-words.wasm" in page


def test_a_pack_that_is_not_built_yet_is_told_so(tmp_path: Path) -> None:
    write_pack("acme/tone", tmp_path / "tone", "zig")
    done = evalsi("plugins", "check", str(tmp_path / "tone"))
    assert done.code == 1
    assert "tone.wasm is not there.\n  Build it" in done.err


@pytest.mark.parametrize(
    ("language", "said"), [("rust", "rustup target add"), ("js", "Node.js"), ("assemblyscript", "Node.js"), ("c", "uv")]
)
def test_a_tool_that_is_not_there_is_told_and_the_pack_is_written(language: str, said: str, tmp_path: Path) -> None:
    done = evalsi("plugins", "new", "acme/tone", "--wasm", language, cwd=tmp_path, variables={"PATH": "/nowhere"})
    assert done.code == 0, done.err
    _, needed, following, _ = done.out.splitlines()
    assert needed.startswith("to build it you need ")
    assert said in needed
    assert following.startswith("next: cd tone && ")
    assert (tmp_path / "tone" / "plugin.toml").is_file()


def test_another_language_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    done = evalsi("plugins", "new", "acme/tone", "--wasm", "cobol", cwd=tmp_path)
    assert done.code == 2
    assert all(language in done.err for language in LANGUAGES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_names_and_folders_are_refused_as_for_any_pack(language: str, tmp_path: Path) -> None:
    plain = evalsi("plugins", "new", "core", "--wasm", language, cwd=tmp_path)
    assert (plain.code, "Write a publisher before it" in plain.err) == (2, True)
    (tmp_path / "tone").mkdir()
    (tmp_path / "tone" / "mine.txt").write_text("mine", "utf-8")
    full = evalsi("plugins", "new", "acme/tone", "--wasm", language, cwd=tmp_path)
    assert (full.code, "is not empty" in full.err) == (1, True)
    assert files_below(tmp_path) == {"tone/mine.txt"}


def test_the_reader_and_writer_in_zig_is_that_of_the_example() -> None:
    assert (KIT_FILES / "zig" / "src" / "msgpack.zig").read_text("utf-8") == (
        EXAMPLES / "words" / "msgpack.zig"
    ).read_text("utf-8")


def test_p11_the_reader_and_writer_in_assemblyscript_is_that_of_the_example() -> None:
    assert (KIT_FILES / "assemblyscript" / "src" / "msgpack.ts").read_text("utf-8") == (
        EXAMPLES / "kind" / "msgpack.ts"
    ).read_text("utf-8")


def test_a_release_to_compare_with_may_be_an_archive_of_the_folder(tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "words-1.0.0"), "gztar", EXAMPLES, "words")
    done = evalsi("plugins", "check", str(EXAMPLES / "words"), "--against", archive)
    assert done.out.endswith("acme/words conforms: loads, behaves, trustworthy, stable.\n"), done.out + done.err
    empty = shutil.make_archive(str(tmp_path / "empty"), "zip", ROOT / "examples" / "quickstart")
    none = evalsi("plugins", "check", str(EXAMPLES / "words"), "--against", empty)
    assert (none.code, "holds no plugin.toml" in none.err) == (1, True), none.err


@pytest.mark.wheels
@pytest.mark.timeout(300)
def test_the_kits_are_in_the_wheel(tmp_path: Path) -> None:
    words = [uv.find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(PROVISIONING)]
    subprocess.run(words, check=True, timeout=250)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {name.removeprefix("evalsi_provisioning/kits/") for name in archive.namelist() if "/kits/" in name}
    assert inside == files_below(KIT_FILES)
