"""Takes a page apart: its fenced blocks, and the commands of a console block with the output that the page promises.

Knows Markdown only; it must not know how a block is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(r"^```(?P<language>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (?P<name>[\w./-]+\.py)\n")
ANYTHING = "…"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block.

    Args:
        language: what stands after the fence, "" for nothing.
        text: what is between the fences.
        line: of the page, where the text begins.
        follows_at_once: whether only white space stands between it and the block before.
    """

    language: str
    text: str
    line: int
    follows_at_once: bool

    @property
    def file_name(self) -> str | None:
        """What a Python block is to be saved as, when its first line is a comment that names a file."""
        found = FILE_NAME.match(self.text) if self.language == "python" else None
        return found["name"] if found else None


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block, and the output that the page promises."""

    words: str
    promised: str


def blocks_of(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    end = 0
    for found in FENCE.finditer(page):
        between = page[end : found.start()]
        yield Block(found["language"], found["text"], page.count("\n", 0, found.start("text")) + 1, not between.strip())
        end = found.end()


def commands_of(block: Block) -> list[Command]:
    """The commands of a console block: lines that begin with `$ `, continued after a backslash; the rest is output.

    Raises:
        ValueError: the block begins with output.
    """
    commands: list[tuple[list[str], list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append(([line[2:]], []))
        elif not commands:
            raise ValueError(f"line {block.line}: the block begins with output; begin it with a command.")
        elif commands[-1][0][-1].endswith("\\") and not commands[-1][1]:
            commands[-1][0].append(line)
        else:
            commands[-1][1].append(line)
    return [Command("\n".join(words), "\n".join(output)) for words, output in commands]


def fits(promised: str, printed: str) -> bool:
    """Whether a text is what a page promises; `…` stands for anything in a line, and alone on one for any lines."""
    pattern = ""
    for line in promised.strip().splitlines():
        if line.strip() == ANYTHING:
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.rstrip().split(ANYTHING))) + "\n"
    lines = [line.rstrip() for line in printed.strip().splitlines()]
    return re.fullmatch(pattern, "\n".join(lines) + "\n") is not None or (not promised.strip() and not printed.strip())
