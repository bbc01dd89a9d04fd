"""S1: what a stranger's wheel can see and do while an environment is built: its `.pth` runs in the health check."""

from __future__ import annotations

import ast
import json
import os
import sys
from pathlib import Path

import pytest

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.planning.environments import ensure_environment
from evalsi_kernel.supervision.spawn import PASSED_THROUGH
from evalsi_provisioning.build import COMPILER
from evalsi_provisioning.confinement import Walls, installed_with, this_host, walled
from evalsi_provisioning.contained import OUTPUT_BYTES, quoted, run_contained
from evalsi_provisioning.uv_faults import uv_fault
from tests.processes import still_running
from tests.provisioning.environments.pack_folders import MakePack, refusal
from tests.provisioning.environments.package_index import PackageIndex

needs_file_wall = pytest.mark.skipif(not this_host().files, reason="this host has no wall around files")

LOOKS = """\
import json, os, sys
def tried(act):
    try:
        act()
        return "done"
    except OSError as error:
        return type(error).__name__
def link(fd):
    try:
        return os.readlink(f"/proc/self/fd/{{fd}}")
    except OSError:
        return ""
saw = {{
    "names": sorted(os.environ),
    "read": tried(lambda: open({secret!r}).read()),
    "listed": tried(lambda: os.listdir({home!r})),
    "wrote": tried(lambda: open({home!r} + "/new", "w")),
    "wrote_code": tried(lambda: open(__file__, "a")),
    "environ": tried(lambda: open(f"/proc/{{os.getppid()}}/environ").read()),
    "locks": [fd for fd in range(3, 32) if ".lock" in link(fd)],
}}
sys.stderr.write(json.dumps(saw["names"]) + "\\n")
saw.pop("names")
sys.stderr.write(json.dumps(saw) + "\\n")
sys.modules["msgpack"] = None
"""


def publish(index: PackageIndex, name: str, code: str) -> str:
    """A wheel whose `.pth` runs this code whenever a Python starts in its environment."""
    index.add_wheel(name, {f"{name}.pth": f"import {name}_start\n".encode(), f"{name}_start.py": code.encode()})
    return name


@needs_file_wall
def test_s1_a_pth_has_no_key_and_reads_only_the_environment(
    make_pack: MakePack, index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    secret = home / "id_ed25519"
    secret.write_text("a private key")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ACME_TOKEN", "UV_INDEX_ACME_PASSWORD", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, "sk-secret")
    publish(index, "looks", LOOKS.format(secret=str(secret), home=str(home)))
    error = refusal(make_pack("msgpack", "looks"))
    assert error.code == "environment.broken"
    lines = [ast.literal_eval(line) for line in error.details["output"].splitlines() if line[0] in "[{"]
    names, saw = lines[0], lines[1]
    assert set(names) <= {*PASSED_THROUGH, "TMPDIR", "PYTHONHASHSEED", "EVALSI_STARTED_BY"}
    assert saw == {
        "read": "PermissionError",
        "listed": "PermissionError",
        "wrote": "PermissionError",
        "wrote_code": "PermissionError",
        "environ": "PermissionError",
        "locks": [],
    }
    assert not (home / "new").exists()


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.stderr.write('\\x1b]0;owned\\x07\\x1b[2J' + 'A' * 10**6 + '\\n' * 50 + '\\x1b[31m last')",
        "print('\\x1b[31m' * 10**5)",
        "import os; os.write(2, bytes(range(256)) * 2000)",
    ],
)
def test_s1_what_a_pth_prints_is_escaped_and_bounded(make_pack: MakePack, index: PackageIndex, code: str) -> None:
    name = f"prints{abs(hash(code)) % 10**6}"
    publish(index, name, f"{code}\nimport sys\nsys.stdout.flush()\nsys.modules['msgpack'] = None\n")
    error = refusal(make_pack("msgpack", name))
    assert error.code == "environment.broken"
    for text in (error.message, *error.details["output"].splitlines()):
        assert text.isprintable()
        assert len(text) < 1_000
    assert len(error.details["output"].splitlines()) <= 20


def test_s1_what_a_healthy_pth_prints_reaches_nobody(
    make_pack: MakePack, index: PackageIndex, capfd: pytest.CaptureFixture[str]
) -> None:
    publish(index, "chatty", "print('look at me')")
    lines: list[str] = []
    ensure_environment(make_pack("msgpack", "chatty"), "tiny", on_progress=lines.append)
    printed = capfd.readouterr()
    assert "look at me" not in "".join([printed.out, printed.err, *lines])


def test_s1_a_child_that_keeps_the_pipe_does_not_keep_the_build(make_pack: MakePack, index: PackageIndex) -> None:
    # The child sleeps for longer than the health check may take.
    publish(index, "forks", "import os, time\nif os.fork() == 0:\n    time.sleep(300)\n    os._exit(0)\n")
    assert ensure_environment(make_pack("msgpack", "forks"), "tiny").python.exists()


def test_s1_the_output_of_a_contained_command_is_cut_while_it_is_read(tmp_path: Path) -> None:
    code = "import os\nfor _ in range(2000): os.write(1, b'x' * 10000)\nos.write(1, b'the end')"
    ended = run_contained([sys.executable, "-I", "-c", code], cwd=tmp_path, timeout_s=60)
    assert ended.code == 0
    assert len(ended.output) == OUTPUT_BYTES
    assert ended.output.endswith("the end")


def test_s1_a_child_without_parents_does_not_outlive_a_contained_command(tmp_path: Path) -> None:
    sleep = "mkfifo up; (setsid sh -c 'echo $$; echo > up; exec sleep 3600 > /dev/null 2>&1' &); read line < up"
    ended = run_contained(["/bin/sh", "-c", sleep], cwd=tmp_path, timeout_s=60)
    assert still_running([int(ended.output)]) == []


def test_s1_a_contained_command_that_never_ends_is_ended(tmp_path: Path) -> None:
    code = "import os\nos.fork()\nwhile True: os.write(1, b'x' * 1000)"
    assert run_contained([sys.executable, "-I", "-c", code], cwd=tmp_path, timeout_s=0.3).code is None


@needs_file_wall
def test_s1_the_compiler_reads_and_writes_nothing_but_what_was_installed(tmp_path: Path) -> None:
    installed, elsewhere, own = tmp_path / "lib", tmp_path / "elsewhere", tmp_path / "own"
    for folder in (installed, elsewhere, own):
        folder.mkdir()
    (elsewhere / "secret.py").write_text("SECRET = 1\n")
    for number in range(5):
        (installed / f"part{number}.py").write_text(f"PART = {number}\n")
    (installed / "broken.py").write_text("def (\n")
    (installed / "bytes.py").write_bytes(b"\xff\x00\xfe")
    (installed / "deep.py").write_text("(" * 5000 + ")" * 5000)
    (installed / "link.py").symlink_to(elsewhere / "secret.py")
    walls = Walls(read=[COMPILER, *installed_with(Path(sys.executable))], write=[installed])
    ended = run_contained(
        walled([sys.executable, "-I", "-S", str(COMPILER), str(installed)], walls), cwd=own, timeout_s=60
    )
    compiled = {path.name.partition(".")[0] for path in installed.rglob("*.pyc")}
    assert compiled == {f"part{number}" for number in range(5)}, ended
    assert os.listdir(elsewhere) == ["secret.py"]


@pytest.mark.parametrize("name", ["\x1b[2J\x1b]0;owned\x07", "a\rb\x08", "\u202eevil"])
def test_s1_what_uv_prints_of_a_stranger_is_escaped(name: str) -> None:
    error: PackEnvironmentError = uv_fault("tiny", f"error: Failed to unzip `{name}`\n  caused by: {name * 500}\n")
    assert error.message.isprintable()
    assert len(error.message) < 1_200
    assert json.dumps(error.details["output"]).isascii()
    assert all(line.isprintable() for line in error.details["output"].splitlines())


def test_s1_quoted_lines_are_few_and_short() -> None:
    text = quoted("\n".join(f"{number} {'x' * 1000}" for number in range(100)))
    assert len(text.splitlines()) == 20
    assert max(map(len, text.splitlines())) == 201
