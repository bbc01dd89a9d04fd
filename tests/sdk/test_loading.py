"""Test loading evaluators from modules and files, and the errors of loading."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalsi import Record, evaluator
from evalsi.loading import LoadError, from_file, from_module, from_objects

HEAD = "from evalsi import Record, Score, evaluator\n\n"
POLITE = (
    HEAD
    + """
@evaluator(name="acme/polite")
def polite(record: Record) -> Score:
    return Score(passed="please" in record.output.as_text())
"""
)

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes a Python file into a folder on the path; what is imported from there is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    yield write_file
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def refusal(load: Callable[[], object]) -> str:
    with pytest.raises(LoadError) as caught:
        load()
    return str(caught.value)


# -- what is found ----------------------------------------------------------------------------------------------------


def test_the_decorated_evaluators_of_a_file_are_found_by_their_names(write: Write) -> None:
    path = write("my_evals.py", POLITE + "\ndef helper(record): return 1\n")
    found = from_file(path)
    assert list(found) == ["acme/polite"]
    assert found["acme/polite"].target(Record(output="please")).passed


def test_the_evaluators_of_a_module_and_of_a_module_in_a_package_are_found(write: Write) -> None:
    write("acme_evals.py", POLITE)
    write("acme_pack/__init__.py", "")
    write("acme_pack/metrics.py", POLITE)
    assert list(from_module("acme_evals")) == ["acme/polite"]
    assert list(from_module("acme_pack.metrics")) == ["acme/polite"]


def test_a_list_of_evaluators_is_taken_as_it_stands_and_in_its_order(write: Write) -> None:
    path = write(
        "listed.py", POLITE + "\ndef plain(record: Record) -> bool: return True\nEVALUATORS = [plain, polite]\n"
    )
    assert list(from_file(path)) == ["plain", "acme/polite"]


def test_one_evaluator_can_be_named_by_its_attribute_or_by_its_own_name(write: Write) -> None:
    path = write("named.py", POLITE + "\ndef plain(record: Record) -> bool: return True\n")
    assert list(from_file(path, "polite")) == ["acme/polite"]
    assert list(from_file(path, "acme/polite")) == ["acme/polite"]
    assert list(from_file(path, "plain")) == ["plain"]


def test_an_evaluator_under_two_names_is_one_evaluator(write: Write) -> None:
    assert list(from_file(write("alias.py", POLITE + "\nalso = polite\n"))) == ["acme/polite"]


def test_a_class_derived_from_an_evaluator_is_found_only_when_it_is_decorated_itself(write: Write) -> None:
    text = HEAD + "@evaluator(name='base')\nclass Base:\n    def score(self, record): return True\n"
    assert list(from_file(write("derived.py", text + "class Derived(Base): ...\n"))) == ["base"]


def test_a_file_imports_its_neighbours(write: Write) -> None:
    write("sub/wording.py", "WORD = 'please'\n")
    path = write("sub/uses_wording.py", POLITE + "\nfrom wording import WORD\n")
    assert list(from_file(path)) == ["acme/polite"]


def test_types_written_as_text_are_found_in_a_file(write: Write) -> None:
    text = (
        "from __future__ import annotations\nfrom typing import Literal\n"
        + HEAD
        + "Mode = Literal['a', 'b']\n\n@evaluator\ndef probe(record: Record, *, mode: Mode = 'a') -> Score: ...\n"
    )
    assert from_file(write("texts.py", text))["probe"].params["properties"]["mode"]["enum"] == ["a", "b"]


def test_a_file_that_has_changed_is_read_anew(write: Write) -> None:
    from_file(write("changing.py", POLITE))
    found = from_file(write("changing.py", POLITE.replace("acme/polite", "acme/politer")))
    assert list(found) == ["acme/politer"]


@pytest.mark.parametrize("name", ["statistics.py", "evalsi.py"])
def test_a_file_named_like_a_module_that_others_need_does_not_take_its_place(name: str, write: Write) -> None:
    before = sys.modules.get(name.removesuffix(".py"))
    assert list(from_file(write(name, POLITE))) == ["acme/polite"]
    assert sys.modules.get(name.removesuffix(".py")) is before


def test_two_files_of_one_name_in_two_folders_are_two_modules(write: Write) -> None:
    one = from_file(write("one/evals.py", POLITE))
    other = from_file(write("other/evals.py", POLITE))
    assert one["acme/polite"].target is not other["acme/polite"].target
    assert one["acme/polite"].target.__module__ != other["acme/polite"].target.__module__


def test_functions_at_hand_are_found_by_their_names() -> None:
    def plain(record: Record) -> bool:
        return True

    assert list(from_objects([plain, evaluator(name="other")(lambda record: True)])) == ["plain", "other"]


# -- what is not ------------------------------------------------------------------------------------------------------


def test_a_module_that_is_not_there_is_told_from_one_that_it_needs(write: Write) -> None:
    write("needy.py", HEAD + "import no_such_library.part\n")
    assert refusal(lambda: from_module("nowhere.metrics")) == (
        "There is no module 'nowhere.metrics'. Check the name, or install the package."
    )
    assert refusal(lambda: from_module("needy")) == (
        "The module 'needy' needs the module 'no_such_library', which is not installed (needy.py, line 3). Install it."
    )
    assert refusal(lambda: from_file(Path(sys.path[0], "needy.py"))) == (
        "needy.py needs the module 'no_such_library', which is not installed (needy.py, line 3). Install it."
    )


def test_a_module_missing_from_a_package_that_is_there_is_named(write: Write) -> None:
    write("half/__init__.py", "")
    write("whole.py", POLITE)
    assert refusal(lambda: from_module("half.metrics")).startswith("There is no module 'half.metrics'.")
    assert refusal(lambda: from_module("whole.metrics")).startswith("There is no module 'whole.metrics'.")


@pytest.mark.parametrize("name", ["", ".metrics", "acme..metrics", "acme/metrics", "acme metrics"])
def test_what_is_no_name_of_a_module_is_refused(name: str) -> None:
    assert "is not a module name. Write it as in an import" in refusal(lambda: from_module(name))


def test_a_file_that_is_missing_or_a_folder_or_no_python_is_refused(write: Write, tmp_path: Path) -> None:
    assert (
        refusal(lambda: from_file(tmp_path / "gone.py")) == f"There is no file {tmp_path / 'gone.py'}. Check the path."
    )
    assert refusal(lambda: from_file(tmp_path)).startswith("There is no file")
    path = write("evals.txt", POLITE)
    assert refusal(lambda: from_file(path)) == "evals.txt is not a Python file. Pass a .py file."


def test_a_syntax_error_is_told_with_file_and_line(write: Write) -> None:
    path = write("broken.py", HEAD + "def polite(:\n    pass\n")
    assert refusal(lambda: from_file(path)) == "broken.py, line 3: invalid syntax. Correct that line."


def test_a_syntax_error_in_what_a_file_imports_is_told_with_that_file(write: Write) -> None:
    write("broken_part.py", "x = 1\n  y = 2\n")
    path = write("sound.py", HEAD + "import broken_part\n")
    assert refusal(lambda: from_file(path)) == "broken_part.py, line 2: unexpected indent. Correct that line."


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes(b"word = 'bitte sch\xf6n'\n")
    assert "latin.py" in refusal(lambda: from_file(path))
    assert "utf-8" in refusal(lambda: from_file(path))


def test_an_exception_at_import_is_told_with_the_author_s_line_even_when_it_comes_from_below(write: Write) -> None:
    path = write("raises.py", HEAD + "import json\njson.loads('x')\n")
    message = refusal(lambda: from_file(path))
    assert message.startswith("raises.py cannot be imported: raises.py, line 4: JSONDecodeError: Expecting value")
    assert message.endswith(". Correct that line.")


def test_an_exception_in_a_module_of_a_package_is_told_with_that_module(write: Write) -> None:
    write("deep_pack/__init__.py", "from deep_pack import inner\n")
    write("deep_pack/inner.py", "\n\nraise RuntimeError('no luck')\n")
    assert refusal(lambda: from_module("deep_pack")) == (
        "The module 'deep_pack' cannot be imported: inner.py, line 3: RuntimeError: no luck. Correct that line."
    )
    write("flat_pack/__init__.py", "raise KeyError\n")
    assert "flat_pack/__init__.py, line 1: KeyError. Correct" in refusal(lambda: from_module("flat_pack"))


def test_an_evaluator_that_cannot_be_one_is_told_with_its_line(write: Write) -> None:
    path = write("untyped.py", HEAD + "@evaluator\ndef polite(record, *, word='please'): ...\n")
    assert refusal(lambda: from_file(path)).startswith(
        "untyped.py cannot be imported: untyped.py, line 3: TypeError: polite(word) has no type."
    )


def test_a_file_that_failed_can_be_mended_and_loaded_again(write: Write) -> None:
    refusal(lambda: from_file(write("repaired.py", "raise ValueError\n")))
    assert "repaired" not in sys.modules
    assert list(from_file(write("repaired.py", POLITE))) == ["acme/polite"]


def test_a_file_without_an_evaluator_says_how_to_make_one(write: Write) -> None:
    path = write("plain.py", "def polite(record): return True\n")
    assert refusal(lambda: from_file(path)) == (
        "plain.py has no evaluator. Decorate a function with @evaluator, or select one: plain.py:NAME."
    )
    assert "has no evaluator" in refusal(lambda: from_file(write("none.py", "EVALUATORS = []\n")))


def test_an_attribute_that_is_not_there_is_told_with_those_that_are(write: Write) -> None:
    path = write("other.py", POLITE + "\ndef plain(record: Record) -> bool: return True\n_hidden = plain\n")
    assert refusal(lambda: from_file(path, "tone")) == "other.py has no 'tone'. It has polite, plain, acme/polite."
    assert refusal(lambda: from_file(write("empty.py", "x = 1\n"), "tone")) == (
        "empty.py has no 'tone'. It has no function."
    )


def test_an_attribute_that_is_no_evaluator_is_told(write: Write) -> None:
    path = write("numbers_only.py", "LIMIT = 3\ndef none(): ...\n")
    assert (
        refusal(lambda: from_file(path, "LIMIT"))
        == "numbers_only.py: 3 is not an evaluator. Pass a function or a class."
    )
    assert refusal(lambda: from_file(path, "none")).startswith("numbers_only.py: none takes no record")


@pytest.mark.parametrize("listed", ["polite", "'polite'", "{'polite': polite}"])
def test_a_list_of_evaluators_that_is_no_list_is_told(listed: str, write: Write) -> None:
    path = write("not_listed.py", POLITE + f"\nEVALUATORS = {listed}\n")
    assert "Write a list: EVALUATORS = [" in refusal(lambda: from_file(path))


def test_two_evaluators_of_one_name_are_refused(write: Write) -> None:
    path = write("twice.py", POLITE + POLITE.replace("def polite", "def politer"))
    expected = "Two evaluators are named 'acme/polite'. Rename one with @evaluator(name=…)."
    assert refusal(lambda: from_file(path)) == f"twice.py: {expected}"
    same = [evaluator(name="acme/polite")(lambda record: True) for _ in range(2)]
    assert refusal(lambda: from_objects(same)) == expected
