"""Rate limits that are really kept: so many in flight, so many a second."""

from concurrent.futures import ThreadPoolExecutor

from tests.providers import Provider, faults
from tests.providers.calling import Got, chat, message
from tests.providers.limits import Limits, Meter


def test_calls_above_the_most_in_flight_get_429_while_the_others_are_answered() -> None:
    with (
        ThreadPoolExecutor(2) as pool,
        Provider(max_in_flight=2, faults=faults.always(faults.held())) as provider,
    ):
        taken = [pool.submit(chat, provider) for _ in range(2)]
        provider.wait(lambda seen: seen.in_flight == 2)
        refused = [chat(provider), message(provider)]
        provider.release()
        assert [one.result().status for one in taken] == [200, 200]
        assert chat(provider).status == 200
    assert [(one.status, one.headers["Retry-After"]) for one in refused] == [(429, "1"), (429, "1")]
    assert provider.most_in_flight == 2
    assert provider.calls == 5


def until_refused(provider: Provider) -> list[Got]:
    """Calls one after another until one is too many, which on a slow machine takes a few more."""
    got = [chat(provider)]
    while got[-1].status == 200 and len(got) < 50:
        got.append(chat(provider))
    return got


def test_calls_above_so_many_a_second_get_429() -> None:
    with Provider(per_second=2) as provider:
        got = until_refused(provider)
    assert [one.status for one in got[:2]] == [200, 200]
    assert (got[-1].status, got[-1].headers["Retry-After"]) == (429, "1")


def test_a_limit_may_be_silent_about_when_to_come_back() -> None:
    with Provider(per_second=1, tells_retry_after=False) as provider:
        got = until_refused(provider)
    assert (got[0].status, got[-1].status, got[-1].headers["Retry-After"]) == (200, 429, None)


def test_a_second_is_a_window_that_slides() -> None:
    meter = Meter(Limits(per_second=2))
    waits = [meter.wait_s(now_s, in_flight=0) for now_s in (10.0, 10.5, 10.75, 11.0, 11.25, 11.5)]
    assert waits == [None, None, 0.25, None, 0.25, None]


def test_retry_after_is_rounded_up_to_whole_seconds() -> None:
    meter = Meter(Limits(per_second=1))
    assert [meter.retry_after(wait_s) for wait_s in (0.01, 1.0, 1.2)] == ["1", "1", "2"]
