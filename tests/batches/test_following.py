"""How long a batch is waited for: at a growing interval, through faults, and no longer than there is hope."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from evalsi_batches.batch import Batch
from evalsi_batches.following import BatchFollower, BatchTimes
from evalsi_kernel.broker.connector import ListedBatch, ProviderError
from tests.batches.scripted import DONE, FILE, GOING, Scripted, failure
from tests.kernel.broker.virtual_time import run_virtually


def follow(provider: Scripted, *, is_found: bool = False) -> list[str]:
    """Follow a batch to its end; what was said of it."""
    notes: list[str] = []
    batch = Batch(FILE, is_found=is_found)
    run_virtually(BatchFollower(provider, BatchTimes(), notes.append, no_others).follow(batch))
    assert batch.untold == {}
    return notes


async def no_others() -> set[str]:
    return set()


def hand_in(provider: Scripted, *, may_be_there: bool = False, known: Sequence[str] = ()) -> str:
    async def others() -> set[str]:
        return set(known)

    follower = BatchFollower(provider, BatchTimes(), lambda _: None, others)
    return run_virtually(follower.hand_in(FILE._replace(batch_id=None), may_be_there=may_be_there))


def test_a_batch_is_asked_after_at_intervals_that_grow_from_five_seconds_to_a_minute() -> None:
    provider = Scripted(lambda now: DONE if now > 1_000 else GOING)
    follow(provider)
    moments = [0.0, *[when for _, when in provider.asked]]
    waits = [after - before for before, after in pairwise(moments)]
    assert waits[0] == 5.0
    assert waits == sorted(waits)
    assert waits[-1] == 60.0
    assert len(waits) < 30


def test_one_of_an_earlier_run_is_asked_after_at_once() -> None:
    provider = Scripted()
    follow(provider, is_found=True)
    assert provider.asked == [("state", 0.0)]


def test_how_far_it_is_is_told_when_that_changes() -> None:
    assert follow(Scripted(lambda now: DONE if now > 300 else GOING)) == [
        "batch b1: 1 of 2 done",
        "batch b1: 2 of 2 done",
    ]


@pytest.mark.parametrize(("code", "hope_s"), [("provider.not_found", 600.0), ("provider.failed", 3600.0)])
def test_faults_are_borne_for_as_long_as_there_is_hope_and_no_longer(code: str, hope_s: float) -> None:
    follow(Scripted(lambda now: failure(code) if now < hope_s * 0.9 else DONE))
    provider = Scripted(lambda now: failure(code))
    with pytest.raises(ProviderError, match=code):
        follow(provider)
    assert hope_s <= provider.asked[-1][1] < hope_s + 120


def test_faults_far_apart_are_not_added_up() -> None:
    follow(Scripted(lambda now: DONE if now > 50_000 else failure("provider.failed") if int(now / 2000) % 2 else GOING))


def test_a_refused_key_ends_the_wait_at_once() -> None:
    provider = Scripted(lambda now: failure("provider.auth", is_final=True))
    with pytest.raises(ProviderError, match="auth"):
        follow(provider)
    assert provider.times("state") == 1


def test_it_waits_as_long_as_the_provider_asks() -> None:
    provider = Scripted(lambda now: failure("provider.rate_limited", 500.0) if now < 100 else DONE)
    follow(provider)
    assert [when for _, when in provider.asked] == [5.0, 505.0]


def test_a_batch_that_is_handed_in_well_is_looked_for_nowhere() -> None:
    provider = Scripted()
    assert hand_in(provider) == "b1"
    assert provider.times("recent") == 0


def test_one_that_was_throttled_was_not_made_and_is_handed_in_later() -> None:
    provider = Scripted(submit=lambda times: failure("provider.rate_limited", 90.0) if times == 1 else "b1")
    assert hand_in(provider) == "b1"
    assert provider.asked == [("submit", 0.0), ("submit", 90.0)]


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        (ListedBatch("b7", 1_000.0, 2, "evalsi-1"), "b7"),
        (ListedBatch("b7", 1_000.0, 0, "evalsi-1"), "b7"),
        (ListedBatch("b7", 1_000.0, 2, "evalsi-2"), "b1"),
        (ListedBatch("b7", 1_000.0, 2, ""), "b1"),
        (ListedBatch("b7", 1_000.0, 2, None), "b7"),
        (ListedBatch("b7", 1_000.0, 3, None), "b1"),
        (ListedBatch("known", 1_000.0, 2, None), "b1"),
        (ListedBatch("b7", 600.0, 2, None), "b1"),
    ],
)
def test_one_whose_answer_was_lost_is_known_by_its_tag_or_by_when_it_was_made_and_how_large(
    listed: ListedBatch, found: str
) -> None:
    provider = Scripted(listed=[listed])
    assert hand_in(provider, may_be_there=True, known=["known"]) == found
    assert provider.times("submit") == (found == "b1")


def test_handing_in_is_given_up_after_some_tries_and_at_once_where_it_is_refused() -> None:
    failing = Scripted(submit=lambda _: failure("provider.connection"))
    with pytest.raises(ProviderError):
        hand_in(failing)
    assert (failing.times("submit"), failing.times("recent")) == (7, 6)
    refusing = Scripted(submit=lambda _: failure("provider.bad_request", is_final=True))
    with pytest.raises(ProviderError):
        hand_in(refusing)
    assert refusing.times("submit") == 1
