"""An environment that cannot be built the same everywhere, or not here, is refused in a sentence."""

from __future__ import annotations

import errno
import sys
from pathlib import Path

import pytest

from evalsi_kernel.files.file_lock import exclusive_lock
from evalsi_kernel.packs.environment_plan import plan_environment
from evalsi_kernel.planning.environments import ensure_environment, environment_state
from evalsi_provisioning import build
from evalsi_provisioning.build import cache_fault
from evalsi_provisioning.uv_faults import uv_fault
from tests.provisioning.environments.pack_folders import MakePack, built_mark, edit, project, refusal
from tests.provisioning.environments.package_index import PackageIndex


def test_a_pack_without_a_lock_is_refused(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    (pack / "uv.lock").unlink()
    error = refusal(pack)
    assert error.code == "environment.no_lock"
    assert str(pack / "uv.lock") in error.message
    assert environment_state(pack) == "no lock"


TINY = '[[package]]\nname = "tiny"\nsource = { virtual = "." }\n'
NEEDS_MSGPACK = """\
dependencies = [{ name = "msgpack" }]
[[package]]
name = "msgpack"
source = { registry = "x" }
"""


@pytest.mark.parametrize(
    "lock",
    [
        "x = [",
        "version = 1\n",
        "\x00",
        f"x = {'[' * 5_000}{']' * 5_000}",
        f"x = {'9' * 5_000}",
        'package = "all"',
        "package = [{}]",
        f'{TINY}dependencies = ["msgpack"]',
        f'{TINY}dependencies = [{{ version = "1" }}]',
        f'{TINY}metadata = {{ requires-dist = [{{ specifier = "1" }}] }}\n{NEEDS_MSGPACK}',
        f"{TINY}{NEEDS_MSGPACK}wheels = [true]",
    ],
)
def test_a_lock_that_cannot_be_read_is_refused(make_pack: MakePack, lock: str) -> None:
    pack = make_pack("msgpack")
    (pack / "uv.lock").write_text(lock)
    assert refusal(pack).code == "environment.lock_unreadable"


def test_a_lock_of_a_later_format_asks_for_another_uv(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    edit(pack / "uv.lock", "version = 1\nrevision", "version = 9\nrevision")
    error = refusal(pack)
    assert error.code == "environment.lock_unreadable"
    assert "v9" in error.message


@pytest.mark.parametrize(
    ("dependencies", "word"),
    [
        (("msgpack", "words"), "words is in its pyproject.toml and not in its lock"),
        ((), "msgpack is in its lock and no longer in its pyproject.toml"),
        (("msgpack>=1,<3",), "another range of msgpack"),
        (("msgpack[fast]",), "another range of msgpack"),
    ],
)
def test_a_lock_that_no_longer_fits_is_refused_though_its_environment_is_there(
    make_pack: MakePack, dependencies: tuple[str, ...], word: str
) -> None:
    pack = make_pack("msgpack")
    ensure_environment(pack, "tiny")
    (pack / "pyproject.toml").write_text(project(*dependencies))
    error = refusal(pack)
    assert error.code == "environment.lock_stale"
    assert word in error.message


def test_a_pyproject_that_says_the_same_in_other_words_is_taken_and_builds_nothing(make_pack: MakePack) -> None:
    pack = make_pack("msgpack<3,>=1", "words")
    ensure_environment(pack, "tiny")
    (pack / "pyproject.toml").write_text(
        project("WORDS", " MsgPack (>= 1, < 3) ; python_version > '3'") + "# said anew\n"
    )
    lines: list[str] = []
    ensure_environment(pack, "tiny", on_progress=lines.append)
    assert lines == []


def test_a_download_that_is_not_what_was_locked_is_refused(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    text = (pack / "uv.lock").read_text()
    digest = text.split("sha256:")[1][:64]
    edit(pack / "uv.lock", digest, "0" * 64)
    error = refusal(pack)
    assert error.code == "environment.hash_mismatch"
    assert "msgpack" in error.message


def test_a_locked_package_without_a_hash_is_refused_before_uv_is_asked(make_pack: MakePack) -> None:
    pack = make_pack("msgpack", "words")
    text = (pack / "uv.lock").read_text()
    digest = text.split("words-2.0")[1].split("sha256:")[1][:64]
    edit(pack / "uv.lock", f', hash = "sha256:{digest}"', "")
    error = refusal(pack)
    assert error.code == "environment.lock_unhashed"
    assert "words 2.0" in error.message


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ('{ directory = "../words" }', "environment.lock_local"),
        ('{ editable = "../words" }', "environment.lock_local"),
        ('{ path = "words-2.0-py3-none-any.whl" }', "environment.lock_local"),
        (
            '{ git = "https://example.org/words?rev=1#0123456789012345678901234567890123456789" }',
            "environment.lock_unhashed",
        ),
    ],
)
def test_a_dependency_that_does_not_travel_or_must_be_built_is_refused(
    make_pack: MakePack, index: PackageIndex, source: str, code: str
) -> None:
    pack = make_pack("msgpack", "words")
    words = f'name = "words"\nversion = "2.0"\nsource = {{ registry = "{index.url}" }}'
    assert words in (pack / "uv.lock").read_text()
    edit(pack / "uv.lock", words, f'name = "words"\nversion = "2.0"\nsource = {source}')
    error = refusal(pack)
    assert error.code == code
    assert "words" in error.message


def test_a_package_without_a_wheel_is_refused_and_its_source_not_run(make_pack: MakePack, index: PackageIndex) -> None:
    error = refusal(make_pack("msgpack", "unbuilt"))
    assert error.code == "environment.no_wheel"
    assert "unbuilt" in error.message
    assert not built_mark(index).exists()


def test_a_lock_with_nothing_that_can_talk_to_the_kernel_is_refused(make_pack: MakePack) -> None:
    assert refusal(make_pack("words")).code == "environment.no_sdk"


@pytest.mark.parametrize("columns", ["40", "200"])
def test_a_pack_for_another_python_is_refused_by_its_range_however_narrow_the_terminal(
    make_pack: MakePack, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    pack = make_pack("msgpack")
    edit(pack / "uv.lock", 'requires-python = ">=3.11"', 'requires-python = ">=3.99"')
    error = refusal(pack)
    assert error.code == "environment.python_unsuitable"
    assert ">=3.99" in error.message


@pytest.mark.usefixtures("empty_uv_cache")
def test_a_first_build_without_a_network_says_to_connect_once(make_pack: MakePack) -> None:
    error = refusal(make_pack("msgpack"), offline=True)
    assert error.code == "environment.offline"
    assert error.retry == "later"
    assert "msgpack" in error.message


@pytest.mark.usefixtures("empty_uv_cache")
def test_an_index_that_does_not_answer_says_to_connect_once(make_pack: MakePack, index: PackageIndex) -> None:
    pack = make_pack("msgpack")
    edit(pack / "uv.lock", index.url.removesuffix("/simple"), "http://127.0.0.1:9")
    error = refusal(pack)
    assert error.code == "environment.offline"
    assert "127.0.0.1:9" in error.details["output"]


def test_a_cache_that_cannot_be_written_is_named(
    make_pack: MakePack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "file" / "cache"))
    error = refusal(make_pack("msgpack"))
    assert error.code == "environment.cache_unwritable"
    assert str(tmp_path / "file") in error.message


def test_a_uv_cache_that_cannot_be_written_is_named(make_pack: MakePack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", "/dev/null/uv")
    error = refusal(make_pack("msgpack"))
    assert error.code == "environment.cache_unwritable"
    assert "/dev/null/uv" in error.message


def test_a_missing_uv_says_how_to_get_it(make_pack: MakePack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uv", None)
    error = refusal(make_pack("msgpack"))
    assert error.code == "environment.no_uv"
    assert "pip install uv" in error.hint


def test_a_wait_for_another_process_has_an_end(
    make_pack: MakePack, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = make_pack("msgpack")
    monkeypatch.setattr(build, "WAIT_FOR_OTHER_S", 0.0)
    (cache / "envs").mkdir(parents=True)
    with exclusive_lock(cache / "envs" / f"{plan_environment(pack, 'tiny').key}.lock", timeout_s=0):
        error = refusal(pack)
    assert error.code == "environment.busy"


def test_a_full_disk_is_told_from_a_cache_that_cannot_be_written(make_pack: MakePack) -> None:
    plan = plan_environment(make_pack("msgpack"), "tiny")
    assert cache_fault(plan, OSError(errno.ENOSPC, "No space left on device")).code == "environment.disk_full"
    assert cache_fault(plan, OSError(errno.EROFS, "Read-only file system")).code == "environment.cache_unwritable"


def test_a_full_disk_is_told_although_it_made_an_installation_fail() -> None:
    error = uv_fault("tiny", "error: Failed to download `a==1`\n  cause: No space left on device (os error 28)\n")
    assert error.code == "environment.disk_full"
    assert error.message == (
        "The environment of the pack tiny cannot be built: "
        "Failed to download `a==1`: No space left on device (os error 28)."
    )


def test_what_uv_says_in_words_that_are_not_known_is_passed_on() -> None:
    error = uv_fault("tiny", "Using CPython\nerror: The moon is full\n")
    assert error.code == "environment.build_failed"
    assert "The moon is full" in error.message
    assert error.details["output"] == "Using CPython\nerror: The moon is full"
