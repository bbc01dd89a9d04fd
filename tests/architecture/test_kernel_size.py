"""The kernel stays a kernel: decision 0006 bounds its lines of code, docstrings and comments not counted."""

import ast
import io
import tokenize
from pathlib import Path

from tests.architecture.distributions import ROOT

MAX_CODE_LINES = 11_000
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(module: Path) -> int:
    """How many lines of a module hold code."""
    text = module.read_text("utf-8")
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            documented.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def test_the_kernel_has_not_outgrown_its_bound() -> None:
    modules = (ROOT / "kernel" / "src" / "evalsi_kernel").rglob("*.py")
    assert 1_000 < sum(map(code_lines, modules)) <= MAX_CODE_LINES
