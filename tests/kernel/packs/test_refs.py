"""The grammar in which evaluators are named."""

import pytest

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.packs.refs import CustomRef, EvaluatorRef, parse_ref


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("exact-match", EvaluatorRef("", "exact-match", "")),
        ("  exact-match ", EvaluatorRef("", "exact-match", "")),
        ("builtin/exact-match", EvaluatorRef("builtin", "exact-match", "")),
        ("core/exact-match", EvaluatorRef("core", "exact-match", "")),
        ("exact-match@1", EvaluatorRef("", "exact-match", "1")),
        ("core/exact-match@1.2.0", EvaluatorRef("core", "exact-match", "1.2.0")),
        ("acme/readability/tone", EvaluatorRef("acme/readability", "tone", "")),
        ("acme/tone", EvaluatorRef("acme", "tone", "")),
        ("ragas/faithfulness", EvaluatorRef("ragas", "faithfulness", "")),
        ("exact_match", EvaluatorRef("", "exact_match", "")),
    ],
)
def test_a_name_of_the_catalog_is_taken_apart(text: str, ref: EvaluatorRef) -> None:
    assert parse_ref(text) == ref
    assert str(ref) == text.strip()


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("./my_evals.py:polite", CustomRef("file", "./my_evals.py", "polite")),
        ("/abs/x.py:fn", CustomRef("file", "/abs/x.py", "fn")),
        ("my_evals.py", CustomRef("file", "my_evals.py")),
        ("../évaluations/my evals.py:Tone.strict", CustomRef("file", "../évaluations/my evals.py", "Tone.strict")),
        ("~/x.py", CustomRef("file", "~/x.py")),
        ("C:\\evals\\x.py", CustomRef("file", "C:\\evals\\x.py")),
        ("C:\\evals\\x.py:fn", CustomRef("file", "C:\\evals\\x.py", "fn")),
        ("acme.metrics:tone", CustomRef("module", "acme.metrics", "tone")),
        ("metrics:Tone", CustomRef("module", "metrics", "Tone")),
    ],
)
def test_code_of_the_users_own_is_told_from_a_name_of_the_catalog(text: str, ref: CustomRef) -> None:
    assert parse_ref(text) == ref
    assert str(ref) == text


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "Use a name"),
        ("   ", "Use a name"),
        ("acme.metrics.tone", "acme.metrics:tone"),
        ("./my_evals:polite", "ends in .py"),
        ("./folder/", "ends in .py"),
        ("my_evals.py:", "my_evals.py alone for every evaluator in it"),
        ("my_evals.py:not a name", "my_evals.py:NAME"),
        ("./my_evals.py:polite@1", "./my_evals.py:NAME"),
        ("acme.metrics:", "acme.metrics:NAME"),
        ("exact match", "exact-match"),
        ("exact-match@", "exact-match@1"),
        ("@1", "exact-match@1"),
        ("a/b/c/d", "core/exact-match"),
        ("core//exact-match", "core/exact-match"),
        ("exact-match\n@1", "core/exact-match"),
        ("https://example.org/x:y", "core/exact-match"),
    ],
)
def test_a_text_of_no_known_form_is_an_error_that_shows_the_form_that_was_meant(text: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_ref(text)
    assert caught.value.code == "config.evaluator"
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("wanted", "version", "admitted"),
    [
        ("", "7", True),
        ("1", "1", True),
        ("1", "1.2.3", True),
        ("1.2", "1.2.3", True),
        ("1", "10", False),
        ("1", "2.1", False),
        ("1.2.3", "1.2", False),
        ("2", "1", False),
    ],
)
def test_a_version_admits_itself_and_whatever_refines_it(wanted: str, version: str, admitted: bool) -> None:
    assert EvaluatorRef("", "exact-match", wanted).admits(version) is admitted
