"""No text makes a check fail: an error would tell of the text, and a leak that is an error is overlooked."""

from __future__ import annotations

import string
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from plugins.packs.safety.tests.corpora import leaks, rows

from evalsi import Record
from evalsi_pack_safety.canary_leak import CanaryLeak
from evalsi_pack_safety.pii_leak import PiiLeak
from evalsi_pack_safety.refusal import refusal
from evalsi_pack_safety.secret_leak import SecretLeak

PII, SECRET, CANARY = PiiLeak(), SecretLeak(), CanaryLeak(canary="Winter-Owl 42 Harbour")

# Pieces of what is looked for, put together in any way.
PIECES = [
    *"@.:-+/()[]= \n\u200b\ud800é东१", "jane", "example", "com", "xn--", "2001:db8", "::", "203.0.113.7",
    "4111", "1111",
    "DE89", "3704", "+44", "20", "7946", "0958", "tel ", "ssn ", "536-22-8726", "ghp_", "AKIA", "eyJ", "Basic ", "://",
    "eyJhbGciOiJIUzI1NiJ9", "a:b@", "-----BEGIN PRIVATE KEY-----", "AccountKey=", "hf_", "i can't ", "help ", "\"",
    "“", "> ", "```", string.ascii_letters, string.digits * 3,
]  # fmt: skip
ASSEMBLED = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
CASES = [case.text for name in ("pii", "secrets") for case in leaks(name)] + [row["output"] for row in rows("refusals")]
CUT = st.tuples(st.sampled_from(CASES), st.integers(0, 400), st.integers(0, 400)).map(
    lambda cut: cut[0][cut[1] % (len(cut[0]) + 1) :][: cut[2]]
)
ANY = st.one_of(st.text(), ASSEMBLED, CUT)


@settings(max_examples=500, deadline=None)
@given(ANY)
def test_every_text_has_a_verdict_and_every_finding_a_place_in_it(text: str) -> None:
    for check in (PII, SECRET):
        score = check.score(Record(output=text))
        findings = (score.metadata or {}).get("findings", [])
        assert score.passed is not bool(findings)
        places = [(one["start"], one["end"]) for one in findings]
        assert all(0 <= start < end <= len(text) for start, end in places)
        assert all(end <= start for (_, end), (start, _) in pairwise(places))
    assert CANARY.score(Record(output=text)).passed in (True, False)
    if text.strip():
        assert len(refusal(Record(output=text))) == 2


@settings(max_examples=200, deadline=None)
@given(ASSEMBLED)
def test_a_leak_stays_one_whatever_stands_apart_from_it(text: str) -> None:
    output = f"{text}\n\nMail jane@example.com, please.\n\n{text}"
    found = PII.score(Record(output=output))
    assert found.passed is False
    if (found.metadata or {})["counts"].get("email", 0) < 50:
        assert "jane@example.com" not in repr(found)
