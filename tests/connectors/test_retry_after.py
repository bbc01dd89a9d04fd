"""How long a provider asks to wait, in all the ways in which it says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_connectors.retry_after import retry_after_s

NOW = datetime(2026, 11, 5, 12, 0, 0, tzinfo=UTC)
DATE = {"date": format_datetime(NOW, usegmt=True)}


def http_date(seconds: float) -> str:
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "1"}, 1.0),
        ({**DATE, "retry-after": http_date(90)}, 90.0),
        ({**DATE, "retry-after": http_date(-90)}, 0.0),
        ({**DATE, "retry-after": "Thu, 05 Nov 2026 12:00:30"}, 30.0),
        ({"date": "yesterday", "retry-after": "2"}, 2.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30.5s"}, 90.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "20s"}, None),
        ({"x-ratelimit-reset-tokens": "20s"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "12"}, 12.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "later"}, None),
        (
            {
                **DATE,
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-05T12:00:10Z",
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2026-11-05T12:00:40Z",
                "anthropic-ratelimit-output-tokens-remaining": "9",
                "anthropic-ratelimit-output-tokens-reset": "2026-11-05T13:00:00Z",
            },
            40.0,
        ),
        (
            {
                "retry-after": "3",
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "6m0s",
            },
            3.0,
        ),
    ],
)
def test_the_wait_is_read_from_the_headers(headers: dict[str, str], wait_s: float | None) -> None:
    assert retry_after_s(headers) == (wait_s if wait_s is None else pytest.approx(wait_s))


def test_a_date_is_read_by_the_providers_own_clock() -> None:
    behind = NOW - timedelta(hours=3)
    headers = {"date": format_datetime(behind, usegmt=True), "retry-after": format_datetime(behind, usegmt=True)}

    assert retry_after_s(headers) == 0.0


NAMES = st.sampled_from(["retry-after", "retry-after-ms", "date", "x-ratelimit-reset-tokens"])


@given(st.dictionaries(NAMES, st.text()))
def test_no_header_however_wrong_raises_or_gives_a_wait_below_zero(headers: dict[str, str]) -> None:
    wait_s = retry_after_s({**headers, "x-ratelimit-remaining-tokens": "0"})

    assert wait_s is None or 0 <= wait_s < float("inf")
