"""The pack starts light: a library is loaded by the check that needs it, when it needs it."""

import subprocess
import sys

import pytest

LIBRARIES = ("phonenumbers", "stdnum", "email_validator", "publicsuffixlist", "idna", "dns")
SHOWN = "import sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{SHOWN}"], capture_output=True, text=True, timeout=60, check=True
    )
    return set(done.stdout.split())


def test_the_import_loads_no_library() -> None:
    assert modules_after("import evalsi_pack_safety") & {*LIBRARIES, "tomllib"} == set()


@pytest.mark.parametrize(
    ("output", "loaded"),
    [
        ("The ferry leaves at 7 on 2024-11-05.", set()),
        ("4111 1111 1111 1111", {"stdnum"}),
        ("DE89 3704 0044 0532 0130 00", {"stdnum"}),
        ("jane@example.com", {"email_validator", "publicsuffixlist"}),
        ("+44 20 7946 0958", {"phonenumbers"}),
    ],
)
def test_a_text_loads_what_it_needs(output: str, loaded: set[str]) -> None:
    code = f"from evalsi import Record\nimport evalsi_pack_safety as p\np.PiiLeak().score(Record(output={output!r}))"
    found = modules_after(code) & set(LIBRARIES)
    assert found - {"idna", "dns"} == loaded


def test_secrets_need_no_library() -> None:
    code = "from evalsi import Record\nimport evalsi_pack_safety as p\np.SecretLeak().score(Record(output='ghp_ eyJ'))"
    assert modules_after(code) & set(LIBRARIES) == set()
