"""The files of a new WebAssembly pack: those of a language's kit, with a manifest and a README.

The kits are ordinary source files in `kits/`, so that the tools of their languages work on them.
"""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Final, NamedTuple

from . import new_pack_files

IGNORED: Final = ".zig-cache/\nnode_modules/\ntarget/\n"
_MANIFEST_FILES: Final = (
    ("plugin.toml", "the manifest: what the pack is, and what each evaluator needs, takes and gives"),
    ("samples.jsonl", "records that the pack is tried with"),
)
_BY_UV: Final = (("uv run build.py", "makes $module"), ("uv run build.py test", "the tests of the source"))
_ZIG_BY_UV: Final = "[uv](https://docs.astral.sh/uv/), which brings the compiler"


class Kit(NamedTuple):
    """Description of the kit of one language.

    Args:
        language: name of the language, for display.
        needs: build requirements, for the README.
        tool: the program that builds the pack.
        commands: commands to run in the pack's folder, each with an explanation; the first builds the module.
        files: path in the kit → description.
        memory_mb: memory limit of a process of the pack.
    """

    language: str
    needs: str
    tool: str
    commands: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str], ...]
    memory_mb: int = 256


KITS: Final = MappingProxyType(
    {
        "rust": Kit(
            "Rust",
            "Rust with its target for WebAssembly (`rustup target add wasm32-unknown-unknown`), and uv",
            "cargo",
            _BY_UV,
            (
                ("src/sentence_length.rs", "the evaluator and its tests"),
                ("src/lib.rs", "what the host calls"),
                ("src/msgpack.rs", "reads and writes the host's bodies; no crate is needed"),
                ("Cargo.toml", "how the source is compiled"),
                ("build.py", "makes the module"),
            ),
        ),
        "zig": Kit(
            "Zig",
            _ZIG_BY_UV,
            "uv",
            _BY_UV,
            (
                ("src/sentence_length.zig", "the evaluator and its tests"),
                ("src/pack.zig", "what the host calls"),
                ("src/msgpack.zig", "reads and writes the host's bodies"),
                ("build.py", "makes the module"),
            ),
        ),
        "c": Kit(
            "C",
            _ZIG_BY_UV,
            "uv",
            _BY_UV,
            (
                ("src/sentence_length.c", "the evaluator"),
                ("src/sentence_length.h", "its declaration"),
                ("src/pack.c", "what the host calls"),
                ("src/msgpack.c", "reads and writes the host's bodies"),
                ("src/msgpack.h", "how it is called"),
                ("tests/test_sentence_length.c", "the evaluator's tests"),
                ("tests/test_msgpack.c", "those of the reader and the writer"),
                ("build.py", "makes the module"),
            ),
        ),
        "assemblyscript": Kit(
            "AssemblyScript",
            "Node.js 20 or newer",
            "npm",
            (("npm install && npm run build", "makes $module"), ("npm test", "the tests of the module")),
            (
                ("src/sentence_length.ts", "the evaluator"),
                ("src/pack.ts", "what the host calls"),
                ("src/msgpack.ts", "reads and writes the host's bodies"),
                ("pack.test.mjs", "the tests, which call the module as the host does"),
                ("package.json", "the compiler, and the commands above"),
                ("tsconfig.json", "tells an editor that this is AssemblyScript"),
                ("build.mjs", "makes the module"),
            ),
        ),
        "js": Kit(
            "JavaScript",
            "Node.js 20 or newer",
            "npm",
            (("npm install && npm run build", "makes $module"), ("npm test", "the tests of the source")),
            (
                ("sentence_length.js", "the evaluator"),
                ("pack.js", "what the host calls"),
                ("pack.test.js", "the tests"),
                ("pack.wit", "the world of the component"),
                ("package.json", "the tool that makes it"),
                ("build.mjs", "makes the module"),
            ),
            memory_mb=512,
        ),
    }
)


def texts_of(name: str, language: str) -> dict[str, str]:
    """Return the files of a new pack: path → text.

    Args:
        name: name of the pack, with its publisher.
        language: a key of `KITS`.
    """
    kit = KITS[language]
    short = name.partition("/")[2]
    words = {"name": name, "module": f"{short}.wasm", "release": f"{short}-0.1.0.tar.gz"}
    commands = [(command, Template(what).substitute(words)) for command, what in kit.commands]
    page = {
        "language": kit.language,
        "needs": kit.needs,
        "commands": "\n".join(f"    {command:<29} # {what}" for command, what in commands),
        "files": "\n".join(f"| `{path}` | {what} |" for path, what in (*_MANIFEST_FILES, *kit.files)),
    }
    folder = files(__package__) / "kits"
    return {
        "plugin.toml": new_pack_files.wasm_manifest(name, words["module"], kit.memory_mb),
        "README.md": Template((folder / "README.md").read_text("utf-8")).substitute(words, **page),
        "samples.jsonl": new_pack_files.SAMPLES,
        ".gitignore": IGNORED,
        **{path: (folder / language / path).read_text("utf-8") for path, _ in kit.files},
    }


def next_steps(language: str, folder: Path) -> list[str]:
    """Return the next steps for the author, one per line, starting with the build tool if it is not installed."""
    kit = KITS[language]
    missing = [] if shutil.which(kit.tool) else [f"to build it you need {kit.needs}"]
    return [*missing, f"next: cd {folder} && {kit.commands[0][0]}", "then: evalsi plugins check ."]
