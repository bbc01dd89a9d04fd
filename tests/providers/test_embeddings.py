"""Embeddings: vectors that say how alike texts are, as numbers and in base64."""

import base64
import math
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from tests.providers import Provider, count_tokens, faults
from tests.providers.calling import embed


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


def vectors(provider: Provider, texts: Any, **fields: Any) -> list[list[float]]:
    body = embed(provider, texts, **fields).body
    assert [row["index"] for row in body["data"]] == list(range(len(body["data"])))
    return [row["embedding"] for row in body["data"]]


def test_the_more_two_texts_share_the_nearer_they_are(provider: Provider) -> None:
    asked, near, far = vectors(provider, ["the cat sat down", "the cat sat up", "prices rose in march"])
    assert all(math.isclose(math.hypot(*vector), 1.0) for vector in (asked, near, far))
    assert dot(asked, near) > dot(asked, far)


def dot(one: list[float], other: list[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


def test_the_same_text_has_the_same_vector(provider: Provider) -> None:
    assert vectors(provider, "the cat") == vectors(provider, ["the cat"])


def test_base64_holds_the_same_numbers_in_32_bits(provider: Provider) -> None:
    (plain,) = vectors(provider, "the cat")
    coded = embed(provider, "the cat", encoding_format="base64").body["data"][0]["embedding"]
    assert struct.unpack(f"<{len(plain)}f", base64.b64decode(coded)) == pytest.approx(plain, abs=1e-6)


def test_fewer_dimensions_are_still_of_length_1(provider: Provider) -> None:
    (vector,) = vectors(provider, "the cat sat on the mat", dimensions=48)
    assert len(vector) == 48
    assert math.isclose(math.hypot(*vector), 1.0)


def test_usage_counts_all_texts(provider: Provider) -> None:
    tokens = count_tokens("one text") + count_tokens("another")
    assert embed(provider, ["one text", "another"]).body["usage"] == {"prompt_tokens": tokens, "total_tokens": tokens}


@pytest.mark.parametrize(
    ("texts", "fields"), [([], {}), ("", {}), (["x", ""], {}), ([1], {}), (None, {}), ("x", {"encoding_format": "hex"})]
)
def test_a_request_that_is_off_gives_400(provider: Provider, texts: Any, fields: dict[str, Any]) -> None:
    assert embed(provider, texts, **fields).status == 400


def test_the_test_may_give_vectors_and_faults() -> None:
    given: dict[str, list[float] | faults.Fault] = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": faults.server_error()}
    with Provider(embed=lambda text: given[text]) as provider:
        assert vectors(provider, ["a", "b"]) == [[1.0, 0.0], [0.0, 1.0]]
        assert embed(provider, ["a", "c"]).status == 500


def test_faults_of_the_plan_befall_embeddings_too() -> None:
    plan = [faults.rate_limited(1), faults.missing_choices(), faults.missing_usage(), None]
    with Provider(faults=plan) as provider:
        limited, bare, free, good = (embed(provider, "x") for _ in plan)
    assert (limited.status, limited.headers["Retry-After"]) == (429, "1")
    assert "data" not in bare.body
    assert "usage" not in free.body
    assert good.body.keys() == {"object", "data", "model", "usage"}
