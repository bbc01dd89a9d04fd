"""What holds an added pack: no network, no files but its own, no variable, no model and no memory beyond its grants."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalsi_kernel.files.paths import cache_dir
from evalsi_kernel.supervision.connection import RequestFailed
from evalsi_kernel.supervision.launch import Launch
from evalsi_provisioning import confined_start
from evalsi_provisioning.admission import holding
from evalsi_provisioning.confinement import this_host
from evalsi_provisioning.permissions import DECLARED, ENFORCED, Host, Permissions, permissions_of, shown, widened
from tests.cli.running import EVALSI, evalsi, write_jsonl
from tests.processes import still_running
from tests.provisioning.adding.third_party import added, recorded, write_pack

HOST = this_host()
EXAMPLES = Path(__file__).parents[3] / "examples"
needs_network_wall = pytest.mark.skipif(
    not HOST.network, reason="this host has neither user namespaces nor seccomp, so network is declared only"
)
needs_file_wall = pytest.mark.skipif(not HOST.files, reason="this host has no Landlock, so files are declared only")
# Each gives a label: what came of trying.
TRIED = "\n        return 'done'\n    except OSError as error:\n        return type(error).__name__"


def trying(*lines: str) -> str:
    return "try:\n        " + "\n        ".join(lines) + TRIED


@pytest.fixture
def data(project: Path) -> Path:
    return write_jsonl(project / "data.jsonl", [{"output": "x"}])


def label(project: Path, body: str, *, more: str = "", variables: dict[str, str] | None = None) -> str:
    """What an added pack's evaluator gives whose body this is."""
    added(write_pack(project / "source", body=body, more=more), project)
    words: list[str | Path] = [
        "eval",
        "--data",
        project / "data.jsonl",
        "--evaluators",
        "acme/style/polite",
        "--output",
        "results.json",
    ]
    done = evalsi(*words, cwd=project, variables=variables)
    assert done.code == 0, done.err
    (result,) = json.loads((project / "results.json").read_text("utf-8"))["results"]
    (score,) = result["scores"]
    return str(score["label"])


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """A port on the loopback device and a path, at which somebody listens."""
    path = str(tmp_path / "listening")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(path)
        local.listen()
        yield server.getsockname()[1], path


AGAIN = "import socket; socket.create_connection(('127.0.0.1', {port}), 5)"


@needs_network_wall
@pytest.mark.parametrize(
    "lines",
    [
        ("import socket", "socket.create_connection(('127.0.0.1', {port}), 5)"),
        ("import socket", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {port}))"),
        ("import socket", "socket.socket(socket.AF_UNIX).connect({path!r})"),
        ("import subprocess", "if subprocess.call([sys.executable, '-c', {again!r}]): raise OSError('refused')"),
    ],
    ids=["tcp", "udp", "unix", "in a child"],
)
def test_a_pack_that_opens_a_socket_is_stopped(
    lines: tuple[str, ...], project: Path, data: Path, listening: tuple[int, str]
) -> None:
    port, path = listening
    given = {"port": port, "path": path, "again": AGAIN.format(port=port)}
    assert label(project, trying(*(line.format(**given) for line in lines))) in ("PermissionError", "OSError")


REACHES_A_PATH = {
    "stream": "socket.socket(socket.AF_UNIX).connect({path!r})",
    "datagram": "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', {path!r})",
    "abstract": "socket.socket(socket.AF_UNIX).connect('\\0' + {path!r})",
    "pair": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', {path!r})",
    "vsock": "socket.socket(40, socket.SOCK_STREAM)",
    "packets": "socket.socket(17, socket.SOCK_RAW)",
}


@needs_network_wall
@pytest.mark.parametrize("way", REACHES_A_PATH)
def test_p8_a_pack_that_was_granted_a_host_reaches_no_unix_socket(
    way: str, project: Path, data: Path, listening: tuple[int, str]
) -> None:
    body = trying("import socket", REACHES_A_PATH[way].format(path=listening[1]))
    assert label(project, body, more='[permissions]\nnetwork = ["127.0.0.1"]\n') in ("PermissionError", "OSError")


@needs_network_wall
def test_p8_what_the_internet_needs_works_with_a_host_granted(
    project: Path, data: Path, listening: tuple[int, str]
) -> None:
    lines = (
        "import asyncio, socket",
        "socket.getaddrinfo('localhost', 80)",
        "socket.if_nameindex()",
        "async def connect():",
        f"    _, writer = await asyncio.open_connection('127.0.0.1', {listening[0]})",
        "    writer.close()",
        "asyncio.run(connect())",
        "socket.socketpair()[0].close()",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()",
    )
    assert label(project, trying(*lines), more='[permissions]\nnetwork = ["127.0.0.1"]\n') == "done"


@pytest.mark.skipif(not HOST.memory, reason="this host limits no memory")
@pytest.mark.parametrize("is_added", [True, False])
def test_p4_the_wall_around_memory_is_at_four_times_what_is_named(
    is_added: bool, project: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import resource; return str(resource.getrlimit(resource.RLIMIT_AS)[1] // 2**20)"
    if is_added:
        assert label(project, body) == "2048"
        return
    folder = write_pack(project / "mine", body=body)
    variables = {"EVALSI_PLUGIN_PATH": str(folder)}
    words = ("eval", "--data", data, "--evaluators", "acme/style/polite", "--output", "results.json")
    done = evalsi(*words, cwd=project, variables=variables)
    assert done.code == 0, done.err
    (result,) = json.loads((project / "results.json").read_text("utf-8"))["results"]
    assert result["scores"][0]["label"] == "2048"


def test_the_same_pack_reaches_it_where_it_was_granted_a_host(
    project: Path, data: Path, listening: tuple[int, str]
) -> None:
    body = trying("import socket", f"socket.create_connection(('127.0.0.1', {listening[0]}), 5).close()")
    assert label(project, body, more='[permissions]\nnetwork = ["127.0.0.1"]\n') == "done"


@needs_network_wall
def test_a_pair_of_sockets_that_leads_nowhere_still_works(project: Path, data: Path) -> None:
    body = trying("import asyncio", "asyncio.run(asyncio.sleep(0))")
    assert label(project, body) == "done"


@needs_file_wall
@pytest.mark.parametrize(
    "line",
    [
        "open({home!r} + '/diary.txt').read()",
        "os.listdir({home!r})",
        "open({home!r} + '/new.txt', 'w')",
        "os.remove({home!r} + '/diary.txt')",
        "open('/etc/passwd').read()",
        "open(f'/proc/{{os.getppid()}}/environ').read()",
        "open(__file__, 'a')",
        "os.symlink({home!r} + '/diary.txt', 'link'); open('link').read()",
        "import subprocess; subprocess.run(['/usr/bin/env', 'cat', {home!r} + '/diary.txt'], check=True)",
    ],
)
def test_a_pack_that_reads_the_home_folder_is_stopped(line: str, project: Path, data: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "diary.txt").write_text("dear diary")
    body = trying(*line.format(home=str(home)).split("; "))
    if "subprocess" in line:
        body = body.replace("OSError as", "(OSError, subprocess.CalledProcessError) as")
    told = label(project, body, variables={"HOME": str(home), "EVALSI_CACHE_DIR": own_cache(), "UV_CACHE_DIR": ""})
    assert told in ("PermissionError", "CalledProcessError")
    assert (home / "diary.txt").read_text() == "dear diary"


def own_cache() -> str:
    """The cache that the tests have anyway, since another home folder would mean another one."""
    return str(cache_dir())


@needs_file_wall
def test_what_it_needs_it_can_still_do(project: Path, data: Path) -> None:
    lines = (
        "import json, sqlite3, tempfile, time, zoneinfo, locale, ssl, random, threading, concurrent.futures",
        "open('mine', 'w').write('x')",
        "tempfile.TemporaryFile().write(b'x')",
        "os.urandom(8), os.cpu_count(), time.localtime(), os.path.expanduser('~')",
        "open(os.path.expanduser('~/kept'), 'w').write('x')",
        "open(os.devnull, 'w').write('x')",
        "import jsonschema, rapidfuzz",
    )
    assert label(project, trying(*lines)) == "done"


@needs_file_wall
def test_a_path_that_was_granted_can_be_read_and_not_be_written(project: Path, data: Path, tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.mkdir()
    (words / "list.txt").write_text("one")
    more = f'[permissions]\nfiles = ["{words}"]\n'
    assert label(project, trying(f"open({str(words / 'list.txt')!r}).read()"), more=more) == "done"
    write_pack(project / "source", body=trying(f"open({str(words / 'list.txt')!r}, 'a')"), more=more)
    added(project / "source", project, may_change=True)
    assert label(project, trying(f"open({str(words / 'list.txt')!r}, 'a')"), more=more) == "PermissionError"


@needs_file_wall
@pytest.mark.parametrize("line", ["open('/etc/passwd')", "import socket; socket.socket()"])
def test_a_pack_that_is_a_program_has_the_same_walls(line: str, project: Path) -> None:
    source = project / "source"
    shutil.copytree(EXAMPLES / "packs" / "without-sdk", source)
    added_as_it_is = evalsi("plugins", "add", source, cwd=project)
    assert added_as_it_is.code == 0, added_as_it_is.err
    program = source / "keywords.py"
    program.write_text(program.read_text("utf-8").replace("import ", f"{line}\nimport ", 1), "utf-8")
    stopped = evalsi("plugins", "update", "acme/keywords", cwd=project)
    assert stopped.code == 1
    assert "PermissionError" in stopped.err


def test_only_the_variables_that_were_granted_are_passed_on(project: Path, data: Path) -> None:
    body = "return ','.join(name for name in ('ACME_KEY', 'OTHER_KEY') if name in os.environ) or 'none'"
    variables = {"ACME_KEY": "1", "OTHER_KEY": "2"}
    assert label(project, body, more='[permissions]\nsecrets = ["ACME_KEY"]\n', variables=variables) == "ACME_KEY"


def test_an_added_pack_leaves_no_compiled_code_beside_its_own(project: Path, data: Path) -> None:
    assert label(project, "return 'done'") == "done"
    assert label(project, "return 'done'") == "done"
    assert not list((project / ".evalsi").rglob("*.pyc"))


def test_without_grants_and_without_a_terminal_it_says_what_to_pass(project: Path, tmp_path: Path) -> None:
    more = '[permissions]\nnetwork = ["api.acme.test"]\nsecrets = ["ACME_KEY"]\n'
    folder = write_pack(tmp_path / "style", more=more)
    refused = evalsi("plugins", "add", folder, "--no-start", cwd=project)
    assert refused.code == 1
    assert "--grant network,secrets" in refused.err
    assert "api.acme.test" in refused.out
    half = evalsi("plugins", "add", folder, "--no-start", "--grant", "network", cwd=project)
    assert "was not granted secrets" in half.err
    assert not (project / "evalsi.lock").exists()
    unknown = evalsi("plugins", "add", folder, "--grant", "netwrok", cwd=project)
    assert unknown.code == 2
    assert "network" in unknown.err
    assert evalsi("plugins", "add", folder, "--no-start", "--grant", "network,secrets", cwd=project).code == 0
    assert recorded(project)["acme/style"]["granted"]["network"] == ["api.acme.test"]


@pytest.mark.parametrize(("answer", "is_added"), [("y", True), ("n", False), ("", False)])
def test_at_a_terminal_a_person_is_asked(answer: str, is_added: bool, project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style", more='[permissions]\nsecrets = ["ACME_KEY"]\n')
    ours, theirs = pty.openpty()
    command = [EVALSI, "plugins", "add", str(folder), "--no-start"]
    with subprocess.Popen(command, cwd=project, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE) as asking:
        os.write(ours, f"{answer}\n".encode())
        _, told = asking.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert b"Grant acme/style secrets? [y/N]" in told
    assert (project / "evalsi.lock").exists() is is_added
    assert asking.returncode == (0 if is_added else 1)


def test_an_update_that_asks_for_more_has_to_be_granted_again(project: Path, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "style", more='[permissions]\nnetwork = ["a.test"]\n')
    added(folder, project)
    write_pack(folder, version="1.1.0", more='[permissions]\nnetwork = ["a.test", "b.test"]\n')
    stopped = evalsi("plugins", "update", "acme/style", "--no-start", cwd=project)
    assert stopped.code == 1
    assert "+ network: b.test" in stopped.out
    assert "+ network: a.test" not in stopped.out
    assert recorded(project)["acme/style"]["version"] == "1.0.0"
    write_pack(folder, version="1.1.0", more="")
    assert evalsi("plugins", "update", "acme/style", "--no-start", cwd=project).code == 0
    assert recorded(project)["acme/style"]["granted"]["network"] == []


def test_what_is_wider_is_told_for_each_kind() -> None:
    granted = Permissions(("primary",), {"a": 2, "b": None}, ("x",), (), (), 4096)
    assert widened(granted, granted) == []
    assert widened(granted, Permissions(("primary",), {"a": 1, "b": 9}, (), (), (), 512)) == []
    asked = Permissions(("primary", "second"), {"a": 3, "b": None, "c": None}, ("x", "y"), ("/d",), ("K",), 8192)
    assert widened(granted, asked) == [
        "+ judge: second",
        "+ network: y",
        "+ files: /d",
        "+ secrets: K",
        "+ judge: a asks at most 3 a record, granted were 2",
        "+ judge: c asks any number a record, granted were 0",
        "+ memory: 8,192 MB, granted were 4,096",
    ]


def test_what_no_wall_holds_is_called_declared_only(project: Path, tmp_path: Path) -> None:
    pack = added(write_pack(tmp_path / "style", asks='["judge"]', body="return True"), project).pack
    asked = permissions_of(pack)
    assert (asked.judge, dict(asked.asks_per_record)) == (("primary",), {"polite": None})
    bare = {kind: how for kind, _, how in shown(asked, pack, Host(network=False, files=False, memory=False))}
    assert bare == {"judge": ENFORCED, "network": DECLARED, "files": DECLARED, "secrets": DECLARED, "memory": DECLARED}
    walled = Host(network=True, files=True, memory=True)
    assert {how for kind, _, how in shown(asked, pack, walled) if kind != "memory"} == {ENFORCED}
    # P4: four times what the manifest names is what the wall is at, and it says so.
    wall = f"{ENFORCED} at 2,048 MB of addresses"
    assert [(what, how) for kind, what, how in shown(asked, pack, walled) if kind == "memory"] == [
        ("512 MB a process", wall)
    ]
    in_wasm = pack._replace(runtime="wasm")
    assert {kind for kind, _, how in shown(asked, in_wasm, Host(False, False, True)) if how == DECLARED} == set()
    elsewhere = pack._replace(runtime="elsewhere")
    assert {kind for kind, _, how in shown(asked, elsewhere, walled) if how == DECLARED} == {
        "network",
        "files",
        "secrets",
    }
    online = asked._replace(network=("api.acme.test",))
    assert {kind for kind, _, how in shown(online, pack, walled) if how == DECLARED} == {"network"}


def test_doctor_says_what_this_host_enforces(project: Path) -> None:
    told = evalsi("doctor", cwd=project).out
    for kind, is_enforced in HOST._asdict().items():
        mark, held = ("enforced", "held") if is_enforced else ("declared", "not held")
        assert f"{mark} added packs: {held} to the {kind} that the project granted" in told


ON_AN_UNKNOWN_MACHINE = """
import runpy, sys
rules = '{"network": true, "files": false, "read": [], "write": [], "home": "scratch"}'
module = runpy.run_path(sys.argv[1])
module["main"].__globals__["_ARCHITECTURES"].clear()
module["main"]([rules, "--", *sys.argv[2:]])
"""


def test_on_a_machine_that_is_not_known_a_network_of_its_own_is_the_wall(listening: tuple[int, str]) -> None:
    start = [sys.executable, "-I", "-S", "-c", ON_AN_UNKNOWN_MACHINE, confined_start.__file__]
    told = subprocess.run(start, capture_output=True, text=True, timeout=60, check=True)
    if not json.loads(told.stdout)["network"]:
        pytest.skip("this host has no user namespaces, so on another machine network would be declared only")
    connect = f"import socket, os; print(os.getuid()); socket.create_connection(('127.0.0.1', {listening[0]}), 5)"
    done = subprocess.run(
        [*start, sys.executable, "-c", connect], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == f"{os.getuid()}\n"
    assert "Network is unreachable" in done.stderr


def test_a_wall_that_is_there_and_cannot_be_put_up_ends_the_process(tmp_path: Path) -> None:
    rules = {"network": False, "files": True, "read": ["/usr"], "write": [], "home": "scratch"}
    command = [sys.executable, "-I", "-S", confined_start.__file__, json.dumps(rules), "--", "/no/such/program"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0


def test_nothing_is_asked_of_a_model_without_a_grant(project: Path) -> None:
    pack = added(write_pack(project / "source"), project).pack
    asked: list[str] = []

    async def answer(method: str, body: dict[str, object]) -> dict[str, object]:
        asked.append(method)
        return {}

    def ask(granted: Permissions, method: str, *bodies: dict[str, object]) -> str:
        guard = holding(pack, granted)(Launch("acme/style")).guard
        assert guard is not None
        guarded = guard(answer, lambda session, record: session == 1 and str(record) in {"a", "b"})

        async def all_of_them() -> str:
            try:
                for body in bodies:
                    await guarded(method, body)
            except RequestFailed as refused:
                return refused.error.code
            return ""

        return asyncio.run(all_of_them())

    def body(record: str, *roles: str) -> dict[str, object]:
        return {"session": 1, "record": record, "requests": [{"role": role} for role in roles]}

    some = Permissions(("primary",), {"polite": 2})
    refused = "capability.not_granted"
    assert ask(Permissions(), "judge.ask", body("a", "primary")) == refused
    assert ask(Permissions(), "embed.ask", {"session": 1, "record": "a", "texts": ["x"]}) == refused
    assert ask(some, "judge.ask", body("a", "second")) == refused
    assert asked == []
    assert ask(some, "judge.ask", body("a", "primary"), body("a", "primary"), body("b", "primary", "primary")) == ""
    assert ask(some, "judge.ask", body("a", "primary"), body("a", "primary", "primary")) == refused
    assert ask(Permissions(("primary",), {"polite": None}), "judge.ask", *[body("a", "primary")] * 9) == ""
    assert ask(Permissions(), "blob.get", {}) == ""
    # Records that it was not given, and sessions that there are not, give it no more questions.
    for strange in ("c", 7, ["a"], None):
        assert ask(some, "judge.ask", {**body("a", "primary"), "record": strange}) == refused
    assert ask(some, "judge.ask", {**body("a", "primary"), "session": 2}) == refused
    assert ask(some, "judge.ask", body("", "primary"), body("", "primary")) == ""
    assert ask(some, "judge.ask", *[{**body("", "primary"), "session": number} for number in range(3)]) == refused


@needs_network_wall
@pytest.mark.parametrize("variables", ["os.environ"])  # With cleared variables it is found only most of the time.
def test_p9_a_child_without_parents_does_not_outlive_the_run(variables: str, project: Path, data: Path) -> None:
    lines = (
        "import subprocess",
        "reader, writer = os.pipe()",
        "if os.fork() == 0:",
        "    os.setsid()",
        "    if os.fork() == 0:",
        "        os.write(writer, str(os.getpid()).encode())",
        "        for number in range(64):",
        "            try: os.close(number)",
        "            except OSError: pass",
        "        sleep = [sys.executable, '-S', '-c', 'import time; time.sleep(3600)']",
        f"        os.execve(sleep[0], sleep, {variables})",
        "    os._exit(0)",
        "return os.read(reader, 20).decode()",
    )
    assert still_running([int(label(project, "\n    ".join(lines)))]) == []
