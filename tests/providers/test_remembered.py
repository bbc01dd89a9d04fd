"""What is worked out of a schema is worked out once, and never mixed up with another's."""

from typing import Any

import pytest

from tests.providers.remembered import MOST, once_a_schema


def test_the_work_is_done_once_for_each_schema() -> None:
    done = []

    @once_a_schema
    def name(schema: Any) -> str:
        done.append(schema)
        return str(schema)

    schemas = [{"const": 1}, {"const": 1.0}, {"const": True}, {"const": "1"}, {"const": 1}, True]
    assert [name(schema) for schema in schemas] == [str(schema) for schema in schemas]
    assert done == [{"const": 1}, {"const": 1.0}, {"const": True}, {"const": "1"}, True]


def test_what_was_raised_is_raised_again() -> None:
    @once_a_schema
    def never(schema: Any) -> str:
        raise ValueError(str(schema))

    for _ in range(2):
        with pytest.raises(ValueError, match="const"):
            never({"const": 1})


def test_no_more_is_kept_than_fits() -> None:
    done = []

    @once_a_schema
    def count(schema: Any) -> int:
        done.append(schema)
        return len(done)

    for number in range(MOST + 1):
        count({"const": number})
    count({"const": 0})
    assert len(done) == MOST + 2
