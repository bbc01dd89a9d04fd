"""The cases of packs that run as services: a file scored by an attached pack, beside the same pack started by the run.

It must not know a budget of another case.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import trustme

from benchmarks.measure import Run, run
from benchmarks.rows import Bench, Row

RECORDS = 100_000
EVALSI = str(Path(sys.executable).with_name("evalsi"))
CORE = Path(__file__).parents[1] / "plugins" / "packs" / "core"
MANIFEST = """\
manifest = 1
name = "acme/attached"
version = "1.0.0"
summary = "A pack of a benchmark."
protocol = 1
run = { module = "acme_attached", workers = "cpu" }
evaluators = [{ name = "words", version = "1", needs = ["output"], outputs = [{ name = "", kind = "number" }] }]
"""
CODE = """\
from evalsi import evaluator

@evaluator(name="words", version=1, needs=("output",))
def words(record):
    return float(len(record.output_text.split()))
"""


def attached(bench: Bench) -> Iterator[Row]:
    """Words of 100,000 outputs, counted by a pack that the run starts, on a Unix socket, and under TLS."""
    data = bench.records(RECORDS)
    pack = _pack(bench.folder / "attached-pack")
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem
    pem, ca = bench.folder / "service.pem", bench.folder / "service-ca.pem"
    certificate.write_to_path(pem)
    authority.cert_pem.write_to_path(ca)
    words = [EVALSI, "eval", "--data", data, "--evaluators", "acme/attached/words", "--quiet"]
    places = {
        "a Unix socket": (f"unix://{bench.folder}/service.sock", (), ()),
        "TLS": ("tls://127.0.0.1:0", ("--tls-cert", str(pem), "--tls-key", str(pem)), ("--ca", str(ca))),
    }
    for name, (address, serve, attach) in places.items():
        project = bench.folder / f"attached-{name.split()[-1]}"
        shutil.rmtree(project, ignore_errors=True)
        project.mkdir()
        with _serving(pack, address, serve) as at:
            manifest = ("--manifest", str(pack / "plugin.toml"))
            run([EVALSI, "plugins", "attach", at, *attach, *manifest], cwd=project)
            ours: list[Run] = []
            theirs: list[Run] = []
            for _ in range(bench.rounds):
                ours.append(run(words, cwd=project))
                theirs.append(run(words, cwd=bench.folder, variables={"EVALSI_PLUGIN_PATH": str(pack)}))
        ratio = median(our.wall_s / their.wall_s for our, their in zip(ours, theirs, strict=True))
        yield Row(
            f"100,000 records through a pack attached over {name}",
            f"{median(one.wall_s for one in ours):.2f} s",
            f"{median(one.wall_s for one in theirs):.2f} s (the pack started by the run)",
            f"{ratio:.2f} × as long",
            "≤ 2 ×",
            ratio <= 2,
        )


@contextmanager
def _serving(pack: Path, address: str, flags: tuple[str, ...]) -> Iterator[str]:
    argv = [EVALSI, "plugins", "serve", str(pack), "--listen", address, "--warm", "2", *flags]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as service:
        assert service.stderr is not None
        told = next(line for line in service.stderr if "is served at " in line)
        try:
            yield told.split()[-1]
        finally:
            service.terminate()
            service.stderr.read()


def _pack(folder: Path) -> Path:
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "plugin.toml").write_text(MANIFEST, "utf-8")
    (folder / "src" / "acme_attached.py").write_text(CODE, "utf-8")
    shutil.copy(CORE / "uv.lock", folder)
    return folder


SERVICE_CASES: dict[str, Callable[[Bench], Iterator[Row]]] = {"service": attached}
