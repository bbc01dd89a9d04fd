"""The checks take time in proportion to a text, whatever it is made of.

A megabyte is compared to half of it by the time of this process: in proportion is 2, and quadratic 4.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from plugins.packs.safety.tests.secret_samples import SAMPLES

from evalsi import Record
from evalsi_pack_safety.canary_leak import CanaryLeak
from evalsi_pack_safety.pii_leak import PiiLeak
from evalsi_pack_safety.refusal import refusal
from evalsi_pack_safety.secret_leak import SecretLeak

SIZE = 1_000_000
MOST = 3.0
# So many tries may be disturbed by whatever else the machine does.
TRIES = 4

PII, SECRET, CANARY = PiiLeak(), SecretLeak(), CanaryLeak(canary="Winter-Owl 42 Harbour")
CHECKS: dict[str, Callable[[Record], object]] = {
    "pii": PII.score,
    "secret": SECRET.score,
    "canary": CANARY.score,
    "refusal": refusal,
}

UNITS = {
    "pii": [
        "@", "a@", "a@b.", "a.b@c.", ".", "a(at)", "a [at] b [dot] ", "1", "1-", "(1) ", "1.", "1.2.3.4 ", "0123 456 ",
        "4111 ", "4111 1111 1111 1112, ", "123-45-678 ", "2001:", "2a00::", "+1", "+44 20 ", "tel 0123 45 ", "DE89 ",
        "DE88 3704 0044 0532 0130 00 ", "\u200b1", "é1", "电话1", "://a@",
    ],
    "secret": [
        "eyJ", " eyJaaaaaaaaaaaaaaa.", "://", "a://b:c", "ghp_", " ghp_aB1", "aB1Q~", "1234567890:AA", "hf_ ", "pat",
        "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN ", "AccountKey=", "sk-proj-a_", "T3BlbkFJ", "aws secret aB3/ ",
        "Basic ", "M.a.b", "ops_eyJ", "\\n",
    ],
    "canary": ["winter-owl", "57696e", "V2lu", " w", "\u200b", "ﬁ"],
    "refusal": ['"', "“", "« ", "> ", "```", "i can't ", "i cannot give legal but ", "\n- ", "1) ", "kann ich ", "我"],
}  # fmt: skip


def seconds(check: Callable[[Record], object], text: str) -> float:
    start = time.process_time()
    check(Record(output=text))
    return time.process_time() - start


@pytest.mark.parametrize(("name", "unit"), [(name, unit) for name, units in UNITS.items() for unit in units])
def test_twice_the_text_takes_twice_the_time(name: str, unit: str) -> None:
    whole = (unit * (SIZE // len(unit) + 1))[:SIZE]
    ratios = []
    for _ in range(TRIES):
        # What a half takes that is too short to be measured is no measure.
        half = max(seconds(CHECKS[name], whole[: SIZE // 2]), 0.01)
        ratios.append(seconds(CHECKS[name], whole) / half)
        if ratios[-1] < MOST:
            return
    pytest.fail(f"{unit!r}: {ratios}")


def test_what_is_found_stays_found_at_the_end_of_a_megabyte() -> None:
    filler = "0123 456 789, a@b, 1.2.3 " * 40_000
    assert not PII.score(Record(output=filler + "jane@example.com")).passed
    assert not SECRET.score(Record(output=filler + SAMPLES["github"])).passed
    assert not CANARY.score(Record(output=filler + "winter-owl42harbour")).passed
    assert refusal(Record(output=filler + "\nI can't help with that."))[1].passed


def test_many_numbers_that_are_all_different_are_looked_at_all_the_same() -> None:
    numbers = ", ".join(f"tel 02{number:03d} 55{number:04d}" for number in range(3000))
    half = numbers[: len(numbers) // 2]
    assert seconds(PII.score, numbers) < max(seconds(PII.score, half), 0.01) * MOST * 2
