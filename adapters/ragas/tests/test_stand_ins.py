"""C6: packages that are not loaded can be named, caught and tested against, and give no instances."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
from evalsi_{pack}.stand_ins import leave_out
import email.message
leave_out("absent_package", "email")
import absent_package.deep.down as down
from absent_package import Client, RateLimitError
from absent_package.types import Reply
import email.mime.text
{check}
"""

CHECKS = [
    "assert down.Thing is down.Thing and down.Thing.__module__ == 'absent_package.deep.down'",
    "assert not isinstance('text', Client) and isinstance(Reply | None, object) and Reply[int] is Reply",
    "assert issubclass(RateLimitError, Exception) and issubclass(Client.errors.APIError, Exception)",
    "assert not hasattr(down, '__version__') and not hasattr(Client, '__fields__')",
    "class Own(Client): pass",
    "assert email.mime.text.MIMEText('x').get_payload() == 'x'",
    """
try:
    Client(api_key="none")
except RuntimeError as error:
    assert "absent_package.Client" in str(error)
else:
    raise AssertionError
""",
]


@pytest.mark.parametrize("check", CHECKS)
def test_c6_a_stand_in_can_be_named_and_not_used(check: str) -> None:
    code = CODE.format(pack="ragas", check=check)

    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=True).returncode == 0
