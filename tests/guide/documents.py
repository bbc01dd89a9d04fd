"""What the two documents of the guide name, found by pattern: commands, flags, files, keys, variables, URIs, routes.

Finds names only. Whether a name is on the checklist, and whether it is ours, is not known here.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# A command ends where a shell, a comment or a quotation ends it.
END_OF_COMMAND = re.compile(r"\s#|\s\|\s|&&|\s>{1,2}\s|;|`|\)|\t|,\s")
CALL = re.compile(r"(?<![\w/.:=-])(evalsid?|evaltrack)\s+(?=[a-z])(?P<rest>.*)")
VERB = re.compile(r"[a-z][a-z-]*(?:\\?\|[a-z][a-z-]*)*")
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|-[fo](?=\s))")
VARIABLE = re.compile(r"\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|EVALSID)\b")
FILE = re.compile(
    r"(?<![\w/:.@])((?:[\w.*-]+/)*[\w.*-]*[\w*-]\.(?:yaml|yml|jsonl|json|html|md|toml|py|sh|duckdb|txt|go|log))(?![\w/])"
)
EVALUATORS = re.compile(r"--evaluators ([\w/,-]+)")
REF = re.compile(r"\"?\bref\"?: \"?([\w/-]+)")
SCHEME = re.compile(r"(?<![\w-])([a-z][a-z0-9-]*)://")
BLOCK_KEY = re.compile(r"^\s*(?:- )*\{?([a-z][\w./-]*):(?=\s|$)")
FLOW_KEY = re.compile(r"[{,]\s*([a-z][\w./]*):\s")
ROUTE = re.compile(r"\b(?:GET|POST|DELETE|PUT) /[\w/{}:.]*[\w}]")
METHOD = re.compile(r"\b\w+Service[/.]\w+")
EXIT_CODE = re.compile(r"\b[Ee]xits?(?: with)?(?: codes?:?)? (\d)\b|(?<=, )(\d)(?= (?:an error|error|a gate failed))")


@dataclass(frozen=True)
class Call:
    """One use of a tool: the leading words that may be verbs, each with its alternatives, and its flags."""

    tool: str
    words: tuple[tuple[str, ...], ...]
    flags: tuple[str, ...]

    def spellings(self, depth: int) -> set[str]:
        """The command as its first `depth` words spell it; `list|show` spells two."""
        spelled = {self.tool}
        for alternatives in self.words[:depth]:
            spelled = {f"{start} {word}" for start in spelled for word in alternatives}
        return spelled


def logical_lines(text: str) -> list[str]:
    """Lines as a shell reads them: one that ends with a backslash goes on in the next."""
    return re.sub(r"\\\n\s*", " ", text).splitlines()


def calls(text: str) -> Iterator[Call]:
    for line in logical_lines(text):
        rest = line
        while found := CALL.search(rest):
            rest = found["rest"]
            command = END_OF_COMMAND.split(rest, maxsplit=1)[0]
            yield Call(found[1], tuple(verbs(command)), tuple(FLAG.findall(command)))


def verbs(command: str) -> Iterator[tuple[str, ...]]:
    for word in command.split()[:3]:
        if not VERB.fullmatch(word):
            return
        yield tuple(word.replace("\\", "").split("|"))


def names(pattern: re.Pattern[str], text: str) -> set[str]:
    return {next(group for group in found.groups() or (found[0],) if group) for found in pattern.finditer(text)}


def keys(text: str) -> set[str]:
    """Keys of YAML blocks and of flow maps."""
    found = set[str]()
    for line in text.splitlines():
        found.update(BLOCK_KEY.findall(line), FLOW_KEY.findall(line))
    return found


def evaluators(text: str) -> set[str]:
    listed = (name for names_ in EVALUATORS.findall(text) for name in names_.split(","))
    return {name for name in [*listed, *REF.findall(text)] if name}


def segments(keys_: Iterable[str]) -> set[str]:
    """Every part of dotted keys, so that a key found alone in a YAML line can be looked up."""
    return {part for key in keys_ for part in re.split(r"[\s:.,()=]+", key) if part} | {
        key.rpartition("labels.")[2] for key in keys_
    }
