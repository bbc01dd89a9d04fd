"""P1: `evalsi plugins check` runs a stranger's pack within the walls that an added pack gets."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalsi_provisioning.confinement import this_host
from tests.cli.running import evalsi
from tests.provisioning.adding.third_party import write_pack

HOST = this_host()
needs_walls = pytest.mark.skipif(not (HOST.network and HOST.files), reason="this host has not both walls")


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[tuple[socket.socket, int, str]]:
    path = str(tmp_path / "agent")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(path)
        local.listen()
        server.setblocking(False)
        yield server, server.getsockname()[1], path


SPIES = """\
import json, os, socket
def tried(act):
    try:
        return act() or "done"
    except OSError as error:
        return type(error).__name__
def internet():
    socket.create_connection(("127.0.0.1", {port}), 5).close()
def agent():
    with socket.socket(socket.AF_UNIX) as one:
        one.connect({agent!r})
saw = {{
    "key": tried(lambda: open({home!r} + "/id_ed25519").read()),
    "home": tried(lambda: open({home!r} + "/new", "w").close()),
    "internet": tried(internet),
    "agent": tried(agent),
    "secret": os.environ.get("ACME_KEY", ""),
    "granted": tried(lambda: open({words!r}).read()),
}}
raise RuntimeError("SAW " + json.dumps(saw) + " END")
"""


def saw(folder: Path, home: Path, *flags: str) -> dict[str, str]:
    """What a pack that spies while it is imported could reach; its traceback is in the report."""
    variables = {"ACME_KEY": "sk-secret", "EVALSI_KEPT_HOME": str(home)}
    done = evalsi("plugins", "check", folder, "--format", "json", *flags, cwd=folder.parent, variables=variables)
    assert done.code == 1, done.err
    text = json.dumps(json.loads(done.out))
    found: dict[str, str] = json.loads(json.loads(f'"{text.partition("SAW ")[2].partition(" END")[0]}"'))
    return found


@pytest.fixture
def spying(tmp_path: Path, listening: tuple[socket.socket, int, str]) -> tuple[Path, Path]:
    """A pack's folder and the home folder that it spies on."""
    home = tmp_path / "user"
    home.mkdir()
    (home / "id_ed25519").write_text("a private key")
    (home / "words").write_text("words")
    _, port, agent = listening
    permissions = (
        f'[permissions]\nnetwork = ["127.0.0.1"]\nsecrets = ["ACME_KEY"]\nfiles = [{json.dumps(str(home / "words"))}]\n'
    )
    folder = write_pack(tmp_path / "style", more=permissions)
    (module,) = (folder / "src").glob("*.py")
    code = SPIES.format(home=str(home), port=port, agent=agent, words=str(home / "words"))
    module.write_text(code + module.read_text("utf-8"), "utf-8")
    return folder, home


@needs_walls
def test_p1_check_gives_a_strangers_pack_nothing(
    spying: tuple[Path, Path], listening: tuple[socket.socket, int, str]
) -> None:
    refused = "PermissionError"
    found = saw(*spying)
    assert found == {
        "key": refused, "home": refused, "internet": refused, "agent": refused, "secret": "", "granted": refused,
    }  # fmt: skip
    with pytest.raises(BlockingIOError):
        listening[0].accept()


@needs_walls
def test_p1_check_gives_what_is_granted_and_p8_no_unix_socket_with_it(spying: tuple[Path, Path]) -> None:
    refused = "PermissionError"
    assert saw(*spying, "--grant", "network,secrets,files") == {
        "key": refused, "home": refused, "internet": "done", "agent": refused, "secret": "sk-secret",
        "granted": "words",
    }  # fmt: skip
    assert saw(*spying, "--grant", "secrets")["internet"] == refused


@needs_walls
def test_p1_code_that_runs_on_import_reads_no_key_in_a_check(tmp_path: Path) -> None:
    home = tmp_path / "user"
    home.mkdir()
    (home / "key").write_text("a private key")
    folder = write_pack(tmp_path / "style")
    (module,) = (folder / "src").glob("*.py")
    module.write_text(f"print(open({str(home / 'key')!r}).read())\n" + module.read_text("utf-8"), "utf-8")
    done = evalsi("plugins", "check", folder, "--level", "loads", cwd=tmp_path)
    assert done.code == 1
    assert "PermissionError" in done.out
    assert "a private key" not in done.out + done.err


def conforming(folder: Path, line: str) -> Path:
    """A pack that conforms, with this line where its evaluator begins to score."""
    assert evalsi("plugins", "new", "acme/tone", "--dir", folder).code == 0
    (source,) = folder.rglob("sentence_length.py")
    before = source.read_text("utf-8")
    after = re.sub(r"(    def score\(.*\).*:\n(?:        \"\"\".*\"\"\"\n)?)", rf"\1        {line}\n", before)
    assert after != before
    source.write_text(after, "utf-8")
    return folder


@needs_walls
def test_p1_what_an_honest_pack_does_still_passes(tmp_path: Path) -> None:
    folder = conforming(tmp_path / "tone", "import tempfile; tempfile.TemporaryFile().write(b'x')")
    done = evalsi("plugins", "check", folder, cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert not list(folder.rglob("*.pyc"))


@needs_walls
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import contextlib, socket; exec(QUIETLY)", "network"),
        ("import os; open(os.path.expanduser('~/kept'), 'w').write('x')", "~/kept"),
    ],
)
def test_p1_the_kit_still_finds_who_tries_within_the_walls(line: str, said: str, tmp_path: Path) -> None:
    folder = conforming(tmp_path / "tone", line.replace("QUIETLY", repr(QUIETLY)))
    done = evalsi("plugins", "check", folder, cwd=tmp_path)
    assert done.code == 1
    assert said in done.out
    assert "0 faults" not in done.out


QUIETLY = "with contextlib.suppress(OSError): socket.create_connection(('192.0.2.1', 9), 1)"
