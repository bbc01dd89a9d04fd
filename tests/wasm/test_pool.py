"""Several calls at once: as many instances as there are callers, and one process for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.protocol.kernel_end import texts
from tests.wasm.hosting import LIMITS, WORDS, hosting, pinged
from tests.wasm.wat import FOR_EVER, guest, where


@pytest.mark.abi("WAB-9")
def test_requests_run_beside_one_another_each_in_an_instance_of_its_own(tmp_path: Path) -> None:
    with hosting(guest(where("!", FOR_EVER)), tmp_path, instances=2) as kernel:
        kernel.open(1, "tested", record_timeout_s=3)
        hanging = kernel.start("score", {"sessions": [1], "records": texts("a!")})
        while not pinged(kernel):
            assert hanging not in kernel.answers
        # The other instance answers meanwhile.
        assert kernel.score(texts("b"))[0] == {"outcomes": {"scored": 1}}
        second = kernel.start("score", {"sessions": [1], "records": texts("c!")})
        while len(running := pinged(kernel)) < 2:
            assert not {hanging, second} & kernel.answers.keys()
        assert [one["request"] for one in running] == [hanging, second], "the longest first"


def test_many_requests_on_few_instances_lose_and_mix_nothing(tmp_path: Path) -> None:
    with hosting(WORDS, tmp_path, LIMITS._replace(memory_bytes=32 * 1024**2), instances=3) as kernel:
        kernel.open(1, "word-count")
        asked = []
        for number in range(40):
            while not kernel.machine.can_request:
                kernel.until(lambda: kernel.machine.can_request)
            records = texts(*("w " * (number + place) for place in range(30)))
            asked.append(kernel.start("score", {"sessions": [1], "records": records}))
            kernel.send()
        for number, request in enumerate(asked):
            kernel.wait_for(request)
            values = {index: payload[0]["value"] for _, index, _, payload in kernel.items[request]}
            assert values == {place: float(number + place) for place in range(30)}
