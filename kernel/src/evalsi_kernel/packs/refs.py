"""Parse how a user names an evaluator: `[pack/]name[@version]`, or a file or module with an optional attribute."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from evalsi_kernel.errors import ConfigError

EVALUATOR_NAME = r"[A-Za-z0-9_][A-Za-z0-9_-]*"
PACK_NAME = r"[a-z0-9][a-z0-9_-]*(?:/[a-z0-9][a-z0-9_-]*)?"
VERSION = r"[A-Za-z0-9][A-Za-z0-9._+-]*"

# Wider than pack names, so that a capital letter leads to a suggestion instead of a syntax error.
_QUALIFIER = r"[\w-]+(?:/[\w-]+)?"
_REF = rf"(?:({_QUALIFIER})/)?([\w-]+)(?:@({VERSION}))?"
_PATH_STARTS = ("./", "../", "/", "~", ".\\", "..\\")


class EvaluatorRef(NamedTuple):
    """A reference to an evaluator of the catalog.

    Args:
        qualifier: the part before the name: a pack, a publisher, "builtin", or "".
        name: name of the evaluator.
        version: required version or a prefix of it; "" accepts any.
    """

    qualifier: str
    name: str
    version: str

    def __str__(self) -> str:
        return "".join((f"{self.qualifier}/" if self.qualifier else "", self.name, self.version and f"@{self.version}"))

    def admits(self, version: str) -> bool:
        """Return whether a version matches: "1" matches "1" and "1.x.y"."""
        return not self.version or version == self.version or version.startswith(f"{self.version}.")


class CustomRef(NamedTuple):
    """A reference to the user's own evaluators.

    Args:
        kind: "file" or "module".
        target: the path as written, or the dotted name of the module.
        attribute: the function or class; "" means every evaluator in it.
    """

    kind: Literal["file", "module"]
    target: str
    attribute: str = ""

    def __str__(self) -> str:
        return f"{self.target}:{self.attribute}" if self.attribute else self.target


def parse_ref(text: str) -> EvaluatorRef | CustomRef:
    """Parse a reference to an evaluator.

    Raises:
        ConfigError: `config.evaluator`: the text is not a valid reference.
    """
    ref = text.strip()
    if custom := _custom(ref):
        return custom
    if match := re.fullmatch(_REF, ref):
        qualifier, name, version = match.groups(default="")
        return EvaluatorRef(qualifier, name, version)
    if not ref:
        raise _malformed("The name of an evaluator is empty.", "Use a name such as exact-match.")
    module, dot, attribute = ref.rpartition(".")
    if dot and _is_dotted(module) and _is_dotted(attribute):
        raise _malformed(
            f'"{ref}" is not the name of an evaluator.', f"Write an attribute of a module as {module}:{attribute}."
        )
    raise _malformed(
        f'"{ref}" is not the name of an evaluator.',
        "Write a name such as exact-match, core/exact-match or exact-match@1, "
        "or your own code, such as ./my_evals.py:polite or acme.metrics:tone.",
    )


def _custom(ref: str) -> CustomRef | None:
    target, colon, attribute = ref.rpartition(":")
    if ref.endswith(".py"):
        return CustomRef("file", ref)
    if colon and target.endswith(".py"):
        return CustomRef("file", target, _checked_attribute(ref, target, attribute))
    if ref.startswith(_PATH_STARTS):
        raise _malformed(f'"{ref}" is not a Python file.', "Use a file that ends in .py, such as ./my_evals.py:polite.")
    if colon and _is_dotted(target):
        return CustomRef("module", target, _checked_attribute(ref, target, attribute))
    return None


def _checked_attribute(ref: str, target: str, attribute: str) -> str:
    if not _is_dotted(attribute):
        raise _malformed(
            f'"{ref}": "{attribute}" is not the name of a function or class.',
            f"Write {target}:NAME, or {target} alone for every evaluator in it."
            if target.endswith(".py")
            else f"Write {target}:NAME.",
        )
    return attribute


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _malformed(message: str, hint: str) -> ConfigError:
    return ConfigError(message, hint, code="config.evaluator")
