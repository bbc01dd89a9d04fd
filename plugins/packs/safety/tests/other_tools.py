"""What two public tools find in the same corpora, for the README: presidio-analyzer and detect-secrets.

Neither is a dependency, so this runs in an environment of its own:
`uv run --no-project --with presidio-analyzer --with detect-secrets python other_tools.py SECRETS.jsonl`, where the file
holds the corpus of secrets as `figures.py --secrets` prints it.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"

# Presidio's names of the kinds; the version of an IP address is looked up in the text.
KINDS = {
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "CREDIT_CARD": "card",
    "US_SSN": "us-ssn",
    "IP_ADDRESS": "ip",
    "IBAN_CODE": "iban",
}

Span = tuple[str, int, int]


def presidio() -> Callable[[str], Iterator[Span]]:
    """Its recognisers of these kinds with their defaults; its language model, which tells names, is left out."""
    spacy = importlib.import_module("spacy")
    analyzer_engine = importlib.import_module("presidio_analyzer")
    engines = importlib.import_module("presidio_analyzer.nlp_engine")
    tldextract: Any = importlib.import_module("tldextract")
    # Without this the list of suffixes is fetched when it is first needed; the one that it ships is asked instead.
    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    nlp = spacy.blank("en")

    # Words near a number are compared by their lemma.
    @spacy.Language.component("lower_lemma")  # type: ignore[untyped-decorator]
    def lower_lemma(doc: Any) -> Any:
        for token in doc:
            token.lemma_ = token.text.lower()
        return doc

    nlp.add_pipe("lower_lemma")
    engine = engines.SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
    engine.nlp = {"en": nlp}
    analyzer = analyzer_engine.AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])

    def found(text: str) -> Iterator[Span]:
        for result in analyzer.analyze(text=text, language="en", entities=list(KINDS)):
            yield KINDS[result.entity_type], result.start, result.end

    return found


def tally(name: str, found: Callable[[str], Iterator[Span]]) -> None:
    """Print what was found right, wrongly and not at all; a span is right when it overlaps one of its kind."""
    right = wrong = missed = 0
    for line in (CORPUS / name).read_text("utf-8").splitlines():
        case = json.loads(line)
        expected = []
        for kind, text in case["found"]:
            start = case["text"].index(text)
            expected.append((kind.replace("ipv4", "ip").replace("ipv6", "ip"), start, start + len(text)))
        spans = list(found(case["text"]))
        hits = [span for span in expected if any(_overlap(span, one) for one in spans)]
        right += len(hits)
        missed += len(expected) - len(hits)
        wrong += sum(not any(_overlap(span, one) for one in expected) for span in spans)
    _print(f"presidio {name}", right, wrong, missed)


def detect_secrets(path: Path) -> None:
    """The same for detect-secrets with its defaults, a case a file: whether a line with a secret is flagged."""
    collection = importlib.import_module("detect_secrets.core.secrets_collection")
    settings = importlib.import_module("detect_secrets.settings")
    right = wrong = missed = 0
    case_file = Path(sys.argv[0]).with_name("case.txt")
    for line in path.read_text("utf-8").splitlines():
        case = json.loads(line)
        case_file.write_text(case["text"], "utf-8")
        secrets = collection.SecretsCollection()
        with settings.default_settings():
            secrets.scan_file(str(case_file))
        flagged = any(True for _ in secrets)
        right += flagged and bool(case["found"])
        wrong += flagged and not case["found"]
        missed += bool(case["found"]) and not flagged
    case_file.unlink()
    _print("detect-secrets", right, wrong, missed)


def _overlap(one: Span, other: Span) -> bool:
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]


def _print(name: str, right: int, wrong: int, missed: int) -> None:
    print(f"{name}: precision {right / (right + wrong):.3f}, recall {right / (right + missed):.3f}", end=" ")
    print(f"({right} right, {wrong} wrong, {missed} missed)")


if __name__ == "__main__":
    analyze = presidio()
    tally("pii.jsonl", analyze)
    detect_secrets(Path(sys.argv[1]))
