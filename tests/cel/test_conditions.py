"""One corpus of conditions on both engines: what is true, what they refuse, what has no answer, where they differ."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_cel.language import MAX_SOURCE_BYTES, Cel
from evalsi_cel.native import compile_source as native
from evalsi_cel.plugin import evalsi_condition_language
from evalsi_cel.portable import compile_source as portable
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.gates.conditions import EVALUATOR_VARIABLES, GATE_VARIABLES, ConditionError

VALUES: dict[str, Any] = {
    "labels": {"team": "a", "empty": None, "evals.si/project": "p"},
    "trials": 3,
    "name": "cap",
    "source": {"branch": "main", "pull_request": None},
    "record": {
        "input": [{"role": "user", "content": "Hi"}],
        "output": "héllo",
        "metadata": {"lang": "de", "n": 3, "f": 3.5, "ok": True, "tags": ["a", "b"], "big": 2**70},
    },
    "scores": {"a": 1, "b": 0.25, "llm-judge": 0.4, "p": True},
}
BOTH = pytest.mark.parametrize("engine", [native, portable], ids=["cel-expr-python", "cel-python"])

TRUE = """
source.branch == "main"
source.branch == 'main'
source["branch"] == "main"
trials >= 3
trials > 2.5
trials % 2 == 1
trials / 2 == 1
-trials == -3
double(trials) / 2.0 == 1.5
string(trials) == "3"
int("3") == trials
type(trials) == int
scores.a < 1.5
scores.b < 1
scores["llm-judge"] < 0.5 && labels.team == "a"
scores.p
scores.p == true
!(scores.p && scores.a < 1)
record.metadata.n == 3.0
record.metadata.f == 3.5
record.metadata.big > 1
3 in [1, "a", 3.0]
!(trials in record.metadata.tags)
[1, "a"] != [1, 2]
record.metadata.n != 3.5
record.metadata.n != "3"
record.metadata.n + 1 == 4
record.metadata.ok ? scores.a == 1 : false
record.metadata.lang in ["de", "fr"]
"a" in record.metadata.tags
!("de" in record.metadata.tags)
"team" in labels
record.metadata.tags.exists(t, t == "b")
record.metadata.tags.all(t, t.size() == 1)
record.metadata.tags.exists_one(t, t == "b")
record.metadata.tags.filter(t, t != "a").size() == 1
record.metadata.tags.map(t, t + "!") == ["a!", "b!"]
record.metadata.tags[0] == "a"
record.input[0].role == "user"
record.output.size() == 5
size(record.output) == 5
record.output.matches("^h.llo$")
record.output.startsWith("h") && record.output.endsWith("o")
record.output.contains("ll")
!record.output.matches("(a+)+$")
source.pull_request == null
labels.empty == null
has(labels.team)
!has(labels.nope)
labels["evals.si/project"] == "p"
labels.nope == "x" || true
!(labels.nope == "x" && false)
"a" + "b" == "ab"
[1, 2] + [3] == [1, 2, 3]
{"a": 1}.a == 1
duration("1h") > duration("30m")
timestamp("2026-01-01T00:00:00Z") < timestamp("2027-01-01T00:00:00Z")
name == "cap" // a comment
""".strip().splitlines()

NO_ANSWER = """
labels.nope == "x"
scores.missing > 0.5
record.metadata.tags[7] == "a"
record.metadata.lang < 3
record.metadata.lang + 1 == 4
1 / 0 == 1
source.pull_request > 3
record.output.matches("(")
name
trials
null
labels
""".strip().splitlines()

REFUSED = """
labels.team = "a"
1 +
&&
name ==
"unclosed
trails > 2
has(nope.x)
name.upper() == "CAP"
exec("rm")
__import__("os")
name.all(x, y == x)
[1].map(x, x) == x
labels.?team.orValue("") == "a"
import os
""".strip().splitlines()

HOSTILE = {
    "parentheses": "(" * 200 + "true" + ")" * 200,
    "open parentheses": "(" * 4000,
    "a sum": "1" + "+1" * 2000 + " > 1",
    "lists in lists": "[" * 60 + "]" * 60 + " == []",
    "fields": "record" + ".x" * 1900 + " == 1",
    "conditions": "true ? " * 100 + "true" + " : false" * 100,
    "loops in loops": "[1,2,3,4,5,6,7,8,9,10].all(a, " * 8 + "true" + ")" * 8,
    "a long loop": f"[{','.join(['1'] * 900)}].all(a, [{','.join(['1'] * 900)}].all(b, a == b))",
    "lists that double": "[name + name]" + ".map(a, a + a)" * 30 + " == []",
    "too long": "true" + " " * MAX_SOURCE_BYTES,
    "nothing": "",
    "blanks": "   ",
    "a control character": "true\x00",
    "half a surrogate": "name == '\ud800'",
    "a huge pattern": "record.output.matches('(((a{100}){100}){100})')",
}


def holds(engine: Any, source: str) -> bool:
    return Cel(engine).compile(source, tuple(VALUES)).holds(VALUES)


@BOTH
@pytest.mark.parametrize("source", TRUE)
def test_a_condition_is_true_on_both_engines_and_its_negation_false(engine: Any, source: str) -> None:
    assert holds(engine, source)
    if "//" not in source:
        assert not holds(engine, f"!({source})")


@BOTH
@pytest.mark.parametrize("source", NO_ANSWER)
def test_what_has_no_truth_value_is_said_in_a_sentence_and_is_never_false(engine: Any, source: str) -> None:
    condition = Cel(engine).compile(source, tuple(VALUES))

    with pytest.raises(ConditionError) as caught:
        condition.holds(VALUES)
    assert str(caught.value)[0].isupper()
    assert str(caught.value).endswith(".")


@BOTH
@pytest.mark.parametrize("source", REFUSED)
def test_what_cannot_be_read_is_refused_before_it_is_used(engine: Any, source: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Cel(engine).compile(source, tuple(VALUES))

    assert caught.value.code == "config.condition"
    assert source[:20] in caught.value.message
    assert caught.value.hint


@BOTH
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_condition_ends_as_a_clear_error(engine: Any, source: str) -> None:
    with pytest.raises((ConfigError, ConditionError)) as caught:
        holds(engine, source)

    assert len(str(caught.value)) < 700
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "by_native", "by_portable"),
    [
        ("1 == 1.0", "refused", True),
        ('"a" == 1', "refused", False),
        ('duration("1d") > duration("1h")', "no answer", True),
        ("'\\ud800' == name", "refused", False),
        (" && ".join(["true"] * 500), True, "no answer"),
        ("!" * 4000 + "true", True, "refused"),
    ],
)
def test_the_engines_differ_where_the_readme_says_so(source: str, by_native: Any, by_portable: Any) -> None:
    found: list[Any] = []
    for engine in (native, portable):
        try:
            found.append(holds(engine, source))
        except ConfigError:
            found.append("refused")
        except ConditionError:
            found.append("no answer")

    assert found == [by_native, by_portable]


@BOTH
def test_an_unknown_name_is_told_with_the_nearest(engine: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Cel(engine).compile("trails > 2", GATE_VARIABLES)
    assert 'Did you mean "trials"?' in caught.value.hint
    assert "undeclared reference to 'trails'" in caught.value.message

    with pytest.raises(ConfigError) as caught:
        Cel(engine).compile("upper(record.output) == 'X'", EVALUATOR_VARIABLES)
    assert caught.value.hint.startswith("CEL has size, matches")


@BOTH
def test_a_condition_may_have_several_lines(engine: Any) -> None:
    assert holds(engine, 'trials == 3 &&\n\tname == "cap" // as the spec says\n')


@BOTH
def test_a_variable_that_nobody_gave_is_null(engine: Any) -> None:
    assert Cel(engine).compile("source == null", GATE_VARIABLES).holds({})


@BOTH
def test_a_number_beyond_64_bits_elsewhere_in_the_record_does_no_harm(engine: Any) -> None:
    assert holds(engine, 'record.metadata.lang == "de"')


@BOTH
def test_threads_share_a_condition(engine: Any) -> None:
    condition = Cel(engine).compile("record.metadata.tags.exists(t, t == name)", ("record", "name"))

    def ask(number: int) -> bool:
        return condition.holds({"record": {"metadata": {"tags": [str(number % 7)]}}, "name": "3"})

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(70))) == [number % 7 == 3 for number in range(70)]


NUMBERS = st.integers(-(2**53), 2**53) | st.floats(-1e15, 1e15)


@given(left=NUMBERS, right=NUMBERS, sign=st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
def test_numbers_of_any_type_compare_as_numbers_on_both(left: float, right: float, sign: str) -> None:
    expected = eval(f"{left!r} {sign} {right!r}")
    for engine in (native, portable):
        assert Cel(engine).compile(f"a {sign} b", ("a", "b")).holds({"a": left, "b": right}) is expected


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.sampled_from([0.0, 1.0, 1.5])
    | st.text("abc é", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(value=JSON, other=JSON)
def test_the_engines_agree_on_what_is_equal(value: Any, other: Any) -> None:
    for source in ("a == a", "a == b", "a != b", "a in [b]"):
        answers = [
            Cel(engine).compile(source, ("a", "b")).holds({"a": value, "b": other}) for engine in (native, portable)
        ]
        assert answers[0] == answers[1]


def test_the_portable_engine_leaves_the_depth_of_the_process_as_it_was() -> None:
    limit = sys.getrecursionlimit()
    holds(portable, "true")

    assert sys.getrecursionlimit() == limit


def test_no_engine_is_loaded_before_the_first_condition() -> None:
    script = (
        "import sys; from evalsi_cel.plugin import evalsi_condition_language as ask; cel = ask();"
        "loaded = {'celpy', 'cel_expr_python', 'lark'} & set(sys.modules); assert not loaded, loaded;"
        "assert cel.compile('a', ('a',)).holds({'a': True}); assert 'celpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_without_an_engine_one_error_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['celpy'] = sys.modules['cel_expr_python'] = None\n"
        "from evalsi_cel.plugin import evalsi_condition_language as ask\n"
        "from evalsi_kernel.errors import ConfigError\n"
        "try: ask().compile('true', ())\n"
        "except ConfigError as error: print(error.code, error)"
    )
    told = subprocess.run([sys.executable, "-c", script], check=True, timeout=60, capture_output=True, text=True)

    assert told.stdout.startswith("config.condition No library that reads CEL is installed. Install one: pip install")


def test_the_portable_engine_is_used_where_the_other_is_not_installed() -> None:
    script = (
        "import sys; sys.modules['cel_expr_python'] = None\n"
        "from evalsi_cel.plugin import evalsi_condition_language as ask\n"
        "print(ask().compile('a > 2.5', ('a',)).holds({'a': 3}), 'celpy' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", script], check=True, timeout=60, capture_output=True, text=True)

    assert told.stdout.split() == ["True", "True"]


def test_the_hook_gives_the_language() -> None:
    assert evalsi_condition_language().compile("trials > 1", GATE_VARIABLES).source == "trials > 1"
