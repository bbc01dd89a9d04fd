"""C3: keys are taken from `.env` in the working directory, by name, and never over the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalsi_connectors.key import find_key
from evalsi_kernel.files.dotenv import MAX_BYTES, variable


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MY_KEY", raising=False)


def written(text: str, mode: int = 0o600) -> None:
    Path(".env").write_text(text, "utf-8")
    Path(".env").chmod(mode)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MY_KEY=abc", "abc"),
        ("# first\nexport MY_KEY = abc  # the key\n", "abc"),
        ('MY_KEY="a b#c"', "a b#c"),
        ("MY_KEY='a$b'  # why", "a$b"),
        ("MY_KEY=a#b", "a#b"),
        ("MY_KEY=one\r\nMY_KEY=two\r\n", "two"),
        ("\ufeffMY_KEY=abc", "abc"),
        ("MY_KEY=${HOME}", "${HOME}"),
        ("MY_KEY=", ""),
        ("MY_KEY_2=abc\nnonsense\n", None),
        ("#MY_KEY=abc", None),
    ],
)
def test_c3_a_variable_of_dotenv(text: str, expected: str | None) -> None:
    written(text)
    assert variable("MY_KEY") == expected


def test_c3_the_environment_comes_first_and_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    written("MY_KEY=file\nPATH=/evil\nOTHER=x\n")
    monkeypatch.setenv("MY_KEY", "")
    assert variable("MY_KEY") == ""
    monkeypatch.delenv("MY_KEY")
    assert variable("MY_KEY") == "file"
    assert variable("PATH") == os.environ["PATH"]
    assert "OTHER" not in os.environ
    assert "MY_KEY" not in os.environ


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_c3_a_file_that_others_may_write_to_is_ignored(mode: int) -> None:
    written("MY_KEY=abc", mode)
    assert variable("MY_KEY") is None


def test_c3_what_is_no_plain_file_or_is_huge_is_ignored() -> None:
    assert variable("MY_KEY") is None
    written("MY_KEY=abc\n" + "#" * MAX_BYTES)
    assert variable("MY_KEY") is None
    Path(".env").unlink()
    os.mkfifo(".env")
    assert variable("MY_KEY") is None


def test_c3_a_key_of_a_judge_is_found_there() -> None:
    written("MY_KEY=sk-secret-of-file")
    key = find_key("MY_KEY", "OPENAI_API_KEY", is_at_home=False)
    assert key is not None
    assert key.secret() == "sk-secret-of-file"
