"""Compiled modules are kept, found again, and never trusted when they are not whole."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from wasmtime import Engine, Module

from evalsi_wasm.engine import make_engine
from evalsi_wasm.module_cache import DIGEST_BYTES, cache_name, compiled
from tests.protocol.kernel_end import texts
from tests.wasm.hosting import WORDS, running
from tests.wasm.wat import guest

CODE = guest()


def exports(module: Module) -> list[str]:
    return [one.name for one in module.exports]


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each module that is compiled."""
    made: list[int] = []
    compile_it = Module.__init__

    def counted(self: Module, engine: Engine, code: bytes) -> None:
        made.append(len(code))
        compile_it(self, engine, code)

    monkeypatch.setattr(Module, "__init__", counted)
    return made


def test_a_module_is_compiled_once_and_found_again(tmp_path: Path, compilations: list[int]) -> None:
    engine = make_engine(fuel=False)
    for _ in range(3):
        assert "evalsi_score" in exports(compiled(Module, engine, CODE, tmp_path / "wasm", "plain"))
    assert compilations == [len(CODE)]
    (kept,) = (tmp_path / "wasm").iterdir()
    assert kept.name == cache_name(CODE, "plain")
    assert kept.name.startswith(hashlib.sha256(CODE).hexdigest())


@pytest.mark.parametrize("harm", ["cut", "changed", "emptied", "text"])
def test_a_file_that_is_not_whole_is_compiled_again(harm: str, tmp_path: Path, compilations: list[int]) -> None:
    engine = make_engine(fuel=False)
    compiled(Module, engine, CODE, tmp_path, "plain")
    (kept,) = tmp_path.iterdir()
    whole = kept.read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    kept.write_bytes({"cut": whole[:-7], "changed": bytes(damaged), "emptied": b"", "text": b"hello"}[harm])
    compiled(Module, engine, CODE, tmp_path, "plain")
    assert len(compilations) == 2
    assert kept.read_bytes()[:DIGEST_BYTES] == hashlib.sha256(kept.read_bytes()[DIGEST_BYTES:]).digest()


def test_what_another_wasmtime_wrote_is_compiled_again(tmp_path: Path, compilations: list[int]) -> None:
    engine = make_engine(fuel=False)
    strange = b"not what this wasmtime writes"
    path = tmp_path / cache_name(CODE, "plain")
    path.write_bytes(hashlib.sha256(strange).digest() + strange)
    compiled(Module, engine, CODE, tmp_path, "plain")
    assert len(compilations) == 1
    assert len({cache_name(CODE, settings) for settings in ("fuel True", "fuel False")}) == 2


@pytest.mark.parametrize("folder", ["a file", "nowhere"])
def test_a_cache_that_cannot_be_written_costs_a_compilation_only(folder: str, tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    place = tmp_path / "a file" if folder == "a file" else Path("/proc/nowhere")
    assert exports(compiled(Module, make_engine(fuel=False), CODE, place, "plain"))


def test_many_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    def one(number: int) -> list[str]:
        return exports(compiled(Module, make_engine(fuel=False), CODE, tmp_path, "plain"))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(one, range(16)))
    assert len(set(map(tuple, found))) == 1
    (kept,) = tmp_path.iterdir()
    assert kept.read_bytes()[:DIGEST_BYTES] == hashlib.sha256(kept.read_bytes()[DIGEST_BYTES:]).digest()


def test_two_processes_share_the_cache(tmp_path: Path) -> None:
    flag = f"--cache={tmp_path / 'wasm'}"
    with running(WORDS, flag) as (one, _), running(WORDS, flag) as (other, _):
        for kernel in (one, other):
            kernel.hello()
            kernel.open(1, "word-count")
            assert kernel.score(texts("a b"))[0] == {"outcomes": {"scored": 1}}
    assert [path.suffix for path in (tmp_path / "wasm").iterdir()] == [".cwasm"]
