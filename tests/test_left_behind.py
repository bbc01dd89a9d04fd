"""Whatever tests leave running is ended with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import left_behind

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists processes in a folder")
STARTS_ONE_THAT_STAYS = """
import subprocess, sys
words = [sys.executable, "-c", "import threading; threading.Event().wait()"]
print(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True).pid)
"""


def test_a_process_whose_parent_is_gone_is_ended_and_no_other(tmp_path: Path) -> None:
    own = os.environ | {"TMPDIR": str(tmp_path)}
    words = [sys.executable, "-c", STARTS_ONE_THAT_STAYS]
    orphan = int(subprocess.run(words, env=own, capture_output=True, text=True, timeout=60, check=True).stdout)

    assert orphan in left_behind.left(str(tmp_path))
    assert left_behind.end(str(tmp_path)) == {orphan}
    assert left_behind.left(str(tmp_path)) == set()
