"""The examples in Wasm: their sources say how they are built; `test_new_wasm_build_lines` does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalsi_wasm.module import Limits
from tests.protocol.kernel_end import texts
from tests.wasm.hosting import EXAMPLES, hosting

TONE = EXAMPLES / "tone" / "tone.wasm"
ZIG = ["-target", "wasm32-freestanding", "-O", "ReleaseSmall", "-fno-entry", "-rdynamic", "-fstrip"]


@pytest.mark.skipif(not TONE.is_file(), reason="the JavaScript pack is not built: see examples/wasm/tone/build.mjs")
@pytest.mark.abi("WAB-22")
def test_the_javascript_pack_scores_and_asks(tmp_path: Path) -> None:
    with hosting(TONE, tmp_path, Limits(256 * 1024**2), instances=1) as kernel:
        kernel.open(1, "calm")
        kernel.open(2, "friendly")
        assert kernel.score(texts("Well.", "Well!!"))[0] == {"outcomes": {"scored": 2}}
        plans = kernel.ask("plan", {"session": 2, "records": texts("Grüße 👋")})
    assert isinstance(plans, dict)
    (planned,) = plans["plans"]
    assert planned[1]["requests"][0]["messages"][1]["content"] == "-----\nGrüße 👋\n-----"


def test_the_kept_modules_stand_beside_their_sources_and_say_how_they_are_built() -> None:
    assert "zig build-exe words.zig " + " ".join(ZIG) in (EXAMPLES / "words" / "words.zig").read_text("utf-8")
    assert "asc kind.ts --outFile kind.wasm --optimize --use abort=" in (EXAMPLES / "kind" / "kind.ts").read_text(
        "utf-8"
    )
    assert {path.parent.name for path in EXAMPLES.glob("*/*.wasm")} >= {"words", "kind"}
