"""`evalsi plugins new` writes a pack that conforms; `check` says of any folder what it keeps and what it breaks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.distributions import ROOT
from tests.cli.running import evalsi

WITHOUT_SDK = ROOT / "examples" / "packs" / "without-sdk"
MOST_LINES = 80


@pytest.fixture(scope="module")
def new_pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("author") / "readability"
    done = evalsi("plugins", "new", "acme/readability", "--dir", str(folder))
    assert done.code == 0, done.err
    assert done.out == f"wrote the pack acme/readability into {folder}/\nnext: evalsi plugins check {folder}\n"
    return folder


def test_a_new_pack_conforms_at_once(new_pack: Path) -> None:
    done = evalsi("plugins", "check", str(new_pack))
    assert done.code == 0, done.out
    assert done.out.endswith("acme/readability conforms: loads, behaves, trustworthy.\n")


def test_what_is_edited_and_checked_again_at_once_is_not_what_was_compiled_before(
    new_pack: Path, tmp_path: Path
) -> None:
    pack = Path(shutil.copytree(new_pack, tmp_path / "pack", ignore=shutil.ignore_patterns("__pycache__", ".venv")))
    (source,) = pack.rglob("sentence_length.py")
    assert evalsi("plugins", "check", pack, "--level", "loads").code == 0
    before = source.stat()
    source.write_text(source.read_text("utf-8").replace("version=1", "version=2"), "utf-8")
    # As within one second: Python would take what it compiled before for this.
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    done = evalsi("plugins", "check", pack, "--level", "loads")
    assert done.code == 1
    assert "version" in done.out


def test_the_manifest_of_a_new_pack_is_what_its_code_says_and_its_own_test_passes(new_pack: Path) -> None:
    environment = {"PYTHONPATH": str(new_pack / "src"), "PATH": ""}
    for words in (
        ["evalsi.manifest", "acme_readability", "--check", "plugin.toml"],
        ["pytest", "-q", "-p", "no:cacheprovider", "tests"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=new_pack,
            env=environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_what_a_new_pack_is_made_of(new_pack: Path) -> None:
    made = {str(path.relative_to(new_pack)) for path in new_pack.rglob("*") if path.is_file()}
    assert {one for one in made if "__pycache__" not in one} == {
        ".gitignore", "README.md", "plugin.toml", "pyproject.toml", "samples.jsonl", "uv.lock",
        "src/acme_readability/__init__.py", "src/acme_readability/sentence_length.py",
        "tests/test_sentence_length.py",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("core", "Write a publisher before it, such as acme/core."),
        ("Acme/Tone", "is no name of a pack."),
        ("acme/", "is no name of a pack."),
        ("evalsi/tone", "is reserved."),
    ],
)
def test_a_name_that_a_pack_may_not_have_is_refused(name: str, said: str, tmp_path: Path) -> None:
    done = evalsi("plugins", "new", name, "--dir", str(tmp_path / "new"))
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "new").exists()


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    done = evalsi("plugins", "new", "acme/tone", "--dir", str(tmp_path))
    assert (done.code, "is not empty" in done.err) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_without_an_index_the_pack_is_written_and_the_lock_is_left_to_its_author(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    done = evalsi("plugins", "new", "acme/tone", "--dir", str(tmp_path / "tone"), "--offline")
    assert done.code == 0
    assert "no lock was made: " in done.out
    assert f"next: uv lock --project {tmp_path / 'tone'}, where the package index can be reached" in done.out
    assert not (tmp_path / "tone" / "uv.lock").exists()
    checked = evalsi("plugins", "check", str(tmp_path / "tone"))
    assert (checked.code, "uv.lock" in checked.err) == (1, True)


def test_every_problem_of_a_manifest_is_told_at_once_and_nothing_is_started(tmp_path: Path) -> None:
    text = (WITHOUT_SDK / "plugin.toml").read_text("utf-8")
    broken = text.replace('"acme/keywords"', '"core"').replace('"pass"', '"figure"') + "\n[extra]\n"
    (tmp_path / "plugin.toml").write_text(broken, "utf-8")
    done = evalsi("plugins", "check", str(tmp_path), "--format", "json")
    assert done.code == 1
    said = [one["message"] for one in json.loads(done.out)["findings"]]
    assert [line.split()[1] for line in said] == ["name", "evaluators[0].outputs[0].kind", "extra"]


def test_a_pack_without_the_sdk_in_few_lines_conforms_and_is_used_like_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = (WITHOUT_SDK / "keywords.py").read_text("utf-8").splitlines()
    assert "import evalsi" not in "\n".join(lines)
    assert sum(bool(line.strip()) for line in lines) <= MOST_LINES
    done = evalsi("plugins", "check", str(WITHOUT_SDK))
    assert done.out.endswith("acme/keywords conforms: loads, behaves, trustworthy.\n"), done.out
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", str(WITHOUT_SDK))
    data = str(ROOT / "examples" / "quickstart" / "qa.jsonl")
    scored = evalsi("eval", "--data", data, "--evaluators", "acme/keywords/no-refusal")
    assert "no-refusal  6  1.000" in scored.out


def test_a_release_that_is_no_pack_is_told(tmp_path: Path) -> None:
    (tmp_path / "old.whl").write_text("no", "utf-8")
    done = evalsi("plugins", "check", str(WITHOUT_SDK), "--against", str(tmp_path / "old.whl"))
    assert (done.code, "cannot be read as a wheel" in done.err) == (1, True)
    same = evalsi("plugins", "check", str(WITHOUT_SDK), "--against", str(WITHOUT_SDK))
    assert same.out.endswith("conforms: loads, behaves, trustworthy, stable.\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('options = { with = "python" }', 'options = { by = "python" }'), "has no option 'by'"),
        (('options = { with = "python" }', 'options = { with = "no-such" }'), "which is not on the PATH"),
        (('options = { with = "python" }', ""), "cannot be executed"),
        (('module = "keywords.py"', 'module = "other.py"'), "has no program"),
    ],
)
def test_a_program_that_cannot_be_started_is_told(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    for name in ("plugin.toml", "keywords.py"):
        text = (WITHOUT_SDK / name).read_text("utf-8")
        (tmp_path / name).write_text(text.replace(*change) if name == "plugin.toml" else text, "utf-8")
    done = evalsi("plugins", "check", str(tmp_path))
    assert (done.code, said in done.err) == (1, True), done.err
