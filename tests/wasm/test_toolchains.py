"""The modules in examples/wasm are what their sources give, wherever the tools that build them are at hand."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalsi_wasm.module import Limits
from tests.protocol.kernel_end import KernelEnd, texts
from tests.wasm.hosting import EXAMPLES, KIND, WORDS, hosting

TONE = EXAMPLES / "tone" / "tone.wasm"
ASC = shutil.which("asc")
HAS_ZIG = importlib.util.find_spec("ziglang") is not None
BOUND_S = 110
OUTPUTS = ("", "one", "two  words", "Grüße\taus Köln 👋", "x " * 5_000)
ZIG = ["-target", "wasm32-freestanding", "-O", "ReleaseSmall", "-fno-entry", "-rdynamic", "-fstrip"]


def copied(name: str, tmp_path: Path) -> Path:
    """The folder of an example without its module."""
    return Path(shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=shutil.ignore_patterns("*.wasm")))


def built(words: list[str], folder: Path) -> Path:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert done.returncode == 0, done.stderr
    (module,) = folder.glob("*.wasm")
    return module


def answers(module: Path, folder: Path, evaluator: str, method: str) -> Any:
    with hosting(module, folder) as kernel:
        kernel.open(1, evaluator)
        body = {"session": 1, "records": texts(*OUTPUTS)}
        return kernel.ask(method, body) if method == "plan" else scores(kernel)


def scores(kernel: KernelEnd) -> list[list[Any]]:
    return sorted(kernel.score(texts(*OUTPUTS))[1])


@pytest.mark.skipif(not HAS_ZIG, reason="Zig is not installed: pip install ziglang")
def test_the_zig_pack_built_anew_scores_as_the_one_that_is_kept(tmp_path: Path) -> None:
    folder = copied("words", tmp_path)
    module = built([sys.executable, "-m", "ziglang", "build-exe", "words.zig", *ZIG], folder)
    for evaluator in ("word-count", "words-per-answer"):
        assert answers(module, tmp_path, evaluator, "score") == answers(WORDS, tmp_path, evaluator, "score")


@pytest.mark.skipif(ASC is None, reason="asc is not on the path: npm install --global assemblyscript")
def test_the_assemblyscript_pack_built_anew_scores_as_the_one_that_is_kept(tmp_path: Path) -> None:
    folder = copied("kind", tmp_path)
    module = built([str(ASC), "kind.ts", "--outFile", "kind.wasm", "--optimize", "--use", "abort="], folder)
    assert answers(module, tmp_path, "kind", "plan") == answers(KIND, tmp_path, "kind", "plan")
    assert answers(module, tmp_path, "characters", "score") == answers(KIND, tmp_path, "characters", "score")


@pytest.mark.skipif(not TONE.is_file(), reason="the JavaScript pack is not built: see examples/wasm/tone/build.mjs")
@pytest.mark.abi("WAB-22")
def test_the_javascript_pack_scores_and_asks(tmp_path: Path) -> None:
    with hosting(TONE, tmp_path, Limits(256 * 1024**2), instances=1) as kernel:
        kernel.open(1, "calm")
        kernel.open(2, "friendly")
        assert kernel.score(texts("Well.", "Well!!"))[0] == {"outcomes": {"scored": 2}}
        plans = kernel.ask("plan", {"session": 2, "records": texts("Grüße 👋")})
    assert isinstance(plans, dict)
    (planned,) = plans["plans"]
    assert planned[1]["requests"][0]["messages"][1]["content"] == "-----\nGrüße 👋\n-----"


def test_the_kept_modules_stand_beside_their_sources_and_say_how_they_are_built() -> None:
    assert "zig build-exe words.zig " + " ".join(ZIG) in (EXAMPLES / "words" / "words.zig").read_text("utf-8")
    assert "asc kind.ts --outFile kind.wasm --optimize --use abort=" in (EXAMPLES / "kind" / "kind.ts").read_text(
        "utf-8"
    )
    assert {path.parent.name for path in EXAMPLES.glob("*/*.wasm")} >= {"words", "kind"}
