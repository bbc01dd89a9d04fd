"""A pack's environment follows from its lock: built once, whole or not at all, and refused in a sentence."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uv

from evalsi_kernel import environment_build
from evalsi_kernel.environment_build import build_environment, cache_fault, child_variables
from evalsi_kernel.environment_plan import plan_environment, read_stamp
from evalsi_kernel.environments import ensure_environment, environment_state, sdk_paths
from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.file_lock import exclusive_lock
from evalsi_kernel.uv_faults import uv_fault
from tests.kernel.package_index import PackageIndex, real_msgpack

ROOT = Path(__file__).parents[2]
MakePack = Callable[..., Path]

# A process that asks for the environment of sys.argv[1] and prints each line of progress, a line in one write.
ASK = """
import os, sys
from pathlib import Path
from evalsi_kernel.environments import ensure_environment
say = lambda line: os.write(1, f"{line}\\n".encode())
environment = ensure_environment(Path(sys.argv[1]), "tiny", on_progress=say)
say(f"has {environment.key}")
"""


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackageIndex]:
    index = PackageIndex(tmp_path_factory.mktemp("index"))
    index.add_wheel("msgpack", real_msgpack())
    index.add_wheel("words", {"words.py": b"RED = 'red'\n"})
    index.add_wheel("evalsi_sdk", {"evalsi/__init__.py": b"ORIGIN = 'registry'\n"})
    index.add_wheel("both", {"both.py": b""})
    for name in ("both", "unbuilt"):
        index.add_source(name, built_mark(index))
    index.add_wheel("breaker", {"breaker.pth": b"import sys; sys.modules['msgpack'] = None\n"})
    index.add_wheel("elsewhere", {"elsewhere.py": b""}, tag="py3-none-win_amd64")
    yield index
    index.close()


@pytest.fixture(scope="session")
def uv_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uv-cache")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, uv_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("UV_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_CACHE_DIR", str(uv_cache))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    cache = tmp_path / "cache"
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(cache))
    return cache


@pytest.fixture
def empty_uv_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty-uv-cache"))


@pytest.fixture(scope="session")
def locked(index: PackageIndex, uv_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes the lock of a project with the dependencies that are named, once for each list of them."""
    made: dict[tuple[str, ...], Path] = {}

    def lock(*dependencies: str) -> Path:
        if dependencies not in made:
            folder = tmp_path_factory.mktemp("locked")
            (folder / "pyproject.toml").write_text(project(*dependencies))
            command = [uv.find_uv_bin(), "lock", "-q", "--default-index", index.url, "--cache-dir", str(uv_cache)]
            variables = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
            subprocess.run(command, cwd=folder, env=variables, check=True, timeout=60)
            made[dependencies] = folder
        return made[dependencies]

    return lock


@pytest.fixture
def make_pack(locked: Callable[..., Path], tmp_path: Path) -> MakePack:
    """Makes a pack's folder as it is installed: `pyproject.toml` and `uv.lock`, far from what they were made beside."""

    def make(*dependencies: str, name: str = "tiny") -> Path:
        folder = tmp_path / name
        shutil.copytree(locked(*dependencies), folder)
        edit(folder / "uv.lock", str(ROOT), "/nowhere")
        return folder

    return make


def project(*dependencies: str) -> str:
    sources = f'[tool.uv.sources]\nevalsi-sdk = {{ path = "{ROOT / "sdk"}", editable = true }}\n'
    names = ", ".join(f'"{one}"' for one in dependencies)
    return (
        f'[project]\nname = "tiny"\nversion = "1.0"\nrequires-python = ">=3.11"\ndependencies = [{names}]\n'
        f"{sources if 'evalsi-sdk' in dependencies else ''}"
    )


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def built_mark(index: PackageIndex) -> Path:
    """A file that is there once a source has been built."""
    return index.folder / "built"


def says(python: Path, code: str) -> str:
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def refusal(pack: Path, *, rebuild: bool = False, offline: bool = False) -> PackEnvironmentError:
    with pytest.raises(PackEnvironmentError) as caught:
        ensure_environment(pack, "tiny", rebuild=rebuild, offline=offline)
    assert caught.value.mend, "an error says what to do"
    return caught.value


def left_overs(cache: Path) -> list[str]:
    return [path.name for path in (cache / "envs").glob(".tmp-*")]


# What an environment holds


def test_an_environment_holds_what_the_lock_names_and_no_package_of_the_host(make_pack: MakePack) -> None:
    environment = ensure_environment(make_pack("msgpack", "words"), "tiny")
    assert says(environment.python, "import msgpack, words; print(words.RED)") == "red"
    assert says(environment.python, "import pydantic") == "ModuleNotFoundError: No module named 'pydantic'"


def test_a_lock_that_takes_the_sdk_by_a_path_that_is_gone_gets_the_hosts_sdk_and_no_kernel(make_pack: MakePack) -> None:
    environment = ensure_environment(make_pack("evalsi-sdk", "words"), "tiny")
    assert environment.uses_host_sdk
    assert says(environment.python, "import evalsi") == "ModuleNotFoundError: No module named 'evalsi'"
    path = f"import sys; sys.path[:0] = {[str(one) for one in sdk_paths(environment)]!r}; "
    assert says(environment.python, f"{path} import evalsi, words; print(evalsi.__name__)") == "evalsi"
    assert says(environment.python, f"{path} import evalsi_kernel").startswith("ModuleNotFoundError")


def test_a_lock_that_takes_the_sdk_from_a_registry_keeps_its_own(make_pack: MakePack) -> None:
    environment = ensure_environment(make_pack("evalsi-sdk>=1", "msgpack"), "tiny")
    assert not environment.uses_host_sdk
    assert sdk_paths(environment) == []
    assert says(environment.python, "import evalsi; print(evalsi.ORIGIN)") == "registry"


def test_a_lock_alone_is_enough_as_in_an_unpacked_wheel(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    (pack / "pyproject.toml").unlink()
    assert says(ensure_environment(pack, "tiny").python, "import msgpack; print('there')") == "there"


def test_settings_of_the_packs_own_pyproject_cannot_bend_the_installation(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    with (pack / "pyproject.toml").open("a") as file:
        file.write('[tool.uv]\nno-binary = true\ndefault-groups = ["absent"]\n')
    assert ensure_environment(pack, "tiny").python.exists()


def test_a_project_above_the_cache_is_not_taken_for_the_packs_workspace(make_pack: MakePack, tmp_path: Path) -> None:
    above = '[project]\nname = "above"\nversion = "1"\n[tool.uv.workspace]\nmembers = ["cache/envs/*/project"]\n'
    (tmp_path / "pyproject.toml").write_text(above)
    assert ensure_environment(make_pack("msgpack"), "tiny").python.exists()


def test_scripts_of_an_environment_find_its_python_after_the_rename(make_pack: MakePack, cache: Path) -> None:
    environment = ensure_environment(make_pack("msgpack"), "tiny")
    assert "relocatable = true" in (environment.python.parents[1] / "pyvenv.cfg").read_text()


# Once


def test_a_second_call_builds_nothing_starts_nothing_and_says_nothing(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    first = ensure_environment(pack, "tiny")
    code = f"{ASK}\nprint(sorted(sys.modules.keys() & {{'evalsi_kernel.environment_build', 'tomllib', 'pydantic'}}))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(pack)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [f"has {first.key}", "[]"]


def test_packs_with_the_same_lock_share_one_environment(make_pack: MakePack) -> None:
    one = ensure_environment(make_pack("msgpack", name="one"), "one")
    other = ensure_environment(make_pack("msgpack", name="other"), "other")
    assert one == other


def test_progress_is_one_line_at_the_start_and_one_at_the_end(make_pack: MakePack) -> None:
    lines: list[str] = []
    ensure_environment(make_pack("msgpack"), "tiny", on_progress=lines.append)
    assert lines[0] == "building the environment of tiny (first use)…"
    assert lines[1].startswith("built the environment of tiny in ")
    assert len(lines) == 2


@pytest.mark.usefixtures("empty_uv_cache")
def test_of_three_processes_that_race_one_builds_and_the_others_wait_for_it(
    make_pack: MakePack, index: PackageIndex, cache: Path
) -> None:
    pack = make_pack("msgpack")
    reader, writer = os.pipe()
    with index.holding_downloads(), os.fdopen(reader) as lines:
        racers = [subprocess.Popen([sys.executable, "-c", ASK, str(pack)], stdout=writer) for _ in range(3)]
        os.close(writer)
        first = sorted(next(lines).split(" ")[0] for _ in range(3))
        index.released.set()
        rest = list(lines)
    assert [racer.wait(60) for racer in racers] == [0, 0, 0]
    assert first == ["building", "waiting", "waiting"]
    assert len([line for line in rest if line.startswith("built ")]) == 1
    assert len({line for line in rest if line.startswith("has ")}) == 1
    assert left_overs(cache) == []


# Whole or not at all


@pytest.mark.usefixtures("empty_uv_cache")
def test_a_builder_that_is_killed_leaves_a_state_that_the_next_call_builds_from(
    make_pack: MakePack, index: PackageIndex, cache: Path
) -> None:
    pack = make_pack("msgpack")
    lines: list[str] = []

    def on_progress(line: str) -> None:
        lines.append(line)
        # The killed builder's uv still holds the lock, since it still writes; now it may end.
        index.released.set()

    with index.holding_downloads():
        builder = subprocess.Popen([sys.executable, "-c", ASK, str(pack)], stdout=subprocess.DEVNULL)
        assert index.asked.wait(30)
        builder.kill()
        assert builder.wait(30) == -signal.SIGKILL
        assert left_overs(cache) != []
        assert environment_state(pack) == "missing"
        environment = ensure_environment(pack, "tiny", on_progress=on_progress)
    assert [line.split(" ")[0] for line in lines] == ["waiting", "building", "built"]
    assert says(environment.python, "import msgpack; print('there')") == "there"
    assert left_overs(cache) == []


def test_what_a_killed_builder_with_the_same_process_id_left_is_not_in_the_way(
    make_pack: MakePack, cache: Path
) -> None:
    pack = make_pack("msgpack")
    left = cache / "envs" / f".tmp-{plan_environment(pack, 'tiny').key}-{os.getpid()}" / "env" / "bin"
    left.mkdir(parents=True)
    ensure_environment(pack, "tiny")
    assert left_overs(cache) == []


@pytest.mark.parametrize("torn", [None, b"", b'{"lock_sha256": "', b"[]"])
def test_an_environment_without_a_whole_stamp_is_half_built_and_built_again(
    make_pack: MakePack, torn: bytes | None
) -> None:
    pack = make_pack("msgpack")
    stamp = ensure_environment(pack, "tiny").python.parents[1] / ".evalsi-ready"
    stamp.unlink()
    if torn is not None:
        stamp.write_bytes(torn)
    assert environment_state(pack) == "missing"
    lines: list[str] = []
    ensure_environment(pack, "tiny", on_progress=lines.append)
    assert lines[0] == "building the environment of tiny (again)…"
    assert environment_state(pack) == "ready"


def test_an_environment_whose_python_was_removed_is_broken_and_built_again(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    python = ensure_environment(pack, "tiny").python
    python.unlink()
    python.symlink_to("/nowhere/python")
    assert environment_state(pack) == "broken"
    assert says(ensure_environment(pack, "tiny").python, "print('starts')") == "starts"


def test_an_environment_whose_python_does_not_start_is_built_again_on_request(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    python = ensure_environment(pack, "tiny").python
    python.unlink()
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    assert environment_state(pack) == "ready", "telling would cost a start each time"
    assert says(ensure_environment(pack, "tiny", rebuild=True).python, "print('starts')") == "starts"


def test_of_two_that_ask_for_a_rebuild_the_second_takes_what_the_first_made(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    ensure_environment(pack, "tiny")
    plan = plan_environment(pack, "tiny")
    seen_by_both = read_stamp(plan)
    ensure_environment(pack, "tiny", rebuild=True)
    lines: list[str] = []
    stamp = build_environment(plan, unwanted=seen_by_both, on_progress=lines.append, offline=False)
    assert stamp == read_stamp(plan) != seen_by_both
    assert lines == []


def test_a_build_that_fails_leaves_nothing_behind_and_keeps_what_was_there(make_pack: MakePack, cache: Path) -> None:
    pack = make_pack("msgpack", "elsewhere")
    assert refusal(pack).code == "environment.no_wheel"
    assert left_overs(cache) == []
    assert environment_state(pack) == "missing"


def test_an_environment_that_does_not_work_is_not_put_in_place(make_pack: MakePack, cache: Path) -> None:
    pack = make_pack("msgpack", "breaker")
    error = refusal(pack)
    assert error.code == "environment.broken"
    assert "msgpack" in error.message
    assert environment_state(pack) == "missing"
    assert left_overs(cache) == []


def test_a_rebuild_that_fails_keeps_the_environment_that_was_there(
    make_pack: MakePack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pack = make_pack("msgpack")
    python = ensure_environment(pack, "tiny").python
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    assert refusal(pack, rebuild=True, offline=True).code == "environment.offline"
    assert says(python, "import msgpack; print('there')") == "there"


# Refused in a sentence


def test_a_pack_without_a_lock_is_refused(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    (pack / "uv.lock").unlink()
    error = refusal(pack)
    assert error.code == "environment.no_lock"
    assert str(pack / "uv.lock") in error.message
    assert environment_state(pack) == "no lock"


@pytest.mark.parametrize("lock", ["x = [", "version = 1\n", "\x00"])
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
    assert "pip install uv" in error.mend


def test_a_wait_for_another_process_has_an_end(
    make_pack: MakePack, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = make_pack("msgpack")
    monkeypatch.setattr(environment_build, "WAIT_FOR_OTHER_S", 0.0)
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


# The user's own index


@pytest.fixture
def only_a_folder_of_wheels(index: PackageIndex, monkeypatch: pytest.MonkeyPatch, empty_uv_cache: None) -> None:
    monkeypatch.setenv("UV_FIND_LINKS", str(index.wheels))
    monkeypatch.setenv("UV_NO_INDEX", "1")


@pytest.mark.usefixtures("only_a_folder_of_wheels")
def test_a_folder_of_wheels_replaces_the_addresses_in_the_lock(make_pack: MakePack, index: PackageIndex) -> None:
    pack = make_pack("msgpack")
    edit(pack / "uv.lock", index.url.removesuffix("/simple"), "http://127.0.0.1:9")
    assert says(ensure_environment(pack, "tiny").python, "import msgpack; print('there')") == "there"


@pytest.mark.usefixtures("only_a_folder_of_wheels")
def test_a_folder_of_wheels_is_held_to_the_locks_hashes(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    edit(pack / "uv.lock", (pack / "uv.lock").read_text().split("sha256:")[1][:64], "0" * 64)
    assert refusal(pack).code == "environment.hash_mismatch"


@pytest.mark.usefixtures("only_a_folder_of_wheels")
def test_a_folder_with_the_source_of_a_locked_wheel_does_not_replace_it(
    make_pack: MakePack, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = shutil.copytree(index.sources, tmp_path / "links")
    shutil.copy(next(index.wheels.glob("msgpack-*")), links)
    monkeypatch.setenv("UV_FIND_LINKS", str(links))
    error = refusal(make_pack("msgpack", "both"))
    assert error.code == "environment.no_wheel"
    assert "both" in error.message
    assert not built_mark(index).exists()


@pytest.mark.usefixtures("only_a_folder_of_wheels")
def test_a_folder_of_wheels_does_not_lift_the_range_of_pythons(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    edit(pack / "uv.lock", 'requires-python = ">=3.11"', 'requires-python = ">=3.99"')
    assert refusal(pack).code == "environment.python_unsuitable"


def test_an_index_without_the_package_is_named_as_the_cause(
    make_pack: MakePack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, empty_uv_cache: None
) -> None:
    (tmp_path / "wheels").mkdir()
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    error = refusal(make_pack("msgpack"))
    assert error.code == "environment.not_in_index"
    assert "msgpack" in error.message


def test_uv_gets_the_users_index_and_nothing_that_would_change_what_is_installed() -> None:
    host = {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://proxy",
        "UV_DEFAULT_INDEX": "https://mirror",
        "UV_INDEX_COMPANY_PASSWORD": "secret",
        "UV_CACHE_DIR": "/cache",
        "UV_NO_VERIFY_HASHES": "1",
        "UV_LOCKED": "1",
        "UV_PYTHON": "3.9",
        "UV_PROJECT_ENVIRONMENT": "/mine",
        "UV_PYTHON_DOWNLOADS": "automatic",
        "VIRTUAL_ENV": "/mine",
        "PYTHONPATH": "/mine",
    }
    child = child_variables(host)
    kept = ("PATH", "HTTPS_PROXY", "UV_DEFAULT_INDEX", "UV_INDEX_COMPANY_PASSWORD", "UV_CACHE_DIR")
    own = {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", "UV_NO_WRAP": "1", "NO_COLOR": "1"}
    assert child == {name: host[name] for name in kept} | own
